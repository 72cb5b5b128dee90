# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps of the bones of an armature."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from bpy.types import Object, ViewLayer

from ..cooperative import Job, cooperative
from ..kinematics import Pose
from ..rig.armature import Bones, base_of, bones_in_line, channels_of
from ..rig.checks import check_armature
from ..solvers import SolverSettings
from .metric_map import MetricMap, map_plane, map_pose


@cooperative
def map_chain(
    armature: Object,
    bones: Sequence[str],
    solver: str = "TRIANGULATION",
    size: int = 100,
    *,
    tolerance: float = 0.01,
    iterations: int = 20,
    finish: bool = True,
    view_layer: ViewLayer | None = None,
) -> Job[MetricMap]:
    """Return the metric map of a chain of bones, starting from its current pose, in the plane in which it is bent.

    Bones between those named keep their pose. `tolerance` is a share of the reach; with `finish` a place that the
    solver alone does not reach is refined. Progress counts rows. Raises an IKError that names the culprit.
    """
    start = pose_of(armature, bones, view_layer or bpy.context.view_layer)
    settings = SolverSettings(solver=solver, iterations=iterations, finish=finish)
    return (yield from map_pose.steps(start, *map_plane(start), settings, size=size, tolerance=tolerance))


def pose_of(armature: Object, bones: Sequence[str], view_layer: ViewLayer) -> Pose:
    """Return the evaluated pose of a chain of bones, armature space; bones between those named are not joints.

    Raises ChainError unless they are one line of parents, RigError for an armature that cannot be read.
    """
    view_layer.update()
    check_armature(armature, view_layer)
    shown = armature.evaluated_get(view_layer.depsgraph)
    line = bones_in_line(armature, bones)
    return Bones(armature, line, bones).pose(base_of(shown, line[0]), channels_of(shown, line))
