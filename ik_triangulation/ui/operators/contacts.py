# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: find the spans in which feet are planted and hands rest on something, correct their list; and Grasp."""

from math import degrees

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, Object

from ...cooperative import Job
from ...errors import TargetError
from ...jobs import find_contacts as contacts
from ...jobs import grasp as grasps
from ...jobs.live import following as live
from ...rig import body as rig_body
from ...rig import limb as rig_limb
from ..context import active_armature, active_bone, cannot_pose, is_limb
from .base import IKOperator, JobOperator, named_object

_NEW = 10  # frames of a contact that is added


class POSE_OT_ik_triangulation_contacts_find(JobOperator):
    bl_idname = "pose.ik_triangulation_contacts_find"
    bl_label = "Find Contacts"
    bl_description = (
        "Find the frames in which feet are planted, and in which hands and feet rest on meshes, hands on each other or "
        "on the legs, and list them. Bake then holds each at one place there. Contacts that are listed for these limbs "
        "and frames are replaced"
    )

    support: StringProperty(
        name="On",
        description="Name of the mesh that hands and feet touch; empty for the selected ones, else all that are shown",
    )

    doing = "Finding contacts"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_pose(context)

    def job(self, context: Context, seconds: float) -> "Job[list[rig_body.Contact]]":
        armature, scene = active_armature(context), context.scene
        bone = active_bone(context)
        feet = contacts.feet_of(armature)
        tips = () if feet else _ends(armature) or ((bone.name,) if bone and is_limb(bone) else ())
        stored = armature.pose.bones[(feet or tips or armature.pose.bones.keys())[0]].ik_triangulation
        first, last, _ = rig_limb.saved_range(stored, scene, scene.use_preview_range)
        where = scene, context.view_layer, self._supports(context)
        return (yield from contacts.find_contacts.steps(armature, first, last, tips, *where))

    def _supports(self, context: Context) -> list[Object] | None:
        if self.support:
            return contacts.named_meshes([self.support], context.scene)
        return [ob for ob in context.view_layer.objects.selected if ob.type == "MESH"] or None

    def draw(self, context: Context) -> None:
        self.column().prop_search(self, "support", context.scene, "objects")

    def report_result(self, context: Context, result: "list[rig_body.Contact]") -> set[str]:
        armature = active_armature(context)
        feet = contacts.feet_of(armature)
        for foot in feet:
            live.stop(armature, foot)
        if not is_limb(active_bone(context) or armature.pose.bones[0]):
            rig_limb.select_only(armature, feet[:1])
        if not result:
            self.tell(
                {"WARNING"},
                "No contacts found: feet are never slow and low, and hands rest on nothing. Add them by hand",
            )
            return {"FINISHED"}
        count, things = len({contact.tip for contact in result}), {each.on for each in result} - {None}
        on = f" on {len(things)} {'thing' if len(things) == 1 else 'things'}" if things else ""
        limbs = "limb" if count == 1 else "limbs"
        self.tell(
            {"INFO"}, f"{len(result)} contacts of {count} {limbs}{on} found. Correct them under Body, then press Bake"
        )
        return {"FINISHED"}


class POSE_OT_ik_triangulation_contact_add(IKOperator):
    bl_idname = "pose.ik_triangulation_contact_add"
    bl_label = "Add Contact"
    bl_description = "Add a contact of the active limb, else of the first held one, from the present frame on"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = super().poll_problem(context)
        return reason or (None if contacts.feet_of(active_armature(context)) else "Hold a limb in place first")

    def act(self, context: Context) -> set[str]:
        armature, bone = active_armature(context), active_bone(context)
        tip = bone.name if bone.ik_triangulation.hold else contacts.feet_of(armature)[0]
        frame = context.scene.frame_current
        rig_body.add_contact(armature, rig_body.Contact(tip, frame, frame + _NEW))
        return {"FINISHED"}


class _OfContact(IKOperator):
    """Base of the operators for the active contact of the list."""

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = super().poll_problem(context)
        return reason or (None if _active(active_armature(context)) else "No contact is listed")


class POSE_OT_ik_triangulation_contact_remove(_OfContact):
    bl_idname = "pose.ik_triangulation_contact_remove"
    bl_label = "Remove Contact"
    bl_description = "Remove the chosen contact: in its frames the tip follows its animation"

    def act(self, context: Context) -> set[str]:
        stored = active_armature(context).ik_triangulation
        stored.contacts.remove(stored.contact)
        stored.contact = max(min(stored.contact, len(stored.contacts) - 1), 0)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_contact_go(_OfContact):
    bl_idname = "pose.ik_triangulation_contact_go"
    bl_label = "Go to Contact"
    bl_description = "Go to the first frame of the chosen contact; from there to its last one"

    def act(self, context: Context) -> set[str]:
        contact, scene = _active(active_armature(context)), context.scene
        scene.frame_set(contact.frame_end if scene.frame_current == contact.frame_start else contact.frame_start)
        return {"FINISHED"}


def _active(armature: Object) -> bpy.types.PropertyGroup | None:
    """Return the chosen contact of an armature."""
    stored = armature.ik_triangulation
    return stored.contacts[stored.contact] if 0 <= stored.contact < len(stored.contacts) else None


def _ends(armature: Object) -> tuple[str, ...]:
    """Return the selected bones below which none is selected."""
    chosen, bones = rig_limb.selected_bones(armature), armature.pose.bones
    return tuple(name for name in chosen if not any(below.name in chosen for below in bones[name].children_recursive))


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
            return named_object(context, self.prop)
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


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_contacts_find,
        POSE_OT_ik_triangulation_contact_add,
        POSE_OT_ik_triangulation_contact_remove,
        POSE_OT_ik_triangulation_contact_go,
        POSE_OT_ik_triangulation_grasp,
    )
)
