# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked shot is one take in an engine, with all joints where they were: out as FBX, glTF and USD, and in again."""

import addon_utils
import bpy
import pytest

from ..bodies import set_up_rig
from ..rigs import all_keys

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
LAST, FRAMES = 12, (1, 5, 8, 12)
FORMATS = {
    "fbx": ("io_scene_fbx", "export_scene.fbx", "import_scene.fbx", {"bake_anim_simplify_factor": 0.0}),
    "glb": ("io_scene_gltf2", "export_scene.gltf", "import_scene.gltf", {}),
    "usdc": (None, "wm.usd_export", "wm.usd_import", {"export_animation": True}),
}


def operator(name):
    group, _, name = name.partition(".")
    return getattr(getattr(bpy.ops, group), name)


def switch(on_or_off, module):
    """Enable or disable the add-on of a format; USD needs none."""
    if module:
        on_or_off(module)


def joints(rig):
    """World places of all joints, by frame and bone."""
    found = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found |= {(frame, bone.name): shown.matrix_world @ bone.head for bone in shown.pose.bones}
    return found


@pytest.mark.parametrize("kind", FORMATS)
def test_a_baked_shot_is_one_take_and_its_joints_stay(kind, tmp_path):
    module, out, into, options = FORMATS[kind]
    rig = set_up_rig(LAST)
    bpy.context.scene.frame_end = LAST
    bpy.context.scene.render.fps = 24
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    keys = all_keys(rig)
    assert bpy.ops.pose.ik_triangulation_targets_remove() == {"FINISHED"}
    assert all_keys(rig) == keys
    assert [ob.name for ob in bpy.context.scene.objects if ob.type == "EMPTY"] == []
    assert len(bpy.data.actions) == 1
    before, path = joints(rig), str(tmp_path / f"shot.{kind}")
    switch(addon_utils.enable, module)
    try:
        operator(out)(filepath=path, **options)
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        switch(addon_utils.enable, module)
        bpy.context.scene.render.fps = 24
        operator(into)(filepath=path)
        (shown,) = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
        assert len(bpy.data.actions) == 1, "one take"
        after = joints(shown)
        if kind == "usdc":  # whose names have no points
            before = {(frame, name.replace(".", "_")): at for (frame, name), at in before.items()}
        assert before.keys() <= after.keys()
        assert max((before[key] - after[key]).length for key in before) < 1e-4
    finally:
        switch(addon_utils.disable, module)


def test_targets_of_the_user_stay_and_limbs_can_get_new_ones():
    rig = set_up_rig(LAST)
    own = bpy.data.objects.new("Cup", None)
    bpy.context.scene.collection.objects.link(own)
    tip = next(bone for bone in rig.pose.bones if bone.ik_triangulation.target is not None)
    tip.ik_triangulation.target = own
    bpy.ops.pose.ik_triangulation_targets_remove()
    assert tip.ik_triangulation.target == own
    assert [bone.name for bone in rig.pose.bones if bone.ik_triangulation.target is not None] == [tip.name]
    assert bpy.ops.pose.ik_triangulation_targets_remove() == {"CANCELLED"}
