# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig at rest: what does not change while it is posed."""

from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from .freedom import Free, Freedom
from .joint import Joint
from .pose import Pose
from .workspace import reaches


@dataclass(frozen=True)
class Chain:
    """Joints from the root to the tip, and the end effector in the last joint's frame.

    `tip` is its place [Blender units], `tip_rest` its orientation, which differs from the joint's where bones that
    cannot move follow. Raises ChainError for no joints at all, for a place or orientation that is no finite number, and
    for a stiffness outside 0..1.
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
        """Link `i` in the frame of joint `i`: the head of the next joint, and last the end effector."""
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
        """For each joint the least and greatest distance the end effector can stand from it, were all joints free.

        One more pair, (0, 0), stands for the end effector itself.
        """
        return reaches(self.lengths)

    @cached_property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """The same distances for the end of each link: those of the next joint."""
        return self.reaches[1:]

    @cached_property
    def reach(self) -> float:
        """Sum of all lengths [Blender units]."""
        return sum(self.lengths)

    @cached_property
    def limited(self) -> tuple[tuple[int, Freedom], ...]:
        """Index and freedom of the joints that may not stand in every rotation."""
        return tuple((i, joint.freedom) for i, joint in enumerate(self.joints) if joint.freedom != Free())

    @cached_property
    def balls(self) -> tuple[tuple[int, float], ...]:
        """Index and willingness of the ball joints that turn rigidly and without limits.

        That is the square of 1 - stiffness: how much a joint turns where another one would turn by 1.
        """
        found = ((i, (1.0 - joint.stiffness) ** 2) for i, joint in enumerate(self.joints) if joint.freedom == Free())
        return tuple((i, willing) for i, willing in found if willing > 0.0) if self.plain else ()

    @cached_property
    def others(self) -> tuple[int, ...]:
        """Index of the joints that are no such ball joints."""
        return tuple(sorted(set(range(len(self.joints))) - {i for i, _ in self.balls}))

    @cached_property
    def plain(self) -> bool:
        """Whether every joint moves rigidly with the one before it (no bone is scaled or hinged in Blender's sense)."""
        return all(joint.plain for joint in self.joints)

    def rest_pose(self) -> Pose:
        """The chain at rest, its root's parent at the origin."""
        return Pose(self, Matrix.Identity(4), [Quaternion() for _ in self.joints])
