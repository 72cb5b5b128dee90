# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of one chain that published methods rotate joint by joint, all at once, with the cost of their rotations."""

from __future__ import annotations

import numpy as np

from ...kinematics import Chain, EulerLimits, unframed
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import compose, conjugated, lengths, matrices, normalized, product, rotate, rotate_back
from ...kinematics.batch.coordinates import EulerAngles
from ...kinematics.cost import SMALLEST_TURN
from .swings import Swing

_Arrays = tuple[Numbers, Numbers, Numbers, Indices, Numbers, Numbers]


class WalkedChain:
    """A plain chain with what its poses share: the tree, a swing for each joint that moves, and its coordinates."""

    def __init__(self, chain: Chain, start: States, tree: Tree) -> None:
        self.chain, self.tree, self.start = chain, tree, start
        self.swings = [Swing(joint.freedom) if joint.freedom.moves else None for joint in chain.joints]
        rests = normalized(np.array([joint.rest for joint in chain.joints], float)[:, :, None])
        self.rests = matrices(rests)  # the tree has only those that its kinds of joints do not contain
        self.links = [np.array(offset)[:, None] for offset in chain.offsets]
        self.bend_axes = [np.array(joint.freedom.bend_axis)[:, None] for joint in chain.joints]
        self.rotations, self.tip = tree.rotations(start), Geometry(tree, start).tip()
        self.rows: list[slice] = [slice(0, 0)] * len(chain.joints)
        for kind in tree.kinds:
            begin = kind.rows.start
            for i in kind.joints:
                freedom = unframed(chain.joints[i].freedom)
                if isinstance(kind, EulerAngles) and isinstance(freedom, EulerLimits):
                    count = len(freedom.axes)
                else:
                    count = (kind.rows.stop - kind.rows.start) // len(kind.joints)
                self.rows[i] = slice(begin, begin + count)
                begin += count


class Walk:
    """F poses on their way: `rotations` (n, 4, F), `angles` (m, F) as in a Tree, and the end effector `tip` (3, F).

    `turns`, `total_angle` [rad] and `travel` (F) [Blender units] add up as in kinematics.Cost.
    """

    def __init__(self, walked: WalkedChain, arrays: _Arrays) -> None:
        self.walked = walked
        self.rotations, self.angles, self.tip, self.turns, self.total_angle, self.travel = arrays

    @classmethod
    def begin(cls, walked: WalkedChain, count: int) -> Walk:
        """So many poses at the start."""
        one = walked.rotations, walked.start.angles, walked.tip
        rotations, angles, tip = (np.repeat(array, count, -1) for array in one)
        return cls(walked, (rotations, angles, tip, np.zeros(count, np.intp), np.zeros(count), np.zeros(count)))

    @property
    def arrays(self) -> _Arrays:
        """All arrays."""
        return self.rotations, self.angles, self.tip, self.turns, self.total_angle, self.travel

    def take(self, columns: Columns) -> Walk:
        """Those of the poses."""
        rotations, angles, tip, turns, total_angle, travel = (array[..., columns] for array in self.arrays)
        return Walk(self.walked, (rotations, angles, tip, turns, total_angle, travel))

    def put(self, columns: Indices, other: Walk) -> None:
        """Replace poses."""
        for mine, theirs in zip(self.arrays, other.arrays, strict=True):
            mine[..., columns] = theirs

    def states(self) -> States:
        """The poses as those of the tree."""
        start, tree = self.walked.start, self.walked.tree
        return States(self.angles, self.rotations[tree.balls], start.held, start.root, start.place)

    def root(self) -> tuple[Numbers, Numbers]:
        """Place (3, F) of the root and the frame in which it rotates (3, 3, F)."""
        start, tree, count = self.walked.start, self.walked.tree, self.tip.shape[1]
        socket = compose(start.root, self.walked.rests[0])
        head = start.place + rotate(start.root, tree.offsets[0])
        return np.repeat(head, count, -1), np.repeat(socket, count, -1)

    def beyond(self, i: int, head: Numbers, socket: Numbers) -> tuple[Numbers, Numbers]:
        """Place of the joint after joint `i`, and the frame in which it rotates."""
        frame = compose(socket, matrices(self.rotations[i]))
        return head + rotate(frame, self.walked.links[i]), compose(frame, self.walked.rests[i + 1])

    def link(self, i: int, socket: Numbers) -> Numbers:
        """Vector (3, F) from joint `i` to the next one, or to the end effector."""
        return rotate(socket, rotate(matrices(self.rotations[i]), self.walked.links[i]))

    def bend_axis(self, i: int, socket: Numbers) -> Numbers:
        """Axis (3, F) about which joint `i` prefers to bend."""
        return rotate(socket, rotate(matrices(self.rotations[i]), self.walked.bend_axes[i]))

    def swing(
        self, i: int, head: Numbers, socket: Numbers, start: Numbers, end: Numbers, those: Mask | None = None
    ) -> None:
        """Rotate joint `i`, of `those` poses, so that directions `start` (3, F) come to `end`, as limits allow."""
        swing = self.walked.swings[i]
        if swing is None or (those is not None and not those.any()):
            return
        before = self.rotations[i]
        turned, values = swing.swung(before, rotate_back(socket, start), rotate_back(socket, end))
        still = rotate_back(matrices(before), rotate_back(socket, self.tip - head))
        tip = head + rotate(socket, rotate(matrices(turned), still))
        change = product(conjugated(before), turned)
        angle = 2.0 * np.arctan2(lengths(change[1:]), np.abs(change[0]))
        travel = lengths(tip - self.tip)
        at = slice(None) if those is None else np.flatnonzero(those)
        self.rotations[i][:, at], self.tip[:, at] = turned[:, at], tip[:, at]
        if len(values):
            self.angles[self.walked.rows[i], at] = values[:, at]
        self.turns[at] += angle[at] > SMALLEST_TURN
        self.total_angle[at] += angle[at]
        self.travel[at] += travel[at]
