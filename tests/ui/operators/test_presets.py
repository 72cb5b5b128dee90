# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets are loaded, kept and removed by operators."""

from pathlib import Path

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.presets import SUBDIR, find_preset, names
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset

from ...presets.arms import BUILT_IN, arm, values
from ...rigs import configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")


def test_the_operators_load_keep_and_remove():
    rig, bones = arm()
    configure(rig, "hand", chain_count=3, target=empty())
    assert bpy.ops.pose.ik_triangulation_preset_load(filepath=str(find_preset("Human_Arm"))) == {"FINISHED"}
    loaded = values(rig)
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    assert values(rig) == loaded
    assert bpy.ops.pose.ik_triangulation_preset_add(name="My Arm") == {"FINISHED"}
    folder = Path(bpy.utils.user_resource("SCRIPTS", path=f"presets/{SUBDIR}"))
    assert [path.name for path in folder.iterdir()] == ["My_Arm.json"]
    for name in bones:
        rig.pose.bones[name].property_unset("ik_triangulation_joint")
    bpy.ops.pose.ik_triangulation_preset_load(filepath=str(find_preset("My Arm")))
    for name in bones:
        (one, _), (two, _) = loaded[name], values(rig)[name]
        assert rotation_angle(one.nearest(Quaternion((0, 1, 0, 0))), two.nearest(Quaternion((0, 1, 0, 0)))) < 1e-5
    with pytest.raises(RuntimeError, match="'My_Arm' exists already"):
        bpy.ops.pose.ik_triangulation_preset_add(name="My Arm")
    with pytest.raises(RuntimeError, match="has no name"):
        bpy.ops.pose.ik_triangulation_preset_add(name=" ")
    with pytest.raises(RuntimeError, match="comes with the extension"):
        bpy.ops.pose.ik_triangulation_preset_add(name="Human Arm", remove_name=True)
    assert bpy.ops.pose.ik_triangulation_preset_add(name="My Arm", remove_name=True) == {"FINISHED"}
    assert names() == BUILT_IN


def test_a_preset_that_cannot_be_kept_or_removed_says_why(monkeypatch):
    rig, _ = arm()
    configure(rig, "hand", chain_count=3, target=empty())
    add = bpy.ops.pose.ik_triangulation_preset_add
    with monkeypatch.context() as patch:
        patch.setattr(bpy.utils, "user_resource", lambda *_, **more: "")
        with pytest.raises(RuntimeError, match=r"folder for presets cannot be created\. Check its permissions"):
            add(name="My Arm")
    assert add(name="My Arm") == {"FINISHED"}
    with monkeypatch.context() as patch:

        def refuse(path):
            raise PermissionError(13, "Permission denied")

        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(RuntimeError, match=r"My_Arm.json' cannot be removed: Permission denied\."):
            add(name="My Arm", remove_name=True)
    assert "My_Arm" in {name.replace(" ", "_") for name in names()}
    assert add(name="My Arm", remove_name=True) == {"FINISHED"}
