# SPDX-License-Identifier: GPL-3.0-or-later
"""Posture of a body that stands and takes part in a reach that its arms cannot make alone, to start from.

A hand that is too far away leaves open what brings it nearer. People turn pelvis and chest towards it, lean aside,
hinge at the hips over straight legs, and crouch, each as a synergy of many joints (Alexandrov, Frolov and Massion 1998,
"Axial synergies during human upper trunk bending"). Here these four are a basis. Their amounts are what brings the
shoulders within comfortable reach of all places at the least cost, where legs are the dearest: they bend only for what
the others leave. The amounts are calm in time, and zero where the reference has the hands where they are to be.

What the shoulder girdle brings an arm nearer is left out of what is missing, and then it takes that share; and arms
without a goal hang, whatever the trunk does.

The crouch, with half a hinge, is a fit to four lifts of the CMU library: knees that bend by 100 degrees go with a
pelvis that tilts by 30, a chest that leans by 75, a head that stays behind at 55, and shins that lean ahead by 22. Then
the crouch alone is a squat. Shares of the other three, and all costs, were chosen by postures of two figures. That for
places below turns and leans aside are dear, and hinges outside the shoulder and crouches inside, and that squats to
what is outside have no hinge, suits 61 recorded reaches of five people; fits of others gained too little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import radians

import numpy as np

from ...goals.support import BalanceTask
from ...goals.task import Level, Task
from ...kinematics.arrays import Columns, Indices, Mask, Numbers, averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    cross,
    dot,
    lengths,
    normalized,
    rotate,
    rotate_back,
)
from ...kinematics.body_anatomy import ARM_PARTS, Part, TwoPartLimb
from .amounts import (
    HIGHEST,
    LOWEST,
    Speeds,
    Stand,
    cost_of_amounts,
    curvature_by_secant,
    newton_step,
    turn_for_looks,
    with_moves,
)
from .flexing import flexion_axes, parts_of_body, spine_and_neck, two_part_limbs
from .hanging import (
    COMFORTABLE,
    ReachingArm,
    arm_of,
    is_place,
    nearer_by_girdle,
    turn_of_girdle,
    turns_of_free_arms,
    with_turns,
)

# Turns [rad] of one unit of each: the pelvis, the spine and the neck, all of their joints together.
_TURN = dict(zip(("pelvis", "spine", "neck"), map(radians, (18.0, 32.0, -10.0)), strict=True))
_ASIDE = dict(zip(("pelvis", "spine", "neck"), map(radians, (0.0, 30.0, -15.0)), strict=True))
_HINGE = dict(zip(("pelvis", "spine", "neck"), map(radians, (40.0, 25.0, -25.0)), strict=True))
_CROUCH = dict(zip(("pelvis", "spine", "neck"), map(radians, (10.0, 32.5, -7.5)), strict=True))
_LEGS_AHEAD = radians(10.0)  # of straight legs at the feet, which take the hips back in a hinge
_LEGS_ASIDE = radians(5.0)
_KNEES, _SHINS = radians(100.0), radians(27.0)  # of a crouch
BEGIN = np.array([0.0, 0.0, 0.45, 0.3])  # amounts to start from: a straight knee brings nothing nearer at first
_STEPS, _STRIDE, _LONGEST, _SHORTER = 10, 4, 0.6, 0.4
_ROUGHLY = 6  # steps that tell whether a place is too far
_AGAIN, _IN_A_DRAG = 2, 0.15  # steps of one move of a drag, and the longest of them
_STILL = 5e-4  # change of an amount below which its pose is done
_NOTHING, _ROUNDING = 1e-4, 1e-5  # amount that is none; of the size: distance from a target that is none
_STRAIGHT = 0.17  # [rad] of bend up to which a knee does not tell how it bends
_SMOOTHED = 32  # times that amounts are averaged with those of the frames beside it
_SHORT = 0.2  # of an arm's length: what trunk and legs leave of a place that is better reached by a step
_SIDE, _OUTSIDE = 0.2, 0.6  # of it: from the middle, at which a shoulder is aside; from there, at which a place is
_NEAR = 0.25  # of it: way from where the reference has the hand, on which a straighter arm is no reason to move


class Reaching:
    """The part that trunk, legs and free arms of a reference of F poses, its feet held, take in what its hands do."""

    def __init__(
        self,
        tree: Tree,
        reference: States,
        legs: Sequence[tuple[int, int, int, int]],
        steady: BalanceTask | None,
    ) -> None:
        self._tree, self._reference, self._begin = tree, reference, Geometry.of(tree, reference)
        self._legs, self._steady, self.tips = legs, steady, [leg[3] for leg in legs]
        self._arms = [arm_of(tree, number) for number in range(len(tree.tips))]
        self._rotations = tree.rotations(reference)
        self._axes = [self._axis(*leg[:3]) for leg in legs]
        self._left = normalized(np.sum(self._axes, 0))  # about which the knees bend, and the trunk leans ahead
        self._up = self._upward()
        self._seen: dict[bytes, tuple[Geometry, Speeds, Numbers]] = {}

    @cached_property
    def _turns(self) -> Numbers:
        """Rotation vectors (j, 4, 3, F) of the joints of the basis, in their own frames, of one unit of each amount."""
        return np.array([turns for _, turns in sorted(self._basis.items())])

    @cached_property
    def stand(self) -> Stand:
        """Poses of what the basis turns, on its feet."""
        anchors = [arm.anchor for arm in self._arms]
        return Stand(self._begin, self._rotations, sorted(self._basis), self._legs, anchors, self._steady)

    @cached_property
    def _basis(self) -> dict[int, Numbers]:
        """Rotation vectors (4, 3, F) by joint, in its own frame, of one unit of turn, aside, hinge and crouch."""
        basis: dict[int, Numbers] = {}

        def add(number: int, joints: Sequence[int], turn: Numbers) -> None:
            """Have joints make a turn (3, F) of armature space together."""
            for joint in joints:
                turns = basis.setdefault(joint, np.zeros((len(HIGHEST), *turn.shape)))
                turns[number] += rotate_back(self._begin.frames[joint][:, :3], turn / len(joints))

        left, up = self._left, self._up
        ahead = cross(left, up)
        spine, neck = spine_and_neck(self._tree, [leg[0] for leg in self._legs])
        moves = 0 in self._tree.joint_of
        for number, (axis, shares) in enumerate(((up, _TURN), (ahead, _ASIDE), (left, _HINGE), (left, _CROUCH))):
            pelvis = shares["pelvis"] if moves else 0.0
            add(number, [0], pelvis * axis)
            add(number, spine, shares["spine"] * axis)
            add(number, neck, shares["neck"] * axis)
            for thigh, *_ in self._legs:
                add(number, [thigh], -pelvis * axis)
        for (thigh, shin, foot, _), own in zip(self._legs, self._axes, strict=True):
            for number, lean in ((1, _LEGS_ASIDE * ahead), (2, _LEGS_AHEAD * left)):
                add(number, [thigh], -lean)
                add(number, [foot], lean)
            add(3, [thigh], (_SHINS - _KNEES) * own)
            add(3, [shin], _KNEES * own)
            add(3, [foot], -_SHINS * own)
        return basis

    def _upward(self) -> Numbers:
        """The direction (3, F) that is up: what balance takes for it, or that of the legs."""
        heads = self._begin.heads
        legs = np.mean([heads[thigh] - heads[foot] for thigh, _, foot, _ in self._legs], 0)
        if self._steady is None:
            return normalized(legs - dot(legs, self._left) * self._left)
        up = np.cross(*self._steady.support.across)[:, None]
        return np.broadcast_to(up * np.sign((up * legs).sum()), legs.shape)

    def _axis(self, upper: int, joint: int, end: int) -> Numbers:
        """The axis (3, F) of armature space about which a knee bends: as it does, or where it is straight as it can."""
        heads, frame = self._begin.heads, self._begin.frames[joint][:, :3]
        own = flexion_axes(self._tree)[two_part_limbs(self._tree).index(TwoPartLimb(upper, joint, end))]
        axis = rotate(frame, np.broadcast_to(own[:, None], frame.shape[1:]))
        first, second = (heads[b] - heads[a] for a, b in ((upper, joint), (joint, end)))
        turn = cross(first, second)
        bend = np.arctan2(lengths(turn), dot(first, second))
        told = np.clip((bend - _STRAIGHT) / _STRAIGHT, 0.0, 1.0)
        return normalized(axis * (1.0 - told) + turn * (told / np.maximum(lengths(turn), 1e-300)))

    def least(self, tasks: Sequence[Task]) -> States:
        """The reference as it takes part in tasks, or as it is where they need nothing."""
        return self.posed(self.amounts(tasks), tasks)

    def posed(self, amounts: Numbers, tasks: Sequence[Task]) -> States:
        """The reference with amounts (4, F) of the basis, turned to what heads look at, and with girdles and free arms
        as tasks have them."""
        amounts = self._faced(amounts, tasks)
        if not amounts.any():
            return self._with_arms(self._begin, tasks)
        return self._with_arms(self.standing(amounts), tasks)

    def _faced(self, amounts: Numbers, tasks: Sequence[Task]) -> Numbers:
        """Amounts (4, F) with so much more of the turn that it is the one for looks, if that is the larger one."""
        asked = turn_for_looks(self._begin, self._up, tasks) / (_TURN["pelvis"] + _TURN["spine"])
        if not asked.any():
            return amounts
        asked = averaged_in_time(np.clip(asked, LOWEST[0], HIGHEST[0]), _SMOOTHED if len(asked) > 1 else 0)
        side, faced = np.sign(asked), amounts.copy()
        faced[0] += side * np.maximum(np.abs(asked) - np.maximum(side * amounts[0], 0.0), 0.0)
        return faced

    def standing(self, amounts: Numbers) -> Geometry:
        """Poses with amounts (4, F) of the basis, their feet where they were and their weight above them."""
        every, rotations, seen = slice(None), self._rotations.copy(), self._seen.get(amounts.tobytes())
        if seen is None:
            turned = self.stand.turned((amounts[None, :, None] * self._turns).sum(1), every)
            self.stand.lean(self.stand.posed(turned, every), turned, amounts, self.stand.weight(every))
        else:
            turned = seen[2]
        rotations[self.stand.joints] = turned[self.stand.turning]
        return self.stand.brought_back(Geometry(self._tree, self._tree.posed(rotations, self._reference)), every)

    @property
    def left(self) -> Numbers:
        """The direction (3) of armature space that is to the left, or to the right, over all frames, or 0."""
        middle = self._left.mean(1)
        left: Numbers = middle / max(float(np.linalg.norm(middle)), 1e-300)
        return left

    def is_asked(self, tasks: Sequence[Task]) -> bool:
        """Tell whether a hand is to be anywhere else than the reference has it."""
        parts = parts_of_body(self._tree)
        return any(parts[self._tree.tips[tip].joint] in ARM_PARTS and way.any() for tip, way in self._ways(tasks))

    def amounts(self, tasks: Sequence[Task], begin: Numbers | None = None) -> Numbers:
        """Amounts (4, F) of the basis at the least cost of what is missing and of what is moved, calm in time.

        Projected Gauss-Newton steps; a few from amounts to `begin` with, such as those of a moment before.
        """
        count = len(self._reference)
        found = np.zeros((len(HIGHEST), count))
        ways = self._ways(tasks)
        moved = np.any([way.any(0) for _, way in ways], 0) if ways else np.zeros(count, bool)
        if not moved.any():
            return found
        knots = _every(moved, _STRIDE)
        at = knots[moved[knots]]
        goals = self._goals(ways, at)
        amounts = np.repeat(BEGIN[:, None], len(at), 1) if begin is None else begin[:, at]
        steps, longest = (_STEPS, _LONGEST) if begin is None else (_AGAIN, _IN_A_DRAG)
        amounts, cost = self.cheapest(amounts, at, goals, steps, longest)
        if begin is None:  # a hinge lowers the shoulder of a hand overhead: what is nearest is not always cheapest
            idle = np.sum([goal.away(goal.at_rest(at))[0] ** 2 for goal in goals], 0) < cost
            if idle.any():
                none = np.zeros((len(found), idle.sum()))
                amounts[:, idle], _ = self.cheapest(none, at[idle], self._goals(ways, at[idle]), steps)
        amounts = np.where(np.abs(amounts) < _NOTHING, 0.0, amounts)
        for row, values in zip(found, amounts, strict=True):
            row[at] = values
            row[moved] = np.interp(np.flatnonzero(moved), knots, row[knots])
        if count > 2:
            arms = [(self._arms[tip], self.place(tip, way, slice(None)), way) for tip, way in ways]
            distances = [lengths(place - self._begin.heads[arm.anchor]) / arm.length for arm, place, _ in arms]
            found = with_moves(found, [way / arm.length for arm, _, way in arms], distances)
        first, last = found[:, 0].copy(), found[:, -1].copy()
        for _ in range(_SMOOTHED if count > 1 else 0):
            found = averaged_in_time(found.T, 1).T
            found[:, 0], found[:, -1] = first, last  # so that a lap closes whose ends have the same goals
        return found

    def short(self, tasks: Sequence[Task]) -> dict[int, int]:
        """Return the tips that reach farther than trunk, legs and arms do by themselves, each with its farthest pose.

        The feet would have to step, or to turn.
        """
        every = [(tip, way, int(lengths(way).argmax())) for tip, way in self._ways(tasks) if way.any()]
        # What costs nothing leaves more missing than what is cheapest.
        every = [each for each in every if self._missing_at_rest(*each) > _SHORT]
        if not every:
            return {}
        poses, every_pose = [pose for *_, pose in every], np.arange(len(every))
        alone, steady = self._reference.take(poses), self._steady and self._steady.take(np.array(poses))
        here, goals = Reaching(self._tree, alone, self._legs, steady), []  # a pose for each tip, in which it reaches
        for number, (tip, way, pose) in enumerate(every):
            only = np.zeros((3, len(every)))
            only[:, number] = way[:, pose]
            goals.append(_Goal(here, tip, only, every_pose))
        begin = np.repeat(BEGIN[:, None], len(every), 1)
        amounts, _ = here.cheapest(begin, every_pose, goals, _ROUGHLY, enough=_SHORT**2)
        there, _ = here.with_speeds(amounts, every_pose)
        missing = [goal.away(goal.shoulder(there))[0][number] for number, goal in enumerate(goals)]
        return {tip: pose for (tip, _, pose), far in zip(every, missing, strict=True) if far > _SHORT}

    def _missing_at_rest(self, tip: int, way: Numbers, pose: int) -> float:
        """Share of the arm's length that is missing in the reference to a place this way (3, F) from where a tip is."""
        at = np.array([pose])
        goal = _Goal(self, tip, way[:, at], at)
        return float(goal.away(goal.at_rest(at))[0][0])

    def goals(self, tasks: Sequence[Task], at: Indices) -> list[_Goal]:
        """Return the places that the tips of tasks reach for in the poses `at`."""
        return self._goals(self._ways(tasks), at)

    def _goals(self, ways: Sequence[tuple[int, Numbers]], at: Indices) -> list[_Goal]:
        return [_Goal(self, tip, way[:, at], at) for tip, way in ways]

    def _ways(self, tasks: Sequence[Task]) -> list[tuple[int, Numbers]]:
        """Return the tips that reach for places, and the vectors (3, F) to these from the reference."""
        places = [task for task in tasks if task.level != Level.HOLD and is_place(task)]
        return [(task.tip, self._missing(task)) for task in places]

    def _missing(self, task: Task) -> Numbers:
        """Errors (rows, F) of a task in the reference; 0 where they are rounding, so that this moves nothing."""
        errors = task.measure(self._begin).errors
        missing: Numbers = errors * (lengths(errors) > _ROUNDING * self._tree.size)
        return missing

    def cost(self, amounts: Numbers, at: Indices, goals: Sequence[_Goal]) -> Numbers:
        """Cost (P) of amounts (4, P)."""
        seen = self.with_speeds(amounts, at)
        return cost_of_amounts(amounts, [goal.missing(*seen) for goal in goals], _where(goals))[0]

    def cheapest(
        self,
        amounts: Numbers,
        at: Indices,
        goals: Sequence[_Goal],
        steps: int,
        longest: float = _LONGEST,
        enough: float = 0.0,
    ) -> tuple[Numbers, Numbers]:
        """Amounts (4, P) after so many steps of Newton's method on their cost, inside their bounds, and the cost (P).

        What is missing is one-sided, so that a step may lead too far: one that costs more is taken back and tried
        shorter. Poses whose steps are small, or that cost little `enough`, are done.
        """
        n, count = len(at), len(amounts)
        least, best, limit = np.full(n, np.inf), amounts.copy(), np.full(n, longest)
        slopes, curves, more = np.zeros((count, n)), np.zeros((count, count, n)), np.zeros((count, count, n))
        left, where = np.arange(n), _where(goals)
        for number in range(steps):
            seen = self.with_speeds(amounts, at[left])
            cost, slope, curve = cost_of_amounts(amounts, [goal.missing(*seen, left) for goal in goals], where[:, left])
            better, step = cost < least[left], amounts - best[:, left]
            if number:
                more[..., left] = curvature_by_secant(more[..., left], curve, slope - slopes[:, left], step)
            limit[left] = np.where(better, limit[left], _SHORTER * np.abs(step).max(0))
            now = left[better]
            least[now], best[:, now] = cost[better], amounts[:, better]
            slopes[:, now], curves[..., now] = slope[:, better], curve[..., better]
            step = newton_step(best[:, left], slopes[:, left], curves[..., left] + more[..., left])
            step *= np.minimum(1.0, limit[left] / np.maximum(np.abs(step).max(0), 1e-300))
            amounts = np.clip(best[:, left] + step, LOWEST[:, None], HIGHEST[:, None])
            moving = (np.abs(amounts - best[:, left]).max(0) > _STILL) & (least[left] > enough)
            if not moving.any():
                break
            left, amounts = left[moving], amounts[:, moving]
        return best, least

    def with_speeds(self, amounts: Numbers, at: Indices) -> tuple[Geometry, Speeds]:
        """Poses of the small tree with amounts (4, P), and the velocities by each; of one pose kept for a drag."""
        key = amounts.tobytes()
        found = self._seen.get(key)
        if found is None:
            turns = self._turns[..., at]
            turned = (amounts[None, :, None] * turns).sum(1)
            found = self.stand.with_speeds(turns, turned, amounts, at)
            if len(self._reference) == 1:
                self._seen = dict([*self._seen.items()][-1:]) | {key: found}
        return found[:2]

    def _with_arms(self, here: Geometry, tasks: Sequence[Task]) -> States:
        """Poses with the girdles' share of what arms reach for, and with arms that hang where nothing is asked."""
        turns = dict[int, Numbers]()
        for tip, way in self._ways(tasks):
            girdle = self._girdle(tip, here.heads, way) if way.any() else None
            if girdle:
                turns |= {joint: girdle[1] / len(girdle[0]) for joint in girdle[0]}
        if here is not self._begin:
            turns |= turns_of_free_arms(self._begin, here, self._left, self._up, self._busy(tasks))
        return with_turns(here, turns)

    def with_free_arms(self, states: States, tasks: Sequence[Task]) -> States:
        """The states of a body that reaches, with arms that hang from its trunk where nothing is asked of them."""
        tree, rotations = self._tree, self._tree.rotations(states)
        busy = self._busy(tasks)
        free = [j for j, part in enumerate(parts_of_body(tree)) if part in ARM_PARTS]
        free = [j for j in free if not any(tree.above[j, tree.tips[number].joint] for number in busy)]
        rotations[free] = self._rotations[free]
        here = Geometry(tree, tree.posed(rotations, states))
        turns = turns_of_free_arms(self._begin, here, self._left, self._up, busy)
        return with_turns(here, turns) if turns else states

    def _busy(self, tasks: Sequence[Task]) -> set[int]:
        """The tips that are held, or that are not where tasks have them."""
        return {task.tip for task in tasks if task.level == Level.HOLD or self._missing(task).any()}

    def _girdle(
        self, tip: int, heads: Numbers, way: Numbers, at: Columns = slice(None)
    ) -> tuple[list[int], Numbers, Numbers, Numbers] | None:
        """Return the joints between trunk and shoulder, and what they turn by (3, P) towards what a tip reaches for.

        `heads` (n, 3, P) are those of poses `at`. Also returned are the link to the shoulder and the way from it to the
        place (3, P); None if there is no girdle.
        """
        arm, end, parts = self._arms[tip], self._tree.tips[tip].joint, parts_of_body(self._tree)
        joints = [j for j, part in enumerate(parts) if part == Part.GIRDLE and self._tree.above[j, end]]
        if not joints or not arm.bends or parts[end] not in ARM_PARTS:
            return None
        link, to = heads[arm.anchor] - heads[joints[0]], self.place(tip, way, at) - heads[arm.anchor]
        return joints, turn_of_girdle(link, to, way, self._up[:, at], arm.length), link, to

    def bounds(self, tip: int, way: Numbers, at: Columns) -> tuple[Numbers, Numbers]:
        """Distances (P) between which a tip reaches by itself, for a place this way (3, P) from where it is."""
        anchor, length, bends = self._arms[tip]
        now = lengths((self._begin.tip(tip) - self._begin.heads[anchor])[:, at])
        if not bends:
            return now, now
        near = np.clip(1.0 - lengths(way) / (_NEAR * length), 0.0, 1.0)
        most = COMFORTABLE * length + np.maximum(now - COMFORTABLE * length, 0.0) * near
        girdle = self._girdle(tip, self._begin.heads[..., at], way, at)
        if girdle:
            _, turn, link, to = girdle
            most += nearer_by_girdle(link, to, turn)
        return np.zeros_like(most), most

    def place(self, tip: int, way: Numbers, at: Columns) -> Numbers:
        """Places (3, P) this way from where a tip is."""
        return self._begin.tip(tip)[:, at] + way

    def where(self, tip: int, place: Numbers, at: Columns) -> Numbers:
        """Return how far straight down places (3, P) are, how far aside there, and a shoulder's own side (3, P)."""
        up, left, (anchor, length, _) = self._up[:, at], self._left[:, at], self._arms[tip]
        shoulder = self._begin.heads[anchor][:, at]
        to, way = normalized(place - shoulder), dot(place - shoulder, left) / (_OUTSIDE * length)
        below = (np.hypot(dot(to, left), np.minimum(dot(to, cross(left, up)), 0.0)) - 1.0) * dot(to, up)
        side = dot(shoulder - self._begin.heads[0][:, at], left) / (_SIDE * length)
        return np.array([below, np.clip(way, -1.0, 1.0) * np.maximum(below, 0.0) ** 2, np.clip(side, -1.0, 1.0)])

    @property
    def heads(self) -> Numbers:
        """Heads of all joints (n, 3, F) in the reference."""
        return self._begin.heads

    def arm(self, tip: int) -> ReachingArm:
        """The arm of a tip."""
        return self._arms[tip]


def _where(goals: Sequence[_Goal]) -> Numbers:
    """Return where the places of goals are (2, P), for cost_of_amounts(): means by the ways to them."""
    total = np.sum([goal.far for goal in goals], 0)
    below, aside, side = np.sum([goal.where * goal.far for goal in goals], 0) / np.maximum(total, 1e-300)
    return np.array([below, aside * side])  # left and right hands together are neither outside nor inside


class _Goal:
    """The place of a tip, and how much of an arm's length is missing to it."""

    def __init__(self, reaching: Reaching, tip: int, way: Numbers, at: Indices) -> None:
        self._reaching, self._arm = reaching, reaching.arm(tip)
        self._place = reaching.place(tip, way, at)
        self._least, self._most = reaching.bounds(tip, way, at)
        self.far = lengths(way)
        self.where = reaching.where(tip, self._place, at)

    def missing(self, geometry: Geometry, speeds: Speeds, those: Columns = slice(None)) -> tuple[Numbers, Numbers]:
        """Return what is missing to `those` P of its places, and its slopes (4, P)."""
        missing, way = self.away(self.shoulder(geometry), those)
        along = way / np.maximum(lengths(way), 1e-300)
        return missing, dot(speeds.of_head(self._row), along[None]) * (missing != 0.0) / self._arm.length

    @property
    def _row(self) -> int:
        """The number of the shoulder in the small tree, which is made where it is needed."""
        return self._reaching.stand.rows[self._arm.anchor]

    def shoulder(self, geometry: Geometry) -> Numbers:
        """The place (3, P) from which the arm reaches, in poses of the small tree."""
        place: Numbers = geometry.heads[self._row]
        return place

    def at_rest(self, at: Indices) -> Numbers:
        """The places (3, P) of the shoulder in the reference."""
        place: Numbers = self._reaching.heads[self._arm.anchor][:, at]
        return place

    def away(self, shoulder: Numbers, those: Columns = slice(None)) -> tuple[Numbers, Numbers]:
        """Return what is missing (P) to `those` P of its places, and the ways (3, P) from these to the shoulder."""
        way = shoulder - self._place[:, those]
        far = lengths(way)
        missing = (far - np.clip(far, self._least[those], self._most[those])) * (self.far[those] > 0.0)
        return missing / self._arm.length, way


def reaching_of(
    tree: Tree, reference: States, tasks: Sequence[Task], steady: BalanceTask | None = None
) -> Reaching | None:
    """Return how a reference that stands on held feet reaches; None where no leg is held or the hips do not move.

    With balance, `steady`, the legs lean so far that the weight stays above its support.
    """
    parts, legs = parts_of_body(tree), []
    held = {task.tip for task in tasks if task.level == Level.HOLD and is_place(task)}
    for limb in two_part_limbs(tree):
        own = [tip for tip in sorted(held) if tree.above[limb.end, tree.tips[tip].joint]]
        if own and parts[limb.upper] == Part.THIGH and limb.has_end:
            legs.append((*limb, own[0]))
    return Reaching(tree, reference, legs, steady) if legs and tree.moves_root else None


def _every(moved: Mask, stride: int) -> Indices:
    """Every so many of all frames, the last one, and those that are moved for no longer than between two of these.

    They do not depend on where a motion begins, which rounding may tell.
    """
    frames = np.arange(len(moved))
    regular = (frames % stride == 0) | (frames == len(moved) - 1)
    runs = np.cumsum(np.diff(moved, prepend=False))  # odd while moved
    return np.flatnonzero(regular | (moved & ~np.isin(runs, runs[regular & moved])))
