# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths as text in the scene's units."""

import bpy
from bpy.types import Object, Scene

_SHOWN = 1e-6  # metres; Blender writes shorter lengths as 0


def scale_of(armature: Object) -> float:
    """Return the scale from armature space to world space; the greatest one if directions differ."""
    return max(abs(scale) for scale in armature.matrix_world.to_scale())


def distance_text(length: float, scene: Scene) -> str:
    """Return a length [Blender units] as text in the scene's units."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.3g}"
    length *= units.scale_length
    if 0.0 < length < _SHOWN:
        return "less than 1 µm"
    return bpy.utils.units.to_string(units.system, "LENGTH", length, precision=2, split_unit=False).strip()
