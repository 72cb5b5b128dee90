# SPDX-License-Identifier: GPL-3.0-or-later
"""Grasp: the hand closes around the object that it holds, that is selected, or that is its target."""

from math import degrees

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, Object

from ...errors import TargetError
from ...jobs import grasp as grasps
from ..context import active_armature, active_bone, cannot_pose
from .base import IKOperator

_SOLID = {"MESH", "CURVE", "SURFACE", "FONT", "META"}


class POSE_OT_ik_triangulation_grasp(IKOperator):
    bl_idname = "pose.ik_triangulation_grasp"
    bl_label = "Grasp"
    bl_description = (
        "Close the fingers of the active hand around an object until each phalanx touches, with the thumb opposite. It "
        "is the object that the hand takes, else the selected one, else the target of its limb"
    )

    prop: StringProperty(name="Prop", description="Name of the object to hold; empty to find it")
    key: BoolProperty(
        name="Key",
        description="Key the fingers: from the frame at which the hand takes the object to where it lets go, else now",
        default=True,
    )
    shift: BoolProperty(
        name="Shift Hand",
        description="Move the hand by up to 2 cm and 15 degrees to hold better, if its arm has no keys",
        default=True,
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_pose(context) or (None if active_bone(context) else "Make a hand or a finger active")

    def act(self, context: Context) -> set[str]:
        armature = active_armature(context)
        hand = grasps.hand_at(armature, active_bone(context).name)
        prop = self._prop(context, armature, hand)
        done = grasps.grasp(armature, hand, prop, self.key, self.shift, context.scene, context.view_layer)
        for note in done.warnings:
            self.tell({"WARNING"}, note)
        kind = {"INFO"} if not done.warnings else {"WARNING"}
        self.tell(
            kind,
            f"'{done.hand}' holds '{done.prop}': {done.fingers} fingers touch, and the thumb at "
            f"{degrees(done.opposition):.0f} degrees from them",
        )
        return {"FINISHED"}

    def _prop(self, context: Context, armature: Object, hand: str) -> Object:
        if self.prop:
            found = context.scene.objects.get(self.prop)
            if found is None:
                raise TargetError(f"'{self.prop}' is no object of this scene. Choose one of it.")
            return found
        held = grasps.prop_held(armature, hand, context.scene)
        chosen = [ob for ob in context.selected_objects if ob.type in _SOLID]
        target = armature.pose.bones[hand].ik_triangulation.target
        found = held or (chosen[0] if len(chosen) == 1 else None)
        if found is None and target is not None and target.type in _SOLID:
            found = target
        if found is None:
            raise TargetError("There is nothing to hold. Select one mesh besides the armature, or choose a prop.")
        return found

    def draw(self, context: Context) -> None:
        column = self.column()
        column.prop_search(self, "prop", context.scene, "objects")
        column.prop(self, "key")
        column.prop(self, "shift")


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_grasp,))
