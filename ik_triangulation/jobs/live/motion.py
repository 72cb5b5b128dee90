# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of limbs and bodies that follow their goals, each from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from bpy.types import ID, Action, Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import finished
from ...goals import Anywhere, Avoid, Goal
from ...goals.from_goals import Refusal
from ...goals.task import PlaceTask, Task
from ...kinematics import Pose
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States
from ...kinematics.batch.algebra import lengths
from ...motion.faded_path import faded_path, looking_at_hands
from ...motion.shot import Shot
from ...rig.armature import Bones, base_of, into_bone
from ...rig.body import RigBody
from ...rig.dependencies import Dependencies, Node, animates_otherwise
from ...rig.frames.body_frames import without_comfort
from ...rig.frames.body_samples import BodySamples, read_body, with_planted
from ...rig.frames.keyed_motion import read_keyed
from ...rig.frames.samples import Sample, Samples, goals_at, sample
from ...rig.keyframes import curves_of
from ...rig.limb import Limb, saved_range
from ...rig.targets.goal import GoalReader, avoid_of
from ...rig.targets.untouched import carriers_of, is_waiting
from ...rig.timeline import fps_of, strips_of
from ...solvers.batch.change import System
from ...solvers.body.clearing import pushed_out
from ...solvers.body.solve_body import BodyFollower
from ...solvers.natural import followed, trailing
from ...solvers.natural.posture import Posture
from ...solvers.solve import Solution, solve_goal
from ..shots.frame_solver import NATURAL, SolvedFrame, solver_settings
from ..shots.keys import body_settings
from ..shots.natural_shot import is_at, is_moving
from ..shots.problem import BodyProblem, read_problem
from .state import Surroundings, surroundings_of


def still_samples(
    armature: Object,
    first: Sequence[Sample],
    root: str,
    frames: tuple[Matrix, Matrix],
    depsgraph: Depsgraph,
    frame: float,
    touched: set[ID],
) -> list[Sample] | None:
    """Return samples of limbs with their goals as the depsgraph shows them now, on the rig as it was.

    `frames` (4x4) are those of the armature and above the bone `root` when the `first` samples were read. None if
    somebody may have changed more than what is followed: a live pose touches the armature but not its data; all other
    changes of bones and of settings do.
    """
    try:
        if armature.data in touched or any(isinstance(each, (Scene, Action)) for each in touched):
            return None
        shown = armature.evaluated_get(depsgraph)
        if shown.matrix_world != frames[0] or base_of(shown, root) != frames[1]:
            return None
        if any(bone and bone not in ob.pose.bones for each in first for ob, bone in each.limb.targets):
            return None
        return [Sample(frame, each.rig, each.limb, *goals_at(each.limb, depsgraph, frame)) for each in first]
    except ReferenceError:  # a target was removed
        return None


class StillRig:
    """Settings, bones and pose of a live limb as they were when it was last posed."""

    def __init__(self, limb: Limb, solved: SolvedFrame, begin: Pose) -> None:
        self.limb, self.pose, self._goal = limb, solved.pose, solved.goal
        self._reference = begin if limb.solver == NATURAL else None
        self._now, self._settings, self._goals = solved.now, solver_settings(limb), GoalReader()

    @staticmethod
    def suits(limb: Limb) -> bool:
        """Tell whether everybody who changes the rig or the settings of this limb can be noticed.

        Drivers and animated settings change with anything, the selection without a trace; and where the solution is not
        what is shown, or not where the next one starts, the rig has to be read anew.
        """
        stored = limb.armature.pose.bones[limb.tip].ik_triangulation
        if limb.influence != 1.0 or limb.start_from == "REST" or stored.use_selected or limb.follows_flow:
            return False
        animation = limb.armature.animation_data
        if animation is None:
            return True
        bones = tuple(limb.armature.pose.bones[name].path_from_id() for name in limb.bones)
        driven = any(curve.data_path.startswith(bones) for curve in animation.drivers)
        return not (driven or limb.followed or limb.with_moving_limits)

    def sample(self, armature: Object, depsgraph: Depsgraph, frame: float, touched: set[ID]) -> Sample | None:
        """Return what the depsgraph shows now; None if somebody may have changed more than what the limb follows."""
        first = self._now._replace(limb=self.limb)
        frames = first.rig.world, first.rig.base
        found = still_samples(armature, [first], self.limb.bones[0], frames, depsgraph, frame, touched)
        return found[0] if found else None

    def solve(self, now: Sample) -> SolvedFrame:
        """Solve the sample from the last pose on, or from the reference.

        Raises TargetError for a shape that the target does not have.
        """
        begin = self._reference or self.pose
        goal = self._goals.at(now, begin)
        at_once = followed(begin, goal, self._settings.form, self.pose, self._goal) if self._reference else None
        if at_once is not None:
            error = (at_once.tip - goal.target.closest(at_once.tip)).length
            solution = Solution(at_once, error, 1, error <= goal.tolerance)
        else:
            solution = solve_goal(begin, goal, self._settings, follow=True)
        if self._reference and at_once is None:
            pose = trailing(self._reference, goal, self._settings.form, self.pose, self._goal, solution.pose)
            if pose is not solution.pose:
                error = (pose.tip - goal.target.closest(pose.tip)).length
                solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
        self.pose, self._goal = solution.pose, goal
        return SolvedFrame(now, goal, solution, solution.pose)


_LEAP, _FAR = 0.05, 0.3  # of the body's size: way of a goal in one step, and from which on the body is posed anew
_ALIKE = 0.6  # [rad] difference of a joint up to which a pose that rests becomes that of Solve Pose
_SETTLING = 20  # steps of one that does not
_LOOKS = 4  # times that what a free head adds is taken off a pose, half of what is left each time


class BodyMotion:
    """Poses of a body, each from the one before; the first one, and one after a leap, as Solve Pose poses it.

    Its `states` are without the looks of free heads, which would add up from pose to pose; it is `shown` with them.
    """

    def __init__(self, rig: RigBody, samples: BodySamples, scene: Scene, states: States | None = None) -> None:
        """Follow from `states`, if they are of the same body."""
        self.problem, self._scene = finished(read_problem(rig, samples, scene)), scene
        finished(self.problem.stand())
        self._fades = any((share < 1.0).any() for share in samples.influence.values())
        problem = self.problem
        self._held = problem.held_tasks(rig.held)
        self._follower = BodyFollower(problem.body.tree, problem.reference, self._held, problem.steady, problem.floor)
        self._goals: Sequence[Task] = ()
        self._is_at_rest = True
        self.states = None if states is None or not _is_alike(states, problem.reference) else states
        self._shown: States | None = None

    def take(self, states: States, goals: Sequence[Task]) -> None:
        """Take a pose as it is shown, and go on from there."""
        self.states, self._goals, self._is_at_rest = states, self._raised(goals), True
        shot = self._shot()
        if shot.heads:
            posture = Posture(shot.tree, states)
            for _ in range(_LOOKS):
                more = posture.offsets(looking_at_hands(shot, self.states))
                self.states = posture.states(posture.offsets(self.states) - more)
        self._shown = states

    @property
    def shown(self) -> States:
        """The pose with free heads turned to where hands go."""
        assert self.states is not None
        if self._shown is None:
            self._shown = looking_at_hands(self._shot(), self.states)
        return self._shown

    def follow(self, goals: Sequence[Task]) -> None:
        """Go on to other goals of the tips that reach."""
        goals = self._raised(goals)
        before, self._goals, self._is_at_rest, self._shown = self._goals, goals, False, None
        moved = self._largest_way(before) / self.problem.body.tree.size
        if self.states is None or self._fades or (moved > _FAR and self.is_met(before)):
            self.states, self._is_at_rest = self._solved(), True
            return
        for _ in range(int(np.ceil(max(min(moved, _FAR), _LEAP) / _LEAP))):
            self.states = self._moved(self.states)

    def rest(self) -> bool:
        """Become the pose of Solve Pose, if that is alike and reaches, or settle; tell whether the pose has changed."""
        if self.states is None or self._is_at_rest:
            return False
        self._is_at_rest, self._shown = True, None
        found = self._solved()
        if np.abs(Posture(self.problem.body.tree, found).offsets(self.states)).max() <= _ALIKE:
            self.states = found
            return True
        for _ in range(_SETTLING):
            self.states = self._moved(self.states)
        return True

    def _moved(self, states: States) -> States:
        """Return the states after a step to the goals, with arms that stay out of the body's thickness."""
        tree, thickness = self.problem.body.tree, self.problem.thickness
        states = self._follower.moved(states, self._goals)
        return pushed_out(tree, states, thickness, self._goals) if thickness else states

    def _raised(self, goals: Sequence[Task]) -> Sequence[Task]:
        """Goals below the floor raised to it."""
        return self.problem.floor.raised(goals) if self.problem.floor else goals

    def _largest_way(self, before: Sequence[Task]) -> float:
        """Largest way of a target since it was at the goals before, or from its tip if there was no such goal."""
        if self.states is None:
            return 0.0
        known = {task.tip: task for task in before if isinstance(task, PlaceTask)}
        places = [task for task in self._goals if isinstance(task, PlaceTask)]
        ways = [task.target.place - known[task.tip].target.place for task in places if task.tip in known]
        new = [task for task in places if task.tip not in known]
        if new:
            geometry = Geometry(self.problem.body.tree, self.states)
            ways += [task.measure(geometry).errors for task in new]
        return max((float(lengths(way).max()) for way in ways), default=0.0)

    def is_met(self, goals: Sequence[Task]) -> bool:
        """Tell whether the pose meets goals."""
        return self.states is not None and bool(System(self.problem.body.tree, self.states, goals).met.all())

    def _shot(self) -> Shot:
        return self.problem.shot(self._scene, tasks=[*self._held, *self._goals])

    def _solved(self) -> States:
        return finished(faded_path(replace(self._shot(), heads=()))).states


def _is_alike(one: States, other: States) -> bool:
    """Tell whether states are of trees with the same columns, on hips that hang in the same frame."""
    shapes = (one.angles, other.angles), (one.balls, other.balls), (one.held, other.held)
    return all(a.shape == b.shape for a, b in shapes) and bool(np.abs(one.root - other.root).max() < 1e-6)


class BodyNow(NamedTuple):
    """State that a body follows at a frame: matrices (4x4) of the armature and above its hips, and samples of limbs."""

    frame: float
    world: Matrix
    base: Matrix
    samples: Sequence[Sample]

    def surroundings(self, depsgraph: Depsgraph) -> Surroundings:
        """All that is followed, in a form that can be compared; the body itself moves where its limbs begin.

        A target that waits is not followed.
        """
        still = Matrix.Identity(4)
        followed = [each for each in self.samples if not is_waiting(each.limb.armature.pose.bones[each.limb.tip])]
        own = [surroundings_of(each._replace(rig=each.rig._replace(base=still)), depsgraph) for each in followed]
        return self.world.freeze(), self.base.freeze(), *own


class LiveGoals:
    """The goals of a body as it was when this was made, at other places of its targets."""

    def __init__(self, rig: RigBody, depsgraph: Depsgraph, frame: float) -> None:
        """Raises what sample() raises."""
        self.rig = rig
        shown = rig.armature.evaluated_get(depsgraph)
        samples = [sample(limb, depsgraph, frame) for limb in rig.limbs]
        self.first = BodyNow(frame, shown.matrix_world.copy(), base_of(shown, rig.hips).copy(), samples)
        self._readers = [GoalReader() for _ in rig.limbs]
        self.starts: list[Pose] = [
            Bones(limb.armature, limb.bones, limb.solved).pose(now.rig.base, now.rig.channels)
            for limb, now in zip(rig.limbs, samples, strict=True)
        ]
        self._suits = all(StillRig.suits(limb) for limb in rig.limbs) and not _is_driven(rig)
        self._carriers = [carriers_of(rig, limb).at(limb, depsgraph) for limb in rig.limbs]
        self._see_carriers(depsgraph)

    def again(self, depsgraph: Depsgraph, frame: float, touched: set[ID]) -> BodyNow | None:
        """Return what the depsgraph shows now; None if somebody may have changed more than what is followed."""
        rig, first = self.rig, self.first
        if not self._suits:
            return None
        frames = first.world, first.base
        self._see_carriers(depsgraph)
        samples = still_samples(rig.armature, first.samples, rig.hips, frames, depsgraph, frame, touched)
        return None if samples is None else BodyNow(frame, *frames, samples)

    def goals(self, now: BodyNow) -> dict[str, list[Goal]]:
        """The goals of all tips."""
        each = zip(self.rig.limbs, self._readers, self.starts, now.samples, self._carriers, strict=True)
        bones, found = self.rig.armature.pose.bones, {}
        for limb, reader, start, sampled, carrier in each:
            if is_waiting(bones[limb.tip]):
                found[limb.tip] = [Goal(Anywhere())]
                continue
            into = self._into[carrier] @ sampled.rig.into if carrier else sampled.rig.into
            seen = sampled._replace(rig=sampled.rig._replace(into=into), obstacles=())
            found[limb.tip] = [without_comfort(reader.at(seen, start)._replace(on=carrier), start)[0]]
        return found

    def avoided(self, now: BodyNow) -> dict[str, list[Avoid]]:
        """The obstacles of all tips that reach and have some."""
        bones, pairs = self.rig.armature.pose.bones, zip(self.rig.limbs, now.samples, strict=True)
        seen = ((limb.tip, sampled) for limb, sampled in pairs if sampled.obstacles)
        return {tip: [avoid_of(sampled)] for tip, sampled in seen if not is_waiting(bones[tip])}

    def _see_carriers(self, depsgraph: Depsgraph) -> None:
        """Read where the bones of the body are that carry targets."""
        bones = self.rig.armature.evaluated_get(depsgraph).pose.bones if any(self._carriers) else {}
        self._into = {name: into_bone(bones[name]) for name in self._carriers if name}


def _is_driven(rig: RigBody) -> bool:
    """Tell whether drivers move or set something of the body's bones."""
    animation = rig.armature.animation_data
    if animation is None:
        return False
    own = tuple(bone.path_from_id() for bone in rig.pose_bones)
    return any(curve.data_path.startswith(own) for curve in animation.drivers)


_AROUND = 120  # frames on either side at most
_EVALUATED = 24  # where Blender has to evaluate them
_ON_ANIMATION = 1e-5  # of its distance: up to which a target is where its animation has it


class AheadOfBake(NamedTuple):
    """The poses of a body at `frames`, and what they were solved from, in a form that can be compared."""

    frames: range
    source: tuple[Any, ...]
    states: States

    def at(self, frame: float) -> States:
        """The pose at a frame."""
        return self.states.take([self.frames.index(int(frame))]).copy()


def solve_ahead(
    rig: RigBody,
    tip: str,
    goals: LiveGoals,
    now: BodyNow,
    samples: BodySamples,
    known: AheadOfBake | None,
    scene: Scene,
    view_layer: ViewLayer,
) -> AheadOfBake | Refusal:
    """Solve all frames of the range of the limb at `tip` as a bake would, unless they are `known`.

    `samples` are those of the present frame. A refusal where that frame has to be solved alone.
    """
    stored = rig.armature.pose.bones[tip].ik_triangulation
    first, last, step = saved_range(stored, scene, scene.use_preview_range)
    frame = int(now.frame)
    if rig.contacts or any(limb.effort_weight or limb.rest_weight for limb in rig.limbs):
        return Refusal("the contacts of a range, and comfort, are read by a bake")
    if _fades(rig, samples):
        return Refusal("tips have an influence below 1 or an animated one")
    if _moves_above(rig):
        return Refusal("something moves or sets the bones of the body besides their F-curves")
    if step != 1 or frame != now.frame or not first <= frame <= last or first == last:
        return Refusal("the frame is none of those that are baked", chosen=True)
    frames = range(max(first, frame - _AROUND), min(last, frame + _AROUND) + 1)
    if known is not None and frame in known.frames and known.frames[0] >= first and known.frames[-1] <= last:
        frames = known.frames
    read = [read_keyed(limb, scene, view_layer, frames, simple=True) for limb in rig.limbs]
    shots = [each for each in read if each is not None]
    if len(shots) < len(read):
        return Refusal("F-curves do not contain all of the motion around the body")
    if not any(is_moving(each) for each in shots):
        return Refusal("no target moves", chosen=True)
    at = frames.index(frame)
    if not all(is_at(each, at, seen) for each, seen in zip(shots, now.samples, strict=True)):
        return Refusal("a target is not where its keys have it", chosen=True)
    bones = rig.armature.pose.bones
    # A target that waits goes along with its hand or foot at every frame change, and asks for nothing.
    followed = (
        (limb.tip, None if is_waiting(bones[limb.tip]) else _bytes(shot))
        for limb, shot in zip(rig.limbs, shots, strict=True)
    )
    source = rig, fps_of(scene, frames), *followed, samples.rotations.tobytes(), samples.locations.tobytes()
    if known is not None and known.frames == frames and known.source == source:
        return known
    samples = samples if samples.places else with_planted(rig, samples, scene)
    problem = BodyProblem(rig, _of_all(rig, goals, samples, shots, frames))
    states, _ = finished(problem.path(scene, body_settings(rig, tip).smoothing))
    return AheadOfBake(frames, source, states)


class ShownAhead(NamedTuple):
    """The poses of a body at the frames of `samples`, which were evaluated, as a bake has them.

    Valid until anything but a target is moved or changed by hand.
    """

    samples: BodySamples
    states: States
    fps: float

    def shows(self, frame: float, scene: Scene) -> bool:
        """Tell whether a frame is among those that were evaluated, at the frame rate that the scene has."""
        return frame in self.samples.frames and self.fps == fps_of(scene, self.samples.frames)

    def by_hand(self, frame: float) -> tuple[Numbers, Numbers]:
        """Rotations of the bones and the location of the hips at one of the frames, as they were evaluated."""
        k = self.samples.frames.index(frame)
        return self.samples.rotations[..., [k]], self.samples.locations[:, [k]]

    def animated(self, now: BodySamples) -> BodySamples:
        """Return the samples of one of the frames with the animation made by hand as it was evaluated."""
        k, there = self.samples.frames.index(now.frames[0]), self.samples
        shown = None if there.shown is None else there.shown[..., [k]]
        return now._replace(
            rotations=there.rotations[..., [k]], locations=there.locations[:, [k]], shown=shown, places=there.places
        )

    def at(self, now: BodySamples) -> States | None:
        """The pose at one of the frames; None where a target is off its animation."""
        k, root = self.samples.frames.index(now.frames[0]), Vector(now.bases[:3, 3, 0])
        for tip, goals in now.goals.items():
            there, here = (each.target.closest(root) for each in (self.samples.goals[tip][k], goals[0]))
            if (there - here).length > _ON_ANIMATION * max(1.0, here.length):
                return None
        return self.states.take([k]).copy()


def moves_otherwise(rig: RigBody) -> bool:
    """Tell whether strips, drivers and modifiers animate a body, or more than their own keys its targets."""
    if animates_otherwise(rig):
        return True
    known = Dependencies(rig.limbs)
    movers = (node.object for limb in rig.limbs for each in limb.targets for node in known.movers(Node(*each)))
    targets = [ob for limb in rig.limbs for ob, bone in limb.targets if not bone]
    others = {ob for ob in movers if ob not in targets and ob != rig.armature}
    plain = not any(len(ob.constraints) or _has_strips_or_drivers(ob) for ob in targets)
    return any(ob.animation_data or len(ob.constraints) for ob in others) or not plain


def _has_strips_or_drivers(ob: Object) -> bool:
    animation = ob.animation_data
    return bool(animation and (len(animation.drivers) or any(True for _ in strips_of(animation))))


def solve_shown_ahead(
    rig: RigBody, tip: str, now: BodySamples, scene: Scene, view_layer: ViewLayer
) -> ShownAhead | Refusal:
    """Solve the frames around the present one as a bake would, from what Blender evaluates."""
    stored = rig.armature.pose.bones[tip].ik_triangulation
    first, last, step = saved_range(stored, scene, scene.use_preview_range)
    frame = now.frames[0]
    if any(limb.follows_flow for limb in rig.limbs):
        return Refusal("a flow is followed from the pose that is shown", chosen=True)
    if _fades(rig, now):
        return Refusal("tips have an influence below 1 or an animated one")
    if step != 1 or frame != int(frame) or not first <= frame <= last or first == last:
        return Refusal("the frame is none of those that are baked", chosen=True)
    frames = list(range(max(first, int(frame) - _EVALUATED), min(last, int(frame) + _EVALUATED) + 1))
    samples = finished(read_body(rig, scene, frames, view_layer))
    problem = finished(read_problem(rig, samples, scene))
    states = finished(problem.path(scene, body_settings(rig, tip).smoothing)).states
    return ShownAhead(samples, states, fps_of(scene, frames))


def _of_all(rig: RigBody, goals: LiveGoals, now: BodySamples, shots: list[Samples], frames: range) -> BodySamples:
    """The samples of all frames from those of the present one and of each limb."""
    found = {}
    for limb, start, shot in zip(rig.limbs, goals.starts, shots, strict=True):
        reader, waits = GoalReader(), is_waiting(rig.armature.pose.bones[limb.tip])
        found[limb.tip] = [Goal(Anywhere()) if waits else reader.at(shot[k], start) for k in range(len(frames))]
    return now._replace(
        frames=frames,
        worlds=_of_frames(shots[0].worlds, len(frames)),
        bases=_of_frames(now.bases, len(frames)),
        rotations=_of_frames(now.rotations, len(frames)),
        locations=_of_frames(now.locations, len(frames)),
        shown=None if now.shown is None else _of_frames(now.shown, len(frames)),
        goals=found,
        influence={tip: _of_frames(share, len(frames)) for tip, share in now.influence.items()},
    )


def _of_frames(values: Numbers, count: int) -> Numbers:
    return np.broadcast_to(values, (*values.shape[:-1], count))


def _bytes(shot: Samples) -> tuple[bytes, ...]:
    return tuple(each.tobytes() for each in (shot.worlds, shot.targets, shot.poles) if each is not None)


def _fades(rig: RigBody, samples: BodySamples) -> bool:
    """Tell whether tips have an influence below 1, or one that is animated."""
    if any((share < 1.0).any() for share in samples.influence.values()):
        return True
    return any(curve.data_path.endswith("ik_triangulation.influence") for curve in curves_of(rig.armature))


def _moves_above(rig: RigBody) -> bool:
    """Tell whether a bone above the hips is animated."""
    above = tuple(bone.path_from_id() for bone in rig.armature.pose.bones[rig.hips].parent_recursive)
    return bool(above) and any(curve.data_path.startswith(above) for curve in curves_of(rig.armature))
