# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of one limb, of a body of which only separate limbs move, and of a reach along an arc of the wrist.

The arc is in the frame of what carries the limb, such as the chest. People move the hand on a path that is bowed a
little and hardly longer than straight, at a speed with a single peak (Morasso 1981; Flash and Hogan 1985; Atkeson and
Hollerbach 1985 found the paths of unrestrained reaches curved). Joints that rotate from pose to pose swing a hand far
round instead. So the wrist is led along a parabola, bowed by a share of the straight line to where a limb is free to
go, up and away from the shoulder; the elbow follows near the blend of both poses, as it would in a bake, and the hand
turns on the forearm as in that blend. A limb without a hand leads its tip.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import radians

import numpy as np
from mathutils import Quaternion

from ..cooperative import Work
from ..goals.comfort import PoleTask
from ..goals.from_goals import point_task
from ..goals.obstacles import AvoidTask
from ..goals.orientation import AlongTask, LookTask, OrientTask
from ..goals.task import PlaceTask
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import rotate, rotate_back, square_to
from ..kinematics.batch.tree import TreeTip, joined
from ..solvers.body.swivelling import LimbOfBody
from ..solvers.natural import PLAIN_LIMB, LimbForm, natural_path
from ..solvers.natural.soft_edge import Pace
from ..solvers.null_space import settle_preferences
from .jumps import leaps_of
from .knots import TaskKnots
from .repair import Calming, avoidable_jumps, calmer, ease, fast_in, hasty_in, mend, pays, track_without_jumps
from .shot import Shot
from .tracking import Tracked, Tracking, meet_missed

_BONES = 2  # joints of a limb without an end
_MOST = radians(11.8)  # turn of a joint in one frame from which on a chain is calmed, where its goal is not as fast
_CALMING, _CALMED = Calming(rounds=4, averages=16), 2  # times

_PLAIN = PlaceTask | OrientTask | AlongTask | LookTask | PoleTask

# Of the straight line: that of recorded reaches is 0.16 in the median, and 0.23 at 75 %. The second is for lines that
# pass the shoulder so near that elbows fold: from the second share of the limb's length on.
_BOWS, _PASSING = (0.14, 0.19), (0.6, 0.3)
_DIRECTIONS = 24  # about the straight line, one of which the path is bowed to
_SAMPLES = np.linspace(0.0, 1.0, 13)[1:-1]
_STRETCHED = 0.97  # of the limb's length: a path that does not have to go farther does not
_FARTHER = 30.0  # cost of the limb's length beyond that, beside a direction that is turned round
_CLOSE = 1e-4  # of the reach: how near to its path the wrist is
_NOTHING, _LEVEL = 1e-12, 1e-6


def limb_motion(shot: Shot) -> Work[Tracked]:
    """Solve all frames of a limb near its reference, as natural_path() does, without jumps.

    A shot that closes is a cycle. Yields between parts of the work.
    """
    tree, frames, tasks, form, seed = shot.tree, shot.reference, shot.tasks, shot.form or PLAIN_LIMB, shot.seed
    count, cyclic = len(frames), shot.closes
    own, ways = np.arange(count - cyclic), shot.ways
    leaps = leaps_of(ways)
    is_limb = form.has_end or len(tree.joints) == _BONES
    states, _, possible, held, measured = yield from natural_path(
        tree,
        frames.take(own),
        [task.take(own) for task in tasks],
        form,
        fps=shot.fps,
        smoothing=shot.smoothing,
        cyclic=cyclic,
        first=shot.part_from or 0,
        edge=Pace(shot.fps, leaps, cyclic) if 0 in shot.soft else None,
    )
    if shot.preferences:
        goals, wishes = ([task.take(own) for task in each] for each in (tasks, shot.preferences))
        settle_preferences(tree, states, goals, wishes)
        yield
    if cyclic:
        possible = np.append(possible, possible[0])
        states = joined([states, states.take([0]).like(frames.take([count - 1]))])
    yield
    last = states.take([count - 1]) if count - 1 in held else None
    every = [*tasks, *(task for task in shot.preferences if isinstance(task, AvoidTask))]
    tracking = Tracking(tree, frames, every, states.take([0]), last, ways, leaps)
    states = States(states.angles, states.balls, frames.held, frames.root, frames.place)
    path = Tracked(tracking, states, None if cyclic or shot.preferences else measured)
    missed = np.flatnonzero(~path.met & possible)
    if len(missed) or len(avoidable_jumps(tracking, path)):
        method = TaskKnots(tree, tasks, frames, tracking.first, seed)
        if len(missed):
            yield from meet_missed(tracking, path, missed, method, seed)
        other = None
        if not is_limb and len(avoidable_jumps(tracking, path)):
            # A chain that winds up comes so far from its reference that another branch is nearer to that.
            other = yield from track_without_jumps(tracking, method, seed, path)
            if pays(tracking, path, other):
                path = calmer(tracking, path, other)
        if len(avoidable_jumps(tracking, path)):
            yield from mend(tracking, path)
            if other is not None and len(avoidable_jumps(tracking, path)):
                path = calmer(tracking, path, other)
        yield from ease(tracking, path, hasty_in(tracking, path))
    # Comfort, settled frame by frame, lets an ankle turn up to its limit, where a nearly straight knee bends at once.
    if not is_limb or shot.preferences:
        for _ in range(_CALMED):
            yield from ease(tracking, path, fast_in(tracking, path, _MOST), _CALMING)
    return path


@lru_cache(maxsize=32)
def limbs_of_still_body(tree: Tree) -> tuple[tuple[int, int], ...]:
    """The first joint and the tip of each limb of a tree in which nothing else moves, and none of them another one.

    Empty if that is not so.
    """
    moving, limbs, seen = np.unique(tree.joint_of), [], set[int]()
    if tree.moves_root:
        return ()
    for number, tip in enumerate(tree.tips):
        own = moving[tree.above[moving, tip.joint]]
        if seen & set(own.tolist()):
            return ()
        seen |= set(own.tolist())
        if len(own):
            limbs.append((int(own[0]), number))
    return tuple(limbs) if len(seen) == len(moving) else ()


def limbs_alone(shot: Shot) -> Work[States | None]:
    """Return a body solved limb by limb, near the reference; None where it has to be solved as a whole.

    That is where something else moves, or goals fade or hang on the body itself. A limb without goals stays as it is.
    """
    tree, reference, tasks = shot.tree, shot.reference, shot.tasks
    limbs = limbs_of_still_body(tree)
    if not limbs or not all(isinstance(task, _PLAIN) for task in tasks):
        return None
    geometry, rotations = Geometry(tree, reference), tree.rotations(reference)
    found = rotations.copy()
    for first, tip in limbs:
        limb = LimbOfBody.of(tree, first, tip, rotations)
        own = [limb.own(task, tree) for task in tasks if task.tip == limb.tip]
        if own:
            joints = list(limb.joints)
            there = limb.tree.posed(rotations[joints], limb.frames(tree, geometry, rotations))
            soft = (0,) if tip in shot.soft else ()
            alone = replace(shot, tree=limb.tree, reference=there, tasks=own, form=limb.form, soft=soft)
            path = yield from limb_motion(alone)
            found[joints] = limb.tree.rotations(path.states)
    return tree.posed(found, reference)


def bow_of(start: Numbers, end: Numbers, longest: float, up: Numbers) -> Numbers:
    """Return the vector (3) from the middle of a straight line to that of the arc; all (3), seen from the root.

    It is across the line. It goes up and away from the root as far as the limb is long enough for it.
    """
    chord = end - start
    size = float(np.linalg.norm(chord))
    if size < _NOTHING:
        return np.zeros(3)
    away = 0.5 * (start + end)
    wanted = up / max(float(np.linalg.norm(up)), _NOTHING) + away / max(float(np.linalg.norm(away)), _NOTHING)
    along = chord / size
    first = wanted - along * float(wanted @ along)  # not any direction: the bow would turn with the axes of the rig
    if float(np.linalg.norm(first)) < _LEVEL:
        first = square_to(along[:, None])[0][:, 0]
    first /= np.linalg.norm(first)
    second = np.cross(along, first)
    angles = np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS, endpoint=False)
    ways = first[:, None] * np.cos(angles) + second[:, None] * np.sin(angles)
    towards = wanted @ ways
    nearest = start + np.clip(-(start @ chord) / size**2, 0.0, 1.0) * chord
    passing = (_PASSING[0] - float(np.linalg.norm(nearest)) / longest) / (_PASSING[0] - _PASSING[1])
    bows = np.interp(passing, (0.0, 1.0), _BOWS) * size * ways
    places = (
        start[:, None, None] + chord[:, None, None] * _SAMPLES + bows[:, :, None] * (4.0 * _SAMPLES * (1.0 - _SAMPLES))
    )
    ends = [float(np.linalg.norm(each)) for each in (start, end)]
    most = np.maximum(_STRETCHED * longest, ends[0] + (ends[1] - ends[0]) * _SAMPLES)
    beyond = np.maximum(np.linalg.norm(places, axis=0) - most, 0.0).max(-1) / longest
    best: Numbers = bows[:, int((_FARTHER * beyond - towards).argmin())]
    return best


def arc(start: Numbers, end: Numbers, shares: Numbers, bow: Numbers) -> Numbers:
    """Return the places (3, F) at shares (F) of the line from `start` (3, F) to `end` (3, F), which may both move."""
    found: Numbers = start + shares * (end - start) + bow[:, None] * (4.0 * shares * (1.0 - shares))
    return found


def along_arc(
    tree: Tree,
    form: LimbForm,
    poses: tuple[States, States, States],
    shares: Numbers,
    up: Numbers,
    fps: float,
) -> Work[Numbers]:
    """Return the rotations (n, 4, F) of a limb whose wrist goes along an arc.

    The `poses` of all frames are those that the limb leaves, those at which it arrives, and the blend of both that it
    stays near; the first and the last frame of that blend meet the path. `shares` (F) are those of the distance, `up`
    (3) is seen from what carries the limb, and there are `fps` frames a second.
    """
    leading = _without_end(tree) if form.has_end else tree
    rotations = [tree.rotations(each) for each in poses]
    own = [leading.posed(each[: len(leading.joints)], states) for each, states in zip(rotations, poses, strict=True)]
    before, after = (_seen_from_root(leading, each) for each in own[:2])
    root = np.array(leading.joints[0].offset, float)[:, None]
    bow = bow_of((before[:, :1] - root)[:, 0], (after[:, -1:] - root)[:, 0], leading.size, up)
    path = rotate(own[2].root, arc(before, after, shares, bow)) + own[2].place
    tolerance = np.array([_CLOSE * leading.size])
    shot = Shot(
        tree=leading,
        reference=own[2],
        tasks=[point_task(path, tolerance)],
        form=form._replace(has_end=False),
        fps=fps,
        part_from=0,
    )
    found = yield from limb_motion(shot)
    rotations[2][: len(leading.joints)] = leading.rotations(found.states)
    return rotations[2]


def _without_end(tree: Tree) -> Tree:
    """The limb up to its wrist or ankle."""
    joints, end = tree.joints[:-1], tree.joints[-1]
    reach = sum(joint.offset.length for joint in tree.joints[1:])
    return Tree(joints, range(-1, len(joints) - 1), [TreeTip(len(joints) - 1, end.offset, Quaternion(), reach)])


def _seen_from_root(tree: Tree, states: States) -> Numbers:
    """Places of the tip (3, F) in the axes of the root's parent."""
    count = len(states)
    place = np.broadcast_to(states.place, (3, count))
    found: Numbers = rotate_back(np.broadcast_to(states.root, (3, 3, count)), Geometry(tree, states).tip() - place)
    return found
