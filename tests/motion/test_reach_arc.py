# SPDX-License-Identifier: GPL-3.0-or-later
"""The wrist of a reach goes along an arc that is bowed a little, to where the limb is free to go."""

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics import Free
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.limb_motion import along_arc, arc, bow_of
from ik_triangulation.motion.timing import profile
from ik_triangulation.solvers.natural import LimbForm
from ik_triangulation.solvers.natural.posture import USUAL_FPS

from ..solvers.natural.arms import arm, motion

FRAMES = 25
SHARES = np.array([profile()(k / (FRAMES - 1)) for k in range(FRAMES)])
UP = np.array([0.0, 0.0, 1.0])


def of_path(places):
    """Bow and length of a path (3, F) as shares of the straight way, and its largest speed beside the mean."""
    chord = places[:, -1] - places[:, 0]
    size, way = np.linalg.norm(chord), places - places[:, :1]
    off = way - np.outer(chord, chord @ way) / size**2
    steps = np.linalg.norm(np.diff(places), axis=0)
    return np.linalg.norm(off, axis=0).max() / size, steps.sum() / size, steps.max() / steps.mean()


def test_a_path_is_bowed_as_those_of_people_and_stays_in_reach():
    random, beyond = np.random.default_rng(4), []
    for _ in range(200):
        start, end = (way / np.linalg.norm(way) * random.uniform(0.3, 0.99) for way in random.normal(size=(2, 3)))
        bow = bow_of(start, end, 1.0, UP)
        places = arc(start[:, None], end[:, None], SHARES, bow)
        bowed, length, peak = of_path(places)
        assert 0.08 <= bowed <= 0.2
        assert length < 1.25
        assert 1.7 < peak < 2.1
        assert abs(bow @ (end - start)) < 1e-12
        most = max(0.97, *(np.linalg.norm(each) for each in (start, end)))
        beyond.append(np.linalg.norm(places, axis=0).max() - most)
    assert np.max(beyond) < 0.01


def test_a_path_is_bowed_upwards_and_away():
    ahead, aside = np.array([0.1, -0.6, 0.1]), np.array([0.6, 0.0, 0.1])
    bow = bow_of(ahead, aside, 1.0, UP)
    assert bow[2] > 0.0
    assert bow @ (ahead + aside) > 0.0
    assert np.array_equal(bow_of(ahead, ahead, 1.0, UP), np.zeros(3))


@pytest.mark.parametrize("seed", range(4))
def test_the_wrist_is_on_the_arc_and_both_ends_stay(seed):
    tree, there = motion(arm(seed, [Free()] * 3), seed, count=FRAMES, share=0.9)
    left, arrived = (there.take(np.full(FRAMES, k)) for k in (0, FRAMES // 4))
    first, last = (tree.rotations(each) for each in (left, arrived))
    last = last * np.where((first * last).sum(1, keepdims=True) < 0.0, -1.0, 1.0)
    blend = first + SHARES * (last - first)
    between = tree.posed(blend / np.linalg.norm(blend, axis=1, keepdims=True), there)
    form = LimbForm(has_end=True, flexion=Vector((0.3, 0.8, 0.2)))
    found = finished(along_arc(tree, form, (left, arrived, between), SHARES, UP, USUAL_FPS))
    assert np.abs(found[:, :, [0, -1]] - tree.rotations(between)[:, :, [0, -1]]).max() < 1e-9
    wrist = Geometry(tree, tree.posed(found, there)).heads[2]
    assert wrist == pytest.approx(arc(wrist[:, :1], wrist[:, -1:], SHARES, _bow(tree, wrist)), abs=1e-3)
    bowed, length, _ = of_path(wrist)
    assert 0.13 < bowed < 0.2
    assert length < 1.12
    assert np.array_equal(found[2], tree.rotations(between)[2]), "the hand turns on the forearm as in the blend"


def _bow(tree, wrist):
    root = np.array(tree.joints[0].offset)
    return bow_of(wrist[:, 0] - root, wrist[:, -1] - root, sum(joint.offset.length for joint in tree.joints[1:]), UP)
