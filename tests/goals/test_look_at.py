# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at a point turns an axis of the tip to it, wherever the tip is, and its residuals know their derivatives."""

from math import degrees, pi
from random import Random

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.goals import Anywhere, Goal, LookAt, Point
from ik_triangulation.goals.goal import JointAxis
from ik_triangulation.kinematics import Chain, Free, Joint, Pose
from ik_triangulation.solvers import SOLVERS, solve_goal
from ik_triangulation.solvers.solve import SolverSettings

from ..chains import mixed, random_base, random_direction

AXES = [Vector(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
FACE = Vector((0.0, 0.0, 1.0))


def head(joints=2):
    """A neck and head along Y, whose face is Z."""
    links = tuple(Joint(f"B{i}", Vector((0.0, 0.5 * (i > 0), 0.0)), Quaternion(), Free(), 0.0) for i in range(joints))
    chain = Chain(links, Vector((0.0, 0.5, 0.0)))
    return Pose(chain, Matrix.Identity(4), [Quaternion() for _ in links])


def turned(pose, joint, axis, angle):
    """The pose with a joint turned about an axis in armature space."""
    frame = pose.frame(joint).to_quaternion()
    rotations = [rotation.copy() for rotation in pose.rotations]
    rotations[joint] = rotations[joint] @ Quaternion(frame.conjugated() @ axis, angle)
    return Pose(pose.chain, pose.base, rotations)


def test_the_derivatives_of_its_residuals_are_those_of_the_angle_that_is_missing():
    random = Random(4)
    for _ in range(10):
        chain = mixed(3, random.randrange(100))
        pose = Pose(chain, random_base(random), [Quaternion() for _ in chain.joints])
        eye = Vector((0.0, -0.2, 0.1))
        look = LookAt(pose.tip + random_direction(random) * 3.0, random_direction(random), eye)
        for joint in range(len(chain.joints)):
            for axis in AXES:
                (dof,) = [JointAxis(joint, axis, pose.head(joint), 1.0)]
                rows = list(look.residuals(pose, [dof]))
                slope = sum(value * row[0] for value, row in rows)
                ends = [look.missing(turned(pose, joint, axis, sign * 1e-2)) ** 2 for sign in (1.0, -1.0)]
                assert slope == pytest.approx(0.5 * (ends[0] - ends[1]) / 2e-2, abs=2e-2)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("joints", [1, 2, 3])
def test_every_solver_turns_a_face_to_a_point(solver, joints):
    look = LookAt(Vector((1.0, 1.0, 2.0)), FACE, Vector((0.0, -0.25, 0.0)))
    found = solve_goal(head(joints), Goal(Anywhere(), (look,)), SolverSettings(solver=solver))
    assert found.reached
    assert degrees(look.missing(found.pose)) < 0.1


def test_the_natural_solver_keeps_a_face_upright():
    look = LookAt(Vector((2.0, 1.5, 2.0)), FACE, Vector(), Vector((0.0, 1.0, 0.0)))
    found = solve_goal(head(), Goal(Anywhere(), (look,)), SolverSettings(solver="NATURAL"))
    side = found.pose.tip_rotation @ Vector((1.0, 0.0, 0.0))
    assert abs(side.y) < 1e-3
    assert look.missing(found.pose) < 1e-3


def test_a_point_behind_and_one_at_the_eye_give_a_finite_pose():
    for point in (Vector((0.0, 1.0, -3.0)), Vector((0.0, 1.0, 0.0))):
        look = LookAt(point, FACE)
        for solver in ("NATURAL", "TRIANGULATION"):
            pose = solve_goal(head(), Goal(Anywhere(), (look,)), SolverSettings(solver=solver)).pose
            assert all(abs(rotation.magnitude - 1.0) < 1e-3 for rotation in pose.rotations)
            assert look.missing(pose) <= pi


def test_an_axis_without_length_is_refused():
    with pytest.raises(SettingError, match="no length"):
        LookAt(Vector((1, 0, 0)), Vector())


def test_a_limb_without_a_place_to_reach_is_everywhere_right():
    assert Anywhere().closest(Vector((1, 2, 3))) == Vector((1, 2, 3))
    assert Anywhere().least_distance(Vector((1, 2, 3))) == 0.0
    assert Point(Vector()).least_distance(Vector((1, 0, 0))) == 1.0
