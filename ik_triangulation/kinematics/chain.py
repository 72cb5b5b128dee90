# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain of joints at rest, with the constants that its poses share."""

from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from .freedom import Free, Freedom
from .joint import Joint
from .pose import Pose
from .workspace import reaches

LENGTH_ROUNDING = 1e-6  # of the reach: distances that single precision cannot distinguish


@dataclass(frozen=True)
class Chain:
    """Joints from the root to the tip, and the end effector in the last joint's frame.

    `tip` is the position of the end effector [Blender units], `tip_rest` its orientation, which differs from the
    joint's where immobile bones follow. Raises ChainError for no joints at all, for a position or orientation that is
    not finite, and for a stiffness outside 0..1.
    """

    joints: tuple[Joint, ...]
    tip: Vector
    tip_rest: Quaternion = field(default_factory=Quaternion)

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "tip", Vector(self.tip).freeze())
        object.__setattr__(self, "tip_rest", Quaternion(self.tip_rest).freeze())
        if not self.joints:
            raise ChainError("A chain needs at least one joint. Choose the bones to solve.")
        for joint in self.joints:
            if not all(map(isfinite, (*joint.offset, *joint.rest))):
                raise ChainError(f"Bone '{joint.name}' has an invalid rest pose. Re-create it in Edit Mode.")
            if not 0.0 <= joint.stiffness <= 1.0:
                raise ChainError(f"Bone '{joint.name}' has a stiffness of {joint.stiffness}. Give it one from 0 to 1.")
        if not all(map(isfinite, (*self.tip, *self.tip_rest))):
            raise ChainError(f"Bone '{self.joints[-1].name}' has an invalid tail. Re-create it in Edit Mode.")

    @cached_property
    def offsets(self) -> tuple[Vector, ...]:
        """Link `i` in the frame of joint `i`: the head of the next joint; for the last one the end effector."""
        return (*(joint.offset for joint in self.joints[1:]), self.tip)

    @cached_property
    def rests(self) -> tuple[Matrix, ...]:
        """Rest orientation of each joint in the frame of the one before it, 3x3."""
        return tuple(joint.rest.to_matrix() for joint in self.joints)

    @cached_property
    def lengths(self) -> tuple[float, ...]:
        """Length of each link at rest [Blender units]."""
        return tuple(offset.length for offset in self.offsets)

    @cached_property
    def reaches(self) -> tuple[tuple[float, float], ...]:
        """Workspace of the joints without limits: for each the least and greatest distance to the end effector.

        A last pair, (0, 0), belongs to the end effector itself.
        """
        return reaches(self.lengths)

    @cached_property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """The same distances from the end of each link, which is the head of the next joint."""
        return self.reaches[1:]

    @cached_property
    def reach(self) -> float:
        """Length of the straight chain: the sum of all link lengths [Blender units]."""
        return sum(self.lengths)

    @cached_property
    def limited(self) -> tuple[tuple[int, Freedom], ...]:
        """Index and freedom of the joints that are not unlimited ball joints."""
        return tuple((i, joint.freedom) for i, joint in enumerate(self.joints) if joint.freedom != Free())

    @cached_property
    def balls(self) -> tuple[tuple[int, float], ...]:
        """Index and compliance of each unlimited ball joint; none for a chain with scaled bones.

        The compliance is the square of 1 - stiffness: the rotation of the joint in proportion to that of a joint
        without stiffness.
        """
        found = ((i, (1.0 - joint.stiffness) ** 2) for i, joint in enumerate(self.joints) if joint.freedom == Free())
        return tuple((i, compliance) for i, compliance in found if compliance > 0.0) if self.plain else ()

    @cached_property
    def others(self) -> tuple[int, ...]:
        """Index of each joint that is not in `balls`."""
        return tuple(sorted(set(range(len(self.joints))) - {i for i, _ in self.balls}))

    @cached_property
    def plain(self) -> bool:
        """Whether every joint moves rigidly with the one before it; not so in rigs with scaled bones."""
        return all(joint.plain for joint in self.joints)

    def rest_pose(self) -> Pose:
        """The pose at rest, with the parent of the root at the origin."""
        return Pose(self, Matrix.Identity(4), [Quaternion() for _ in self.joints])
