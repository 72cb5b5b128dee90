# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handler of the viewport: the active limb and the ghosts, in a few batches at every redraw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.types import Context, SpaceView3D
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ...errors import IKError
from .active_limb import DisplayedLimb, displayed_limb
from .figure import add_aim, add_joints, add_lock, add_reach_outlines, add_target
from .ghost import ghosts
from .palette import GHOST, IS_BOLD, Palette, ghostly, palette
from .shapes import Array, Sketch, Strokes

_THIN, _WIDE = 1.0, 2.0  # width of lines [pixels at 1x interface scale]

NOTHING = np.empty((0, 3), np.float32), np.empty((0, 4), np.float32)

Coloured = tuple[Array, Array]  # vertices (n, 3) and their colours (n, 4), single precision


class Layer(NamedTuple):
    """Batches that share the matrix `world` (4x4) from their space to world space."""

    world: Matrix
    surfaces: Coloured
    thin: Coloured
    wide: Coloured


def draw() -> None:
    """Draw the enabled parts of the overlay in the viewport of the current context."""
    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    width = context.preferences.system.pixel_size
    gpu.state.blend_set("ALPHA")
    try:
        for layer in layers(context):
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(layer.world)
                _paint("TRIS", "SMOOTH_COLOR", layer.surfaces)
                _paint("LINES", "POLYLINE_SMOOTH_COLOR", layer.thin, _THIN * width)
                _paint("LINES", "POLYLINE_SMOOTH_COLOR", layer.wide, _WIDE * width)
    finally:
        gpu.state.blend_set("NONE")


def layers(context: Context) -> Iterator[Layer]:
    """Yield the active limb, if it can be read, and the ghosts."""
    settings = context.scene.ik_triangulation_overlay
    theme = context.preferences.themes[0]
    if settings.show:
        with suppress(IKError):
            seen = displayed_limb(context)
            if seen is not None:
                sketch = sketch_of(seen, seen.world.inverted() @ eye_of(context.region_data), settings)
                yield _layer(seen.world, sketch, palette(theme))
    if settings.show_ghosts:
        for ghost in ghosts(context):
            colour = np.array((*(ghost.colour or ghostly(theme)), 1.0), dtype=np.float32)
            edges, faces = (
                (places, np.tile(colour * (1.0, 1.0, 1.0, alpha), (len(places), 1)).astype(np.float32))
                for places, alpha in zip((ghost.edges, ghost.faces), GHOST, strict=True)
            )
            yield Layer(Matrix.Identity(4), faces, edges, NOTHING)


def sketch_of(seen: DisplayedLimb, eye: Vector, settings: Any) -> Sketch:
    """Return the strokes of the enabled parts of a limb; `eye` (homogeneous) and result in armature space."""
    sketch, pose = Sketch(), seen.pose
    if settings.show_reach:
        add_reach_outlines(sketch, pose, eye)
    if settings.show_joints:
        add_joints(sketch, pose, seen.lengths, eye)
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
    """Return the viewpoint of a viewport, world space, homogeneous."""
    place = Vector((0.0, 0.0, 0.0, 1.0)) if view.is_perspective else Vector((0.0, 0.0, 1.0, 0.0))
    return view.view_matrix.inverted() @ place


def _layer(world: Matrix, sketch: Sketch, colours: Palette) -> Layer:
    outlines, fans = sketch.strokes()
    bold = IS_BOLD[outlines.roles]
    thin, wide = (Strokes(*(part[which] for part in outlines)) for which in (~bold, bold))
    return Layer(
        world, _coloured(fans, colours.surfaces), _coloured(thin, colours.outlines), _coloured(wide, colours.outlines)
    )


def _coloured(strokes: Strokes, colours: Array) -> Coloured:
    colour = colours[strokes.roles]
    colour[:, 3] *= strokes.alphas
    return strokes.places, colour


def _paint(kind: str, name: str, coloured: Coloured, width: float = 0.0) -> None:
    """Draw triangles, or lines of this width in pixels."""
    if not len(coloured[0]):
        return
    shader = gpu.shader.from_builtin(name)
    content: dict[str, Any] = dict(zip(("pos", "color"), coloured, strict=True))
    batch = batch_for_shader(shader, kind, content)
    shader.bind()
    if width:
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", width)
    batch.draw(shader)


_handles: list[object] = []


def register() -> None:
    _handles.append(SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
