# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of postures tells folds, bends backwards and bends sideways from comfortable poses."""

from math import radians
from random import Random

import bpy
import pytest
from mathutils import Quaternion, Vector

from scripts.benchmarks import postures, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def human():
    with scenes.extension():
        yield postures.human()


def posture(ob, limb):
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    return postures.frames_of(ob, postures.LIMBS[limb], target, [1])[0]


def hinge(ob, limb):
    """The axis, in the lower bone's own axes, about which it bends as it is bent at rest."""
    upper, lower = (ob.data.bones[name] for name in postures.LIMBS[limb][:2])
    inner = (upper.matrix_local.inverted() @ lower.matrix_local).to_quaternion()
    return inner.inverted() @ Vector((0.0, 1.0, 0.0)).cross(inner @ Vector((0.0, 1.0, 0.0))).normalized()


@pytest.mark.parametrize("limb", postures.LIMBS)
def test_rest_is_no_fold_and_no_bend_backwards(human, limb):
    rest = posture(human, limb)
    assert rest.end == pytest.approx(0.0, abs=0.1)
    assert rest.first == pytest.approx(0.0, abs=0.1)
    assert 0.0 < rest.bend < 40.0
    assert rest.off < 0.1


@pytest.mark.parametrize("limb", postures.LIMBS)
def test_bends_are_told_by_their_direction(human, limb):
    rest = posture(human, limb).bend
    lower = human.pose.bones[postures.LIMBS[limb][1]]
    lower.rotation_quaternion = Quaternion(hinge(human, limb), radians(50.0))
    assert posture(human, limb).bend == pytest.approx(rest + 50.0, abs=0.5)
    lower.rotation_quaternion = Quaternion(hinge(human, limb), radians(-50.0))
    assert posture(human, limb).bend == pytest.approx(rest - 50.0, abs=0.5)
    lower.rotation_quaternion = Quaternion(hinge(human, limb).cross(Vector((0.0, 1.0, 0.0))), radians(70.0))
    assert posture(human, limb).off > postures.SIDEWAYS


def test_a_folded_wrist_is_told(human):
    human.pose.bones["hand.L"].rotation_mode = "QUATERNION"
    human.pose.bones["hand.L"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(75.0))
    assert posture(human, "arm").end == pytest.approx(75.0, abs=0.1)


def test_comfortable_poses_are_random_reached_by_both_and_leave_the_limb_at_rest(human):
    random = Random(4)
    first, second = (postures.comfortable_pose(human, "arm", random) for _ in range(2))
    assert (first.translation - second.translation).length > 0.01
    assert posture(human, "arm").first == pytest.approx(0.0, abs=0.1)
    for method in (postures.OURS, postures.BLENDER):
        for turns in (True, False):
            frames = postures.reach_for("arm", method, first, turns)
            assert len(frames) == postures.FRAMES
            assert max(frame.miss for frame in frames) < 1e-2
