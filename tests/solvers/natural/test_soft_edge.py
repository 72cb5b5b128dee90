# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb straightens and bends again over some frames beyond its reach, and meets everything within it as before."""

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import lengths
from ik_triangulation.solvers.natural import LimbForm
from ik_triangulation.solvers.natural.soft_edge import Pace, runs_of, softened

from ...trees import orient_task, place_task
from .arms import arm, motion, natural_path
from .test_giving_way import NARROW

FRAMES = 60
ROUNDING = 1e-9
FASTEST = 12.0  # degrees of a joint in a frame at 30 a second, into and out of frames out of reach


def out_and_back(seed, links, farthest, told, freedoms=None):
    """A limb whose target moves from 0.7 of its reach to the `farthest` share and back, and how far it misses (F)."""
    tree, there = motion(arm(seed, freedoms, links), seed, count=FRAMES)
    there = there.take(np.zeros(FRAMES, np.intp))
    geometry = Geometry(tree, there)
    share = 0.7 + (farthest - 0.7) * np.sin(np.linspace(0.0, np.pi, FRAMES)) ** 2
    way = geometry.tip() - geometry.heads[0]
    place = place_task(tree, there).to_points(geometry.heads[0] + way / lengths(way) * share * tree.size)
    tasks = [place, orient_task(tree, there)] if told else [place]
    form = LimbForm(has_end=links == 3, flexion=Vector((0.3, 0.8, 0.2)))

    def solved(**more):
        return natural_path(tree, there, tasks, tree.rotations(there.take([0])), form, **more).states

    return tree, solved, lengths(Geometry(tree, solved()).tip() - place.target.place), place


def turns(tree, states):
    """Turns (n, F - 1) of the joints from frame to frame [degrees]."""
    both = tree.rotations(states)
    return np.degrees(2.0 * np.arccos(np.minimum(1.0, np.abs(np.einsum("nif,nif->nf", both[..., 1:], both[..., :-1])))))


@pytest.mark.parametrize(("links", "told"), [(2, False), (3, False), (3, True)])
def test_a_limb_meets_what_is_in_reach_and_takes_its_time_beyond(links, told):
    calmer = []
    for seed in range(6):
        tree, solved, missed, place = out_and_back(seed, links, 1.15, told)
        soft, hard = solved(edge=Pace()), solved()
        off = lengths(Geometry(tree, soft).tip() - place.target.place)
        reached = missed < 1e-5 * tree.size
        assert off[reached].max() < 1e-5 * tree.size
        assert (off - missed)[~reached].max() < 0.05 * tree.size
        touching = ~reached[1:] | ~reached[:-1]
        calmer.append(turns(tree, soft)[:, touching].max() / turns(tree, hard)[:, touching].max())
        assert turns(tree, soft)[1:, touching].max() < FASTEST
    assert np.median(calmer) < 0.6


def test_limits_cost_no_place_where_only_the_turn_of_the_end_is_out_of_reach():
    tried = 0
    for seed in range(8):
        tree, solved, missed, place = out_and_back(seed, 3, 1.1, True, NARROW)
        off = lengths(Geometry(tree, solved(edge=Pace())).tip() - place.target.place)
        placed = missed < 1e-5 * tree.size
        assert off[placed].max(initial=0.0) < 1e-4 * tree.size
        tried += placed.sum()
    assert tried > 100


@pytest.mark.parametrize(("links", "told"), [(2, False), (3, False), (3, True)])
def test_a_motion_within_reach_stays_the_same(links, told):
    for seed in range(4):
        tree, solved, missed, _ = out_and_back(seed, links, 0.8, told)
        assert missed.max() < 1e-5 * tree.size
        assert np.abs(tree.rotations(solved(edge=Pace())) - tree.rotations(solved())).max() < ROUNDING


def test_an_angle_goes_on_from_both_sides_and_does_not_swing_over():
    values = np.radians([60.0, 52.0, 43.0, *[0.0] * 24, 35.0, 50.0])
    free = values == 0.0
    found = softened(values, free, Pace())
    assert np.array_equal(found[~free], values[~free])
    assert found.min() >= 0.0
    assert found[14] < np.radians(3.0)
    steps = np.degrees(np.abs(np.diff(found)))
    assert steps[2:-1].max() < 13.0
    assert (np.diff(found[2:14]) < 0.0).all()
    assert steps[2] == pytest.approx(9.0, abs=2.0)  # the speed that it had
    still = softened(values, free, Pace(cuts=[3, 27]))
    assert still[free].max() == 0.0, "another motion begins there"
    alone = softened(np.where(np.arange(29) < 3, values, 0.0), np.arange(29) >= 3, Pace())
    assert alone[-1] < np.radians(0.1)


def test_a_short_way_out_is_bridged():
    values = np.radians([40.0, 32.0, 0.0, 0.0, 32.0, 40.0])
    found = np.degrees(softened(values, values == 0.0, Pace()))
    assert (found[2:4] > 20.0).all()
    assert found[2] == pytest.approx(found[3])


def test_a_lap_that_is_out_of_reach_at_its_seam_is_soft_there_too():
    values = np.radians([0.0, 0.0, 0.0, 20.0, 30.0, 30.0, 20.0, 0.0, 0.0])
    whole = softened(values, values == 0.0, Pace(cyclic=True))
    again = softened(np.roll(values, 4), np.roll(values == 0.0, 4), Pace(cyclic=True))
    assert np.allclose(np.roll(whole, 4), again)
    assert (whole[[0, 1, 2, 7, 8]] > np.radians(1.0)).all()


@pytest.mark.parametrize(
    ("pace", "runs"),
    [
        (Pace(), [([0], None, (1, 2)), ([3, 4], (2, 1), (5, 6)), ([7], (6, 5), None)]),
        (Pace(cyclic=True), [([3, 4], (2, 1), (5, 6)), ([7, 0], (6, 5), (1, 2))]),
        (Pace(cuts=[4]), [([0], None, (1, 2)), ([3], (2, 1), None), ([4], None, (5, 6)), ([7], (6, 5), None)]),
        (Pace(cuts=[2]), [([0], None, (1, -1)), ([3, 4], (2, -1), (5, 6)), ([7], (6, 5), None)]),
        (Pace(cuts=[6], cyclic=True), [([3, 4], (2, 1), (5, -1)), ([7, 0], (6, -1), (1, 2))]),
    ],
)
def test_runs_have_the_frames_on_both_sides_up_to_a_cut_and_on_a_lap_go_over_its_seam(pace, runs):
    free = np.array([True, False, False, True, True, False, False, True])
    assert [(run.tolist(), *sides) for run, *sides in runs_of(free, pace)] == runs
    for all_alike in (np.ones(8, bool), np.zeros(8, bool)):
        assert [*runs_of(all_alike, pace)] == []
