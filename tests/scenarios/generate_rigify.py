# SPDX-License-Identifier: GPL-3.0-or-later
"""Generate Rigify's human rig, basic and whole, add its metarig, and save each to a file of its own.

Called as: python generate_rigify.py FOLDER [--long]. Without --long the whole rig lacks most of what takes long to
generate: its face and all fingers but thumb and index.

In a Blender of its own, which it leaves without ending it: Blender 4.5 as a module hangs when it ends after Rigify has
generated a rig.
"""

import os
import sys
import traceback
from pathlib import Path

import bpy  # isort: skip  # first: addon_utils is not found before it
import addon_utils


def main():
    folder, *long = sys.argv[1:]
    for kind in ("metarig", "basic", "whole"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        addon_utils.enable("rigify", default_set=True)
        if kind == "basic":  # no fingers and no face
            bpy.ops.object.armature_basic_human_metarig_add()
        else:
            bpy.ops.object.armature_human_metarig_add()
        if kind == "whole" and not long:
            remove_face_and_fingers(bpy.context.object)
        if kind != "metarig":
            assert bpy.ops.pose.rigify_generate() == {"FINISHED"}
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder, f"{kind}.blend")))


def remove_face_and_fingers(metarig):
    bpy.ops.object.mode_set(mode="EDIT")
    bones = metarig.data.edit_bones
    gone = ["face", *(f"{finger}.01.{side}" for finger in ("f_middle", "f_ring", "f_pinky") for side in "LR")]
    for root in gone:
        for bone in [*bones[root].children_recursive, bones[root]]:
            bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")


try:
    main()
    code = 0
except BaseException:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
