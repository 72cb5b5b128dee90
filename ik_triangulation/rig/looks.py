# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects look like at a frame: the shape that a target stands for, the volume of an obstacle."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Depsgraph, Object
from mathutils import Matrix, Vector

from .armature import find_bone


class Looks(NamedTuple):
    """Display type of an empty and its size [Blender units, its own space], and type and shape of a force field.

    The display type is empty for what is no empty, the force field's shape and type where there is none.
    """

    display: str = ""
    size: float = 1.0
    field: str = ""
    field_shape: str = ""


class Volume(NamedTuple):
    """An obstacle: its frame (4x4, world space), what it looks like, and the corners of its bound box, its own space.

    These are the least and the greatest coordinates.
    """

    frame: Matrix
    looks: Looks
    lowest: Vector
    highest: Vector


def looks_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Looks:
    """What an object looks like as it is evaluated, keys and drivers of its display included; of a bone its length."""
    if bone:
        return Looks(size=find_bone(ob, bone).length)
    shown, is_empty = ob.evaluated_get(depsgraph), ob.type == "EMPTY"
    return Looks(
        shown.empty_display_type if is_empty else "",
        shown.empty_display_size if is_empty else 1.0,
        *((shown.field.type, shown.field.shape) if shown.field else ()),
    )


def volume_of(ob: Object, frame: Matrix, depsgraph: Depsgraph) -> Volume:
    """The volume of an object whose frame (4x4, world space) is this, as it is evaluated: deformed, if it is a mesh."""
    corners = ob.evaluated_get(depsgraph).bound_box
    return Volume(frame, looks_of(ob, "", depsgraph), Vector(corners[0]), Vector(corners[6]))
