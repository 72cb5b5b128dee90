# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the published methods for many poses at once: chains as they are walked from joint to joint.

Steps of the commonest methods for many poses at once: triangulation, circular alignment, and cyclic coordinate descent.
They do what the files of these names in solvers/ do, where the sources are named, joint by joint on arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import pi, tau

import numpy as np

from ...kinematics import Chain, EulerLimits, Hinge, unframed
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
from ..triangle import ALONG_HINGE, CLOSED, NEARER, NOWHERE, ROUNDING, TRIES
from .swings import Swing, orthogonal_to

_Arrays = tuple[Numbers, Numbers, Numbers, Indices, Numbers, Numbers]

_BISECTIONS = 52  # of half a turn: to its rounding
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
        turned, values = swing.swung(self.rotations[i], rotate_back(socket, start), rotate_back(socket, end))
        self.put_joint(i, head, socket, turned, values, those)

    def put_joint(
        self, i: int, head: Numbers, socket: Numbers, turned: Numbers, values: Numbers, those: Mask | None = None
    ) -> None:
        """Give joint `i`, of `those` poses, these rotations (4, F) and coordinates (r, F), which its limits allow."""
        before = self.rotations[i]
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
    for i, (head, socket) in reversed([*enumerate(zip(*_sockets(walk), strict=True))]):
        walk.swing(i, head, socket, walk.tip - head, aim - head)


def triangulation(walk: Walk, aim: Numbers) -> None:
    """One pass; every joint rotates as little as puts the next one where the rest of the chain reaches `aim`."""
    chain = walk.walked.chain
    slack = ROUNDING * chain.reach
    head, socket = walk.root()
    for i, (shortest, longest) in enumerate(chain.spans):
        link, to_aim = walk.link(i, socket), aim - head
        distance = lengths(to_aim - link)
        far, near = distance > longest + slack, distance < shortest - slack
        freedom = chain.joints[i].freedom
        if isinstance(freedom, Hinge):
            _place_about(walk, i, freedom, head, socket, to_aim, (shortest, longest), far | near)
        else:
            angle = _opening(walk.walked, lengths(link), lengths(to_aim), np.where(far, longest, shortest))
            _point(walk, i, head, socket, link, to_aim, angle, far | near)
        if i + 1 < len(chain.joints):
            head, socket = walk.beyond(i, head, socket)
    if chain.limited:
        _close_triangle(walk, aim, nearly=True)


def cheapest_pair(walk: Walk, aim: Numbers) -> None:
    """Rotate the cheapest pair of joints that brings the tip to `aim`; if none does, one pass of triangulation."""
    left = np.flatnonzero(~_close_triangle(walk, aim))
    if len(left):
        rest = walk.take(left)
        triangulation(rest, aim[:, left])
        walk.put(left, rest)


def circular(walk: Walk, aim: Numbers) -> None:
    """Bend the chains to the arcs of circles that end at `aim`."""
    chain = walk.walked.chain
    heads, sockets = _sockets(walk)
    nowhere = NOWHERE * chain.reach
    to_tip, to_aim = walk.tip - heads[0], aim - heads[0]
    bone = compose(sockets[0], matrices(walk.rotations[0]))[:, 1]
    somewhere = lengths(to_tip) > nowhere
    along = np.where(lengths(to_aim) > nowhere, to_aim, np.where(somewhere, to_tip, bone))
    along = along / lengths(along)
    straight = _orthogonal(sum(head - heads[0] for head in heads), to_tip / np.where(somewhere, lengths(to_tip), 1.0))[
        1
    ]
    walk.swing(0, heads[0], sockets[0], to_tip, along, somewhere & ~straight)
    heads, sockets = _sockets(walk)
    across, parallel = _orthogonal(sum(head - heads[0] for head in heads), along)
    across = np.where(parallel, _bend(walk, 0, sockets[0], along), across)
    halves = _half_angles(np.array(chain.lengths)[:, None], lengths(aim - heads[0]))
    angle, (head, socket) = halves.sum(0), walk.root()
    for i, half in enumerate(halves):
        angle = angle - half
        walk.swing(i, head, socket, walk.link(i, socket), along * np.cos(angle) + across * np.sin(angle))
        angle = angle - half
        if i + 1 < len(halves):
            head, socket = walk.beyond(i, head, socket)


def _close_triangle(walk: Walk, aim: Numbers, nearly: bool = False) -> Mask:
    """Bring the tips to `aim` by the two joints that rotate least; others keep theirs. Returns where that is done.

    Elsewhere `nearly` leaves the pairs that bring the tips nearest, if any bring them nearer, and else nothing turns.
    """
    near, best = CLOSED * walk.walked.chain.reach, lengths(aim - walk.tip)
    done = best <= near
    left = np.flatnonzero(~done)
    if not len(left):
        return done
    start, best = walk.take(left), NEARER * best[left] if nearly else np.zeros(len(left))
    pairs, cost, directions = _pairs(start, aim[:, left])
    order = cost.argsort(0, kind="stable") if len(pairs) else np.zeros((0, len(left)), np.intp)
    open_ones = np.arange(len(left))
    for number in range(min(TRIES, len(pairs))):
        chosen = order[number, open_ones]
        possible = np.isfinite(cost[chosen, open_ones])
        open_ones, chosen = open_ones[possible], chosen[possible]
        closed = []
        for pair in np.unique(chosen).tolist():
            (i, k), some = pairs[pair], open_ones[chosen == pair]
            trial, to = start.take(some), aim[:, left[some]]
            heads, sockets = _sockets(trial)
            trial.swing(k, heads[k], sockets[k], trial.tip - heads[k], directions[pair][:, some])
            trial.swing(i, heads[i], sockets[i], trial.tip - heads[i], to - heads[i])
            missed = lengths(to - trial.tip)
            met = missed <= near
            better = met | (missed < best[some])
            walk.put(left[some[better]], trial.take(better))
            best[some[better]] = NEARER * missed[better]
            closed.append(some[met])
        done[left[np.concatenate([*closed, np.zeros(0, np.intp)]).astype(np.intp)]] = True
        open_ones = open_ones[~done[left[open_ones]]]
        if not len(open_ones):
            break
    return done


def _pairs(walk: Walk, aim: Numbers) -> tuple[list[tuple[int, int]], Numbers, list[Numbers]]:
    """Pairs of joints, sums of both rotations (p, F) [rad], infinite where they cannot, and how the second points."""
    nowhere = NOWHERE * walk.walked.chain.reach
    heads, sockets = _sockets(walk)
    pairs = list(combinations([i for i, swing in enumerate(walk.walked.swings) if swing is not None], 2))
    costs, directions = np.empty((len(pairs), aim.shape[1])), []
    for number, (i, k) in enumerate(pairs):
        first, second, to_aim = heads[k] - heads[i], walk.tip - heads[k], aim - heads[i]
        a, b, c = lengths(first), lengths(second), lengths(to_aim)
        possible = (np.minimum(a, b) > nowhere) & (np.abs(a - b) <= c) & (c <= a + b)
        along = first / np.where(a > 0.0, a, 1.0)
        inside = _corner(a, b, c)
        across, straight = _orthogonal(second, along)
        if straight.any():
            towards, none = _orthogonal(to_aim, along)
            across = np.where(straight, np.where(none, -_bend(walk, k, sockets[k], along), towards), across)
        opened = along * (-np.cos(inside) * b) + across * (np.sin(inside) * b)
        bend = np.abs(pi - inside - _angle(first, second))
        costs[number] = np.where(possible, bend + _angle(first + opened, to_aim), np.inf)
        directions.append(opened)
    return pairs, costs, directions


def _place_about(
    walk: Walk,
    i: int,
    hinge: Hinge,
    head: Numbers,
    socket: Numbers,
    to_aim: Numbers,
    span: tuple[float, float],
    those: Mask,
) -> None:
    """Rotate a hinge as little as brings the next joint to a distance within the span from the aim, or nearly."""
    if not hinge.moves or not those.any():
        return
    (shortest, longest), reach = span, walk.walked.chain.reach
    axis = rotate(socket, np.array(hinge.axis, float)[:, None])
    link = walk.link(i, socket)
    along, there = dot(link, axis), dot(to_aim, axis)
    arm, target = link - axis * along, to_aim - axis * there
    radius = 2.0 * lengths(arm) * lengths(target)
    those = those & (radius > ALONG_HINGE * lengths(link) * lengths(to_aim))
    middle = dot(link, link) + dot(to_aim, to_aim) - 2.0 * along * there
    straight = np.arctan2(dot(axis, cross(arm, target)), dot(arm, target))
    divisor = np.where(radius > 0.0, radius, 1.0)
    bounds = [np.arccos(np.clip((middle - b * b) / divisor, -1.0, 1.0)) for b in (shortest, longest)]
    value = walk.angles[walk.walked.rows[i]][0]
    lower, upper = hinge.lower - value, hinge.upper - value
    wanted = [straight + s * angle + turns for s in (-1, 1) for angle in bounds for turns in (-tau, 0.0, tau)]
    angles = np.stack([*wanted, lower, upper])
    allowed = (lower <= angles) & (angles <= upper)
    allowed[-2:] = np.abs(angles[-2:]) <= tau
    angles = np.where(allowed, angles, 0.0)
    distance = np.sqrt(np.maximum(0.0, middle - radius * np.cos(angles - straight)))
    off = np.maximum(0.0, np.maximum(distance - longest, shortest - distance) - ROUNDING * reach)
    off = np.where(allowed, off, np.inf)
    best = off == off.min(0)
    found = np.take_along_axis(angles, np.where(best, np.abs(angles), np.inf).argmin(0)[None], 0)[0]
    found = np.clip(value + np.where(allowed.any(0), found, 0.0), hinge.lower, hinge.upper)
    turned = np.concatenate((np.cos(found / 2.0)[None], np.array(hinge.axis, float)[:, None] * np.sin(found / 2.0)))
    walk.put_joint(i, head, socket, turned, found[None], those)


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


STEPS: dict[str, BatchStep] = {
    "TRIANGULATION": triangulation,
    "TRIANGULATION_RIGHT_ANGLE": right_angle,
    "TRIANGULATION_CHEAPEST": cheapest_pair,
    "CIRCULAR": circular,
    "CCD": ccd,
}


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
    distance, nowhere = lengths(to_aim), NOWHERE * walk.walked.chain.reach
    those = those & (lengths(link) > nowhere) & (distance > nowhere)
    along = to_aim / np.where(distance > nowhere, distance, 1.0)
    across, parallel = _orthogonal(link, along)
    if parallel.any():
        across = np.where(parallel, _bend(walk, i, socket, along), across)
    walk.swing(i, head, socket, link, along * np.cos(angle) + across * np.sin(angle), those)


def _bend(walk: Walk, i: int, socket: Numbers, along: Numbers) -> Numbers:
    """Unit vectors orthogonal to unit vectors, to which joint `i` bends away from them by default."""
    bend, none = _orthogonal(cross(along, walk.bend_axis(i, socket)), along)
    other = orthogonal_to(along)
    chosen: Numbers = np.where(none, other / lengths(other), bend)
    return chosen


def _sockets(walk: Walk) -> tuple[list[Numbers], list[Numbers]]:
    """Place of every joint (3, F), and the frame in which it rotates (3, 3, F)."""
    places = [walk.root()]
    for i in range(len(walk.rotations) - 1):
        places.append(walk.beyond(i, *places[i]))
    heads, sockets = zip(*places, strict=True)
    return list(heads), list(sockets)


def _orthogonal(vectors: Numbers, along: Numbers) -> tuple[Numbers, Mask]:
    """Unit vectors in the plane of both and orthogonal to unit vectors, and where both are parallel."""
    part = vectors - along * dot(vectors, along)
    left = lengths(part)
    parallel = left <= _PARALLEL * lengths(vectors)
    return part / np.where(parallel, 1.0, left), parallel


def _opening(walked: WalkedChain, a: Numbers, c: Numbers, b: Numbers) -> Numbers:
    """Angle (F) [rad] of a link `a` and the aim, `c` away, that puts the next joint `b` from the aim, or nearly."""
    slack = ROUNDING * walked.chain.reach
    angle = _corner(a, c, b)
    straight = (c > a + b - slack) | (a > b + c - slack)
    return np.where(straight, 0.0, np.where(b > a + c - slack, pi, angle))


def _corner(a: Numbers, c: Numbers, b: Numbers) -> Numbers:
    """Angle (F) [rad] between sides `a` and `c` of a triangle, opposite `b`; 0 for too short a `b`, pi for too long."""
    s = (a + b + c) / 2.0
    sine, cosine = (s - a) * (s - c), s * (s - b)
    angle = 2.0 * np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))
    corner: Numbers = np.where(sine <= 0.0, 0.0, np.where(cosine > 0.0, angle, pi))
    return corner


def _angle(start: Numbers, end: Numbers) -> Numbers:
    """Angle (F) [rad] between vectors."""
    return np.asarray(np.arctan2(lengths(cross(start, end)), dot(start, end)))


def _half_angles(links: Numbers, distance: Numbers) -> Numbers:
    """Half the segment angle (n, F) [rad] of each link (n, 1) on the circle whose chord is the distance (F)."""
    reach, longest = links.sum(), links.max()
    m = int(links.argmax())
    low, high = np.zeros_like(distance), np.full_like(distance, pi)
    halves = np.zeros((len(links), len(distance)))
    for _ in range(_BISECTIONS):
        t = (low + high) / 2.0
        halves = np.arcsin(np.minimum(1.0, links / longest * np.sin(t)))
        halves[m] = t
        whole = halves.sum(0)
        wide = (whole > pi) | (longest * np.sin(whole) < distance * np.sin(t))  # beyond half a circle it has passed
        low, high = np.where(wide, low, t), np.where(wide, t, high)
    halves[:, distance >= reach] = 0.0
    folded = distance <= 2.0 * longest - reach
    halves[:, folded] = 0.0
    halves[m, folded] = pi
    return halves
