# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handler of the viewport: limbs with what they reach, and ghosts, in a few batches at every redraw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.types import Context, SpaceView3D
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ...goals import LookAt
from ...kinematics.arrays import Array
from .active_limb import DisplayedLimb
from .aim_figure import add_distance, add_turn
from .body_figure import body_sketch
from .figure import add_lock, add_locks, add_target, is_point
from .ghost import ghosts
from .kept import Coloured, body_in_view, coloured_parts, forget_limbs, kept_limbs
from .palette import GHOST, Palette, ghostly
from .shading import Seen
from .shapes import Role, Sketch
from .shells import shells_of

_THIN, _WIDE = 1.0, 2.0  # width of lines [pixels at 1x interface scale]
_DOT = 5.0  # diameter of the mark of a joint [same]
_QUIET = 0.4  # opacity of a shell around a limb that reaches its target, or that is not known yet

NOTHING = np.empty((0, 3), np.float32), np.empty((0, 4), np.float32)


class Layer(NamedTuple):
    """Batches that share the matrix `world` (4x4) from their space to world space."""

    world: Matrix
    surfaces: Coloured
    thin: Coloured
    wide: Coloured
    dots: Coloured


class ShellLayer(NamedTuple):
    """Translucent meshes, behind whatever is before them, with their outlines; `world` as that of a Layer."""

    world: Matrix
    meshes: list[tuple[Coloured, Array]]
    outline: Coloured


def draw() -> None:
    """Draw the enabled parts of the overlay in the viewport of the current context."""
    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    width = context.preferences.system.pixel_size
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(False)  # a translucent triangle hides nothing behind it
    try:
        for shell in shells(context):
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(shell.world)
                for mesh, triangles in shell.meshes:
                    _paint("TRIS", "SMOOTH_COLOR", mesh, triangles)
                _paint("LINES", "POLYLINE_SMOOTH_COLOR", shell.outline, width=_THIN * width)
        gpu.state.depth_test_set("NONE")
        gpu.state.point_size_set(_DOT * width)
        for layer in layers(context):
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(layer.world)
                _paint("TRIS", "SMOOTH_COLOR", layer.surfaces)
                _paint("LINES", "POLYLINE_SMOOTH_COLOR", layer.thin, width=_THIN * width)
                _paint("LINES", "POLYLINE_SMOOTH_COLOR", layer.wide, width=_WIDE * width)
                _paint("POINTS", "POINT_FLAT_COLOR", layer.dots)
    finally:
        gpu.state.point_size_set(1.0)
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def shells(context: Context) -> Iterator[ShellLayer]:
    """Yield what the shown limbs reach, as seen in the viewport; not of limbs whose hips move with them."""
    if context.scene.ik_triangulation_overlay.show_reach:
        for kept in (limb for limb in kept_limbs(context) if limb.alone):
            yield shell_layer(kept.seen, eye_of(context.region_data), kept.colours)


def shell_layer(limb: DisplayedLimb, eye: Vector, colours: Palette) -> ShellLayer:
    """Return the shells around a limb as seen from the `eye` (homogeneous, world space)."""
    pose = limb.pose
    found = shells_of(pose)
    world = limb.world @ Matrix.Translation(pose.head(0)) @ pose.base.to_3x3().to_4x4()
    here = world.inverted_safe() @ eye
    loud = 1.0 if found.limited and limb.aim is not None and limb.aim.missed else _QUIET
    meshes, lines = [], []
    for surface in found.surfaces:
        seen = Seen(surface, here)
        alphas = seen.alphas() * loud
        meshes.append(((surface.places, _tinted(colours.surfaces[Role.REACH], alphas)), surface.triangles))
        lines.append(seen.outline())
    outline = np.concatenate(lines)
    tint = colours.outlines[Role.REACH] * np.float32((1.0, 1.0, 1.0, loud))
    return ShellLayer(world, meshes, (outline, np.broadcast_to(tint, (len(outline), 4)).copy()))


def layers(context: Context) -> Iterator[Layer]:
    """Yield the shown limbs that can be read, their body, and the ghosts."""
    settings = context.scene.ik_triangulation_overlay
    for kept in kept_limbs(context):
        seen = kept.seen
        sketch = facing_sketch(seen, seen.world.inverted() @ eye_of(context.region_data), settings)
        surfaces, thin, wide = map(_joined, kept.joints, coloured_parts(sketch, kept.colours))
        yield Layer(seen.world, surfaces, thin, wide, kept.dots)
    body = body_in_view(context)
    if body is not None:
        world = body.seen.world
        sketch = body_sketch(body.seen, world.inverted_safe() @ eye_of(context.region_data))
        surfaces, thin, wide = coloured_parts(sketch, body.colours)
        yield Layer(world, _joined(body.area, surfaces), thin, wide, NOTHING)
    if settings.show_ghosts:
        theme = context.preferences.themes[0]
        for ghost in ghosts(context):
            colour = np.array((*(ghost.colour or ghostly(theme)), 1.0), dtype=np.float32)
            edges, faces = (
                (places, np.tile(colour * (1.0, 1.0, 1.0, alpha), (len(places), 1)).astype(np.float32))
                for places, alpha in zip((ghost.edges, ghost.faces), GHOST, strict=True)
            )
            yield Layer(Matrix.Identity(4), faces, edges, NOTHING, NOTHING)


def facing_sketch(seen: DisplayedLimb, eye: Vector, settings: Any) -> Sketch:
    """Return the strokes of the enabled parts of a limb that face the viewer.

    The `eye` (homogeneous) and the result are in armature space.
    """
    sketch, pose, aim = Sketch(), seen.pose, seen.aim
    if settings.show_joints:
        add_locks(sketch, pose, seen.lengths, eye)
        for head, length in seen.locked:
            add_lock(sketch, head, length, eye)
    if aim is not None:
        reach = sum(pose.lengths)
        show_target = settings.show_target and not aim.waits
        if show_target and not (aim.close and settings.show_error and is_point(aim.target)):
            add_target(sketch, aim.target, pose.tip, reach, eye)
        if show_target and (isinstance(aim.turn, LookAt) or not aim.reached):
            add_turn(sketch, aim, pose, eye)
        if settings.show_error:
            add_distance(sketch, aim, pose.tip, reach, eye)
    return sketch


def eye_of(view: bpy.types.RegionView3D) -> Vector:
    """Return the viewpoint of a viewport, world space, homogeneous."""
    place = Vector((0.0, 0.0, 0.0, 1.0)) if view.is_perspective else Vector((0.0, 0.0, 1.0, 0.0))
    return view.view_matrix.inverted() @ place


def _tinted(colour: Array, alphas: Array) -> Array:
    """Return a row of the colour (4) for each opacity (n)."""
    rows = np.empty((len(alphas), 4), np.float32)
    rows[:, :3], rows[:, 3] = colour[:3], colour[3] * alphas
    return rows


def _joined(one: Coloured, other: Coloured) -> Coloured:
    return np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))


def _paint(kind: str, name: str, those: Coloured, triangles: Array | None = None, width: float = 0.0) -> None:
    """Draw points, triangles, or lines of this width in pixels."""
    if not len(those[0]):
        return
    shader = gpu.shader.from_builtin(name)
    content: dict[str, Any] = dict(zip(("pos", "color"), those, strict=True))
    batch = batch_for_shader(shader, kind, content, indices=triangles)
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
    forget_limbs()
