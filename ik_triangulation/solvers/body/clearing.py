# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that stay out of the capsules of trunk, head and thighs, and out of obstacles, as far as their tips can stay.

A level below all goals. First the elbows swivel: depth in a capsule is one more cost of the swivel, one-sided and
squared, over all frames at once, so that an elbow goes round on the side that is cheaper for the whole motion. Then
hands, and arms without a goal, turn as far as is still missing, by steps near the motion in what the goals leave free.
Source: none.

Comfort, below that of everything else: gravity and a pose to keep, in what the goals of a limb leave free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...cooperative import Work
from ...goals.comfort import EffortTask, NearTask, PoleTask
from ...goals.from_goals import RADIAN, point_task
from ...goals.goal import LOWER
from ...goals.obstacles import ClearTask, Segments
from ...goals.orientation import LookTask, OrientTask
from ...goals.task import FadedTask, PlaceTask, Task, unwrapped
from ...kinematics.arrays import Columns, Indices, Mask, Numbers, averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import at, cross, dot, normalized, rotate
from ..batch.change import System
from ..batch.descent import descend
from ..natural.posture import Posture, roughness, time_weight
from ..natural.swivel import SwivelCost, best_swivels
from ..natural.traded import solve_blocks
from ..natural.two_bones import TwoBones
from ..null_space import settle_preferences
from .swivelling import LimbOfBody
from .thickness import SHALLOW, Arm, Thickness, links_of_arm

_DEEP = 400.0  # cost [rad^2] of a depth as large as the arm is long, squared
_SOLID = 25.0  # times as much in an obstacle, which does not give way as flesh does
_FIRM = 1e5  # cost [rad^2] of a goal that is missed by as much, squared
_CALM = 16.0, 64.0, 256.0  # times the usual weight of changes from frame to frame, one tried after the other
_CALM_AROUND = *_CALM, 1024.0, 4096.0  # likewise, of an arm with obstacles: the calmest that is clear, or most so
_GENTLE = 0.1  # [rad] change of a turn from frame to frame that is calm enough not to look for a calmer way
_HASTY = 0.25  # [rad] change of a turn from frame to frame for which none is made
_TOO_HASTY = 2.0  # times as much by the swivel alone
_AROUND = 0.4  # [s] on either side of what is too deep that may move
_LONG_AROUND = 1.0  # [s] likewise, of an arm with obstacles, which may have to go farther
_RAISED = 6.0  # cost [rad^2] of an elbow as much higher than it was, and than its shoulder, as the arm is long
_BETWEEN = 0.3  # [s] between what is too deep, at least, to clear the one without the other
_IN_A_MOVE = 2  # steps of Newton's method in a move of a drag
_STEPS, _LARGEST, _CHANGE = 12, 0.3, 3e-3  # of Newton's method, the largest change in one, and one that ends it [rad]
_EXACT = 1e-6  # of the limb's length: tolerance of goals that are where the tip is
_SOFTLY = 0.02  # of the cost of limits in a swivel
_NEAR_GIVEN = 0.2  # of the weight of comfort: that of the pose as it is
_EVENED = 12  # averages over time of what comfort changes
_LINKS = np.array([0, 1, 2])  # upper arm, forearm and hand
_HELD = 1e9  # cost [rad^2] of any turn in frames that stay as they are


def cleared(
    tree: Tree,
    states: States,
    thickness: Thickness | None,
    tasks: Sequence[Task],
    fps: float,
    smoothing: float,
    comfort: Sequence[Comfort] = (),
    on_the_way: Mask | None = None,
) -> Work[States]:
    """Return the states (F) with limbs that stay out of capsules and obstacles; what tasks ask of tips stays as it is.

    Before that limbs have their comfort. An arm that would have to leap for it stays as it is in the frames around.
    Tips that are `on_the_way` (F) may be led round obstacles.
    """
    if comfort:
        states = comforted(tree, states, comfort, tasks)
    thickness = thickness and _inside(tree, states, thickness)
    if thickness is None or not thickness.arms:
        return states
    found = rotations = tree.rotations(states)
    for arm in _arms(tree, states, rotations, thickness, tasks, on_the_way):
        runs = _runs(arm.deep, round((_AROUND if arm.up is None else _LONG_AROUND) * fps))
        while runs:
            frames = runs.pop()
            turned = _Arm(arm.take(frames)).cleared(time_weight(fps, smoothing))
            yield
            if turned is None:
                runs += _halves(frames, arm.deep, round(_BETWEEN * fps))
            else:
                found = found.copy() if found is rotations else found
                found[np.ix_(list(arm.limb.joints), range(4), frames)] = turned
    return states if found is rotations else tree.posed(found, states)


def pushed_out(tree: Tree, states: States, thickness: Thickness, tasks: Sequence[Task]) -> States:
    """Return a pose of a motion that goes on, its limbs turned a little on their nearest way out of what they are in.

    So no arm leaps from one pose to the next, and one that cannot get out this way stays inside.
    """
    thickness = _inside(tree, states, thickness)
    if not thickness.arms:
        return states
    found = rotations = tree.rotations(states)
    for arm in _arms(tree, states, rotations, thickness, tasks):
        if arm.deep.any():
            found = found.copy() if found is rotations else found
            found[list(arm.limb.joints)] = _Arm(arm).pushed_out()
    return states if found is rotations else tree.posed(found, states)


def _inside(tree: Tree, states: States, thickness: Thickness) -> Thickness:
    """Return the thickness with the arms alone that are inside it in any of the states."""
    geometry = Geometry.of(tree, states)
    axes = thickness.capsules.placed(geometry)
    arms = [arm for arm in thickness.arms if (arm.too_near(axes, geometry) > 0.0).any()]
    return replace(thickness, arms=tuple(arms))


class Comfort(NamedTuple):
    """The comfort of the limb that ends in a tip, in F poses: by the weights of gravity and of a pose to keep.

    `up` (3, F or 1) is the unit vector against gravity, `kept` has the rotations (4, F or 1) of joints by number, and
    `influence` (F or 1) is that of the tip.
    """

    tip: int
    gravity: float
    up: Numbers
    keeping: float
    kept: Mapping[int, Numbers]
    influence: Numbers

    def take(self, columns: Columns) -> Comfort:
        """The comfort in those of the poses."""
        kept = {joint: at(rotation, columns) for joint, rotation in self.kept.items()}
        return self._replace(up=at(self.up, columns), kept=kept, influence=at(self.influence, columns))

    def wishes(self, limb: LimbOfBody, given: Numbers, share: float) -> list[Task]:
        """Return what is comfortable as tasks of the limb alone, of which so large a share counts.

        What that leaves free stays near the rotations (n, 4, F) that are `given`.
        """
        found, length = list[Task](), RADIAN * limb.tree.size * share
        if self.gravity:
            found.append(EffortTask(length=length * self.gravity, tolerance=np.ones(1), level=2, up=self.up))
        if self.keeping and all(joint in self.kept for joint in limb.joints):
            each = np.broadcast_arrays(*(self.kept[joint] for joint in limb.joints))
            rotations = normalized(np.array(each))
            own = length * self.keeping
            found.append(NearTask(length=own, tolerance=np.ones(1), level=2, tree=limb.tree, rotations=rotations))
        own = length * _NEAR_GIVEN * max(self.gravity, self.keeping)
        return [*found, NearTask(length=own, tolerance=np.ones(1), level=2, tree=limb.tree, rotations=given)]


def comforted(tree: Tree, states: States, comfort: Sequence[Comfort], tasks: Sequence[Task]) -> States:
    """Return states (F) whose limbs are comfortable in what their goals leave free, by the joints that only they have.

    What becomes of neighbouring frames is evened, so that a nearly straight limb does not turn over at once.
    """
    rotations, geometry = tree.rotations(states), Geometry.of(tree, states)
    found = rotations.copy()
    for each in comfort:
        above = tree.above[:, tree.tips[each.tip].joint]
        others = [tip.joint for number, tip in enumerate(tree.tips) if number != each.tip]
        own = np.flatnonzero(above & ~tree.above[:, others].any(1))
        own = own[own > 0]
        if not len(own):
            continue
        limb = LimbOfBody.of(tree, int(own[0]), each.tip, rotations)
        given = limb.frames(tree, geometry, rotations)
        asked = [unwrapped(task) for task in tasks if task.tip == each.tip]
        goals = _as_they_are(limb.tree, given, asked)
        poles = [limb.own(task, tree) for task in asked if isinstance(task, PoleTask)]
        wishes = each.wishes(limb, limb.tree.rotations(given), LOWER if poles else 1.0)
        settled = given.copy()
        settle_preferences(limb.tree, settled, [*goals, *poles], wishes)
        posture = Posture(limb.tree, given)
        changes = averaged_in_time(posture.offsets(settled).T, _EVENED).T
        settled = posture.states(each.influence * changes)
        if goals:
            descend(limb.tree, settled, goals)
        found[list(limb.joints)] = limb.tree.rotations(settled)
    return tree.posed(found, states)


def _as_they_are(tree: Tree, states: States, tasks: Sequence[Task]) -> list[Task]:
    """Return goals of a limb alone that keep its tip, and its turn if the tasks ask for one, where states have them."""
    places, turns = _fixes(tasks)
    goals, geometry, near = list[Task](), Geometry(tree, states), np.array([_EXACT * tree.size])
    if places:
        goals.append(point_task(geometry.tip(), near))
    if turns:
        length = RADIAN * tree.size
        goals.append(OrientTask(rotation=geometry.tip_rotation(), length=length, tolerance=near, level=0))
    return goals


class _Given(NamedTuple):
    """An arm as it is given in F frames, what is asked of its tip, and in which frames it is too deep (F)."""

    limb: LimbOfBody
    states: States
    tasks: Sequence[Task]
    clear: ClearTask
    deep: Mask
    up: Numbers | None = None  # where there are obstacles
    free: Mask | None = None  # frames in which the tip may be led round them

    def take(self, frames: Indices) -> _Given:
        """Return the arm in some frames."""
        states, clear = self.states.take(frames), self.clear.take(frames)
        free = None if self.free is None else self.free[frames]
        return self._replace(states=states, clear=clear, deep=self.deep[frames], free=free)


def _arms(
    tree: Tree,
    states: States,
    rotations: Numbers,
    thickness: Thickness,
    tasks: Sequence[Task],
    on_the_way: Mask | None = None,
) -> Iterator[_Given]:
    """The arms of a body with these states (F) and rotations (n, 4, F), but for those with a twist that is animated."""
    geometry = Geometry.of(tree, states)
    axes = thickness.capsules.placed(geometry)
    for arm in thickness.arms:
        limb = LimbOfBody.of(tree, arm.joints.upper, arm.tip, rotations)
        if limb.tree.held:
            continue
        given, own = limb.frames(tree, geometry, rotations), [unwrapped(task) for task in tasks if task.tip == arm.tip]
        shallow = np.array([SHALLOW * limb.tree.size])
        clear = ClearTask(axes=axes, least=arm.least, joints=_LINKS[-len(arm.least) :], length=1.0, tolerance=shallow)
        if arm.avoided is not None:
            weights = np.ones((arm.least.shape[1], len(given)))
            weights[-len(arm.avoided.volumes) :] = _SOLID * arm.avoided.weight
            clear = replace(
                clear, axes=arm.around(axes), least=_reachable(arm, geometry, own, on_the_way), weights=weights
            )
        deep = ~System(limb.tree, given, [clear]).met
        around = (None, None) if arm.avoided is None else (arm.avoided.up, on_the_way)
        yield _Given(limb, given, own, clear, deep, *around)


def _reachable(arm: Arm, geometry: Geometry, tasks: Sequence[Task], free: Mask | None) -> Numbers:
    """Return the distances that an arm keeps (3, c, F), from obstacles no larger than what cannot move is away.

    These are its shoulder, and by its goals the tip, the wrist and so the hand.
    """
    assert arm.avoided is not None
    places, turns = _fixes(tasks)
    _, forearm, hand = links_of_arm(arm, geometry)
    shoulder, wrist, tip = geometry.heads[arm.joints.upper], forearm.end, hand.end
    fixed = [[Segments(shoulder, shoulder)], [Segments(wrist, wrist)] if places and turns else [], []]
    if places:
        fixed[2] = [hand if turns else Segments(tip, tip)]
    least = np.repeat(arm.least, len(tip[0]), -1) if arm.least.shape[-1] == 1 else arm.least.copy()
    for row, segments in enumerate(fixed):
        for segment in segments:
            near = [volume.nearest(segment).distances[0] for volume in arm.avoided.volumes]
            own = least[row, -len(near) :]
            np.minimum(own, near, out=own, where=np.array(True) if free is None or row == 0 else ~free)
    return least


def _fixes(tasks: Sequence[Task]) -> tuple[bool, bool]:
    """Tell whether the tasks of a tip fix its place, as a look from there does, and its rotation."""
    places = any(isinstance(task, PlaceTask | LookTask) for task in tasks)
    return places, any(not isinstance(task, PlaceTask | PoleTask) for task in tasks)


def _runs(deep: Mask, around: int) -> list[Indices]:
    """Return runs of frames that are at most so far from one that is too deep."""
    at = np.flatnonzero(deep)
    if not len(at):
        return []
    near = np.zeros(len(deep) + 1, int)
    np.add.at(near, np.maximum(at - around, 0), 1)
    np.add.at(near, np.minimum(at + around + 1, len(deep)), -1)
    frames = np.flatnonzero(np.cumsum(near)[:-1])
    return np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)


def _halves(frames: Indices, deep: Mask, least: int) -> list[Indices]:
    """Return the two parts of a run with the longest way between what is too deep; nothing if that is too short."""
    at = np.flatnonzero(deep[frames])
    gaps = np.diff(at)
    if not len(gaps) or gaps.max() < least:
        return []
    longest = int(gaps.argmax())
    middle = int(at[longest] + at[longest + 1]) // 2
    return [frames[:middle], frames[middle:]]


class _Arm:
    """An arm in F frames that follow one another; its first and last one stay as they are unless they are too deep."""

    def __init__(self, arm: _Given) -> None:
        self._limb, given, tasks, self._clear, deep, self._up, free = arm
        self._tree, self._given, limb = arm.limb.tree, given, arm.limb
        ends = np.unique([0, len(given) - 1])
        self._held = ends[~deep[ends]]
        self._tip, self._goals = Geometry(limb.tree, given).tip(), _as_they_are(limb.tree, given, tasks)
        self._swivels, self._kept = _fixes(tasks)[0], list[Task](self._goals)
        if free is not None:
            present = (~free).astype(float)
            self._kept = [FadedTask(task=goal, rest=np.zeros((1, 1)), present=present) for goal in self._goals]

    def cleared(self, time: float) -> Numbers | None:
        """Return the rotations (n, 4, F) of the joints of the arm as it is cleared; None where it would leap.

        `time` is the usual weight of changes from frame to frame.
        """
        tree, posture = self._tree, Posture(self._tree, self._given)
        best, least = None, (np.inf, np.inf)
        for calm in _CALM if self._up is None else _CALM_AROUND:
            begun = self._swivelled(calm * time) if self._swivels else self._given
            if np.abs(np.diff(posture.offsets(begun))).max(initial=0.0) > _TOO_HASTY * _HASTY:
                continue
            is_clear = System(tree, begun, [self._clear]).met.all()
            turned = begun if is_clear else self._turned(begun, calm * time)
            if self._goals and not System(tree, turned, self._kept).met.all():
                descend(tree, turned, self._kept)
            turned.put(self._held, self._given.take(self._held))
            change = np.abs(np.diff(posture.offsets(turned))).max(initial=0.0)
            if change > _HASTY:
                continue
            if self._up is None:
                return tree.rotations(turned)
            left = float((~System(tree, turned, [self._clear]).met).sum())
            if (left, change) < least:
                best, least = tree.rotations(turned), (left, change)
            if not left and change <= _GENTLE:
                break
        return best

    def pushed_out(self) -> Numbers:
        """Return the rotations (n, 4, 1) of the joints of the arm after a few steps out of the capsules."""
        turned = self._turned(self._given, 0.0, _IN_A_MOVE)
        if self._goals:
            descend(self._tree, turned, self._kept)
        return self._tree.rotations(turned)

    def _swivelled(self, time: float) -> States:
        """Return the arm at the swivels that cost least, in which limits count softly; its tip stays but for these."""
        tree, given, near, form = self._tree, self._given, np.array([self._tree.size]), self._limb.form
        flexion = None if form.flexion is None else np.array(form.flexion, float)[:, None]
        bones = TwoBones(tree, given, [goal.within(near) for goal in self._goals], tree.rotations(given), flexion)
        cost, depths = SwivelCost(bones, _SOFTLY), _Depths(bones, given, self._tip, self._clear, self._up)

        def every(swivels: Numbers, frames: Indices) -> Numbers:
            return cost(swivels, frames) + depths(swivels, frames)

        swivels = best_swivels(every, len(given), time, cost.choices, held=self._held)
        return tree.posed(bones.rotations(swivels), given)

    def _turned(self, states: States, time: float, steps: int = _STEPS) -> States:
        """Return the arm at its goals, turned out of the capsules in what these leave free, near the states."""
        tree, posture = self._tree, Posture(self._tree, states)
        offsets, found, basis = np.zeros((tree.columns, len(states))), states, np.eye(tree.columns)[:, :, None]
        own = np.tile(np.eye(tree.columns), (len(states), 1, 1))
        own[self._held] *= _HELD
        own[1:] += time * np.eye(tree.columns)  # of changes to the frames beside
        own[:-1] += time * np.eye(tree.columns)
        side = np.full((len(states) - 1, tree.columns), -time)
        for _ in range(steps):
            system = System(tree, found, [*self._kept, self._clear])
            errors, levels = system.errors()
            into = [posture.columns(system.geometry, np.broadcast_to(each, offsets.shape)) for each in basis]
            rows = np.einsum("rkf,ckf->frc", system.jacobian(), np.array(into))
            weighted = rows * (np.where(levels == self._clear.level, _DEEP, _FIRM) / tree.size**2)[:, None]
            if self._clear.weights.shape[0] > 1:
                own_rows = slice(-self._clear.count, None)
                by_axis = np.tile(self._clear.weights, (self._clear.count // len(self._clear.weights), 1))
                weighted[:, own_rows] *= by_axis.T[:, :, None]
            right = np.einsum("frc,rf->fc", weighted, errors) - (offsets + time * roughness(offsets)).T
            change = solve_blocks(rows.swapaxes(1, 2) @ weighted + own, side, right).T
            change *= np.minimum(1.0, _LARGEST / np.maximum(np.abs(change).max(0), 1e-300))
            found = posture.states(offsets + change)
            offsets = posture.offsets(found)
            if np.abs(change).max() < _CHANGE:
                break
        return found


class _Depths:
    """The cost [rad^2] of the depths at which swivels have forearm and hand in the capsules."""

    def __init__(
        self, bones: TwoBones, frames: States, tip: Numbers, clear: ClearTask, up: Numbers | None = None
    ) -> None:
        """Cost what is deep in F frames, whose tips stay at a place (3, F); with `up` raised elbows cost as well."""
        self._clear, self._size, self._tip, self._up = clear, bones.tree.size, tip, up
        upper, lower = (np.array(joint.offset, float)[:, None] for joint in bones.tree.joints[1:])
        elbow = rotate(bones.upper, np.broadcast_to(upper, bones.axis.shape))
        wrist = elbow + rotate(bones.lower, np.broadcast_to(lower, bones.axis.shape))
        root = np.broadcast_to(frames.root, (3, 3, len(frames)))
        self._circles = []
        for place in (elbow, wrist):
            along = dot(place, bones.axis) * bones.axis
            middle = rotate(root, bones.head + along) + frames.place
            self._circles.append((middle, rotate(root, place - along), rotate(root, cross(bones.axis, place))))
        self._shoulder = rotate(root, np.broadcast_to(bones.head, bones.axis.shape)) + frames.place
        if up is not None:  # the elbow at swivel 0 is that of the arm as given
            middle, out, _ = self._circles[0]
            self._high = np.maximum(dot(up, self._shoulder), dot(up, middle + out))

    def __call__(self, swivels: Numbers, frames: Indices) -> Numbers:
        """Costs (k, n) of swivels (k, n or 1) at n frames."""
        swivels = np.broadcast_to(swivels, (len(swivels), len(frames)))
        every = np.tile(frames, len(swivels))
        cosine, sine = np.cos(swivels).ravel(), np.sin(swivels).ravel()
        points = [
            middle[:, every] + cosine * out[:, every] + sine * side[:, every] for middle, out, side in self._circles
        ]
        axes, cost = self._clear.axes.take(every), np.zeros(len(every))
        if len(self._clear.joints) == len(_LINKS):
            points = [self._shoulder[:, every], *points]
        links = pairwise((*points, self._tip[:, every]))
        for (begin, end), least in zip(links, self._clear.least, strict=True):
            depths = np.maximum(at(least, every) - axes.nearest(Segments(begin, end)).distances, 0.0)
            cost += (at(self._clear.weights, every) * depths * depths).sum(0)
        found: Numbers = _DEEP / self._size**2 * cost.reshape(swivels.shape)
        if self._up is not None:
            raised = np.maximum(dot(self._up, points[-2]) - self._high[every], 0.0)
            found += _RAISED / self._size * raised.reshape(swivels.shape)
        return found
