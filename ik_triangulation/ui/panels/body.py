# SPDX-License-Identifier: GPL-3.0-or-later
"""Body: held tips, hips, balance and floor of the limbs that are solved together, and the contacts of its feet."""

import bpy
from bpy.types import Context, Panel, PropertyGroup, UILayout, UIList

from ...rig import touchables
from .. import preferences
from ..context import active_bone, holdable_of, is_in_body
from ..operators.contacts import (
    POSE_OT_ik_triangulation_contact_add,
    POSE_OT_ik_triangulation_contact_go,
    POSE_OT_ik_triangulation_contact_remove,
    POSE_OT_ik_triangulation_contacts_find,
)
from ..operators.limbs import POSE_OT_ik_triangulation_body_add, limb_label
from ..translation import translated
from .layout import LimbPanel, RowList, choice, in_order, paragraph

_NAME = 0.57  # width of the limb's name


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
        column.prop(body, "heels")
        if preferences.shows_all(context, bone.ik_triangulation) or body.thickness != 1.0:
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


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation_body,
        VIEW3D_UL_ik_triangulation_contacts,
        VIEW3D_PT_ik_triangulation_contacts,
    )
)
