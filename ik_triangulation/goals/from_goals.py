# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals as tasks for many poses at once: those of one tip, those of a body's tips, and those that the body carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import radians
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from mathutils import Vector

from ..errors import TargetError
from ..items import HELD
from ..kinematics import Body
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry, Tree
from ..kinematics.batch.algebra import IDENTITY, at, compose, lengths, normalized, rotate
from .comfort import Effort, EffortTask, Near, NearTask, Pole, PoleTask
from .goal import LOWER, Goal
from .obstacles import Avoid, AvoidTask, volumes_of
from .orientation import AlongTask, Direction, LookAt, LookTask, Orientation, OrientTask
from .shapes import Anywhere, Point, Target, shape_is_batched
from .support import BalanceTask, Support, balance_task
from .target_shapes import BatchTarget, Transformed
from .task import Level, Missing, PlaceTask, Task, WrappedTask

RADIAN = 0.3  # of the reach: the distance that counts as much as one radian
_UNIFORM = 1e-4  # relative difference of two scales that is no rounding

_OUTSIDE = 1e-3  # of the reach: depth in an obstacle that counts as outside
_AVOIDED, _COMFORT = 1, 2  # levels

CarriedKind = PlaceTask | OrientTask | AlongTask | LookTask
_NOWHERE = np.zeros((3, 1))

TipGoal = Goal | Orientation | Direction | LookAt
HELD_ANGLE = radians(0.5)  # [rad] what counts as held, beside HELD
MARGIN = 0.1  # share by which the area that feet support is made smaller


class Refusal(NamedTuple):
    """Why frames cannot be solved together; `reason` is the part of a sentence that users read after "because".

    It is `chosen` if settings say so: then no warning is due.
    """

    reason: str
    chosen: bool = False


def tasks_of(goals: Sequence[Goal], reach: float) -> list[Task] | Refusal:
    """Tasks for a chain of this `reach`, a column for each goal; why not, if there is no form of them on arrays.

    The goals have to be of one kind: the same shape of target, in whatever space, and the same kinds of soft goals.
    """
    tasks: list[Task] = []
    if not all(type(goal.target) is Anywhere for goal in goals):
        target = _target([goal.target for goal in goals])
        if isinstance(target, Refusal):
            return target
        tasks.append(PlaceTask(target=target, tolerance=column([goal.tolerance for goal in goals])))
    kinds = {tuple(map(type, goal.soft)) for goal in goals}
    if len(kinds) > 1:
        return Refusal("an orientation, pole, comfort or obstacle counts at some frames only")
    angle = column([goal.angle_tolerance for goal in goals])
    for number, kind in enumerate(kinds.pop()):
        each: Any = [goal.soft[number] for goal in goals]
        name = NAMES.get(kind, kind.__name__)
        if kind not in _BUILD:
            return Refusal(f"{name} has no form for all frames at once")
        weights = {goal.weight for goal in each}
        if len(weights) > 1:
            return Refusal(f"the weight of the {name} is animated")
        if weights == {0.0}:
            continue
        built = _BUILD[kind](each, RADIAN * reach * each[0].weight, angle)
        if built is None:
            return Refusal(f"the {name} is for another axis of the bone from frame to frame")
        tasks.append(built)
    return tasks


def point_task(places: Numbers, tolerance: Numbers) -> PlaceTask:
    """The task of reaching the points (3, F or 1) within `tolerance` (F or 1) [Blender units]."""
    return PlaceTask(target=BatchTarget(None, IDENTITY, places, np.ones(1)), tolerance=tolerance)


def column(values: Sequence[float]) -> Numbers:
    column = np.array(values, float)
    return column[:1] if (column == column[0]).all() else column


def rows_of(vectors: Sequence[Any]) -> Numbers:
    """Vectors as columns (3, F), or (3, 1) if they are all the same."""
    rows = np.array([vector[:] for vector in vectors], float).T
    return rows[:, :1] if (rows == rows[:, :1]).all() else rows


def _target(targets: Sequence[Target]) -> BatchTarget | Refusal:
    first = targets[0]
    if all(type(target) is Point for target in targets):
        return BatchTarget(None, IDENTITY, rows_of([target.location for target in targets]), np.ones(1))
    if all(type(target) is Transformed and target.target is first.target for target in targets):
        return _moved(first.target, np.array([target.into.copy() for target in targets], float))
    if all(target is first for target in targets):
        if shape_is_batched(first):
            return BatchTarget(first, IDENTITY, np.zeros((3, 1)), np.ones(1))
        return _without_form(first)
    return Refusal("the shape of the target changes from frame to frame")


def _without_form(shape: Target) -> Refusal:
    return Refusal(f"a target of the shape {type(shape).__name__} has no form for all frames at once")


def _moved(shape: Target, frames: Numbers) -> BatchTarget | Refusal:
    """The shape in spaces (F, 4, 4)."""
    if not shape_is_batched(shape):
        return _without_form(shape)
    axes = np.moveaxis(frames[:, :3, :3], 0, -1)
    scales = lengths(axes.swapaxes(0, 1))  # of each axis (3, F)
    scale = scales.mean(0)
    turn, place = axes / scale, np.ascontiguousarray(frames[:, :3, 3].T)
    square = np.einsum("ijf,ikf->jkf", turn, turn)
    if np.abs(square - IDENTITY).max() > _UNIFORM:
        return BatchTarget(shape, axes, place, np.ones(1), stretched=True)
    return BatchTarget(shape, turn, place, scale)


def are_formulas(tasks: list[Task] | Refusal) -> TypeGuard[list[Task]]:
    """Tell whether there are tasks, whose nearest points are known by formulas, without descent along a target."""
    return not isinstance(tasks, Refusal) and not any(
        isinstance(task, PlaceTask) and task.target.stretched for task in tasks
    )


def _orient(goals: Sequence[Orientation], length: float, tolerance: Numbers) -> OrientTask:
    matrices = np.array([goal.rotation.normalized().to_matrix() for goal in goals], float)
    return OrientTask(length=length, tolerance=tolerance, rotation=np.ascontiguousarray(np.moveaxis(matrices, 0, -1)))


def _along(goals: Sequence[Direction], length: float, tolerance: Numbers) -> AlongTask | None:
    if any(goal.axis != goals[0].axis for goal in goals):
        return None
    axis, direction = rows_of([goals[0].axis]), rows_of([goal.direction for goal in goals])
    return AlongTask(
        length=length, tolerance=tolerance, axis=axis / lengths(axis), direction=direction / lengths(direction)
    )


def _look(goals: Sequence[LookAt], length: float, tolerance: Numbers) -> LookTask | None:
    first = goals[0]
    if any((goal.axis, goal.origin, goal.up) != (first.axis, first.origin, first.up) for goal in goals):
        return None
    axis, up = rows_of([first.axis]), None if first.up is None else rows_of([first.up])
    points, origin = rows_of([goal.point for goal in goals]), rows_of([first.origin])
    return LookTask(length=length, tolerance=tolerance, axis=axis / lengths(axis), point=points, origin=origin, up=up)


def _pole(goals: Sequence[Pole], length: float, tolerance: Numbers) -> PoleTask:
    angle = column([goal.angle for goal in goals])
    return PoleTask(
        length=length, tolerance=tolerance, location=rows_of([goal.location for goal in goals]), angle=angle
    )


_BUILD: dict[type, Any] = {Orientation: _orient, Direction: _along, LookAt: _look, Pole: _pole}
NAMES: dict[type, str] = {
    Orientation: "orientation",
    Direction: "direction",
    LookAt: "look",
    Pole: "pole",
    Effort: "comfort",
    Near: "comfort",
    Avoid: "avoidance of obstacles",
}
BATCHED = Orientation, Direction, LookAt, Pole  # the soft goals with a form on arrays


def preferences_of(goals: Sequence[Goal], tree: Tree, reach: float) -> list[Task] | Refusal:
    """Tasks of the soft goals that are not about the end effector, a column for each goal; why not, if there are none.

    The goals have to have the same kinds of soft goals. Comfort ranks below what can be met, as goals.goal has it.
    """
    soft = [tuple(each for each in goal.soft if not isinstance(each, BATCHED)) for goal in goals]
    kinds = {tuple(map(type, each)) for each in soft}
    if len(kinds) > 1:
        return Refusal("comfort or obstacles count at some frames only")
    share = LOWER if any(each.can_be_met and each.weight > 0.0 for each in goals[0].soft) else 1.0
    tasks: list[Task] = []
    for number, kind in enumerate(kinds.pop()):
        each: Any = [found[number] for found in soft]
        weights = {goal.weight for goal in each}
        if kind not in _BUILD_PREFERENCES:
            return Refusal(f"{kind.__name__} has no form for all frames at once")
        if len(weights) > 1:
            return Refusal(f"the weight of {NAMES[kind]} is animated")
        if weights == {0.0}:
            continue
        length = RADIAN * reach * each[0].weight
        built = _BUILD_PREFERENCES[kind](each, length if kind is Avoid else share * length, tree, reach)
        if isinstance(built, Refusal):
            return built
        tasks += built
    return tasks


def _effort(goals: Sequence[Effort], length: float, tree: Tree, reach: float) -> list[Task]:
    down = rows_of([goal.down for goal in goals])
    return [EffortTask(length=length, tolerance=np.ones(1), level=_COMFORT, up=-down / lengths(down))]


def _near(goals: Sequence[Near], length: float, tree: Tree, reach: float) -> list[Task]:
    rotations = np.moveaxis(np.array([[each[:] for each in goal.rotations] for goal in goals], float), 0, -1)
    if (rotations == rotations[..., :1]).all():
        rotations = rotations[..., :1]
    wanted = normalized(np.ascontiguousarray(rotations))
    return [NearTask(length=length, tolerance=np.ones(1), level=_COMFORT, tree=tree, rotations=wanted)]


def _avoid(goals: Sequence[Avoid], length: float, tree: Tree, reach: float) -> list[Task] | Refusal:
    volumes = volumes_of([goal.obstacles for goal in goals])
    if volumes is None:
        return Refusal("an obstacle is scaled flat, or has another kind of volume, at some frames")
    if not volumes:
        return []
    tolerance, joints = column([_OUTSIDE]), len(tree.joints)
    return [AvoidTask(length=length, tolerance=tolerance, level=_AVOIDED, volumes=volumes, joints=joints, reach=reach)]


_BUILD_PREFERENCES: dict[type, Any] = {Effort: _effort, Near: _near, Avoid: _avoid}


@dataclass(frozen=True, kw_only=True)
class CarriedTask(WrappedTask):
    """A `task` whose goal is given in the frame of a joint, and moves with that.

    `carriers` are the joints, each with 1 at the poses (F or 1) where it carries the goal and 0 elsewhere; where none
    does the goal is in armature space. With the frames (3, 4, F) at which a joint `rests` the goal of a place is in
    armature space throughout, and goes the share of the way of its joint from there that `carriers` give, from 0 to 1.
    What is missing depends on the tip as the joint sees it. A column that moves the joint takes the goal along, as if
    it moved the tip in the opposite direction; one that moves both changes nothing. The turn of what is missing itself
    is left out: it does not change how much that is.
    """

    task: CarriedKind
    carriers: Mapping[int, Numbers]
    rests: Mapping[int, Numbers] = field(default_factory=dict)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure what the task misses with its goal where the joint has it now."""
        return self._now(geometry).measure(geometry)

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the rows of the task, without those of a tip that hangs on the joint."""
        task = self._now(geometry)
        task.rows(geometry, axes, measured, out)
        for joint, share in self.carriers.items():
            carried = np.zeros_like(out)
            task.rows(geometry, axes, measured, carried, joint)
            out -= carried * share

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the goal as the joint sees it, and as the root does where no joint carries it; at a change none.

        Of one that goes a share of a joint's way they are those at rest.
        """
        if self.rests:
            return self.task.ways(root, place)
        own: Numbers = self.task.ways(IDENTITY, _NOWHERE)
        if self.always:
            return own
        free = self.task.ways(root, place)
        count = max(len(own), len(free))
        stays = [np.broadcast_to(share, count + 1) for share in self.carriers.values()]
        same = [share[1:] * share[:-1] for share in stays]
        none = np.prod([(1.0 - share[1:]) * (1.0 - share[:-1]) for share in stays], axis=0)
        ways: Numbers = (own if len(own) else 0.0) * np.sum(same, axis=0) + (free if len(free) else 0.0) * none
        return ways

    def take(self, columns: Columns) -> CarriedTask:
        """The task of those poses."""
        carriers, rests = (
            {joint: at(each, columns) for joint, each in some.items()} for some in (self.carriers, self.rests)
        )
        return CarriedTask(task=self.task.take(columns), carriers=carriers, rests=rests)

    @property
    def always(self) -> bool:
        """Whether one joint carries the goal at all poses."""
        return len(self.carriers) == 1 and not self.rests and all(share.all() for share in self.carriers.values())

    def frame(self, geometry: Geometry) -> Numbers:
        """Return the frames (3, 4, F) in which the goal is given, armature space."""
        if self.always:
            return np.asarray(geometry.frames[next(iter(self.carriers))])
        found: Numbers = np.zeros_like(geometry.frames[0])
        found[:, :3] = IDENTITY
        for joint, share in self.carriers.items():
            found += share * (self._moved(geometry, joint) - np.eye(3, 4)[:, :, None])
        return found

    def _moved(self, geometry: Geometry, joint: int) -> Numbers:
        """The frame of a joint (3, 4, F), or its motion from where it rests."""
        frame, rest = np.asarray(geometry.frames[joint]), self.rests.get(joint)
        return frame if rest is None else moved_from(rest, frame)

    def _now(self, geometry: Geometry) -> CarriedKind:
        """The task with its goal in armature space."""
        task, frame = self.task, self.frame(geometry)
        turn, count = frame[:, :3], frame.shape[-1]

        def turned(vectors: Numbers) -> Numbers:
            return rotate(turn, np.broadcast_to(vectors, (3, count)))

        if isinstance(task, PlaceTask):
            target = task.target
            own = compose(turn, np.broadcast_to(target.turn, turn.shape))
            return replace(task, target=target._replace(turn=own, place=turned(target.place) + frame[:, 3]))
        if isinstance(task, OrientTask):
            return replace(task, rotation=compose(turn, np.broadcast_to(task.rotation, turn.shape)))
        if isinstance(task, AlongTask):
            return replace(task, direction=turned(task.direction))
        return replace(task, point=turned(task.point) + frame[:, 3])


def moved_from(rest: Numbers, frame: Numbers) -> Numbers:
    """Return the motion (3, 4, F) that takes orthonormal frames (3, 4, F) at `rest` to others, armature space."""
    moved = np.empty_like(frame)
    moved[:, :3] = np.einsum("ijf,kjf->ikf", frame[:, :3], rest[:, :3])
    moved[:, 3] = frame[:, 3] - rotate(moved[:, :3], rest[:, 3])
    return moved


def check_carried(body: Body, carriers: Mapping[str, Sequence[str]]) -> None:
    """Raise TargetError for goals of tips that no motion of the body can meet, by the joints that carry them.

    These are a goal on the limb of its own tip, which it would push ahead, and goals that hang on each other's limbs.
    """
    limbs = {name: [body.joints[joint].name for joint in body.limb(name)] for name in carriers}
    for name, joints in carriers.items():
        for joint in joints:
            if joint in limbs[name]:
                raise TargetError(
                    f"The target of '{name}' hangs on '{joint}', a bone of the same limb, which would push it ahead. "
                    "Put it on another bone, or unparent it."
                )
    for name in carriers:
        passed, on = [name], name
        while True:
            on = next((other for other in limbs if any(each in limbs[other] for each in carriers[on])), "")
            if not on:
                break
            if on in passed:
                raise TargetError(
                    f"The targets of '{passed[-1]}' and '{on}' hang on each other's limbs. Put one of them elsewhere."
                )
            passed.append(on)


def body_tasks(body: Body, goals: Mapping[str, Sequence[TipGoal]], angle_tolerance: float = radians(1.0)) -> list[Task]:
    """Tasks for the goals of tips, for each tip a goal or one for each pose.

    A goal is a Goal with tolerances of its own, or an orientation, a direction or a point to look at alone, met within
    `angle_tolerance` [rad].
    Raises TargetError for goals that have no form for many poses.
    """
    tasks: list[Task] = []
    joints = {joint.name: number for number, joint in enumerate(body.joints)}
    on = {name: [goal.on if isinstance(goal, Goal) else "" for goal in each] for name, each in goals.items()}
    carriers = {name: [joint for joint in dict.fromkeys(each) if joint] for name, each in on.items() if any(each)}
    for name, each in carriers.items():
        for joint in each:
            if joint not in joints:
                raise TargetError(f"The goal of tip '{name}' hangs on '{joint}', which is no joint of the body.")
    check_carried(body, carriers)
    for name, some in goals.items():
        number = body.number_of[body.tip(name).name]
        made = [_at_tip(task, number) for task in _tasks(body, name, some, angle_tolerance)]
        if name in carriers:
            shares = {joints[one]: np.array([one == each for each in on[name]], float) for one in carriers[name]}
            made = [_carried(task, shares, name) for task in made]
        tasks += made
    return tasks


def _carried(task: Task, carriers: Mapping[int, Numbers], name: str) -> Task:
    if not isinstance(task, CarriedKind):
        raise TargetError(f"The goal of tip '{name}' hangs on the body itself, where it can have no pole. Remove that.")
    return CarriedTask(task=task, carriers=carriers)


def hold_tasks(body: Body, names: Sequence[str], frames: Numbers) -> list[Task]:
    """Tasks of keeping tips where they are, place and orientation, in poses whose joints have these frames.

    `frames` (n, 3, 4, F) are orientations of the joints with their heads, whether inside the limits or not.
    """
    tasks: list[Task] = []
    tree = body.tree
    for name in names:
        tip, number = body.tip(name), body.number_of[name]
        frame, rest = frames[tip.joint], np.array(tip.rotation.to_matrix(), float)[:, :, None]
        places, rotations = _point(frame, tip.place), compose(frame[:, :3], rest)
        tolerance = np.array([HELD * tree.tips[number].reach])
        tasks.append(replace(point_task(_once(places), tolerance), tip=number, level=Level.HOLD))
        length = RADIAN * tree.size
        angle = np.array([HELD_ANGLE])
        tasks.append(
            OrientTask(rotation=_once(rotations), length=length, tolerance=angle, tip=number, level=Level.HOLD)
        )
    return tasks


def balance_of(
    body: Body,
    names: Sequence[str],
    frames: Numbers,
    margin: float = MARGIN,
    influence: Mapping[str, Numbers] | None = None,
) -> BalanceTask | None:
    """The task of keeping the centre of mass above tips with such frames; None without any.

    A tip supports as much of the area as its `influence` (F) says, from 0 to 1, and all of it by default.
    """
    if not names:
        return None
    points = [np.array([_point(frames[tip.joint], each) for each in tip.contacts]) for tip in map(body.tip, names)]
    present = np.ones(1)
    if influence and any((influence[name] < 1.0).any() for name in names):
        shares = np.array([influence[name] for name in names])
        present = (shares.max(0) > 0.0).astype(float)
        weights = np.where(present > 0.0, shares, 1.0)
        weights = (weights / weights.sum(0))[:, None]
        middle = sum(weight * each.mean(0) for weight, each in zip(weights, points, strict=True))
        points = [middle + share * (each - middle) for share, each in zip(shares, points, strict=True)]
    masses = np.array([segment.mass for segment in body.segments])
    centres = np.array([segment.centre[:] for segment in body.segments])
    support = Support.under(_once(np.concatenate(points)), np.array(body.up[:]), margin)
    return replace(balance_task(masses, centres, support, body.tree.size), present=present)


def _tasks(body: Body, name: str, goals: Sequence[TipGoal], angle_tolerance: float) -> Sequence[Task]:
    first = goals[0]
    reach = body.tree.size  # the same for all tips, so that their errors can be compared
    alone = not isinstance(first, Goal)
    wanted: list[Any] = [Goal(Anywhere(), (each,), 1.0, angle_tolerance) for each in goals] if alone else list(goals)
    if any(isinstance(soft, LookAt) and not _looks_alike(soft, goal) for goal in wanted for soft in wanted[0].soft):
        raise TargetError(f"Tip '{name}' looks along different axes. Give it one axis for all frames.")
    tasks = tasks_of(wanted, reach)
    if isinstance(tasks, Refusal):
        raise TargetError(
            f"The goal of tip '{name}' cannot be solved for a body: {tasks.reason}. Use a point or another simple "
            "shape, with at most an orientation, a direction and a pole."
        )
    return tasks


def _looks_alike(first: LookAt, goal: Goal) -> bool:
    """Tell whether a goal is to look along the same axis from the same place of the bone."""
    return any(
        isinstance(soft, LookAt) and (soft.axis, soft.origin) == (first.axis, first.origin) for soft in goal.soft
    )


def _point(frame: Numbers, point: Vector) -> Numbers:
    """A point of a joint's frames (3, 4, F), armature space."""
    x, y, z = point
    place: Numbers = frame[:, 0] * x + frame[:, 1] * y + frame[:, 2] * z + frame[:, 3]
    return place


def _at_tip(task: Any, number: int) -> Task:
    """A task of one tip by its number; places come before orientations."""
    moved: Task = replace(task, tip=number, level=Level.REACH if task.level == 0 else Level.TURN)
    return moved


def _once(values: Numbers) -> Numbers:
    """Values of each pose, poses last; only once if they are all the same."""
    return values[..., :1] if (values == values[..., :1]).all() else values
