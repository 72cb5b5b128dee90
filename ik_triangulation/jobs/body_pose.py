# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of a whole body at the present frame, as it is shown: read, solve, check, write."""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter

import bpy
import numpy as np
from bpy.types import Depsgraph, Scene, ViewLayer

from ..cooperative import finished
from ..kinematics.batch import States
from ..rig.body import RigBody
from ..rig.carriers import check_body_limbs
from ..rig.clock import Clock
from ..rig.frames.body_frames import lengths_of, matrices_of, shown_frames
from ..rig.frames.body_samples import BodySamples, body_now, with_shown
from ..rig.hips import check_hips
from ..rig.keyframes import Channel, check_keys, write_keys
from ..rig.nla import check_nla
from ..rig.posed import remember_location, remember_written
from ..rig.reference import hold_reference
from ..rig.rotation import channel, set_rotation
from ..rig.waiting import take_along_shown
from .body_floor import with_floor
from .body_keys import body_channels
from .body_problem import BodyProblem
from .body_report import BodyReport, BodyTipReport, slips_and_turns, tip_missing
from .contact_frames import read_contacts
from .judgement import held_tolerances, is_within


def solve_body_pose(
    rig: RigBody, scene: Scene | None = None, view_layer: ViewLayer | None = None, key: bool = False
) -> BodyReport:
    """Pose a body at the present frame so that its limbs reach while held tips stay; with `key` it is keyed there.

    Works in `scene` and `view_layer`, by default the context's. Held tips stay where they are planted, or where the
    animation made by hand has them. Raises an IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    warnings = check_body(rig, scene, view_layer, key)
    frame = scene.frame_current + scene.frame_subframe
    samples = with_shown(rig, body_now(rig, view_layer.depsgraph, frame, scene), scene, view_layer)
    problem = BodyProblem(rig, samples, finished(read_contacts(rig, scene, [frame])))
    states, _ = finished(problem.path(scene))
    with ExitStack() as undo:
        keys = write_body_pose(rig, problem, states, key, scene, view_layer, undo)
        report = measure_body_pose(rig, samples, problem, view_layer.depsgraph)
        take_along_shown(rig, view_layer, undo)
        report = report._replace(keys=keys, outside=problem.outside(states), warnings=warnings)
        undo.pop_all()
    return report._replace(seconds=perf_counter() - started)


def check_body(rig: RigBody, scene: Scene, view_layer: ViewLayer, key: bool) -> list[str]:
    """Raise the IKError that explains why a body cannot be posed, or with `key` keyed, now; return warnings."""
    view_layer.update()
    check_body_limbs(rig, scene, view_layer)
    if not key:
        return []
    frame = scene.frame_current + scene.frame_subframe
    check_hips(rig.armature, rig.hips)
    check_nla(rig.armature, scene, frame, frame)
    return check_keys(rig.armature, rig.bones)


def write_body_pose(
    rig: RigBody,
    problem: BodyProblem,
    states: States,
    key: bool,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> int:
    """Pose the bones, and with `key` key them; return the number of keys. Closing `undo` restores everything."""
    armature, hips = rig.armature, rig.armature.pose.bones[rig.hips]
    time = Clock(scene, armature).time(problem.samples.frames[0])
    hold_reference(rig.pose_bones, scene, undo)
    runs = body_channels(rig, problem, states)
    keys = finished(write_keys(armature, runs, [time], time, time, view_layer, undo)) if key else 0
    for run in runs:
        _put(armature, run, undo)
    remember_written(armature.pose.bones[name] for name in {run.bone for run in runs})
    if rig.hips_motion != "FIXED":
        remember_location(hips, problem.samples.locations[:, 0].tolist(), undo)
    view_layer.update()
    return keys


def _put(armature: bpy.types.Object, run: Channel, undo: ExitStack) -> None:
    """Set the channels of a bone; closing `undo` restores them."""
    bone = armature.pose.bones[run.bone]
    values = run.values[0].tolist()
    if run.path.endswith("location"):
        undo.callback(setattr, bone, "location", tuple(bone.location))
        bone.location = [values[i] if i in run.indices else old for i, old in enumerate(bone.location)]
    else:
        undo.callback(set_rotation, bone, tuple(getattr(bone, channel(bone)[0])))
        set_rotation(bone, values)


def measure_body_pose(rig: RigBody, samples: BodySamples, problem: BodyProblem, depsgraph: Depsgraph) -> BodyReport:
    """Measure all tips as they are evaluated."""
    bones = rig.armature.evaluated_get(depsgraph).pose.bones
    tips, sizes, frame = {}, lengths_of(rig), samples.frames[0]
    shown = shown_frames(matrices_of(rig.armature.evaluated_get(depsgraph), rig.bones)[..., None], sizes)
    for name in rig.held:
        row = rig.bones.index(name)
        slips, turns = slips_and_turns(shown[row], problem.held_frames[row], sizes[row])
        slip, turn = held_tolerances(rig, name, problem.body.reach(name))
        due = samples.influence[name][0] == 1.0
        missed = due and not is_within(slips, slip, turns, turn)[0]
        tips[name] = BodyTipReport.of((slips, turns), [frame], [frame] if missed else [])
    for limb in rig.limbs:
        goal = samples.goals[limb.tip][0]
        distances, angles = np.array([tip_missing(goal, bones, limb.tip)]).T
        due = samples.influence[limb.tip][0] == 1.0
        missed = due and not is_within(distances, goal.tolerance, angles, limb.angle_tolerance)[0]
        tips[limb.tip] = BodyTipReport.of((distances, angles), [frame], [frame] if missed else [], goal)
    return with_floor(BodyReport(tips, samples.frames), problem, samples.goals)
