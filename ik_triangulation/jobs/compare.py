# SPDX-License-Identifier: GPL-3.0-or-later
"""What each solver would make of a limb: compared on its frames, or mapped over all it might have to reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

import bpy
from bpy.types import Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, run_through, telling
from ..errors import SettingError
from ..goals import Goal
from ..rig.armature import Bones
from ..rig.checks import check_limb
from ..rig.frames.sampling import sample
from ..rig.frames.stepping import bound_to, reading
from ..rig.limb import Limb
from ..rig.units import scale_of
from ..solvers import SOLVERS
from ..solvers.compare import SolverResult, comparing_tasks
from .frame_solver import follow, solver_settings, tasks


def compare(
    limb: Limb,
    frames: Sequence[int] | None = None,
    solvers: Iterable[str] = tuple(SOLVERS),
    by: str = "total_angle",
    from_rest: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> list[SolverResult]:
    """A row for each solver, the cheapest by the cost `by` first: each from the pose shown to the limb's target.

    With `from_rest` each begins with the joints at rest instead. At the present frame, or at each of `frames`, summed
    up. Nothing is posed or keyed. Errors and travel are in armature space. Raises an IKError that says what is in the
    way.
    """
    return run_through(comparing(limb, frames, solvers, by, from_rest, scene, view_layer))


def comparing(
    limb: Limb,
    frames: Sequence[int] | None = None,
    solvers: Iterable[str] = tuple(SOLVERS),
    by: str = "total_angle",
    from_rest: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    seconds: float = inf,
) -> Job[list[SolverResult]]:
    """What compare() does, solve by solve: yields those done and those in all; reads for `seconds` at a time."""
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    if frames is not None and not frames:
        raise SettingError("There is no frame to compare at. Give one at least.")
    view_layer.update()
    check_limb(limb, scene, view_layer)
    bones = Bones(limb.armature, limb.bones, limb.solved)
    if frames is None:
        now = sample(limb, view_layer.depsgraph, scene.frame_current + scene.frame_subframe)
        pairs = list(tasks(limb, bones, [now], from_rest))
    else:
        bound, solvers = bound_to(limb, scene, view_layer, frames), list(solvers)
        read = reading(limb, scene, view_layer, frames, bound, seconds, posed=True)
        moments = yield from telling(read, (0, len(frames) * len(solvers)))
        pairs = list(tasks(limb, bones, moments, from_rest))
    tolerance = limb.tolerance / scale_of(limb.armature)
    goals = [(start, Goal(target, tolerance=tolerance)) for start, target in pairs]
    return (yield from comparing_tasks(goals, solvers, solver_settings(limb), by=by))


def preview(limb: Limb, solver: str, scene: Scene | None = None, view_layer: ViewLayer | None = None) -> list[Vector]:
    """Where a solve by this solver would put the joints and, last, the tip at the present frame, world space.

    Nothing is posed. Raises an IKError that says what is in the way.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = replace(limb, solver=solver)
    view_layer.update()
    check_limb(limb, scene, view_layer)
    now = sample(limb, view_layer.depsgraph, scene.frame_current + scene.frame_subframe)
    ((_, _, _, pose),) = follow(limb, Bones(limb.armature, limb.bones, limb.solved), [now])
    return [now.rig.world @ point for point in (*map(pose.head, range(len(pose))), pose.tip)]
