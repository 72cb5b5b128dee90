# SPDX-License-Identifier: GPL-3.0-or-later
"""What each solver would make of a limb: compared on its frames, or mapped over all it might have to reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf

import bpy
from bpy.types import Object, Scene, ViewLayer
from mathutils import Vector

from .blender.armature import Bones, base_of, bones_in_line, channels_of
from .blender.checks import check_armature, check_limb
from .blender.limb import Limb
from .blender.sampling import sample
from .blender.stepping import bound_to, reading
from .blender.units import scale_of
from .errors import SettingError
from .follow import follow, solver_settings, tasks
from .goals import Goal
from .kinematics import Pose
from .maps.metric_map import MetricMap, map_plane, map_pose
from .solvers import SOLVERS, SolverSettings
from .solvers.compare import SolverResult, comparing_tasks
from .work import Job, run_through, telling


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


def map_chain(
    armature: Object,
    bones: Sequence[str],
    solver: str = "TRIANGULATION",
    size: int = 100,
    tolerance: float = 0.01,
    iterations: int = 20,
    finish: bool = False,
    view_layer: ViewLayer | None = None,
    progress: Callable[[float], None] | None = None,
) -> MetricMap:
    """The metric map of a chain of bones, as it is posed, in the plane in which it is bent.

    Bones between those named keep their pose. `tolerance` is a share of the reach; `progress` is told the share done
    and may raise to stop. Raises an IKError that says what is in the way.
    """
    start = pose_of(armature, bones, view_layer or bpy.context.view_layer)
    settings = SolverSettings(solver=solver, iterations=iterations, finish=finish)
    return map_pose(start, *map_plane(start), settings, size=size, tolerance=tolerance, progress=progress)


def pose_of(armature: Object, bones: Sequence[str], view_layer: ViewLayer) -> Pose:
    """A chain of bones as it is shown, in armature space; those between the bones named are no joints of it.

    Raises ChainError unless they are one line of descent, RigError for an armature that cannot be read.
    """
    view_layer.update()
    check_armature(armature, view_layer)
    shown = armature.evaluated_get(view_layer.depsgraph)
    line = bones_in_line(armature, bones)
    return Bones(armature, line, bones).pose(base_of(shown, line[0]), channels_of(shown, line))
