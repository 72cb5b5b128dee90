# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand whose target is turned, by Add Limb and Bake on Rigify's human: it turns calmly, and exactly where it can."""

from random import Random

import numpy as np
import pytest

from ik_triangulation.api import Limb, bake
from scripts.benchmarks import hand_motions, turned

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

LEAP = 45.0  # degrees of a joint in a frame
REACHED = 1e-4  # [m]


@pytest.mark.parametrize(("seed", "number"), [(7, 1), pytest.param(7, 2, marks=pytest.mark.long), (11, 1)])
def test_no_joint_flips_where_the_target_turns_farther_than_the_hand(seed, number):
    seen = turned.trial(turned.TURNED, turned.OURS, seed, number).seen
    assert seen.turns.max() < LEAP
    assert seen.tip.max() < REACHED
    assert seen.off[[0, -1]].max() < 0.1


@pytest.mark.parametrize(("seed", "number"), [(7, 3), pytest.param(7, 13, marks=pytest.mark.long)])
def test_a_hand_follows_exactly_what_a_hand_has_done_calmly(seed, number):
    made = turned.trial(turned.POSED, turned.OURS, seed, number)
    assert made.seen.off.max() < 0.1
    assert made.seen.tip.max() < REACHED
    assert made.seen.turns.max() < 1.5 * made.original.turns.max()


def test_a_motion_that_only_a_flip_would_meet_exactly_stays_calm():
    made = turned.trial(turned.POSED, turned.OURS, 7, 2)
    assert made.seen.turns.max() < 1.5 * made.original.turns.max()
    assert made.seen.tip.max() < REACHED


def test_frames_in_which_a_hand_trails_its_target_are_reported():
    random, hand = Random("7 1"), hand_motions.new_hand()
    places = [hand_motions.random_place(hand, random) for _ in range(2)]
    hand_motions.key_places(hand, places, [hand_motions.random_turn(random) for _ in range(2)])
    report = bake(Limb.of(hand.bones[-1]), hand_motions.KEYS[0], hand_motions.KEYS[-1])
    off = hand_motions.watch(hand).off
    frames = np.arange(hand_motions.KEYS[0], hand_motions.KEYS[-1] + 1)
    assert set(frames[off > 1.05]) <= set(report.missed) <= set(frames[off > 0.95])
    assert report.missed
    assert np.degrees(report.largest_angle) == pytest.approx(off.max(), abs=0.1)
