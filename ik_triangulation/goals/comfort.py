# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences: the pole, comfort, a low centre of gravity, nearness to a pose; as soft goals and as tasks for many.

Source: "Inverse Kinematics - Improved Methods" (seed document gradient-methods), soft constraints: low effort by the
height of the centre of gravity, and comfort. The mass of a link is its length, times the mass of the joint for that, at
the middle of the link. The tasks can never be met, so that they are off by 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import atan2, isfinite, sqrt

import numpy as np
from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry, Tree
from ..kinematics.batch.algebra import at, compose, cross, dot, lengths, matrices, rotate_back, turn_vectors
from ..kinematics.rotation import rejection, rotation_vector
from .goal import JointAxis, Residual
from .shapes import check_finite, check_weight
from .task import AngleTask, Missing, columns_of, steps_between

HANGING = 1e-6  # height below which a chain hangs straight down; the root has no derivative at 0

_STRAIGHT = 1e-4  # of the reach: a smaller bend has no direction


@dataclass(frozen=True)
class Effort:
    """Lower the centre of gravity: `down` is the direction of gravity (armature space)."""

    down: Vector
    weight: float = 1.0
    can_be_met = False

    def __post_init__(self) -> None:
        check_weight("Effort", self.weight)
        if not (all(map(isfinite, self.down)) and self.down.length):
            raise SettingError("Effort needs a direction that is down. Give it one.")

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        up = -self.down.normalized()
        masses = [length * joint.mass for length, joint in zip(pose.lengths, pose.chain.joints, strict=True)]
        middles = [(pose.head(i) + pose.end(i)) / 2.0 for i in range(len(pose))]
        moment = sum((middle * mass for middle, mass in zip(middles, masses, strict=True)), Vector())
        # Divided by that of the chain when it is straight, from 0 for one that hangs straight down to 2. For a single
        # link it is 1 - cos(angle), and the residual sqrt(2 height) is 2 sin(angle / 2), nearly linear, which suits
        # least squares.
        ends = list(accumulate(pose.lengths))
        most = sum(mass * (end - length / 2.0) for mass, end, length in zip(masses, ends, pose.lengths, strict=True))
        height = (moment - pose.head(0) * sum(masses)).dot(up) / most + 1.0
        value = sqrt(2.0 * max(height, HANGING))
        scale = self.weight / (value * most)
        changes = (
            sum(masses[i] * dof.velocity(middles[i]).dot(up) for i in range(dof.joint, len(pose))) for dof in dofs
        )
        yield self.weight * value, [scale * change for change in changes]


@dataclass(frozen=True)
class Near:
    """Keep every joint near its own one of `rotations`, those of a preferred pose.

    Residuals are rotation vectors [rad]. Raises SettingError for a quaternion that is not finite or zero, and for a
    number of rotations other than that of the chain's joints.
    """

    rotations: Sequence[Quaternion]
    weight: float = 1.0
    can_be_met = False

    def __post_init__(self) -> None:
        check_weight("Near", self.weight)
        for number, rotation in enumerate(self.rotations):
            if not (all(map(isfinite, rotation)) and rotation.magnitude):
                raise SettingError(f"Rotation {number} of Near is not valid. Give it a finite, nonzero quaternion.")

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        if len(self.rotations) != len(pose):
            raise SettingError(
                f"Near has {len(self.rotations)} rotations for a chain of {len(pose)} joints. Give it one for each."
            )
        local = [(dof.joint, _in_joint_frame(pose, dof)) for dof in dofs]
        for i, (rotation, wanted) in enumerate(zip(pose.rotations, self.rotations, strict=True)):
            if pose.chain.joints[i].freedom.moves:
                missing = rotation_vector(wanted.normalized() @ rotation.conjugated())
                for n in range(3):
                    row = [-self.weight * axis[n] if joint == i else 0.0 for joint, axis in local]
                    yield self.weight * missing[n], row


def _in_joint_frame(pose: Pose, dof: JointAxis) -> Vector:
    """Angular velocity of a degree of freedom in its joint's own frame, which may be scaled or mirrored."""
    return Vector(pose.into(dof.joint, Quaternion((0.0, *dof.angular_velocity)))[1:])


@dataclass(frozen=True, kw_only=True)
class EffortTask(AngleTask):
    """Lower the centre of gravity of a chain: `up` (3, F or 1) is the unit direction against gravity."""

    up: Numbers
    count = 1

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the height of the centre, from 0 for a chain that hangs straight down to 2 for one straight up."""
        middles, sizes = links_of(geometry)
        masses = sizes * np.array([joint.mass for joint in geometry.tree.joints])[:, None]
        moment = (masses[:, None] * (middles - geometry.heads[0])).sum(0)
        most = (masses * (np.cumsum(sizes, 0) - sizes / 2.0)).sum(0)
        height = dot(moment, np.broadcast_to(self.up, moment.shape)) / most + 1.0
        value = np.sqrt(2.0 * np.maximum(height, HANGING))
        return Missing((value * self.length)[None], np.zeros(len(value)), (middles, masses, value, most))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write by how much each column lowers what is beyond its joint."""
        middles, masses, value, most = measured.more
        moments = np.cumsum((masses[:, None] * middles)[::-1], 0)[::-1]  # of all links from one on
        beyond = np.cumsum(masses[::-1], 0)[::-1]
        levers = moments - beyond[:, None] * geometry.heads
        joints = geometry.tree.joint_of
        lowered = -dot(cross(axes, levers[joints]), np.broadcast_to(self.up, levers.shape[1:])[None])
        out[0, : len(joints)] = lowered * (self.length / (value * most))

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: comfort is no goal that is followed."""
        return np.zeros(0)

    def take(self, columns: Columns) -> EffortTask:
        """The task of those poses."""
        return EffortTask(length=self.length, tolerance=self.tolerance, level=self.level, up=at(self.up, columns))


@dataclass(frozen=True, kw_only=True)
class NearTask(AngleTask):
    """Keep every joint near its own one of `rotations` (n, 4, F or 1), unit quaternions from rest, of `tree`."""

    tree: Tree
    rotations: Numbers

    @property
    def count(self) -> int:
        """Number of rows: three for each joint."""
        return 3 * len(self.tree.joints)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing; those of joints that cannot move do not count."""
        tree, count = self.tree, len(geometry.states)
        now = geometry.frames[:, :, :3]
        turned, wanted = (
            matrices(np.ascontiguousarray(np.broadcast_to(each, (len(tree.joints), 4, count))))
            for each in (tree.rotations(geometry.states), self.rotations)
        )
        missing = np.zeros((len(tree.joints), 3, count))
        for joint in np.unique(tree.joint_of).tolist():
            socket = compose(now[joint], turned[joint].swapaxes(0, 1))
            missing[joint] = turn_vectors(compose(compose(socket, wanted[joint]), now[joint].swapaxes(0, 1)))
        return Missing(missing.reshape(-1, count) * self.length, np.zeros(count))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the axes of each joint's own columns."""
        for column, joint in enumerate(self.tree.joint_of.tolist()):
            out[3 * joint : 3 * joint + 3, column] = axes[column] * self.length

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: comfort is no goal that is followed."""
        return np.zeros(0)

    def take(self, columns: Columns) -> NearTask:
        """The task of those poses."""
        rotations = at(self.rotations, columns)
        return NearTask(
            length=self.length, tolerance=self.tolerance, level=self.level, tree=self.tree, rotations=rotations
        )


def links_of(geometry: Geometry) -> tuple[Numbers, Numbers]:
    """Return the middles (n, 3, F) and lengths (n, F) of the links of a chain."""
    ends = np.concatenate((geometry.heads[1:], geometry.tip()[None]))
    return (geometry.heads + ends) / 2.0, lengths(ends - geometry.heads)


@dataclass(frozen=True)
class Pole:
    """Bend the chain towards `location` (armature space), rotated by `angle` [rad] about the line from root to tip.

    The direction of the bend is the sum of the offsets of the joints from that line. The residual is the swivel angle
    from there to the pole [rad]; a straight chain, or a pole on the line, has none.
    """

    location: Vector
    angle: float = 0.0
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_finite("Pole", (*self.location, self.angle))
        check_weight("Pole", self.weight)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        root, nowhere = pose.head(0), _STRAIGHT * pose.chain.reach
        line = pose.tip - root
        if line.length <= nowhere:
            return
        line.normalize()
        inner = range(1, len(pose))
        bend = rejection(sum((pose.head(i) - root for i in inner), Vector()), line)
        pole = rejection(self.location - root, line)
        if bend.length <= nowhere or pole.length <= nowhere:
            return
        pole = Quaternion(line, self.angle) @ pole
        missing = atan2(bend.cross(pole).dot(line), bend.dot(pole))
        around = line.cross(bend) / bend.length_squared  # gradient of the swivel angle by the bend
        changes = [sum(dof.velocity(pose.head(i)).dot(around) for i in inner if i > dof.joint) for dof in dofs]
        yield self.weight * missing, [-self.weight * change for change in changes]


@dataclass(frozen=True, kw_only=True)
class PoleTask(AngleTask):
    """Bend a limb towards `location` (3, F or 1), rotated by `angle` (F or 1) [rad] about the line from root to tip.

    As in Pole, the direction of the bend is the sum of the joints' offsets from that line.
    """

    location: Numbers
    angle: Numbers
    count = 1

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the swivel angle that is missing; a straight limb, or a pole on its line, misses nothing."""
        inner = _inner(geometry.tree, self.tip)
        tip = geometry.tree.tips[self.tip]
        root, nowhere = geometry.heads[tip.first], _STRAIGHT * tip.reach
        line = geometry.tip(self.tip) - root
        length = lengths(line)
        line = line / np.maximum(length, 1e-300)
        offset = geometry.heads[inner].sum(0) - len(inner) * root
        bend = offset - line * dot(offset, line)
        pole = np.broadcast_to(self.location, root.shape) - root
        pole = pole - line * dot(pole, line)
        pole = pole * np.cos(self.angle) + cross(line, pole) * np.sin(self.angle)
        size = lengths(bend)
        defined = (length > nowhere) & (size > nowhere) & (lengths(pole) > nowhere)
        missing = np.where(defined, np.arctan2(dot(cross(bend, pole), line), dot(bend, pole)), 0.0)
        around = np.where(defined, cross(line, bend) / np.where(defined, size * size, 1.0), 0.0)
        return Missing((missing * self.length)[None], np.abs(missing), (around,))

    def rows(
        self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers, joint: int | None = None
    ) -> None:
        """Write the velocities of the bend around the line, which each column gives to the joints beyond its own."""
        tree, (around,) = geometry.tree, measured.more
        inner = _inner(tree, self.tip)
        columns, joints = columns_of(tree, self.tip, joint)
        beyond = tree.above[:, inner].astype(float)
        beyond[inner, np.arange(len(inner))] = 0.0  # a joint does not move its own head
        heads, first = geometry.heads, tree.tips[self.tip].first
        before = tree.above[:, first].copy()  # joints that move the root of the limb as well
        before[first] = False
        pivots = np.where(before[:, None, None], heads[first], heads)
        lever = np.tensordot(beyond, heads[inner], 1) - beyond.sum(1)[:, None, None] * pivots
        out[0, columns] = dot(cross(axes[columns], lever[joints]), around) * self.length

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the pole."""
        return steps_between(rotate_back(root, self.location - place))

    def take(self, columns: Columns) -> PoleTask:
        """The task of those poses."""
        location, angle = at(self.location, columns), at(self.angle, columns)
        return replace(self, location=location, angle=angle, tolerance=at(self.tolerance, columns))


def _inner(tree: Tree, number: int) -> list[int]:
    """Joints of a limb after its first one."""
    tip = tree.tips[number]
    return [
        j for j in range(len(tree.joints)) if tree.above[j, tip.joint] and tree.above[tip.first, j] and j != tip.first
    ]
