# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals beyond the lengths of a chain come to the edge of its reach; the others stay as they are."""

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.solvers.natural.giving_way import within_reach

from .motions import CHAINS, Motion

SEEDS = range(12)


@pytest.mark.parametrize("name", CHAINS)
def test_goals_in_reach_stay(name):
    for seed in SEEDS:
        motion = Motion.of(CHAINS[name], seed)
        tasks = motion.tasks(True)
        where, how = within_reach(motion.tree, motion.states, tasks)
        assert where is tasks[0]
        assert np.abs(how.rotation - tasks[1].rotation).max() < 0.03  # of a neck that is all but straight


@pytest.mark.parametrize("name", ["spine", "neck", "tail"])
@pytest.mark.parametrize("scale", [0.9, 1.0, 1.02, 3.0])
def test_place_and_last_link_come_into_reach_and_no_nearer_than_needed(name, scale):
    for seed in SEEDS:
        motion = Motion.of(CHAINS[name], seed)
        tree, tasks = motion.tree, motion.tasks(True)
        place, most = tasks[0].target.place, tree.size
        place *= scale * most / np.linalg.norm(place, axis=0)
        where, how = within_reach(tree, motion.states, tasks)
        nearer = where.target.place
        assert np.linalg.norm(nearer, axis=0) == pytest.approx(min(scale, 0.9999) * most * np.ones(160))
        assert np.abs(np.cross(nearer, place, axis=0)).max() < 1e-9 * most**2
        last = tree.tips[0].place.length
        wrist = np.linalg.norm(nearer - last * how.rotation[:, 1], axis=0)
        assert (wrist <= most - last).all()
        same = np.abs(how.rotation - tasks[1].rotation).max((0, 1)) < 1e-12
        assert wrist[~same] == pytest.approx(0.9999 * (most - last) * np.ones(np.count_nonzero(~same)))


def test_goals_are_measured_from_the_root_wherever_it_is():
    motion = Motion.of(CHAINS["spine"], 1)
    motion.states.place = np.array([[10.0], [0.0], [0.0]])
    place = Geometry(motion.tree, motion.states).tip().copy()
    tasks = motion.tasks(False)
    (found,) = within_reach(motion.tree, motion.states, tasks)
    assert np.array_equal(found.target.place, place)
