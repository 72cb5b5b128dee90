# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing over the viewport: at every redraw what there is to be seen, in three batches at most."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import bpy
import gpu
import numpy as np
from bpy.types import Context, SpaceView3D
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ..errors import IKError
from .figure import add_aim, add_joints, add_lock, add_reach, add_target
from .ghost import ghosts
from .palette import BOLD, GHOST, ghostly, palette
from .reading import Seen, active_limb_seen
from .shapes import Array, Sketch, Strokes

_THIN, _WIDE = 1.0, 2.0  # width of lines [pixels at 1x interface scale]

Coloured = tuple[Array, Array]  # places (n, 3) in world space, and the colour of each (n, 4)


def draw() -> None:
    """Draw what the settings ask for over the viewport that the context is in."""
    context = bpy.context
    if context.space_data.overlay.show_overlays:
        thin, wide, surfaces = picture(context)
        width = context.preferences.system.pixel_size
        gpu.state.blend_set("ALPHA")
        _paint("TRIS", "SMOOTH_COLOR", surfaces)
        _paint("LINES", "POLYLINE_SMOOTH_COLOR", thin, lineWidth=_THIN * width)
        _paint("LINES", "POLYLINE_SMOOTH_COLOR", wide, lineWidth=_WIDE * width)
        gpu.state.blend_set("NONE")


def picture(context: Context) -> tuple[Coloured, Coloured, Coloured]:
    """Thin lines, wide lines and triangles, world space."""
    settings = context.window_manager.ik_triangulation_overlay
    theme = context.preferences.themes[0]
    thin, wide, surfaces = [], [], []
    if settings.show:
        with suppress(IKError):
            seen = active_limb_seen(context)
            if seen is not None:
                sketch = sketch_of(seen, seen.world.inverted() @ eye_of(context.region_data), settings)
                colours = palette(theme)
                outlines = sketch.outlines()
                bold = np.isin(outlines.roles, BOLD)
                thin.append(_coloured(Strokes(*(each[~bold] for each in outlines)), colours.outlines, seen.world))
                wide.append(_coloured(Strokes(*(each[bold] for each in outlines)), colours.outlines, seen.world))
                surfaces.append(_coloured(sketch.surfaces(), colours.surfaces, seen.world))
    if settings.show_ghosts:
        for ghost in ghosts(context):
            colour = ghost.colour or ghostly(theme)
            for parts, places, alpha in zip((thin, surfaces), (ghost.edges, ghost.faces), GHOST, strict=True):
                parts.append((places, np.tile((*colour, alpha), (len(places), 1))))
    return tuple(_together(parts) for parts in (thin, wide, surfaces))


def sketch_of(seen: Seen, eye: Vector, settings: Any) -> Sketch:
    """What the settings ask for of a limb, seen from the `eye` (homogeneous), armature space."""
    sketch, pose = Sketch(), seen.pose
    if settings.show_reach:
        add_reach(sketch, pose, eye)
    if settings.show_joints:
        add_joints(sketch, pose, eye)
        for head, length in seen.locked:
            add_lock(sketch, head, length, eye)
    if seen.target is not None:
        tip, reach = pose.tip, sum(pose.lengths)
        if settings.show_target:
            add_target(sketch, seen.target, tip, reach, eye)
        if settings.show_error:
            add_aim(sketch, tip, seen.target.closest(tip), seen.reached, reach, eye)
    return sketch


def eye_of(view: bpy.types.RegionView3D) -> Vector:
    """Where a viewport is looked from, world space, homogeneous."""
    place = Vector((0.0, 0.0, 0.0, 1.0)) if view.is_perspective else Vector((0.0, 0.0, 1.0, 0.0))
    return view.view_matrix.inverted() @ place


def _coloured(strokes: Strokes, colours: Array, world: Matrix) -> Coloured:
    matrix = np.array(world)
    colour = colours[strokes.roles]
    colour[:, 3] *= strokes.alphas
    return strokes.places @ matrix[:3, :3].T + matrix[:3, 3], colour


def _together(parts: list[Coloured]) -> Coloured:
    if not parts:
        return np.empty((0, 3)), np.empty((0, 4))
    places, colours = (np.concatenate(each) for each in zip(*parts, strict=True))
    return places, colours


def _paint(kind: str, name: str, coloured: Coloured, **uniforms: float) -> None:
    content: dict[str, Any] = {
        key: each.astype(np.float32) for key, each in zip(("pos", "color"), coloured, strict=True)
    }
    if not len(content["pos"]):
        return
    shader = gpu.shader.from_builtin(name)
    batch = batch_for_shader(shader, kind, content)
    shader.bind()
    if uniforms:
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for uniform, value in uniforms.items():
        shader.uniform_float(uniform, value)
    batch.draw(shader)


_handles: list[object] = []


def register() -> None:
    _handles.append(SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
