# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a path: what jumps is told with its reason, and what need not change stays the same object."""

from math import radians

import pytest
from mathutils import Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.motion.jumps import LEFT
from ik_triangulation.motion.path import FramePath, Path

from .paths import check, elbow, first_pass, flipping, forced, in_plane

ANGLES = [0.02 * k for k in range(40)]


def test_a_path_begins_with_the_rotations_of_its_solutions():
    moments = flipping(elbow(), ANGLES, 20)
    path = FramePath(moments)
    assert all(mine is moment.pose.rotations for mine, moment in zip(path.rotations, moments, strict=True))


def test_a_flip_is_one_jump_with_the_joints_that_turn_in_it():
    (jump,) = FramePath(flipping(elbow(), ANGLES, 20)).jumps()
    assert (jump.turned.at, jump.turned.joint, jump.reason) == (20, "joint 1", LEFT)


def test_a_path_that_bends_to_one_side_has_no_jumps():
    assert FramePath(flipping(elbow(), ANGLES, len(ANGLES))).jumps() == []


def test_held_frames_keep_their_rotations_when_the_others_are_mended():
    moments = flipping(elbow(), ANGLES, 20)
    held = {0, len(ANGLES) - 1}
    path = Path(moments, held)
    before = [path.rotations[k] for k in held]
    finished(path.without_jumps(0))
    assert all(path.rotations[k] is rotations for k, rotations in zip(held, before, strict=True))
    check(moments, path)


@pytest.mark.parametrize("steps", [1, 12])
def test_what_is_pulled_to_its_target_is_within_the_tolerance_or_refused(steps):
    chain, places = forced()
    moments = first_pass(chain.rest_pose(), places)
    path = FramePath(moments)
    pulled = path._pull(30, moments[25].pose.rotations, steps)
    assert steps == 1 or pulled is not None
    if pulled is not None:
        path.rotations[30] = pulled
        check(moments, path)


def test_between_two_poses_no_limit_is_left():
    chain = elbow(radians(-170.0), radians(170.0))
    moments = first_pass(chain.rest_pose(), [in_plane(0.1 * k) for k in range(3)])
    freedom, others = chain.joints[0].freedom, moments[0].pose.rotations[1:]
    before, after = ([freedom.at(Quaternion(), [radians(angle)]), *others] for angle in (-160.0, 160.0))
    for share in (0.0, 0.25, 0.5, 1.0):
        (angle,) = freedom.coordinates(FramePath(moments)._blend(0, before, after, share)[0])
        assert angle.value == pytest.approx(radians(-160.0 + 320.0 * share), abs=1e-4)
