# SPDX-License-Identifier: GPL-3.0-or-later
"""What solve() promises besides the properties: nothing changed, the same result each time, bad requests refused."""

import os
import re
import subprocess
import sys
from hashlib import sha256
from math import cos, isfinite, nan, sin
from pathlib import Path
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.goals import Flow, Goal, Point
from ik_triangulation.kinematics import Chain, Free, Hinge, Joint, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers import SOLVERS, SolverSettings, solve
from ik_triangulation.solvers.solve import solve_goal

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
CASES = 12
X = Vector((1.0, 0.0, 0.0))


def cases(seed, count=CASES):
    """Random chains of every kind, with a start pose and a target in and out of reach."""
    random = Random(seed)
    for number in range(count):
        build = (random_chain, hinged, limited, mixed)[number % 4]
        chain = build(1000 * seed + number, random.randint(1, 6), 3.0)
        pose = random_pose(chain, random, random_base(random))
        target = pose.head(0) + random_direction(random) * (chain.reach * random.uniform(0.0, 1.2))
        yield pose, target


@every_solver
def test_the_start_pose_is_not_changed(solver, long):
    for pose, target in cases(2, CASES if long else 4):
        before = bits(pose.rotations)
        solve(pose, Point(target), solver=solver, iterations=10)
        assert bits(pose.rotations) == before
        assert pose.turns == []


@every_solver
def test_the_same_arguments_give_the_same_bits(solver, long):
    for pose, target in [*cases(5, 4)][0 if long else 3 :]:  # in short with all kinds of joints mixed
        first, second = (solve(pose, Point(target), solver=solver, iterations=10, seed=7) for _ in range(2))
        assert bits(first.pose.rotations) == bits(second.pose.rotations)


def hash_of_solved():
    """Of what every solver makes of a chain of each kind."""
    solved = (solve(pose, Point(to), solver=name, iterations=5).pose for name in GENERAL for pose, to in cases(6, 4))
    return sha256(repr([tuple(q) for pose in solved for q in pose.rotations]).encode()).hexdigest()


def test_another_process_gives_the_same_bits():
    script = "import bpy\nfrom tests.solvers.test_solve import hash_of_solved\nprint(hash_of_solved())\n"
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}"  # Blender reads no PYTHONPATH
    blender = [bpy.app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr"]
    done = subprocess.run(
        [*blender, script] if bpy.app.binary_path else [sys.executable, "-c", script],
        env=os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert re.findall(r"^[0-9a-f]{64}$", done.stdout, re.MULTILINE) == [hash_of_solved()]


@every_solver
def test_a_start_outside_its_limits_is_said_to_be_moved_inside(solver):
    chain = straight((1.0, 1.0), [Free(), Hinge(Vector((1.0, 0.0, 0.0)), 0.2, 0.5)])
    target = Point((0.0, 1.0, 1.0))
    assert solve(chain.rest_pose(), target, solver=solver).projected
    assert not solve(straight((1.0, 1.0)).rest_pose(), target, solver=solver).projected


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
        solution = solve(pose, Point(target), solver=solver, iterations=1000)
        assert not solution.reached
        assert solution.iterations <= 2
        assert solution.error == pytest.approx(chain.reach, rel=1e-5)
        along = (target - pose.head(0)).normalized()
        for i in range(5):
            assert solution.pose.link(i).normalized().dot(along) == pytest.approx(1.0, abs=1e-5)


@every_solver
@pytest.mark.parametrize("size", [2.0**-40, 2.0**-20, 2.0**20, 2.0**50])
def test_no_size_is_too_small_or_too_large(solver, size):
    random = Random(15)
    unit = random_chain(1, 4)
    scaled = Chain([Joint(j.name, j.offset * size, j.rest, j.freedom) for j in unit.joints], unit.tip * size)
    for share in (0.0, 0.1, 0.7, 1.0, 3.0):
        target, rotations = random_direction(random) * unit.reach * share, random_pose(unit, random).rotations
        errors = [
            solve(
                Pose(chain, Matrix.Identity(4), rotations), Point(target * by), solver=solver, tolerance=1e-5 * by
            ).error
            / by
            for chain, by in ((unit, 1.0), (scaled, size))
        ]
        assert errors[1] == pytest.approx(errors[0], abs=1e-5)


@every_solver
@pytest.mark.parametrize("far", [1e6, 1e15, 1e30, 3e38])
def test_a_target_at_the_end_of_the_world_gives_a_finite_pose(solver, far):
    pose = random_pose(mixed(3, 5), Random(16))
    solution = solve(pose, Point((far, -far, far)), solver=solver, iterations=5)
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
            solution = solve(chain.rest_pose(), Point((x, y, 0.0)), solver=solver, iterations=20)
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
    solution = solve(pose, target, solver="WANDER", tolerance=1e-6, iterations=8, finish=False)
    assert rotation_angle(solution.pose.rotations[0], about(X, 1.2)) < 1e-6
    assert solution.error == pytest.approx(2.0 * sin(0.05), abs=1e-6)
    assert (solution.pose.tip - target.location).length == pytest.approx(solution.error, abs=1e-6)
    assert solution.cost.total_angle == pytest.approx(1.2, abs=1e-5)


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
        solve(straight((1.0,)).rest_pose(), Point((0.0, 0.0, 1.0)), solver="NO")


@pytest.mark.parametrize("tolerance", [0.0, -0.0, -1.0, nan, float("-inf")])
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


def test_the_costs_of_a_solution_are_those_of_its_turns():
    pose = straight((1.0, 1.0)).rest_pose()
    solution = solve(pose, Point((1.0, 1.0, 0.0)), finish=False)
    assert solution.cost.turns == len(solution.pose.turns)
    replayed = pose.copy()
    for joint, rotation in solution.pose.turns:
        replayed.put(joint, Quaternion(rotation))
    assert bits(replayed.rotations) == bits(solution.pose.rotations)


@pytest.mark.parametrize("solver", ["CCD", "GAUSS_NEWTON"])
def test_a_flow_that_leads_out_of_reach_is_followed_by_one_step_without_restarts(solver):
    for seed in range(3):
        pose = random_pose(limited(seed, 4, 3.0), Random(seed))
        pose.project()
        way = pose.tip - pose.head(0)
        flow = Flow(lambda place, way=way: way.normalized() * 1e3, 0.7 * pose.chain.reach)
        found = solve(pose, flow, solver=solver, iterations=4, seed=3)
        start = pose.copy()
        start.project()
        goal = Goal(Point(flow.after(start.tip)), (), 1e-3)
        one, many = (
            solve_goal(pose, goal, SolverSettings(solver=solver, iterations=4, seed=3, restarts=restarts))
            for restarts in (False, True)
        )
        assert bits(found.pose.rotations) == bits(one.pose.rotations)
        assert found.iterations == one.iterations < many.iterations


def test_a_target_out_of_reach_that_is_followed_has_the_first_round_of_restarts_only():
    for seed in range(3):
        pose = random_pose(limited(seed, 4, 3.0), Random(seed))
        pose.project()
        target = Point(pose.head(0) + (pose.tip - pose.head(0)).normalized() * (1.2 * pose.chain.reach))
        stay, follow = (solve(pose, target, solver="CCD", iterations=4, follow=each) for each in (False, True))
        assert follow.iterations < stay.iterations
