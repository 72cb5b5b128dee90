# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report on a body says is what the saved and reopened file shows, whatever else moves its bones.

Shown is what Blender evaluates, measured without any code of the extension. A held tip is held where it was shown before
the bake, and a tip that reaches is at its target as that is after the bake.
"""

from random import Random

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import IKError
from ik_triangulation.jobs.bake_all import BodyBake, bake_bodies
from ik_triangulation.jobs.bodies import body_of
from ik_triangulation.jobs.body_keys import body_settings

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
    leg += (bones["thigh.L"].head_local - bones["spine"].head_local).length
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
    if slipping:  # nothing in these scenes is out of reach, so something else moves the foot, and is named
        assert any("away from the solution" in warning for warning in report.warnings)
        assert not report.reached
    return report


@pytest.mark.parametrize("name", SHORT)
def test_what_is_told_of_a_body_is_what_the_reopened_file_shows(name, tmp_path):
    assert not isinstance(check(name, 0, tmp_path / "shot.blend"), str)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LONG if name not in SHORT])
@pytest.mark.parametrize("number", [1])
def test_the_same_in_more_scenes(name, number, tmp_path):
    check(name, number, tmp_path / "shot.blend")
