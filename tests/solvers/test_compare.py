# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers are compared on the same work, in the order asked for."""

from math import degrees
from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.goals import Goal, Point
from ik_triangulation.kinematics import Locked
from ik_triangulation.solvers import SOLVERS, Solver, SolverSettings, solve
from ik_triangulation.solvers.compare import COSTS, compare_all, naturalness, table

from ..chains import GENERAL, PAPER, bits, hinged, random_chain, random_direction, random_pose, straight

START = straight(PAPER).rest_pose()
TARGET = Point(Vector((10.0, 12.0, 3.0)))


def compared(start, target, solvers=tuple(SOLVERS), *, tolerance=1e-3, by="naturalness", **settings):
    """Results of solvers from one pose to one target."""
    return compare_all([(start, Goal(target, tolerance=tolerance))], solvers, SolverSettings(**settings), by=by)


def refuse(pose, aim):
    raise ChainError("This method needs two bones. Choose two.")


@pytest.fixture
def refusing(monkeypatch):
    """A solver that refuses every chain."""
    monkeypatch.setitem(SOLVERS, "REFUSING", Solver(99, "", "", "", refuse))
    return "REFUSING"


def test_each_row_is_what_the_solver_does_alone():
    before = bits(START.rotations)
    *rows, two_bone = compared(START, TARGET, tolerance=0.01, iterations=30, finish=False)
    assert {row.solver for row in rows} == set(GENERAL)
    assert two_bone.solver == "TWO_BONE"
    assert two_bone.refusal
    for row in rows:
        solution = solve(START, TARGET, solver=row.solver, tolerance=0.01, iterations=30, finish=False)
        cost = solution.cost
        assert row[:-2] == (
            row.solver, 1, solution.reached, naturalness(solution.pose, START.rotations), solution.error,
            solution.iterations,
            cost.turns, cost.total_angle, cost.travel,
        )  # fmt: skip
        assert row.seconds > 0.0
        assert row.refusal == ""
    assert bits(START.rotations) == before


@pytest.mark.parametrize("by", COSTS)
def test_the_cheapest_comes_first_and_what_did_not_reach_after(by, long):
    random = Random(1)
    for seed in range(5 if long else 2):
        pose = random_pose(hinged(seed, 5), random)
        target = Point(pose.head(0) + random_direction(random) * 0.6 * pose.chain.reach)
        rows = compared(pose, target, GENERAL, tolerance=1e-3, iterations=10, finish=False, by=by)
        assert [(row.reached, getattr(row, by)) for row in rows] == sorted(
            ((row.reached, getattr(row, by)) for row in rows), key=lambda pair: (-pair[0], pair[1])
        )


def test_a_solver_that_cannot_do_the_chain_is_last_with_its_reason(refusing):
    far = Point(Vector((100.0, 0.0, 0.0)))
    rows = compared(START, far, [refusing, "CCD"])
    assert [row.solver for row in rows] == ["CCD", refusing]
    assert rows[1] == (refusing, 1, 0, 0.0, 0.0, 0, 0, 0.0, 0.0, 0.0, "This method needs two bones. Choose two.")
    assert rows[0].reached == 0
    assert "This method needs two bones. Choose two." in table(rows)


def test_several_tasks_add_up():
    random = Random(2)
    tasks = [(START, Point(random_direction(random) * random.uniform(10.0, 50.0))) for _ in range(6)]
    goals = [(pose, Goal(target, tolerance=0.01)) for pose, target in tasks]
    summed = {row.solver: row for row in compare_all(iter(goals), GENERAL)}
    singles = [{row.solver: row for row in compared(*task, GENERAL, tolerance=0.01)} for task in tasks]
    for solver, row in summed.items():
        rows = [single[solver] for single in singles]
        assert row.tasks == 6
        assert 0 < row.reached == sum(single.reached for single in rows) < 6
        assert row.error == max(single.error for single in rows)
        assert row.iterations == sum(single.iterations for single in rows)
        assert row.turns == sum(single.turns for single in rows)
        assert row.total_angle == pytest.approx(sum(single.total_angle for single in rows))
        assert row.travel == pytest.approx(sum(single.travel for single in rows))
        assert row.naturalness == pytest.approx(sum(single.naturalness for single in rows) / 6.0)


def test_the_table_has_a_line_for_each_row_with_angles_in_degrees():
    rows = compared(START, TARGET, GENERAL)
    heading, *lines = table(rows).splitlines()
    assert heading.split() == [
        "solver",
        "reached",
        "naturalness",
        "error",
        "iterations",
        "turns",
        "angle",
        "travel",
        "ms",
    ]
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        cells = line.split()
        assert cells[:2] == [row.solver, "1/1"]
        assert float(cells[6]) == pytest.approx(degrees(row.total_angle), abs=0.01)
        assert float(cells[2]) == pytest.approx(row.naturalness, abs=0.051)
        assert len(line) == len(heading)


def test_joints_that_cannot_move_cost_nothing():
    locked = straight((1.0, 1.0), [Locked(), Locked()]).rest_pose()
    for row in compared(locked, Point(Vector((1.0, 0.0, 0.0)))):
        assert (row.reached, row.turns, row.total_angle, row.travel) == (0, 0, 0.0, 0.0)


def test_the_most_natural_comes_first_and_is_judged_by_the_references_given():
    pose = random_pose(random_chain(4, 3), Random(4))
    goal = Goal(Point(pose.tip), tolerance=1e-3)  # reached in the very pose
    other = random_pose(pose.chain, Random(5)).rotations
    (at_start,) = compare_all([(pose, goal)], ["CCD"])
    (judged,) = compare_all([(pose, goal)], ["CCD"], references=[other], of_body=False)
    assert at_start.naturalness == naturalness(pose, pose.rotations)
    assert judged.naturalness == naturalness(pose, other, of_body=False) > 1.0
    rows = compared(START, TARGET)
    assert [row.naturalness for row in rows[:-1]] == sorted(row.naturalness for row in rows[:-1])


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(SettingError, match=r"There are 2 references for 1 tasks\. Give one for each"):
        compare_all([(START, Goal(TARGET, tolerance=0.01))], references=[START.rotations] * 2)
    with pytest.raises(SettingError, match="Cost 'beauty' is unknown"):
        compared(START, TARGET, by="beauty")
    with pytest.raises(SettingError, match="Solver 'NONE' is unknown"):
        compared(START, TARGET, ["NONE"])
