# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of an animated limb or body that are edited: read once, then solved near what they show for any new goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from bpy.types import Scene, ViewLayer
from mathutils import Quaternion, Vector

from ...cooperative import Work, finished
from ...errors import AnimationError
from ...goals.from_goals import CarriedTask, Refusal
from ...goals.orientation import LookTask, OrientTask
from ...goals.task import PlaceTask, Task
from ...kinematics import Locked
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States
from ...kinematics.batch.algebra import (
    conjugated,
    exponential,
    matrices,
    normalized,
    product,
    quaternions,
    rotate,
    rotate_back,
    rotation_vectors,
)
from ...motion.body_path import BodyPath
from ...motion.faded_path import carried_over, edited_path, end_fades, without_ends
from ...motion.method import Natural
from ...rig.armature import Bones
from ...rig.body import RigBody
from ...rig.by_hand.keys import location_path
from ...rig.by_hand.reference import Boned
from ...rig.frames.body_frames import Animation, plain_animation, plain_rotations
from ...rig.frames.body_samples import BodySamples, read_body
from ...rig.frames.reader import FrameReader
from ...rig.freedom import keyed
from ...rig.keyframes import Channel
from ...rig.limb import Limb
from ...rig.rotation import channel, values_for
from ...rig.timeline import Clock, fps_of
from ..shots.frame_solver import NATURAL
from ..shots.limb_problem import LimbProblem
from ..shots.natural_shot import reference_of_joints, shown_reference
from ..shots.problem import BodyProblem, read_problem


def body_as_shown(
    rig: RigBody, frames: Sequence[float], scene: Scene, view_layer: ViewLayer, shown: Animation | None = None
) -> Work[BodyProblem]:
    """Read a body at frames of its animation, with what is `shown` as the reference; tips are held as made by hand.

    By default that is what the keys of the active action show.
    """
    samples = yield from read_body(rig, scene, frames, view_layer)
    return (yield from problem_as_shown(rig, samples, scene, shown))


def problem_as_shown(
    rig: RigBody, samples: BodySamples, scene: Scene, shown: Animation | None = None
) -> Work[BodyProblem]:
    """Return the problem of a body as sampled with what is `shown` as the reference, as body_as_shown() does."""
    by_hand = Animation(samples.rotations, samples.locations, samples.shown)
    shown = shown or plain_animation(rig, Clock(scene, rig.armature), samples.frames)
    problem = yield from read_problem(rig, samples.animated(shown), scene, by_hand)
    yield from problem.stand(fps_of(scene, samples.frames))
    return problem


def near_shown(
    problem: BodyProblem,
    scene: Scene,
    tasks: Sequence[Task] | None = None,
    columns: Columns = slice(None),
    like: States | None = None,
) -> BodyPath:
    """Solve frames of a problem, by default all, for other tasks, near its reference or what they are to be `like`."""
    every, shot = np.arange(len(problem.samples.frames)), problem.shot(scene, tasks=tasks)
    return edited_path((shot if like is None else replace(shot, reference=like)).take(every[columns]))


def fades(problem: BodyProblem) -> bool:
    """Tell whether tips of a problem have an influence below 1 at some of its frames."""
    return any(bool((share < 1.0).any()) for share in problem.samples.influence.values())


_FARTHER = 1.5  # times the edit that was solved last as a bake does: so far its change is taken to go on


class Edit(NamedTuple):
    """Goals of all frames as an edit has them, at a frame and fading from there over those of the `columns`.

    Frames are posed as at the frames `sources`, if the edit changes their timing.
    """

    tasks: Sequence[Task]
    columns: Indices
    at: float
    amount: Sequence[float]  # of the edit: its offset, or its shift in time
    sources: Sequence[float] | None = None

    def fades(self, frames: Sequence[float]) -> Numbers:
        """Return the weights by which the change fades towards frames that stay."""
        begins, ends = self.columns[0] > 0, self.columns[-1] < len(frames) - 1
        return end_fades(np.array(frames, float)[self.columns], self.at, bool(begins), bool(ends))

    def retimed(self, states: States, frames: Sequence[float]) -> States:
        """Return states of all frames as the edit has them from other times."""
        return states if self.sources is None else retimed_states(states, frames, self.sources)


class _Change(NamedTuple):
    """Rotation vectors (n, 3, F) of joints and ways (3, F) of the hips by which a bake changes with an edit."""

    amount: Sequence[float]  # of the edit
    turns: Numbers
    ways: Numbers

    def share(self, edit: Edit) -> float:
        """Return how much of the change there is in another edit: 1 for the same one, 0 for none or one of its own."""
        if len(self.amount) != len(edit.amount):
            return 0.0
        here, there = np.array(edit.amount, float), np.array(self.amount, float)
        return float(np.clip(here @ there / max(float(there @ there), 1e-12), 0.0, _FARTHER))


class EditedBody:
    """Frames of a body, solved near what they show."""

    def __init__(self, problem: BodyProblem, by_hand: BodyProblem, scene: Scene) -> None:
        self.problem, self.tree, self._scene = problem, problem.body.tree, scene
        self.of: Boned = problem.rig
        self.frames, self.worlds, self.shown = problem.samples.frames, problem.samples.worlds, problem.reference
        self.tasks = problem.tasks
        self._by_hand = by_hand
        self._before: States | None = None  # as a bake poses the frames without the edit
        self._change: _Change | None = None

    @staticmethod
    def read(rig: RigBody, frames: Sequence[float], scene: Scene, view_layer: ViewLayer) -> Work[EditedBody]:
        """Read the body at these frames."""
        samples = yield from read_body(rig, scene, frames, view_layer)
        problem = yield from problem_as_shown(rig, samples, scene)
        return EditedBody(problem, (yield from read_problem(rig, samples, scene)), scene)

    def number(self, tip: str) -> int:
        """Return the number of a tip by its name."""
        return self.problem.body.number_of[tip]

    def solve(self, edit: Edit) -> tuple[States, Mask]:
        """Solve the frames of an edit near what is shown; return the states, and which of them meet all tasks.

        They are changed as a bake changes in proportion to the last edit that was solved so.
        """
        if fades(self.problem):
            states, met = finished(self.problem.path(self._scene, tasks=edit.tasks))
            return states.take(edit.columns), met[edit.columns]
        shown = edit.retimed(self.shown, self.frames)
        share = 0.0 if self._change is None else self._change.share(edit)
        if self._change is not None and share:
            turned = product(self.tree.rotations(shown), exponential(share * self._change.turns))
            shown = self.tree.posed(turned, replace(shown, place=shown.place + share * self._change.ways))
        return near_shown(self.problem, self._scene, edit.tasks, edit.columns, shown)

    def solve_as_baked(self, edit: Edit) -> tuple[States, Mask]:
        """Solve the frames of an edit near what is shown, changed as a bake changes. It takes some times longer."""
        if fades(self.problem):
            return self.solve(edit)
        if self._before is None:
            self._before = finished(self._by_hand.path(self._scene)).states
        after, tree, columns = (
            finished(self._by_hand.path(self._scene, tasks=edit.tasks)).states,
            self.tree,
            edit.columns,
        )
        before, weights, count = edit.retimed(self._before, self.frames), edit.fades(self.frames), len(self.frames)
        one, other = (tree.rotations(each.take(columns)) for each in (before, after))
        turns, ways = np.zeros((len(one), 3, count)), np.zeros((3, count))
        turns[..., columns] = without_ends(rotation_vectors(product(conjugated(one), other)), weights)
        ways[:, columns] = without_ends(after.take(columns).place - before.take(columns).place, weights)
        self._change = _Change(edit.amount, turns, ways)
        return self.solve(edit)

    def channels(self, states: States, number: int, column: int) -> list[Channel]:
        """Return the channels of the frame of that number, which is in that column of the states."""
        one = states.take([column])
        names = [joint.name for joint in self.problem.body.joints]
        runs = _rotations(self.of, names, self.tree.rotations(one)[..., 0], self.problem.body.joints)
        rig = self.problem.rig
        if rig.hips_motion != "FIXED":
            places = self.problem.locations(one, [number]).T.astype(np.float32)
            runs.append(Channel(rig.hips, location_path(rig.armature, rig.hips), places, range(3)))
        return runs


class EditedLimb:
    """Frames of a limb, solved near what they show, changed as a bake changes.

    Raises AnimationError where they cannot be solved together.
    """

    def __init__(
        self, problem: LimbProblem, shown: Numbers, by_hand: Numbers | None, scene: Scene, is_baked: bool
    ) -> None:
        """Take what is `shown`, the rotations of all bones, and those by hand that are not from the bones' own keys."""
        shot = problem.shot(scene, reference_of_joints(problem, problem.limb, scene, shown))
        if isinstance(shot, Refusal):
            raise AnimationError(f"The limb cannot be dragged: {shot.reason}. Use Pull.")
        self.of: Boned = problem.limb
        self._shot, self.tree, self.tasks, self.shown = shot, shot.tree, shot.tasks, shot.reference
        self._joints = problem.start.chain.joints
        self.frames = problem.samples.frames
        self.worlds = np.broadcast_to(problem.samples.worlds, (4, 4, len(problem.samples)))
        every = reference_of_joints(problem, problem.limb, scene, by_hand)
        every = np.broadcast_to(every, (*every.shape[:2], len(self.frames)))
        self._by_hand = replace(shot, reference=self.tree.posed(np.ascontiguousarray(every), shot.reference))
        self._is_baked = is_baked and problem.limb.solver == NATURAL
        self._before: States | None = None  # as a bake poses the frames without the edit

    @staticmethod
    def read(
        limb: Limb, frames: Sequence[float], scene: Scene, view_layer: ViewLayer, is_baked: bool
    ) -> Work[EditedLimb]:
        """Read the limb at these frames; it changes as a bake does if `is_baked`."""
        reader = FrameReader(limb, scene, view_layer, frames)
        samples = yield from reader.read()
        clock = Clock(scene, limb.armature)
        shown = plain_rotations(limb.armature, limb.bones, [clock.time(frame) for frame in frames])
        bones = Bones(limb.armature, limb.bones, limb.solved)
        return EditedLimb(LimbProblem(limb, bones, samples), shown, shown_reference(reader), scene, is_baked)

    def number(self, tip: str) -> int:
        """Return 0: a limb has one tip."""
        return 0

    def solve(self, edit: Edit) -> tuple[States, Mask]:
        """Solve the frames of an edit; return the states, and which of them meet all tasks."""
        like, tree, first = edit.retimed(self.shown, self.frames), self.tree, int(self.frames[0])
        if self._is_baked:
            if self._before is None:
                self._before = finished(Natural().solve(replace(self._by_hand, part_from=first))).states
            after = finished(Natural().solve(replace(self._by_hand, tasks=edit.tasks, part_from=first))).states
            before = edit.retimed(self._before, self.frames)
            shown, one, other = (tree.rotations(each.take(edit.columns)) for each in (like, before, after))
            carried = tree.rotations(like).copy()
            carried[..., edit.columns] = carried_over(shown, one, other, edit.fades(self.frames))
            like = tree.posed(carried, like)
        shot = replace(self._shot, tasks=edit.tasks, part_from=int(self.frames[edit.columns[0]]), reference=like)
        path = finished(Natural().solve(shot.take(edit.columns)))
        return path.states, path.met

    def solve_as_baked(self, edit: Edit) -> tuple[States, Mask]:
        """Solve the frames of an edit as solve() does, which is as a bake does."""
        return self.solve(edit)

    def channels(self, states: States, number: int, column: int) -> list[Channel]:
        """Return the channels of the frame of that number, which is in that column of the states."""
        rotations = self.tree.rotations(states.take([column]))[..., 0]
        return _rotations(self.of, [joint.name for joint in self._joints], rotations, self._joints)


EditedShot = EditedBody | EditedLimb


def _rotations(of: Boned, names: Sequence[str], rotations: Numbers, joints: Sequence[Any]) -> list[Channel]:
    """Return the rotation channels of joints that turn, near what the bones show; rotations (n, 4) of one frame."""
    runs = []
    for name, rotation, joint in zip(names, rotations, joints, strict=True):
        if isinstance(joint.freedom, Locked):
            continue
        bone = of.armature.pose.bones[name]
        prop, _ = channel(bone)
        values = values_for(Quaternion(rotation), bone.rotation_mode, joint.freedom, tuple(getattr(bone, prop)))
        runs.append(Channel(name, bone.path_from_id(prop), np.array([tuple(values)], np.float32), keyed(bone)))
    return runs


def path_of_tip(shot: EditedShot, states: States, tip: int, columns: Columns = slice(None)) -> Numbers:
    """Return the places (3, F) of a tip in states of these frames, world space."""
    worlds = shot.worlds[..., columns]
    places: Numbers = rotate(worlds[:3, :3], Geometry(shot.tree, states).tip(tip)) + worlds[:3, 3]
    return places


def moved_tasks(shot: EditedShot, tip: int, offset: Vector, shares: Numbers) -> list[Task]:
    """Return the tasks with the goal of a tip moved by shares (F) of an offset, world space, at all frames."""
    turns = np.linalg.inv(np.moveaxis(shot.worlds[:3, :3], -1, 0))
    ways = np.einsum("fij,j,f->if", turns, np.array(offset), shares)
    geometry = Geometry(shot.tree, shot.shown)
    return [_moved(task, ways, geometry) if task.tip == tip else task for task in shot.tasks]


def _moved(task: Any, ways: Numbers, geometry: Geometry) -> Task:
    if isinstance(task, CarriedTask):
        inner = _moved(task.task, rotate_back(task.frame(geometry)[:, :3], ways), geometry)
        return replace(task, task=inner)
    if isinstance(task, PlaceTask):
        return replace(task, target=task.target._replace(place=task.target.place + ways))
    if isinstance(task, LookTask):
        return replace(task, point=task.point + ways)
    return task


def retimed_tasks(shot: EditedShot, tip: int, sources: Sequence[float]) -> list[Task]:
    """Return the tasks with the goal of a tip at all frames as it was at the frames `sources`."""
    at = np.interp(sources, np.array(shot.frames, float), np.arange(len(shot.frames)))
    return [_retimed(task, at) if task.tip == tip else task for task in shot.tasks]


def retimed_states(states: States, frames: Sequence[float], sources: Sequence[float]) -> States:
    """Return the states at these frames as they were at the frames `sources`, with the frames above the root kept."""
    at = np.interp(sources, np.array(frames, float), np.arange(len(frames)))
    angles, balls, place = _between(states.angles, at), _turned_between(states.balls, at), _between(states.place, at)
    return States(angles, balls, states.held, states.root, place)


def _between(values: Numbers, at: Numbers) -> Numbers:
    """Return values (..., F) between frames, by their places `at`, as fractions of their numbers."""
    if values.shape[-1] < 2:
        return values
    below = np.clip(np.floor(at).astype(int), 0, values.shape[-1] - 2)
    part = at - below
    found: Numbers = values[..., below] * (1.0 - part) + values[..., below + 1] * part
    return found


def _turned_between(rotations: Numbers, at: Numbers) -> Numbers:
    """Return quaternions (..., 4, F) between frames."""
    if rotations.shape[-1] < 2 or not rotations.size:
        return rotations
    below = np.clip(np.floor(at).astype(int), 0, rotations.shape[-1] - 2)
    part, one, other = at - below, rotations[..., below], rotations[..., below + 1]
    near = np.where((one * other).sum(-2, keepdims=True) < 0.0, -1.0, 1.0)
    return normalized(one * (1.0 - part) + other * near * part)


def _retimed(task: Any, at: Numbers) -> Task:
    if isinstance(task, CarriedTask):
        return replace(task.take(np.round(at).astype(int)), task=_retimed(task.task, at))
    nearest = task.take(np.round(at).astype(int))
    if isinstance(task, PlaceTask):
        return replace(nearest, target=nearest.target._replace(place=_between(task.target.place, at)))
    if isinstance(task, OrientTask):
        return replace(nearest, rotation=matrices(_turned_between(quaternions(task.rotation), at)))
    if isinstance(task, LookTask):
        return replace(nearest, point=_between(task.point, at))
    return cast(Task, nearest)
