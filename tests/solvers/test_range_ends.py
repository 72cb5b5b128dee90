# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing reachable is missed: targets at the ends of joint ranges, planar limbs, arms of robots, scale that shears.

Targets come from poses within the limits, so that each can be reached; all results are judged in double precision,
apart from the package's own kinematics.
"""

import pytest

from scripts.benchmarks import arms, ranges
from scripts.benchmarks.arm_table import ARMS
from scripts.benchmarks.families import FAMILIES

SOLVERS = "TRIANGULATION", "GAUSS_NEWTON"
SEEDS = range(4)
PLANAR = dict(ranges.planar_tasks())
OF_FAMILY = 15, 100  # targets in the short and in the long form
OF_CHAIN = 5, 60
OF_ARM = 4, 8


def assert_all_reached(counts):
    assert (counts.wrong, counts.outside) == (0, 0)
    assert counts.reached == counts.targets, f"{counts.targets - counts.reached} of {counts.targets} are missed."


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_targets_at_the_ends_of_ranges_are_reached(family, solver, long):
    tasks = ranges.family_tasks(family, OF_FAMILY[long], 2)
    assert_all_reached(ranges.count_tasks(tasks, "one by one", solver))


@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize("solver", SOLVERS)
def test_targets_at_the_ends_of_ranges_are_reached_by_rigs(solver, long):
    counts = [OF_CHAIN[long]] * (len(ranges.reach.CHAINS) + len(ranges.reach.RIGIFY))
    for _, tasks in ranges.rig_tasks(counts):
        assert_all_reached(ranges.count_tasks(tasks, "one by one", solver))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("limb", PLANAR)
def test_planar_limbs_reach_every_combination_of_their_ends(limb, solver, long):
    assert_all_reached(ranges.count_tasks(PLANAR[limb], "one by one", solver, SEEDS if long else SEEDS[:1]))


@pytest.mark.parametrize("name", ARMS)
def test_arms_of_robots_reach_place_and_orientation(name, long):
    start = arms.start_of(ARMS[name])
    poses = arms.random_poses(name, ARMS[name], start.chain, OF_ARM[long])
    reached, wrong, outside = arms.judge(start.chain, poses, arms.one_by_one(start, poses, "GAUSS_NEWTON"))
    assert not wrong.any()
    assert not outside.any()
    assert reached.all()
