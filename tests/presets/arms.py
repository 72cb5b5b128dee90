# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms to be given presets, and what came of it."""

from mathutils import Vector

from ik_triangulation.rig.freedom import freedom_of, stiffness_of

from ..rigs import armature

OUT = Vector((1.0, 0.0, 0.0))


def arm(rolls=(0.0, 0.0, 0.0), bend=0.2, side=1.0, extra=0):
    """An arm in T pose on either side, its elbow bent forwards by so much, with any roll; more bones at its tip."""
    ways = [OUT, OUT, Vector((1.0, -bend, 0.0)).normalized() * 0.9, *[OUT * 0.3] * (1 + extra)]
    specs, head = [], Vector((0.1, 0.0, 1.5))
    named = ["spine", "upper", "fore", "hand", *(f"more {n}" for n in range(extra))]
    for name, way, roll in zip(named, ways, (0.0, *rolls, *[0.0] * extra), strict=True):
        tail = head + way
        mirror = Vector((side, 1.0, 1.0))
        parent = specs[-1]["name"] if specs else None
        specs.append(
            {"name": name, "head": head * mirror, "tail": tail * mirror, "roll": roll * side, "parent": parent}
        )
        head = tail
    rig = armature("Arm", specs)
    return rig, named[1:]


def values(rig):
    return {bone.name: (freedom_of(bone), stiffness_of(bone)) for bone in rig.pose.bones}


BUILT_IN = [
    "Animal_Leg",
    "Finger",
    "Human_Arm",
    "Human_Arm_(Hinge)",
    "Human_Leg",
    "Human_Leg_(Hinge)",
    "Neck",
    "Robot_Arm",
    "Spine",
    "Spine_(Shared)",
    "Tail",
    "Tentacle",
    "Wing",
]
