# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames solved one from the other by the limb's method: all of them, or the knots of a path, and other branches there.

All frames: each is solved as solve() does, from the one before, but without restarts. One that misses is tried from
poses that stray a little, as a knot is.

Knots of a path: frames solved one from the other by the method that a limb has, as guides for those between them. A
guide need not be precise. One that misses is tried from poses that stray a little from the one before, bent where that
is straight, and the one that turns least of those that reach is taken: another branch within a path is a pop.

Other branches of a path: several poses at each knot, of which the calmest sequence is taken. Source: Viterbi 1967,
"Error bounds for convolutional codes and an asymptotically optimum decoding algorithm". Poses drawn inside the limits
are brought to the goals of all knots at once, and each is followed to the knots beside it, so that every branch has its
continuation among the candidates. The cost of a step is the square of the sum over the joints of 1 - cos(angle / 2),
since one large rotation is worse than many small ones. Every frame pays a share of that for its distance from the path
given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..cooperative import Work
from ..goals import Goal
from ..goals.task import PlaceTask, Task
from ..kinematics import Pose
from ..kinematics.arrays import Indices, Numbers
from ..kinematics.batch import States, Tree
from ..kinematics.batch.algebra import at
from ..kinematics.batch.tree import joined
from ..kinematics.pose import LENGTH_ROUNDING
from ..solvers import SOLVERS, Solution, SolverSettings, solve_goal
from ..solvers.batch.along_path import Course, Follow, can_follow
from ..solvers.batch.descent import at_one_level, descend, precisely
from ..solvers.batch.restarts import strayed
from ..solvers.solver import Step
from .jumps import PAID, apart
from .tracking import Tracked, Tracking, interpolated, knots_of

_CALMEST = "GAUSS_NEWTON"
_GUIDE = 0.1  # of the reach: precision of a knot; that of an orientation in radians
_STRAYS = 24  # poses tried where a knot misses
_FARTHEST = 0.4  # largest share of the distance to random poses that they stray
_UNBENT = 0.2  # [rad] from the ends of their ranges, where a joint moves the tip by nothing to the first order
_PAUSE = 4  # knots until the next try while all miss
_PARTS = 16  # knots between two looks at what the user does
_PASSES = 64  # the same where one pass is all; fewer after a frame at which it is not
_FIRST, _BLOCK, _MOST = 1024, 128, 2048  # frames solved together, at first, after one that is not, and at most

_POSES = 8  # drawn at each knot
_NEVER = 1e6  # cost of a pose that misses
_WAYS = (0.4, 0.15)  # of the reach between knots


class KnotMethod:
    """The method of a limb on one chain.

    `base_at` gives the frame of the root's parent at a frame of the path (4x4, armature space), `goal_at` the goal.
    """

    def __init__(
        self,
        tree: Tree,
        tasks: Sequence[Task],
        first: Pose,
        base_at: Callable[[int], Matrix],
        goal_at: Callable[[int], Goal],
        settings: SolverSettings,
    ) -> None:
        self._tree, self._tasks, self._first = tree, tasks, first
        self._base_at, self._goal_at = base_at, goal_at
        self._settings = replace(settings, restarts=False)  # another branch within a path is a pop
        self._random = np.random.default_rng(settings.seed)
        self._off: Numbers | None = None

    def learn(self, off: Numbers) -> None:
        """Take for granted that frames cannot come nearer to their places than these distances (F) [Blender units]."""
        self._off = off

    def follow(self, frames: Indices) -> Work[States]:
        """Solve frames from the pose of the first frame on, each from the one before."""
        pose, poses, wait = self._first, [], 0
        for number, k in enumerate(frames.tolist()):
            begin = Pose(pose.chain, self._base_at(k), pose.rotations)
            pose, met = self._solved(begin, k)
            if not met and not wait:
                pose, met = self._strayed(begin, pose, k)
                wait = 0 if met else _PAUSE
            wait = 0 if met else max(0, wait - 1)
            poses.append(pose)
            if number % _PARTS == _PARTS - 1:
                yield
        return self._tree.states(poses or [self._first]).take(slice(len(poses)))

    def follow_all(self, frames: Indices, states: States) -> Work[tuple[Numbers, Indices]]:
        """Solve frames in a row as solve() does, each from the one before; their goals are places alone.

        `states` are those of all frames of the path, of which the frames of the root's parent count. Returns the
        rotations of all joints (n, 4, F), and the iterations (F) as those of a Solution.
        """
        count, number, single, block, run, wait, exact = len(frames), 0, 0, _FIRST, _PASSES, 0, False
        found, steps = np.zeros((count, len(self._tree.joints), 4)), np.zeros(count, np.intp)
        rotations, points = self._first.rotations, self._points(states)
        while number < count:
            if points and not exact:
                along = points.follow and not single
                ahead = frames[number : number + (block if along else min(single or run, run))]
                own, passes = (self._together if along else self._one_by_one)(rotations, ahead, states, points)
                end = number + len(passes)
                found[number:end], steps[number:end] = own, passes
                if end > number:
                    rotations = list(map(Quaternion, found[end - 1]))
                    yield
                whole, number = len(passes) == len(ahead), end
                if along:
                    single, block = (0, min(2 * block, _MOST)) if whole else (_PARTS, _BLOCK)
                else:
                    single, exact = max(0, single - len(passes)), not whole
                    run = min(2 * run, _PASSES) if whole else 1
                continue
            k, single, exact = int(frames[number]), max(0, single - 1), False
            begin = Pose(self._first.chain, self._base_at(k), rotations)
            solution = self._exact(begin, k)
            if not solution.reached and not wait:
                other, met = self._strayed(begin, solution.pose, k)
                nearer = self._exact(other, k) if met else solution
                solution = nearer if nearer.reached else solution
                wait = _PAUSE
            wait = 0 if solution.reached else max(0, wait - 1)
            rotations = solution.pose.rotations
            found[number], steps[number] = [rotation[:] for rotation in rotations], solution.iterations
            number += 1
            if number % _PARTS == 0:
                yield
        return np.ascontiguousarray(np.moveaxis(found, 0, -1)), steps

    def _points(self, states: States) -> _Points | None:
        """The places to reach, where the only goal is a point and one pass of the method is all where that reaches."""
        solver, (task,) = SOLVERS[self._settings.solver], self._tasks
        if not solver.direct or not self._settings.iterations:
            return None
        if not isinstance(task, PlaceTask) or task.target.shape is not None:
            return None
        follow = solver.along if can_follow(self._first.chain, states.root) else None
        return _Points(task.target.place, np.asarray(task.tolerance), solver.begin(), follow)

    def _together(
        self, rotations: Sequence[Quaternion], frames: Indices, states: States, points: _Points
    ) -> tuple[Numbers, Indices]:
        """The rotations (G, n, 4) of the first frames, up to one that a pass does not solve, and their passes (G)."""
        chain, every = self._first.chain, np.ones(len(frames))
        assert points.follow
        roots, (places, tolerance) = states.take(frames), points.at(frames)
        start = np.array([rotation[:] for rotation in rotations], float)
        ahead = Course(roots.root, roots.place, places * every)
        own, before, after = points.follow(chain, start, ahead)
        stepped = before > LENGTH_ROUNDING * chain.reach
        missed = stepped & (after > np.minimum(before, (tolerance * every)[: len(after)]))
        end = int(missed.argmax()) if missed.any() else len(missed)
        return np.moveaxis(own[..., :end], -1, 0), stepped[:end].astype(np.intp)

    def _one_by_one(
        self, rotations: Sequence[Quaternion], frames: Indices, states: States, points: _Points
    ) -> tuple[Numbers, Indices]:
        """The same by a step of the pose at each frame."""
        base, moves = self._base_at(int(frames[0])), states.place.shape[-1] > 1 or states.root.shape[-1] > 1
        pose, every = Pose(self._first.chain, base, rotations), np.ones(len(frames))
        places, tolerances = points.at(frames)
        rounding, settled = LENGTH_ROUNDING * pose.chain.reach, False
        found, passes = list[list[tuple[float, ...]]](), list[int]()
        goals = zip(frames.tolist(), (places * every).T.tolist(), (tolerances * every).tolist(), strict=True)
        for k, place, tolerance in goals:
            pose.again(self._base_at(k) if moves else base)
            aim = Vector(place)
            before = (aim - pose.tip).length
            if before > rounding:
                points.step(pose, aim)
                if (aim - pose.tip).length > min(before, tolerance):
                    break
            elif before > tolerance or not (settled or pose.is_allowed):
                break
            else:
                settled = True
            found.append([rotation[:] for rotation in pose.rotations])
            passes.append(int(before > rounding))
        return np.array(found).reshape(-1, len(pose), 4), np.array(passes, np.intp)

    def _exact(self, begin: Pose, k: int) -> Solution:
        return solve_goal(begin, self._goal_at(k), self._settings, follow=True)

    def refine(self, frames: Indices, states: States) -> Work[States]:
        """Solve frames, each from its own state."""
        rotations = self._tree.rotations(states)
        poses = []
        for column, k in enumerate(frames.tolist()):
            start = Pose(self._first.chain, self._base_at(k), list(map(Quaternion, rotations[:, :, column])))
            poses.append(solve_goal(start, self._goal_at(k), self._settings, follow=True).pose)
            if column % _PARTS == _PARTS - 1:
                yield
        return self._tree.states(poses)

    def calmest(self) -> KnotMethod:
        """Return Gauss-Newton for the same path."""
        if self._settings.solver == _CALMEST:
            return self
        settings = replace(self._settings, solver=_CALMEST)
        calmest = KnotMethod(self._tree, self._tasks, self._first, self._base_at, self._goal_at, settings)
        calmest._off = self._off
        return calmest

    def part(self, begin: int, first: States, step: int = 1) -> KnotMethod:
        """Return the method for the frames from `begin` on, of which the `first` has this state.

        With a `step` of -1 they are followed backwards.
        """
        base_at, goal_at = self._base_at, self._goal_at
        part = KnotMethod(
            self._tree,
            [task.take(slice(begin, None, step)) for task in self._tasks],
            self._pose(Pose(self._first.chain, base_at(begin), self._first.rotations), first),
            lambda k: base_at(begin + step * k),
            lambda k: goal_at(begin + step * k),
            self._settings,
        )
        part._off = None if self._off is None else self._off[begin::step]
        return part

    def _solved(self, begin: Pose, k: int) -> tuple[Pose, bool]:
        goal = self._goal_at(k)
        if not goal.soft:
            off = 0.0 if self._off is None else float(self._off[k])
            guide = goal._replace(tolerance=off + max(goal.tolerance, _GUIDE * begin.chain.reach))
            solution = solve_goal(begin, guide, self._settings, follow=True)
            return solution.pose, solution.reached
        state = self._tree.states([begin])
        met, _ = descend(self._tree, state, self._guides(np.array([k])))
        return self._pose(begin, state), bool(met[0])

    def _strayed(self, begin: Pose, otherwise: Pose, k: int) -> tuple[Pose, bool]:
        """The pose that turns least of those that reach; `otherwise` if none does."""
        found = _strayed(self._tree, self._tree.states([begin]), self._guides(np.full(_STRAYS, k)), self._random)
        return (otherwise, False) if found is None else (self._pose(begin, found), True)

    def _guides(self, frames: Indices) -> list[Task]:
        return _guides(self._tree, self._tasks, frames, self._off)

    def _pose(self, begin: Pose, state: States) -> Pose:
        rotations = self._tree.rotations(state)[:, :, 0]
        return Pose(begin.chain, begin.base, list(map(Quaternion, rotations)))


class _Points(NamedTuple):
    """Places (3, F or 1) to reach, tolerances (F or 1) [Blender units], the step, and the method along a path."""

    places: Numbers
    tolerances: Numbers
    step: Step
    follow: Follow | None

    def at(self, frames: Indices) -> tuple[Numbers, Numbers]:
        """Those of frames, or of all of them."""
        return at(self.places, frames), at(self.tolerances, frames)


class TaskKnots:
    """Descents of the tasks on a tree; the method of limbs that have none of their own.

    `frames` are states of all frames, of which root and locked joints count; `first` is the state of the first one.
    """

    def __init__(self, tree: Tree, tasks: Sequence[Task], frames: States, first: States, seed: int = 0) -> None:
        self._tree, self._tasks, self._frames, self._first, self._seed = tree, tasks, frames, first, seed
        self._off: Numbers | None = None

    def learn(self, off: Numbers) -> None:
        """Take for granted that frames cannot come nearer to their places than these distances (F) [Blender units]."""
        self._off = off

    def follow(self, frames: Indices) -> Work[States]:
        """Solve frames from the pose of the first frame on, each from the one before."""
        tree, state, found, wait = self._tree, self._first, list[States](), 0
        random = np.random.default_rng(self._seed)
        for number, k in enumerate(frames.tolist()):
            begin = state.like(self._frames.take([k]))
            state = begin.copy()
            met, _ = descend(tree, state, _guides(tree, self._tasks, np.array([k]), self._off))
            if not met[0] and not wait:
                guides = _guides(tree, self._tasks, np.full(_STRAYS, k), self._off)
                other = _strayed(tree, begin, guides, random)
                state, wait = (state, _PAUSE) if other is None else (other, 0)
            wait = 0 if met[0] else max(0, wait - 1)
            found.append(state)
            if number % _PARTS == _PARTS - 1:
                yield
        return joined(found) if found else self._first.take(slice(0))

    def refine(self, frames: Indices, states: States) -> Work[States]:
        """Solve frames, each from its own state."""
        found = states.copy()
        descend(self._tree, found, at_one_level(precisely(self._tree, [task.take(frames) for task in self._tasks])))
        yield
        return found

    def calmest(self) -> TaskKnots:
        """Return the method itself: nothing turns joints less from knot to knot."""
        return self

    def part(self, begin: int, first: States, step: int = 1) -> TaskKnots:
        """Return the method for the frames from `begin` on, of which the `first` has this state.

        With a `step` of -1 they are followed backwards.
        """
        some = slice(begin, None, step)
        tasks = [task.take(some) for task in self._tasks]
        part = TaskKnots(self._tree, tasks, self._frames.take(some), first, self._seed)
        part._off = None if self._off is None else self._off[some]
        return part


def _strayed(tree: Tree, before: States, guides: Sequence[Task], random: np.random.Generator) -> States | None:
    """Of poses that stray from one, the one that turns least of those that meet the tasks; None if none does."""
    many = before.take(np.zeros(_STRAYS, np.intp))
    middle = 0.5 * (tree.lower + tree.upper)
    inner = np.minimum(tree.lower + _UNBENT, middle), np.maximum(tree.upper - _UNBENT, middle)
    many.angles = tree.inside(np.clip(many.angles, *inner))
    many = strayed(tree, many, np.linspace(0.0, _FARTHEST, _STRAYS), random, 0.0)
    met, _ = descend(tree, many, guides)
    if not met.any():
        return None
    turned = np.where(met, _turned(tree.rotations(before), tree.rotations(many)), np.inf)
    return many.take([int(turned.argmin())])


def _guides(tree: Tree, tasks: Sequence[Task], frames: Indices, off: Numbers | None) -> list[Task]:
    """The tasks of some frames, as precise as a knot has to be, and as far off (F) as frames are known to stay."""
    tasks = at_one_level([task.take(frames) for task in tasks])
    sizes = [tree.size if isinstance(task, PlaceTask) else 1.0 for task in tasks]
    offs = [off[frames] if off is not None and isinstance(t, PlaceTask) else 0.0 for t in tasks]
    every = zip(tasks, sizes, offs, strict=True)
    return [task.within(far + np.maximum(task.tolerance, _GUIDE * unit)) for task, unit, far in every]


def _turned(before: Numbers, after: Numbers) -> Numbers:
    """Sum over the joints of 1 - cos(angle / 2), from quaternions (n, 4, 1) to others (n, 4, F)."""
    alike: Numbers = np.abs(np.einsum("nif,nif->nf", np.broadcast_to(before, after.shape), after))
    return (1.0 - alike).sum(0)


def other_branches(tracking: Tracking, path: Tracked, seed: int = 0) -> Iterator[States]:
    """Yield other paths through the knots, as states of all frames that are not brought to their goals yet."""
    random = np.random.default_rng(seed)
    for way in _WAYS:
        knots = knots_of(tracking.ways, tracking.cuts, way)
        if len(knots) < 3:
            continue
        candidates = _candidates(tracking, path, knots, random)
        chosen = _calmest(tracking, path, knots, candidates)
        yield interpolated(tracking.tree, knots, candidates.take(chosen), tracking.frames)


def _candidates(tracking: Tracking, path: Tracked, knots: Indices, random: np.random.Generator) -> States:
    """Poses at the knots, knot after knot: the one of the path, those drawn, and these followed to both neighbours."""
    count = len(knots)
    here = np.repeat(knots, _POSES)
    drawn = strayed(tracking.tree, path.states.take(here), np.tile(np.linspace(0.25, 1.0, _POSES), count), random)
    drawn = _brought(tracking, path, drawn, here)
    groups = [path.states.take(knots), drawn]
    at = [np.arange(count), np.repeat(np.arange(count), _POSES)]
    for step in (-1, 1):
        place = (at[1] + step) % count
        followed = drawn.like(tracking.frames.take(knots[place]))
        groups.append(_brought(tracking, path, followed, knots[place]))
        at.append(place)
    order = np.argsort(np.concatenate(at), kind="stable")
    return joined(groups).take(order)


def _brought(tracking: Tracking, path: Tracked, states: States, frames: Indices) -> States:
    """States brought to their goals, in place, where the path reaches them; elsewhere its own poses serve."""
    met = np.flatnonzero(path.met[frames])
    some = states.take(met)
    descend(tracking.tree, some, at_one_level(tracking.goals(frames[met])))
    states.put(met, some)
    return states


def _calmest(tracking: Tracking, path: Tracked, knots: Indices, candidates: States) -> list[int]:
    """Indices of the candidates, one a knot, whose turns from knot to knot are least; fixed ends stay."""
    count, each = len(knots), len(candidates) // len(knots)
    at = np.repeat(knots, each)
    missed = ~tracking.system(candidates, at).met.reshape(count, each)
    missed[:, 0] &= path.met[knots]  # the pose of the path itself is allowed where it misses
    missed[0, 1:] = True
    if tracking.last is not None:
        missed[-1, 1:] = True
    rotations = tracking.tree.rotations(candidates).reshape(-1, 4, count, each)
    off = apart(tracking.tree.rotations(path.states.take(at)), tracking.tree.rotations(candidates)).reshape(count, each)
    paid = PAID * np.gradient(knots)[:, None] * off**2 + np.where(missed, _NEVER, 0.0)
    costs, came = paid[0], []
    for k in range(1, count):
        alike = np.abs(np.einsum("nip,niq->npq", rotations[:, :, k - 1], rotations[:, :, k])).sum(0)
        sums = costs[:, None] + (len(rotations) - alike) ** 2
        came.append(sums.argmin(0))
        costs = sums.min(0) + paid[k]
    chosen = [int(costs.argmin())]
    for sources in reversed(came):
        chosen.append(int(sources[chosen[-1]]))
    return [k * each + i for k, i in enumerate(reversed(chosen))]
