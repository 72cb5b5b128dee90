# SPDX-License-Identifier: GPL-3.0-or-later
"""Target from Animation on the command line: targets are keyed, edited and baked back."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.cli import main

from ..bodies import HANDS, human_rig
from ..commands import DONE, FAILED, opened, told
from ..rigs import all_keys, chain_rig, configure, empty, evaluated_tip, rotate

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST = 9


def turn(rig, *bones):
    """Key bones at three frames."""
    for number, bone in enumerate(bones):
        for frame, angle in ((1, 0.1), (5, 0.6 + 0.1 * number), (LAST, 0.3)):
            rotate(rig.pose.bones[bone], Quaternion((1.0, 0.0, 0.0), angle))
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = LAST


@pytest.fixture
def arm_file(tmp_path):
    rig = chain_rig(4)
    configure(rig, "Bone 3", target=empty(), chain_count=3)
    turn(rig, "Bone 1", "Bone 2")
    path = tmp_path / "arm.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def poses(rig):
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append([bone.matrix.to_quaternion() for bone in rig.pose.bones])
    return found


def test_a_target_is_keyed_and_a_bake_gives_the_animation_back(arm_file, tmp_path, capfd):
    before = poses(opened(arm_file))
    followed, baked = tmp_path / "followed.blend", tmp_path / "baked.blend"
    capfd.readouterr()
    words = ["target-from-animation", arm_file, "--tip", "Bone 3", "--output", followed, "--json"]
    assert main(list(map(str, words))) == DONE
    out, said = capfd.readouterr()
    report = told(out)
    assert report["targets"] == [{"tip": "Bone 3", "target": "Target", "frames": LAST}]
    assert (report["limbs"], report["error"]) == ([], None)
    assert "Bone 3: 'Target' keyed at 9 frames" in said
    opened(followed)
    assert {len(keys) for keys in all_keys(bpy.data.objects["Target"]).values()} == {LAST}
    assert main(["bake", str(followed), "--tip", "Bone 3", "--output", str(baked), "-q"]) == DONE
    for one, other in zip(before, poses(opened(baked)), strict=True):
        assert max(a.rotation_difference(b).angle for a, b in zip(one, other, strict=True)) < 1e-3


def test_only_keys_are_keyed_in_the_range_that_is_given(arm_file, tmp_path):
    words = ["--tip", "Bone 3", "--only-keys", "--frame-start", "2", "--output", str(tmp_path / "out.blend"), "-q"]
    assert main(["target-from-animation", str(arm_file), *words]) == DONE
    rig = opened(tmp_path / "out.blend")
    target = bpy.data.objects["Target"]
    assert {tuple(key[0][0] for key in keys) for keys in all_keys(target).values()} == {(5.0, 9.0)}
    bpy.context.scene.frame_set(5)
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1e-4


def test_all_limbs_of_a_file_are_followed(tmp_path, capfd):
    rig = human_rig()
    for name in HANDS:
        configure(rig, name, target=empty(f"Target {name}"), chain_count=3)
    turn(rig, "upper_arm.L", "forearm.R")
    path = tmp_path / "human.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert main(["target-from-animation", str(path), "--all", "--overwrite", "--json"]) == DONE
    assert {each["target"] for each in told(capfd.readouterr()[0])["targets"]} == {f"Target {name}" for name in HANDS}
    rig = opened(path)
    stored = rig.pose.bones[HANDS[0]].ik_triangulation
    stored.use_scene_range, stored.frame_start, stored.frame_end = False, 2, 5
    bpy.ops.wm.save_mainfile()
    assert main(["target-from-animation", str(path), "--all", "--discard"]) == FAILED
    assert "different frame ranges. Give one with --frame-start" in capfd.readouterr()[1]


def test_a_target_that_cannot_follow_is_the_reason_given_and_no_file_changes(arm_file, capfd):
    opened(arm_file)
    bpy.data.objects["Target"].lock_location[1] = True
    bpy.ops.wm.save_mainfile()
    before = arm_file.read_bytes()
    assert main(["target-from-animation", str(arm_file), "--tip", "Bone 3", "--overwrite"]) == FAILED
    assert "Unlock its location and rotation" in capfd.readouterr()[1]
    assert arm_file.read_bytes() == before
