# SPDX-License-Identifier: GPL-3.0-or-later
"""A map with Finish reaches every place that solve() reaches, and costs what it says."""

from collections import Counter

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.maps.many_targets import cost_from, scaled
from ik_triangulation.maps.metric_map import map_plane, map_pose, pixels
from ik_triangulation.solvers import SolverSettings, solve

from ..chains import straight
from ..limited import limited_chains

TOLERANCE = 0.02


def settings(solver):
    return SolverSettings(solver=solver, iterations=20)


@pytest.mark.parametrize("name", limited_chains())
def test_nothing_that_is_reached_alone_is_lost(name, long):
    start, size = limited_chains()[name].rest_pose(), 14 if long else 10
    reach, plane = start.chain.reach, map_plane(start)
    found = map_pose(start, *plane, settings("CCD"), size=size, tolerance=TOLERANCE)
    origin, along, across = plane
    places, inside = pixels(size)
    errors, reached = found.metrics.error[inside], found.metrics.reached[inside]
    assert (reached == (errors <= TOLERANCE)).all()
    assert 0.0 < found.coverage <= 100.0
    every = 3 if long else 7
    for place, error, ours in zip(places[inside][::every], errors[::every], reached[::every], strict=True):
        target = Point(origin + (along * place.real + across * place.imag) * reach)
        alone = solve(start, target, solver="CCD", tolerance=TOLERANCE * reach, iterations=20)
        assert ours >= alone.reached
        if not ours:
            assert error <= alone.error / reach + 1e-3


@pytest.mark.parametrize("solver", ["TRIANGULATION", "CCD", "FABRIK", "GAUSS_NEWTON"])
def test_every_solver_covers_the_same_with_finish(solver):
    start = limited_chains()["hinges"].rest_pose()
    plane = map_plane(start)
    found = map_pose(start, *plane, settings(solver), size=12)
    other = map_pose(start, *plane, settings("CCD"), size=12)
    assert (found.metrics.reached == other.metrics.reached).all()
    again = map_pose(start, *plane, settings(solver), size=12)
    for first, second in zip(found.metrics, again.metrics, strict=True):
        assert (first == second).all()


@pytest.mark.parametrize("solver", ["TRIANGULATION", "FABRIK"])
def test_what_the_method_reaches_by_itself_has_its_metrics(solver):
    start = limited_chains()["hinges"].rest_pose()
    plane = map_plane(start)
    found = map_pose(start, *plane, settings(solver), size=12)
    bare = map_pose(start, *plane, SolverSettings(solver=solver, iterations=1, finish=False), size=12)
    by_itself = bare.metrics.reached
    assert by_itself.any()
    assert found.metrics.reached[by_itself].all()
    assert (found.metrics.iterations == bare.metrics.iterations)[by_itself].all()
    assert found.metrics.total_angle[by_itself] == pytest.approx(bare.metrics.total_angle[by_itself], abs=1e-3)
    assert found.metrics.travel[by_itself] == pytest.approx(bare.metrics.travel[by_itself], abs=1e-3)
    finished = found.metrics.reached & ~by_itself
    assert (found.metrics.iterations[finished] > 1).all()


@pytest.mark.parametrize("name", limited_chains())
def test_the_cost_of_a_pose_is_that_of_turning_each_joint_once(name):
    chain = limited_chains()[name]
    tree, start = Tree.of(chain), chain.rest_pose()
    random = np.random.default_rng(5)
    poses = []
    for _ in range(20):
        pose = start.copy()
        pose.project()
        for i, joint in enumerate(chain.joints):
            pose.put(i, joint.freedom.nearest(Quaternion(random.normal(size=4)).normalized()))
        poses.append(pose)
    projected = start.copy()
    projected.project()
    turns, total_angle, travel = cost_from(tree, tree.states([projected]), tree.states(poses))
    for n, pose in enumerate(poses):
        assert (turns[n], total_angle[n], travel[n]) == pytest.approx(
            (pose.cost.turns, pose.cost.total_angle, pose.cost.travel), abs=1e-4
        )


def test_a_job_gives_way_often_and_its_progress_never_falls():
    start = limited_chains()["arm"].rest_pose()
    told = list(map_pose.steps(start, *map_plane(start), settings("CCD"), size=20))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {of for _, of in told} == {20}
    assert (told[0], told[-1]) == ((0, 20), (20, 20))
    assert max(Counter(told).values()) > 1  # more often than rows are done


def test_shares_of_a_part_of_the_work_are_shares_of_all_of_it():
    def work():
        yield from (0.0, 0.5, 1.0)
        return "done"

    assert list(scaled(work(), 0.5, 1.0)) == [0.5, 0.75, 1.0]


def test_what_solve_refuses_is_refused_for_all_targets():
    start = straight((1.0, 1.0, 1.0)).rest_pose()
    plane = map_plane(start)
    with pytest.raises(SettingError, match="is not a distance"):
        map_pose(start, *plane, settings("CCD"), size=4, tolerance=0.0)
    with pytest.raises(ChainError, match="exactly two joints"):
        map_pose(start, *plane, settings("TWO_BONE"), size=4)
    broken = Pose(start.chain, start.base, [Quaternion((3.0, 0.0, 0.0, 0.0))] * 3)
    with pytest.raises(ChainError, match="not valid"):
        map_pose(broken, Vector(), *plane[1:], settings("CCD"), size=4)
