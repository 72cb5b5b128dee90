# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay over a tail: reached by free joints, missed by hinges, whose shell is flat."""

from math import radians

import bpy
from mathutils import Vector

from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import look_at
from tests.rigs import armature, configure, empty
from tests.window.overlay import activate, computed, shot

BONES = 6


def script() -> Steps:
    for free in (True, False):
        clear()
        _tail(free)
        look_at((0.6, 0.0, 0.4), 6.0, radians(30.0))
        yield from computed(0 if free else 1)
        yield from shot("tail-free" if free else "tail-hinges")


def _tail(free: bool) -> None:
    """Bones that follow an empty, each free or a hinge with limits."""
    points = [Vector((0.45 * i, 0.0, 0.2 * i * (1 - i / 12))) for i in range(BONES + 1)]
    rig = armature(
        "Tail",
        [
            {"name": f"Bone {i}", "head": points[i], "tail": points[i + 1], "parent": f"Bone {i - 1}" if i else None}
            | {"connect": i > 0}
            for i in range(BONES)
        ],
    )
    target = empty(location=(0.9, -1.0, 1.4))
    for bone in rig.pose.bones:
        joint = bone.ik_triangulation_joint
        joint.source, joint.kind = "OWN", "FREE" if free else "HINGE"
        joint.lower, joint.upper = radians(-40.0), radians(40.0)
    configure(rig, f"Bone {BONES - 1}", target=target, chain_count=0)
    bpy.ops.pose.ik_triangulation_solve()
    activate(rig, f"Bone {BONES - 1}" if free else "Bone 3")
