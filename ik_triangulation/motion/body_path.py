# SPDX-License-Identifier: GPL-3.0-or-later
"""A body along a path: all frames together, from knots that are solved one from the other.

Knots are as far apart as the goals move, never by count of frames. Each starts from the turns off the reference that
the one before has. Between the knots these turns are interpolated; then all frames at once are relaxed towards the
reference, towards their neighbours and above their support, in what their goals leave free; last they are brought to
their goals exactly, held tips after all others. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import radians
from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..goals.from_goals import RADIAN
from ..goals.orientation import OrientTask
from ..goals.task import Level, PlaceTask, Task, unwrapped
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States
from ..kinematics.batch.algebra import at
from ..kinematics.body_anatomy import Part
from ..solvers.batch.change import System
from ..solvers.batch.descent import Descent, descend, hold, precisely
from ..solvers.batch.restarts import aligned, strayed, tells_tilt
from ..solvers.body.clearing import cleared
from ..solvers.body.flexing import (
    LEFT_STRAIGHT,
    body_compliance,
    errors_of_tips,
    firm,
    flexed,
    inclination,
    inclined,
    parts_of_body,
    shares_in_motion,
)
from ..solvers.body.floor import kept_above, stood
from ..solvers.body.hanging import hung
from ..solvers.body.priorities import (
    BODY_ROUNDS,
    HELD_SHARE,
    POSTURE_GAIN,
    at_two_levels,
    exactly,
    held_of,
    settle,
    solve_sets,
)
from ..solvers.body.reaching import reaching_of
from ..solvers.body.swivelling import leaping_ends, limbs_with_swivel, with_swivels, with_traded_ends
from ..solvers.natural.looking import turned_to_look
from ..solvers.natural.posture import Posture, Relaxation, interpolated_offsets, time_weight
from ..solvers.natural.soft_edge import Pace, slowed
from .body_easing import eased, is_worth_trading, largest_turns, led_over, unsteadiness
from .far_goals import drawn_in, far_tips, is_reach, without
from .jumps import leaps_of, ways_of
from .limb_motion import limbs_alone
from .shot import Shot

_OFTEN = 4  # knots between two looks at what the user does
_FARTHEST = 32  # frames between two knots
_BETWEEN = 0.25  # of the ways from knot to knot: those of the frames that are relaxed before all of them are
_RADIANS = 2.0  # turn of a goal that counts as much as a way of the limb's reach
_STRAYS, _STRAY, _UNBENT = 24, 0.4, 0.2  # poses tried where a knot is missed; how far they stray; and unbend [rad]
_MUCH = 0.7  # of its value: a knot that stays missed takes another pose only for less than that
_SWEEPS, _SETTLED = 6, 0.03  # times that a knot is solved beside others; change [rad] of the one before that is none
_NEAREST = 3  # frames between which no other knot is put
_COARSELY, _NEARLY = 4e-3, 2e-3  # [rad] change in a step up to which knots, and frames between them, are eased
_GUIDE = 10.0  # times its tolerance: as near as a knot has to come
# Ways of the goals from knot to knot, of the limb's reach, whether to ease the knots together, and whether to go back
# from the last frame: the first that misses nothing and makes no jump is taken.
_TRIED = (
    (0.4, True, False),
    (0.4, False, False),
    (0.4, False, True),
    (0.3, False, False),
    (0.2, False, False),
    (0.2, False, True),
)
_FACING, _STEADY = 0.2, 32  # weight of directions beside places in the motion of a reference as a whole; averagings
_HUNG = 0.02  # of the compliance of the place of a body that hangs on its hands: its arms go up first
_JUMP, _FAST = 3.0, 0.3  # times the local median: a turn from frame to frame that is an outlier; [rad] one that is fast
_LESS_CALM = 1.25  # times unsteadiness and largest turn of the body as a whole: the most with limbs posed alone
_ENOUGH, _CALMER = 2, 0.8  # tries, and share of the unsteadiness so far, from which on others are not worth a try
_ASTRAY = 0.8  # [rad] turn of a joint off a pose that meets its goals without such a turn
_FASTEST = radians(8.5)  # turn of a joint of an arm in a frame at the edge of reach, where the trunk turns it as well
_ON_ITS_WAY = Descent(iterations=20, stall=4)


@dataclass(frozen=True, kw_only=True)
class BodyPathSettings:
    """Bounds of the work: steps of posture at the first frame, at each knot, of all knots, of frames `between` them, of
    all frames together, and the `last` ones after limbs with a swivel are posed."""

    first: int = 16
    knot: int = 2
    coarse: int = 8
    between: int = 6
    fine: int = 2
    last: int = 2


USUAL_SETTINGS = BodyPathSettings()


class BodyPath(NamedTuple):
    """States of F frames, and which of them meet all goals (F)."""

    states: States
    met: Mask


def body_path(shot: Shot, settings: BodyPathSettings = USUAL_SETTINGS) -> Work[BodyPath]:
    """Return states that meet the tasks, keep to the reference, and change little from frame to frame.

    A reference that meets its goals is the result. The tasks have the levels of goals.task. Frames that cannot be met
    come as near as their priorities allow: a place that the body cannot reach with all others is approached along a
    straight line, as far as nothing else is missed for it. With a floor goals below it are raised to it, and the body
    stays above. Yields between parts of the work.
    """
    tree, floor, steady = shot.tree, shot.floor, shot.steady
    asked = floor.raised(shot.tasks) if floor else list(shot.tasks)
    begun = Geometry.of(tree, shot.reference)
    met = System(tree, shot.reference, [*asked, steady] if steady else asked).met
    if met.all() and not (floor and floor.crossed(begun)):  # the motion is there already
        return (yield from _clear(shot, shot.reference.copy(), asked))
    alone = yield from limbs_alone(replace(shot, tasks=asked))
    if alone is not None and not (floor and floor.crossed(Geometry.of(tree, alone))):
        return (yield from _clear(shot, alone, asked))
    bounds: list[Task] = []
    while True:
        work = _Path(shot, asked, bounds, settings)
        far = far_tips(tree, work.reference, asked)
        yield
        if far:
            others = without(asked, far)
            free = work.reference
            if others or bounds:
                free = yield from _best(_Path(shot, others, bounds, settings), swivels=False)
            goals = drawn_in(tree, free, asked, far, [floor.points] if floor else ())
            yield
            work = _Path(shot, goals, bounds, settings) if goals is not None else work
            far = far if goals is not None else {}
        states = yield from _best(work, calm=not far)
        states = yield from _calmed(work, states)
        work, states = yield from _traded(shot, work, states, bounds, asked)
        soft = [tip for tip in far if tip in shot.soft]
        if soft:
            states = yield from _soft(work, states, asked, soft)
        geometry = Geometry.of(tree, states)
        if floor is None or bounds or not floor.crossed(geometry):
            return (yield from _clear(shot, states, asked))
        bounds = kept_above(floor, (), geometry)


def _clear(shot: Shot, states: States, asked: Sequence[Task]) -> Work[BodyPath]:
    """Return the path with limbs that are comfortable, and arms that stay out of the body's thickness."""
    how = shot.fps, shot.smoothing, shot.comfort
    states = yield from cleared(shot.tree, states, shot.thickness, asked, *how)
    return BodyPath(states, System(shot.tree, states, asked).met)


def _calmed(work: _Path, states: States) -> Work[States]:
    """Return the states with hasty turns eased, and with limbs posed alone once more where that is as calm."""
    tree = work.tree
    calmer = yield from eased(tree, Posture(tree, work.given), states, work.precise, work.steady, work.compliance)
    if calmer is states:
        return states
    posed = yield from work.with_swivels(calmer)  # an average over time does not know of hinges
    return calmer if largest_turns(tree, posed).max() > largest_turns(tree, calmer).max() else posed


def _traded(
    shot: Shot, work: _Path, states: States, bounds: Sequence[Task], asked: Sequence[Task]
) -> Work[tuple[_Path, States]]:
    """Return a path and its states with turns of hands and feet traded where limbs leap for them; else as they are."""
    tree, own = shot.tree, work.tasks[: len(work.tasks) - len(bounds)]
    shares = leaping_ends(tree, states, asked, shot.fps)
    if not shares:
        return work, states

    def others(tasks: Sequence[Task]) -> list[Task]:
        return [task for task in tasks if not (task.tip in shares and isinstance(unwrapped(task), OrientTask))]

    free = _Path(shot, others(own), bounds, work.settings)
    calm = yield from _best(free)
    calm = yield from _calmed(free, calm)
    found, ends = yield from with_traded_ends(tree, calm, work.given, asked, shares, *work.tempo)
    other = work.asking([*others(own), *ends, *bounds])
    exactly(tree, found, other.precise, other.steady, frames=np.arange(len(found)))
    found = yield from _calmed(other, found)
    return (other, found) if is_worth_trading(tree, states, found, others(asked)) else (work, states)


def _soft(work: _Path, states: States, asked: Sequence[Task], tips: Sequence[int]) -> Work[States]:
    """The states with a soft edge of reach for these tips, whose goals are as `asked` in some frames out of reach."""
    places = [task for task in asked if is_reach(task) and task.tip in tips]
    tree = work.tree
    missed = np.any([~System(tree, states, [place]).met for place in places], axis=0)
    others = [task for task in work.precise if task.tip not in tips or task.level == Level.HOLD]
    pace = Pace(work.tempo[0], leaps_of(ways_of(tree, work.given, places)))
    states = yield from led_over(tree, Posture(tree, work.given), states, others, missed, pace)
    shared = tree.above[:, [tip.joint for tip in tree.tips]].sum(1) > 1
    for place in places:
        alone = tree.above[:, tree.tips[place.tip].joint] & ~shared
        free = ~System(tree, states, [place]).met
        states = slowed(tree, states, np.flatnonzero(alone).tolist(), free, pace, _FASTEST)
    return states


def _best(work: _Path, calm: bool = True, swivels: bool = True) -> Work[States]:
    """Return the states of the first try that misses nothing and makes no jump, else those of the best one.

    Unless `calm`, jumps are no reason for another try. Without `swivels` limbs are left as the body's path has them.
    """
    tree, best = work.tree, work.reference
    least, last = (True, np.inf, np.inf), None
    tried = _TRIED if len(work.reference) > 1 else _TRIED[:1]  # for a single frame all are the same
    for number, (way, joined, backwards) in enumerate(tried):
        states, end = yield from work.solved(way, joined, last if backwards else None)
        last = end if last is None else last
        missed = int((~System(tree, states, work.tasks).met).sum())
        astray = _is_astray(work, states)
        found, before = (astray, missed, unsteadiness(tree, states)), least
        if found < least:
            best, least = states, found
        fast = number >= _ENOUGH and found[:2] == before[:2] and found[2] > _CALMER * before[2]  # the motion itself
        alike = number >= _ENOUGH and missed >= before[1]  # other knots lead no nearer
        if not astray and (missed == 0 or alike) and (least[2] <= _JUMP or fast or not calm):
            break
    return (yield from work.with_swivels(best)) if swivels else best


class _Path:
    def __init__(self, shot: Shot, tasks: Sequence[Task], bounds: Sequence[Task], settings: BodyPathSettings) -> None:
        self.tempo = shot.fps, shot.smoothing
        tree, steady = shot.tree, shot.steady
        self.animation = reference = shot.reference
        compliance = body_compliance(tree) if shot.compliance is None else shot.compliance
        if not held_of(tasks):  # only its goals tell where the body is
            upright = not tells_tilt(tree, tasks)
            if upright and not any(parts_of_body(tree)[tree.tips[task.tip].joint] == Part.FOOT for task in tasks):
                reference = hung(tree, reference, tasks)
                compliance = compliance.copy()
                compliance[len(tree.joint_of) :] *= _HUNG
            else:
                of_tips = shares_in_motion(tree, tasks)
                facing = aligned(tree, reference, tasks, _FACING, of_tips, _STEADY, upright=True, by_places=not upright)
                stands = stood(tree, facing, tasks)
                if stands is not None:
                    compliance = compliance.copy()
                    compliance[len(tree.joint_of) :] *= _HUNG
                reference = stands or aligned(tree, reference, tasks, _FACING, of_tips, _STEADY, upright)
        self.tree, self.given = tree, reference
        tips = {task.tip for task in tasks}
        self.reaching = reaching = reaching_of(tree, reference, tasks, steady)
        if reaching:
            amounts = reaching.amounts(tasks)
            self.takes_part = reaching.is_asked(tasks) or bool(amounts.any())
            if reaching.is_asked(tasks):
                compliance = firm(tree, compliance, amounts, reaching.left)
            reference = reaching.posed(amounts, tasks)
            tips.difference_update(reaching.tips)
        self.reference = turned_to_look(tree, reference, tasks, compliance)
        self.tasks, self.steady = [*tasks, *bounds], steady
        self.precise = precisely(tree, self.tasks)
        shares = inclination(tree, errors_of_tips(Geometry.of(tree, self.reference), tasks))
        self.inclines = shares.max(0)
        self.posture = Posture(tree, inclined(tree, self.reference, shares, tips))
        self.every = [*self.precise, steady] if steady else self.precise
        self.compliance, self.weight = compliance, time_weight(*self.tempo)
        self.seed, self.settings = shot.seed, settings

    def asking(self, tasks: Sequence[Task]) -> _Path:
        """The same path with other tasks for the same tips."""
        other = copy(self)
        other.tasks, other.precise = list(tasks), precisely(self.tree, tasks)
        other.every = [*other.precise, self.steady] if self.steady else other.precise
        return other

    def solved(self, way: float, eased: bool, last: States | None) -> Work[tuple[States, States]]:
        """All frames, and the pose of the last knot, with knots as far apart as the goals move by `way`.

        Knots are `eased` together or left as each leads to the next. With a pose for the `last` frame they are solved
        back from there.
        """
        tree, settings, count = self.tree, self.settings, len(self.reference)
        knots = self._knots(way, _FARTHEST)
        knots, offsets = yield from self._followed(knots if last is None else knots[::-1], last)
        end = self.posture.take(knots[-1:]).states(offsets[:, -1:])
        if len(knots) > 1:
            offsets = self._eased(knots, offsets, settings.coarse, _COARSELY) if eased else offsets
            between = self._knots(_BETWEEN * way, _NEAREST + 1)
            yield
            offsets = interpolated_offsets(offsets, knots, count)[:, between]
            offsets = self._eased(between, offsets, settings.between, _NEARLY)
            offsets = interpolated_offsets(offsets, between, count)
        states = self.posture.states(offsets)
        yield
        if len(knots) > 1:
            states = self._relaxation(self.posture, 1.0, 1e-4).run(tree, states, self.every, settings.fine)
        yield
        states = turned_to_look(tree, self.given, self.tasks, self.compliance, states)
        exactly(tree, states, self.precise, self.steady, frames=np.arange(len(states)))
        yield from self._meet_missed(states)
        return states, end

    def with_swivels(self, states: States) -> Work[States]:
        """The states with free arms that hang, and arms and legs posed as single limbs unless that misses a goal or is
        less calm.

        These are the start and the reference of a last relaxation of the whole body.
        """
        tree = self.tree
        if not limbs_with_swivel(tree):
            return states
        if self.reaching and self.takes_part:
            states = self.reaching.with_free_arms(states, self.tasks).copy()
            exactly(tree, states, self.precise, self.steady, frames=np.arange(len(states)))
        wanted = with_swivels(tree, states, self.given, self.tasks, *self.tempo)
        yield
        relaxation = self._relaxation(Posture(tree, wanted), 1.0, 1e-4, gain=1.0)
        off = ~System(tree, wanted, self.every).met  # what limits have moved; the others would stay where they are
        found = relaxation.run(tree, wanted, self.every, self.settings.last, off)
        exactly(tree, found, self.precise, self.steady, frames=np.arange(len(found)))
        yield
        met, now = (System(tree, each, self.tasks).met for each in (states, found))
        before, after = (unsteadiness(tree, each) for each in (states, found))
        had, has = (largest_turns(tree, each).max(initial=0.0) for each in (states, found))
        hastier = has > max(_FAST, _LESS_CALM * had) or after > max(_JUMP, _LESS_CALM * before)
        return states if hastier or (met & ~now).any() else found

    def _eased(self, knots: Indices, offsets: Numbers, steps: int, still: float) -> Numbers:
        """The knots' turns off the reference after steps of posture of all of them together, until they are `still`."""
        at = self.posture.take(knots)
        relaxation = self._relaxation(at, (len(self.reference) - 1) / (len(knots) - 1), still)
        goals = [task.take(knots) for task in self.every]
        return at.offsets(relaxation.run(self.tree, at.states(offsets), goals, steps))

    def _relaxation(self, posture: Posture, gap: float, still: float, gain: float = POSTURE_GAIN) -> Relaxation:
        """Relaxation towards a posture at frames that are a `gap` apart."""
        weight = self.weight / gap**2
        return Relaxation(posture=posture, compliance=self.compliance, weight=weight, gain=gain, still=still)

    def _knots(self, way: float, farthest: int) -> Indices:
        """Frames, so far apart at most, between which some goal moves by such a share of its limb's reach."""
        tree, count = self.tree, len(self.reference)
        steps = np.full(max(count - 1, 0), 1.0 / farthest)
        root, place = np.eye(3)[:, :, None], np.zeros((3, 1))
        if not tree.moves_root:
            root, place = self.reference.root, self.reference.place
        for task in self.tasks:
            moved = task.ways(root, place)
            if len(moved):
                is_place = isinstance(task, PlaceTask)
                unit = tree.tips[task.tip].reach if is_place else _RADIANS * RADIAN * tree.size
                steps = np.maximum(steps, moved / (unit * way))
        total = np.concatenate(([0.0], np.cumsum(steps)))
        passed = np.searchsorted(total, np.arange(0.0, total[-1]))
        return np.unique([*passed.tolist(), 0, count - 1]).astype(np.intp)

    def _followed(self, knots: Indices, begin: States | None) -> Work[tuple[Indices, Numbers]]:
        """Knots, in order, with their turns off the reference (k, K), each solved from the one before.

        `begin` is the pose of the first of them; without it that is solved from its reference. Where a knot is missed
        another one is put in between.
        """
        random = np.random.default_rng(self.seed)
        first, *ahead = knots.tolist()
        found = {first: self._first(first) if begin is None else self.posture.take([first]).offsets(begin)}
        offsets = self._abreast(knots, found[first])
        yield
        if offsets is not None:
            forwards = np.argsort(knots)
            return knots[forwards], offsets[:, forwards]
        before = first
        while ahead:
            k = ahead[0]
            state = self._relaxed(np.array([k]), found[before])
            goals = self._guides([k])
            start = state.copy()
            met, value = descend(self.tree, state, goals, _ON_ITS_WAY)
            if not met[0] and abs(k - before) > _NEAREST:
                ahead.insert(0, (k + before) // 2)
                continue
            if not met[0]:
                self._stray(state, start, float(value[0]), goals, random)
            found[k] = self.posture.take([k]).offsets(state)
            before = ahead.pop(0)
            if len(found) % _OFTEN == 0:
                yield
        order = sorted(found)
        return np.array(order, np.intp), np.concatenate([found[k] for k in order], 1)

    def _first(self, k: int) -> Numbers:
        """Turns off the reference of a frame that no other one leads to; one of a motion that meets its goals stays."""
        at, here = self.posture.take([k]), [task.take([k]) for task in self.tasks]
        state, steady = self.reference.take([k]).copy(), self.steady.take([k]) if self.steady else None
        if len(self.reference) == 1 or not System(self.tree, state, here).met.all():
            solve_sets(self.tree, state, here, seed=self.seed, rounds=BODY_ROUNDS)
            settle(self.tree, state, at.reference, here, steady, self.settings.first)
        return at.offsets(state)

    def _abreast(self, knots: Indices, begin: Numbers) -> Numbers | None:
        """Turns off the reference (k, K) of knots as _followed() finds them, of all at once; None if one is missed.

        A knot forgets those before it: its steps of posture leave little of what it began with. So all are solved from
        the first one, then again from what the one before has become, until nothing changes. Source: Jacobi's iteration
        of a recurrence.
        """
        offsets, met = np.repeat(begin, len(knots), 1), np.ones(len(knots), bool)
        late, work = np.arange(1, len(knots)), 0
        while len(late) and work < _SWEEPS * len(knots):
            work += len(late)
            state = self._relaxed(knots[late], offsets[:, late - 1])
            met[late], _ = descend(self.tree, state, self._guides(knots[late]), _ON_ITS_WAY)
            found = self.posture.take(knots[late]).offsets(state)
            changed = np.abs(found - offsets[:, late]).max(0) > _SETTLED
            offsets[:, late] = found
            late = late[changed] + 1
            late = late[late < len(knots)]
        return offsets if met.all() and not len(late) else None

    def _guides(self, knots: Indices | list[int]) -> list[Task]:
        """The goals of knots, as near as these have to come."""
        return at_two_levels([task.take(knots).within(_GUIDE * at(task.tolerance, knots)) for task in self.tasks])

    def _relaxed(self, knots: Indices, offsets: Numbers) -> States:
        """Knots with turns off the reference that are those of others, after a few steps of posture."""
        here = self.posture.take(knots)
        relaxation = Relaxation(posture=here, compliance=self.compliance, gain=POSTURE_GAIN, still=1e-3)
        states = here.states(offsets)
        leaning = np.flatnonzero(self.inclines[knots] > LEFT_STRAIGHT)
        if len(leaning):
            states.put(leaning, flexed(self.tree, states.take(leaning), self.reference.take(knots[leaning])))
        goals = [task.take(knots) for task in self.every]
        return relaxation.run(self.tree, states, goals, self.settings.knot)

    def _stray(
        self, state: States, before: States, value: float, tasks: Sequence[Task], random: np.random.Generator
    ) -> None:
        """Bring a knot that sticks to its goals from strayed and bent poses, in place, by the least turn."""
        tree = self.tree
        many = before.take(np.zeros(_STRAYS, np.intp))
        by = np.minimum(_UNBENT, 0.5 * (tree.upper - tree.lower))  # joints without limits have infinite ones
        many.angles = tree.inside(np.clip(many.angles, tree.lower + by, tree.upper - by))
        many = strayed(tree, many, np.linspace(0.0, _STRAY, _STRAYS), random, 0.0)
        got, values = descend(tree, many, [task.take(np.zeros(_STRAYS, np.intp)) for task in tasks], _ON_ITS_WAY)
        turned = (Posture(tree, before).offsets(many) ** 2).sum(0)
        best = int(np.where(got, turned, 1e6 * (1.0 + values)).argmin())
        if got[best] or values[best] < _MUCH * value:
            state.put([0], many.take([best]))
        if held_of(tasks):
            hold(tree, state, tasks, share=HELD_SHARE)

    def _meet_missed(self, states: States) -> Work[None]:
        """Bring frames that are missed to their goals from those beside them, else as near as priorities allow."""
        tree = self.tree
        met = System(tree, states, self.tasks).met
        for _ in range(3):
            missed, good = np.flatnonzero(~met), np.flatnonzero(met)
            if not len(missed) or not len(good):
                break
            nearest = good[np.abs(good[None] - missed[:, None]).argmin(1)]
            some = self.posture.take(missed).states(self.posture.take(nearest).offsets(states.take(nearest)))
            goals = [task.take(missed) for task in self.precise]
            exactly(tree, some, goals)
            now = System(tree, some, [task.take(missed) for task in self.tasks]).met
            states.put(missed[now], some.take(np.flatnonzero(now)))
            met[missed[now]] = True
            yield
            if not now.any():
                break
        missed = np.flatnonzero(~met)
        if len(missed):
            some = states.take(missed)
            solve_sets(tree, some, [task.take(missed) for task in self.tasks], rounds=(), bounds=_ON_ITS_WAY)
            states.put(missed, some)
            if any(task.level == Level.HOLD for task in self.tasks):
                hold(tree, states, self.tasks, share=HELD_SHARE)
        yield


def _is_astray(work: _Path, states: States) -> bool:
    """Tell whether a first frame that met its goals as it was has a joint turned far off that.

    Solved back from the last frame, it may end a turn of a limb away.
    """
    tree, first = work.tree, work.animation.take([0])
    turned = Posture(tree, first).offsets(states.take([0]))[: len(tree.joint_of)]
    far = np.abs(turned).max(initial=0.0) > _ASTRAY
    return bool(far and System(tree, first, [task.take([0]) for task in work.tasks]).met.all())
