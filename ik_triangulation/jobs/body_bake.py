# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of a whole body: all of its limbs at once, rotations of its bones and the place of its hips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from bpy.types import Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, Work, cooperative, relay
from ..errors import AnimationError
from ..goals.batch import BalanceTask, Task
from ..goals.batch.of_bodies import MARGIN, balance_of, body_tasks, hold_tasks
from ..kinematics import Body
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry, States
from ..motion.body_path import BodyPath
from ..motion.faded_path import faded_path
from ..motion.standing import standing
from ..rig.body import BodyRest, RigBody, moving_bones
from ..rig.body_record import record_body
from ..rig.carriers import check_body_limbs
from ..rig.channel_runs import run_of
from ..rig.checks import check_armature, check_range
from ..rig.clock import Clock, evaluated_time
from ..rig.destination import Destination
from ..rig.frames.body_frames import Animation, with_places
from ..rig.frames.body_samples import BodySamples, body_by_hand, read_animation, read_body
from ..rig.freedom import keyed, limit_notes
from ..rig.held_tips import corrected_times
from ..rig.hips import check_hips, located_by_hand, location_channel
from ..rig.keyframes import ByHand, Channel, check_keys, key_frames, made_by_hand
from ..rig.limit_check import within_limits
from ..rig.markers import mark
from ..rig.nla import check_nla
from ..rig.rotation import channel
from ..rig.waiting import take_along_shown
from ..solvers.body.floor import Floor, floor_of
from ..solvers.natural.posture import USUAL_FPS
from .bake import frames_from
from .body_floor import with_floor
from .body_following import follow_body
from .body_keys import BodyKeySettings, between_frames, body_keys, body_settings, check_fk
from .body_report import BodyReport, HeldPlaces, Planned, measure_body
from .body_write import BodyWriting, write_body
from .contact_frames import Contacts, compliance_with_contacts, read_contacts, with_contacts
from .ground import lifted
from .nothing_to_bake import check_something
from .switching import Track
from .transaction import Transaction

_PARTS = 5  # of a bake


@cooperative
def bake_body(
    rig: RigBody,
    frame_start: int,
    frame_end: int,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    step: float = 1,
    settings: BodyKeySettings | None = None,
    keep: bool = False,
    within: Transaction | None = None,
) -> Job[BodyReport]:
    """Key all bones of a body from `frame_start` to `frame_end`, so that its limbs reach while held tips stay.

    Rotation keys of its bones and location keys of its hips inside the range are replaced by generated ones every
    `step` frames; everything else stays: other keys, the present frame, and poses that are not keyed. `settings` are by
    default those of the first limb. With `keep` keys that were made by hand stay as they are. Raises an IKError that
    names the culprit; then, and if it is stopped, nothing has changed. What is done `within` a larger transaction is
    undone with that.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    settings = settings or body_settings(rig)
    started, ends, kind = perf_counter(), (frame_start, frame_end), settings.destination
    view_layer.update()
    check_range(scene, *ends, step)
    check_armature(rig.armature, view_layer)
    check_body_limbs(rig, scene, view_layer)
    if within is None and not keep:
        check_something([rig])
    warnings = [*check_keys(rig.armature, rig.bones, kind), *limit_notes(rig.pose_bones)]
    check_fk(settings)
    check_hips(rig.armature, rig.hips, kind, rig.hips_motion != "FIXED")
    check_nla(rig.armature, scene, *ends, kind)
    frames = _frames_of(rig, settings, scene, *ends, step)
    yield 0, _PARTS
    corrected = corrected_times(rig, scene)
    samples = yield from relay(
        read_body(rig, scene, frames, view_layer, switched=settings.keys_on == "FK_SWITCH"), (0, _PARTS)
    )
    contacts = yield from relay(read_contacts(rig, scene, frames), (0, _PARTS))
    held_by = yield from relay(_before_corrections(rig, samples, scene, corrected), (0, _PARTS))
    problem = BodyProblem(rig, samples, contacts, held_by)
    between = None
    if rig.held or settings.reduce:
        others = yield from relay(between_frames(rig, samples, scene, corrected), (0, _PARTS))
        between = BodyProblem(rig, others, contacts)
    yield 1, _PARTS
    states, _ = yield from relay(problem.path(scene, settings.smoothing), (1, _PARTS))
    kept, count = _kept(rig, ends, scene) if keep else ({}, 0)
    if count:
        warnings.append(f"Keys made by hand were kept at {count} frames.")
    making = body_keys(rig, problem, between, states, settings, ends, scene, kept)
    keys = yield from relay(making, (2, _PARTS))
    with ExitStack() as undo:
        first, last = (evaluated_time(scene, frame) for frame in ends)
        destination = Destination(first, last, within.made if within else None)
        where = BodyWriting(ends, destination, kind, bool(count))
        written = yield from relay(write_body(rig, keys, where, scene, view_layer, undo), (3, _PARTS))
        record_body(rig, (*ends, step), settings, destination.bag(kind, rig.armature, undo), undo)
        if settings.keys_on == "FK_SWITCH":
            track = Track.of(destination, kind, rig.armature, undo)
            yield from relay(follow_body(rig, ends, track, scene, view_layer, undo), (3, _PARTS))
        held = HeldPlaces.of(between or problem)
        planned = None if count else problem.planned(states, keys.times, Clock(scene, rig.armature))
        report = yield from relay(measure_body(rig, samples, held, scene, keys.allowed, planned), (4, _PARTS))
        report = with_floor(report, problem, samples.goals)
        if settings.mark_misses:
            for name, tip in report.tips.items():
                mark(scene, f"{rig.armature.name}: {name} misses", tip.missed, *ends, undo)
        view_layer.update()
        take_along_shown(rig, view_layer, undo)
        outside = problem.outside(states)
        if outside is not None and keys.outside is not None:
            outside = keys.outside
        yield _PARTS, _PARTS
        report = report._replace(
            keys=written,
            full_keys=max(keys.full, written) if settings.reduce else written,
            outside=outside,
            warnings=[*warnings, *samples.warnings, *report.warnings],
            seconds=perf_counter() - started,
        )
        Transaction.end(undo, within)
    return report


class BodyProblem:
    """A body to solve at all frames: its joints, its animation made by hand, and the tasks of its tips.

    `held_frames` (n, 3, 4, F) are the frames of the bones by which tips are held: at one place those
    that are planted, as animated the others, and in `contacts` where these are.
    """

    def __init__(
        self,
        rig: RigBody,
        samples: BodySamples,
        contacts: Contacts | None = None,
        animated: Animation | None = None,
    ) -> None:
        """Take a body as sampled; tips are held by the animation in the samples, or by another that is `animated`."""
        self.rig, self.samples, self.rest = rig, samples, BodyRest(rig)
        up = np.linalg.inv(samples.worlds[:3, :3, 0]) @ np.array((0.0, 0.0, 1.0))
        self.body: Body = self.rest.body(samples.channels, Vector(up))
        tree = self.body.tree
        self._ways = np.einsum("ijf,jk->ikf", samples.bases[:3, :3], np.array(self.rest.locating[0], float))
        self.reference = self._posed(samples.rotations, samples.locations)
        held_by = animated or Animation(samples.rotations, samples.locations, samples.shown)
        if held_by.shown is not None:
            self.held_frames = held_by.shown
        else:
            posed = self.reference if animated is None else self._posed(animated.rotations, animated.locations)
            self.held_frames = Geometry(tree, posed).frames
        self.held_frames = with_places(rig, self.held_frames, samples.places)
        if contacts:
            self.held_frames = with_contacts(self.body, contacts, rig.contact_fade, samples, self.held_frames)
            if contacts.ground and rig.hips_motion != "FIXED":
                self.reference = lifted(self.reference, contacts.ground, samples)
        self._stands = not rig.planted
        self._influence = {self.body.number_of[tip]: share for tip, share in samples.influence.items()}
        angle = min((limb.angle_tolerance for limb in rig.limbs), default=0.0)
        self.tasks: list[Task] = hold_tasks(self.body, rig.held, self.held_frames)
        self.tasks += body_tasks(self.body, samples.goals, angle)
        self._bound()

    def _bound(self) -> None:
        """Make the balance and the floor, of which what the reference itself exceeds is exempt, as a run."""
        begin, steady = Geometry(self.body.tree, self.reference), self.balance()
        self.steady = steady and steady.allowing(begin)
        self.floor: Floor | None = None
        if self.rig.floor:
            self.floor = floor_of(self.body, self.rig.held, self.held_frames, begin, self.samples.influence)

    def path(self, scene: Scene, smoothing: float = 0.0, tasks: Sequence[Task] | None = None) -> Work[BodyPath]:
        """Solve all frames together, at the frame rate of the scene; `tasks` are by default those of the problem."""
        fps, frames = scene.render.fps / scene.render.fps_base, self.samples.frames
        if len(frames) > 1:
            fps /= max(1.0, (frames[-1] - frames[0]) / (len(frames) - 1))
        yield from self.stand(fps)
        tree, tasks = self.body.tree, tasks or self.tasks
        more: dict[str, Any] = {"floor": self.floor, "smoothing": smoothing, "fps": fps}
        more["compliance"] = compliance_with_contacts(self.rig, tree, tasks)
        return (yield from faded_path(tree, self.reference, tasks, self._influence, self.steady, **more))

    def stand(self, fps: float = USUAL_FPS) -> Work[None]:
        """Bend the limbs of planted tips in the reference to where these stay: so the hips keep their animation."""
        if self._stands:
            return
        planted = hold_tasks(self.body, self.rig.planted, self.held_frames)
        self.reference = yield from standing(self.body, self.reference, planted, self._influence, fps)
        self._stands = True
        self._bound()

    def planned(self, states: States, times: Sequence[float], clock: Clock) -> Planned:
        """Return the frames of all bones in solved states, at the frames that are keyed at these times."""
        keyed, frames = set(times), self.samples.frames
        here = [k for k, frame in enumerate(frames) if clock.time(frame) in keyed]
        return Planned([frames[k] for k in here], Geometry(self.body.tree, states.take(here)).frames)

    def locations(self, states: States, columns: Columns = slice(None)) -> Numbers:
        """Return the location channels of the hips (3, F) in states of these frames, by default of all."""
        way = states.place - self.samples.bases[:3, 3, columns]
        ways = np.moveaxis(self._ways[..., columns], -1, 0)
        return np.asarray(np.linalg.solve(ways, way.T[:, :, None])[:, :, 0].T)

    def placed(self, locations: Numbers, columns: Columns) -> Numbers:
        """Return the place of the first joint's parent (3, m) at frames where the hips have these locations (3, m).

        Without locations (0, m) the hips are where the animation has them.
        """
        if not len(locations):
            return self.reference.place[:, columns]
        ways = np.einsum("ijf,jf->if", self._ways[..., columns], locations)
        return np.asarray(self.samples.bases[:3, 3, columns] + ways)

    def _posed(self, rotations: Numbers, locations: Numbers) -> States:
        """Return the states with these rotations (n, 4, F) of all joints and locations (3, F) of the hips."""
        bases, tree, count = self.samples.bases, self.body.tree, len(self.samples.frames)
        place = bases[:3, 3] + np.einsum("ijf,jf->if", self._ways, locations)
        none, rotations = (np.empty((0, count)), np.empty((0, 4, count))), np.ascontiguousarray(rotations)
        return tree.posed(rotations, States(*none, rotations[tree.held], bases[:3, :3], place))

    def outside(self, states: States) -> float | None:
        """Return how far the centre of mass is outside at most [Blender units]; None without balance."""
        steady = self.balance(0.0)
        if steady is None:
            return None
        return float(steady.measure(Geometry(self.body.tree, states)).off.max())

    def balance(self, margin: float = MARGIN) -> BalanceTask | None:
        """Return the task of keeping the balance with this margin; None without balance."""
        if not self.rig.balance:
            return None
        return balance_of(self.body, self.rig.held, self.held_frames, margin, self.samples.influence)


def body_channels(rig: RigBody, problem: BodyProblem, states: States) -> list[Channel]:
    """Return the rotation channels of all bones that move, and the location of hips that may."""
    rotations = problem.body.tree.rotations(states)
    runs = []
    for bone in moving_bones(rig, problem.body):
        row = rig.bones.index(bone.name)
        prop, _ = channel(bone)
        freedom = problem.body.joints[row].freedom
        turns = np.ascontiguousarray(rotations[row].T)
        values = run_of(turns, bone.rotation_mode, freedom, tuple(getattr(bone, prop)))
        stored = within_limits(bone.name, values, bone.rotation_mode, freedom)
        runs.append(Channel(bone.name, bone.path_from_id(prop), stored, keyed(bone)))
    if rig.hips_motion != "FIXED":
        runs.append(location_channel(rig.armature, rig.hips, problem.locations(states)))
    return runs


def _frames_of(
    rig: RigBody, settings: BodyKeySettings, scene: Scene, frame_start: int, frame_end: int, step: float
) -> Sequence[float]:
    """Return the frames at which a body is keyed. Raises AnimationError without any keys of its targets to bake at."""
    if not settings.only_target_keys:
        return frames_from(frame_start, frame_end, step)
    found: set[float] = set()
    for limb in rig.limbs:
        clock = Clock(scene, limb.target)
        times = key_frames(limb.target, limb.subtarget, *sorted(map(clock.time, (frame_start, frame_end))))
        found |= {round(clock.frame(time), 3) for time in times}
    if not found:
        raise AnimationError(
            f"The targets of the body have no keys from frame {frame_start} to {frame_end}. "
            "Turn off Only at Target's Keys."
        )
    return sorted(found)


def _before_corrections(
    rig: RigBody, samples: BodySamples, scene: Scene, corrected: tuple[float, float] | None
) -> Work[Animation | None]:
    """Return the animation without keys that correct the last bake: these do not move the places to hold."""
    if corrected is None:
        return None
    if samples.shown is not None:
        return (yield from read_animation(rig, scene, samples.frames, samples.bases, corrected))
    yield
    return Animation(*body_by_hand(rig, samples.frames, scene, corrected))


def _kept(rig: RigBody, ends: tuple[float, float], scene: Scene) -> tuple[Mapping[str, ByHand], int]:
    """Return the rotation keys made by hand between two frames, and at how many frames there are any to keep."""
    times = [*map(Clock(scene, rig.armature).time, ends)]
    kept = made_by_hand(rig.armature, rig.bones, *times)
    located = located_by_hand(rig.armature, rig.hips, *times) if rig.hips_motion != "FIXED" else []
    return kept, len({*located, *(time for keys in kept.values() for time in keys)})
