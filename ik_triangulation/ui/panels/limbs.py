# SPDX-License-Identifier: GPL-3.0-or-later
"""Main panel: the active limb with its target, presets, what is done with it (pose, live, bake) and the last result."""

import bpy
from bl_ui.utils import PresetPanel
from bpy.types import Context, Object, Panel, PoseBone, UILayout

from ...errors import IKError
from ...jobs import setup
from ...jobs.live import following as live
from ...jobs.shots import writing
from ...presets import SUBDIR, SUFFIX
from ...rig import keyframes, layers
from ...rig import limb as rig_limb
from .. import manual
from ..context import (
    active_armature,
    active_body,
    active_bone,
    active_chain,
    cannot_edit,
    control_names,
    is_in_body,
    is_limb,
    limbs_at_target,
    limbs_of,
)
from ..last_result import LastResult, latest
from ..operators.bake import (
    POSE_OT_ik_triangulation_bake,
    POSE_OT_ik_triangulation_bake_all,
    POSE_OT_ik_triangulation_follow_set,
    POSE_OT_ik_triangulation_live,
    POSE_OT_ik_triangulation_live_stop,
    POSE_OT_ik_triangulation_solve,
)
from ..operators.contacts import POSE_OT_ik_triangulation_contacts_find
from ..operators.edit import POSE_OT_ik_triangulation_follow_rig
from ..operators.limbs import (
    POSE_OT_ik_triangulation_body_add,
    POSE_OT_ik_triangulation_limb_add,
    POSE_OT_ik_triangulation_limb_remove,
    POSE_OT_ik_triangulation_preset_add,
    POSE_OT_ik_triangulation_preset_load,
    POSE_OT_ik_triangulation_target_add,
    limb_label,
)
from ..operators.target import (
    POSE_OT_ik_triangulation_limb_choose,
    POSE_OT_ik_triangulation_target_key,
    POSE_OT_ik_triangulation_target_select,
)
from ..translation import translated
from .layout import SidebarPanel, choice, is_narrow, paragraph
from .lists import VIEW3D_UL_ik_triangulation_limbs

_UNITS = 16  # width of the popover, in buttons of one icon
_ROOM = 280.0  # for its texts [pixels at 1x interface scale]

_MOST_ROWS = 3  # of the list of limbs, until it is dragged longer
_MOST_WARNINGS, _MOST_LINES = 3, 6  # of a result, all of whose warnings are among its details
_LABEL = 0.22  # width of the target's label
_TALL = 1.5  # height of the buttons that matter most


class VIEW3D_PT_ik_triangulation_presets(PresetPanel, Panel):
    bl_label = "Limb Presets"
    preset_subdir = SUBDIR
    preset_extensions = {SUFFIX}
    preset_operator = POSE_OT_ik_triangulation_preset_load.bl_idname
    preset_add_operator = POSE_OT_ik_triangulation_preset_add.bl_idname


class VIEW3D_PT_ik_triangulation_result(Panel):
    bl_label = "Last Result"
    bl_description = "Details of the last result: distance, cost of the motion, joints at their limits"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"  # as popovers have it
    bl_ui_units_x = _UNITS

    @classmethod
    def poll(cls, context: Context) -> bool:
        bone = active_bone(context)
        return bone is not None and latest(bone.id_data, bone.name) is not None

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        for number, line in enumerate(result.lines):
            paragraph(column, line, context, "BLANK1" if number else result.icon, _ROOM)
        for warning in result.warnings:
            paragraph(column, warning, context, "INFO" if writing.is_note(warning) else "ERROR", _ROOM)
        if result.report.hips:
            return
        paragraph(column, result.cost(context.scene), context, "DRIVER_ROTATIONAL_DIFFERENCE", _ROOM)
        for line in result.limits or ["No bone is at a limit"]:
            paragraph(column, line, context, "CON_ROTLIMIT", _ROOM)


def draw_result(column: UILayout, result: LastResult, context: Context) -> None:
    """Draw the result in one line that opens the details, the remedy for bones that do not follow, and warnings."""
    row = column.row()
    row.alert = not result.reached
    row.popover(VIEW3D_PT_ik_triangulation_result.__name__, text=translated(result.line), icon=result.icon)
    if result.switches:
        first, *others = result.switches
        what = translated(f"{len(others) + 1} Properties") if others else first  # all names would be cut off
        text = f"{translated('Set and Key' if result.is_bake else 'Set')} {what}"
        column.operator(POSE_OT_ik_triangulation_follow_set.bl_idname, text=text, icon="KEYINGSET")
    said = result.warnings[-_MOST_WARNINGS:]  # what was seen in the frames comes last
    left = _MOST_LINES
    for number, warning in enumerate(said):
        icon = "INFO" if writing.is_note(warning) else "ERROR"
        left -= paragraph(column, warning, context, icon, most=left // (len(said) - number))
    if len(result.warnings) > len(said):
        paragraph(column, f"{len(result.warnings) - len(said)} more in the details", context, "BLANK1")


class VIEW3D_PT_ik_triangulation(SidebarPanel, Panel):
    bl_label = "IK Triangulation"

    def draw_header_preset(self, context: Context) -> None:
        if not is_narrow(context):
            row = self.layout.row()
            row.emboss = "NONE"
            _draw_tools(row, context)

    def draw(self, context: Context) -> None:
        column = self.column(context)
        armature, bone = active_armature(context), active_bone(context)
        _draw_live_elsewhere(column, armature)
        if armature is None:
            paragraph(column, cannot_edit(context) or "", context, "INFO")
            return
        tips = limbs_of(context, armature)
        at_target = limbs_at_target(context)
        if at_target:
            _draw_choice(column, at_target, bone)
        elif tips:
            _draw_list(column, armature, len(tips), context)
        if bone is None or not is_limb(bone):
            _draw_start(column, armature, bone, bool(tips), context)
            return
        _draw_target(column, bone, context)
        together = sum(tip.ik_triangulation.enabled for tip in tips)
        _draw_actions(self.column(context), bone, together > 1, context)


def _draw_live_elsewhere(column: UILayout, armature: Object | None) -> None:
    """Draw the live limbs of other armatures."""
    under_way = live.under_way(beside=armature)
    for name in under_way:
        column.label(text=translated(f"Live: {name}"), icon="PLAY")
    if under_way:
        column.operator(POSE_OT_ik_triangulation_live_stop.bl_idname, icon="PAUSE")


def _draw_tools(layout: UILayout, context: Context) -> None:
    """Draw presets and manual: in the panel's header, or at its end if they would cover the title."""
    if active_bone(context) is not None:
        layout.popover(VIEW3D_PT_ik_triangulation_presets.__name__, text="", icon="PRESET")
    layout.operator(manual.WM_OT_ik_triangulation_manual.bl_idname, text="", icon="HELP")


def _draw_list(column: UILayout, armature: Object, count: int, context: Context) -> None:
    """Draw the list of limbs, with Add and Remove beside it."""
    row = column.row()
    lists = context.window_manager.ik_triangulation_lists
    name = VIEW3D_UL_ik_triangulation_limbs.__name__
    rows = min(count, _MOST_ROWS)
    row.template_list(name, "", armature.pose, "bones", lists, "limb", rows=rows, maxrows=max(rows, 1))
    tools = row.column(align=True)
    tools.operator(POSE_OT_ik_triangulation_limb_add.bl_idname, text="", icon="ADD")
    tools.operator(POSE_OT_ik_triangulation_limb_remove.bl_idname, text="", icon="REMOVE")


def _draw_choice(column: UILayout, tips: list[PoseBone], chosen: PoseBone | None) -> None:
    """Draw the limbs that share the active target as buttons, of which one is pressed."""
    several = len({tip.id_data for tip in tips}) > 1
    buttons = column.column(align=True)
    for tip in tips:
        row = buttons.row(align=True)
        label = limb_label(tip.ik_triangulation, tip.name)
        choose = row.operator(
            POSE_OT_ik_triangulation_limb_choose.bl_idname,
            text=f"{tip.id_data.name}: {label}" if several else label,
            icon="BONE_DATA",
            depress=tip == chosen,
        )
        choose.armature, choose.tip = tip.id_data.name, tip.name


def _draw_start(column: UILayout, armature: Object, bone: PoseBone | None, others: bool, context: Context) -> None:
    """Draw what to do where no limb is active."""
    if bone is None or (context.mode != "POSE" and not others):
        paragraph(column, "Click a hand or foot in Pose Mode", context, "INFO")
    elif not others and context.mode == "POSE" and (count := len(rig_limb.selected_bones(armature))) > setup.MOST_TIPS:
        paragraph(column, f"{count} bones are selected: set up the body, or click a hand or foot", context, "INFO")
    else:
        paragraph(column, f"'{bone.name}' is in no limb yet", context, "INFO")
    buttons = [(POSE_OT_ik_triangulation_limb_add, "ADD")]
    if not others:
        buttons.insert(0, (POSE_OT_ik_triangulation_body_add, "OUTLINER_OB_ARMATURE"))
    for operator, icon in buttons:
        big = column.row()
        big.scale_y = _TALL
        big.operator(operator.bl_idname, icon=icon)
    if not others and sum(ob.type == "ARMATURE" for ob in context.selected_objects) > 1:
        column.operator(POSE_OT_ik_triangulation_follow_rig.bl_idname, icon="ARMATURE_DATA")
    if not others and armature.animation_data and armature.animation_data.action:
        column.operator(POSE_OT_ik_triangulation_contacts_find.bl_idname, icon="VIEWZOOM")
    if bone is not None and others:
        row = column.row(align=True)
        row.prop(bone.ik_triangulation, "target")
        row.operator(POSE_OT_ik_triangulation_target_add.bl_idname, text="", icon="ADD")


def _draw_target(column: UILayout, bone: PoseBone, context: Context) -> None:
    """Draw the target of the limb that ends in this bone, with Select."""
    limb = bone.ik_triangulation
    if limb.hold:
        column.prop(limb, "hold", icon="PINNED")
        return
    line = column if is_narrow(context) else column.split(factor=_LABEL)
    if not is_narrow(context):
        line.label(text="Target")
    row = line.row(align=True)
    row.use_property_split = False
    row.prop(limb, "target", text="")
    select = row.row(align=True)
    select.enabled = limb.target != context.active_object or limb.target.type == "ARMATURE"
    select.operator(
        POSE_OT_ik_triangulation_target_select.bl_idname,
        text="" if is_narrow(context) else "Select",
        icon="RESTRICT_SELECT_OFF" if is_narrow(context) else "NONE",
    )
    if limb.target.type == "ARMATURE":
        column.prop_search(limb, "subtarget", limb.target.data, "bones")
        match = column.column()
        match.active = bool(limb.subtarget)
        choice(match, limb, "match", context)


def _draw_actions(column: UILayout, bone: PoseBone, several: bool, context: Context) -> None:
    """Draw Pose, Live and Bake, and what came of them."""
    armature = bone.id_data
    row = column.row(align=True)
    row.operator(POSE_OT_ik_triangulation_solve.bl_idname, text="Pose", icon="CON_KINEMATIC")
    on, single = live.is_live(armature, bone.name), not is_in_body(bone)
    row.operator(POSE_OT_ik_triangulation_live.bl_idname, icon="PAUSE" if on else "PLAY", depress=on)
    if not bone.ik_triangulation.hold:
        row.operator(POSE_OT_ik_triangulation_target_key.bl_idname, text="", icon="KEYFRAME")
    problem = live.problem(armature, bone.name)
    if problem:
        paragraph(column, problem, context, "ERROR")
    row = column.row(align=True)
    row.scale_y = _TALL
    again = _is_baked_already(context)
    bake = row.row(align=True)
    bake.operator(
        POSE_OT_ik_triangulation_bake.bl_idname,
        text="Bake Again" if again else "Bake",
        icon="FILE_REFRESH" if again else "KEY_HLT",
    )
    if several and single:
        row.operator(POSE_OT_ik_triangulation_bake_all.bl_idname, text="Bake All")
    choice(column, context.window_manager.ik_triangulation_lists, "keys", context)
    result = latest(armature, bone.name)
    if result is not None:
        draw_result(column, result, context)
    if is_narrow(context):
        _draw_tools(column.row(align=True), context)


def _is_baked_already(context: Context) -> bool:
    """Tell whether a bake replaces baked keys of the active limb, or the layer on top."""
    stored = active_bone(context).ik_triangulation
    try:
        if stored.destination == "LAYER":
            body = active_body(context)
            return layers.is_baked_layer(active_armature(context), body.bones if body else active_chain(context))
        names = control_names(active_bone(context)) if stored.keys_on == "IK" else None
        armature, bones = active_armature(context), names.bones if names else active_chain(context)
        return keyframes.is_baked(armature, bones)
    except IKError:
        return False


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation_presets,
        VIEW3D_PT_ik_triangulation_result,
        VIEW3D_PT_ik_triangulation,
    )
)
