# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of solvers on a limb: their costs on its frames, and the pose of one of them as a preview."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

import bpy
from bpy.types import Scene, ViewLayer
from mathutils import Quaternion, Vector

from ..cooperative import Job, cooperative, finished, relay
from ..errors import SettingError
from ..goals import Goal
from ..kinematics import Pose
from ..rig.armature import Bones
from ..rig.by_hand.reference import reference_rotations
from ..rig.checks import check_limb
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import Sample, sample
from ..rig.limb import Limb, saved_range
from ..rig.targets.goal import GoalReader
from ..rig.timeline import frames_from
from ..solvers import SOLVERS
from ..solvers.compare import SolverResult, compare_all
from .bake_wave import kept_last
from .shots.frame_solver import NATURAL, SolvedFrame, at_frame, solver_settings
from .shots.natural_shot import is_at, is_moving, solve_among_others, solve_frames
from .shots.shot import SolvedShot, solve_together

_FRAMES = 1000  # more take too long for a preview


@cooperative
def compare(
    limb: Limb,
    frames: Sequence[int] | None = None,
    solvers: Iterable[str] = tuple(SOLVERS),
    by: str = "naturalness",
    from_rest: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    references: Sequence[Sequence[Quaternion]] | None = None,
    seconds: float = inf,
) -> Job[list[SolverResult]]:
    """Return a result for each solver, the lowest cost `by` first: each solves from the pose shown to the target.

    With `from_rest` each starts with the joints at rest instead. At the present frame, or summed up at each of
    `frames`. Naturalness is that of solvers.compare; `references` has for each frame the rotations of the solved
    joints in the pose that it is judged by, by default the one that somebody made by hand. Nothing is posed or keyed.
    Errors and travel are in armature space. A step is one solve; no more frames are read at once than can be in about
    that many `seconds`. Raises an IKError that names the culprit.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    if frames is not None and not frames:
        raise SettingError("There is no frame to compare at. Give one at least.")
    view_layer.update()
    check_limb(limb, scene, view_layer)
    solvers, samples = list(solvers), []
    if frames is None:
        samples.append(sample(limb, view_layer.depsgraph, scene.frame_current + scene.frame_subframe))
    else:
        waiting = 0, len(frames) * len(solvers)
        reader = FrameReader(limb, scene, view_layer, frames)
        for now in (yield from relay(reader.read(seconds, posed=True), waiting)):
            samples.append(now)
            yield waiting
    goals = [*_tasks(Bones(limb.armature, limb.bones, limb.solved), samples, from_rest)]
    if references is None and not from_rest:
        references = _references(limb, [start for start, _ in goals], [now.frame for now in samples], scene)
    judged = {"by": by, "references": references, "of_body": _of_body(limb)}
    return (yield from compare_all.steps(goals, solvers, solver_settings(replace(limb, solver=NATURAL)), **judged))


def _tasks(bones: Bones, samples: Iterable[Sample], from_rest: bool) -> Iterator[tuple[Pose, Goal]]:
    """Yield the sampled pose and the goal of each sample, armature space; raises as follow() does.

    With `from_rest` the joints are at rest instead.
    """
    goals = GoalReader()
    for now in samples:
        start = at_frame(now, bones)
        goal = goals.at(now, start)
        yield Pose(start.chain, start.base, [Quaternion() for _ in start.rotations]) if from_rest else start, goal


def _references(limb: Limb, starts: Sequence[Pose], frames: Sequence[float], scene: Scene) -> list[list[Quaternion]]:
    """Return the rotations of each start's joints in the pose that somebody made by hand."""
    rotations, rows = reference_rotations(limb, frames, scene), {name: row for row, name in enumerate(limb.bones)}
    last = rotations.shape[-1] - 1
    return [
        [Quaternion(rotations[rows[joint.name], :, min(k, last)]) for joint in start.chain.joints]
        for k, start in enumerate(starts)
    ]


def _of_body(limb: Limb) -> bool:
    """Tell whether a limb may be an arm or a leg: not if it was recognised as something else."""
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)  # None: not registered
    return stored is None or stored.body_part in {"NONE", "ARM", "LEG"}


def preview(limb: Limb, solver: str, scene: Scene | None = None, view_layer: ViewLayer | None = None) -> list[Vector]:
    """Return the locations of the joints and, last, of the tip as this solver solves the present frame; world space.

    A frame of the limb's range is solved as a bake would. Nothing is posed. Raises an IKError that names the culprit.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = replace(limb, solver=solver)
    view_layer.update()
    check_limb(limb, scene, view_layer)
    now = sample(limb, view_layer.depsgraph, scene.frame_current + scene.frame_subframe)
    bones = Bones(limb.armature, limb.bones, limb.solved)
    solved = _as_baked(limb, bones, now, scene, view_layer)
    if solved is None:
        (solved,) = solve_frames(limb, bones, [now], scene)
    pose = solved.pose
    return [now.rig.world @ point for point in (*map(pose.head, range(len(pose))), pose.tip)]


def _as_baked(limb: Limb, bones: Bones, now: Sample, scene: Scene, view_layer: ViewLayer) -> SolvedFrame | None:
    """Return the present frame as a bake over the limb's range solves it; None where it is a frame on its own."""
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)  # None: not registered
    if limb.solver == NATURAL:
        solved = solve_among_others(limb, bones, now, scene, view_layer)
        return solved if isinstance(solved, SolvedFrame) else None
    if stored is None or limb.start_from != "PREVIOUS" or limb.influence != 1.0:
        return None
    first, last, step = saved_range(stored, scene, scene.use_preview_range)
    frames = frames_from(first, last, step)
    if now.frame not in frames or not 1 < len(frames) <= _FRAMES:
        return None
    reader = FrameReader(limb, scene, view_layer, frames)
    if reader.stepped:
        return None
    samples, at = finished(reader.read()), frames.index(now.frame)
    if not is_moving(samples) or not is_at(samples, at, now):
        return None
    end = samples[len(samples) - 1]
    shot = finished(solve_together(limb, bones, samples, scene, lambda goal: kept_last(limb, bones, end, goal, reader)))
    if isinstance(shot, SolvedShot):
        return shot[at]
    return [*solve_frames(limb, bones, samples[: at + 1], scene)][-1]
