# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor that a body stands on, at the sole of the lower held foot, and the hips of one whose feet step.

Joints and reaching tips stay above the floor, a horizontal plane at each frame, the hips by a quarter of a leg; but not
the fingers of a hand that reaches. Goals below it are raised to it, so a hand stops at the floor. What the animation
itself has lower may be as low as that; but where it has a held foot far from where this is held, as where hips are
keyed and legs hang from them, it does not tell how low a leg is to be.

Where goals lead the feet, a foot is taken to stand the more, the lower its goal is beside where the pose has it. In a
step the weight goes over to that one, and the hips sink by what the other leg lacks. The toes of the foot that is left
behind bend up on the floor as its heel rises. Source: none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...goals.support import FloorTask
from ...goals.task import Level, PlaceTask, Task, unwrapped
from ...kinematics import Body
from ...kinematics.arrays import Columns, Indices, Mask, Numbers, averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import at, cross, lengths, rotate_back
from ...kinematics.body_anatomy import ARM_PARTS, LEG_PARTS, Part
from .flexing import length_of, parts_of_body, two_part_limbs, wrist_of

_HIPS = 0.25  # of the leg: least height of the hips
_SOLE = 0.02  # of the leg: height of the tip of a foot above its sole
_TOLERANCE = 1e-3  # of the body's size
_NEAR = 0.1  # of the body's size: height above its bound up to which a point is watched
_NOTHING = 1e-300
_AWAY = 10.0  # of the body's size: depth of a floor on which nothing stands

_LIFT = 0.08  # of the leg's length: height of a foot above the other one at which it bears little
_OVER = 0.7  # share of the way to the foot that stands
_STRAIGHT = 0.985  # of the leg's length, to which it straightens
_LOWEST = 0.4  # of it, that the hips stay above a foot that is too far aside
_AVERAGES = 10  # over the frames beside each
_REACHED = 1.05  # of an arm's length: distance of a place from a shoulder that a body which stands reaches


@dataclass(frozen=True)
class Floor:
    """The bound of all `points` of a body, and those of its tips: `tips` (t, F or 1), heights along `up`."""

    points: FloorTask
    tips: Numbers

    def raised(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks with places to reach that are below the floor raised to it."""
        return [self._raised(task) for task in tasks]

    def below(self, task: Task) -> Numbers:
        """Depths (F) of the place of a task below the floor; zero for tasks that are not a point to reach."""
        if not isinstance(task, PlaceTask) or task.level == Level.HOLD or task.target.shape is not None:
            return np.zeros(1)
        depths: Numbers = np.maximum(self.tips[task.tip] - self.points.up @ task.target.place, 0.0)
        return depths

    def crossed(self, geometry: Geometry) -> bool:
        """Tell whether any point is below its bound in any of the states."""
        return bool((self.points.measure(geometry).off > self.points.tolerance).any())

    def near(self, geometry: Geometry) -> FloorTask | None:
        """Return the task of the points that are below their bounds or come near them; None if there are none."""
        above = self.points.above(geometry) - self.points.heights
        low: Indices = np.flatnonzero(above.min(1) < _NEAR * geometry.tree.size)
        return self.points.of_points(low) if len(low) else None

    def of_joints(self, those: Mask) -> Floor:
        """The floor of points of those of the joints (n)."""
        return Floor(self.points.of_points(np.flatnonzero(those[self.points.joints])), self.tips)

    def take(self, columns: Columns) -> Floor:
        """The floor of those poses."""
        return Floor(self.points.take(columns), at(self.tips, columns))

    def _raised(self, task: Task) -> Task:
        below = self.below(task)
        if not below.any():
            return task
        assert isinstance(task, PlaceTask)
        return task.to_points(task.target.place + self.points.up[:, None] * below)


def floor_of(
    body: Body,
    held: Sequence[str],
    frames: Numbers,
    reference: Geometry,
    influence: Mapping[str, Numbers] | None = None,
) -> Floor | None:
    """Return the floor under the held feet of a body whose joints have these frames (n, 3, 4, F); None without feet.

    `reference` has the poses made by hand, which are exempt. Where the `influence` (F) of all feet goes to 0 nothing
    stands, and the floor goes away.
    """
    tree, up = body.tree, np.array(body.up[:])
    parts = parts_of_body(tree)
    feet = [body.tip(name) for name in held if parts[body.tip(name).joint] == Part.FOOT]
    if not feet:
        return None
    legs = [tree.tips[body.number_of[foot.name]].reach for foot in feet]
    soles = []
    for foot, leg in zip(feet, legs, strict=True):
        points = np.array([foot.place[:], *(point[:] for point in foot.contacts)])
        frame = frames[foot.joint]
        heights = np.einsum("i,ijf,pj->pf", up, frame[:, :3], points) + up @ frame[:, 3]
        heights[0] -= _SOLE * leg
        soles.append(heights.min(0))
    height: Numbers = np.min(soles, 0)
    if influence:
        height = height - _AWAY * tree.size * (1.0 - np.max([influence[foot.name] for foot in feet], 0))
    tips = np.array([up @ reference.tip(number) for number in range(len(tree.tips))])
    tips = np.minimum(height, tips)
    is_foot = np.array([part == Part.FOOT for part in parts])
    standing: Mask = np.any([is_foot & tree.above[:, foot.joint] for foot in feet], 0)
    reaching = [number for number, tip in enumerate(body.tips) if tip.name not in held]
    ends = [end for number in reaching if parts[end := tree.tips[number].joint] == Part.HAND]
    hanging: Mask = tree.above[ends].sum(0) > np.isin(np.arange(len(is_foot)), ends)  # as fingers
    joints = np.flatnonzero(~standing & ~hanging)
    least = height + _HIPS * min(legs) * (joints == 0)[:, None]
    least = np.minimum(
        least, np.einsum("i,nif->nf", up, reference.heads[joints]) + _astray(body, held, frames, reference)[joints]
    )
    reaching = [number for number in reaching if not hanging[tree.tips[number].joint]]
    places = np.array([tree.tips[number].place[:] for number in reaching]).reshape(-1, 3)
    bound = FloorTask(
        joints=np.array([*joints, *(tree.tips[number].joint for number in reaching)], np.intp),
        points=np.concatenate((np.zeros((len(joints), 3)), places)),
        up=up,
        heights=np.concatenate((least, tips[reaching])),
        tolerance=np.array([_TOLERANCE * tree.size]),
    )
    return Floor(bound, tips)


def _astray(body: Body, held: Sequence[str], frames: Numbers, reference: Geometry) -> Numbers:
    """Distances (n, F) of held tips from where the reference has them, of the joints of their arms and legs; else 0."""
    tree, parts = body.tree, parts_of_body(body.tree)
    is_limb: Mask = np.array([part in ARM_PARTS + LEG_PARTS for part in parts])
    found = np.zeros((len(parts), len(reference.states)))
    for tip in map(body.tip, held):
        frame = frames[tip.joint]
        place = np.einsum("ijf,j->if", frame[:, :3], np.array(tip.place)) + frame[:, 3]
        away = lengths(place - reference.tip(body.number_of[tip.name]))
        own = is_limb & tree.above[:, tip.joint]
        found[own] = np.maximum(found[own], away * (away > _TOLERANCE * tree.size))
    return found


def raised_toes(
    tree: Tree, geometry: Geometry, reference: Geometry, toes: Mapping[int, float]
) -> Iterator[tuple[int, Numbers]]:
    """Yield the joints of toes that bend up on the floor, each with its turns (3, F) [rad] in its own frame.

    `toes` have the lengths along Y of such joints [Blender units]. The floor is under the foot that is the lower one
    beside where the reference has it. A toe rises to its height there, and not beyond its slope in the reference.
    """
    up, parts = tree.up, parts_of_body(tree)
    feet = [number for number, tip in enumerate(tree.tips) if parts[tip.joint] == Part.FOOT]
    if up is None or not feet:
        return
    lower = np.min([up @ (geometry.tip(foot) - reference.tip(foot)) for foot in feet], 0)
    for toe, length in toes.items():
        way = geometry.frames[toe][:, 1]
        height, level = (up @ each.heads[toe] for each in (geometry, reference))
        slope, flat = up @ way, up @ reference.frames[toe][:, 1]
        sine = np.minimum((level + lower - height) / length + flat, flat)
        rise = np.arcsin(np.clip(sine, -1.0, 1.0)) - np.arcsin(np.clip(slope, -1.0, 1.0))
        axis = cross(way, np.broadcast_to(up[:, None], way.shape))
        turns = axis / np.maximum(lengths(axis), _NOTHING) * np.maximum(rise, 0.0)
        if turns.any():
            yield toe, rotate_back(geometry.frames[toe][:, :3], turns)


def kept_above(floor: Floor | None, tasks: Sequence[Task], geometry: Geometry) -> list[Task]:
    """Return the tasks, and that of the points that are below the floor or come near it."""
    near = floor.near(geometry) if floor else None
    return [*tasks, near] if near else list(tasks)


def stood(tree: Tree, states: States, tasks: Sequence[Task]) -> States | None:
    """Return the states of an upright body with its hips moved over the feet that have places, without their turn.

    None where there are none, or where a hand cannot get to its place from there.
    """
    up, places = tree.up, [(task, unwrapped(task)) for task in tasks]
    limbs = {
        number: limb
        for limb in two_part_limbs(tree)
        for number, tip in enumerate(tree.tips)
        if tree.above[limb.end, tip.joint]
    }
    parts = parts_of_body(tree)
    reached = [(task.tip, task) for task, bare in places if isinstance(bare, PlaceTask) and task.tip in limbs]
    feet = [(limbs[tip], tip, task) for tip, task in reached if parts[limbs[tip].upper] == Part.THIGH]
    if up is None or not feet or not tree.moves_root:
        return None
    geometry = Geometry(tree, states)
    ways = np.array([task.measure(geometry).errors for _, _, task in feet])  # (n, 3, F)
    heights = np.einsum("i,nif->nf", up, ways)
    longest = [length_of(tree, limb) for limb, *_ in feet]
    bears = 1.0 / (1.0 + ((heights - heights.min(0)) / (_LIFT * max(longest))) ** 2)
    bears = (1.0 - _OVER) / len(feet) + _OVER * bears / bears.sum(0)
    tips = np.array([geometry.tip(tip) for _, tip, _ in feet])
    move = (bears[:, None] * (tips + ways)).sum(0) - tips.mean(0)
    move = averaged_in_time(move.T, _AVERAGES if len(states) > 1 else 0).T
    move -= up[:, None] * (up @ move)
    rise = heights.min(0)
    for (limb, _, _), way, length in zip(feet, ways, longest, strict=True):
        line = wrist_of(geometry, limb) + way - geometry.heads[limb.upper] - move  # from where the hip is level
        below = up @ line
        aside = lengths(line - up[:, None] * below)
        long = np.maximum(_STRAIGHT * length, lengths(wrist_of(geometry, limb) - geometry.heads[limb.upper]))
        rise = np.minimum(rise, below + np.sqrt(np.maximum(long**2 - aside**2, (_LOWEST * length) ** 2)))
    rise = averaged_in_time(rise, _AVERAGES // 2 if len(states) > 1 else 0)
    moved = geometry.shifted(tree.root_ways.T @ (tree.root_ways @ (move + up[:, None] * rise)))
    for tip, task in reached:
        limb = limbs[tip]
        if parts[limb.upper] not in ARM_PARTS:
            continue
        arm = lengths(moved.tip(tip) - wrist_of(moved, limb)).max() + length_of(tree, limb)
        far = lengths(moved.tip(tip) + task.measure(moved).errors - moved.heads[limb.upper])
        if (far > _REACHED * arm).any():
            return None
    return moved.states
