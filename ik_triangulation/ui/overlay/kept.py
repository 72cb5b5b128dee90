# SPDX-License-Identifier: GPL-3.0-or-later
"""The shown limbs with their body, and what is drawn of them from any viewpoint.

All is kept until Blender has evaluated something.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context

from ...errors import IKError
from ...kinematics.arrays import Array
from ..limb_search import is_in_body
from .active_body import DisplayedBody, displayed_body, forget_bodies
from .active_limb import DisplayedLimb, displayed_limb
from .body_figure import area_role, support_area
from .body_labels import BodyNote, body_notes
from .figure import add_joint
from .labels import Anchors, Row, anchors_of, distance_row, joint_rows
from .palette import IS_BOLD, Palette, palette
from .shapes import Role, Sketch, Strokes
from .shown import shown_limbs
from .updates import updates

Coloured = tuple[Array, Array]  # vertices (n, 3) and their colours (n, 4), single precision

_kept: dict[str, Any] = {}  # the latest limbs, and the key by which they are recognised


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
