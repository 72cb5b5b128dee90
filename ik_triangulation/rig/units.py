# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths in words, with the scene's units."""

import bpy
from bpy.types import Object, Scene

_SHOWN = 1e-6  # metres; Blender writes shorter lengths as 0


def scale_of(armature: Object) -> float:
    """How long a length of armature space is in world space; the most of it where directions differ."""
    return max(abs(scale) for scale in armature.matrix_world.to_scale())


def distance_text(length: float, scene: Scene) -> str:
    """A length [Blender units] the way the scene shows lengths, in the unit that suits it."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.3g}"
    length *= units.scale_length
    if 0.0 < length < _SHOWN:
        return "less than 1 µm"
    return bpy.utils.units.to_string(units.system, "LENGTH", length, precision=2, split_unit=False).strip()
