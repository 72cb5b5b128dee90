# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of a limb as objects in the scene, to scale: a metric map in a plane, a reach volume in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Object, Scene, ViewLayer
from mathutils import Matrix, Vector

from ..cooperative import Job, cooperative
from ..rig.armature import bones_in_line
from ..rig.scene_objects import PICTURE, place_picture, place_volume
from ..solvers import SolverSettings
from .metric_map import (
    METRICS,
    MetricMap,
    check_shown,
    coloured,
    in_words,
    map_plane,
    map_pose,
    pose_of,
    show_image,
    with_strip,
)
from .shell import VolumeMap, map_volume, shell_around

_VIEWER = Vector((0.0, -1.0, 1.0))  # direction from which pictures are readable, above or in front, world space
_REACHED = (0.35, 0.7, 0.95)  # sRGB, of a shell that shows nothing else
_COLOURS = 10  # of a shell that shows a metric


class Mapped(NamedTuple):
    """A map, and the object that shows it."""

    shown: Object
    made: MetricMap | VolumeMap


@cooperative
def map_in_scene(
    armature: Object,
    bones: Sequence[str],
    solver: str = "TRIANGULATION",
    *,
    size: int = 100,
    tolerance: float = 0.01,
    iterations: int = 20,
    finish: bool = True,
    metric: str = "iterations",
    scale: str = "HUE",
    contours: int = 0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Mapped]:
    """Show the map of map_chain() as an image in the plane in which the chain is bent; its radius is the reach.

    Its colours are explained below the disc; so many `contours` are drawn between their ends. An earlier one of the
    same limb is replaced. Progress counts rows. Raises an IKError that names the culprit; then, and if it is stopped,
    nothing has changed.
    """
    check_shown(metric, scale)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    start = pose_of(armature, bones, view_layer)
    root, along, across = map_plane(start)
    world = armature.matrix_world.to_3x3()
    if (world @ along).cross(world @ across).dot(_VIEWER) < 0.0:
        across = -across
    settings = SolverSettings(solver=solver, iterations=iterations, finish=finish)
    made = yield from map_pose.steps(start, root, along, across, settings, size=size, tolerance=tolerance)
    picture, tip = made.image(metric, scale, contours=contours), bones_in_line(armature, bones)[-1]
    colours = metric, scale, *made.ends(metric)
    image = show_image(f"{PICTURE} of {armature.name}: {tip}", with_strip(picture, *colours))
    frame = Matrix((along, across, along.cross(across))).transposed().to_4x4()
    frame.translation = root
    side = 2.0 * start.chain.reach
    words = f"{in_words(*colours)}\n{made.coverage:.1f} % of the disc is reached{'' if finish else ', not refined'}"
    return Mapped(place_picture(armature, tip, image, frame, side, words, scene, view_layer), made)


@cooperative
def volume_in_scene(
    armature: Object,
    bones: Sequence[str],
    solver: str = "TRIANGULATION",
    *,
    resolution: int = 16,
    tolerance: float = 0.01,
    iterations: int = 100,
    seed: int = 0,
    metric: str = "iterations",
    scale: str = "HUE",
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Mapped]:
    """Show a translucent shell around all points that the chain reaches, of a grid with `resolution` points across it.

    Solutions are refined (finish=True), so that points outside the shell are out of reach; `tolerance` is a share of
    the reach. The colours show the metric at the points below the surface, or, where that is "reached", nothing. The
    mesh has the metrics as attributes. An earlier one of the same limb is replaced. Raises an IKError that names the
    culprit; then, and if it is stopped, nothing has changed.
    """
    check_shown(metric, scale)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    start = pose_of(armature, bones, view_layer)
    settings = SolverSettings(solver=solver, iterations=iterations, seed=seed)
    made = yield from map_volume.steps(start, settings, resolution=resolution, tolerance=tolerance)
    shell = shell_around(made.distances, made.first, made.spacing)
    metrics = {name: shell.spread(made.metric(name)) for name in METRICS}
    words = [f"{made.coverage:.1f} % of the points are reached"]
    if metric == "reached":
        colours = np.tile(_REACHED, (len(shell.faces), 1))
    else:
        least, most = made.ends(metric)
        middles = metrics[metric][shell.faces].mean(1)
        step = (most - least) / (_COLOURS - 1)
        rounded = least + step * np.rint((middles - least) / step) if step > 0.0 else middles
        colours = coloured(rounded, scale, least, most)
        more = " and more" if made.metric(metric).max(initial=0.0) > most else ""
        words.insert(0, f"{in_words(metric, scale, least, most)}{more}")
    shown = shell.corners, shell.faces, colours, metrics, "\n".join(words)
    return Mapped(place_volume(armature, bones_in_line(armature, bones)[-1], *shown, scene, view_layer), made)
