# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a limb's target: chosen in the settings, or taken from an empty's display type, a force field or a mesh.

Shapes are in the target's own space. Lines run along its Z axis, as Blender draws arrows, or along a bone, whose
direction is Y.
"""

from __future__ import annotations

from mathutils import Vector

from ..errors import SettingError, TargetError
from ..goals import Target
from ..goals.target_shapes import TARGET_SHAPES
from .limb import PULLING, Limb
from .looks import Looks

_Y, _Z = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))
_SHAPE_OF_DISPLAY = {shape.display: name for name, shape in TARGET_SHAPES.items() if shape.display}
_PULLED_TO = {"POINT", "LINE", "PLANE"}


def build_target(limb: Limb, looks: Looks) -> Target | None:
    """Return the target to reach, in its own space; None for its origin. Raises what shape_of() does.

    The space of a surface has its origin at the place on it that is reached.
    """
    name = shape_of(limb, looks)
    return None if name in {"POINT", "SURFACE"} else TARGET_SHAPES[name].build(looks.size, line_direction(limb))


def line_direction(limb: Limb) -> Vector:
    """Return the unit direction of lines in the target's own space: along a bone, otherwise along Z."""
    return _Y if limb.subtarget else _Z


def shape_of(limb: Limb, looks: Looks) -> str:
    """Return the name of the shape to reach: the chosen one, otherwise that of the target's current appearance.

    A force field is the point, line or plane that it pulls to, another mesh with faces its surface. Raises TargetError
    if a force field was chosen and the target has none that pulls to one of these; SettingError for an unknown shape.
    """
    target, chosen = limb.target, limb.shape
    known = ("AUTO", *TARGET_SHAPES, "FIELD", "SURFACE")
    if chosen not in known:
        raise SettingError(f"Shape '{chosen}' is unknown. Choose one of {', '.join(known)}.")
    if chosen not in {"AUTO", "FIELD"}:
        return chosen
    if looks.field in PULLING and looks.field_shape in _PULLED_TO:
        return looks.field_shape
    if chosen == "FIELD":
        raise TargetError(
            f"'{target.name}' has no force field that pulls to a point, line or plane. "
            "Add a Force or Harmonic field, or choose another shape."
        )
    return "SURFACE" if limb.on_surface else _SHAPE_OF_DISPLAY.get(looks.display, "POINT")
