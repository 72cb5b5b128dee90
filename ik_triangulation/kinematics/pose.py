# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a chain is now: forward kinematics and the two verbs that move it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mathutils import Matrix, Quaternion, Vector

from .cost import Cost, cost_of
from .rotation import orientation, orthogonal
from .workspace import reaches

if TYPE_CHECKING:
    from .chain import Chain


class Pose:
    """A chain with a rotation for each joint, in armature space.

    `base` is the frame of the root's parent (4x4), `rotations` the joints' rotations from rest. `turn` and `swing` are
    the only ways to move a joint: they keep its freedom and record the turn, so no solver has to do either.

    Frames are worked out when asked for. Turning joint i makes stale only those beyond it, and the end effector is kept
    relative to one joint's frame and carried down from there, so a pass from root to tip and one from tip to root both
    cost O(n).
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
        self.start = tuple(self.rotations)  # where the recorded turns begin
        self.turns: list[tuple[int, Quaternion]] = []  # (joint, its rotation from then on)
        root, count = base.to_3x3(), len(chain.joints)
        self._heads = [base @ chain.joints[0].offset] * count
        self._sockets = [root] * count  # the frame a joint's own rotation acts in
        self._scales: list[Vector | None] = [None] * count  # what its scale does after that rotation
        self._known = 0  # joints whose head and socket are up to date
        self._tip_joint, self._tip_there = count - 1, chain.tip  # the end effector in that joint's frame
        self._tip: Vector | None = None  # and in armature space, once asked for
        self._place(0, root)

    def __len__(self) -> int:
        return len(self.rotations)

    def copy(self) -> Pose:
        """The same pose, with no turns recorded yet."""
        pose = Pose.__new__(Pose)
        pose.chain, pose.base = self.chain, self.base
        pose.rotations, pose.start, pose.turns = self.rotations[:], tuple(self.rotations), []
        pose._heads, pose._sockets, pose._scales = self._heads[:], self._sockets[:], self._scales[:]
        pose._known, pose._tip_joint, pose._tip_there = self._known, self._tip_joint, self._tip_there
        pose._tip = self._tip
        return pose

    def head(self, i: int) -> Vector:
        """Position of joint `i`."""
        if self._known <= i:
            self._extend(i)
        return self._heads[i]

    def frame(self, i: int) -> Matrix:
        """Orientation of joint `i`, after its own rotation, and its scale if it has one; 3x3."""
        if self._known <= i:
            self._extend(i)
        frame = self._sockets[i] @ self.rotations[i].to_matrix()
        scale = self._scales[i]
        return frame if scale is None else frame @ Matrix.Diagonal(scale)

    def socket(self, i: int) -> Matrix:
        """The frame in which joint `i` turns: where its rotation is the identity; 3x3."""
        self.head(i)
        return self._sockets[i]

    @property
    def heads(self) -> Sequence[Vector]:
        """Position of every joint."""
        self.head(len(self) - 1)
        return self._heads

    @property
    def sockets(self) -> Sequence[Matrix]:
        """The frame in which each joint turns, 3x3."""
        self.head(len(self) - 1)
        return self._sockets

    def end(self, i: int) -> Vector:
        """Where link `i` ends: the head of the next joint, or the end effector."""
        return self.head(i + 1) if i + 1 < len(self.rotations) else self.tip

    def link(self, i: int) -> Vector:
        """From joint `i` to the next one, the last link to the end effector."""
        return self.frame(i) @ self.chain.offsets[i]

    def bend(self, i: int, direction: Vector) -> Vector:
        """Unit vector orthogonal to `direction`, to which joint `i` bends away from it when nothing else decides.

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
        """Orientation of the end effector; that of a mirrored bone has its X axis turned back."""
        frame = self.frame(len(self) - 1)
        return (frame.to_quaternion() if self.chain.plain else orientation(frame)) @ self.chain.tip_rest

    @property
    def lengths(self) -> tuple[float, ...]:
        """Length of each link as it is now."""
        return self.chain.lengths if self.chain.plain else tuple(self.link(i).length for i in range(len(self)))

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """For each joint the least and greatest distance at which the next one reaches, were all after it free."""
        return self.chain.spans if self.chain.plain else reaches(self.lengths)[1:]

    @property
    def cost(self) -> Cost:
        """What the recorded turns cost."""
        return cost_of(self)

    def turn(self, i: int, rotation: Quaternion) -> None:
        """Turn joint `i` by `rotation`, given in armature space, as far as its freedom allows."""
        freedom = self.chain.joints[i].freedom
        if freedom.moves:
            turned = self.into(i, rotation) @ self.rotations[i]
            turned.normalize()
            self.put(i, freedom.nearest(turned))

    def swing(self, i: int, start: Vector, end: Vector) -> None:
        """Turn joint `i` so that what points along `start` (armature space) points along `end`, as far as allowed."""
        freedom = self.chain.joints[i].freedom
        if not freedom.moves:
            return
        if self._known <= i:
            self._extend(i)
        back = self._sockets[i].inverted()
        rotation = self.rotations[i]
        turned = freedom.swung(rotation, back @ start, back @ end)
        if turned is not rotation:
            self.put(i, turned)

    def project(self) -> bool:
        """Move every joint to the nearest rotation its freedom allows; True if any was not allowed."""
        changed = False
        for i, freedom in self.chain.limited:
            allowed = freedom.nearest(self.rotations[i])
            if allowed is not self.rotations[i]:
                self.put(i, allowed)
                changed = True
        if changed:
            self.start, self.turns = tuple(self.rotations), []
        return changed

    def restore(self, rotations: Sequence[Quaternion], turns: int) -> None:
        """Go back to `rotations`, taken from this pose when it had recorded that many turns."""
        self.rotations[:] = rotations
        del self.turns[turns:]
        self._known = 1
        self._tip_joint, self._tip_there = len(self) - 1, self.chain.tip
        self._tip = None

    def into(self, i: int, rotation: Quaternion) -> Quaternion:
        """A rotation of armature space as seen from the frame that joint `i` turns in."""
        self.head(i)
        socket = self._sockets[i]
        axis = Vector((rotation.x, rotation.y, rotation.z))
        local = socket.inverted() @ axis
        if local.length:
            local *= axis.length / local.length
        if not self.chain.plain and socket.is_negative:
            local.negate()  # a mirrored frame sees every rotation the other way round
        return Quaternion((rotation.w, *local))

    def put(self, i: int, rotation: Quaternion) -> None:
        """Give joint `i` a rotation that its freedom allows."""
        self.rotations[i] = rotation
        self.turns.append((i, rotation))
        # What stood beyond the joint is stale now.
        if self._known > i + 1:
            self._known = i + 1
        if i > self._tip_joint:
            self._tip_joint, self._tip_there = len(self.rotations) - 1, self.chain.tip
        self._tip = None

    def _find_tip(self) -> Vector:
        if not self.chain.plain:  # what stands beyond a scaled joint does not just turn with it
            return self.head(len(self) - 1) + self.link(len(self) - 1)
        while self._tip_joint >= self._known:
            i = self._tip_joint
            joint = self.chain.joints[i]
            self._tip_there = joint.offset + joint.rest @ (self.rotations[i] @ self._tip_there)
            self._tip_joint = i - 1
        i = self._tip_joint
        return self._heads[i] + self.frame(i) @ self._tip_there

    def _extend(self, last: int) -> None:
        """Bring the joints up to date, as far as joint `last`."""
        chain, heads, first = self.chain, self._heads, self._known
        if not chain.plain:
            for i in range(first, last + 1):
                frame = self.frame(i - 1)
                heads[i] = heads[i - 1] + frame @ chain.offsets[i - 1]
                self._place(i, frame)
            return
        # Nothing else is done as often.
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
