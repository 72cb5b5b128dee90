# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms that stay out of the capsules of trunk, head and thighs, as far as their tips can stay where they are.

A level below all goals. First the elbows swivel: depth in a capsule is one more cost of the swivel, one-sided and
squared, over all frames at once, so that an elbow goes round on the side that is cheaper for the whole motion. Then
hands, and arms without a goal, turn as far as is still missing, by steps near the motion in what the goals leave free.
Source: none.

The capsules are the thickness of a body, along trunk, head, thighs and upper arms. Their sizes are shares of what the
bones tell: of their own lengths, and of the distance between the shoulders for the breadth of the trunk. They are a
little below those of people, as flesh gives (ANSUR II: Gordon et al. 2014, "2012 Anthropometric Survey of U.S. Army
Personnel"), and were checked on 25 recordings of other figures: in 21 of them no forearm is more than a centimetre
inside, in the others hands lie on thighs or belly. The trunk is broader than deep: distances from it count less across.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...cooperative import Work
from ...goals.comfort import PoleTask
from ...goals.from_goals import RADIAN, point_task
from ...goals.obstacles import Axes, ClearTask, Segments
from ...goals.orientation import OrientTask
from ...goals.task import PlaceTask, Task, unwrapped
from ...kinematics import Body
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import at, cross, dot, lengths, rotate
from ...kinematics.body import states_of
from ...kinematics.body_anatomy import Part, TwoPartLimb
from ..batch.change import System
from ..batch.descent import descend
from ..natural.posture import Posture, roughness, time_weight
from ..natural.swivel import SwivelCost, best_swivels
from ..natural.two_bones import TwoBones
from .swivelling import LimbOfBody, limbs_with_swivel

# Half thicknesses, beside their length; the trunk is as broad beside half the distance of the shoulders.
_THICK, _BROAD, _TOP = 0.22, 0.8, 0.85  # of the trunk, which ends at that share of the way from hips to shoulders
_THIGH, _UPPER_ARM, _FOREARM, _HAND = 0.16, 0.14, 0.12, 0.06
_HEAD, _HEAD_ENDS = 0.38, (0.4, 0.6)  # and the shares of its length between which its capsule is
_LEAST_HEAD = 0.32  # of the trunk's length: a bone of the head that is shorter only marks where it begins

_DEEP = 400.0  # cost [rad^2] of a depth as large as the arm is long, squared
_FIRM = 1e5  # cost [rad^2] of a goal that is missed by as much, squared
_CALM = 16.0, 64.0, 256.0  # times the usual weight of changes from frame to frame, one tried after the other
_HASTY = 0.25  # [rad] change of a turn from frame to frame for which none is made
_TOO_HASTY = 2.0  # times as much by the swivel alone
_SHALLOW = 0.01  # of the arm's length: depth for which nothing moves
_AROUND = 0.4  # [s] on either side of what is too deep that may move
_BETWEEN = 0.3  # [s] between what is too deep, at least, to clear the one without the other
_IN_A_MOVE = 2  # steps of Newton's method in a move of a drag
_STEPS, _LARGEST, _CHANGE = 12, 0.3, 3e-3  # of Newton's method, the largest change in one, and one that ends it [rad]
_EXACT = 1e-6  # of the limb's length: tolerance of goals that are where the tip is
_SOFTLY = 0.02  # of the cost of limits in a swivel
_LINKS = np.array([1, 2])  # forearm and hand
_HELD = 1e9  # cost [rad^2] of any turn in frames that stay as they are


@dataclass(frozen=True)
class Capsules:
    """Capsules (c) around segments between two points (c, 2, 3) in the frames of their `joints` (c, 2).

    Each has a radius (c) [Blender units]. Along the unit vector `across` (c, 3) in the frame of its first joint, a
    distance counts less by the share `flat` (c).
    """

    joints: Indices
    points: Numbers
    radii: Numbers
    across: Numbers
    flat: Numbers

    def placed(self, geometry: Geometry) -> Axes:
        """Return the capsules where poses have them."""
        frames = geometry.frames[self.joints]  # (c, 2, 3, 4, F)
        points = np.broadcast_to(self.points[..., None], (*self.points.shape, frames.shape[-1]))
        places = rotate(frames[..., :3, :], points) + frames[..., 3, :]
        own = np.broadcast_to(self.across[..., None], (len(places), 3, places.shape[-1]))
        across = rotate(frames[:, 0, :, :3], own)
        return Axes(Segments(places[:, 0], places[:, 1]), across, self.flat)


class Arm(NamedTuple):
    """An arm that stays out of capsules: its shoulder, elbow and wrist, the number of its tip, and how near its forearm
    and its hand may come to the axes of these (2, c, F or 1)."""

    joints: TwoPartLimb
    tip: int
    least: Numbers


@dataclass(frozen=True)
class Thickness:
    """The capsules of a body, and its arms with the distances they keep from them."""

    capsules: Capsules
    arms: tuple[Arm, ...]

    def allowing(self, geometry: Geometry) -> Thickness:
        """Return the same with distances no larger than these poses have them: they may be as they are."""
        axes, arms = self.capsules.placed(geometry), []
        for arm in self.arms:
            near = np.stack([axes.nearest(link).distances for link in _links(arm, geometry)])
            arms.append(arm._replace(least=np.minimum(arm.least, near)))
        return replace(self, arms=tuple(arms))

    def depths(self, geometry: Geometry) -> dict[int, Numbers]:
        """Return how deep forearm or hand of each arm are (F) [Blender units], by the numbers of their tips."""
        axes = self.capsules.placed(geometry)
        depths = {}
        for arm in self.arms:
            near = np.stack([axes.nearest(link).distances for link in _links(arm, geometry)])
            depths[arm.tip] = np.maximum(arm.least - near, 0.0).max((0, 1))
        return depths

    def take(self, columns: Columns) -> Thickness:
        """The thickness in those of the poses."""
        return replace(self, arms=tuple(arm._replace(least=at(arm.least, columns)) for arm in self.arms))


def _links(arm: Arm, geometry: Geometry) -> tuple[Segments, Segments]:
    """Return the forearm and the hand of an arm."""
    elbow, wrist = geometry.heads[arm.joints.middle], geometry.heads[arm.joints.end]
    return Segments(elbow, wrist), Segments(wrist, geometry.tip(arm.tip))


def thickness_of(body: Body, factor: float) -> Thickness | None:
    """Return the thickness of a body times a factor; None without any, or where no arm reaches round a trunk.

    What touches in the rest pose may do so in every pose.
    """
    tree, parts, swivels = body.tree, body.tree.anatomy.parts, dict(limbs_with_swivel(body.tree))
    arms, legs = (
        [limb for limb in tree.anatomy.limbs if parts[limb.upper] == part] for part in (Part.UPPER_ARM, Part.THIGH)
    )
    sides = legs if len(legs) > 1 else arms
    if factor <= 0.0 or len(sides) < 2 or not any(arm.upper in swivels and arm.has_end for arm in arms):
        return None
    rest = Geometry(tree, states_of([body.rest_pose()]))
    found = _Found(rest)
    trunk = _add_trunk(found, arms, sides)
    for leg in legs:
        found.add_bone(leg.upper, rest.heads[leg.middle, :, 0], _THIGH)
    for number, tip in enumerate(tree.tips):
        if parts[tip.joint] == Part.SIMPLE:
            head, top = rest.heads[tip.joint, :, 0], rest.tip(number)[:, 0]
            if np.linalg.norm(top - head) < _LEAST_HEAD * np.linalg.norm(trunk):
                top = head + _LEAST_HEAD * trunk
            found.add_bone(tip.joint, top, _HEAD, _HEAD_ENDS)
    own = {arm.upper: found.add_bone(arm.upper, rest.heads[arm.middle, :, 0], _UPPER_ARM) for arm in arms}
    capsules, keeping = found.capsules(factor), []
    for arm in arms:
        if arm.upper in swivels and arm.has_end:
            end = swivels[arm.upper]
            thick = _FOREARM * lengths(rest.heads[arm.end] - rest.heads[arm.middle])
            thin = _HAND * lengths(rest.tip(end) - rest.heads[arm.end])
            least = np.stack([capsules.radii[:, None] + factor * each for each in (thick, thin)])
            least[:, own[arm.upper]] = 0.0
            keeping.append(Arm(arm, end, least))
    return Thickness(capsules, tuple(keeping)).allowing(rest)


def _add_trunk(found: _Found, arms: Sequence[TwoPartLimb], sides: Sequence[TwoPartLimb]) -> Numbers:
    """Add the trunk in two parts that bend with the spine; return its way (3) from hips to shoulders."""
    tree, heads = found.rest.tree, found.rest.heads[..., 0]
    uppers = [arm.upper for arm in arms]
    across = heads[sides[0].upper] - heads[sides[1].upper]
    across /= max(float(np.linalg.norm(across)), 1e-300)
    hips = heads[0] if sides is arms else heads[[leg.upper for leg in sides]].mean(0)
    beside = (heads[uppers] - hips) @ across
    shoulders = (heads[uppers] - beside[:, None] * across).mean(0)
    spine = np.flatnonzero(tree.above[:, uppers].all(1)).tolist()
    spine = [j for j in spine if tree.anatomy.parts[j] in (Part.HIPS, Part.TRUNK)] or [0]
    carriers = spine[0], spine[len(spine) // 2], spine[-1]
    top = hips + _TOP * (shoulders - hips)
    places = hips, 0.5 * (hips + top), top
    deep = _THICK * float(np.linalg.norm(shoulders - hips))
    broad = max(_BROAD * float(np.abs(beside).mean()), deep)
    for joints, ends in zip(pairwise(carriers), pairwise(places), strict=True):
        found.add(joints, ends, deep, across, 1.0 - deep / broad)
    way: Numbers = shoulders - hips
    return way


class _Found:
    """Capsules that are found in a rest pose, one after the other."""

    def __init__(self, rest: Geometry) -> None:
        self.rest = rest
        self._each: list[tuple[tuple[int, int], list[Numbers], float, Numbers, float]] = []

    def add(self, joints: tuple[int, int], ends: Sequence[Numbers], radius: float, across: Numbers, flat: float) -> int:
        """Add a capsule between two places (3) that joints carry; return its number."""
        frames = self.rest.frames[..., 0]
        own = [frames[joint, :, :3].T @ (end - frames[joint, :, 3]) for joint, end in zip(joints, ends, strict=True)]
        self._each.append((joints, own, radius, frames[joints[0], :, :3].T @ across, flat))
        return len(self._each) - 1

    def add_bone(self, joint: int, end: Numbers, share: float, ends: tuple[float, float] = (0.0, 1.0)) -> int:
        """Add a round capsule between shares of the way from a joint to an end (3), that thick beside its length."""
        head = self.rest.heads[joint, :, 0]
        places = [head + each * (end - head) for each in ends]
        return self.add((joint, joint), places, share * float(np.linalg.norm(end - head)), np.zeros(3), 0.0)

    def capsules(self, factor: float) -> Capsules:
        """Return all of them, so many times as thick."""
        joints, points, radii, across, flat = zip(*self._each, strict=True)
        return Capsules(np.array(joints), np.array(points), factor * np.array(radii), np.array(across), np.array(flat))


def cleared(
    tree: Tree, states: States, thickness: Thickness, tasks: Sequence[Task], fps: float, smoothing: float
) -> Work[States]:
    """Return the states (F) with arms that stay out of the capsules; what the tasks ask of their tips stays as it is.

    An arm that would have to leap for it stays as it is in the frames around.
    """
    thickness = _inside(tree, states, thickness)
    if not thickness.arms:
        return states
    found = rotations = tree.rotations(states)
    for arm in _arms(tree, states, rotations, thickness, tasks):
        runs = _runs(arm.deep, round(_AROUND * fps))
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
    """Return a pose of a motion that goes on, its arms turned a little on their nearest way out of the capsules.

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
    depths = thickness.depths(Geometry.of(tree, states))
    return replace(thickness, arms=tuple(arm for arm in thickness.arms if depths[arm.tip].any()))


class _Given(NamedTuple):
    """An arm as it is given in F frames, what is asked of its tip, and in which frames it is too deep (F)."""

    limb: LimbOfBody
    states: States
    tasks: Sequence[Task]
    clear: ClearTask
    deep: Mask

    def take(self, frames: Indices) -> _Given:
        """Return the arm in some frames."""
        states, clear = self.states.take(frames), self.clear.take(frames)
        return self._replace(states=states, clear=clear, deep=self.deep[frames])


def _arms(
    tree: Tree, states: States, rotations: Numbers, thickness: Thickness, tasks: Sequence[Task]
) -> Iterator[_Given]:
    """The arms of a body with these states (F) and rotations (n, 4, F), but for those with a twist that is animated."""
    geometry = Geometry.of(tree, states)
    axes = thickness.capsules.placed(geometry)
    for arm in thickness.arms:
        limb = LimbOfBody.of(tree, arm.joints.upper, arm.tip, rotations)
        if limb.tree.held:
            continue
        given = limb.frames(tree, geometry, rotations)
        least = np.array([_SHALLOW * limb.tree.size])
        clear = ClearTask(axes=axes, least=arm.least, joints=_LINKS, length=1.0, tolerance=least)
        deep = ~System(limb.tree, given, [clear]).met
        yield _Given(limb, given, [unwrapped(task) for task in tasks if task.tip == arm.tip], clear, deep)


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
        self._limb, given, tasks, self._clear, deep = arm
        self._tree, self._given, limb = arm.limb.tree, given, arm.limb
        ends = np.unique([0, len(given) - 1])
        self._held = ends[~deep[ends]]
        geometry, near = Geometry(limb.tree, given), np.array([_EXACT * limb.tree.size])
        self._tip, self._goals = geometry.tip(), list[Task]()
        if any(isinstance(task, PlaceTask) for task in tasks):
            self._goals.append(point_task(self._tip, near))
            if any(not isinstance(task, PlaceTask | PoleTask) for task in tasks):
                turn, length = geometry.tip_rotation(), RADIAN * limb.tree.size
                self._goals.append(OrientTask(rotation=turn, length=length, tolerance=near, level=0))

    def cleared(self, time: float) -> Numbers | None:
        """Return the rotations (n, 4, F) of the joints of the arm as it is cleared; None where it would leap.

        `time` is the usual weight of changes from frame to frame.
        """
        tree, posture = self._tree, Posture(self._tree, self._given)
        for calm in _CALM:
            begun = self._swivelled(calm * time) if self._goals else self._given
            if np.abs(np.diff(posture.offsets(begun))).max(initial=0.0) > _TOO_HASTY * _HASTY:
                continue
            is_clear = System(tree, begun, [self._clear]).met.all()
            turned = begun if is_clear else self._turned(begun, calm * time)
            if self._goals and not System(tree, turned, self._goals).met.all():
                descend(tree, turned, self._goals)
            turned.put(self._held, self._given.take(self._held))
            change = np.abs(np.diff(posture.offsets(turned))).max(initial=0.0)
            if change <= _HASTY:
                return tree.rotations(turned)
        return None

    def pushed_out(self) -> Numbers:
        """Return the rotations (n, 4, 1) of the joints of the arm after a few steps out of the capsules."""
        turned = self._turned(self._given, 0.0, _IN_A_MOVE)
        if self._goals:
            descend(self._tree, turned, self._goals)
        return self._tree.rotations(turned)

    def _swivelled(self, time: float) -> States:
        """Return the arm at the swivels that cost least, in which limits count softly; its tip stays but for these."""
        tree, given, near, form = self._tree, self._given, np.array([self._tree.size]), self._limb.form
        flexion = None if form.flexion is None else np.array(form.flexion, float)[:, None]
        bones = TwoBones(tree, given, [goal.within(near) for goal in self._goals], tree.rotations(given), flexion)
        cost, depths = SwivelCost(bones, _SOFTLY), _Depths(bones, given, self._tip, self._clear)

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
        for _ in range(steps):
            system = System(tree, found, [*self._goals, self._clear])
            errors, levels = system.errors()
            into = [posture.columns(system.geometry, np.broadcast_to(each, offsets.shape)) for each in basis]
            rows = np.einsum("rkf,ckf->frc", system.jacobian(), np.array(into))
            weighted = rows * (np.where(levels == self._clear.level, _DEEP, _FIRM) / tree.size**2)[:, None]
            right = np.einsum("frc,rf->fc", weighted, errors) - (offsets + time * roughness(offsets)).T
            change = _over_time(rows.swapaxes(1, 2) @ weighted + own, right, time).T
            change *= np.minimum(1.0, _LARGEST / np.maximum(np.abs(change).max(0), 1e-300))
            found = posture.states(offsets + change)
            offsets = posture.offsets(found)
            if np.abs(change).max() < _CHANGE:
                break
        return found


class _Depths:
    """The cost [rad^2] of the depths at which swivels have forearm and hand in the capsules."""

    def __init__(self, bones: TwoBones, frames: States, tip: Numbers, clear: ClearTask) -> None:
        self._clear, self._size, self._tip = clear, bones.tree.size, tip
        upper, lower = (np.array(joint.offset, float)[:, None] for joint in bones.tree.joints[1:])
        elbow = rotate(bones.upper, np.broadcast_to(upper, bones.axis.shape))
        wrist = elbow + rotate(bones.lower, np.broadcast_to(lower, bones.axis.shape))
        root = np.broadcast_to(frames.root, (3, 3, len(frames)))
        self._circles = []
        for place in (elbow, wrist):
            along = dot(place, bones.axis) * bones.axis
            middle = rotate(root, bones.head + along) + frames.place
            self._circles.append((middle, rotate(root, place - along), rotate(root, cross(bones.axis, place))))

    def __call__(self, swivels: Numbers, frames: Indices) -> Numbers:
        """Costs (k, n) of swivels (k, n or 1) at n frames."""
        swivels = np.broadcast_to(swivels, (len(swivels), len(frames)))
        every = np.tile(frames, len(swivels))
        cosine, sine = np.cos(swivels).ravel(), np.sin(swivels).ravel()
        points = [
            middle[:, every] + cosine * out[:, every] + sine * side[:, every] for middle, out, side in self._circles
        ]
        axes, cost = self._clear.axes.take(every), np.zeros(len(every))
        links = pairwise((*points, self._tip[:, every]))
        for (begin, end), least in zip(links, self._clear.least, strict=True):
            depths = np.maximum(at(least, every) - axes.nearest(Segments(begin, end)).distances, 0.0)
            cost += (depths * depths).sum(0)
        found: Numbers = _DEEP / self._size**2 * cost.reshape(swivels.shape)
        return found


def _over_time(blocks: Numbers, right: Numbers, weight: float) -> Numbers:
    """Solve for changes (F, k): each frame's block (F, k, k), and the weight of changes from frame to frame.

    The system is tridiagonal in blocks (Thomas).
    """
    count, size = right.shape
    blocks, right, along = blocks.copy(), right.copy(), weight * np.eye(size)
    blocks[1:] += along
    blocks[:-1] += along
    for f in range(1, count):
        both = np.linalg.solve(blocks[f - 1], np.concatenate((along, right[f - 1, :, None]), 1))
        blocks[f] -= weight * both[:, :-1]
        right[f] += weight * both[:, -1]
    right[-1] = np.linalg.solve(blocks[-1], right[-1])
    for f in reversed(range(count - 1)):
        right[f] = np.linalg.solve(blocks[f], right[f] + weight * right[f + 1])
    return right
