# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of solvers on a limb: their costs on its frames, and the pose of one of them as a preview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

import bpy
from bpy.types import Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, cooperative, relay
from ..errors import SettingError
from ..goals import Goal
from ..rig.armature import Bones
from ..rig.checks import check_limb
from ..rig.frames.reader import FrameReader
from ..rig.frames.sampling import sample
from ..rig.limb import Limb
from ..rig.units import scale_of
from ..solvers import SOLVERS
from ..solvers.compare import SolverResult, compare_all
from .frame_solver import follow, solver_settings, tasks


@cooperative
def compare(
    limb: Limb,
    frames: Sequence[int] | None = None,
    solvers: Iterable[str] = tuple(SOLVERS),
    by: str = "total_angle",
    from_rest: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[list[SolverResult]]:
    """Return a result for each solver, the lowest cost `by` first: each solves from the pose shown to the target.

    With `from_rest` each starts with the joints at rest instead. At the present frame, or summed up at each of
    `frames`. Nothing is posed or keyed. Errors and travel are in armature space. A step is one solve; no more frames
    are read at once than can be in about that many `seconds`. Raises an IKError that names the culprit.
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
    tolerance = limb.tolerance / scale_of(limb.armature)
    pairs = tasks(Bones(limb.armature, limb.bones, limb.solved), samples, from_rest)
    goals = [(start, Goal(target, tolerance=tolerance)) for start, target in pairs]
    return (yield from compare_all.steps(goals, solvers, solver_settings(limb), by=by))


def preview(limb: Limb, solver: str, scene: Scene | None = None, view_layer: ViewLayer | None = None) -> list[Vector]:
    """Return the locations of the joints and, last, of the tip as this solver solves the present frame; world space.

    Nothing is posed. Raises an IKError that names the culprit.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = replace(limb, solver=solver)
    view_layer.update()
    check_limb(limb, scene, view_layer)
    now = sample(limb, view_layer.depsgraph, scene.frame_current + scene.frame_subframe)
    (solved,) = follow(limb, Bones(limb.armature, limb.bones, limb.solved), [now])
    pose = solved.pose
    return [now.rig.world @ point for point in (*map(pose.head, range(len(pose))), pose.tip)]
