# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions are copied on the command line: onto the other controls of a limb, and from another character."""

import bpy
import pytest
from mathutils import Matrix

from ..bodies import tails, walking_body
from ..characters import character
from ..commands import DONE, FAILED, told
from ..ik_rigs import ARM
from ..jobs.test_transfer import key_ik, switched_arm
from ..rigs import curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST = 12


def saved(path):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_a_motion_of_ik_controls_is_given_to_the_fk_controls(tmp_path, command):
    rig = switched_arm()
    key_ik(rig)
    path, out = saved(tmp_path / "arm.blend"), tmp_path / "fk.blend"
    shown = f"{ARM[-1]}.shown"
    before = tails(rig, shown, range(1, LAST + 1))
    done = command("transfer", path, "--to", "fk", "--output", out, "--json")
    assert done.returncode == DONE, done.stderr
    (limb,) = told(done.stdout)["transfer"]["limbs"]
    assert limb["keys"] > 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    assert any(f"{ARM[0]}.fk" in curve.data_path for curve in curves_of(rig))
    after = tails(rig, shown, (1, 6, 12))
    assert max((a - before[f - 1]).length for a, f in zip(after, (1, 6, 12), strict=True)) < 1e-3


def test_a_body_follows_another_character_and_is_baked(tmp_path, command):
    walking_body(LAST).name = "Walker"
    rig = character("Mixamo", "Other", 1.3, 0.8)
    rig.matrix_world = Matrix.Translation((2.0, 0.0, 0.0)) @ rig.matrix_world
    path, out = saved(tmp_path / "two.blend"), tmp_path / "out.blend"
    done = command("follow-rig", path, "--source", "Walker", "--bake", "--output", out, "--json")
    report = told(done.stdout)
    assert done.returncode == DONE, done.stderr
    assert (report["following"]["armature"], report["following"]["frames"]) == ("Other", LAST)
    assert report["body"]["frames"] == LAST
    bpy.ops.wm.open_mainfile(filepath=str(out))
    hips = tails(bpy.data.objects["Other"], bpy.data.objects["Other"].ik_triangulation.hips, (1, LAST))
    assert (hips[1] - hips[0]).length > 0.5 * report["following"]["scale"]


def test_what_is_missing_or_not_clear_is_told(tmp_path, command):
    for name in ("One", "Two", "Three"):
        character("Mixamo", name, 1.0, 1.0)
    path = saved(tmp_path / "three.blend")
    with nothing_lost():
        for words, text in (
            (["follow-rig", path, "--source", "One", "--overwrite"], "has 3 armatures. Name with --armature"),
            (["follow-rig", path, "--source", "One", "--armature", "Two", "--overwrite"], "is not animated"),
            (["transfer", path, "--to", "ik", "--armature", "Nobody", "--overwrite"], "Nobody"),
        ):
            done = command(*words)
            assert (done.returncode, text in done.stderr) == (FAILED, True), done.stderr
