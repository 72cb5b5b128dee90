# SPDX-License-Identifier: GPL-3.0-or-later
"""Menu *IK Triangulation*: under *Pose*, in the right-click menu of a bone, and in Object Mode where a limb is active.

Menu search (F3), Quick Favorites and shortcuts work by what is in a menu. The pie menu has what is pressed most often
while a shot is made.
"""

import bpy
from bpy.types import Context, Menu

from ..jobs.live import following as live
from .context import active_armature, active_bone, has_limb
from .operators.bake import (
    POSE_OT_ik_triangulation_bake,
    POSE_OT_ik_triangulation_bake_all,
    POSE_OT_ik_triangulation_generated_delete,
    POSE_OT_ik_triangulation_live,
    POSE_OT_ik_triangulation_reach,
    POSE_OT_ik_triangulation_solve,
)
from .operators.contacts import POSE_OT_ik_triangulation_contacts_find
from .operators.edit import (
    POSE_OT_ik_triangulation_breakdown,
    POSE_OT_ik_triangulation_follow_rig,
    POSE_OT_ik_triangulation_mirror,
    POSE_OT_ik_triangulation_pull,
    POSE_OT_ik_triangulation_retime,
    POSE_OT_ik_triangulation_target_to_tip,
    POSE_OT_ik_triangulation_trail_drag,
)
from .operators.limbs import (
    POSE_OT_ik_triangulation_body_add,
    POSE_OT_ik_triangulation_limb_add,
    POSE_OT_ik_triangulation_remove_everything,
)
from .operators.target import POSE_OT_ik_triangulation_target_from_animation
from .operators.target_drag import POSE_OT_ik_triangulation_drag, POSE_OT_ik_triangulation_target_move
from .preferences import add_shortcut, remove_shortcut


class VIEW3D_MT_ik_triangulation(Menu):
    bl_label = "IK Triangulation"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator(POSE_OT_ik_triangulation_limb_add.bl_idname, icon="ADD")
        layout.operator(POSE_OT_ik_triangulation_body_add.bl_idname, icon="OUTLINER_OB_ARMATURE")
        layout.operator(POSE_OT_ik_triangulation_follow_rig.bl_idname, icon="ARMATURE_DATA")
        layout.separator()
        layout.operator(POSE_OT_ik_triangulation_solve.bl_idname, icon="CON_KINEMATIC")
        armature, bone = active_armature(context), active_bone(context)
        on = bone is not None and live.is_live(armature, bone.name)
        layout.operator(POSE_OT_ik_triangulation_live.bl_idname, icon="CHECKBOX_HLT" if on else "CHECKBOX_DEHLT")
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.operator(POSE_OT_ik_triangulation_target_move.bl_idname, icon="EMPTY_ARROWS")
        layout.operator(POSE_OT_ik_triangulation_drag.bl_idname, icon="VIEW_PAN")
        layout.separator()
        layout.operator(POSE_OT_ik_triangulation_bake.bl_idname, icon="KEY_HLT")
        layout.operator(POSE_OT_ik_triangulation_bake_all.bl_idname)
        layout.operator(POSE_OT_ik_triangulation_reach.bl_idname)
        layout.operator(POSE_OT_ik_triangulation_contacts_find.bl_idname, icon="VIEWZOOM")
        layout.operator(POSE_OT_ik_triangulation_target_to_tip.bl_idname, icon="SNAP_ON")
        layout.operator(POSE_OT_ik_triangulation_pull.bl_idname, icon="PROP_ON")
        layout.operator(POSE_OT_ik_triangulation_retime.bl_idname, icon="TIME")
        layout.prop(context.scene.ik_triangulation_trail, "show", text="Trail")
        layout.prop(context.scene.ik_triangulation_ghosts, "show", text="Ghosts")
        layout.operator(POSE_OT_ik_triangulation_trail_drag.bl_idname, icon="RESTRICT_SELECT_OFF")
        layout.operator(POSE_OT_ik_triangulation_breakdown.bl_idname, icon="IPO_EASE_IN_OUT")
        layout.operator(POSE_OT_ik_triangulation_mirror.bl_idname, icon="MOD_MIRROR")
        layout.operator(POSE_OT_ik_triangulation_target_from_animation.bl_idname, icon="ANIM")
        layout.separator()
        layout.operator(POSE_OT_ik_triangulation_generated_delete.bl_idname, icon="KEY_DEHLT")
        layout.operator(POSE_OT_ik_triangulation_remove_everything.bl_idname, icon="X")


def has_a_limb(context: Context) -> bool:
    """Tell whether the active object is a rig with limbs, or the target of one."""
    armature = active_armature(context)
    return armature is not None and has_limb(armature)


def _draw_in_pose_mode(menu: Menu, context: Context) -> None:
    menu.layout.separator()
    menu.layout.menu(VIEW3D_MT_ik_triangulation.__name__)


def _draw_in_object_mode(menu: Menu, context: Context) -> None:
    if has_a_limb(context):
        _draw_in_pose_mode(menu, context)


class VIEW3D_MT_ik_triangulation_pie(Menu):
    bl_label = "IK"

    def draw(self, context: Context) -> None:
        """Draw in the order of Blender: west, east, south, north, then the corners."""
        pie = self.layout.menu_pie()
        pie.operator(POSE_OT_ik_triangulation_live.bl_idname, icon="PLAY")
        pie.operator(POSE_OT_ik_triangulation_bake.bl_idname, icon="KEY_HLT")
        pie.operator(POSE_OT_ik_triangulation_target_to_tip.bl_idname, icon="SNAP_ON")
        pie.operator(POSE_OT_ik_triangulation_limb_add.bl_idname, icon="ADD")
        pie.operator(POSE_OT_ik_triangulation_solve.bl_idname, icon="CON_KINEMATIC")
        pie.operator(POSE_OT_ik_triangulation_body_add.bl_idname, icon="OUTLINER_OB_ARMATURE")
        pie.prop(context.scene.ik_triangulation_trail, "show", text="Trail")
        pie.operator(POSE_OT_ik_triangulation_breakdown.bl_idname, icon="IPO_EASE_IN_OUT")


PIE = VIEW3D_MT_ik_triangulation_pie.__name__
_PLACES = {
    "VIEW3D_MT_pose": _draw_in_pose_mode,
    "VIEW3D_MT_pose_context_menu": _draw_in_pose_mode,
    "VIEW3D_MT_object": _draw_in_object_mode,
    "VIEW3D_MT_object_context_menu": _draw_in_object_mode,
}
_register_menus, _unregister_menus = bpy.utils.register_classes_factory(
    (VIEW3D_MT_ik_triangulation, VIEW3D_MT_ik_triangulation_pie)
)


def register() -> None:
    _register_menus()
    for name, draw in _PLACES.items():
        getattr(bpy.types, name).append(draw)
    add_shortcut("wm.call_menu_pie", PIE, "Y", active=False)


def unregister() -> None:
    remove_shortcut(PIE)
    for name, draw in _PLACES.items():
        getattr(bpy.types, name).remove(draw)
    _unregister_menus()
