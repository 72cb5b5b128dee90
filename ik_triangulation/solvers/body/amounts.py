# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of the basis of a reach (turn, aside, hinge and crouch), what they cost and give; the trunk's part in a look.

Newton steps down the cost. A joint turns by the exponential of the sum of its turns, so its axis for more of one of
them is that turn through the right Jacobian of the exponential. Feet stay: what would move them moves the hips. Where
the weight has to be brought above them, legs lean, which carries hips and all above them by what is missing. Source of
the Jacobian: Chirikjian 2011, "Stochastic Models, Information Theory, and Lie Groups", volume 2.

Pelvis and spine take a part in a look: what lies far aside or behind turns the whole body a little. In large shifts of
gaze the head makes most of the way, and the trunk a share of what is beyond the comfortable range of the neck (Land
2004, "The coordination of rotations of the eyes, head and trunk in saccadic turns produced in natural situations";
Hollands, Ziavra and Bronstein 2004, "A new paradigm to investigate the roles of head and eye movements in the
coordination of whole-body movements").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import radians

import numpy as np

from ...goals.orientation import LookTask
from ...goals.support import BalanceTask
from ...goals.task import Task
from ...kinematics.arrays import Columns, Indices, Numbers, smoothstep
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    conjugated,
    cross,
    dot,
    exponential,
    lengths,
    normalized,
    product,
    rotate,
    rotate_back,
    rotation_vectors,
)

LOWEST = np.array([-1.6, -1.0, 0.0, 0.0])  # amounts of turn, aside, hinge and crouch
HIGHEST = np.array([1.6, 1.0, 1.9, 1.5])
# Costs of the amounts a beside squared shares of the arm's length that are missing: of |a|, of a^2, and of a^4.
_FIRST = np.array([0.0, 0.0, 0.0, 0.12])
_SECOND = np.array([0.02, 0.025, 0.03, 0.02])
_FOURTH = np.array([0.0, 0.0, 0.015, 0.0])
# To what is straight below people hinge and crouch, and hardly turn or lean aside; with one hand they squat to what is
# outside its shoulder, and stoop to what is inside, where the knees are in its way: powers of e by which these cost.
_BELOW = np.array([0.5, 1.2, 0.0, 0.0])
_OUTSIDE = np.array([0.0, 0.0, 2.0, -3.0])
# The hinge that goes with a crouch, in lifts; in squats to what is outside none does. Less of it is as dear times that.
_WITH_CROUCH, _BACK = 0.5, 100.0

_LEAN = radians(22.0)  # of the legs at the feet for balance, at most
_BENT = 0.7  # amount of a crouch from which on these are the shins alone

_NOTHING = 1e-12  # amount that is none
_TOLD = 0.1  # cosine of the angle between a step and what its slope is off, from which on that tells the curvature
_SMALL = 1e-4  # [rad] turns for which series are more exact than the formulas

_RESTS, _CREEPS = 0.15, 1e-4  # of the fastest steps before and after: one at which hands rest; [arm's lengths] none
_STRAYS, _DIRECT = 0.5, 0.9  # of their path: chords of hands that wander about, and of those that go straight there
_BESIDE, _AWAY = 0.4, 0.7  # arm's lengths from the shoulder at which an arm is folded, and bent at a right angle

_NECK = radians(40.0)  # angle about the vertical up to which the head turns alone
_SHARE = 0.5  # of the angle beyond that, which pelvis and spine make
_STEEP, _LEVEL = 0.3, 0.6  # share of a line that is level: below the first it tells no side, above the second it does


def cost_of_amounts(
    amounts: Numbers, missing: Sequence[tuple[Numbers, Numbers]], where: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Cost (P), slope (4, P) and curvature (4, 4, P), of what is missing as Gauss and Newton have it.

    `where` (2, P) tells how far straight down the places are, 1 below, -1 above, 0 where they are level, aside or
    behind; and of those below how far outside the shoulder, 1 there, -1 inside.
    """
    count = len(amounts)
    dear = np.exp(_BELOW[:, None] * where[0] + _OUTSIDE[:, None] * where[1])
    first, second, fourth = _FIRST[:, None], _SECOND[:, None] * dear, _FOURTH[:, None] * dear
    share, own = _WITH_CROUCH * (1.0 - np.maximum(where[1], 0.0)), amounts.copy()
    own[2] -= share * amounts[3]
    second[2] *= np.where(own[2] < 0.0, _BACK, 1.0)
    squared = own**2
    cost = (first * np.abs(own) + second * squared + fourth * squared**2).sum(0)
    slope = first * np.sign(own) + 2.0 * second * own + 4.0 * fourth * own * squared
    slope[3] -= share * slope[2]
    curve = np.zeros((count, *amounts.shape))
    curve[range(count), range(count)] = bend = 2.0 * second + 12.0 * fourth * squared
    curve[3, 3] += share**2 * bend[2]
    curve[2, 3] = curve[3, 2] = -share * bend[2]
    for each, rows in missing:
        cost = cost + each**2
        slope += 2.0 * each * rows
        curve += 2.0 * rows[:, None] * rows[None]
    return cost, slope, curve


def newton_step(amounts: Numbers, slope: Numbers, curve: Numbers) -> Numbers:
    """A step of Newton's method (4, P), in which an amount at a bound that it would leave stays there."""
    low, high = LOWEST[:, None], HIGHEST[:, None]
    stuck = (amounts <= low) & (slope + (low == 0.0) * _FIRST[:, None] > 0.0) | (amounts >= high) & (slope < 0.0)
    free = (~stuck).astype(float)
    diagonal = range(len(amounts))
    curve = curve * free[:, None] * free[None]
    curve[diagonal, diagonal] += 1.0 - free + 1e-9
    step: Numbers = np.linalg.solve(np.moveaxis(curve, -1, 0), -(slope * free).T[..., None])[..., 0].T
    return step


def curvature_by_secant(more: Numbers, curve: Numbers, change: Numbers, step: Numbers) -> Numbers:
    """Return what Gauss and Newton leave out of the curvature (4, 4, P), so far `more`, after a `step` (4, P).

    The sum of both is to explain the `change` (4, P) of the slope. What is left out is never less than nothing: with
    too little curvature steps to places out of reach go to and fro, while less than that of Gauss and Newton leads away
    from kinks of the cost. Source: Dennis, Gay and Welsch 1981, "An adaptive nonlinear least-squares algorithm", with
    its sizing; the symmetric rank-one update of Davidon 1959.
    """
    left, told = change - (curve * step).sum(1), (more * step).sum(1)
    size = np.clip((left * step).sum(0) / np.maximum((told * step).sum(0), 1e-300), 0.0, 1.0)
    off = left - size * told
    along = (off * step).sum(0)
    tells = along > _TOLD * np.sqrt((off * off).sum(0) * (step * step).sum(0)) + 1e-300
    found: Numbers = size * more + off[:, None] * off[None] * (tells / np.where(tells, along, 1.0))
    return found


class Speeds:
    """Velocities by each of c amounts, in P poses whose joints (n) turn by `turns` (n, c, 3, P) for more of one.

    These are rotation vectors in the joints' own frames. `feet` are the tips that stay, `short` (3, P) is the way by
    which legs carry the centre of mass back, 0 where they do not.
    """

    def __init__(
        self,
        geometry: Geometry,
        joints: Sequence[int],
        turns: Numbers,
        feet: Sequence[int],
        steady: BalanceTask | None,
        short: Numbers | None,
    ) -> None:
        tree = self._tree = geometry.tree
        self._geometry, self._joints = geometry, joints
        self._axes = rotate(geometry.frames[joints][:, None, :, :3], turns)
        self._moments = cross(self._axes, geometry.heads[joints][:, None])
        off = sum(self._by_turns(tree.tips[tip].joint, geometry.tip(tip)) for tip in feet) / len(feet)
        ways = tree.root_ways.T @ tree.root_ways
        self._root = -(ways @ off)
        if steady is not None and short is not None:
            levers = steady.levers(geometry)[joints]
            centre = cross(self._axes, levers[:, None]).sum(0) + self._root
            way = short / np.maximum(lengths(short), 1e-300)
            self._root = self._root - way * dot(centre, way[None])[:, None]

    def of_head(self, joint: int) -> Numbers:
        """Velocities (c, 3, P) of the head of a joint."""
        found: Numbers = self._by_turns(joint, self._geometry.heads[joint]) + self._root
        return found

    def _by_turns(self, joint: int, place: Numbers) -> Numbers:
        """Velocities (c, 3, P) of a place (3, P) that turns with a joint, on hips that stay."""
        above = self._tree.above[self._joints, joint]
        found: Numbers = cross(self._axes[above].sum(0), place[None]) - self._moments[above].sum(0)
        return found


def turning_on(turns: Numbers, turned: Numbers, beyond: Numbers) -> Numbers:
    """Return how joints turn on by each amount (n, c, 3, P), from the turns of one unit and those so far (n, 3, P).

    What limits have taken off, `beyond` (n, 3, P), stays taken off: about that axis a joint does not turn.
    """
    v = turned[:, None]
    angle = lengths(v)
    small = angle < _SMALL
    size = np.where(small, 1.0, angle)
    first = np.where(small, 0.5, (1.0 - np.cos(size)) / size**2)[..., None, :]
    second = np.where(small, 1.0 / 6.0, (size - np.sin(size)) / size**3)[..., None, :]
    across = cross(v, turns)
    found: Numbers = turns - first * across + second * cross(v, across)
    stopped = lengths(beyond)
    if (stopped > _SMALL).any():
        axis = (beyond / np.maximum(stopped, _SMALL)[:, None] * (stopped > _SMALL)[:, None])[:, None]
        found = found - axis * dot(found, axis)[..., None, :]
    return found


def with_moves(amounts: Numbers, ways: Sequence[Numbers], distances: Sequence[Numbers]) -> Numbers:
    """Return amounts (4, F) that grow with the moves of the hands, not only where these get too far.

    In a reach beyond the arm's length trunk and arm begin together. Between two rests an amount is at least on the line
    between those at the rests, by how far the hands have gone, unless they wander about, and less while an arm is
    folded, where the body would come towards the hand. So no move knows of another one. `ways` (3, F) of the hands and
    their `distances` (F) from the shoulders are in arm's lengths. Source: Kaminski, Bock and Gentile 1995, "The
    coordination between trunk and arm motion during pointing movements".
    """
    every, found = np.array(ways), amounts.copy()
    away = smoothstep((np.min(distances, 0) - _BESIDE) / (_AWAY - _BESIDE))
    steps = lengths(np.diff(every)).sum(0)
    gone = np.concatenate(([0.0], np.cumsum(steps)))
    for begun, ended in pairwise(_rests(steps)):
        far = gone[ended] - gone[begun]
        if far <= 2.0 * _CREEPS:
            continue
        # What rests for longer has the amounts that it needs there.
        first = int(np.searchsorted(gone, gone[begun] + _CREEPS)) - 1
        last = int(np.searchsorted(gone, gone[ended] - _CREEPS))
        chord = np.linalg.norm(every[..., last] - every[..., first], axis=1).sum() / far
        own, share = amounts[:, first : last + 1], (gone[first : last + 1] - gone[first]) / far
        begin, end = own[:, :1], own[:, -1:]
        side = np.sign(begin + end) * (begin * end >= 0.0)
        differs = np.abs(end - begin) / np.maximum(np.maximum(np.abs(begin), np.abs(end)), _NOTHING)
        more = np.maximum(side * (begin + share * (end - begin) - own), 0.0)
        direct = smoothstep((chord - _STRAYS) / (_DIRECT - _STRAYS))
        found[:, first : last + 1] = own + side * direct * differs * away[first : last + 1] * more
    return found


def _rests(steps: Numbers) -> list[int]:
    """Return the frames, with the first and the last one, at which what makes these steps (F - 1) nearly rests."""
    found, peak, low = [0], 0.0, -1  # the largest step since the last rest, and the least one after that
    for k, step in enumerate(steps.tolist()):
        if low >= 0 and step > max(steps[low] / _RESTS, _CREEPS):
            found.append(low)
            peak, low = step, -1
        elif step < _RESTS * peak:
            low = k if low < 0 or step < steps[low] else low
        peak = max(peak, step)
    return [*found, len(steps)]


def turn_for_looks(geometry: Geometry, up: Numbers, tasks: Sequence[Task]) -> Numbers:
    """Return the turn (F) [rad] about `up` (3, F) that pelvis and spine make for what heads look at, in their poses.

    Positive turns are to the left. Of several looks the first one counts.
    """
    look = next((task for task in tasks if isinstance(task, LookTask) and task.up is not None), None)
    count = len(geometry.states)
    if look is None:
        return np.zeros(count)
    now = rotate(geometry.tip_rotation(look.tip), np.broadcast_to(look.axis, (3, count)))
    to, _ = look.line(geometry)
    flat = [way - dot(way, up) * up for way in (now, to)]
    angle = np.unwrap(np.arctan2(dot(cross(*flat), up), dot(*flat)))
    level = np.minimum(*map(lengths, flat))
    share = _SHARE * np.clip((level - _STEEP) / (_LEVEL - _STEEP), 0.0, 1.0)
    turn: Numbers = np.sign(angle) * np.maximum(np.abs(angle) - _NECK, 0.0) * share
    return turn


class Stand:
    """Poses of the joints that a basis turns, up to the shoulders, whose feet stay; on them all else hangs as it is.

    `begin` are the poses to start from, with these `rotations` (n, 4, F), `joints` (j) those of the basis; each of the
    `legs` is a thigh, a shin, a foot and a tip that stays; arms hang on `anchors`. `rows` are the numbers of the joints
    in the small `tree` of these alone, `turning` (j) those of the basis.
    """

    def __init__(
        self,
        begin: Geometry,
        rotations: Numbers,
        joints: Sequence[int],
        legs: Sequence[tuple[int, int, int, int]],
        anchors: Sequence[int],
        steady: BalanceTask | None,
    ) -> None:
        body, states = begin.tree, begin.states
        self._feet = tips = [leg[3] for leg in legs]
        roots = [joint for joint, parent in enumerate(body.parents) if parent < 0]
        ends = [*joints, *anchors, *roots, *(body.tips[tip].joint for tip in tips)]
        some = np.flatnonzero(body.above[:, ends].any(1)).tolist()
        self.rows = {joint: row for row, joint in enumerate(some)}
        self.joints, self.turning = joints, [self.rows[joint] for joint in joints]
        self._legs = [[self.rows[joint] for joint in leg[:3]] for leg in legs]
        self.tree = tree = _part(body, tuple(some), tuple(joints), tuple(tips))
        self._begin, self._rotations = begin, rotations[some]
        none = np.empty((0, len(states))), np.empty((0, 4, len(states)))
        self._frames = States(*none, self._rotations[tree.held], states.root, states.place)
        self._weight = steady and steady.gathered(begin, some)

    def turned(self, turns: Numbers, at: Columns) -> Numbers:
        """Rotations (m, 4, P) of poses `at`, those of the basis turned by rotation vectors (j, 3, P)."""
        rotations = self._rotations[..., at].copy()
        rotations[self.turning] = normalized(product(rotations[self.turning], exponential(turns)))
        return rotations

    def posed(self, rotations: Numbers, at: Columns) -> Geometry:
        """Poses `at` with these rotations (m, 4, P)."""
        tree = self.tree
        return self.brought_back(Geometry(tree, tree.posed(rotations, self._frames.take(at))), at)

    def brought_back(self, geometry: Geometry, at: Columns) -> Geometry:
        """Poses of the small tree, or of the whole, with hips where they bring the feet to where they were."""
        tips, ways = (range(len(self._feet)) if geometry.tree is self.tree else self._feet), self.tree.root_ways
        both = zip(tips, self._feet, strict=True)
        off = sum(geometry.tip(tip) - self._begin.tip(own)[:, at] for tip, own in both) / len(self._feet)
        return geometry.shifted(-ways.T @ (ways @ off))

    def weight(self, at: Columns) -> BalanceTask | None:
        """The balance of poses `at`, by the joints of the small tree."""
        return self._weight and self._weight.take(at)

    def lean(
        self, geometry: Geometry, rotations: Numbers, amounts: Numbers, weight: BalanceTask | None
    ) -> Numbers | None:
        """Have the legs of poses lean for balance; return the way (3, P) by which they do; None where none does.

        That is 0 where they need not, or lean as far as they may. Changes the rotations (m, 4, P).
        """
        if weight is None:
            return None
        missing = weight.support.across.T @ weight.measure(geometry).errors
        if not missing.any():
            return None
        bent = np.clip(amounts[-1] / _BENT, 0.0, 1.0)
        hips, knees, ankles = geometry.heads[np.array(self._legs).T]
        # Straight legs lean as a whole, bent ones with their shins.
        high, low = ((ends - ankles).sum(0) / len(ankles) for ends in (hips, knees))
        lever = high + bent * (low - high)
        lean = cross(lever, missing) / np.maximum(dot(lever, lever), 1e-300)
        share = np.minimum(1.0, _LEAN / np.maximum(lengths(lean), 1e-300))
        lean *= share
        joints = [joint for leg in self._legs for joint in leg]
        turns = np.array([(1.0 - bent) * lean, bent * lean, -lean] * len(self._legs))
        turns = rotate_back(geometry.frames[joints][:, :, :3], turns)
        rotations[joints] = normalized(product(rotations[joints], exponential(turns)))
        made: Numbers = missing * (share == 1.0)
        return made

    def with_speeds(
        self, turns: Numbers, turned: Numbers, amounts: Numbers, at: Indices
    ) -> tuple[Geometry, Speeds, Numbers]:
        """Poses with amounts (c, P), by rotation vectors (j, 3, P) of one unit (j, c, 3, P), and velocities by each.

        Also returned are the rotations (m, 4, P), which limits may have cut.
        """
        rotations = self.turned(turned, at)
        geometry = self.posed(rotations, at)
        inside = self.tree.rotations(geometry.states)[self.turning]
        beyond = rotation_vectors(product(conjugated(inside), rotations[self.turning]))
        weight, feet = self.weight(at), range(len(self._feet))
        short = self.lean(geometry, rotations, amounts, weight)
        geometry = geometry if short is None else self.posed(rotations, at)
        speeds = Speeds(geometry, self.turning, turning_on(turns, turned, beyond), feet, weight, short)
        return geometry, speeds, rotations


@lru_cache(maxsize=32)
def _part(tree: Tree, joints: tuple[int, ...], moving: tuple[int, ...], tips: tuple[int, ...]) -> Tree:
    """Tree.part(), kept."""
    return tree.part(joints, moving, tips)
