# SPDX-License-Identifier: GPL-3.0-or-later
"""Two figures for everyday jobs: Rigify's human, and a skeleton at rest in a T-pose with Mixamo's names."""

from collections.abc import Callable
from typing import Any, NamedTuple

from . import postures, scenes


class Rig(NamedTuple):
    """How to make a skeleton, and the names of its bones; those of a side have a place for L or R."""

    make: Callable[[], Any]
    hips: str = "spine"
    chest: str = "spine.003"
    shoulder: str = "shoulder.{}"
    upper_arm: str = "upper_arm.{}"
    forearm: str = "forearm.{}"
    hand: str = "hand.{}"
    thigh: str = "thigh.{}"
    shin: str = "shin.{}"
    foot: str = "foot.{}"
    toe: str = "toe.{}"
    head: str = "spine.006"
    sides: dict[str, str] = {"L": "L", "R": "R"}

    def of(self, part, side=""):
        """The name of a bone."""
        return getattr(self, part).format(self.sides.get(side, side))


def t_pose():
    """A skeleton at rest in a T-pose, with Mixamo's names and proportions of a person of 1.8 m."""
    import bpy
    from mathutils import Vector

    scenes.empty_file()
    data = bpy.data.armatures.new("T-Pose")
    ob = bpy.data.objects.new("T-Pose", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")

    def add(name, parent, head, tail):
        bone = data.edit_bones.new(f"mixamorig:{name}")
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[f"mixamorig:{parent}"] if parent else None

    add("Hips", None, (0.0, 0.0, 1.02), (0.0, 0.0, 1.12))
    trunk = ((0.0, 0.0, 1.12), (0.0, 0.013, 1.22), (0.0, 0.027, 1.31), (0.0, 0.047, 1.47))
    for name, parent, head, tail in zip(
        ("Spine", "Spine1", "Spine2"), ("Hips", "Spine", "Spine1"), trunk, trunk[1:], strict=False
    ):
        add(name, parent, head, tail)
    add("Neck", "Spine2", (0.0, 0.047, 1.47), (0.0, 0.03, 1.57))
    add("Head", "Neck", (0.0, 0.03, 1.57), (0.0, 0.05, 1.80))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        arm = [
            Vector((sign * x, y, 1.42))
            for x, y in ((0.045, 0.05), (0.15, 0.07), (0.425, 0.072), (0.7, 0.07), (0.78, 0.07))
        ]
        names = ("Shoulder", "Arm", "ForeArm", "Hand")
        for name, parent, head, tail in zip(
            names, ("Spine2", *(side + each for each in names)), arm, arm[1:], strict=False
        ):
            add(side + name, parent, head, tail)
        leg = (
            (0.085, 0.015, 0.95),
            (0.085, 0.01, 0.52),
            (0.085, 0.04, 0.085),
            (0.085, -0.065, 0.0),
            (0.085, -0.15, 0.0),
        )
        leg = [Vector((sign * x, y, z)) for x, y, z in leg]
        names = ("UpLeg", "Leg", "Foot", "ToeBase")
        for name, parent, head, tail in zip(
            names, ("Hips", *(side + each for each in names)), leg, leg[1:], strict=False
        ):
            add(side + name, parent, head, tail)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return ob


MIXAMO = (
    "Hips",
    "Spine2",
    *("{}Shoulder", "{}Arm", "{}ForeArm", "{}Hand", "{}UpLeg", "{}Leg", "{}Foot", "{}ToeBase", "Head"),
)
RIGS = {
    "human": Rig(postures.human),
    "t-pose": Rig(t_pose, *(f"mixamorig:{name}" for name in MIXAMO), {"L": "Left", "R": "Right"}),
}
