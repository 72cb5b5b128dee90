# SPDX-License-Identifier: GPL-3.0-or-later
"""Three kinds of rig whose shots are edited: Rigify's metarig and generated rig, and a T pose with Mixamo's names."""

from pathlib import Path

import bpy
from mathutils import Vector

from .rigs import armature

_T_POSE = {  # name: parent, head, tail
    "Hips": (None, (0, 0, 1.0), (0, 0, 1.1)),
    "Spine": ("Hips", (0, 0, 1.1), (0, 0, 1.22)),
    "Spine1": ("Spine", (0, 0, 1.22), (0, 0, 1.34)),
    "Spine2": ("Spine1", (0, 0, 1.34), (0, 0, 1.48)),
    "Neck": ("Spine2", (0, 0, 1.48), (0, 0, 1.58)),
    "Head": ("Neck", (0, 0, 1.58), (0, 0, 1.78)),
}
_T_SIDE = {
    "Shoulder": ("Spine2", (0.06, 0, 1.44), (0.17, 0, 1.43)),
    "Arm": ("Shoulder", (0.17, 0, 1.43), (0.45, 0, 1.43)),
    "ForeArm": ("Arm", (0.45, 0, 1.43), (0.71, 0, 1.43)),
    "Hand": ("ForeArm", (0.71, 0, 1.43), (0.81, 0, 1.43)),
    "UpLeg": ("Hips", (0.09, 0, 0.95), (0.09, 0, 0.52)),
    "Leg": ("UpLeg", (0.09, 0, 0.52), (0.09, 0, 0.09)),
    "Foot": ("Leg", (0.09, 0, 0.09), (0.09, -0.13, 0.02)),
    "ToeBase": ("Foot", (0.09, -0.13, 0.02), (0.09, -0.2, 0.02)),
}


def t_pose_rig():
    """A human in T pose, with straight arms and legs, by Mixamo's names."""
    specs = [
        {
            "name": f"mixamorig:{bone}",
            "head": Vector(head),
            "tail": Vector(tail),
            "parent": parent and f"mixamorig:{parent}",
        }
        for bone, (parent, head, tail) in _T_POSE.items()
    ]
    for bone, (parent, head, tail) in _T_SIDE.items():
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            mirror = Vector((sign, 1.0, 1.0))
            above = f"mixamorig:{parent if parent in _T_POSE else side + parent}"
            spec = {"name": f"mixamorig:{side}{bone}", "head": Vector(head) * mirror, "tail": Vector(tail) * mirror}
            specs.append({**spec, "parent": above, "connect": parent not in _T_POSE})
    return armature("Mixamo", specs)


HANDS = {"metarig": "hand.{}", "mixamo": "mixamorig:{}Hand", "generated": "hand_fk.{}"}
FEET = {"metarig": "foot.{}", "mixamo": "mixamorig:{}Foot", "generated": "foot_fk.{}"}
_SIDES = {"mixamo": ("Left", "Right")}


def opened(kind, rigify_file):
    """The armature of this kind, active in Pose Mode, with the names of its left and right hand and feet."""
    if kind == "mixamo":
        rig = t_pose_rig()
    else:
        file = Path(rigify_file("metarig" if kind == "metarig" else "basic"))
        bpy.ops.wm.open_mainfile(filepath=str(file))
        rig = bpy.data.objects["metarig" if kind == "metarig" else "rig"]
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="POSE")
    sides = _SIDES.get(kind, ("L", "R"))
    hands, feet = (tuple(names[kind].format(side) for side in sides) for names in (HANDS, FEET))
    return rig, hands, feet
