# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of a limb or a whole body at the present frame, and the check of where Blender shows tips at any frames."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, Scene, ViewLayer

from ..cooperative import finished
from ..errors import ChainError
from ..kinematics.batch import States
from ..rig.armature import Bones
from ..rig.body import RigBody
from ..rig.by_hand.keys import check_hips, remember_location
from ..rig.checks import broken_drivers, check_limb, check_range
from ..rig.frames.body_frames import lengths_of, matrices_of, shown_frames
from ..rig.frames.body_samples import BodySamples, body_now, with_shown
from ..rig.frames.reader import Evaluator
from ..rig.frames.samples import sample, tip_location
from ..rig.freedom import limit_notes
from ..rig.keyframes import check_keys
from ..rig.limb import Limb, enabled_tips
from ..rig.targets.goal import GoalReader
from ..rig.targets.surface import FieldBehind
from ..rig.targets.untouched import check_body_limbs, is_waiting, take_along_shown
from ..rig.timeline import check_nla, frames_from
from .shots.frame_solver import FrameResult, JudgedFrames, SolvedFrame, at_frame, outside
from .shots.keys import WrittenKeys, body_channels, pose_channels
from .shots.measure import Watch, held_tolerances, judged_at, measure_now, moved_inside, report_of, worst_place
from .shots.natural_shot import solve_among_others, solve_frames
from .shots.problem import BodyProblem, read_problem
from .shots.report import Report, TipReport, tip_of_frames
from .shots.tips import judged_tip, report_of_body, slips_and_turns, tip_missing, warnings_of, with_floor
from .shots.writing import Undo, write_pose


def solve_pose(
    limb: Limb, scene: Scene | None = None, view_layer: ViewLayer | None = None, key: bool = False
) -> Report:
    """Pose the limb so that its tip reaches the target at the present frame; with `key` the rotations are keyed there.

    Works in `scene` and `view_layer`, by default the context's. Raises an IKError that names the culprit.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_limb(limb, scene, view_layer)
    frame = scene.frame_current + scene.frame_subframe
    warnings = check_keys(limb.armature, limb.in_order) if key else []
    warnings += limit_notes(limb.pose_bones)
    if key:
        check_nla(limb.armature, scene, frame, frame)
    bones, watch = Bones(limb.armature, limb.bones, limb.solved), Watch(limb)
    now = sample(limb, view_layer.depsgraph, frame)
    warnings += [*broken_drivers(limb, view_layer.depsgraph), *moved_inside(outside(bones, now), now.frame)]
    solved = solve_among_others(limb, bones, now, scene, view_layer)
    if not isinstance(solved, SolvedFrame):
        (solved,) = solve_frames(limb, bones, [now], scene)
    with Undo() as undo:
        keys = write_pose(limb, pose_channels(limb, solved), frame, key, scene, view_layer, undo)
        view_layer.update()
        measured = measure_now(watch, solved, view_layer.depsgraph, scene)
        written = WrittenKeys(keys, keys, [0])
        report = report_of(limb, [solved], perf_counter() - started, written, warnings, measured=measured)
        undo.pop_all()
    return report


def solve_body_pose(
    rig: RigBody, scene: Scene | None = None, view_layer: ViewLayer | None = None, key: bool = False
) -> Report:
    """Pose a body at the present frame so that its limbs reach while held tips stay; with `key` it is keyed there.

    Works in `scene` and `view_layer`, by default the context's. Held tips stay where they are planted, or where the
    animation made by hand has them. Raises an IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    warnings = check_body(rig, scene, view_layer, key)
    frame = scene.frame_current + scene.frame_subframe
    samples = with_shown(rig, body_now(rig, view_layer.depsgraph, frame, scene), scene, view_layer)
    problem = finished(read_problem(rig, samples, scene))
    states, _ = finished(problem.path(scene))
    with Undo() as undo:
        keys = write_body_pose(rig, problem, states, key, scene, view_layer, undo)
        report = measure_body_pose(rig, samples, problem, view_layer.depsgraph)
        take_along_shown(rig, view_layer, undo)
        warnings += warnings_of(problem, states)
        report = replace(report, keys=keys, outside=problem.outside(states), warnings=warnings)
        undo.pop_all()
    return replace(report, seconds=perf_counter() - started)


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
    keys = write_pose(rig, body_channels(problem, states), frame, key, scene, view_layer, undo)
    if rig.hips_motion != "FIXED":
        hips = rig.armature.pose.bones[rig.hips]
        remember_location(hips, problem.samples.locations[:, 0].tolist(), undo)
    view_layer.update()
    return keys


def measure_body_pose(rig: RigBody, samples: BodySamples, problem: BodyProblem, depsgraph: Depsgraph) -> Report:
    """Measure all tips as they are evaluated."""
    bones = rig.armature.evaluated_get(depsgraph).pose.bones
    tips, sizes, frame = {}, lengths_of(rig), samples.frames[0]
    shown = shown_frames(rig, matrices_of(rig.armature.evaluated_get(depsgraph), rig.bones)[..., None])
    for name in rig.held:
        row = rig.bones.index(name)
        slips, turns = slips_and_turns(
            shown[row], problem.held_places.foot(row, name, shown, rig.ball(name)), sizes[row]
        )
        tolerances, due = held_tolerances(rig, name, problem.body.reach(name)), samples.influence[name] == 1.0
        tips[name] = judged_tip(rig, name, (slips, turns), tolerances, [frame], counted=due)
    for limb in rig.limbs:
        goal, due = samples.goals[limb.tip][0], samples.influence[limb.tip] == 1.0
        distances, angles = np.array([tip_missing(goal, bones, limb.tip)]).T
        tolerances = goal.tolerance, limb.angle_tolerance
        tips[limb.tip] = judged_tip(rig, limb.tip, (distances, angles), tolerances, [frame], goal, due)
    return with_floor(report_of_body(rig, tips, samples.frames), problem, samples.goals)


def verify(
    armature: Object,
    frame_start: int,
    frame_end: int,
    step: float = 1,
    *,
    tips: Sequence[str] | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> dict[str, TipReport]:
    """Return, by tip, where limbs of a rig are at these frames, measured on what Blender shows: `tips` or all enabled.

    That is true of any animation, whoever made it. Limbs of generated rigs are measured by the deform bones that follow
    them too. Targets that were made and not moved yet ask for nothing, and held tips without a target are judged by
    their bake: neither is in the result. Raises ChainError if no limb has a target that asks for something, and
    SettingError for a range without frames.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    check_range(scene, frame_start, frame_end, step)
    frames = frames_from(frame_start, frame_end, step)
    bones = armature.pose.bones
    names = enabled_tips(armature) if tips is None else tips
    limbs = [Limb.of(bones[name]) for name in names if not is_waiting(bones[name])]
    if not limbs:
        raise ChainError(f"No target of '{armature.name}' has been moved. Move one, or key it.")
    for limb in limbs:
        check_limb(limb, scene, view_layer, carried=True)
    seen = {limb.tip: _look(limb, frames, scene, view_layer) for limb in limbs}
    return {tip: tip_of_frames(armature.name, tip, JudgedFrames.of(found)) for tip, found in seen.items()}


def _look(limb: Limb, frames: Sequence[float], scene: Scene, view_layer: ViewLayer) -> list[FrameResult]:
    """Return the tip at each of these frames, as evaluated."""
    led = FieldBehind()
    watch, goals, bones = Watch(limb), GoalReader(), Bones(limb.armature, limb.bones, limb.solved)

    def look(depsgraph: Depsgraph, frame: float) -> FrameResult:
        now = sample(limb, depsgraph, frame)
        if now.flow is not None:
            now = now._replace(target=led.go(now.flow, frame, tip_location(limb, depsgraph)))
        pose = at_frame(now, bones)
        goal = goals.at(now, pose)
        return judged_at(now, goal, worst_place(now, goal, watch.look(depsgraph).places), pose)

    found = finished(Evaluator(limb, scene, view_layer, frames).evaluate(frames, look))
    return [found[frame] for frame in frames]
