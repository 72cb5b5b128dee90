# SPDX-License-Identifier: GPL-3.0-or-later
"""Body, Goal, Posture and Joints: what is held and what is reached, and the balance, motion and limits of it."""

from typing import Any

import bpy
from bpy.types import Context, Panel, PropertyGroup, UILayout, UIList

from ...errors import ChainError
from ...items import OWN, WHOLE_SOLVERS
from ...rig import freedom, touchables
from ...rig import limb as rig_limb
from ...rig.targets import untouched
from .. import preferences
from ..context import active_bone, holdable_of, is_in_body
from ..last_result import latest
from ..operators.contacts import (
    POSE_OT_ik_triangulation_contact_add,
    POSE_OT_ik_triangulation_contact_go,
    POSE_OT_ik_triangulation_contact_remove,
    POSE_OT_ik_triangulation_contacts_find,
)
from ..operators.limbs import (
    POSE_OT_ik_triangulation_body_add,
    POSE_OT_ik_triangulation_joint_copy,
    POSE_OT_ik_triangulation_joint_learn,
    POSE_OT_ik_triangulation_joint_mirror,
    POSE_OT_ik_triangulation_joint_own,
    limb_label,
)
from ..operators.target import POSE_OT_ik_triangulation_offset_set, POSE_OT_ik_triangulation_target_from_animation
from ..translation import translated
from .layout import LimbPanel, RowList, choice, in_order, note_folded, note_unfolded, paragraph
from .lists import VIEW3D_UL_ik_triangulation_joints, chosen_joint

_NAME = 0.57  # width of the limb's name
_MOST_NAMED = 3  # objects that are no obstacles


class VIEW3D_PT_ik_triangulation_body(LimbPanel, Panel):
    bl_label = "Body"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        bone = active_bone(context)
        armature = bone.id_data
        if not is_in_body(bone):
            paragraph(column, "Let both hands reach with the whole body while the feet stay", context, "INFO")
            column.operator(POSE_OT_ik_triangulation_body_add.bl_idname, icon="OUTLINER_OB_ARMATURE")
            return
        held = column.column(heading="Hold in Place", align=True)
        for tip in holdable_of(context, armature):  # a foot that is let go of is to be held again here
            limb = tip.ik_triangulation
            held.prop(limb, "hold", text=limb_label(limb, tip.name))
        column.separator()
        body = armature.ik_triangulation
        if preferences.shows_all(context, bone.ik_triangulation):
            column.prop_search(body, "hips", armature.data, "bones")
        if preferences.shows_all(context, bone.ik_triangulation) or body.hips_motion != "FREE":
            choice(column, body, "hips_motion", context)
        balance = column.column()
        balance.active = not body.contacts  # a recorded motion has its own
        balance.prop(body, "balance")
        column.prop(body, "floor")
        for name in ("heels", "look_at_hands", "swing_arms"):
            column.prop(body, name)
        result, thickness = latest(armature, bone.name), body.bl_rna.properties["thickness"]
        named = result is not None and any(thickness.name in warning for warning in result.warnings)
        if named or preferences.shows_all(context, bone.ik_triangulation) or body.thickness != thickness.default:
            column.prop(body, "thickness")


class VIEW3D_UL_ik_triangulation_contacts(RowList, UIList):
    """List of contacts: limb and its support, first frame, last frame."""

    @staticmethod
    def draw_row(context: Context, layout: UILayout, contact: PropertyGroup, _data: object) -> None:
        row = layout.split(factor=_NAME, align=True)
        held = contact.id_data.pose.bones.get(contact.tip)
        wrong = held is None or not held.ik_triangulation.hold or contact.frame_start > contact.frame_end
        wrong = wrong or touchables.support_problem(contact, context.scene) is not None
        row.alert = wrong
        on = contact.bone or contact.support.name if contact.support else contact.support_name
        row.label(text=translated(f"{contact.tip} on {on}") if on else contact.tip, icon="ERROR" if wrong else "NONE")
        row.label(text=f"{contact.frame_start} - {contact.frame_end}")  # a field would cut the ends off long numbers

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        return [], in_order([(contact.frame_start, contact.tip) for contact in getattr(data, name)])


class VIEW3D_PT_ik_triangulation_contacts(LimbPanel, Panel):
    bl_label = "Contacts"
    bl_parent_id = "VIEW3D_PT_ik_triangulation_body"

    def draw(self, context: Context) -> None:
        column = self.column(context)
        armature = active_bone(context).id_data
        body = armature.ik_triangulation
        column.operator(POSE_OT_ik_triangulation_contacts_find.bl_idname, icon="VIEWZOOM")
        if not body.contacts:
            paragraph(column, "Feet and hands that slide in a recording are held where they rest", context, "INFO")
        row = column.row()
        name = VIEW3D_UL_ik_triangulation_contacts.__name__
        row.template_list(name, "", body, "contacts", body, "contact", rows=4 if body.contacts else 2, maxrows=8)
        tools = row.column(align=True)
        tools.operator(POSE_OT_ik_triangulation_contact_add.bl_idname, text="", icon="ADD")
        tools.operator(POSE_OT_ik_triangulation_contact_remove.bl_idname, text="", icon="REMOVE")
        tools.separator()
        tools.operator(POSE_OT_ik_triangulation_contact_go.bl_idname, text="", icon="TIME")
        if 0 <= body.contact < len(body.contacts):
            contact = body.contacts[body.contact]
            column.prop_search(contact, "tip", armature.data, "bones")
            frames = column.column(align=True)
            frames.prop(contact, "frame_start")
            frames.prop(contact, "frame_end")
            carrying = column.column(align=True)
            carrying.prop(contact, "support")
            if contact.support is not None and contact.support.type == "ARMATURE":
                carrying.prop_search(contact, "bone", contact.support.data, "bones")
            problem = touchables.support_problem(contact, context.scene)
            if problem:
                paragraph(column, problem, context, "ERROR")
        if body.contacts:
            column.prop(body, "contact_fade")


class VIEW3D_PT_ik_triangulation_goal(LimbPanel, Panel):
    bl_label = "Goal"
    bl_translation_context = OWN
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "influence", slider=True)
        if limb.hold:
            choice(column, limb, "hold_where", context)
            _draw_ground(column, limb, context)
            return
        column.prop(limb, "shape")
        if rig_limb.means_surface(limb.shape, limb.target, limb.subtarget):
            column.prop(limb, "surface_offset")
        if limb.shape == "FLOW":
            column.prop(limb, "flow_speed")
        offset = column.row(align=True, heading="Offset")
        if limb.use_offset or limb.is_property_set("offset_location"):  # without one there is nothing to keep
            offset.prop(limb, "use_offset", text="")
        offset.operator(POSE_OT_ik_triangulation_offset_set.bl_idname)
        column.operator(POSE_OT_ik_triangulation_target_from_animation.bl_idname, icon="ANIM")
        column.separator()
        choice(column, limb, "orientation", context)
        if limb.orientation == "LOOK":
            choice(column, limb, "look_axis", context)
            column.prop(limb, "orient_weight", slider=True)
        elif untouched.is_not_turned_yet(limb):
            paragraph(column, "Target not turned yet: the hand stays natural to its forearm", context, "INFO")
        elif limb.orientation != "NONE":
            column.prop(limb, "orient_weight", slider=True)
        column.separator()
        column.prop(limb, "pole_target")
        if limb.pole_target is not None:
            if limb.pole_target.type == "ARMATURE":
                column.prop_search(limb, "pole_subtarget", limb.pole_target.data, "bones")
            column.prop(limb, "pole_angle")
            column.prop(limb, "pole_weight", slider=True)


def _draw_ground(column: UILayout, limb: Any, context: Context) -> None:
    """Draw the ground mesh of a held tip."""
    column.prop(limb, "target", text="Stands On")
    if limb.target is None:
        return
    column.prop(limb, "shape")
    if rig_limb.means_surface(limb.shape, limb.target, limb.subtarget):
        column.prop(limb, "surface_offset")
        choice(column, limb, "orientation", context)


class VIEW3D_PT_ik_triangulation_posture(LimbPanel, Panel):
    bl_label = "Posture"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        _draw_motion(column, limb, context)
        column.separator()
        all_of_it = preferences.shows_all(context, limb)
        if all_of_it or limb.effort_weight:  # Natural is near the pose made by hand anyway
            column.prop(limb, "effort_weight", slider=True)
        if all_of_it or limb.rest_weight:
            column.prop(limb, "rest_weight", slider=True)
            near = column.column()
            near.active = limb.rest_weight > 0.0
            near.prop(limb, "rest_pose")
        column.separator()
        choice(column, limb, "obstacles", context)
        if limb.obstacles is not None:
            for ob in [ob for ob in limb.obstacles.all_objects if not rig_limb.has_volume(ob)][:_MOST_NAMED]:
                paragraph(column, f"'{ob.name}' has no volume and does not count", context, "INFO")
            column.prop(limb, "obstacle_margin")
            column.prop(limb, "obstacle_weight", slider=True)


def _draw_motion(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw what relates the frames of a bake; Natural solves all of them together from the pose made by hand."""
    natural = limb.solver in WHOLE_SOLVERS or is_in_body(active_bone(context))
    smooth = column.column()
    smooth.active = natural or limb.finish
    smooth.prop(limb, "smoothing", slider=True)
    if natural:
        smooth.prop(limb, "soft_edge")
    else:
        smooth.prop(limb, "smooth")
        choice(column, limb, "start_from", context)


class VIEW3D_PT_ik_triangulation_joint(LimbPanel, Panel):
    bl_label = "Joints"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        note_folded(context)
        return super().poll(context)

    def draw(self, context: Context) -> None:
        note_unfolded(context)
        column = self.column(context)
        limb, bone = active_bone(context).ik_triangulation, chosen_joint(context)
        length = column.column()
        length.active = not limb.use_selected
        length.prop(limb, "chain_count")
        if limb.use_selected or preferences.shows_all(context, limb):
            column.prop(limb, "use_selected")
        lists = context.window_manager.ik_triangulation_lists
        name = VIEW3D_UL_ik_triangulation_joints.__name__
        column.template_list(name, "", bone.id_data.pose, "bones", lists, "joint", rows=3, maxrows=8)
        joint = bone.ik_triangulation_joint
        column.label(text=bone.name, icon="BONE_DATA")
        column.prop(joint, "source")
        if joint.source in {"AUTO", "BLENDER"}:
            _draw_blender_limits(column, bone)
            for limit in bone.constraints if joint.source == "AUTO" else ():
                if limit.type == "LIMIT_ROTATION":
                    _draw_limit(column, limit)
        elif joint.source == "CONSTRAINT":
            _draw_constraint(column, bone, context)
        else:
            in_body = is_in_body(active_bone(context))
            _draw_own_limits(column, joint, preferences.shows_all(context, limb), in_body)
        if limb.effort_weight or joint.mass != 1.0 or preferences.shows_all(context, limb):
            column.prop(joint, "mass")
        for note in freedom.limit_notes([bone] if bone else []):
            paragraph(column, note, context, "ERROR")
        column.separator()
        column.label(text="Limits of Selected Bones:")
        tools = column.column(align=True)
        tools.operator(POSE_OT_ik_triangulation_joint_own.bl_idname, icon="IMPORT")
        tools.operator(POSE_OT_ik_triangulation_joint_copy.bl_idname, icon="COPYDOWN")
        tools.operator(POSE_OT_ik_triangulation_joint_mirror.bl_idname, icon="MOD_MIRROR")
        tools.operator(POSE_OT_ik_triangulation_joint_learn.bl_idname, icon="KEYFRAME")


def _draw_blender_limits(column: UILayout, bone: bpy.types.PoseBone) -> None:
    """Draw the limits of Blender's own Inverse Kinematics panel."""
    for axis in "xyz":
        row = column.row(align=True)
        row.use_property_split = False
        row.label(text=axis.upper())
        row.prop(bone, f"lock_ik_{axis}", text="")
        limits = row.row(align=True)
        limits.active = not getattr(bone, f"lock_ik_{axis}")
        limits.prop(bone, f"use_ik_limit_{axis}", text="Limit", toggle=True)
        if getattr(bone, f"use_ik_limit_{axis}"):
            limits.prop(bone, f"ik_min_{axis}", text="")
            limits.prop(bone, f"ik_max_{axis}", text="")


def _draw_constraint(column: UILayout, bone: bpy.types.PoseBone, context: Context) -> None:
    """Draw the limits of the Limit Rotation constraint, or the reason why it cannot be used."""
    try:
        limit = freedom.limit_rotation(bone)
    except ChainError as error:
        paragraph(column, str(error), context, "ERROR")
        return
    _draw_limit(column, limit)


def _draw_limit(column: UILayout, limit: bpy.types.Constraint) -> None:
    """Draw a Limit Rotation constraint."""
    column.label(text=limit.name, icon="CON_ROTLIMIT")
    column.prop(limit, "euler_order", text="Order")
    for axis in "xyz":
        column.prop(limit, f"use_limit_{axis}")
        if getattr(limit, f"use_limit_{axis}"):
            ends = column.column(align=True)
            ends.prop(limit, f"min_{axis}", text="Minimum")
            ends.prop(limit, f"max_{axis}", text="Maximum")


def _draw_own_limits(column: UILayout, joint: bpy.types.PropertyGroup, all_of_it: bool, in_body: bool) -> None:
    """Draw the values used by this kind of joint."""
    column.prop(joint, "kind")
    if joint.kind == "HINGE":
        column.prop(joint, "axis")
    elif joint.kind == "CONE":
        column.prop(joint, "swing")
    elif joint.kind == "EULER":
        if all_of_it or (joint.order != joint.bl_rna.properties["order"].default and not in_body):
            column.prop(joint, "order")  # that of a body is as Set Up Body found it
        column.prop(joint, "minimum")
        column.prop(joint, "maximum")
    if joint.kind in {"HINGE", "CONE"}:
        column.prop(joint, "use_limits", text="Limit Twist" if joint.kind == "CONE" else "Limit")
        ends = column.column(align=True)
        ends.active = joint.use_limits
        for end in ("lower", "upper"):
            ends.prop(joint, f"twist_{end}" if joint.kind == "CONE" else end)
    if joint.kind != "LOCKED" and (joint.stiffness or all_of_it):
        column.prop(joint, "stiffness", slider=True)


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation_body,
        VIEW3D_UL_ik_triangulation_contacts,
        VIEW3D_PT_ik_triangulation_contacts,
        VIEW3D_PT_ik_triangulation_goal,
        VIEW3D_PT_ik_triangulation_posture,
        VIEW3D_PT_ik_triangulation_joint,
    )
)
