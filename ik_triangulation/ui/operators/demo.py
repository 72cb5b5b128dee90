# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the reach demo: a figure whose hand has a way to go, to be baked in one press."""

import bpy
from bpy.types import Context, Menu

from ...jobs import demo
from ...rig import limb as rig_limb
from .base import IKOperator


class OBJECT_OT_ik_triangulation_demo_add(IKOperator):
    bl_idname = "object.ik_triangulation_demo_add"
    bl_label = "Reach Demo"
    bl_description = "Add a figure that is set up as a body, with keys that take its hand to a ball. Bake does the rest"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        if context.mode != "OBJECT":
            return "Go to Object Mode"
        return None if context.collection.is_editable else f"Collection '{context.collection.name}' is linked"

    def act(self, context: Context) -> set[str]:
        scene = context.scene
        added = demo.add_demo(context.collection, scene.cursor.location.copy(), scene, context.view_layer)
        bpy.ops.object.select_all(action="DESELECT")
        added.armature.select_set(True)
        context.view_layer.objects.active = added.armature
        bpy.ops.object.mode_set(mode="POSE")
        rig_limb.select_only(added.armature, [demo.HAND])
        text = f"Frames {added.frames[0]} to {added.frames[1]}: open the tab IK of the sidebar (N) and press Bake"
        return self.conclude(lambda: self.tell({"INFO"}, text))


def _draw(menu: Menu, _context: Context) -> None:
    menu.layout.operator(OBJECT_OT_ik_triangulation_demo_add.bl_idname, icon="OUTLINER_OB_ARMATURE")


def register() -> None:
    bpy.utils.register_class(OBJECT_OT_ik_triangulation_demo_add)
    bpy.types.VIEW3D_MT_armature_add.append(_draw)


def unregister() -> None:
    bpy.types.VIEW3D_MT_armature_add.remove(_draw)
    bpy.utils.unregister_class(OBJECT_OT_ik_triangulation_demo_add)
