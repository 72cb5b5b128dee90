# SPDX-License-Identifier: GPL-3.0-or-later
"""A body along a path whose goals fade in and out or were edited, along a loop, or with hips above planted feet.

Goals that fade are solved twice: first the tips whose influence is not always 1 are free, which tells where they are
without their goals; then each goes from there the share of the distance that its influence gives. Nothing pops where
the influence begins or ends, as that share is continuous in it. Source: none.

The animation of a body whose hips are animated above planted feet: hips as they are, legs bent to the feet. Where the
hips are keyed and the legs are not, the animation carries the feet along. Nearness to such a reference would lead the
hips back to where the feet are; with planted legs, the hips keep their keys. Source: none.

Where goals were edited, all frames are solved at once from the poses that are shown, changed the least. Unlike
body_path() nothing is searched for: each frame starts from its own pose, so frames whose goals did not change keep it,
and the ends of the edited span fit the frames beyond in pose and speed. Goals far from their tips are approached in
several stretches, since one long step ends in other poses than the way there. Source: none.

Shown poses are changed as two solves of the same frames differ, one before the edit and one after it. So an edited shot
keeps what was changed by hand, and becomes what a bake makes of the edit where it is what a bake has made.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..cooperative import Work
from ..goals.task import FadedTask, Level, PlaceTask, Task
from ..kinematics import Body, Locked
from ..kinematics.arrays import Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import at, conjugated, exponential, lengths, product, rotation_vectors
from ..solvers.batch.change import System
from ..solvers.batch.descent import precisely
from ..solvers.body.flexing import body_compliance
from ..solvers.body.floor import kept_above
from ..solvers.body.priorities import POSTURE_GAIN, exactly
from ..solvers.natural.looking import turned_to_hands
from ..solvers.natural.posture import Posture, Relaxation, time_weight
from .body_easing import largest_turns, unrest
from .body_path import BodyPath, body_path
from .shot import Shot

_SAME = 1e-5  # of the size, and of a rotation matrix: hips at the same place
_CLOSED = 2e-4  # [rad], or share of the size: a loop that ends so near to its begin is closed
_AVERAGES = 8  # over time, of the frames around the seam
_AROUND, _LEAST_AROUND = 1.0, 8  # seconds, and frames, on either side of the seam of a loop

_STEPS = 2  # of posture in each stretch
_STRETCH, _STRETCHES = 0.1, 4  # of the body's size: the longest way of a tip in one stretch, and the most of them


def faded_path(shot: Shot) -> Work[BodyPath]:
    """Return the same as body_path(), with the influence of tips.

    Where it is 0 a tip is free. A fading task counts as met where its share of the distance is. A path whose
    last frame has the same goals as its first one is a loop, and ends as it begins.
    """
    shot = replace(shot, tasks=shot.floor.raised(shot.tasks) if shot.floor else shot.tasks)
    path = yield from _closed_path(shot)
    return path._replace(states=looking_at_hands(shot, path.states))


def looking_at_hands(shot: Shot, states: States) -> States:
    """Return states that solve a shot with its free heads turned to where hands go."""
    if not shot.heads:
        return states
    compliance = body_compliance(shot.tree) if shot.compliance is None else shot.compliance
    given = shot.reference, shot.heads, shot.tasks, shot.influence
    return turned_to_hands(shot.tree, states, *given, compliance, shot.fps)


def _closed_path(shot: Shot) -> Work[BodyPath]:
    """Return the path of faded_path() but for free heads."""
    tree, tasks = shot.tree, shot.tasks
    path = yield from _faded_path(shot)
    fading = any((share < 1.0).any() for share in shot.influence.values())
    if fading or not _is_loop(shot) or _seam(tree, path.states) <= _CLOSED:
        return path
    closed = yield from _closed(shot, path.states)
    return path if closed is None else BodyPath(closed, System(tree, closed, tasks).met)


def _closed(shot: Shot, states: States) -> Work[States | None]:
    """Return the states of a loop (F) with the last one as the first one; None if that costs calm or a goal.

    What the ends differ by is spread over the frames around the seam. If that does not do, these frames are solved once
    more, as one path through the seam, and the others lead over to them.
    """
    tree = shot.tree
    count = len(states) - 1
    reach = min(count // 2, max(round(shot.fps * _AROUND), _LEAST_AROUND))
    most = max(largest_turns(tree, states).max(), _seam(tree, states))
    posture = Posture(tree, shot.reference)
    offsets = posture.offsets(states)
    apart = 0.5 * (offsets[:, -1:] - offsets[:, :1])
    before = _unrest_of_loop(tree, states)
    wanted = precisely(tree, _as_met(shot, states))
    through: States | None = None
    halves = dict.fromkeys(max(reach // part, 1) for part in (1, 2, 4))
    for again, half in itertools.product((False, True), halves):
        from_seam = np.arange(-half, half + 1)
        around, near = from_seam % count, 1.0 - np.abs(from_seam) / half
        share = near * near * (3.0 - 2.0 * near)
        if again:
            if through is None:
                through, _ = yield from _faded_path(shot.take(np.arange(-reach, reach + 1) % count))
            turned = Posture(tree, states.take(around))
            blended = turned.states(share * turned.offsets(through.take(from_seam + reach)))
        else:
            spread = offsets[:, around] - np.sign(from_seam - 0.5) * share * apart
            for _ in range(_AVERAGES):
                mean = 0.5 * (spread[:, 2:] + spread[:, :-2])
                spread[:, 1:-1] += 0.5 * share[1:-1] * (mean - spread[:, 1:-1])
            blended = posture.take(around).states(spread)
        goals = [task.take(around) for task in wanted]
        exactly(tree, blended, goals, shot.steady and shot.steady.take(around), frames=from_seam)
        yield
        found = states.copy()
        found.put(around, blended)
        found.put(np.array([count]), blended.take([half]))
        if (
            largest_turns(tree, found).max() <= most
            and (again or _is_calm(_unrest_of_loop(tree, found), before))
            and not (shot.floor is not None and shot.floor.take(around).crossed(Geometry(tree, blended)))
            and _keeps(tree, shot.tasks, states, found)
        ):
            return found
    return None


def _unrest_of_loop(tree: Tree, states: States) -> Numbers:
    """Unrest of a motion at each of its frames, and at its seam, where it is repeated."""
    seam = np.arange(-2, 3) % (len(states) - 1)
    return np.append(unrest(tree, states), unrest(tree, states.take(seam)))


def _is_calm(now: Numbers, before: Numbers) -> bool:
    """Tell whether closing a loop costs no calm, in all and where it is least calm: by the unrest now and before."""
    return bool(now.sum() <= before.sum() and now.max() <= before.max())


def _as_met(shot: Shot, states: States) -> list[Task]:
    """Return the tasks as far as the states meet them: what is missed stays as far off, as all else would follow it."""
    tree, every = shot.tree, np.ones(len(states))
    found: list[Task] = []
    for task, measured in zip(shot.tasks, System(tree, states, shot.tasks).measured, strict=True):
        missed = measured.off > task.tolerance
        rest = np.where(missed, measured.errors, 0.0)
        found.append(FadedTask(task=task, rest=rest, present=every) if missed.any() else task)
    return found


def _keeps(tree: Tree, tasks: Sequence[Task], before: States, states: States) -> bool:
    """Tell whether states meet every single task at the frames at which those before met it."""
    return all((System(tree, states, [task]).met | ~System(tree, before, [task]).met).all() for task in tasks)


def _is_loop(shot: Shot) -> bool:
    """Tell whether the last frame has the same goals as the first one, on hips at the same place."""
    tree, reference = shot.tree, shot.reference
    ends = [0, len(reference) - 1]
    places = at(reference.place, ends), at(reference.root, ends)
    if any(np.abs(each[..., -1] - each[..., 0]).max() > _SAME * max(tree.size, 1.0) for each in places):
        return False
    return shot.closes


def _seam(tree: Tree, states: States) -> float:
    """Largest turn of a joint [rad], or motion of the hips as a share of the size, from the last frame to the first."""
    ends = states.take([len(states) - 1, 0])
    way = float(lengths(ends.place[:, :1] - ends.place[:, -1:]).max()) / tree.size
    return max(float(largest_turns(tree, ends).max()), way)


def _faded_path(shot: Shot) -> Work[BodyPath]:
    """Return the path of faded_path(), whose ends are two."""
    tree, reference, tasks = shot.tree, shot.reference, shot.tasks
    fading = {tip: share for tip, share in shot.influence.items() if (share < 1.0).any()}
    if fading:
        free = [
            FadedTask(task=task, rest=np.zeros((task.count, 1)), present=np.zeros(len(reference)))
            if task.tip in fading
            else task
            for task in tasks
        ]
        found, _ = yield from body_path(replace(shot, tasks=free))
        tasks = [
            FadedTask(
                task=task,
                rest=(1.0 - fading[task.tip]) * there.errors,
                # Without influence it stays where it is without its goal, whatever the body does for frames to come.
                present=np.full(len(reference), float(fading[task.tip].any())),
            )
            if task.tip in fading
            else task
            for task, there in zip(tasks, System(tree, found, tasks).measured, strict=True)
        ]
    return (yield from body_path(replace(shot, tasks=tasks)))


def standing(
    body: Body, reference: States, held: Sequence[Task], influence: Mapping[int, Numbers], fps: float
) -> Work[States]:
    """Return a reference of F poses with the limbs of `held` tasks turned to meet them, on hips that stay.

    The limbs are the joints that lead to the tips of the tasks alone, not those that are shared, as hips and spine.
    `influence` (F) is that of each tip, by its number. Tasks that cannot be met come as near as they can.
    """
    tree = body.tree
    shares = {task.tip: influence.get(task.tip, np.ones(1)) for task in held}
    wanted = np.min([(share > 0.0) * np.ones(len(reference)) for share in shares.values()], axis=0) > 0.0
    if System(tree, reference, held).met[wanted].all():
        return reference
    own = np.any([_own_joints(tree, tip) for tip in shares], axis=0)
    joints = [joint if own[number] else replace(joint, freedom=Locked()) for number, joint in enumerate(body.joints)]
    legs = replace(body, joints=tuple(joints), hips_motion="FIXED").tree
    rotations = tree.rotations(reference)
    posed = _posed(legs, rotations, reference)
    found, _ = yield from faded_path(Shot(tree=legs, reference=posed, tasks=held, influence=shares, fps=fps))
    return _posed(tree, legs.rotations(found), reference)


def _own_joints(tree: Tree, tip: int) -> Mask:
    """Return a mask (n) of the joints below the hips that lead to a tip but to none beside it."""
    end = tree.tips[tip].joint
    beside = [each.joint for each in tree.tips if not (tree.above[end, each.joint] or tree.above[each.joint, end])]
    own: Mask = tree.above[:, end] & ~tree.above[:, beside].any(1)
    own[0] = False
    return own


def _posed(tree: Tree, rotations: Numbers, frames: States) -> States:
    """Return states of a tree with these rotations (n, 4, F), on the hips of others."""
    count, rotations = rotations.shape[-1], np.ascontiguousarray(rotations)
    none = np.empty((0, count)), np.empty((0, 4, count))
    return tree.posed(rotations, States(*none, rotations[tree.held], frames.root, frames.place))


def edited_path(shot: Shot) -> BodyPath:
    """Return states that meet the tasks of a shot, as near as possible to the poses it shows, and even in time.

    These are its reference. Frames that cannot be met come as near as they can.
    """
    tree, shown, steady, floor = shot.tree, shot.reference, shot.steady, shot.floor
    asked = floor.raised(shot.tasks) if floor else list(shot.tasks)
    compliance = body_compliance(tree) if shot.compliance is None else shot.compliance
    relaxation = Relaxation(
        posture=Posture(tree, shown),
        compliance=compliance,
        weight=time_weight(shot.fps, 0.0),
        gain=POSTURE_GAIN,
        still=1e-3,
    )

    def solved(states: States, goals: Sequence[Task]) -> States:
        precise = precisely(tree, goals)
        states = relaxation.run(tree, states, [*precise, steady] if steady else precise, _STEPS)
        exactly(tree, states, precise, steady)
        return states

    states = shown
    for goals in _stretches(tree, shown, asked):
        states = solved(states, goals)
    if floor is not None and floor.crossed(geometry := Geometry(tree, states)):
        states = solved(states, [*asked, *kept_above(floor, (), geometry)])
    return BodyPath(states, System(tree, states, asked).met)


def _stretches(tree: Tree, shown: States, tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the tasks at the ends of equal stretches of the tips' ways; last of all the tasks themselves."""
    geometry = Geometry(tree, shown)
    ways = {
        number: task.measure(geometry).errors
        for number, task in enumerate(tasks)
        if isinstance(task, PlaceTask) and task.level != Level.HOLD
    }
    farthest = max((float(lengths(way).max()) for way in ways.values()), default=0.0)
    count = int(np.clip(np.ceil(farthest / (_STRETCH * tree.size)), 1, _STRETCHES))
    stretches = []
    for part in range(1, count):
        goals = list(tasks)
        for number, way in ways.items():
            task = tasks[number]
            assert isinstance(task, PlaceTask)
            goals[number] = task.to_points(geometry.tip(task.tip) + way * (part / count))
        stretches.append(goals)
    return [*stretches, list(tasks)]


def carried_over(shown: Numbers, before: Numbers, after: Numbers, fades: Numbers) -> Numbers:
    """Return rotations (n, 4, F) of joints that are `shown`, turned as from those `before` to those `after`.

    By `fades` (2, F), from 1 at the first and at the last frame down to 0, the differences there are taken away.
    """
    turns = rotation_vectors(product(conjugated(before), after))
    carried: Numbers = product(shown, exponential(without_ends(turns, fades)))
    return carried


def without_ends(ways: Numbers, fades: Numbers) -> Numbers:
    """Return ways (..., F) without those at the first and the last frame, faded out by `fades` (2, F)."""
    left: Numbers = ways - ways[..., :1] * fades[0] - ways[..., -1:] * fades[1]
    return left


def end_fades(frames: Numbers, at: float, begins: bool, ends: bool) -> Numbers:
    """Return weights (2, F) of frames: from 1 at the first and at the last one smoothly down to 0 `at` a frame.

    0 throughout on a side that is free to change.
    """
    fades = np.zeros((2, len(frames)))
    for row, (end, bound) in enumerate(((frames[0], begins), (frames[-1], ends))):
        if bound and end != at:
            share = np.clip((frames - at) / (end - at), 0.0, 1.0)
            fades[row] = share * share * (3.0 - 2.0 * share)
    return fades
