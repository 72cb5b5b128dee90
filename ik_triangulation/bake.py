# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve a limb at the present frame, or bake it over a range: read, solve, check, write.

Both plan and solve everything before the first write, and leave the file as it was if anything fails.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import perf_counter

import bpy
from bpy.types import Object, Scene, ViewLayer
from mathutils import Vector

from .blender.armature import Bones
from .blender.checks import check_apart, check_limb, check_range
from .blender.freedom import keyed
from .blender.gate import within_limits
from .blender.keyframes import Channel, check_keys, curves_of, values_before, write_keys
from .blender.limb import Limb
from .blender.rotation import channel, run_of, set_rotation
from .blender.sampling import go_to, sample, samples, stage, tip_location
from .follow import Solved, follow, outside
from .kinematics import Locked
from .report import FrameResult, Report

AGREES = 1e-4  # of the reach: what the evaluated and the predicted tip may differ by without a warning

Progress = Callable[[int, int], None]  # frames done, frames in all


def solve_pose(
    limb: Limb, scene: Scene | None = None, view_layer: ViewLayer | None = None, key: bool = False
) -> Report:
    """Pose the limb so that its tip reaches the target at the present frame; with `key` the rotations are keyed there.

    Works in `scene` and `view_layer`, by default the context's. Raises an IKError that says what is in the way.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_limb(limb, scene, view_layer)
    warnings = check_keys(limb.armature, limb.in_order) if key else []
    bones = Bones(limb.armature, limb.bones, limb.solved)
    now = sample(limb, view_layer.depsgraph, scene.frame_current_final)
    warnings += _moved_inside(outside(limb, bones, now), now.frame)
    solved = list(follow(limb, bones, [now]))
    runs = _runs(limb, solved, {})
    with ExitStack() as undo:
        keys = write_keys(limb.armature, runs, [now.frame], now.frame, now.frame, view_layer, undo) if key else 0
        for run in runs:
            _put(limb.armature, run, run.values[0], undo)
        view_layer.update()
        warnings += _disagreement(limb, solved[0], tip_location(limb, view_layer.depsgraph))
        undo.pop_all()
    return _report(limb, solved, perf_counter() - started, keys, warnings)


def bake(
    limb: Limb,
    frame_start: int,
    frame_end: int,
    step: int = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    progress: Progress | None = None,
) -> Report:
    """Key the limb's rotations from `frame_start` to `frame_end`, every `step` frames: its tip follows the target.

    Rotation keys of these bones inside the range are replaced; everything else stays: other keys, the present frame,
    and poses that are not keyed. Each frame starts from the solution of the one before. Raises an IKError that says
    what is in the way; then, and if `progress` raises, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_range(scene, frame_start, frame_end, step)
    check_limb(limb, scene, view_layer)
    check_apart(limb)
    warnings = check_keys(limb.armature, limb.in_order)
    frames = range(frame_start, frame_end + 1, step)
    bones = Bones(limb.armature, limb.bones, limb.solved)
    solved: list[Solved] = []
    with stage(limb, scene) as staged, ExitStack() as undo, _no_garbage_collection():
        for result in follow(limb, bones, samples(limb, staged, frames)):
            solved.append(result)
            if progress:
                progress(len(solved), len(frames))
        warnings += _moved_inside(outside(limb, bones, solved[0].now), frame_start)
        before = {name: _before(limb.armature, name, frame_start) for name in limb.in_order}
        runs = _runs(limb, solved, before)
        keys = write_keys(limb.armature, runs, frames, frame_start, frame_end, view_layer, undo)
        for result in (solved[0], solved[len(solved) // 2], solved[-1]):
            warnings += _disagreement(limb, result, tip_location(limb, go_to(staged, result.now.frame)))
        _show(limb.armature, runs, scene.frame_current_final, undo)
        undo.pop_all()
    view_layer.update()
    return _report(limb, solved, perf_counter() - started, keys, list(dict.fromkeys(warnings)))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A bake leaves no cycles behind, and walking over all of Blender's Python objects takes a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _runs(limb: Limb, solved: Sequence[Solved], before: dict[str, tuple[float, ...]]) -> list[Channel]:
    """Channel values of every solved bone over all frames, each running on from the ones before."""
    runs = []
    # Frames at which something is scaled have joints for bones that cannot turn as well.
    places = [{joint.name: i for i, joint in enumerate(result.pose.chain.joints)} for result in solved]
    for joint in solved[0].pose.chain.joints:
        if isinstance(joint.freedom, Locked) or not all(joint.name in place for place in places):
            continue
        bone = limb.armature.pose.bones[joint.name]
        prop, _ = channel(bone)
        found = [(result.pose, place[joint.name]) for result, place in zip(solved, places, strict=True)]
        rotations = [pose.rotations[i] for pose, i in found]
        freedoms = [pose.chain.joints[i].freedom for pose, i in found]
        values = run_of(rotations, bone.rotation_mode, freedoms, before.get(joint.name) or tuple(getattr(bone, prop)))
        values = within_limits(joint.name, values, bone.rotation_mode, freedoms)
        runs.append(Channel(joint.name, bone.path_from_id(prop), values, keyed(bone)))
    return runs


def _before(armature: Object, name: str, frame: float) -> tuple[float, ...]:
    """Channel values of the last keys before `frame`; where there are none, the present ones."""
    bone = armature.pose.bones[name]
    prop, _ = channel(bone)
    keyed_values = values_before(armature, bone.path_from_id(prop), frame)
    return tuple(keyed_values.get(index, value) for index, value in enumerate(getattr(bone, prop)))


def _show(armature: Object, runs: Sequence[Channel], frame: float, undo: ExitStack) -> None:
    """Pose the baked bones as their curves say, which Blender would only do at the next change of frame."""
    curves = {(curve.data_path, curve.array_index): curve for curve in curves_of(armature)}
    for run in runs:
        bone = armature.pose.bones[run.bone]
        prop, _ = channel(bone)
        values = list(getattr(bone, prop))
        for index in run.indices:
            values[index] = curves[run.path, index].evaluate(frame)
        _put(armature, run, values, undo)


def _put(armature: Object, run: Channel, values: Sequence[float], undo: ExitStack) -> None:
    """Give a bone these rotation channels; closing `undo` gives it back those it had."""
    bone = armature.pose.bones[run.bone]
    undo.callback(set_rotation, bone, tuple(getattr(bone, channel(bone)[0])))
    set_rotation(bone, values)


def _disagreement(limb: Limb, result: Solved, evaluated: Vector) -> list[str]:
    """A warning if Blender puts the tip (world space) elsewhere than the solution does, with what may be the reason."""
    apart = (result.now.rig.into @ evaluated - result.pose.tip).length
    if apart <= AGREES * result.pose.chain.reach:
        return []
    for name in limb.bones:
        for constraint in limb.armature.pose.bones[name].constraints:
            if constraint.enabled and constraint.influence > 0.0:
                return [
                    f"Constraint '{constraint.name}' on '{name}' moves the tip {apart:.3g} away from the solution. "
                    "Mute it."
                ]
    return [f"Something else moves the tip of '{limb.tip}' {apart:.3g} away from the solution (NLA, drivers)."]


def _report(limb: Limb, solved: Sequence[Solved], seconds: float, keys: int, warnings: Sequence[str]) -> Report:
    results = []
    for now, goal, solution, _ in solved:
        world, tip = now.rig.world, solution.pose.tip
        error = (world @ tip - world @ goal.target.closest(tip)).length
        results.append(
            FrameResult(now.frame, error, error <= limb.tolerance, solution.iterations, solution.pose, goal.soft)
        )
    return Report(
        limb.armature.name, limb.tip, limb.target_name, limb.solver, limb.tolerance, results, seconds, keys, warnings
    )


def _moved_inside(names: Sequence[str], frame: float) -> list[str]:
    """A warning about bones that stood outside their limits."""
    if not names:
        return []
    bones = ", ".join(f"'{name}'" for name in names)
    return [f"{bones} stood outside the limits at frame {frame:g} and had to be moved inside."]
