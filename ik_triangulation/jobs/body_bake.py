# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of a whole body: all of its limbs at once, rotations of its bones and the place of its hips."""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter

import bpy
import numpy as np
from bpy.types import Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, Work, cooperative, relay
from ..goals.batch import BalanceTask, Task
from ..goals.batch.of_bodies import MARGIN, balance_of, body_tasks, hold_tasks
from ..kinematics import Body
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States
from ..motion.body_path import BodyPath
from ..motion.faded_path import faded_path
from ..rig.body import BodyRest, RigBody, moving_bones
from ..rig.channel_runs import run_of
from ..rig.checks import check_armature, check_limb, check_range
from ..rig.clock import Clock
from ..rig.frames.body_samples import BodySamples, read_body
from ..rig.freedom import keyed
from ..rig.hips import check_hips, keep_replaced_location, location_channel, place_before_bake
from ..rig.keyframes import GENERATED, AnimatedValues, Channel, check_keys, ensure_channelbag, replace_keys
from ..rig.limit_check import within_limits
from ..rig.nla import check_nla
from ..rig.posed import remember_location, remember_place, remember_written
from ..rig.reference import hold_reference, keep_replaced
from ..rig.rotation import channel
from .body_report import BodyReport, measure_body
from .contact_frames import Contacts, compliance_with_contacts, read_contacts, with_contacts


@cooperative
def bake_body(
    rig: RigBody,
    frame_start: int,
    frame_end: int,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[BodyReport]:
    """Key all bones of a body from `frame_start` to `frame_end`, so that its limbs reach while held tips stay.

    Rotation keys of its bones and location keys of its hips inside the range are replaced by generated ones on every
    frame; everything else stays: other keys, the present frame, and poses that are not keyed. Raises an IKError that
    names the culprit; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started, frames = perf_counter(), range(frame_start, frame_end + 1)
    view_layer.update()
    check_range(scene, frame_start, frame_end, 1)
    check_armature(rig.armature, view_layer)
    for limb in rig.limbs:
        check_limb(limb, scene, view_layer)
    warnings = check_keys(rig.armature, rig.bones)
    check_hips(rig.armature, rig.hips)
    check_nla(rig.armature, scene, frame_start, frame_end)
    parts = 4
    yield 0, parts
    samples = yield from relay(read_body(rig, scene, frames), (0, parts))
    contacts = yield from relay(read_contacts(rig, scene, frames), (0, parts))
    problem = BodyProblem(rig, samples, contacts)
    yield 1, parts
    states, _ = yield from relay(problem.path(scene), (1, parts))
    with ExitStack() as undo:
        keys = yield from relay(_written(rig, problem, states, scene, view_layer, undo), (2, parts))
        report = yield from relay(measure_body(rig, samples, problem.held_frames, scene), (3, parts))
        undo.pop_all()
    view_layer.update()
    outside = problem.outside(states)
    yield parts, parts
    return report._replace(keys=keys, outside=outside, warnings=warnings, seconds=perf_counter() - started)


class BodyProblem:
    """A body to solve at all frames: its joints, its animation made by hand, and the tasks of its tips.

    `held_frames` (n, 3, 4, F) are the frames of the bones by which tips are held: as animated, in `contacts` planted.
    """

    def __init__(self, rig: RigBody, samples: BodySamples, contacts: Contacts | None = None) -> None:
        self.rig, self.samples, self.rest = rig, samples, BodyRest(rig)
        up = np.linalg.inv(samples.worlds[:3, :3, 0]) @ np.array((0.0, 0.0, 1.0))
        self.body: Body = self.rest.body(samples.channels, Vector(up))
        tree = self.body.tree
        roots, count = samples.bases[:3, :3], len(samples.frames)
        self._ways = np.einsum("ijf,jk->ikf", roots, np.array(self.rest.locating[0], float))
        place = samples.bases[:3, 3] + np.einsum("ijf,jf->if", self._ways, samples.locations)
        none = np.empty((0, count)), np.empty((0, 4, count))
        rotations = np.ascontiguousarray(samples.rotations)
        self.reference = tree.posed(rotations, States(*none, rotations[tree.held], roots, place))
        self.held_frames = Geometry(tree, self.reference).frames
        if contacts:
            self.held_frames = with_contacts(self.body, contacts, rig.contact_fade, samples, self.held_frames)
        angle = min((limb.angle_tolerance for limb in rig.limbs), default=0.0)
        self.tasks: list[Task] = hold_tasks(self.body, rig.held, self.held_frames)
        self.tasks += body_tasks(self.body, samples.goals, angle)
        self.steady = self._balance()

    def path(self, scene: Scene) -> Work[BodyPath]:
        """Solve all frames together, at the frame rate of the scene."""
        fps = scene.render.fps / scene.render.fps_base
        tree, tasks = self.body.tree, self.tasks
        influence = {self.body.number_of[tip]: share for tip, share in self.samples.influence.items()}
        compliance = compliance_with_contacts(self.rig, tree, tasks)
        return faded_path(tree, self.reference, tasks, influence, self.steady, compliance=compliance, fps=fps)

    def locations(self, states: States) -> Numbers:
        """Return the location channels of the hips (3, F)."""
        way = states.place - self.samples.bases[:3, 3]
        return np.asarray(np.linalg.solve(np.moveaxis(self._ways, -1, 0), way.T[:, :, None])[:, :, 0].T)

    def outside(self, states: States) -> float | None:
        """Return how far the centre of mass is outside at most [Blender units]; None without balance."""
        steady = self._balance(0.0)
        if steady is None:
            return None
        return float(steady.measure(Geometry(self.body.tree, states)).off.max())

    def _balance(self, margin: float = MARGIN) -> BalanceTask | None:
        if not self.rig.balance:
            return None
        return balance_of(self.body, self.rig.held, self.held_frames, margin, self.samples.influence)


def _written(
    rig: RigBody, problem: BodyProblem, states: States, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> Work[int]:
    """Write the keys of all bones, and let Blender evaluate them once; closing `undo` restores everything."""
    armature, frames = rig.armature, problem.samples.frames
    clock = Clock(scene, armature)
    times = [clock.time(frame) for frame in frames]
    ends = times[0], times[-1]
    bones = list(moving_bones(rig, problem.body))
    hold_reference(rig.pose_bones, scene, undo)
    runs = body_channels(rig, problem, states)
    located = rig.hips_motion != "FIXED"
    yield
    saved = AnimatedValues(armature, [run.path for run in runs])
    undo.callback(saved.update_and_restore, view_layer)
    bag = ensure_channelbag(armature, undo)
    keep_replaced(rig, runs[: len(runs) - located], bag, ends, scene, undo, keep=False)
    if located:
        place = place_before_bake(armature, rig.hips, bag)
        keep_replaced_location(armature, rig.hips, bag, ends, undo)
        remember_location(armature.pose.bones[rig.hips], place, undo)
    count: int = yield from replace_keys(bag, runs, times, *ends, undo, kind=GENERATED)
    saved.update_and_restore(view_layer, [(run.path, index) for run in runs for index in run.indices])
    remember_written(bones)
    remember_place(bones)
    yield
    return count


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
