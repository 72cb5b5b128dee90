# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps are found and named with their reason."""

from math import radians

import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Point, Pole
from ik_triangulation.motion.jumps import LEFT, LIMITS, SOFT_GOALS, TARGET
from ik_triangulation.motion.path import Path

from ..chains import straight
from .paths import (
    TOLERANCE,
    Moment,
    bent,
    check,
    elbow,
    first_pass,
    flipping,
    forced,
    in_plane,
    mended,
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
