# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods solve the same shots: Natural any of them, a published method those of one tip, or it says why not."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.comfort import NearTask
from ik_triangulation.goals.from_goals import Refusal, hold_tasks, point_task
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.method import Natural, Published
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers import SolverSettings
from ik_triangulation.solvers.natural import PLAIN_LIMB
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, stands

from .shots import CHAINS, TOLERANCE, Problem, feasible_places

COUNT = 30


def shot_and_method(kind="free", solver="TRIANGULATION"):
    """The shot of a chain along a feasible path, and a published method for it."""
    problem = Problem(CHAINS[kind], feasible_places(CHAINS[kind], 1, COUNT), solver)
    path = problem.shot
    shot = Shot(tree=path.tree, reference=path.frames, tasks=path.tasks, form=PLAIN_LIMB)
    settings = SolverSettings(solver=solver)
    method = Published(settings, problem.first, None, False, problem.bases.__getitem__, problem.goal_at)
    return problem, shot, method


@pytest.mark.parametrize("kind", ["free", "arm"])
def test_both_methods_meet_the_goals_of_a_shot_of_one_tip(kind):
    problem, shot, published = shot_and_method(kind)
    for method in (Natural(), published):
        path = finished(method.solve(shot))
        assert path.met.all()
        assert problem.errors(path.states).max() < 2.0 * TOLERANCE * problem.chain.reach


def test_natural_solves_a_body_by_the_same_call():
    body = humanoid.body()
    reference = stands(body, 3)
    tasks = hold_tasks(body, FEET, Geometry(body.tree, reference).frames)
    path = finished(Natural().solve(Shot(tree=body.tree, reference=reference, tasks=tasks)))
    assert path.met.all()


def test_a_published_method_says_why_it_does_not_solve_several_tips_or_comfort():
    _, shot, method = shot_and_method()
    body = humanoid.body()
    refused = finished(method.solve(replace(shot, tree=body.tree)))
    assert isinstance(refused, Refusal)
    assert "single limbs" in refused.reason
    rotations = shot.tree.rotations(shot.reference.take([0]))
    near = NearTask(length=1.0, tolerance=np.ones(1), level=1, tree=shot.tree, rotations=rotations)
    refused = finished(method.solve(replace(shot, preferences=[near])))
    assert isinstance(refused, Refusal)
    assert "comfort" in refused.reason


def test_the_shot_of_some_frames_has_all_that_belongs_to_them():
    _, shot, _ = shot_and_method()
    places = np.arange(3.0 * COUNT).reshape(3, COUNT)
    shot = replace(shot, tasks=[point_task(places, np.ones(1))], influence={0: np.linspace(0.0, 1.0, COUNT)})
    some = np.array([4, 7])
    part = shot.take(some)
    assert len(part.reference) == 2
    assert np.array_equal(part.tasks[0].target.place, places[:, some])
    assert np.array_equal(part.influence[0], shot.influence[0][some])
    assert part.tree is shot.tree
