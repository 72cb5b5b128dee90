# SPDX-License-Identifier: GPL-3.0-or-later
"""Orientation of the end effector, whole, of one axis, or looking at a point: as soft goals, and as tasks for many.

Source: "Inverse Kinematics" (seed document gradient-methods), soft constraints, and the direction bonus of seed
document quaternion-ccd. Residuals are rotation vectors [rad].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry
from ..kinematics.batch.algebra import at, compose, cross, dot, lengths, rotate, rotate_back, square_to, turn_vectors
from ..kinematics.rotation import angle_between, rejection, rotation_angle, rotation_between, rotation_vector
from .goal import JointAxis, Residual, SoftGoal
from .shapes import check_finite, check_weight
from .task import AngleTask, Missing, columns_of, steps_between

_LOOKING_BONE, _TIP = Vector((0.0, 1.0, 0.0)).freeze(), Vector((0.0, 0.0, 0.0)).freeze()
_LEAST_DISTANCE = 1e-6  # of the reach: a point nearer than that is in no direction

_BONE = Vector((0.0, 1.0, 0.0)).freeze()

_ALIGNED = 1e-9  # sine below which two directions have no axis between them

_NEAREST = 1e-3  # of the distance that counts as much as a radian: a point nearer than that is in no direction


@dataclass(frozen=True)
class LookAt:
    """Point `axis` of the end effector, by default its bone, at `point` (armature space).

    The look begins at `origin`, seen from the end effector in its own axes [Blender units]: the eyes of a head whose
    end effector is its crown. With `up`, a direction in those axes too, the natural solver turns it to the side about
    what that is at rest, and then up or down, so that a face does not roll.
    """

    point: Vector
    axis: Vector = _LOOKING_BONE
    origin: Vector = _TIP
    up: Vector | None = None
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Look At", (*self.point, *self.axis, *self.origin, *(self.up or ())))
        check_weight("Look At", self.weight)
        if not self.axis.length:
            raise SettingError("The axis that looks has no length. Give it one.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] from the axis of the end effector to the point."""
        return self.missing_at(pose.tip, pose.tip_rotation)

    def missing_at(self, place: Vector, rotation: Quaternion) -> float:
        """Angle [rad] from the axis of an end effector there, armature space, to the point."""
        return angle_between(rotation @ self.axis, self.point - place - rotation @ self.origin)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        eye, now = pose.tip + pose.tip_rotation @ self.origin, (pose.tip_rotation @ self.axis).normalized()
        line = self.point - eye
        distance = max(line.length, _LEAST_DISTANCE * pose.chain.reach)
        line = line / distance
        missing = rotation_vector(rotation_between(now, line))
        # The axis turns with the joint, and the line to the point by the motion of the eye.
        turns = [rejection(dof.angular_velocity, now) + line.cross(dof.velocity(eye)) / distance for dof in dofs]
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * turn[n] for turn in turns]


@dataclass(frozen=True)
class Orientation:
    """Orient the end effector like `rotation` (armature space)."""

    rotation: Quaternion
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Orientation", self.rotation)
        check_weight("Orientation", self.weight)
        if not self.rotation.magnitude:
            raise SettingError("The orientation is no rotation. Give it a unit quaternion.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] from the orientation of the end effector to `rotation`."""
        return self.missing_at(pose.tip_rotation)

    def missing_at(self, rotation: Quaternion) -> float:
        """Angle [rad] from an orientation of the end effector (armature space) to `rotation`."""
        return rotation_angle(rotation, self.rotation)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        missing = rotation_vector(self.rotation @ pose.tip_rotation.conjugated())
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * dof.angular_velocity[n] for dof in dofs]


@dataclass(frozen=True)
class Direction:
    """Point `axis` of the end effector, by default its bone, along `direction` (armature space)."""

    direction: Vector
    axis: Vector = _BONE
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Direction", (*self.direction, *self.axis))
        check_weight("Direction", self.weight)
        if not (self.direction.length and self.axis.length):
            raise SettingError("The direction to point along, or the axis to point, has no length. Give it one.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] from the axis of the end effector to `direction`."""
        return self.missing_at(pose.tip_rotation)

    def missing_at(self, rotation: Quaternion) -> float:
        """Angle [rad] from the axis of an end effector of this orientation (armature space) to `direction`."""
        return angle_between(rotation @ self.axis, self.direction)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        now = pose.tip_rotation @ self.axis
        missing = rotation_vector(rotation_between(now, self.direction))
        across = [rejection(dof.angular_velocity, now) for dof in dofs]  # a twist about the axis changes nothing
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * axis[n] for axis in across]


def missing_angle(soft: Sequence[SoftGoal], place: Vector, rotation: Quaternion) -> float | None:
    """Angle [rad] from an end effector there, armature space, to the wanted orientation; None without one."""
    angles = [goal.missing_at(rotation) for goal in soft if isinstance(goal, Orientation | Direction)]
    angles += [goal.missing_at(place, rotation) for goal in soft if isinstance(goal, LookAt)]
    return max(angles, default=None)


@dataclass(frozen=True, kw_only=True)
class OrientTask(AngleTask):
    """Turn an end effector to `rotation` (3, 3, F or 1), armature space."""

    rotation: Numbers
    count = 3

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing."""
        return self.missing_to(self.rotation, geometry)

    def missing_to(self, rotation: Numbers, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing to another rotation (3, 3, F or 1)."""
        missing = turn_vectors(compose(rotation, geometry.tip_rotation(self.tip).swapaxes(0, 1)))
        return Missing(missing * self.length, lengths(missing))

    def rows(
        self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers, joint: int | None = None
    ) -> None:
        """Write the axes of the columns."""
        columns, _ = columns_of(geometry.tree, self.tip, joint)
        for i in range(3):
            out[i, columns] = axes[columns, i] * self.length

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Angles of the rotation from pose to pose."""
        seen = compose(root.swapaxes(0, 1), self.rotation)
        return lengths(turn_vectors(compose(seen[..., 1:], seen[..., :-1].swapaxes(0, 1)))) * self.length

    def take(self, columns: Columns) -> OrientTask:
        """The task of those poses."""
        return replace(self, rotation=at(self.rotation, columns), tolerance=at(self.tolerance, columns))


@dataclass(frozen=True, kw_only=True)
class AlongTask(AngleTask):
    """Point `axis` (3, 1), a unit vector of the end effector, along `direction` (3, F or 1), unit, armature space."""

    axis: Numbers
    direction: Numbers
    count = 2

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing, by their two parts orthogonal to the axis."""
        rotation, (x, y, z) = geometry.tip_rotation(self.tip), self.axis
        now = rotation[:, 0] * x + rotation[:, 1] * y + rotation[:, 2] * z
        direction = np.broadcast_to(self.direction, now.shape)
        turn = cross(now, direction)
        sine, cosine = lengths(turn), dot(now, direction)
        off = np.arctan2(sine, cosine)
        u, v = square_to(now)
        parallel = sine <= _ALIGNED
        turn = np.where(parallel, u, turn / np.where(parallel, 1.0, sine)) * off
        return Missing(np.stack((dot(u, turn), dot(v, turn))) * self.length, off, (u, v))

    def rows(
        self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers, joint: int | None = None
    ) -> None:
        """Write the axes of the columns, without their part along the axis that is pointed."""
        columns, _ = columns_of(geometry.tree, self.tip, joint)
        for i, across in enumerate(measured.more):
            out[i, columns] = dot(axes[columns], across) * self.length

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the end of a unit vector along the direction."""
        return steps_between(rotate_back(root, self.direction)) * self.length

    def take(self, columns: Columns) -> AlongTask:
        """The task of those poses."""
        return replace(self, direction=at(self.direction, columns), tolerance=at(self.tolerance, columns))


@dataclass(frozen=True, kw_only=True)
class LookTask(AngleTask):
    """Point `axis` (3, 1), a unit vector of the end effector, at `point` (3, F or 1), armature space.

    The look begins at `origin` (3, 1), seen from the end effector in its own axes; without it there. `up` (3, 1)
    are those of goals.orientation.
    """

    axis: Numbers
    point: Numbers
    origin: Numbers | None = None
    up: Numbers | None = None
    count = 2

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing, by their two parts orthogonal to the axis."""
        direction, _ = self.line(geometry)
        return self._along(direction).measure(geometry)

    def rows(
        self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers, joint: int | None = None
    ) -> None:
        """Write the axes of the columns, and the turn of the line to the point that the tip's own motion makes."""
        tree = geometry.tree
        columns, joints = columns_of(tree, self.tip, joint)
        direction, distance = self.line(geometry)
        velocity = cross(axes[columns], self.eye(geometry) - geometry.heads[joints])
        for i, across in enumerate(measured.more):
            aside = cross(across, direction) / distance  # across . (direction x v) / distance = aside . v
            out[i, columns] = (dot(axes[columns], across) + dot(velocity, aside)) * self.length
            out[i, len(tree.joint_of) :] = (tree.root_ways @ aside) * (self.length * tree.size)

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the point, at most of a direction that turns as far as the point moves."""
        return lengths(np.diff(rotate_back(root, self.point - place), axis=-1))

    def take(self, columns: Columns) -> LookTask:
        """The task of those poses."""
        return replace(self, point=at(self.point, columns), tolerance=at(self.tolerance, columns))

    def eye(self, geometry: Geometry) -> Numbers:
        """Places (3, F) where the look begins."""
        place = geometry.tip(self.tip)
        if self.origin is not None:
            place = place + rotate(geometry.tip_rotation(self.tip), self.origin)
        return place

    def line(self, geometry: Geometry) -> tuple[Numbers, Numbers]:
        """Return the direction (3, F) to the point, shorter than 1 where that is at the eye, and its distance (F)."""
        line = self.point - self.eye(geometry)
        distance: Numbers = np.maximum(lengths(line), _NEAREST * self.length)
        return line / distance, distance

    def _along(self, direction: Numbers) -> AlongTask:
        return AlongTask(
            axis=self.axis, direction=direction, length=self.length, tolerance=self.tolerance, tip=self.tip
        )
