# SPDX-License-Identifier: GPL-3.0-or-later
"""A body along a path whose goals fade or were edited, along a loop, with ends that stay, or above planted feet.

Goals that fade are solved twice: first the tips whose influence is not always 1 are free, which tells where they are
without their goals; then each goes from there the share of the distance that its influence gives. Nothing pops where
the influence begins or ends, as that share is continuous in it. Source: none.

The animation of a body whose hips are animated above planted feet: hips as they are, legs bent to the feet. Where the
hips are keyed and the legs are not, the animation carries the feet along. Nearness to such a reference would lead the
hips back to where the feet are; with planted legs, the hips keep their keys. Source: none.

A first or last frame that was right stays, as that of a limb does: a bake goes over from the animation before it and to
that after it without a pop. What the solved frame is off is taken off the frames beside it as well, by a share that
fades out smoothly, so that each step from frame to frame is nearly that of the solved motion. Source: none.

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
from math import radians

import numpy as np

from ..cooperative import Work
from ..goals.task import FadedTask, Level, PlaceTask, Task
from ..kinematics import Body, Locked
from ..kinematics.arrays import Columns, Indices, Mask, Numbers, smoothstep
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import at, conjugated, exponential, lengths, product, rotation_vectors
from ..solvers.batch.change import System
from ..solvers.batch.descent import precisely
from ..solvers.body.flexing import body_compliance
from ..solvers.body.floor import Floor, kept_above
from ..solvers.body.priorities import POSTURE_GAIN, exactly
from ..solvers.natural.looking import turned_to_hands
from ..solvers.natural.posture import Posture, Relaxation, time_weight
from ..solvers.natural.solving import ends_met
from .arm_swing import swung
from .body_easing import largest_turns, unrest
from .body_path import BodyPath, body_path
from .shot import Shot

_SAME = 1e-5  # of the size, and of a rotation matrix: hips at the same place
_CLOSED = 2e-4  # [rad], or share of the size: a loop that ends so near to its begin is closed
_STEEPEST = 1.5  # slope of what leads to an end, where it is one in height and one in width
_ADDED = 0.25  # of the fastest turn: what leading to an end adds
_HARDLY, _HASTIER = 1.05, 1.25  # times the fastest turn that it may become, the second as long as that is not hasty
_HASTY = np.array([radians(15.0), np.inf])  # turns of joints from frame to frame, on their parents and in space
_HASTIEST = 1.5 * _HASTY  # so fast it may become where the end would pop by more
_LEAST_LED = 4.0  # frames, by which one leads to an end
_DEEPER = 3e-3  # of the body's size: depth of an arm in the body that counts as more than before
_STEPS_TO_END = 4, 0  # of posture of the frames beside an end; without any straight knees bend more slowly
_CALM = radians(3.0)  # turns from frame to frame that are calm, however slow all others are
_AVERAGES = 8  # over time, of the frames around the seam
_AROUND, _LEAST_AROUND = 1.0, 8  # seconds, and frames, on either side of the seam of a loop, or beside an end

_STEPS = 2  # of posture in each stretch
_STRETCH, _STRETCHES = 0.1, 4  # of the body's size: the longest way of a tip in one stretch, and the most of them


def faded_path(shot: Shot) -> Work[BodyPath]:
    """Return the same as body_path(), with the influence of tips.

    Where it is 0 a tip is free. A fading task counts as met where its share of the distance is. A path whose
    last frame has the same goals as its first one is a loop, and ends as it begins. A first or last frame whose
    reference meets its goals stays as that is, unless calm or a goal is lost for it.
    """
    shot = replace(shot, tasks=shot.floor.raised(shot.tasks) if shot.floor else shot.tasks)
    tree, tasks = shot.tree, shot.tasks
    fading = {tip: share for tip, share in shot.influence.items() if (share < 1.0).any()}
    if fading:
        free = [
            FadedTask(task=task, rest=np.zeros((task.count, 1)), present=np.zeros(len(shot.reference)))
            if task.tip in fading
            else task
            for task in tasks
        ]
        found, _ = yield from _with_ends(replace(shot, tasks=free))
        tasks = [
            FadedTask(
                task=task,
                rest=(1.0 - fading[task.tip]) * there.errors,
                # Without influence it stays where it is without its goal, whatever the body does for frames to come.
                present=np.full(len(shot.reference), float(fading[task.tip].any())),
            )
            if task.tip in fading
            else task
            for task, there in zip(tasks, System(tree, found, tasks).measured, strict=True)
        ]
    whole = replace(shot, tasks=tasks)
    path = yield from _with_ends(whole)
    states = path.states
    if shot.arms:
        ends, is_loop = _right_ends(whole), _is_loop(whole)
        hanging = ends if not is_loop or len(ends) > 1 else ()  # as with one a loop would be open
        states = yield from swung(whole, states, hanging, is_loop)
    return path._replace(states=looking_at_hands(shot, states))


def looking_at_hands(shot: Shot, states: States) -> States:
    """Return states that solve a shot with its free heads turned to where hands go."""
    if not shot.heads:
        return states
    given = shot.reference, shot.heads, shot.tasks, shot.influence
    return turned_to_hands(shot.tree, states, *given, _compliance(shot), shot.fps)


def _with_ends(shot: Shot) -> Work[BodyPath]:
    """Return the path of a shot, closed if it is a loop, with the ends at which its reference meets everything.

    A loop has both of them or none, as with one it would be open.
    """
    path = yield from body_path(shot)
    states, is_loop = path.states, _is_loop(shot)
    if is_loop and _seam(shot.tree, states) > _CLOSED:
        closed = yield from _closed(shot, states)
        states = states if closed is None else closed
    led = states
    for end in _right_ends(shot):
        led = yield from _led_to(shot, led, end, is_loop)
    if not is_loop or _seam(shot.tree, led) <= max(_CLOSED, _seam(shot.tree, states)):
        states = led
    return path if states is path.states else BodyPath(states, System(shot.tree, states, shot.tasks).met)


def _right_ends(shot: Shot) -> list[int]:
    """Return the numbers of the first and the last frame, of those whose reference meets everything.

    A single frame is none of these, as it joins no other.
    """
    tree, reference = shot.tree, shot.reference
    if len(reference) < 2:
        return []
    ends = ends_met(tree, reference, [*shot.tasks, shot.steady] if shot.steady else shot.tasks)
    return [k for k in ends.tolist() if not _is_blocked(shot, [k], reference.take([k]))]


def _crosses_floor(shot: Shot, frames: Columns, states: States) -> bool:
    """Tell whether states of some frames are below the floor."""
    return shot.floor is not None and shot.floor.take(frames).crossed(Geometry(shot.tree, states))


def _is_blocked(shot: Shot, frames: Columns, states: States) -> bool:
    """Tell whether states of some frames are below the floor, or limbs of them in obstacles."""
    thickness = shot.thickness and shot.thickness.take(frames)
    blocked = thickness is not None and thickness.obstructs(Geometry(shot.tree, states))
    return blocked or _crosses_floor(shot, frames, states)


def _led_to(shot: Shot, states: States, end: int, is_loop: bool) -> Work[States]:
    """Return states whose first or last one is as in the reference, with those beside it led there.

    What that one changes by fades out over the others, in a loop over all around its seam, else over so many that it
    adds a share of the fastest turn to theirs. If that costs calm it fades out as without a loop, and over fewer; the
    calmest way is taken that turns no faster than the pop that would be left, nor half as fast again as is hasty. If
    all cost that or a goal, as where goals leave at once and fast, the states stay as they are.
    """
    tree, posture = shot.tree, Posture(shot.tree, shot.reference)
    offsets, wanted = posture.offsets(states), precisely(tree, _as_met(shot, states))
    most = np.abs(offsets[:, end]).max()
    if most <= _SAME:
        return states
    before, away = _haste(tree, states), np.abs(np.arange(len(states)) - end)
    allowed = np.maximum(_HARDLY * before, np.minimum(_HASTIER * before, _HASTY))
    pop = states.take([end, end]).copy()
    pop.put([1], shot.reference.take([end]))
    worst = np.maximum(allowed, np.minimum(_haste(tree, pop), _HASTIEST))
    widest = max(_around_ends(shot), 1)
    width = min(max(_STEEPEST * most / (_ADDED * before.max()), _LEAST_LED), widest)
    every = [*shot.tasks, shot.steady] if shot.steady else shot.tasks
    best, least = states, np.inf
    for wide, is_level in ((float(widest), True), (width, False), (0.5 * width, False))[not is_loop :]:
        share = _led(np.maximum(1.0 - away / wide, 0.0), is_level)
        frames = np.flatnonzero(share)
        for steps in _STEPS_TO_END:
            led = posture.take(frames).states(offsets[:, frames] - share[frames] * offsets[:, [end]])
            led = _brought_to(shot, led, [task.take(frames) for task in wanted], frames, steps)
            yield
            found = states.copy()
            found.put(frames, led)
            found.put([end], shot.reference.take([end]))
            haste = _haste(tree, found)
            hasty = float((haste / allowed).max())
            if hasty >= least or (haste > worst).any() or not _keeps(tree, every, states, found):
                continue
            if not _crosses_floor(shot, frames, led) and not _is_deeper(shot, states, found, end):
                best, least = found, hasty
            if least <= 1.0:
                return best
    return best


def _is_deeper(shot: Shot, before: States, states: States, end: int) -> bool:
    """Tell whether an arm is deeper in the body than before, and than at an end that is as it was animated."""
    if shot.thickness is None:
        return False
    had, has = (shot.thickness.depths(Geometry(shot.tree, each)) for each in (before, states))
    most = _DEEPER * shot.tree.size
    return any((has[tip] > np.maximum(had[tip], has[tip][end]) + most).any() for tip in has)


def _haste(tree: Tree, states: States) -> Numbers:
    """Return the largest turns [rad] of joints from frame to frame, on their parents and in space, at least calm."""
    turned = Geometry.of(tree, states).frames[:, :, :3]
    cosine = 0.5 * (np.einsum("nijf,nijf->nf", turned[..., 1:], turned[..., :-1]).min() - 1.0)
    turns = largest_turns(tree, states).max(), np.arccos(np.clip(cosine, -1.0, 1.0))
    return np.maximum(turns, _CALM)


def _brought_to(shot: Shot, states: States, goals: Sequence[Task], frames: Indices, steps: int) -> States:
    """Return states of some frames brought to their goals, changed the least and evenly in time."""
    tree, steady = shot.tree, shot.steady and shot.steady.take(frames)
    relaxation = Relaxation(
        posture=Posture(tree, states),
        compliance=_compliance(shot),
        weight=time_weight(shot.fps, shot.smoothing),
        gain=POSTURE_GAIN,
        still=1e-4,
    )
    states = relaxation.run(tree, states, [*goals, steady] if steady else goals, steps)
    exactly(tree, states, goals, steady, frames=frames)
    return states


def _compliance(shot: Shot) -> Numbers:
    """Return the compliance (k, 1) of the columns, by default that of a body."""
    return body_compliance(shot.tree) if shot.compliance is None else shot.compliance


def _around_ends(shot: Shot) -> int:
    """Return over how many frames at most an end leads over to the others."""
    return min((len(shot.reference) - 1) // 2, max(round(shot.fps * _AROUND), _LEAST_AROUND))


def _closed(shot: Shot, states: States) -> Work[States | None]:
    """Return the states of a loop (F) with the last one as the first one; None if that costs calm or a goal.

    What the ends differ by is spread over the frames around the seam. If that does not do, these frames are solved once
    more, as one path through the seam, and the others lead over to them.
    """
    tree = shot.tree
    count = len(states) - 1
    reach = _around_ends(shot)
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
        around, share = from_seam % count, smoothstep(1.0 - np.abs(from_seam) / half)
        if again:
            if through is None:
                through, _ = yield from body_path(shot.take(np.arange(-reach, reach + 1) % count))
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
            and not _crosses_floor(shot, around, blended)
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
    """Tell whether the last frame has the same goals and influence as the first one, on hips at the same place."""
    tree, reference = shot.tree, shot.reference
    ends = [0, len(reference) - 1]
    if any(np.ptp(at(share, ends)) > 0.0 for share in shot.influence.values()):
        return False
    places = at(reference.place, ends), at(reference.root, ends)
    if any(np.abs(each[..., -1] - each[..., 0]).max() > _SAME * max(tree.size, 1.0) for each in places):
        return False
    return shot.closes


def _seam(tree: Tree, states: States) -> float:
    """Largest turn of a joint [rad], or motion of the hips as a share of the size, from the last frame to the first."""
    ends = states.take([len(states) - 1, 0])
    way = float(lengths(ends.place[:, :1] - ends.place[:, -1:]).max()) / tree.size
    return max(float(largest_turns(tree, ends).max()), way)


def standing(
    body: Body,
    reference: States,
    held: Sequence[Task],
    influence: Mapping[int, Numbers],
    fps: float,
    floor: Floor | None = None,
) -> Work[States]:
    """Return a reference of F poses with the limbs of `held` tasks turned to meet them, on hips that stay.

    The limbs are the joints that lead to the tips of the tasks alone, not those that are shared, as hips and spine; for
    them alone a `floor` counts. `influence` (F) is that of each tip, by its number. Tasks that cannot be met come as
    near as they can.
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
    floor = floor and floor.of_joints(own)
    shot = Shot(tree=legs, reference=posed, tasks=held, influence=shares, floor=floor, fps=fps)
    found, _ = yield from faded_path(shot)
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
    relaxation = Relaxation(
        posture=Posture(tree, shown),
        compliance=_compliance(shot),
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
            fades[row] = smoothstep((frames - at) / (end - at))
    return fades


def _led(share: Numbers, is_loop: bool) -> Numbers:
    """Return shares from 0 to 1 that begin level, and end so in a loop, else as calmly as can be (a natural spline)."""
    return smoothstep(share) if is_loop else share * share * (3.0 - share) * 0.5
