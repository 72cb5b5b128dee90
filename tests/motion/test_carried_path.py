# SPDX-License-Identifier: GPL-3.0-or-later
"""Tips on bones of their own body follow these by their own limbs; everything else is as without them."""

from dataclasses import replace

import numpy as np

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import hold_tasks, point_task
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.method import Natural, carried_path
from ik_triangulation.motion.shot import Shot
from scripts.benchmarks.humanoid import body, standing

FRAMES = 5


def case(aside):
    """A body on its feet that lifts its right hand, in whose frame the left one has a place, so far aside [m].

    Returns the body, its shot, the number of the left hand, and a function that gives all tasks as states carry it.
    """
    figure = body()
    tree, number = figure.tree, figure.number_of
    reference = tree.states([standing(figure)]).take(np.zeros(FRAMES, np.intp))
    begin = Geometry(tree, reference)
    raised = begin.tip(number["hand.R"]) + np.array((0.15, -0.3, 0.3))[:, None] * np.linspace(0.2, 1.0, FRAMES)
    tasks = hold_tasks(figure, ("foot.L", "foot.R"), begin.frames)
    tasks.append(replace(point_task(raised, np.array([1e-5])), tip=number["hand.R"]))
    carrier, seen = figure.tip("hand.R").joint, []

    def carry(states):
        frame = Geometry(tree, states).frames[carrier]
        place = np.einsum("ijf,j->if", frame[:, :3], np.array((aside, 0.0, 0.0))) + frame[:, 3]
        seen.append(place)
        way = np.abs(seen[-1] - seen[-2]).max() if len(seen) > 1 else 1.0
        return [*tasks, replace(point_task(place, np.array([1e-5])), tip=number["hand.L"])], float(way)

    shot = Shot(tree=tree, reference=reference, tasks=carry(reference)[0])
    return figure, shot, tasks, carry


def test_a_hand_follows_the_other_one_by_its_arm_alone():
    figure, shot, tasks, carry = case(0.12)
    tips = {figure.number_of["hand.L"]}
    path = finished(carried_path(figure, shot, tips, carry))
    alone = finished(Natural().solve(replace(shot, tasks=tasks))).states
    others = [n for n in range(len(figure.joints)) if figure.limb("hand.L")[0] not in figure.path(n)]
    now, then = (Geometry(figure.tree, each).frames[:, :, 3] for each in (path.states, alone))
    assert np.abs(now - then)[others].max() < 1e-9
    assert path.met.all()
    assert np.abs(now - then)[figure.tip("hand.L").joint].max() > 0.1


def test_a_hand_that_does_not_reach_the_other_one_leaves_the_body_as_it_is():
    figure, shot, tasks, carry = case(-1.5)
    path = finished(carried_path(figure, shot, {figure.number_of["hand.L"]}, carry))
    alone = finished(Natural().solve(replace(shot, tasks=tasks))).states
    heads = [Geometry(figure.tree, each).heads[:8] for each in (path.states, alone)]
    assert np.abs(heads[0] - heads[1]).max() < 1e-9
    assert not path.met.all()
