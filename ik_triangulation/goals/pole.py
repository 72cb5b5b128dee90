# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole, to which a chain bends: as a soft goal, and as a task for many poses at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import atan2

import numpy as np
from mathutils import Quaternion, Vector

from ..kinematics import Pose
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry, Tree
from ..kinematics.batch.algebra import at, cross, dot, lengths, rotate_back
from ..kinematics.rotation import rejection
from .goal import JointAxis, Residual
from .shapes import check_finite, check_weight
from .task import AngleTask, Missing, columns_of, steps_between

_STRAIGHT = 1e-4  # of the reach: a smaller bend has no direction


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

    As in goals.pole, the direction of the bend is the sum of the joints' offsets from that line.
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
