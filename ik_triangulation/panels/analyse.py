# SPDX-License-Identifier: GPL-3.0-or-later
"""What the limb can do, and which solver suits it."""

import bpy
from bpy.types import Context, Panel

from ..operators.map import POSE_OT_ik_triangulation_map
from .layout import LimbPanel


class VIEW3D_PT_ik_triangulation_analyse(LimbPanel, Panel):
    bl_label = "Analyze"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        self.column().operator(POSE_OT_ik_triangulation_map.bl_idname, icon="IMAGE_DATA")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_analyse,))
