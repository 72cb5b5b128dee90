# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms to make limbs of."""

import bpy
from mathutils import Vector

from ..rig.anatomy.bodies import person
from ..rigs import armature, select


def limbs(rig):
    """Chain length and name of the target of each limb, by its tip."""
    found = {bone.name: bone.ik_triangulation for bone in rig.pose.bones}
    return {name: (limb.chain_count, limb.target.name) for name, limb in found.items() if limb.target}


def choose(rig, *names, active=None):
    bpy.context.view_layer.objects.active = rig
    select(rig, *names, active=active)


def two_arms():
    """A spine with two arms of three bones."""
    specs = [{"name": "spine", "head": (0, 0, 0), "tail": (0, 0, 1)}]
    for side, x in (("L", 1.0), ("R", -1.0)):
        parent = "spine"
        for number, name in enumerate(("upper", "lower", "hand")):
            head = Vector((x * (0.2 + number), 0.05 * (number == 1), 1.0))
            tail = Vector((x * (1.2 + number), 0.05 * (number == 0), 1.0))
            specs.append({"name": f"{name}.{side}", "head": head, "tail": tail, "parent": parent})
            parent = specs[-1]["name"]
    return armature("Rig", specs)


def body():
    """A person in A pose, whose bones have telling names; see tests/rig/anatomy/bodies.py."""
    return armature(
        "Person",
        [{"name": n, "head": b.head, "tail": b.tail, "parent": b.parent} for n, b in person().items()],
    )
