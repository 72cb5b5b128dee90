# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft constraints: what a pose shall be like besides reaching, as far as reaching and the limits leave room.

Source: "Inverse Kinematics" (seed document gradient-methods), soft constraints, and the direction bonus of
seed document quaternion-ccd. Deviation: the source adds them to the error, so that they pull the tip off the target;
here reaching comes first (see solvers/null_space.py) and they share what freedom is left by their weights.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atan2, isfinite
from typing import NamedTuple, Protocol

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.rotation import angle_between, rotation_angle, rotation_between

_STRAIGHT = 1e-4  # of the reach: a chain that bends less points nowhere
_BONE = Vector((0.0, 1.0, 0.0)).freeze()


class Turn(NamedTuple):
    """One way in which a joint can turn: about `axis` through `head` (armature space), what comes after it follows.

    `weight` is how willing it is, and scales what it does.
    """

    joint: int
    axis: Vector
    head: Vector
    weight: float

    @property
    def turns(self) -> Vector:
        """How what comes after the joint turns with it [rad]."""
        return self.axis * self.weight

    def moves(self, point: Vector) -> Vector:
        """How a point beyond the joint moves with it [Blender units]."""
        return Vector(self.turns.cross(point - self.head))


Row = tuple[float, list[float]]  # a number that shall be 0, and how it changes with each turn


class Soft(Protocol):
    """Something to come near to; the cost is half the sum of the squares of its numbers.

    `can_be_met` says whether those can all be 0, so that it is worth looking for another pose where they are not.
    """

    can_be_met: bool

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        """The numbers that shall be 0, weighted [rad, or lengths as shares of the reach], and their derivatives."""


@dataclass(frozen=True)
class Orientation:
    """The end effector shall be oriented like `rotation` (armature space)."""

    rotation: Quaternion
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        _check("Orientation", self.weight, self.rotation)
        if not self.rotation.magnitude:
            raise SettingError("The orientation is no rotation. Give it a unit quaternion.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] between the end effector's orientation and this."""
        return rotation_angle(pose.tip_rotation, self.rotation)

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        missing = rotation_vector(self.rotation @ pose.tip_rotation.conjugated())
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * turn.turns[n] for turn in turns]


@dataclass(frozen=True)
class Direction:
    """The end effector's own `axis`, by default along its bone, shall point along `direction` (armature space)."""

    direction: Vector
    axis: Vector = _BONE
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        _check("Direction", self.weight, (*self.direction, *self.axis))
        if not (self.direction.length and self.axis.length):
            raise SettingError("The direction to point along, or the axis to point, has no length. Give it one.")

    def missing(self, pose: Pose) -> float:
        """Angle [rad] between where the end effector points and this."""
        return angle_between(pose.tip_rotation @ self.axis, self.direction)

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        now = pose.tip_rotation @ self.axis
        missing = rotation_vector(rotation_between(now, self.direction))
        across = [_beside(turn.turns, now) for turn in turns]  # turning about itself changes nothing
        for n in range(3):
            yield self.weight * missing[n], [-self.weight * axis[n] for axis in across]


@dataclass(frozen=True)
class Pole:
    """The chain shall bend towards `location` (armature space), turned by `angle` [rad] about root to tip.

    The bend is the mean of the joints' places beside the line from root to tip.
    """

    location: Vector
    angle: float = 0.0
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        _check("Pole", self.weight, (*self.location, self.angle))

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        root, nowhere = pose.head(0), _STRAIGHT * pose.chain.reach
        line = pose.tip - root
        if line.length <= nowhere:
            return
        line.normalize()
        inner = range(1, len(pose))
        bend = _beside(sum((pose.head(i) - root for i in inner), Vector()), line)
        pole = _beside(self.location - root, line)
        if bend.length <= nowhere or pole.length <= nowhere:
            return
        pole = Quaternion(line, self.angle) @ pole
        missing = atan2(bend.cross(pole).dot(line), bend.dot(pole))
        around = line.cross(bend) / bend.length_squared  # how the bend's angle changes as the bend moves
        changes = [sum(turn.moves(pose.head(i)).dot(around) for i in inner if i > turn.joint) for turn in turns]
        yield self.weight * missing, [-self.weight * change for change in changes]


def cost_of(pose: Pose, soft: Sequence[Soft]) -> float:
    """What the soft constraints cost at a pose."""
    return 0.5 * sum(number * number for each in soft for number, _ in each.rows(pose, ()))


def rotation_vector(rotation: Quaternion) -> Vector:
    """Axis times angle [rad] of a rotation, the shorter way round."""
    vector = Vector((rotation.x, rotation.y, rotation.z))
    sine = vector.length
    if not sine:
        return vector
    return vector * (2.0 * atan2(sine, abs(rotation.w)) / (sine if rotation.w >= 0.0 else -sine))


def _beside(vector: Vector, line: Vector) -> Vector:
    return vector - line * vector.dot(line)


def _check(name: str, weight: float, numbers: Sequence[float]) -> None:
    check_finite(name, numbers)
    check_weight(name, weight)


def check_finite(name: str, numbers: Iterable[float]) -> None:
    """Raise SettingError where one of the numbers is none."""
    if not all(map(isfinite, numbers)):
        raise SettingError(f"{name} is not finite. Check the object it comes from.")


def check_weight(name: str, weight: float) -> None:
    """Raise SettingError for a weight that is none."""
    if not (isfinite(weight) and weight >= 0.0):
        raise SettingError(f"{name} weight {weight} is none. Give it a number from 0 up.")
