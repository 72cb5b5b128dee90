# SPDX-License-Identifier: GPL-3.0-or-later
"""A head that looks turns to the side and nods: it does not roll, shares the turn with the neck, and keeps a tilt."""

from math import degrees, radians

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.goals.orientation import LookTask
from ik_triangulation.kinematics import Chain, EulerLimits, Free, Joint
from ik_triangulation.kinematics.batch import Geometry, States, Tree
from ik_triangulation.solvers.natural.looking import turned_to_look

FACE, UP = np.array([[0.0], [0.0], [1.0]]), np.array([[0.0], [1.0], [0.0]])
LIMITS = EulerLimits("YXZ", (-1.0, -1.2, -0.9), (1.0, 1.2, 0.9))


def tree(freedom, joints=2):
    """A neck and head along Y, whose face is Z."""
    links = tuple(Joint(f"B{i}", Vector((0.0, 0.1 * (i > 0), 0.0)), Quaternion(), freedom, 0.0) for i in range(joints))
    return Tree.of(Chain(links, Vector((0.0, 0.2, 0.0))))


def looked(tree, points, start=None, up=UP):
    """The tree at rest, or with rotations (n, 4) at first, turned to points (3, F)."""
    count = points.shape[1]
    turns = np.zeros((len(tree.joints), 4, count))
    turns[:, 0] = 1.0
    if start is not None:
        turns[:] = np.array(start)[:, :, None]
    none = np.empty((0, count)), np.empty((0, 4, count))
    frame = np.eye(3)[:, :, None], np.zeros((3, 1))
    begun = tree.posed(turns, States(*none, turns[tree.held], *frame))
    task = LookTask(axis=FACE, point=points, length=0.1, tolerance=np.array([1e-3]), up=up)
    return begun, task, turned_to_look(tree, begun, [task], tree.compliance)


def rolls(geometry):
    """Angle (F) [degrees] of the head's side to the ground."""
    return np.degrees(np.arcsin(geometry.tip_rotation()[1, 0]))


POINTS = np.array([[1.0, -2.0, 1.0, 0.3], [1.0, 1.5, -0.6, 0.2], [1.2, 2.0, 1.0, 1.0]])


@pytest.mark.parametrize("freedom", [Free(), LIMITS], ids=["free", "limited"])
def test_a_head_looks_without_a_roll_and_the_neck_takes_its_share(freedom):
    one = tree(freedom)
    _, task, found = looked(one, POINTS)
    geometry = Geometry(one, found)
    assert degrees(task.measure(geometry).off.max()) < (0.5 if freedom == Free() else 3.0)
    assert np.abs(rolls(geometry)).max() < (0.1 if freedom == Free() else 3.0)
    turns = 2.0 * np.arccos(np.minimum(1.0, np.abs(one.rotations(found)[:, 0])))
    assert turns.min() > radians(4.0)


def test_a_tilt_made_by_hand_stays():
    one, tilt = tree(Free(), 1), Quaternion((0, 0, 1), radians(20.0))
    _, task, found = looked(one, POINTS, [tilt[:]])
    geometry = Geometry(one, found)
    assert degrees(task.measure(geometry).off.max()) < 0.5
    side, forward = geometry.tip_rotation()[:, 0], geometry.tip_rotation()[:, 2]
    level = np.cross(UP[:, 0], forward.T).T
    level /= np.sqrt((level**2).sum(0))
    angles = np.degrees(np.arccos((side * level).sum(0)))
    assert angles == pytest.approx(20.0, abs=0.5)


def test_what_needs_no_turn_or_has_no_upright_stays_as_it_is():
    one = tree(Free())
    begun, _, found = looked(one, np.array([[0.0], [0.3], [2.0]]))
    assert np.abs(found.balls - begun.balls).max() < 1e-6
    begun, _, found = looked(one, POINTS, up=None)  # an eye
    assert found is begun


def test_a_point_that_passes_overhead_does_not_make_the_head_spin():
    one, way = tree(Free()), np.linspace(-1.0, 1.0, 41)
    _, task, found = looked(one, np.array([0.02 + 0.0 * way, 2.0 + 0.0 * way, 0.3 + 0.3 * way]))
    assert np.isfinite(found.balls).all()
    turned = 2.0 * np.arccos(np.minimum(1.0, np.abs((found.balls[..., 1:] * found.balls[..., :-1]).sum(1))))
    assert np.degrees(turned.max()) < 5.0
    assert degrees(task.measure(Geometry(one, found)).off.max()) < 0.5
