# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb or body: looks at what it follows, poses its bones, reports and keys itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter

import bpy
from bpy.types import ID, Action, Depsgraph, Object, PoseBone, Scene, ViewLayer
from mathutils import Quaternion

from ...errors import ChainError, IKError
from ...goals.from_goals import body_tasks
from ...kinematics.batch import Geometry, States
from ...rig.armature import Bones
from ...rig.body import RigBody
from ...rig.by_hand.keys import keep_location, keep_pose, remember_location, remember_place, remember_written
from ...rig.by_hand.reference import hold_reference
from ...rig.checks import check_limb
from ...rig.dependencies import live_constraints
from ...rig.frames.body_samples import BodySamples, body_seen, with_planted, with_shown
from ...rig.frames.samples import Sample, sample
from ...rig.keyframes import check_keys
from ...rig.limb import Limb, selected_limb
from ...rig.rotation import rotation_of
from ...rig.targets.untouched import check_body_limbs, is_waiting, keep_waiting, take_along
from ...rig.timeline import check_nla
from ..pose import check_body, measure_body_pose, solve_pose
from ..shots.frame_solver import SolvedFrame, at_frame, follow
from ..shots.keys import WrittenKeys
from ..shots.measure import NOT_MEASURED, Watch, measure_now, report_of
from ..shots.natural_shot import FramesAround, referred
from ..shots.problem import body_of
from ..shots.report import Remedy, Report
from ..shots.writing import key_present_pose
from .motion import (
    AheadOfBake,
    BodyMotion,
    BodyNow,
    LiveGoals,
    ShownAhead,
    StillRig,
    moves_otherwise,
    solve_ahead,
    solve_shown_ahead,
)
from .state import LiveChannels, LiveState, Surroundings, is_animated, surroundings_of

_NO_KEYS = WrittenKeys(0, 0, [0])
_KEPT = 48  # frames that are solved together for the frame changes to come


class LiveLimb(LiveState):
    """A limb that is live, with its state when it was last seen."""

    def __init__(self, armature: Object, limb: Limb, scene: Scene) -> None:
        super().__init__(armature, limb.tip, [limb.tip], scene)
        self.before = rotations_of(limb)  # of the pose before it was live, near which an influence below 1 stays
        self.limb: Limb | None = None
        self.bones: Bones | None = None
        self.watch: Watch | None = None
        self.still: StillRig | None = None  # what was read of the rig, as long as nobody else changes it
        self.remedies: dict[str, Remedy | None] = {}  # of bones that do not follow; live there is no time to search
        self.solved: tuple[SolvedFrame, float] | None = None  # posed but not told yet, and the seconds it took
        self.around = FramesAround(_KEPT)

    def forget(self) -> None:
        super().forget()
        self.around.forget()
        self.limb = self.bones = self.watch = self.still = self.solved = None

    def forget_reading(self) -> None:
        self.still = self.solved = None

    def begin(self, limb: Limb) -> Report:
        report = solve_pose(limb)
        self.remedies = {note.bone: note.remedy for note in report.not_following}
        self.posed = LiveChannels(limb.pose_bones).read(limb.armature)
        return report

    def keep(self, armature: Object, undo: ExitStack) -> None:
        keep_pose((armature.pose.bones[name] for name in self.before if name in armature.pose.bones), undo)

    def look(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[Sample, Limb, bool]:
        frame = scene.frame_current + scene.frame_subframe
        if not new_frame and any(each == armature.data or isinstance(each, (Scene, Action)) for each in touched):
            self.around.forget()  # a key, a limit, the range
        still, self.still = self.still, None
        if still is not None and not new_frame:
            now = still.sample(armature, depsgraph, frame, touched)
            if now is not None:
                self.still = still
                return now, still.limb, False
        limb, changed = self._refresh(armature, scene, depsgraph, touched, new_frame)
        return sample(limb, depsgraph, frame), limb, changed

    def _refresh(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[Limb, bool]:
        """Read the limb's settings, and its bones and followers if they may have changed; tell if the settings have."""
        limb = selected_limb(armature.pose.bones[self.tip])
        limb.read_animation(self.moving(armature, touched, new_frame))
        if self.bones is None or limb != self.limb or armature in touched or armature.data in touched:
            check_limb(limb, scene, depsgraph.view_layer)
            self.bones = Bones(armature, limb.bones, limb.solved)
        if self.watch is None or limb != self.limb or armature.data in touched or not _suits(self.channels, armature):
            self.watch, self.channels = Watch(limb), LiveChannels(limb.pose_bones)
        changed, self.limb = self.limb is not None and self.limb != limb, limb
        return limb, changed

    def solve(self, now: Sample, limb: Limb) -> None:
        assert self.bones is not None
        assert self.channels is not None
        started = perf_counter()
        if self.still is not None:
            start, solved = self.still.pose.rotations, self.still.solve(now)
        elif isinstance(
            among := self.around.solve(limb, self.bones, now, bpy.context.scene, bpy.context.view_layer), SolvedFrame
        ):
            sampled = dict(zip(limb.bones, now.rig.channels, strict=True))
            start, solved = [sampled[joint.name].rotation for joint in among.pose.chain.joints], among
        else:
            (begin,) = referred(limb, self.bones, [self._with_pose_before(now, limb)], bpy.context.scene)
            (solved,) = follow(limb, self.bones, [begin], begun=True)
            solved = solved._replace(now=now)
            sampled = dict(zip(limb.bones, now.rig.channels, strict=True))
            start = [sampled[joint.name].rotation for joint in solved.pose.chain.joints]
            self.still = StillRig(limb, solved, at_frame(begin, self.bones)) if StillRig.suits(limb) else None
        self.posed = self.channels.pose(limb.armature, start, solved.pose)
        self.solved = solved, perf_counter() - started

    def solve_upcoming(self, seconds: float) -> bool:
        try:
            return self.around.solve_upcoming(seconds)
        except (IKError, ReferenceError):  # said once that frame is shown
            self.around.forget()
            return False

    def surroundings_of(self, now: Sample, depsgraph: Depsgraph) -> Surroundings:
        return surroundings_of(now, depsgraph)

    def is_animated(self, limb: Limb) -> bool:
        return is_animated(limb)

    def remember(self, armature: Object, before: Surroundings, held: bool, new_frame: bool = False) -> bool:
        by_others = super().remember(armature, before, held, new_frame)
        assert self.channels is not None
        if by_others:
            self.around.forget()
            self.still = None
        if by_others or (new_frame and self.channels.has_strips):
            self.before = {name: rotation_of(armature.pose.bones[name]) for name in self.channels.bones}
        return by_others

    def report(self, armature: Object, scene: Scene, depsgraph: Depsgraph) -> Report | None:
        waiting, self.solved, watch = self.solved, None, self.watch
        if waiting is None or watch is None or self.channels is None or self.channels.read(armature) != self.posed:
            return None
        solved, took = waiting
        measured = NOT_MEASURED
        if watch.closely:
            measured = measure_now(watch, solved, depsgraph, scene, self.remedies)
        return report_of(watch.limb, [solved], took, _NO_KEYS, [], measured=measured)

    def key(self, armature: Object, scene: Scene, view_layer: ViewLayer) -> None:
        limb = selected_limb(armature.pose.bones[self.tip])
        check_keys(armature, limb.in_order)
        check_nla(armature, scene, self.frame, self.frame)
        key_present_pose(limb.pose_bones, scene, view_layer)

    def _with_pose_before(self, now: Sample, limb: Limb) -> Sample:
        """Return the sample with the pose before the limb was live, if its influence keeps it near that."""
        if now.limb.influence == 1.0 or set(self.before) != limb.solved:
            return now
        channels = [
            each._replace(rotation=self.before.get(name, each.rotation))
            for name, each in zip(limb.bones, now.rig.channels, strict=True)
        ]
        return now._replace(rig=now.rig._replace(channels=channels))


def rotations_of(limb: Limb) -> dict[str, Quaternion]:
    """Return the rotation of each bone, in any rotation mode."""
    return {bone.name: rotation_of(bone) for bone in limb.pose_bones}


class LiveBody(LiveState):
    """A body that is live, with its state when it was last seen; `tip` is that of one of its limbs."""

    comes_to_rest = True

    def __init__(self, armature: Object, rig: RigBody, tip: str, scene: Scene) -> None:
        super().__init__(armature, tip, rig.tips, scene)
        self._bones = rig.bones
        self._rig: RigBody | None = None
        self._goals: LiveGoals | None = None  # what was read of the rig, as long as nobody else changes it
        self._motion: BodyMotion | None = None
        self._goes_on = False  # nothing but goals has changed since the motion was made
        self._is_stale = False  # the rig was read anew since the motion was made
        self._ahead: AheadOfBake | None = None
        self._evaluated: ShownAhead | None = None  # where more than F-curves moves the body or its targets
        self._is_begun = False  # the place of the hips that was made by hand is remembered
        self._shown: tuple[BodyNow, float] | None = None  # posed but not told yet, and the seconds it took
        self._waiting = list(rig.tips)  # those whose targets go along with them, if these wait
        self._places: dict[Surroundings, ExitStack] = {}  # what puts these back, for poses as in `left`

    def forget(self) -> None:
        super().forget()
        self._places.clear()
        self._waiting = list(self.tips)
        self._rig = self._goals = self._motion = self._ahead = self._evaluated = self._shown = None

    def forget_reading(self) -> None:
        self._goals = self._evaluated = None

    def begin(self, rig: RigBody) -> Report:
        armature, scene, view_layer = rig.armature, bpy.context.scene, bpy.context.view_layer
        warnings = check_body(rig, scene, view_layer, key=False)
        now, rig, _ = self.look(armature, scene, view_layer.depsgraph, set(), True)
        self.remember(armature, (), True)
        hold_reference(rig.pose_bones, scene)
        self.solve(now, rig)
        remember_written(rig.pose_bones)
        view_layer.update()
        report = self.report(armature, scene, view_layer.depsgraph)
        assert report is not None
        return replace(report, warnings=[*warnings, *report.warnings])

    def keep(self, armature: Object, undo: ExitStack) -> None:
        bones = [armature.pose.bones[name] for name in self._bones if name in armature.pose.bones]
        keep_pose(bones, undo)
        for bone in bones[:1]:
            keep_location(bone, undo)
        for bone in self._waiting_bones(armature, self.tips):
            keep_waiting(bone, undo)

    def look(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[BodyNow, RigBody, bool]:
        frame = scene.frame_current + scene.frame_subframe
        if not new_frame and armature.data in touched:
            self._ahead = self._evaluated = None  # a limit or a setting
        goals, self._goals = self._goals, None
        if goals is not None and not new_frame:
            now = goals.again(depsgraph, frame, touched)
            if now is not None:
                self._goals = goals
                return now, goals.rig, False
        rig = body_of(armature, self.tip)
        if rig is None:
            raise ChainError(f"'{self.tip}' is no longer part of a body. Switch Live off and on.")
        moving = self.moving(armature, touched, new_frame)
        for limb in rig.limbs:
            if limb.armature == armature:
                limb.read_animation(moving)
        changed, self._rig = self._rig is not None and self._rig != rig, rig
        if changed or armature.data in touched or not _suits(self.channels, armature):
            check_body_limbs(rig, scene, depsgraph.view_layer)
            self.channels = _channels(rig)
            self.tips, self._bones = rig.tips, rig.bones
        self._goals = LiveGoals(rig, depsgraph, frame)
        self._is_stale = True
        return self._goals.first, rig, changed

    def surroundings_of(self, now: BodyNow, depsgraph: Depsgraph) -> Surroundings:
        return now.surroundings(depsgraph)

    def is_animated(self, rig: RigBody) -> bool:
        return is_animated(rig, rig.hips)

    def remember(self, armature: Object, before: Surroundings, held: bool, new_frame: bool = False) -> bool:
        by_others = super().remember(armature, before, held, new_frame)
        waiting = self._waiting_bones(armature, self._waiting)
        self._waiting = [bone.name for bone in waiting]  # not one that was moved and put back
        if not held:
            self._places[before] = undo = ExitStack()
            for bone in waiting:
                keep_waiting(bone, undo)
            self._places = {each: self._places[each] for each in self.left if each in self._places}
        if by_others:
            self._motion, self._is_begun = None, False
        return by_others

    def cancel_drag(self, armature: Object) -> bool:
        done = super().cancel_drag(armature)
        if done:
            self._motion = None
            remember_place(armature.pose.bones[name] for name in self._bones)
            if self.surroundings in self._places:
                self._places.pop(self.surroundings).close()
            self._waiting = list(self.tips)
        return done

    def solve(self, now: BodyNow, rig: RigBody) -> None:
        assert self._goals is not None
        started, scene, view_layer = perf_counter(), bpy.context.scene, bpy.context.view_layer
        found = self._goals.goals(now)
        if self._motion is None or self._is_stale:
            samples, baked = self._read(rig, now, scene, view_layer)
            self._is_stale, motion = False, self._motion
            if motion is not None and self._goes_on:
                motion.problem.samples = samples._replace(places=motion.problem.samples.places)
            else:
                self._motion = motion = BodyMotion(rig, samples, scene, motion and motion.states)
            if baked is not None:
                motion.take(baked, body_tasks(motion.problem.body, found))
                self._pose(rig, motion)
                self._shown = now, perf_counter() - started
                return
        avoided = self._goals.avoided(now)
        if avoided:  # they may have moved
            self._motion.problem.avoid(avoided)
        self._motion.follow(body_tasks(self._motion.problem.body, found))
        self._pose(rig, self._motion)
        self._shown = now, perf_counter() - started

    def _read(
        self, rig: RigBody, now: BodyNow, scene: Scene, view_layer: ViewLayer
    ) -> tuple[BodySamples, States | None]:
        """Return the samples of the present frame, and the pose that is baked there if it can be known.

        Where that was solved ahead only the goals differ from those of the frame before: the motion goes on.
        """
        assert self._goals is not None
        constrained, evaluated = any(live_constraints(rig)), self._evaluated
        if constrained or not (evaluated and evaluated.shows(now.frame, scene) and moves_otherwise(rig)):
            evaluated = None
        by_hand = evaluated and evaluated.by_hand(now.frame)
        samples = body_seen(rig, view_layer.depsgraph, now.frame, scene, by_hand)
        if constrained:
            samples = with_shown(rig, with_planted(rig, samples, scene), scene, view_layer)
        ahead, known, self._ahead = None, self._ahead, None
        if samples.shown is None:
            ahead = solve_ahead(rig, self.tip, self._goals, now, samples, known, scene, view_layer)
        self._ahead = ahead if isinstance(ahead, AheadOfBake) else None
        is_known = self._ahead is not None and self._ahead is known
        self._goes_on = is_known and not constrained and self._motion is not None
        if not (self._goes_on or constrained or evaluated):
            samples = with_planted(rig, samples, scene)
        if self._ahead is not None:
            return samples, self._ahead.at(now.frame)
        if samples.shown is not None or evaluated or moves_otherwise(rig):
            return self._as_evaluated(rig, samples, scene, view_layer)
        return samples, None

    def _as_evaluated(
        self, rig: RigBody, samples: BodySamples, scene: Scene, view_layer: ViewLayer
    ) -> tuple[BodySamples, States | None]:
        """Return the samples of the present frame with the animation that Blender shows, and the pose that is baked.

        None for the latter where a target is off its animation, and outside the range.
        """
        (frame,) = samples.frames
        if self._evaluated is None or not self._evaluated.shows(frame, scene):
            evaluated = solve_shown_ahead(rig, self.tip, samples, scene, view_layer)
            self._evaluated = evaluated if isinstance(evaluated, ShownAhead) else None
        if self._evaluated is None:
            return with_shown(rig, samples, scene, view_layer), None
        return self._evaluated.animated(samples), self._evaluated.at(samples)

    def rest(self, armature: Object) -> bool:
        motion = self._motion
        if motion is None or self.channels is None or self.channels.read(armature) != self.posed:
            return False
        if not motion.rest():
            return False
        self._pose(motion.problem.rig, motion)
        remember_written(motion.problem.rig.pose_bones)
        return True

    def report(self, armature: Object, scene: Scene, depsgraph: Depsgraph) -> Report | None:
        waiting, self._shown = self._shown, None
        motion, goals = self._motion, self._goals
        if waiting is None or motion is None or goals is None or motion.states is None or self.channels is None:
            return None
        if self.channels.read(armature) != self.posed:
            return None
        (now, took), problem = waiting, motion.problem
        samples = problem.samples._replace(goals=goals.goals(now))
        report = measure_body_pose(problem.rig, samples, problem, depsgraph)
        return replace(report, outside=problem.outside(motion.shown), warnings=problem.unheeded(), seconds=took)

    def key(self, armature: Object, scene: Scene, view_layer: ViewLayer) -> None:
        self.rest(armature)
        rig = body_of(armature, self.tip)
        if rig is not None:
            check_body(rig, scene, view_layer, key=True)
            key_present_body(rig, scene, view_layer)

    def _pose(self, rig: RigBody, motion: BodyMotion) -> None:
        """Write the pose of all bones and the place of the hips, without having it evaluated."""
        assert self.channels is not None
        problem, hips = motion.problem, rig.armature.pose.bones[rig.hips]
        rotations = problem.rotations(motion.shown)[:, :, 0]
        turned = {
            joint.name: (joint.freedom, rotation)
            for joint, rotation in zip(problem.body.joints, rotations, strict=True)
            if joint.freedom.moves or joint.name in rig.toes.values()
        }
        self.channels.read(rig.armature)
        self.posed = self.channels.put(rig.armature, turned, problem.locations(motion.shown)[:, 0])
        self._take_along(rig, motion)
        if rig.hips_motion == "FIXED":
            return
        if self._is_begun:
            remember_place([hips])
        else:
            remember_location(hips, problem.samples.locations[:, 0].tolist(), ExitStack())
            self._is_begun = True

    def _take_along(self, rig: RigBody, motion: BodyMotion) -> None:
        """Move the targets that wait to their tips, as these are solved."""
        waiting = self._waiting_bones(rig.armature, self._waiting)
        if not waiting:
            return
        frames = Geometry(motion.problem.body.tree, motion.shown).frames[..., 0]
        take_along(waiting, lambda name: rig.shown_frame(name, frames[rig.bones.index(name)]), ExitStack())

    @staticmethod
    def _waiting_bones(armature: Object, tips: Sequence[str]) -> list[PoseBone]:
        """Return those of the bones at these tips whose targets wait."""
        bones = armature.pose.bones
        return [bones[name] for name in tips if name in bones and is_waiting(bones[name])]


def key_present_body(rig: RigBody, scene: Scene, view_layer: ViewLayer) -> int:
    """Key the bones of a body as they are posed at the present frame; return the number of keys."""
    bones = [
        bone for bone in rig.pose_bones if not rig.solved or bone.name in {*rig.solved, *rig.toes.values(), rig.hips}
    ]
    hips = None if rig.hips_motion == "FIXED" else rig.armature.pose.bones[rig.hips]
    return key_present_pose(bones, scene, view_layer, hips)


def _suits(channels: LiveChannels | None, armature: Object) -> bool:
    return channels is not None and channels.suits(armature)


def _channels(rig: RigBody) -> LiveChannels:
    return LiveChannels(rig.pose_bones, None if rig.hips_motion == "FIXED" else rig.armature.pose.bones[rig.hips])
