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
from .active_limb import DisplayedLimb, displayed_limb, shown_limb
from .figure import add_aim, add_joints, add_lock, add_locks, add_reach_outlines, add_target
from .ghost import ghosts
from .palette import GHOST, IS_BOLD, Palette, ghostly, palette
from .shapes import Array, Sketch, Strokes
from .updates import updates

_THIN, _WIDE = 1.0, 2.0  # width of lines [pixels at 1x interface scale]

NOTHING = np.empty((0, 3), np.float32), np.empty((0, 4), np.float32)

Coloured = tuple[Array, Array]  # vertices (n, 3) and their colours (n, 4), single precision


class Layer(NamedTuple):
    """Batches that share the matrix `world` (4x4) from their space to world space."""

    world: Matrix
    surfaces: Coloured
    thin: Coloured
    wide: Coloured


class KeptLimb(NamedTuple):
    """The active limb, its joints' surfaces, thin and wide lines, and their palette."""

    seen: DisplayedLimb
    joints: tuple[Coloured, Coloured, Coloured]
    colours: Palette


_kept: dict[str, Any] = {}  # the latest limb, and the key by which it is recognised


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
        kept = kept_limb(context, palette(theme), settings.show_joints)
        if kept is not None:
            seen, joints, colours = kept
            sketch = facing_sketch(seen, seen.world.inverted() @ eye_of(context.region_data), settings)
            yield Layer(seen.world, *map(_joined, joints, _coloured_parts(sketch, colours)))
    if settings.show_ghosts:
        for ghost in ghosts(context):
            colour = np.array((*(ghost.colour or ghostly(theme)), 1.0), dtype=np.float32)
            edges, faces = (
                (places, np.tile(colour * (1.0, 1.0, 1.0, alpha), (len(places), 1)).astype(np.float32))
                for places, alpha in zip((ghost.edges, ghost.faces), GHOST, strict=True)
            )
            yield Layer(Matrix.Identity(4), faces, edges, NOTHING)


def kept_limb(context: Context, colours: Palette, show_joints: bool) -> KeptLimb | None:
    """Return the active limb and its joints as drawn, made anew only after Blender has evaluated something.

    None if there is none, or if it cannot be read.
    """
    shown = shown_limb(context)
    if shown is None:
        return None
    armature, bone = shown
    scene, painted = context.scene, tuple(part.tobytes() for part in colours)
    when = updates(), scene.session_uid, context.view_layer.name, scene.frame_current_final
    key = (*when, armature.session_uid, bone.name, show_joints, painted)
    if _kept.get("key") != key:
        _kept["key"], _kept["limb"] = key, None
        with suppress(IKError):
            seen, sketch = displayed_limb(context, armature, bone), Sketch()
            if show_joints:
                add_joints(sketch, seen.pose, seen.lengths)
            _kept["limb"] = KeptLimb(seen, _coloured_parts(sketch, colours), colours)
    return _kept["limb"]


def facing_sketch(seen: DisplayedLimb, eye: Vector, settings: Any) -> Sketch:
    """Return the strokes of the enabled parts of a limb that face the viewer.

    The `eye` (homogeneous) and the result are in armature space.
    """
    sketch, pose = Sketch(), seen.pose
    if settings.show_reach:
        add_reach_outlines(sketch, pose, eye)
    if settings.show_joints:
        add_locks(sketch, pose, seen.lengths, eye)
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


def _coloured_parts(sketch: Sketch, colours: Palette) -> tuple[Coloured, Coloured, Coloured]:
    """Return surfaces, thin and wide lines of a sketch."""
    outlines, fans = sketch.strokes()
    thin, wide = outlines.among(~IS_BOLD), outlines.among(IS_BOLD)
    return _coloured(fans, colours.surfaces), _coloured(thin, colours.outlines), _coloured(wide, colours.outlines)


def _joined(one: Coloured, other: Coloured) -> Coloured:
    return np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))


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
    _kept.clear()
