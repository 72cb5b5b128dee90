# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every result, whatever chain, start and target: soundness, idempotence, bounded work.

mathutils keeps single precision, so what would hold exactly in double precision holds here to rounding: lengths to
2e-6 of the coordinates, quaternions to 5e-7 of unit length, limits and hinge axes to 2e-6 rad. Where the tip of a pose
is depends in its last bits on the turns that led there, so an error may be greater than the start's by those.
"""

from collections import Counter
from math import isfinite
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Hinge, Locked
from ik_triangulation.kinematics.rotation import about, rotation_angle, twist
from ik_triangulation.solvers import SOLVERS, finish, gauss_newton, solve, triangulation
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.restarts import KEPT, ROUNDS, TRIAL_STEPS

from ..chains import GENERAL, bits
from ..strategies import LONG, chains, directions, examples, place_within_limits, poses, scenes, seeds

LIMIT = 2e-6  # [rad]


def every_solver(solvers=GENERAL):
    """Each solver in turn, named where one fails: examples are made once for all, which takes longer than solving."""
    for solver in solvers:
        note(solver)
        yield solver


def every_solver_and_finish(other, solvers=GENERAL):
    """Each solver with and without finish; in short with finish every second one, or the `other` ones."""
    for n, solver in enumerate(every_solver(solvers)):
        for finished in (False, True) if LONG else (bool(n % 2) ^ other,):
            note(f"finish: {finished}")
            yield solver, finished


def check_finite_unit_quaternions(pose):
    for i, rotation in enumerate(pose.rotations):
        assert all(map(isfinite, rotation))
        assert all(map(isfinite, pose.head(i)))
        assert abs(rotation.magnitude - 1.0) < 5e-7
    assert all(map(isfinite, pose.tip))


def check_limits(pose):
    for joint, rotation in zip(pose.chain.joints, pose.rotations, strict=True):
        assert rotation_angle(joint.freedom.nearest(rotation), rotation) <= LIMIT
        if isinstance(joint.freedom, Hinge):
            axis = joint.freedom.axis
            assert rotation_angle(about(axis, twist(rotation, axis)), rotation) <= LIMIT


def check_frozen_joints_kept(start, pose):
    for joint, before, after in zip(pose.chain.joints, start.rotations, pose.rotations, strict=True):
        if not joint.freedom.moves:
            assert tuple(after) == tuple(before)


def check_lengths(pose):
    for i, length in enumerate(pose.chain.lengths):
        assert abs((pose.end(i) - pose.head(i)).length - length) <= rounding(pose)


def rounding(pose):
    """What coordinates as large as those of a pose round by [Blender units]."""
    return 2e-6 * (pose.base.translation.length + pose.chain.reach)


@given(scene=scenes(), other=st.booleans())
@examples(18)
def test_every_result_is_sound(scene, other):
    """Finite, of unit quaternions, within the limits, as long as before, and no farther away than the start."""
    pose, target = scene
    start = pose.copy()
    projected = start.project()
    for solver, finished in every_solver_and_finish(other):
        solution = solve(
            pose, Point(target), solver=solver, tolerance=1e-4 * pose.chain.reach, iterations=5, finish=finished
        )
        assert solution.projected == projected
        assert isfinite(solution.error)
        check_finite_unit_quaternions(solution.pose)
        check_limits(solution.pose)
        check_frozen_joints_kept(start, solution.pose)
        check_lengths(solution.pose)
        assert solution.error <= (target - start.tip).length + rounding(pose)
        assert abs(solution.error - (target - solution.pose.tip).length) <= rounding(pose)
        assert solution.reached == (solution.error <= 1e-4 * pose.chain.reach)


@given(pose=poses(), seed=seeds, other=st.booleans())
@examples(15)
def test_a_solved_pose_is_left_as_it_is(pose, seed, other):
    target, tolerance = Point(place_within_limits(pose, Random(seed))), 1e-3 * pose.chain.reach
    for solver, finished in every_solver_and_finish(other):
        solution = solve(pose, target, solver=solver, tolerance=tolerance, iterations=20, finish=finished)
        assert solution.reached or not finished
        if solution.reached:
            again = solve(solution.pose, target, solver=solver, tolerance=tolerance, finish=finished)
            assert again.iterations == 0
            assert abs(again.error - solution.error) <= rounding(pose)
            assert bits(again.pose.rotations) == bits(solution.pose.rotations)


@given(scene=scenes(), iterations=st.integers(0, 6), other=st.booleans())
@examples(15)
def test_the_work_is_bounded_and_counted(scene, iterations, other):
    """By the steps of the solver, and of the methods that finish: one of triangulation, the rest of Gauss-Newton.

    Restarts are made as a batch: every start takes a few steps, and a share of each round goes on. A step of a batch
    that is refused counts as one, so they are at most twice as many.
    """
    for solver, finished in every_solver_and_finish(other, [each for each in GENERAL if not SOLVERS[each].whole]):
        check_work(*scene, solver, finished, iterations)


def check_work(pose, target, solver, finished, iterations):
    steps = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOLVERS, solver, SOLVERS[solver]._replace(step=counted(SOLVERS[solver].step, steps, "own")))
        patch.setattr(finish, "triangulation", SimpleNamespace(step=counted(triangulation.step, steps, "pass")))
        patch.setattr(finish, "gauss_newton", SimpleNamespace(step=counted(gauss_newton.step, steps, "polish")))
        patch.setattr(System, "after", counted_batch(System.after, steps, "restarts"))
        solution = solve(
            pose,
            Point(target),
            solver=solver,
            tolerance=1e-6 * pose.chain.reach,
            iterations=iterations,
            finish=finished,
        )
    trials, others = sum(ROUNDS), sum(max(1, round(KEPT * count)) for count in (ROUNDS[0], sum(ROUNDS[1:])))
    assert steps["own"] <= iterations
    assert steps["pass"] <= finished
    assert steps["polish"] <= finished * iterations * 2  # before the restarts, and after them
    assert steps["restarts"] <= finished * 2 * (trials * min(TRIAL_STEPS, iterations) + others * iterations)
    assert solution.iterations == steps.total()


def counted_batch(after, steps, name):
    """The same step of many states, which adds their number to `steps` each time."""

    def count(system, change):
        steps[name] += change.shape[-1]
        return after(system, change)

    return count


def counted(step, steps, name):
    """The same step, which adds to `steps` each time."""

    if isinstance(step, type):

        class Counted(step):
            def __call__(self, pose, aim):
                steps[name] += 1
                super().__call__(pose, aim)

        return Counted

    def count(pose, aim):
        steps[name] += 1
        step(pose, aim)

    return count


@given(pose=poses(chains(st.just(Locked()))), target=directions)
@examples(15)
def test_a_chain_that_cannot_move_stays(pose, target):
    for solver in every_solver():
        solution = solve(pose, Point(target), solver=solver, iterations=10)
        assert bits(solution.pose.rotations) == bits(pose.rotations)
        assert solution.pose.turns == []


@given(scene=scenes())
@examples(15)
def test_no_steps_are_no_change_but_into_the_limits(scene):
    pose, target = scene
    start = pose.copy()
    start.project()
    for solver in every_solver():
        solution = solve(pose, Point(target), solver=solver, iterations=0, finish=False)
        assert bits(solution.pose.rotations) == bits(start.rotations)
