# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion of a limb: it reaches, and it is a cycle only where its last frame asks for the same as its first."""

import numpy as np
from mathutils import Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.kinematics import Free, Joint, Locked
from ik_triangulation.kinematics.batch import Geometry, Tree, TreeTip
from ik_triangulation.motion.limb_motion import limb_motion, limbs_of_still_body
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


def test_limbs_that_share_nothing_and_move_alone_are_told_with_their_first_joints():
    def fork(*freedoms, moves_root=False):
        joints = [Joint(f"joint {n}", Vector((0, 1, 0)), Quaternion(), each) for n, each in enumerate(freedoms)]
        tips = [TreeTip(2, Vector((0, 1, 0)), Quaternion(), 2.0), TreeTip(4, Vector((0, 1, 0)), Quaternion(), 2.0)]
        return Tree(joints, [-1, 0, 1, 0, 3], tips, moves_root)

    still, free = Locked(), Free()
    assert limbs_of_still_body(fork(still, free, free, free, free)) == ((1, 0), (3, 1))
    assert limbs_of_still_body(fork(still, still, free, still, still)) == ((2, 0),)
    assert limbs_of_still_body(fork(free, free, free, free, free)) == ()  # they share one
    assert limbs_of_still_body(fork(free, free, free, free, free, moves_root=True)) == ()
    assert limbs_of_still_body(fork(still, still, still, still, still)) == ()
    above = fork(still, still, still, still, free)
    assert limbs_of_still_body(Tree(above.joints, above.parents, above.tips[:1])) == ()  # one moves beside them
