# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers of the viewport: limbs, their body and ghosts in a few batches at every redraw, and outlined texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
from bpy.types import Context
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ...errors import IKError
from ...goals import LookAt
from ...kinematics.arrays import Array
from ..context import is_in_body
from ..gizmos.groups import gizmo_box
from ..panels.layout import is_unfolded
from .body import (
    BodyNote,
    DisplayedBody,
    area_role,
    body_notes,
    body_sketch,
    displayed_body,
    forget_bodies,
    support_area,
)
from .figure import add_distance, add_joint, add_lock, add_locks, add_target, add_turn, is_point
from .ghost import ghosts
from .labels import (
    Anchors,
    Rectangle,
    Row,
    Screen,
    anchors_of,
    distance_row,
    joint_rows,
    place_beside,
    place_distance,
    place_joint,
)
from .limb import DisplayedLimb, ShadedSurface, displayed_limb, shells_of, shown_limbs
from .sketch import GHOST, IS_BOLD, Palette, Role, Sketch, Strokes, ghostly, palette, plain_text
from .updates import updates

Coloured = tuple[Array, Array]  # vertices (n, 3) and their colours (n, 4), single precision

_kept: dict[str, Any] = {}  # the latest limbs, and the key by which they are recognised

_THIN, _WIDE = 1.0, 2.0  # width of lines [pixels at 1x interface scale]
_DOT = 5.0  # diameter of the mark of a joint [same]
_QUIET = 0.4  # opacity of a shell around a limb that reaches its target, or that is not known yet

NOTHING = np.empty((0, 3), np.float32), np.empty((0, 4), np.float32)

_FONT = 0
_LINE = 1.45  # height of a line [font size]
_SPACE = 0.5  # between a sign and its text [font size]
_OUTLINED = 6  # BLF's number for an outline around the letters
_OUTLINE = 0.85  # its opacity
_STROKE, _AROUND = 2.0, 4.5  # width of a drawn sign, and with its outline [pixels at 1x interface scale]
# Drawn signs in a square of side 1, as strokes
_SIGNS = {
    "reached": (((0.05, 0.5), (0.38, 0.15)), ((0.38, 0.15), (0.95, 0.9))),
    "missed": (((0.12, 0.12), (0.88, 0.88)), ((0.12, 0.88), (0.88, 0.12))),
}
_GREY = 0.45  # share of the outline in a text that is grey
_COVERING = {"UI", "TOOLS", "HEADER", "TOOL_HEADER"}  # regions that may be over the viewport
_SIGN = 0.75  # side of that square [font size]


class KeptLimb(NamedTuple):
    """A limb, the surfaces, thin and wide lines of the joint shown in full, marks of the others, and their palette."""

    armature: tuple[str, int]  # name and session uid
    seen: DisplayedLimb
    joints: tuple[Coloured, Coloured, Coloured]
    dots: Coloured
    colours: Palette
    anchors: Anchors
    alone: bool  # solved without others, so that its root stays
    distance: list[Row]  # texts
    angles: list[Row]


class KeptBody(NamedTuple):
    """A body with the surface of the area that its held tips support, its palette, and the notes beside it."""

    armature: tuple[str, int]  # name and session uid
    seen: DisplayedBody
    area: Coloured
    colours: Palette
    notes: list[BodyNote]


def kept_limbs(context: Context) -> Iterator[KeptLimb]:
    """Yield the limbs that the viewport shows, made anew only after Blender has evaluated something.

    Limbs that cannot be read are left out.
    """
    settings, colours = context.scene.ik_triangulation_overlay, palette(context.preferences.themes[0])
    if not settings.show:
        _kept.clear()
        return
    show_joints, show_body = settings.show_joints, settings.show_body
    scene, painted, active = context.scene, tuple(part.tobytes() for part in colours), context.active_object
    bone = active.data.bones.active if active is not None and active.type == "ARMATURE" else None
    what = active and active.session_uid, bone and bone.name, context.mode, show_joints, show_body, painted
    what = *what, bpy.app.translations.locale
    key = (updates(), scene.session_uid, context.view_layer.name, scene.frame_current_final, *what)
    if _kept.get("key") != key:
        _kept["key"], _kept["limbs"] = key, list(_limbs(context, colours, show_joints))
        _kept["body"] = _body(context, colours) if show_body else None
    yield from limbs_in_view(context)


def limbs_in_view(context: Context) -> Iterator[KeptLimb]:
    """Yield those of the limbs that kept_limbs() has last kept which the viewport shows."""
    for kept in _kept.get("limbs", ()):
        if _is_in_view(context, kept.armature):
            yield kept


def body_in_view(context: Context) -> KeptBody | None:
    """Return the body that kept_limbs() has last kept if the viewport shows it."""
    kept: KeptBody | None = _kept.get("body")
    return kept if kept and _is_in_view(context, kept.armature) else None


def forget_limbs() -> None:
    """Forget the limbs and the body that are kept."""
    _kept.clear()
    forget_bodies()


def _is_in_view(context: Context, known: tuple[str, int]) -> bool:
    """Tell whether the viewport shows an armature, by its name and session uid."""
    armature = context.view_layer.objects.get(known[0])
    here = armature is not None and armature.session_uid == known[1]
    return here and armature.visible_get(viewport=context.space_data)


def _body(context: Context, colours: Palette) -> KeptBody | None:
    with suppress(IKError):
        found = displayed_body(context)
        if found is not None:
            armature, seen = found
            area = support_area(seen.balance) if seen.balance else np.empty((0, 3), np.float32)
            tint = colours.surfaces[area_role(seen.balance)] if seen.balance else np.zeros(4, np.float32)
            surfaces = area, np.tile(tint, (len(area), 1))
            names = armature.name, armature.session_uid
            return KeptBody(names, seen, surfaces, colours, list(body_notes(seen, context.scene)))
    return None


def _limbs(context: Context, colours: Palette, show_joints: bool) -> Iterator[KeptLimb]:
    for armature, tip, active in shown_limbs(context):
        with suppress(IKError):
            seen, sketch = displayed_limb(context, armature, tip, active), Sketch()
            if show_joints and seen.active is not None:
                add_joint(sketch, seen.pose, seen.active, seen.lengths[seen.active])
            marks, names = _marks(seen, show_joints), (armature.name, armature.session_uid)
            drawn = coloured_parts(sketch, colours), in_colours(marks, colours.outlines), colours
            distance = [distance_row(seen.aim, context.scene)] if seen.aim else []
            yield KeptLimb(names, seen, *drawn, anchors_of(seen), not is_in_body(tip), distance, joint_rows(seen))


def _marks(seen: DisplayedLimb, show_joints: bool) -> Strokes:
    """Return a point for each joint that can rotate and is not shown in full; those at a limit have another role."""
    pose, roles, places = seen.pose, [], []
    for i, joint in enumerate(pose.chain.joints if show_joints else ()):
        if joint.freedom.moves and i != seen.active:
            allowed = joint.freedom.nearest(pose.rotations[i])
            roles.append(Role.AT_LIMIT if joint.freedom.on_limits(allowed) else Role.JOINT)
            places.append(pose.head(i)[:])
    return Strokes(np.array(places, np.float32).reshape(-1, 3), np.array(roles, int), np.ones(len(roles), np.float32))


def coloured_parts(sketch: Sketch, colours: Palette) -> tuple[Coloured, Coloured, Coloured]:
    """Return surfaces, thin and wide lines of a sketch."""
    outlines, fans = sketch.strokes()
    thin, wide = outlines.among(~IS_BOLD), outlines.among(IS_BOLD)
    return in_colours(fans, colours.surfaces), in_colours(thin, colours.outlines), in_colours(wide, colours.outlines)


def in_colours(strokes: Strokes, colours: Array) -> Coloured:
    """Return the vertices of strokes with their colours, of which `colours` has a row (4) for each role."""
    colour = colours[strokes.roles]
    colour[:, 3] *= strokes.alphas
    return strokes.places, colour


class Layer(NamedTuple):
    """Batches that share the matrix `world` (4x4) from their space to world space."""

    world: Matrix
    surfaces: Coloured
    thin: Coloured
    wide: Coloured
    dots: Coloured


class ShellLayer(NamedTuple):
    """Translucent meshes with their outlines, hidden by what is in front of them; `world` as in a Layer."""

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
        seen = ShadedSurface(surface, here)
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
        colour = np.array((*ghostly(context.preferences.themes[0]), 1.0), dtype=np.float32)
        for ghost in ghosts(context):
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


class TextBlock(NamedTuple):
    """Rows of text, the box that they fill, and the palette of their signs."""

    rows: list[Row]
    box: Rectangle
    colours: Palette


def draw_texts() -> None:
    """Draw the texts of the limbs that the viewport of the current context shows."""
    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    size, theme = _font_size(context), context.preferences.themes[0]
    text, outline = plain_text(theme)
    gpu.state.blend_set("ALPHA")
    blf.size(_FONT, size)
    blf.enable(_FONT, blf.SHADOW)
    red, green, blue = outline
    blf.shadow(_FONT, _OUTLINED, red, green, blue, _OUTLINE)
    blf.shadow_offset(_FONT, 0, 0)
    try:
        for block in texts(context):
            _draw_block(block, size, text, (*outline, _OUTLINE))
    finally:
        blf.disable(_FONT, blf.SHADOW)
        gpu.state.blend_set("NONE")


def texts(context: Context) -> Iterator[TextBlock]:
    """Yield the texts that are shown in the viewport with their places; draw() has read what they tell just before."""
    settings = context.scene.ik_triangulation_overlay
    if not settings.show:
        return
    size, region, scale = _font_size(context), context.region, context.preferences.system.ui_scale
    blf.size(_FONT, size)
    free, gizmo = open_part(context), gizmo_box(context)
    taken: list[Rectangle] = []
    for kept in limbs_in_view(context):
        matrix = context.region_data.perspective_matrix @ kept.seen.world
        screen = Screen(kept.anchors, matrix, (region.width, region.height), scale)
        if not screen.seen:
            continue
        screen.open, screen.gizmo = free, gizmo
        if settings.show_error and kept.distance:
            taken.append(place_distance(screen, _size_of(kept.distance, size)))
            yield TextBlock(kept.distance, taken[-1], kept.colours)
        if settings.show_joints and kept.angles and is_unfolded(context):
            taken.append(place_joint(screen, _size_of(kept.angles, size), taken))
            yield TextBlock(kept.angles, taken[-1], kept.colours)
    body = body_in_view(context)
    for note in body.notes if body else ():
        matrix = context.region_data.perspective_matrix @ body.seen.world
        screen = Screen(note.anchors, matrix, (region.width, region.height), scale)
        if screen.seen:
            screen.open, screen.gizmo = free, gizmo
            taken.append(place_beside(screen, _size_of([note.row], size), taken))
            yield TextBlock([note.row], taken[-1], body.colours)


def open_part(context: Context) -> Rectangle:
    """Return the part of the viewport that neither sidebar, toolbar nor header covers [pixels]."""
    view = context.region
    left, bottom, right, top = 0.0, 0.0, float(view.width), float(view.height)
    for region in context.area.regions:
        if region.type not in _COVERING or region.width <= 1 or region.height <= 1:
            continue
        x, y = region.x - view.x, region.y - view.y
        if region.alignment == "LEFT":
            left = max(left, float(x + region.width))
        elif region.alignment == "RIGHT":
            right = min(right, float(x))
        elif region.alignment == "TOP":
            top = min(top, float(y))
        elif region.alignment == "BOTTOM":
            bottom = max(bottom, float(y + region.height))
    return left, bottom, right, top


def _font_size(context: Context) -> float:
    """Return the size of the interface's text [pixels]."""
    preferences = context.preferences
    return float(preferences.ui_styles[0].widget.points * preferences.system.ui_scale)


def _size_of(rows: list[Row], size: float) -> tuple[float, float]:
    """Return width and height of some rows in a font of this size."""
    wide = max(blf.dimensions(_FONT, row.text)[0] for row in rows)
    return _sign_width(rows, size) + wide, _LINE * size * len(rows)


def _sign_width(rows: list[Row], size: float) -> float:
    """Return the width of the signs before the texts, with the space after them."""
    widths = [_SIGN * size if row.sign in _SIGNS else blf.dimensions(_FONT, row.sign)[0] for row in rows]
    return max(widths) + _SPACE * size if any(row.sign for row in rows) else 0.0


def _draw_block(block: TextBlock, size: float, text: tuple, outline: tuple) -> None:
    left, _, _, top = block.box
    start = left + _sign_width(block.rows, size)
    for number, row in enumerate(block.rows):
        y = top - (number + 1) * _LINE * size + (_LINE - 0.7) * size / 2.0
        colour = tuple(float(part) for part in block.colours.outlines[row.role][:3])
        if row.sign in _SIGNS:
            _draw_sign(row.sign, left, y, _SIGN * size, colour, outline)
        elif row.sign:
            _write(row.sign, left, y, colour)
        _write(row.text, start, y, _greyed(text, outline) if row.role == Role.WAITING else text)


def _greyed(text: tuple, outline: tuple) -> tuple:
    """Return a colour (RGB) between that of a text and that of its outline, nearer to the text."""
    return tuple(own + _GREY * (other - own) for own, other in zip(text, outline[:3], strict=True))


def _write(text: str, x: float, y: float, colour: tuple) -> None:
    red, green, blue = colour
    blf.color(_FONT, red, green, blue, 1.0)
    blf.position(_FONT, round(x), round(y), 0.0)
    blf.draw(_FONT, text)


def _draw_sign(sign: str, x: float, y: float, side: float, colour: tuple, outline: tuple) -> None:
    """Draw a tick or a cross, with an outline."""
    places = [(x + a * side, y + b * side) for stroke in _SIGNS[sign] for a, b in stroke]
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch: Any = batch_for_shader(shader, "LINES", {"pos": [(*place, 0.0) for place in places]})
    scale = bpy.context.preferences.system.pixel_size
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for width, painted in ((_AROUND, outline), (_STROKE, (*colour, 1.0))):
        shader.uniform_float("lineWidth", width * scale)
        shader.uniform_float("color", painted)
        batch.draw(shader)
