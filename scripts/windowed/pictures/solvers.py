# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that each solver gives to the same chain, from the same pose, for the same target, without refinement."""

from collections.abc import Sequence
from itertools import pairwise
from math import cos, radians, sin

import bpy
from mathutils import Vector

from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import ball, bare, look_at, paint, square
from tests.rigs import armature, configure, empty

SIZE = (1600, 1200)  # pixels of the display
BONES = 5  # of length 1
BEND = radians(8.0)  # of each joint at the beginning
TARGET = (2.1, 0.0, 1.3)
CENTRE, HEIGHT = (0.7, 0.0, 1.9), 6.3  # of what the pictures show
BEFORE = (0.3, 0.3, 0.3)  # colour of the pose at the beginning
HELD = {"TWO_BONE": (1, 2, 4)}  # bones that do not turn, for solvers that take no others
SIDE = 240  # pixels


def script() -> Steps:
    clear()
    bpy.context.scene.unit_settings.system = "METRIC"
    paint(_chain("Before", offset=1.0), normal=BEFORE)
    target = empty(location=TARGET)
    target.empty_display_size = 0.001
    ball(target, 0.14)
    rig = _chain("Rig")
    paint(rig)
    for bone in rig.pose.bones:
        bone.ik_triangulation_joint.source = "OWN"
    tip = configure(rig, f"Bone {BONES - 1}", target=target, chain_count=0, tolerance=0.001, finish=False)
    bare()
    bpy.context.scene.ik_triangulation_overlay.show = False
    yield 1.0  # the viewport is larger then
    look_at(CENTRE, HEIGHT)
    solvers = [item.identifier for item in tip.ik_triangulation.bl_rna.properties["solver"].enum_items]
    for solver in solvers:
        for number, bone in enumerate(rig.pose.bones):
            bone.matrix_basis.identity()
            bone.ik_triangulation_joint.kind = "LOCKED" if number in HELD.get(solver, ()) else "FREE"
        tip.ik_triangulation.solver = solver
        bpy.ops.pose.ik_triangulation_solve()
        yield 0.3
        square(f"solvers/{solver.lower()}", SIDE, "+dither", "-colors", "24")


def _chain(name: str, offset: float = 0.0):
    """An evenly bent chain in the plane of the picture, so far behind it; in Pose Mode, without a selected bone."""
    points = [Vector((0.0, offset, 0.0))]
    for number in range(BONES):
        angle = BEND * number
        points.append(points[-1] + Vector((-sin(angle), 0.0, cos(angle))))
    rig = armature(name, _specs(points))
    for bone in rig.pose.bones:
        bone.select = False
    return rig


def _specs(points: Sequence[Vector]) -> list[dict]:
    return [
        {"name": f"Bone {i}", "head": a, "tail": b, "parent": f"Bone {i - 1}" if i else None, "connect": i > 0}
        for i, (a, b) in enumerate(pairwise(points))
    ]
