# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand whose place out of reach is carried by the body's own chest or hips: what it comes to, and how calmly."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import CarriedTask, hold_tasks, point_task
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import dot, lengths, rotate_back
from ik_triangulation.motion.body_easing import largest_turns
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.far_goals import drawn_in, far_tips
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers.batch.change import System
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, stands

FIGURE = humanoid.body()
TREE, HAND, FRAMES = FIGURE.tree, FIGURE.number_of[HANDS[0]], 12
SHOULDER = next(limb.upper for limb in TREE.anatomy.limbs if TREE.above[limb.end, TREE.tips[HAND].joint])
CHEST = TREE.parents[TREE.parents[SHOULDER]]


def carried(joint, way):
    """A stand at all frames, and its tasks: held feet, and a hand on a way and back in the frame of a joint."""
    reference = stands(FIGURE, FRAMES)
    geometry = Geometry(TREE, reference)
    share = np.sin(np.pi * np.arange(FRAMES) / (FRAMES - 1))
    places = geometry.tip(HAND) + np.array(way)[:, None] * share
    frame = geometry.frames[joint]
    own = point_task(rotate_back(frame[:, :3], places - frame[:, 3]), np.array([1e-3]))
    task = CarriedTask(task=replace(own, tip=HAND, level=Level.REACH), carriers={joint: np.ones(1)})
    return reference, [*hold_tasks(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None]), task]


@pytest.mark.parametrize(("joint", "way"), [(CHEST, (0.8, -1.0, 0.4)), (0, (0.5, -1.2, 0.6))])
def test_a_place_that_the_body_carries_is_drawn_in_to_where_all_goals_are_met(joint, way):
    reference, tasks = carried(joint, way)
    far = far_tips(TREE, reference, tasks)
    assert set(far) == {HAND}
    near = drawn_in(TREE, reference, tasks, far)
    states, met = finished(body_path(Shot(tree=TREE, reference=reference, tasks=near)))
    assert met.all()
    assert System(TREE, states, tasks).met[[0, -1]].all()


def test_an_arm_points_from_the_shoulder_to_what_the_chest_carries_out_of_its_reach():
    reference, tasks = carried(CHEST, (0.8, -1.0, 0.4))
    states, met = finished(body_path(Shot(tree=TREE, reference=reference, tasks=tasks)))
    assert not met[FRAMES // 2]
    geometry = Geometry(TREE, states)
    arm = geometry.tip(HAND) - geometry.heads[SHOULDER]
    wanted = arm + tasks[-1].measure(geometry).errors
    off = np.degrees(np.arccos(dot(arm, wanted) / lengths(arm) / lengths(wanted)))
    assert off[FRAMES // 2] < 6.0
    assert System(TREE, states, tasks[:-1]).met.all()
    assert np.degrees(largest_turns(TREE, states).max()) < 35.0
