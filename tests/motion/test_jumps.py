# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps are found and named with their reason."""

from math import radians

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Point, Pole
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.motion.jumps import LEFT, LIMITS, SOFT_GOALS, TARGET, beyond_speed, beyond_speed_of
from ik_triangulation.motion.path import Path

from ..chains import straight
from .paths import (
    TOLERANCE,
    Moment,
    X,
    about,
    bent,
    check,
    elbow,
    first_pass,
    flipping,
    forced,
    in_plane,
    mended,
    posed,
)


def test_an_elbow_whose_limits_force_it_to_flip_is_named():
    """One side reaches only what is high, the other only what is low."""
    chain, places = forced()
    allowed = [[not bent(chain, side, place).project() for place in places] for side in (1, -1)]
    assert not any(map(all, allowed))
    assert all(map(any, zip(*allowed, strict=True)))
    moments = first_pass(bent(chain, 1, places[0]), places)
    assert all(moment.reached for moment in moments)
    path = mended(moments)
    check(moments, path)
    assert [jump.reason for jump in path.jumps()] == [LIMITS]
    assert path.jumps()[0].turned.angle > radians(20.0)


@pytest.mark.parametrize("moves", ["target", "rig"])
def test_where_the_target_truly_jumps_the_jump_is_named_and_left(moves):
    chain = straight((1.0, 0.8, 0.6))
    angles = [0.02 * k + (1.0 if k >= 40 else 0.0) for k in range(80)]
    if moves == "target":
        moments = first_pass(chain.rest_pose(), [in_plane(angle) for angle in angles])
    else:  # which takes a target that stands still out of the hand
        bases = [Matrix.Rotation(angle, 4, "X") for angle in angles]
        moments = first_pass(chain.rest_pose(), [in_plane(0.5)] * 80, bases=bases)
    path = mended(moments)
    check(moments, path)
    assert [(jump.turned.at, jump.reason) for jump in path.jumps()] == [(40, TARGET)]


def test_where_the_wish_jumps_that_is_named():
    chain = straight((1.0, 1.0))
    places = [in_plane(0.02 * k, 1.5) for k in range(40)]
    poles = [(Pole(Vector((3.0 if k < 20 else -3.0, 1.0, 0.0))),) for k in range(40)]
    moments = first_pass(chain.rest_pose(), places, soft=poles)
    path = mended(moments)
    check(moments, path)
    assert {jump.reason for jump in path.jumps()} == {SOFT_GOALS}


def test_what_was_not_mended_says_so():
    moments = flipping(elbow(), [0.01 * k for k in range(60)], 35)
    assert [jump.reason for jump in Path(moments).jumps()] == [LEFT]


def test_a_last_frame_that_is_held_and_cannot_be_led_to_is_named():
    chain, places = forced()
    moments = [Moment(bent(chain, 1, place), Point(place), TOLERANCE * 2.0) for place in places[:20]]
    moments[-1] = moments[-1]._replace(pose=bent(chain, -1, places[19]))
    path = mended(moments, held=(0, 19))
    assert path.rotations[-1] is moments[-1].pose.rotations
    assert [jump.reason for jump in path.jumps()] == [LIMITS]


@pytest.mark.parametrize(("ratio", "beyond"), [(1.9, False), (2.1, True), (3.0, True)])
def test_up_to_twice_the_turn_that_the_way_of_the_tip_explains_is_none_of_the_joints(ratio, beyond):
    """The second joint turns back, so that the tip moves less than the first one turns."""
    chain, turn = elbow(), 0.1
    back = 2.0 * turn * ratio / (2.0 + ratio)
    poses = [posed(chain, [about(X, 0.0)] * 2), posed(chain, [about(X, turn), about(X, -back)])]
    moments = [Moment(pose, Point(pose.tip), TOLERANCE) for pose in poses]
    way = (poses[1].tip - poses[0].tip).length
    assert 2.0 * back / way == pytest.approx(ratio, rel=1e-2)
    assert beyond_speed(Path(moments)._frames, [pose.rotations for pose in poses], 1) == beyond
    tree = Tree.of(chain)
    found = beyond_speed_of(tree, tree.states(poses), np.array((0.0, way / tree.size)), np.array([1]))
    assert found.tolist() == [1] * beyond
