# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report on a body says is what the saved and reopened file shows, whatever else moves its bones.

Shown is what Blender evaluates, measured without any code of the extension. A held tip is held where it was shown
before the bake, and a tip that reaches is at its target as that is after the bake.
"""

from random import Random

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import IKError
from ik_triangulation.jobs.bake import BodyBake, bake, bake_bodies, bake_body
from ik_triangulation.jobs.reach import own_stop, reach_with_body
from ik_triangulation.jobs.shots.keys import body_settings
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import stored_contacts
from ik_triangulation.rig.limb import Limb

from ..bodies import sliding_rig, tails
from ..rigs import nothing_lost, push_down
from .truthful_bodies import FRAMES, HELD, LONG, REACHING, SHORT, body, reopened, shown, targets_shown, turns

pytestmark = pytest.mark.usefixtures("empty_scene")

HELD_WITHIN, TURNED_WITHIN = 1e-3, 0.0088  # of the leg, and [rad]: what counts as held
ROUNDING = 2e-5  # of the leg


def check(name, number, path):
    """Bake a scene, and compare the report with the file; returns the report, or the words of a refusal."""
    rig, random = body(number), Random(number)
    LONG[name](rig, random)
    bpy.context.scene.frame_set(1)
    before = shown(rig)
    bpy.context.scene.frame_set(1)
    part = body_of(rig, "hand.L")
    try:
        [report], _ = bake_bodies([BodyBake(part, (1, FRAMES, 1), body_settings(part))], [], [])
    except IKError as error:
        return str(error)
    targets = {limb.tip: limb.target.name for limb in part.limbs}
    tolerance = {limb.tip: (limb.tolerance, limb.angle_tolerance) for limb in part.limbs}
    bones = rig.data.bones
    leg = sum(bones[bone].length for bone in ("thigh.L", "shin.L", "foot.L"))
    rig = reopened(path)
    after, goals = shown(rig), targets_shown(targets)
    for tip in HELD:
        told = report.tips[tip]
        slips = np.linalg.norm(after[tip][:, :3, 3] - before[tip][:, :3, 3], axis=1)
        turned = turns(after[tip], before[tip])
        assert told.error >= slips.max() - ROUNDING * leg, tip
        assert told.error <= 1.3 * slips.max() + HELD_WITHIN * leg, tip  # half frames count as well
        sure = (slips > 1.05 * HELD_WITHIN * leg) | (turned > 1.05 * TURNED_WITHIN)
        maybe = (slips > 0.95 * HELD_WITHIN * leg) | (turned > 0.95 * TURNED_WITHIN)
        missed = {int(frame) - 1 for frame in told.missed}
        assert {*np.flatnonzero(sure)} <= missed <= {*np.flatnonzero(maybe)}, tip
    for tip in REACHING:
        if report.tips[tip].aim == "REACH":
            far = np.linalg.norm(after[tip][:, :3, 3] - goals[tip], axis=1)
            assert report.tips[tip].error == pytest.approx(far.max(), abs=ROUNDING * leg), tip
            off = {*np.flatnonzero(far > tolerance[tip][0] + ROUNDING * leg)}
            assert off <= {int(frame) - 1 for frame in report.tips[tip].missed}, tip
    slipping = [tip for tip in HELD if report.tips[tip].missed]
    assert not (slipping and "strip" in name)  # strips are read as they are shown, and the keys are above them
    if slipping:  # nothing in these scenes is out of reach, so something else moves the foot, and is named
        assert any("away from the solution" in warning for warning in report.warnings)
        assert not report.reached
    return report


@pytest.mark.parametrize("name", SHORT)
def test_what_is_told_of_a_body_is_what_the_reopened_file_shows(name, tmp_path):
    assert not isinstance(check(name, 0, tmp_path / "shot.blend"), str)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in LONG if name not in SHORT])
@pytest.mark.parametrize("number", [1])
def test_the_same_in_more_scenes(name, number, tmp_path):
    check(name, number, tmp_path / "shot.blend")


def test_a_recorded_walk_in_a_strip_keeps_its_way_and_its_feet(tmp_path):
    """By the operators, as a user meets it: a recording that was pushed down, its contacts found, and a bake."""
    rig = sliding_rig(24)
    scene = bpy.context.scene
    push_down(rig)
    rig.data.bones.active = rig.data.bones["foot.L"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    hips = tails(rig, "spine", range(1, 25))
    assert bpy.ops.pose.ik_triangulation_contacts_find() == {"FINISHED"}
    contacts = {(each.tip, each.frame_start, each.frame_end) for each in stored_contacts(rig)}
    assert {tip for tip, _, _ in contacts} == {"foot.L", "foot.R"}
    report = bake_body(body_of(rig, "foot.L"), 1, 24)
    assert report.reached
    rig = reopened(tmp_path / "walk.blend")
    scene = bpy.context.scene
    after = tails(rig, "spine", range(1, 25))
    way, kept = hips[-1].x - hips[0].x, after[-1].x - after[0].x
    assert way > 0.04
    assert kept == pytest.approx(way, rel=0.1)
    for tip, first, last in contacts:
        places = tails(rig, tip, range(max(1, round(first)), min(scene.frame_end, round(last)) + 1))
        assert max((place - places[0]).length for place in places) < 1.2e-3, tip


def test_a_body_in_strips_is_baked_again_to_the_same_feet():
    """What was baked before does not count, though it is what Blender shows."""
    rig = body(0)
    LONG["strip added on the thigh"](rig, Random(0))
    before = shown(rig)
    for _ in range(2):
        with nothing_lost():  # also where it is stopped while what was baked is set aside
            job = bake_body.steps(body_of(rig, "hand.L"), 1, FRAMES)
            next(job)
            next(job)
            job.close()
        bake_body(body_of(rig, "hand.L"), 1, FRAMES)
    after = shown(rig)
    for tip in HELD:
        assert np.linalg.norm(after[tip][:, :3, 3] - before[tip][:, :3, 3], axis=1).max() < 1e-3


def test_a_reach_in_a_strip_keeps_the_feet_where_they_are_shown():
    rig = body(0)
    LONG["strip on the hips"](rig, Random(0))
    before, part = shown(rig), body_of(rig, "hand.L")
    assert reach_with_body(part, [own_stop(part.limbs[0], FRAMES)], 1).reached
    after = shown(rig)
    for tip in HELD:
        assert np.linalg.norm(after[tip][:, :3, 3] - before[tip][:, :3, 3], axis=1).max() < 1e-3


def test_a_lone_limb_whose_target_hangs_on_it_by_a_hook_is_measured_where_that_is_after_the_bake():
    rig = body(0)
    LONG["hook"](rig, Random(0))
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    modifier = bpy.data.objects["Path"].modifiers[0]
    modifier.subtarget = "upper_arm.L"
    bone = rig.pose.bones["upper_arm.L"]
    modifier.matrix_inverse = (rig.matrix_world @ bone.matrix).inverted()
    target.constraints[0].offset_factor = 1.0
    report = bake(Limb.from_tip(rig, "hand.L", target, 3), 1, FRAMES)
    far = np.linalg.norm(shown(rig)["hand.L"][:, :3, 3] - targets_shown({"hand.L": target.name})["hand.L"], axis=1)
    assert far.max() > 0.01
    assert [result.error for result in report.frames] == pytest.approx(far, abs=2e-5)
    assert any("moves with the limb that reaches for it" in warning for warning in report.warnings)
