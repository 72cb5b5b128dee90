# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of a limb: it reaches, and it is a cycle only where its last frame asks for the same as its first."""

import numpy as np

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.limb_motion import limb_motion
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers.natural import LimbForm

from ..solvers.natural.arms import arm, motion


def lap():
    """A shot that leads the tip of an arm round, near its first pose."""
    tree, states = motion(arm(1), 1)
    task = point_task(Geometry(tree, states).tip(), np.array([1e-4 * tree.size]))
    reference = states.take(np.zeros(len(states), int)).like(states)
    return Shot(tree=tree, reference=reference, tasks=[task], form=LimbForm(has_end=True))


def test_the_same_shot_gives_the_same_bits():
    """Tests of bakes do not see it, as they solve a shot once (tests/remembered.py)."""
    one, other = (finished(limb_motion(lap())).states for _ in range(2))
    assert np.array_equal(one.angles, other.angles)
    assert np.array_equal(one.balls, other.balls)


def test_a_lap_reaches_and_closes_and_a_part_of_it_is_no_cycle():
    shot = lap()
    tree = shot.tree
    assert shot.closes
    half = np.arange(30)
    assert not shot.take(half).closes
    path = finished(limb_motion(shot))
    assert path.met.all()
    rotations = tree.rotations(path.states)
    assert np.abs((rotations[..., 0] * rotations[..., -1]).sum(1)).min() > 1.0 - 1e-9
