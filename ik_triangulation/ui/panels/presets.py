# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu of limb presets, opened from the main panel's header."""

import bpy
from bl_ui.utils import PresetPanel
from bpy.types import Panel

from ...presets import SUBDIR, SUFFIX
from ..operators.presets import POSE_OT_ik_triangulation_preset_add, POSE_OT_ik_triangulation_preset_load


class VIEW3D_PT_ik_triangulation_presets(PresetPanel, Panel):
    bl_label = "Limb Presets"
    preset_subdir = SUBDIR
    preset_extensions = {SUFFIX}
    preset_operator = POSE_OT_ik_triangulation_preset_load.bl_idname
    preset_add_operator = POSE_OT_ik_triangulation_preset_add.bl_idname


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_presets,))
