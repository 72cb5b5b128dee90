# SPDX-License-Identifier: GPL-3.0-or-later
"""Appearance of objects at a frame: display and force field of a target, volume of an obstacle."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Depsgraph, Object
from mathutils import Matrix, Vector

from .armature import find_bone
from .made_rotation import is_as_made


class Looks(NamedTuple):
    """Display type of an empty and its size [Blender units, its own space], and type and shape of a force field.

    The display type is an empty string unless the object is an empty, the field's type and shape without a force field.
    `as_made` tells that the object was made as the target of a hand and has not been turned since.
    """

    display: str = ""
    size: float = 1.0
    field: str = ""
    field_shape: str = ""
    as_made: bool = False


class Volume(NamedTuple):
    """An obstacle: its frame (4x4, world space), its looks, and two corners of its bounding box in its own space.

    The corners have the least and the greatest coordinates.
    """

    frame: Matrix
    looks: Looks
    lowest: Vector
    highest: Vector


def looks_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Looks:
    """Return the looks of an object as evaluated, with keys and drivers of its display; of a bone only its length."""
    if bone:
        return Looks(size=find_bone(ob, bone).length)
    shown, is_empty = ob.evaluated_get(depsgraph), ob.type == "EMPTY"
    return Looks(
        shown.empty_display_type if is_empty else "",
        shown.empty_display_size if is_empty else 1.0,
        *((shown.field.type, shown.field.shape) if shown.field else ("", "")),
        is_as_made(ob),
    )


def volume_of(ob: Object, frame: Matrix, depsgraph: Depsgraph) -> Volume:
    """Return the volume of an object at this frame (4x4, world space) as evaluated: that of a mesh is deformed."""
    corners = ob.evaluated_get(depsgraph).bound_box
    return Volume(frame, looks_of(ob, "", depsgraph), Vector(corners[0]), Vector(corners[6]))
