# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys: the frames of a bake, and the keys that it writes."""

import bpy
from bpy.types import Context, Panel, PoseBone, PropertyGroup, UILayout

from ...items import HELD, REDUCED
from ...rig import timeline
from .. import preferences
from ..context import active_bone, control_names
from ..operators.bake import POSE_OT_ik_triangulation_generated_delete
from ..translation import translated
from .layout import LimbPanel, choice, is_narrow, paragraph


class VIEW3D_PT_ik_triangulation_keys(LimbPanel, Panel):
    bl_label = "Keys"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        _draw_range(column, limb, context)
        _draw_details(column, limb, context)
        column.separator()
        choice(column, limb, "destination", context)
        _draw_controls(column, active_bone(context), context)
        if preferences.shows_all(context, limb):
            column.prop(limb, "mark_misses")
        column.separator()
        icon = "NONE" if is_narrow(context) else "KEY_DEHLT"  # its long label needs all the width
        column.operator(POSE_OT_ik_triangulation_generated_delete.bl_idname, icon=icon)


def _draw_controls(column: UILayout, bone: PoseBone, context: Context) -> None:
    """Draw which controls get the keys, by the names that the rig gives them; nothing on a rig without IK controls."""
    limb, names = bone.ik_triangulation, control_names(bone)
    if names is None:
        if limb.keys_on != "FK":
            choice(column, limb, "keys_on", context)
        return
    column.label(text=f"{translated(limb.bl_rna.properties['keys_on'].name)}:")
    buttons = column.column(align=True)  # their names need all the width
    buttons.use_property_split = False
    for choice_of, text in (("FK", names.tip), ("FK_SWITCH", names.with_switch), ("IK", names.ik)):
        if choice_of != "FK_SWITCH" or names.switches:
            buttons.prop_enum(limb, "keys_on", choice_of, text=translated(text))


def _draw_range(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw the frames that are baked."""
    column.prop(limb, "use_scene_range")
    if limb.use_scene_range:
        first, last = timeline.scene_range(context.scene)
        column.label(text=translated(f"Frames {first} to {last}"))
    else:
        ends = column.column(align=True)
        ends.prop(limb, "frame_start")
        ends.prop(limb, "frame_end")


def _draw_details(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw what belongs to the choice of keys."""
    if limb.reduce:
        column.prop(limb, "reduce_tolerance")
        if not limb.reduce_tolerance:
            share = HELD if limb.hold else REDUCED
            paragraph(column, f"{share:.1%} of the limb's reach", context, "INFO")
    elif limb.only_target_keys:
        choice(column, limb, "interpolation", context)
    elif limb.step > 1:
        column.prop(limb, "step")
        choice(column, limb, "interpolation", context)
    elif preferences.shows_all(context, limb) or limb.interpolation != limb.bl_rna.properties["interpolation"].default:
        choice(column, limb, "interpolation", context)


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_keys,))
