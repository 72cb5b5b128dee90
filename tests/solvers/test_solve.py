# SPDX-License-Identifier: GPL-3.0-or-later
"""What solve() promises for every solver: never worse, nothing changed, limits kept, the same result each time."""

import os
import re
import subprocess
import sys
from math import cos, isfinite, nan, sin
from pathlib import Path
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.kinematics import Chain, Free, Hinge, Joint, Locked, Pose
from ik_triangulation.kinematics.rotation import about, angle_between, rotation_angle
from ik_triangulation.solvers import SOLVERS, solve
from ik_triangulation.targets import Point

from ..chains import (
    GENERAL,
    bits,
    hinged,
    limited,
    mixed,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    straight,
)

ROOT = Path(__file__).resolve().parents[2]
every_solver = pytest.mark.parametrize("solver", GENERAL)
every_finish = pytest.mark.parametrize("finish", [False, True])
CASES = 25
X = Vector((1.0, 0.0, 0.0))


def cases(seed):
    """Random chains of every kind, with a start pose and a target in and out of reach."""
    random = Random(seed)
    for number in range(CASES):
        build = (random_chain, hinged, limited, mixed)[number % 4]
        chain = build(1000 * seed + number, random.randint(1, 6), 3.0)
        pose = random_pose(chain, random, random_base(random))
        target = pose.head(0) + random_direction(random) * (chain.reach * random.uniform(0.0, 1.2))
        yield pose, target


@every_solver
@every_finish
def test_the_error_is_never_greater_than_that_of_the_start_inside_its_limits(solver, finish):
    for pose, target in cases(1):
        start = pose.copy()
        start.project()
        solution = solve(pose, Point(target), solver, tolerance=1e-4, iterations=20, finish=finish)
        assert solution.error <= (start.tip - target).length * (1.0 + 1e-6) + 1e-6
        assert solution.error == pytest.approx((solution.pose.tip - target).length, abs=2e-6 * pose.chain.reach)


@every_solver
def test_the_start_pose_is_not_changed(solver):
    for pose, target in cases(2):
        before = bits(pose.rotations)
        solve(pose, Point(target), solver, iterations=10)
        assert bits(pose.rotations) == before
        assert pose.turns == []


@every_solver
def test_results_are_unit_quaternions_inside_the_limits_and_finite(solver):
    for pose, target in cases(3):
        solution = solve(pose, Point(target), solver, iterations=20)
        assert isfinite(solution.error)
        for joint, rotation in zip(pose.chain.joints, solution.pose.rotations, strict=True):
            assert rotation.magnitude == pytest.approx(1.0, abs=5e-7)
            allowed = joint.freedom.nearest(rotation)
            assert allowed is rotation or abs(abs(allowed.dot(rotation)) - 1.0) < 1e-6


@every_solver
def test_links_keep_their_lengths(solver):
    for pose, target in cases(4):
        solution = solve(pose, Point(target), solver, iterations=20)
        for i, length in enumerate(pose.chain.lengths):
            assert solution.pose.link(i).length == pytest.approx(length, rel=2e-6)


@every_solver
def test_the_same_arguments_give_the_same_bits(solver):
    for pose, target in cases(5):
        first, second = (solve(pose, Point(target), solver, iterations=10, seed=7) for _ in range(2))
        assert bits(first.pose.rotations) == bits(second.pose.rotations)


def test_another_process_gives_the_same_bits():
    script = (
        "import bpy, hashlib\n"
        "from ik_triangulation.solvers import solve\n"
        "from ik_triangulation.targets import Point\n"
        "from tests.chains import GENERAL\n"
        "from tests.solvers.test_solve import cases\n"
        "found = [tuple(q) for name in GENERAL for pose, target in cases(6)\n"
        "         for q in solve(pose, Point(target), name, iterations=5).pose.rotations]\n"
        "print(hashlib.sha256(repr(found).encode()).hexdigest())\n"
    )
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"  # Blender reads no PYTHONPATH
    blender = [bpy.app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr"]
    results = set()
    for hash_seed in ("0", "1"):
        done = subprocess.run(
            [*blender, script] if bpy.app.binary_path else [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        results.update(re.findall(r"^[0-9a-f]{64}$", done.stdout, re.MULTILINE))
    assert len(results) == 1


@every_solver
def test_a_solved_pose_is_left_as_it_is(solver):
    for pose, target in cases(7):
        solution = solve(pose, Point(target), solver, iterations=50)
        if solution.reached:
            again = solve(solution.pose, Point(target), solver)
            assert again.iterations == 0
            assert bits(again.pose.rotations) == bits(solution.pose.rotations)


@every_solver
def test_no_more_steps_are_taken_than_allowed(solver):
    for pose, target in cases(8):
        solution = solve(pose, Point(target), solver, tolerance=1e-9, iterations=3, finish=False)
        assert solution.iterations <= 3


@every_solver
def test_no_steps_are_no_change_but_into_the_limits(solver):
    for pose, target in cases(9):
        start = pose.copy()
        start.project()
        solution = solve(pose, Point(target), solver, iterations=0, finish=False)
        assert bits(solution.pose.rotations) == bits(start.rotations)


@every_solver
def test_a_start_outside_its_limits_is_said_to_be_moved_inside(solver):
    chain = straight((1.0, 1.0), [Free(), Hinge(Vector((1.0, 0.0, 0.0)), 0.2, 0.5)])
    target = Point((0.0, 1.0, 1.0))
    assert solve(chain.rest_pose(), target, solver).projected
    assert not solve(straight((1.0, 1.0)).rest_pose(), target, solver).projected


@every_solver
def test_locked_joints_keep_their_rotation(solver):
    for pose, target in cases(10):
        solution = solve(pose, Point(target), solver, iterations=20)
        for joint, before, after in zip(pose.chain.joints, pose.rotations, solution.pose.rotations, strict=True):
            if isinstance(joint.freedom, Locked):
                assert tuple(after) == tuple(before)


@pytest.mark.parametrize(
    "solver",
    [
        "TRIANGULATION",
        "TRIANGULATION_2007",
        "TRIANGULATION_RIGHT_ANGLE",
        "TRIANGULATION_CHEAPEST",
        "SINGLE_PASS",
        "CIRCULAR",
    ],
)
def test_an_unreachable_target_is_pointed_at_without_burning_the_budget(solver):
    random = Random(11)
    for seed in range(30):
        chain = random_chain(seed, 5)
        pose = random_pose(chain, random, random_base(random))
        target = pose.head(0) + random_direction(random) * chain.reach * 2.0
        solution = solve(pose, Point(target), solver, iterations=1000)
        assert not solution.reached
        assert solution.iterations <= 2
        assert solution.error == pytest.approx(chain.reach, rel=1e-5)
        along = (target - pose.head(0)).normalized()
        for i in range(5):
            assert solution.pose.link(i).normalized().dot(along) == pytest.approx(1.0, abs=1e-5)


@every_solver
def test_a_rigid_motion_of_rig_and_target_changes_nothing_that_counts(solver):
    random = Random(12)
    for pose, target in cases(12):
        move = random_base(random, 5.0)
        moved = Pose(pose.chain, move @ pose.base, pose.rotations)
        here = solve(pose, Point(target), solver, tolerance=1e-3, iterations=1, finish=False)
        there = solve(moved, Point(move @ target), solver, tolerance=1e-3, iterations=1, finish=False)
        assert there.error == pytest.approx(here.error, abs=1e-3 * pose.chain.reach)


@every_solver
def test_twice_the_size_gives_the_same_angles(solver):
    random = Random(13)
    for seed in range(20):
        small = random_chain(seed, 4)
        large = type(small)(
            tuple(type(j)(j.name, j.offset * 2.0, j.rest, j.freedom) for j in small.joints), small.tip * 2.0
        )
        rotations = random_pose(small, random).rotations
        target = random_direction(random) * small.reach * 0.7
        results = [
            solve(Pose(chain, Matrix.Identity(4), rotations), Point(target * size), solver, tolerance=1e-3 * size)
            for chain, size in ((small, 1.0), (large, 2.0))
        ]
        assert bits(results[0].pose.rotations) == bits(results[1].pose.rotations)


@every_solver
def test_a_rigid_motion_of_rig_and_target_turns_the_joints_alike(solver):
    random = Random(14)
    for seed in range(30):
        chain = random_chain(seed, 4)
        pose, target = random_pose(chain, random), random_direction(random) * chain.reach * 0.8
        move = random_base(random, 3.0)
        here, there = (
            solve(start, Point(aim), solver, tolerance=1e-6, iterations=2, finish=False)
            for start, aim in ((pose, target), (Pose(chain, move @ pose.base, pose.rotations), move @ target))
        )
        assert max(map(rotation_angle, here.pose.rotations, there.pose.rotations)) < 5e-3


@every_solver
@pytest.mark.parametrize("size", [2.0**-40, 2.0**-20, 2.0**20, 2.0**50])
def test_no_size_is_too_small_or_too_large(solver, size):
    random = Random(15)
    unit = random_chain(1, 4)
    scaled = Chain([Joint(j.name, j.offset * size, j.rest, j.freedom) for j in unit.joints], unit.tip * size)
    for share in (0.0, 0.1, 0.7, 1.0, 3.0):
        target, rotations = random_direction(random) * unit.reach * share, random_pose(unit, random).rotations
        errors = [
            solve(Pose(chain, Matrix.Identity(4), rotations), Point(target * by), solver, tolerance=1e-5 * by).error
            / by
            for chain, by in ((unit, 1.0), (scaled, size))
        ]
        assert errors[1] == pytest.approx(errors[0], abs=1e-5)


@every_solver
@pytest.mark.parametrize("far", [1e6, 1e15, 1e30, 3e38])
def test_a_target_at_the_end_of_the_world_gives_a_finite_pose(solver, far):
    pose = random_pose(mixed(3, 5), Random(16))
    solution = solve(pose, Point((far, -far, far)), solver, iterations=5)
    assert not solution.reached
    for i, rotation in enumerate(solution.pose.rotations):
        assert rotation.magnitude == pytest.approx(1.0, abs=1e-6)
        assert all(map(isfinite, solution.pose.head(i)))


@every_solver
@pytest.mark.parametrize("links", [1, 2, 5])
def test_degenerate_places_give_a_finite_pose(solver, links):
    """On the root, on a joint, on the tip, on the chain's own line; with joints that coincide."""
    zero = straight((1.0, 0.0, 1.0, 0.0, 0.0)[:links])
    for chain in (straight((1.0,) * links), zero):
        for x, y in ((0.0, 0.0), (0.0, 1.0), (0.0, 0.5), (0.0, -1.0), (0.0, 99.0), (1e-12, 1e-12), (-0.0, links)):
            solution = solve(chain.rest_pose(), Point((x, y, 0.0)), solver, iterations=20)
            nearest, farthest = chain.reaches[0]
            least = max(0.0, abs(y) - farthest, nearest - abs(y))
            assert isfinite(solution.error)
            assert solution.error <= least + 2e-3
            assert all(rotation.magnitude == pytest.approx(1.0, abs=1e-6) for rotation in solution.pose.rotations)


def test_the_best_pose_seen_is_kept(monkeypatch):
    """A solver that comes near and goes away again ends where it was nearest, with the turns that led there."""
    angles = iter((0.5, 0.9, 1.2, 2.0, 2.5, 3.0, 1.9, 2.2))

    def wander(pose, _):
        pose.put(0, about(X, next(angles)))

    monkeypatch.setitem(SOLVERS, "WANDER", SOLVERS["CCD"]._replace(step=wander))
    pose = straight((1.0,)).rest_pose()
    target = Point((0.0, cos(1.3), sin(1.3)))
    solution = solve(pose, target, "WANDER", tolerance=1e-6, iterations=8, finish=False)
    assert rotation_angle(solution.pose.rotations[0], about(X, 1.2)) < 1e-6
    assert solution.error == pytest.approx(2.0 * sin(0.05), abs=1e-6)
    assert (solution.pose.tip - target.location).length == pytest.approx(solution.error, abs=1e-6)
    assert solution.cost.total_angle == pytest.approx(1.2, abs=1e-5)


@every_solver
def test_the_work_is_bounded_also_when_a_poor_pose_is_finished(solver):
    for pose, target in cases(17):
        solution = solve(pose, Point(target), solver, tolerance=1e-9, iterations=4, finish=True)
        assert solution.iterations <= 4 * 50


@every_solver
def test_a_chain_that_cannot_move_stays(solver):
    pose = random_pose(straight((1.0, 1.0), [Locked(), Locked()]), Random(18))
    solution = solve(pose, Point((0.3, 0.4, 0.5)), solver)
    assert bits(solution.pose.rotations) == bits(pose.rotations)
    assert solution.pose.turns == []


@every_solver
@pytest.mark.parametrize("links", [1, 2, 5, 20])
def test_a_free_chain_is_stretched_at_what_it_cannot_reach(solver, links):
    random = Random(19)
    for seed in range(10):
        chain = random_chain(seed, links, 5.0)
        pose = random_pose(chain, random, random_base(random))
        along = random_direction(random)
        target = pose.head(0) + along * chain.reach * random.uniform(1.1, 3.0)
        solution = solve(pose, Point(target), solver, tolerance=1e-5 * chain.reach)
        left = (target - pose.head(0)).length - chain.reach
        assert not solution.reached
        assert solution.error == pytest.approx(left, abs=1e-5 * chain.reach)
        assert angle_between(solution.pose.tip - pose.head(0), along) < 0.05


@every_solver
@pytest.mark.parametrize("make", [random_chain, hinged, limited])
def test_finished_every_target_that_some_pose_within_the_limits_reaches_is_reached(solver, make):
    random = Random(20)
    for seed in range(60):
        chain = make(seed, random.randint(2, 8), 3.0)
        there, start = random_pose(chain, random), random_pose(chain, random)
        there.project()
        solution = solve(start, Point(there.tip), solver, tolerance=1e-3 * chain.reach)
        assert solution.reached, (make.__name__, seed, solution.error / chain.reach)


def test_with_refine_a_start_within_tolerance_still_gains():
    pose = straight((1.0, 1.0)).rest_pose()
    target = Point((0.0, 1.9, 0.1))
    near = solve(pose, target, tolerance=0.5)
    assert near.iterations == 0
    refined = solve(pose, target, tolerance=0.5, follow=True)
    assert refined.iterations == 1
    assert refined.error < 1e-5


def test_an_unknown_solver_is_refused_with_the_names_of_all():
    with pytest.raises(SettingError, match=r"'NO' is unknown.*TRIANGULATION, TRIANGULATION_2007.*CCD"):
        solve(straight((1.0,)).rest_pose(), Point((0.0, 0.0, 1.0)), "NO")


@pytest.mark.parametrize("tolerance", [0.0, -1.0, nan])
def test_a_tolerance_that_is_no_distance_is_refused(tolerance):
    with pytest.raises(SettingError, match="not a distance"):
        solve(straight((1.0,)).rest_pose(), Point((0.0, 0.0, 1.0)), tolerance=tolerance)


def test_a_negative_number_of_iterations_is_refused():
    with pytest.raises(SettingError, match="-1 iterations"):
        solve(straight((1.0,)).rest_pose(), Point((0.0, 0.0, 1.0)), iterations=-1)


@pytest.mark.parametrize("bad", [nan, float("inf"), float("-inf")])
def test_a_target_that_is_nowhere_is_refused(bad):
    with pytest.raises(TargetError, match="not finite"):
        Point((0.0, bad, 0.0))


def test_the_numbers_that_files_store_are_pinned():
    assert {key: solver.number for key, solver in SOLVERS.items()} == {
        "TRIANGULATION": 0,
        "TRIANGULATION_2007": 1,
        "SINGLE_PASS": 2,
        "CCD": 3,
        "CIRCULAR": 4,
        "GRADIENT": 5,
        "GRADIENT_MEASURED": 6,
        "GRADIENT_ACCELERATED": 7,
        "GAUSS_NEWTON": 8,
        "JACOBIAN_TRANSPOSE": 9,
        "FABRIK": 10,
        "TWO_BONE": 11,
        "SIMPLEX": 12,
        "ROSENBROCK": 13,
        "TRIANGULATION_RIGHT_ANGLE": 14,
        "TRIANGULATION_CHEAPEST": 15,
        "CCD_STAGES": 16,
    }


def test_the_costs_of_a_solution_are_those_of_its_turns():
    pose = straight((1.0, 1.0)).rest_pose()
    solution = solve(pose, Point((1.0, 1.0, 0.0)), finish=False)
    assert solution.cost.turns == len(solution.pose.turns)
    replayed = pose.copy()
    for joint, rotation in solution.pose.turns:
        replayed.put(joint, Quaternion(rotation))
    assert bits(replayed.rotations) == bits(solution.pose.rotations)
