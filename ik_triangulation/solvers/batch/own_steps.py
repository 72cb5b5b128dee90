# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the published methods for many poses at once: chains as they are walked from joint to joint.

Steps of the commonest methods for many poses at once: triangulation, and cyclic coordinate descent. They do what the
files of these names in solvers/ do, where the sources are named, joint by joint on arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np

from ...kinematics import Chain, EulerLimits, unframed
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    compose,
    conjugated,
    cross,
    dot,
    lengths,
    matrices,
    normalized,
    product,
    rotate,
    rotate_back,
)
from ...kinematics.batch.coordinates import EulerAngles
from ...kinematics.pose import SMALLEST_TURN
from ..solve import LITTLE
from .swings import Swing, orthogonal_to

_Arrays = tuple[Numbers, Numbers, Numbers, Indices, Numbers, Numbers]

_ROUNDING, _NOWHERE = 5e-7, 1e-7  # of the reach, as in solvers.triangulation
_PARALLEL = 1e-5  # sine below which the normal of an angle is rounding noise, as in kinematics.rotation


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


BatchStep = Callable[[Walk, Numbers], None]


def ccd(walk: Walk, aim: Numbers) -> None:
    """One sweep from the last joint to the root, each rotated to point the end effector at `aim` (3, F)."""
    sockets = [walk.root()]
    for i in range(len(walk.rotations) - 1):
        sockets.append(walk.beyond(i, *sockets[i]))
    for i in reversed(range(len(sockets))):
        head, socket = sockets[i]
        walk.swing(i, head, socket, walk.tip - head, aim - head)


def triangulation(walk: Walk, aim: Numbers) -> None:
    """One pass; every joint rotates as little as puts the next one where the rest of the chain reaches `aim`."""
    chain = walk.walked.chain
    slack = _ROUNDING * chain.reach
    head, socket = walk.root()
    for i, (shortest, longest) in enumerate(chain.spans):
        link, to_aim = walk.link(i, socket), aim - head
        distance = lengths(to_aim - link)
        far, near = distance > longest + slack, distance < shortest - slack
        angle = _opening(walk.walked, lengths(link), lengths(to_aim), np.where(far, longest, shortest))
        _point(walk, i, head, socket, link, to_aim, angle, far | near)
        if i + 1 < len(chain.joints):
            head, socket = walk.beyond(i, head, socket)


def right_angle(walk: Walk, aim: Numbers) -> None:
    """One pass; every link is at right angles to `aim`, or as near to that as the rest of the chain can reach from."""
    chain = walk.walked.chain
    head, socket = walk.root()
    for i, span in enumerate(chain.spans):
        link, to_aim = walk.link(i, socket), aim - head
        least, most = (_opening(walk.walked, lengths(link), lengths(to_aim), np.array(b)) for b in span)
        angle = np.minimum(np.maximum(pi / 2.0, least), most)
        _point(walk, i, head, socket, link, to_aim, angle, np.ones(len(angle), bool))
        if i + 1 < len(chain.joints):
            head, socket = walk.beyond(i, head, socket)


STEPS: dict[str, BatchStep] = {"TRIANGULATION": triangulation, "TRIANGULATION_RIGHT_ANGLE": right_angle, "CCD": ccd}


def walk_on(
    walked: WalkedChain, step: BatchStep, targets: Numbers, tolerance: float, enough: Numbers, iterations: int
) -> tuple[Walk, Numbers, Indices]:
    """Take the steps of a method towards `targets` (3, F) from the start, as solve() does before its finish.

    Returns the best poses, their distances [Blender units], and the steps taken.
    """
    best = Walk.begin(walked, targets.shape[1])
    least = lengths(targets - best.tip)
    count = np.zeros(len(least), np.intp)
    left = np.flatnonzero(least > tolerance)
    wanted = np.full(len(least), tolerance)  # one step is often enough; after it no more is asked than is possible
    for number in range(iterations):
        if not len(left):
            break
        walk, before = best.take(left), least[left]
        step(walk, targets[:, left])
        error = lengths(targets[:, left] - walk.tip)
        count[left] += 1
        nearer = error < before
        kept = left[nearer]
        best.put(kept, walk.take(nearer))
        least[kept] = error[nearer]
        asked = 0.0 if number == 0 else wanted[left]
        going = (before - error >= LITTLE * (before - asked)) & (least[left] > enough[left])
        left, wanted = left[going], enough
    return best, least, count


def _point(
    walk: Walk, i: int, head: Numbers, socket: Numbers, link: Numbers, to_aim: Numbers, angle: Numbers, those: Numbers
) -> None:
    """Rotate joint `i`, in the plane of its link and the aim, until they are at `angle` (F) [rad] to each other."""
    distance, nowhere = lengths(to_aim), _NOWHERE * walk.walked.chain.reach
    those = those & (lengths(link) > nowhere) & (distance > nowhere)
    along = to_aim / np.where(distance > nowhere, distance, 1.0)
    across, parallel = _orthogonal(link, along)
    if parallel.any():
        bend, none = _orthogonal(cross(along, walk.bend_axis(i, socket)), along)
        other = orthogonal_to(along)
        across = np.where(parallel, np.where(none, other / lengths(other), bend), across)
    walk.swing(i, head, socket, link, along * np.cos(angle) + across * np.sin(angle), those)


def _orthogonal(vectors: Numbers, along: Numbers) -> tuple[Numbers, Mask]:
    """Unit vectors in the plane of both and orthogonal to unit vectors, and where both are parallel."""
    part = vectors - along * dot(vectors, along)
    left = lengths(part)
    parallel = left <= _PARALLEL * lengths(vectors)
    return part / np.where(parallel, 1.0, left), parallel


def _opening(walked: WalkedChain, a: Numbers, c: Numbers, b: Numbers) -> Numbers:
    """Angle (F) [rad] of a link `a` and the aim, `c` away, that puts the next joint `b` from the aim, or nearly."""
    slack = _ROUNDING * walked.chain.reach
    s = (a + b + c) / 2.0
    sine, cosine = (s - a) * (s - c), s * (s - b)
    angle = 2.0 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))
    angle = np.where(sine <= 0.0, 0.0, np.where(cosine > 0.0, angle, pi))
    straight = (c > a + b - slack) | (a > b + c - slack)
    return np.where(straight, 0.0, np.where(b > a + c - slack, pi, angle))
