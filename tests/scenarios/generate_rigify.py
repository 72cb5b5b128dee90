# SPDX-License-Identifier: GPL-3.0-or-later
"""Generate Rigify's human rig, or only add its metarig, and save it.

Called as: python generate_rigify.py basic|faceless|whole|metarig FILE.blend.

In a Blender of its own, which it leaves without ending it: Blender 4.5 as a module hangs when it ends after Rigify has
generated a rig.
"""

import os
import sys
import traceback

import bpy  # isort: skip  # first: addon_utils is not found before it
import addon_utils


def main():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    addon_utils.enable("rigify", default_set=True)
    kind, path = sys.argv[1:]
    if kind == "basic":  # no fingers and no face
        bpy.ops.object.armature_basic_human_metarig_add()
    else:
        bpy.ops.object.armature_human_metarig_add()
    if kind == "faceless":  # half of its bones, and most of the time to generate them
        bpy.ops.object.mode_set(mode="EDIT")
        bones = bpy.context.object.data.edit_bones
        for bone in [*bones["face"].children_recursive, bones["face"]]:
            bones.remove(bone)
        bpy.ops.object.mode_set(mode="OBJECT")
    if kind != "metarig":
        assert bpy.ops.pose.rigify_generate() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=path)


try:
    main()
    code = 0
except BaseException:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
