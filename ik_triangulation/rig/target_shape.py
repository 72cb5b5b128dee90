# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape that a target stands for. An empty is what it looks like.

In the target's own space: planes lie across Z, lines run along Z, as arrows are drawn; rings and cylinders go round Y,
as Blender draws circles and cones. A bone runs along Y.
"""

from __future__ import annotations

from collections.abc import Callable

from mathutils import Matrix, Vector

from ..errors import SettingError, TargetError
from ..goals import Box, Cylinder, Line, Plane, Ray, Ring, Segment, Sphere, Target
from .limb import Limb
from .looks import Looks

_ORIGIN, _Y, _Z = Vector(), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))

# Each shape in the target's own space, of some size; `along` is the way that lines run.
_SHAPES: dict[str, Callable[[float, Vector], Target]] = {
    "PLANE": lambda size, along: Plane(_ORIGIN, _Z),
    "LINE": lambda size, along: Line(_ORIGIN, along),
    "RAY": lambda size, along: Ray(_ORIGIN, along),
    "SEGMENT": lambda size, along: Segment(_ORIGIN, along * size),
    "SPHERE": lambda size, along: Sphere(_ORIGIN, size),
    "CYLINDER": lambda size, along: Cylinder(_ORIGIN, _Y, size),
    "RING": lambda size, along: Ring(_ORIGIN, _Y, size),
    "BOX": lambda size, along: Box(Matrix.Scale(size, 4)),
}
_DISPLAYED = {"CIRCLE": "RING", "SPHERE": "SPHERE", "CUBE": "BOX", "CONE": "CYLINDER", "IMAGE": "PLANE"}
_PULLING = {"FORCE", "HARMONIC", "CHARGE", "LENNARDJ"}  # kinds of force field
_PULLED_TO = {"POINT", "LINE", "PLANE"}


def shape(limb: Limb, looks: Looks) -> Target | None:
    """What is to be reached, in the target's own space; None for its origin. Raises TargetError as shape_of() does."""
    name = shape_of(limb, looks)
    return _SHAPES[name](looks.size, along(limb)) if name != "POINT" else None


def along(limb: Limb) -> Vector:
    """The way that lines run in the target's own space: along a bone, else along Z."""
    return _Y if limb.subtarget else _Z


def shape_of(limb: Limb, looks: Looks) -> str:
    """The shape to reach: what was chosen, else what the target looks like now.

    A force field is the point, line or plane that it pulls to. Raises TargetError where one was chosen that is not
    there or pulls to none of these, SettingError for a shape that is unknown.
    """
    target, shape = limb.target, limb.shape
    known = ("AUTO", "POINT", *_SHAPES, "FIELD")
    if shape not in known:
        raise SettingError(f"Shape '{shape}' is unknown. Choose one of {', '.join(known)}.")
    if shape not in {"AUTO", "FIELD"}:
        return shape
    if looks.field in _PULLING and looks.field_shape in _PULLED_TO:
        return looks.field_shape
    if shape == "FIELD":
        raise TargetError(
            f"'{target.name}' has no force field that pulls to a point, line or plane. "
            "Add a Force or Harmonic field, or choose another shape."
        )
    return _DISPLAYED.get(looks.display, "POINT")
