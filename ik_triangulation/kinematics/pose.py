# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain of joints at rest and its poses: forward kinematics, the two operations that rotate a joint, and the cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import inf, isfinite, radians

from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from .freedom import Free, Freedom
from .joint import Joint
from .rotation import orientation, orthogonal, rotation_angle

LENGTH_ROUNDING = 1e-6  # of the reach: distances that single precision cannot distinguish

SMALLEST_TURN = radians(5.0)  # rotations of a joint up to this angle are not counted as turns


def reaches(lengths: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    """Least and greatest distance that unlimited links `i` and after can span, for each `i`, and a last (0, 0).

    Links of total length S whose longest is l span everything from max(0, 2 l - S) to S.
    """
    total = tuple(accumulate(reversed(lengths), initial=0.0))
    longest = tuple(accumulate(reversed(lengths), max, initial=0.0))
    return tuple((max(0.0, 2.0 * most - span), span) for most, span in zip(longest, total, strict=True))[::-1]


class Pose:
    """A chain with a rotation for each joint, in armature space.

    `base` is the frame of the root's parent (4x4), `rotations` the joints' rotations from rest. Solvers rotate a joint
    only by `turn` and `swing`, which keep it inside its limits and record the rotation.

    Frames are computed on demand. Rotating joint i invalidates only the frames beyond it, and the end effector is
    stored relative to the frame of one joint, so that a pass from root to tip and one from tip to root both cost
    O(n).
    """

    __slots__ = (
        "_heads",
        "_known",
        "_scales",
        "_sockets",
        "_tip",
        "_tip_joint",
        "_tip_there",
        "base",
        "chain",
        "rotations",
        "start",
        "turns",
    )

    def __init__(self, chain: Chain, base: Matrix, rotations: Sequence[Quaternion]) -> None:
        self.chain = chain
        self.base = base
        self.rotations = list(rotations)
        self.start = tuple(self.rotations)  # rotations before the first recorded turn
        self.turns: list[tuple[int, Quaternion]] = []  # (joint, its rotation from then on)
        root, count = base.to_3x3(), len(chain.joints)
        self._heads = [base @ chain.joints[0].offset] * count
        self._sockets = [root] * count  # the frame a joint's own rotation acts in
        self._scales: list[Vector | None] = [None] * count  # scale applied after that rotation
        self._known = 0  # joints whose head and socket are up to date
        self._tip_joint, self._tip_there = count - 1, chain.tip  # the end effector in that joint's frame
        self._tip: Vector | None = None  # and in armature space, once needed
        self._place(0, root)

    def __len__(self) -> int:
        return len(self.rotations)

    def copy(self) -> Pose:
        """Return a copy of the pose, with no recorded turns."""
        pose = Pose.__new__(Pose)
        pose.chain, pose.base = self.chain, self.base
        pose.rotations, pose.start, pose.turns = self.rotations[:], tuple(self.rotations), []
        pose._heads, pose._sockets, pose._scales = self._heads[:], self._sockets[:], self._scales[:]
        pose._known, pose._tip_joint, pose._tip_there = self._known, self._tip_joint, self._tip_there
        pose._tip = self._tip
        return pose

    def again(self, base: Matrix) -> None:
        """Begin anew from the present rotations, with another frame of the root's parent and no recorded turns.

        Without one, what is known of the pose stays so. Every other result is that of a new pose, to the last bit.
        """
        if base is not self.base:
            self.base, root = base, base.to_3x3()
            self._heads[0] = base @ self.chain.joints[0].offset
            self._place(0, root)
        self.start, self.turns = tuple(self.rotations), []
        known, self._known = self._known, 1
        self._tip_joint, self._tip_there = len(self.rotations) - 1, self.chain.tip
        self._tip = self._find_tip()
        self._known = known

    def head(self, i: int) -> Vector:
        """Position of joint `i`."""
        if self._known <= i:
            self._extend(i)
        return self._heads[i]

    def frame(self, i: int) -> Matrix:
        """Orientation of joint `i` after its own rotation, with its scale if it has one; 3x3."""
        if self._known <= i:
            self._extend(i)
        frame = self._sockets[i] @ self.rotations[i].to_matrix()
        scale = self._scales[i]
        return frame if scale is None else frame @ Matrix.Diagonal(scale)

    def socket(self, i: int) -> Matrix:
        """The frame in which the rotation of joint `i` acts; 3x3."""
        self.head(i)
        return self._sockets[i]

    def back(self, i: int) -> Matrix:
        """The inverse of socket(i). Raises ChainError if a bone above the joint is scaled so that it is singular."""
        if self._known <= i:
            self._extend(i)
        try:
            return self._sockets[i].inverted()
        except ValueError:
            name = self.chain.joints[i].name
            raise ChainError(
                f"Bone '{name}' is turned in a frame that is scaled flat. Give those above a scale."
            ) from None

    @property
    def heads(self) -> Sequence[Vector]:
        """Position of every joint."""
        self.head(len(self) - 1)
        return self._heads

    @property
    def sockets(self) -> Sequence[Matrix]:
        """The frame in which each joint's rotation acts, 3x3."""
        self.head(len(self) - 1)
        return self._sockets

    def end(self, i: int) -> Vector:
        """End of link `i`: the head of the next joint, or the end effector."""
        return self.head(i + 1) if i + 1 < len(self.rotations) else self.tip

    def link(self, i: int) -> Vector:
        """Vector from joint `i` to the next one, for the last one to the end effector."""
        return self.frame(i) @ self.chain.offsets[i]

    def bend(self, i: int, direction: Vector) -> Vector:
        """Default side of bending: the unit vector orthogonal to `direction` to which joint `i` bends away from it.

        The next joint then bends positively about its own bend axis, as limbs are rigged.
        """
        axis = self.frame(i) @ self.chain.joints[i].freedom.bend_axis
        return orthogonal(direction.cross(axis), direction) or direction.orthogonal().normalized()

    @property
    def tip(self) -> Vector:
        """Position of the end effector."""
        if self._tip is None:
            self._tip = self._find_tip()
        return self._tip

    @property
    def tip_rotation(self) -> Quaternion:
        """Orientation of the end effector; for a mirrored bone with the X axis reversed."""
        frame = self.frame(len(self) - 1)
        return (frame.to_quaternion() if self.chain.plain else orientation(frame)) @ self.chain.tip_rest

    @property
    def lengths(self) -> tuple[float, ...]:
        """Present length of each link [Blender units]; bones may be scaled."""
        return self.chain.lengths if self.chain.plain else tuple(self.link(i).length for i in range(len(self)))

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """Workspace beyond each link, without limits: least and greatest distance from its end to the end effector."""
        return self.chain.spans if self.chain.plain else reaches(self.lengths)[1:]

    @property
    def cost(self) -> Cost:
        """Cost of the recorded turns."""
        return cost_of(self)

    def turn(self, i: int, rotation: Quaternion) -> None:
        """Rotate joint `i` by `rotation`, given in armature space, as far as its limits allow."""
        freedom = self.chain.joints[i].freedom
        if freedom.moves:
            turned = self.into(i, rotation) @ self.rotations[i]
            turned.normalize()
            self.put(i, freedom.nearest(turned))

    def swing(self, i: int, start: Vector, end: Vector) -> None:
        """Rotate joint `i` so that the direction `start` (armature space) comes to `end`, as far as limits allow."""
        freedom = self.chain.joints[i].freedom
        if not freedom.moves:
            return
        rotation, back = self.rotations[i], self.back(i)
        turned = freedom.swung(rotation, back @ start, back @ end)
        if turned is not rotation:
            self.put(i, turned)

    def project(self) -> bool:
        """Move every joint to the nearest rotation inside its limits; True if any was outside."""
        changed = False
        for i, freedom in self.chain.limited:
            if not freedom.allows(self.rotations[i]):
                self.put(i, freedom.nearest(self.rotations[i]))
                changed = True
        if changed:
            self.start, self.turns = tuple(self.rotations), []
        return changed

    @property
    def is_allowed(self) -> bool:
        """Whether every joint is inside its limits."""
        return all(freedom.allows(self.rotations[i]) for i, freedom in self.chain.limited)

    def restore(self, rotations: Sequence[Quaternion], turns: int) -> None:
        """Go back to `rotations`, read from this pose when it had recorded that many turns."""
        self.rotations[:] = rotations
        del self.turns[turns:]
        self._known = 1
        self._tip_joint, self._tip_there = len(self) - 1, self.chain.tip
        self._tip = None

    def into(self, i: int, rotation: Quaternion) -> Quaternion:
        """Express a rotation of armature space in the frame in which the rotation of joint `i` acts."""
        axis = Vector((rotation.x, rotation.y, rotation.z))
        local = self.back(i) @ axis
        if local.length:
            local *= axis.length / local.length
        if not self.chain.plain and self._sockets[i].is_negative:
            local.negate()  # a mirrored frame reverses every rotation
        return Quaternion((rotation.w, *local))

    def put(self, i: int, rotation: Quaternion) -> None:
        """Set the rotation of joint `i`, which must be inside its limits, and record it."""
        self.rotations[i] = rotation
        self.turns.append((i, rotation))
        # Frames beyond the joint are stale now.
        if self._known > i + 1:
            self._known = i + 1
        if i > self._tip_joint:
            self._tip_joint, self._tip_there = len(self.rotations) - 1, self.chain.tip
        self._tip = None

    def _find_tip(self) -> Vector:
        if not self.chain.plain:  # what is beyond a scaled joint does not move rigidly with it
            return self.head(len(self) - 1) + self.link(len(self) - 1)
        while self._tip_joint >= self._known:
            i = self._tip_joint
            joint = self.chain.joints[i]
            self._tip_there = joint.offset + joint.rest @ (self.rotations[i] @ self._tip_there)
            self._tip_joint = i - 1
        i = self._tip_joint
        return self._heads[i] + self.frame(i) @ self._tip_there

    def _extend(self, last: int) -> None:
        """Compute heads and sockets as far as joint `last`."""
        chain, heads, first = self.chain, self._heads, self._known
        if not chain.plain:
            for i in range(first, last + 1):
                frame = self.frame(i - 1)
                heads[i] = heads[i - 1] + frame @ chain.offsets[i - 1]
                self._place(i, frame)
            return
        # The innermost loop of every solver.
        head, socket = heads[first - 1], self._sockets[first - 1]
        for i in range(first, last + 1):
            frame = socket @ self.rotations[i - 1].to_matrix()
            heads[i] = head = head + frame @ chain.offsets[i - 1]
            self._sockets[i] = socket = frame @ chain.rests[i]
        self._known = last + 1

    def _place(self, i: int, parent: Matrix) -> None:
        joint = self.chain.joints[i]
        if joint.inheritance is None:
            self._sockets[i] = parent @ self.chain.rests[i]
            self._scales[i] = joint.scale
        else:
            self._sockets[i], after = joint.inheritance.socket(parent, self.chain.rests[i])
            own = joint.scale or Vector((1.0, 1.0, 1.0))
            self._scales[i] = own * after if after is not None else own
        self._known = i + 1


@dataclass(frozen=True)
class Chain:
    """Joints from the root to the tip, and the end effector in the last joint's frame.

    `tip` is the position of the end effector [Blender units], `tip_rest` its orientation, which differs from the
    joint's where immobile bones follow. Raises ChainError for no joints at all, for a position or orientation that is
    not finite, for a stiffness outside 0..1, and for a mass that is not above zero.
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
            if not 0.0 < joint.mass < inf:
                raise ChainError(f"Bone '{joint.name}' has a mass of {joint.mass}. Give it a number above zero.")
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


@dataclass(frozen=True)
class Cost:
    """The three measures of Mukundan 2009: `turns`, the number of joint rotations above 5 degrees; `total_angle`, the
    sum of all rotation angles [rad]; `travel`, the sum of the distances the end effector moved with each [Blender
    units].
    """

    turns: int
    total_angle: float
    travel: float


def cost_of(pose: Pose) -> Cost:
    """Replay the recorded rotations of a pose and add up their cost."""
    replay = type(pose)(pose.chain, pose.base, pose.start)
    turns, total, travel = 0, 0.0, 0.0
    before = replay.tip
    for i, rotation in pose.turns:
        angle = rotation_angle(replay.rotations[i], rotation)
        replay.put(i, rotation)
        after = replay.tip
        turns += angle > SMALLEST_TURN
        total += angle
        travel += (after - before).length
        before = after
    return Cost(turns, total, travel)
