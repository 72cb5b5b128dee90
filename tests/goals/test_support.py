# SPDX-License-Identifier: GPL-3.0-or-later
"""A centre of mass is brought above its support, and left alone while it is there."""

import numpy as np
import pytest

from ik_triangulation.goals.support import BalanceTask, Support
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.kinematics.body_anatomy import ARM_PARTS
from scripts.benchmarks import humanoid

from ..trees import centre_of_mass
from .test_task import derivatives, rows_of

UP = np.array([0.0, 0.0, 1.0])
SQUARE = np.array([[0, 0, 0.3], [1, 0, 0], [0.5, 0.5, 9], [1, 1, 0], [0, 1, -1]], float)[:, :, None]
FIGURE = humanoid.body()


def under(contacts, up=UP, margin=0.0):
    return Support.under(np.array(contacts, float), np.array(up, float), margin)


def seen(support, points):
    return support.across @ np.array(points, float).T


def balance(corner):
    """Balance of the humanoid above a square that begins at a corner."""
    masses = np.array([segment.mass for segment in FIGURE.segments])
    centres = np.array([segment.centre[:] for segment in FIGURE.segments])[..., None]
    support = under(SQUARE + np.array([*corner, 0.0])[:, None])
    return BalanceTask(masses=masses / masses.sum(), centres=centres, support=support, tolerance=np.array([1e-3]))


def states(seed=1, count=6):
    found = humanoid.random_states(FIGURE, count, np.random.default_rng(seed))
    middle = 0.5 * (FIGURE.tree.lower + FIGURE.tree.upper)
    found.angles = middle + 0.8 * (found.angles - middle)  # away from the ends, so that no change is shortened
    return found


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.3, -0.8, 0.5)])
def test_points_inside_stay_and_others_go_to_the_nearest_side_or_corner_whatever_is_up(up):
    up = np.array(up, float) / np.linalg.norm(up)
    turn = np.linalg.svd(up[None])[2][[1, 2, 0]]  # two directions across, then up
    support = under(np.einsum("kij,il->klj", SQUARE, turn), up)
    inside, side, corner = (np.array([*place, 5.0]) @ turn for place in ((0.4, 0.6), (0.4, 1.5), (-3.0, -4.0)))
    near, away = support.nearest(seen(support, [inside, side, corner]))
    assert away == pytest.approx([0.0, 0.5, 5.0])
    assert near[:, 0] == pytest.approx(seen(support, [inside])[:, 0])


def test_a_margin_makes_the_area_smaller_towards_its_middle():
    support = under(SQUARE, margin=0.2)
    assert support.nearest(seen(support, [(0.5, 0.0, 0.0)]))[1] == pytest.approx([0.1])


@pytest.mark.parametrize(("contacts", "away"), [([(0, 0, 0)], 5.0), ([(0, 0, 0), (2, 0, 0)], 17**0.5)])
def test_a_single_point_and_a_line_are_supports_as_well(contacts, away):
    support = under(np.array(contacts, float)[:, :, None])
    near, distance = support.nearest(seen(support, [(3, 4, 0), (0, 0, 0)]))
    assert distance == pytest.approx([away, 0.0], abs=1e-12)
    assert np.isfinite(near).all()


def test_a_contact_on_a_side_moves_no_area_by_being_a_corner_or_not():
    heels = [np.array([[[0.5], [y], [0.0]]]) for y in (1e-9, -1e-9)]
    inside, corner = (under(np.concatenate((SQUARE, heel)), margin=0.2) for heel in heels)
    points = [(0.5, -1.0, 0.0), (0.1, 2.0, 0.0), (3.0, 0.3, 0.0)]
    found, wanted = (each.nearest(seen(each, points))[1] for each in (corner, inside))
    assert found == pytest.approx(wanted, abs=1e-8)


def test_feet_that_move_have_a_polygon_at_each_frame():
    moved = np.concatenate((SQUARE, SQUARE[::-1] + np.array([3.0, 0.0, 0.0])[:, None], SQUARE[[0] * 5]), -1)
    support = under(moved)
    assert support.nearest(seen(support, [(0.5, 0.5, 0)] * 3))[1] == pytest.approx([0.0, 2.5, 0.5**0.5])
    assert support.take(np.array([1])).nearest(seen(support, [(3.5, 0.5, 0)]))[1] == pytest.approx([0.0])


def test_an_area_widened_to_points_reaches_them_and_no_farther():
    support = under(SQUARE)
    points = seen(support, [(0.4, 0.6, 0), (3.0, 0.5, 0), (0.5, -2.0, 0)])
    wide = support.widened(points)
    assert wide.nearest(points)[1] == pytest.approx([0.0, 0.0, 0.0])
    beyond = seen(support, [(0.4, 1.6, 0), (3.5, 0.5, 0), (0.5, 2.0, 0)])
    assert wide.nearest(beyond)[1] == pytest.approx([0.6, 0.5, 1.0], abs=1e-5)
    assert support.widened(points[:, :1]) is support
    line = under(SQUARE[:1])
    assert line.widened(points).nearest(points)[1] == pytest.approx([0.0] * 3, abs=1e-12)


def test_joints_on_which_others_hang_have_the_centre_of_mass_and_its_levers_of_the_whole():
    task, tree, geometry = balance((0.0, 0.0)), FIGURE.tree, Geometry(FIGURE.tree, states())
    joints = np.flatnonzero(tree.above[:, [tip.joint for tip in tree.tips[:2]]].any(1)).tolist()
    part, at = tree.part(joints, joints, [0]), np.array([0, 3])
    small = Geometry(part, part.posed(tree.rotations(geometry.states)[joints], geometry.states))
    gathered = task.gathered(geometry, joints)
    assert gathered.centre(small) == pytest.approx(task.centre(geometry), abs=1e-12)
    assert gathered.levers(small) == pytest.approx(task.levers(geometry)[joints], abs=1e-12)
    some = gathered.take(at).measure(small.take(at))
    assert some.errors == pytest.approx(task.measure(geometry).errors[:, at], abs=1e-12)


def test_a_centre_of_mass_may_be_where_poses_have_it_and_is_led_no_farther_out():
    task, some = balance((20.0, 30.0)), states()
    geometry = Geometry(FIGURE.tree, some)
    allowing = task.allowing(geometry)
    assert (task.measure(geometry).off > 10.0).all()
    assert allowing.measure(geometry).off == pytest.approx(0.0, abs=1e-9)
    some.place = some.place - np.array([[1.0], [1.0], [0.0]])
    assert (allowing.measure(Geometry(FIGURE.tree, some)).off > 1.0).all()


def test_the_error_shrinks_along_the_rows():
    task, some = balance((20.0, 30.0)), states()
    rows, measured = rows_of(task, Geometry(FIGURE.tree, some))
    assert (measured.off > 10.0).all()
    arms = np.array([FIGURE.tree.anatomy.parts[j] in ARM_PARTS for j in FIGURE.tree.joint_of])
    others = np.append(~arms, [True] * len(FIGURE.tree.root_ways))
    assert arms.any()
    assert np.abs(rows - derivatives(task, FIGURE.tree, some))[:, others].max() < 1e-6
    assert not rows[:, ~others].any(), "arms do not swing out"


def test_there_is_nothing_to_do_inside():
    some = states()
    centre = balance((0.0, 0.0)).centre(Geometry(FIGURE.tree, some))
    some.place = some.place + np.array([[0.5], [0.5], [0.0]]) - centre * [[1.0], [1.0], [0.0]]
    rows, measured = rows_of(balance((0.0, 0.0)), Geometry(FIGURE.tree, some))
    assert not measured.off.any()
    assert not measured.errors.any()
    assert not rows.any()


def test_the_centre_is_that_of_the_pose():
    pose = humanoid.standing(FIGURE)
    found = balance((0.0, 0.0)).centre(Geometry(FIGURE.tree, states_of([pose])))
    assert found[:, 0] == pytest.approx(centre_of_mass(pose)[:], abs=1e-6)
