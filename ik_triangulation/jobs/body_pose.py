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
from ..rig.frames.body_frames import lengths_of, matrices_of, shown_frames
from ..rig.frames.body_samples import BodySamples, body_now, with_shown
from ..rig.hips import check_hips
from ..rig.keyframes import check_keys
from ..rig.nla import check_nla
from ..rig.posed import remember_location
from ..rig.waiting import take_along_shown
from .body_floor import with_floor
from .body_keys import body_channels
from .body_problem import BodyProblem
from .body_report import BodyReport, BodyTipReport, slips_and_turns, tip_missing
from .contact_frames import read_contacts
from .judgement import held_tolerances
from .transaction import Undo
from .writing import write_pose


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
    with Undo() as undo:
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
    frame = problem.samples.frames[0]
    keys = write_pose(rig, body_channels(rig, problem, states), frame, key, scene, view_layer, undo)
    if rig.hips_motion != "FIXED":
        hips = rig.armature.pose.bones[rig.hips]
        remember_location(hips, problem.samples.locations[:, 0].tolist(), undo)
    view_layer.update()
    return keys


def measure_body_pose(rig: RigBody, samples: BodySamples, problem: BodyProblem, depsgraph: Depsgraph) -> BodyReport:
    """Measure all tips as they are evaluated."""
    bones = rig.armature.evaluated_get(depsgraph).pose.bones
    tips, sizes, frame = {}, lengths_of(rig), samples.frames[0]
    shown = shown_frames(matrices_of(rig.armature.evaluated_get(depsgraph), rig.bones)[..., None], sizes)
    for name in rig.held:
        row = rig.bones.index(name)
        slips, turns = slips_and_turns(shown[row], problem.held_frames[row], sizes[row])
        tolerances, due = held_tolerances(rig, name, problem.body.reach(name)), samples.influence[name] == 1.0
        tips[name] = BodyTipReport.judged((slips, turns), tolerances, [frame], counted=due)
    for limb in rig.limbs:
        goal, due = samples.goals[limb.tip][0], samples.influence[limb.tip] == 1.0
        distances, angles = np.array([tip_missing(goal, bones, limb.tip)]).T
        tolerances = goal.tolerance, limb.angle_tolerance
        tips[limb.tip] = BodyTipReport.judged((distances, angles), tolerances, [frame], goal, due)
    return with_floor(BodyReport(tips, samples.frames), problem, samples.goals)
