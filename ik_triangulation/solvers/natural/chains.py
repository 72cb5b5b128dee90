# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of any number of bones, solved near their reference: relaxed over the frames, whole turns shared.

The start of a chain: its reference, bent a little where straight, and turned as a whole onto the target. Poses of one
target that start from elsewhere end on other branches; a start that is a smooth function of reference and target gives
all frames the same one. Source: none.

Posture of a chain over all frames: spines, necks, tails, fingers and whatever else is not two bones and an end. Of all
motions that meet the goals the one is sought that turns its joints least off the reference, the pose that somebody made
by hand, and changes that turn least from frame to frame. Coarse to fine: knots a few frames apart are solved, each from
its own reference, turned onto its target; between them the turns are interpolated, all frames are relaxed by a few
steps, and then brought to their goals exactly. So a frame depends on what is near it in time, never on where the path
begins. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...cooperative import Work
from ...goals.orientation import AlongTask, OrientTask
from ...goals.task import PlaceTask, Task
from ...kinematics.arrays import Indices, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    compose,
    conjugated,
    dot,
    exponential,
    lengths,
    matrices,
    normalized,
    product,
    quaternions,
    rotate,
    rotate_back,
    rotation_vectors,
    turn_vectors,
)
from ...kinematics.batch.tree import joined
from ...kinematics.framed import hinge_axis
from ..batch.change import System
from ..batch.descent import Descent, at_one_level, descend, precisely
from ..batch.swings import Swing, smallest_rotations
from .giving_way import within_reach
from .looking import turned_to_look
from .posture import USUAL_FPS, Posture, Relaxation, interpolated_offsets, nearest_states, time_weight

BEND = 0.07  # [rad] of every joint of a straight chain
BENT, EXTENDED = 0.995, 0.999  # of the reach: distances from root to tip between which the bend sets in
_MOST_BENT = 12.0  # times that bend where the chain is to be shorter
_NOTHING = 1e-300

_APART = 0.25  # of the reach: error of an interpolated frame that is solved from its own start instead
_TOGETHER, _LEAST_TOGETHER = 60_000, 1024  # columns of all frames that are solved together; and frames at least
_OVERLAP = 4  # knots before and after these that are solved with them
_SAME = 1e-4  # [rad, and of the reach] difference of two frames that is rounding
_CORRECTION, _APPROACH = Descent(iterations=30, stall=4), Descent(iterations=8, stall=4)


def turned_whole(
    tree: Tree, reference: States, tasks: Sequence[Task], compliance: Numbers, flexion: Numbers | None = None
) -> States:
    """Turn a chain so that its tip lies towards its target, spread over the joints as the tip is to turn.

    If the last bone has to turn, every joint has the same share of what a least turn of the whole chain leaves of that;
    else each one turns by its distance from the tip along the line to the root, which bends the chain to an arc. What
    that leaves of the direction the first joint adds. `flexion` (n, 3) are the axes in the joints' frames about which a
    straight chain is bent, by default those about which its joints prefer to bend.
    """
    place = next((task for task in tasks if isinstance(task, PlaceTask)), None)
    shares = np.zeros((len(tree.joints), 1))
    shares[tree.joint_of] = compliance
    if place is None or not shares.any():
        return reference
    root, geometry = int(np.flatnonzero(shares)[0]), Geometry(tree, reference)
    head, tip = geometry.heads[root], geometry.tip(place.tip)
    span, line = tip - head, place.target.closest(tip) - head
    least = smallest_rotations(span, line)
    whole = matrices(least)
    missing = _missing(whole, geometry.tip_rotation(place.tip), tasks)
    if missing is None:
        levers = np.maximum(dot(tip - geometry.heads, span[None]), 0.0)  # times the length of the span
        scale = levers[root] / np.maximum((shares * levers**2).sum(0), _NOTHING)
        turns = (shares * levers * scale)[:, None] * rotation_vectors(least)
    else:
        turns = (shares / shares.sum())[:, None] * missing
    hinged = [j for j in range(root + 1, len(tree.joints) - 1) if hinge_axis(tree.joints[j].freedom) is not None]
    if missing is None or not hinged:
        turns = turns + _bend(tree, geometry, lengths(span) / tree.size, flexion)
    else:
        end = rotate_back(whole, line) - rotate(matrices(exponential(missing)), tip - geometry.heads[-1])
        turns = turns + _fitting_bend(tree, geometry, root, hinged, lengths(end))
    change = dot(geometry.axes(), turns[tree.joint_of])
    geometry = Geometry(tree, tree.moved(reference, geometry.frames, change))
    return _root_turned(tree, geometry, root, smallest_rotations(geometry.tip(place.tip) - head, line))


def _missing(whole: Numbers, rotation: Numbers, tasks: Sequence[Task]) -> Numbers | None:
    """Rotation vectors (3, F) that the last bone misses, as seen before the chain is turned by `whole` (3, 3, F)."""
    now = compose(whole, rotation)
    for task in tasks:
        if isinstance(task, OrientTask):
            turn = turn_vectors(compose(task.rotation, now.swapaxes(0, 1)))
            return rotate_back(whole, turn)
        if isinstance(task, AlongTask):
            axis = rotate(now, task.axis)
            turn = rotation_vectors(smallest_rotations(axis, np.broadcast_to(task.direction, axis.shape)))
            return rotate_back(whole, turn)
    return None


def _bend(tree: Tree, geometry: Geometry, span: Numbers, flexion: Numbers | None) -> Numbers:
    """Small turns (n, 3, F) of the joints where no turn of one of them would bring the tip nearer to the root."""
    share = np.clip((span - BENT) / (EXTENDED - BENT), 0.0, 1.0)
    if flexion is None:
        flexion = np.array([joint.freedom.bend_axis[:] for joint in tree.joints])
    return rotate(geometry.frames[:, :, :3], flexion[:, :, None]) * (BEND * share)


def _fitting_bend(tree: Tree, geometry: Geometry, root: int, hinged: Sequence[int], distance: Numbers) -> Numbers:
    """Turns (n, 3, F) of joints that bend one way, of a chain whose last bone turns as it is told.

    Where the chain is straight up to that bone they bring its head about to a `distance` (F) from the root: the chain
    gets shorter with the square of them.
    """
    heads = geometry.heads[root:]
    span = lengths(heads[-1] - heads[0])
    whole = lengths(np.diff(heads, axis=0)).sum(0)
    turns = np.zeros_like(geometry.heads)
    turns[hinged] = _bend(tree, geometry, span / np.maximum(whole, _NOTHING), None)[hinged]
    bent = Geometry(tree, tree.moved(geometry.states, geometry.frames, dot(geometry.axes(), turns[tree.joint_of])))
    shorter = span - lengths(bent.heads[-1] - bent.heads[root])
    wanted = np.maximum(span - distance, 0.0)
    return turns * np.sqrt(np.clip(wanted / np.maximum(shorter, _NOTHING), 1.0, _MOST_BENT**2))


def _root_turned(tree: Tree, geometry: Geometry, root: int, turn: Numbers) -> States:
    """The states with a joint turned further (4, F), armature space, as far as its limits allow."""
    states = geometry.states
    frame = quaternions(geometry.frames[root, :, :3])
    local = product(product(conjugated(frame), turn), frame)
    angles, balls = states.angles, states.balls
    if root in tree.balls:
        at, balls = tree.balls.index(root), balls.copy()
        balls[at] = normalized(product(balls[at], local))
    else:
        kind = next(kind for kind in tree.kinds if root in kind.joints)
        own = kind.quaternions(angles[kind.rows])[list(kind.joints).index(root)]
        angles = angles.copy()
        wanted = Swing(tree.joints[root].freedom).nearest(normalized(product(own, local)))[1]
        angles[tree.joint_of[: tree.angles] == root] = wanted
    return States(angles, balls, states.held, states.root, states.place)


@dataclass(frozen=True, kw_only=True)
class SpreadSettings:
    """Bounds of the work: `knot` frames at 30 a second from knot to knot, and steps that are made at most.

    `coarse` are those of the knots, and `fine` those of all frames.
    """

    knot: int = 4
    coarse: int = 16
    fine: int = 40


USUAL_SPREAD = SpreadSettings()


def spread(
    tree: Tree,
    frames: States,
    tasks: Sequence[Task],
    reference: Numbers,
    *,
    weights: Numbers | None = None,
    flexion: Numbers | None = None,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
    cyclic: bool = False,
    first: int = 0,
    settings: SpreadSettings = USUAL_SPREAD,
) -> Work[States]:
    """Return the states (F) of a chain that meet the tasks nearest to the reference; where out of reach, the nearest.

    `frames` has the root's frame and the locked joints at every frame, and any rotations. `reference` (n, 4, F or 1)
    are rotations of all joints from rest, unit quaternions; where they meet all tasks they are the result. `weights`
    (n) multiply the cost of each joint's turn, besides its stiffness; `flexion` (n, 3) are axes in the joints' frames
    about which a straight chain is to bend. `smoothing` from 0 to 1 calms the motion. With `cyclic` frame 0 comes after
    the last frame, or is it if that has the same goals. `first` is the number of the first frame: knots are at the same
    numbers whatever part is solved. Gives way between parts of a long path.
    """
    compliance = tree.compliance if weights is None else tree.compliance / weights[tree.joint_of][:, None]
    own = turned_to_look(tree, nearest_states(tree, frames, reference), tasks, compliance)
    count = len(frames)
    closed = cyclic and count > 2 and _is_lap(tree, own, tasks)
    if closed:
        count -= 1
        own, tasks = own.take(slice(count)), [task.take(slice(count)) for task in tasks]
    stride = max(1, round(settings.knot * fps / USUAL_FPS))
    chain = _Spread(tree, compliance, flexion, time_weight(fps, smoothing), stride, settings)
    parts, together = [], max(_TOGETHER // max(tree.columns, 1), _LEAST_TOGETHER)
    for begin in range(0, count, together):
        end, margin = min(begin + together, count), _OVERLAP * stride
        start, stop = begin - margin, end + margin
        whole = end - begin == count
        if whole or not cyclic:
            start, stop = max(start, 0), min(stop, count)
        window = np.arange(start, stop) % count
        goals = [task.take(window) for task in tasks]
        states = chain.solved(own.take(window), goals, first + start, cyclic and whole)
        parts.append(states.take(slice(begin - start, end - start)))
        yield
    if closed:
        parts.append(parts[0].take([0]))
    return joined(parts).like(frames)


def _is_lap(tree: Tree, reference: States, tasks: Sequence[Task]) -> bool:
    """Tell whether the last frame repeats the first one: its reference, and its goals as the root sees them."""
    ends = np.array([0, len(reference) - 1])
    some, turned = reference.take(ends), Posture(tree, reference.take(ends[:1])).offsets(reference.take(ends[1:]))
    ways = [task.take(ends).ways(some.root, some.place) for task in tasks]
    return bool(np.abs(turned).max() < _SAME and all((way < _SAME * tree.size).all() for way in ways))


@dataclass(frozen=True)
class _Spread:
    """A chain to be solved, with what all its frames share; `stride` is the number of frames from knot to knot."""

    tree: Tree
    compliance: Numbers
    flexion: Numbers | None
    weight: float
    stride: int
    settings: SpreadSettings

    def solved(self, reference: States, tasks: Sequence[Task], first: int, cyclic: bool) -> States:
        """The states nearest to a reference, of frames from number `first` on."""
        tree, count = self.tree, len(reference)
        precise = precisely(tree, tasks)
        if not tree.columns or System(tree, reference, precise).met.all():
            return reference
        posture, tasks = Posture(tree, reference), within_reach(tree, reference, precise)
        relaxation = Relaxation(posture=posture, compliance=self.compliance, weight=self.weight, cyclic=cyclic)
        if count > 2 * self.stride:
            states = self._interpolated(relaxation, tasks, first)
        else:
            states = self._apart(posture, tasks)
        if count > 1:
            states = relaxation.run(tree, states, tasks, self.settings.fine)
        self._make_exact(posture, states, tasks)
        if any(task is not other for task, other in zip(tasks, precise, strict=True)):
            self._approach(states, precise)
        return states

    def _apart(self, posture: Posture, tasks: Sequence[Task]) -> States:
        """The states of frames that do not know of each other."""
        states = turned_whole(self.tree, posture.reference, tasks, self.compliance, self.flexion)
        alone = Relaxation(posture=posture, compliance=self.compliance)
        return alone.run(self.tree, states, tasks, self.settings.coarse)

    def _interpolated(self, relaxation: Relaxation, tasks: Sequence[Task], first: int) -> States:
        """The states of all frames, from those of the knots."""
        tree, posture, cyclic = self.tree, relaxation.posture, relaxation.cyclic
        count = len(posture.reference)
        knots = np.arange(-first % self.stride, count, self.stride)
        if not cyclic:
            knots = np.union1d(knots, [0, count - 1])
        at_knots, goals = posture.take(knots), [task.take(knots) for task in tasks]
        found = turned_whole(tree, at_knots.reference, goals, self.compliance, self.flexion)
        weight = self.weight / self.stride**2
        coarse = Relaxation(posture=at_knots, compliance=self.compliance, weight=weight, cyclic=cyclic)
        found = coarse.run(tree, found, goals, self.settings.coarse)
        states = posture.states(interpolated_offsets(at_knots.offsets(found), knots, count, cyclic))
        away = np.flatnonzero(System(tree, states, tasks).value > (_APART * tree.size) ** 2)
        if len(away):
            states.put(away, self._apart(posture.take(away), [task.take(away) for task in tasks]))
        return states

    def _make_exact(self, posture: Posture, states: States, tasks: Sequence[Task]) -> None:
        """Bring all frames to their goals, in place; those missed from the nearest that is not, else level by level."""
        tree, relaxed = self.tree, states.copy()
        met, _ = descend(tree, states, at_one_level(tasks), _CORRECTION)
        missed = np.flatnonzero(~met)
        if not len(missed):
            return
        some, goals = relaxed.take(missed), [task.take(missed) for task in tasks]
        if met.any():
            nearest = _nearest(np.flatnonzero(met), missed)
            some = posture.take(missed).states(posture.take(nearest).offsets(states.take(nearest)))
            descend(tree, some, at_one_level(goals), _CORRECTION)
        self._approach(some, goals)
        states.put(missed, some)

    def _approach(self, states: States, tasks: Sequence[Task]) -> None:
        """Bring frames as near to their goals as a few steps do, in place, the most urgent ones first."""
        missed = np.flatnonzero(~System(self.tree, states, tasks).met)
        if len(missed):
            some, goals = states.take(missed), [task.take(missed) for task in tasks]
            descend(self.tree, some, goals, _APPROACH)
            if len({task.level for task in goals}) > 1:
                descend(self.tree, some, [task for task in goals if task.level == 0], _APPROACH)
            states.put(missed, some)


def _nearest(good: Indices, wanted: Indices) -> Indices:
    """Of some frames the one nearest to each of others; both in order."""
    after = np.clip(np.searchsorted(good, wanted), 0, len(good) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(good[after] - wanted < wanted - good[before], good[after], good[before])
