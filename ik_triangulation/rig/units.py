# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths as text, in the scene's units or plain, and angles; never with an exponent."""

from collections.abc import Callable
from math import degrees, floor, isfinite, log10

import bpy
from bpy.types import Object, Scene

_SHOWN = 1e-6  # metres; Blender writes shorter lengths as 0
_DIGITS, _PLACES = 3, 6  # of a plain number: those that count, and the most behind the point
_WHOLE, LEAST_ANGLE = 10.0, 0.1  # [degrees] from which on angles are whole, and are shown at all


def scale_of(armature: Object) -> float:
    """Return the scale from armature space to world space; the greatest one if directions differ."""
    return max(abs(scale) for scale in armature.matrix_world.to_scale())


def distance_text(length: float, scene: Scene) -> str:
    """Return a length [Blender units] as text in the scene's units."""
    units = scene.unit_settings
    if units.system == "NONE":
        return length_text(length)
    length *= units.scale_length
    if 0.0 < length < _SHOWN:
        return "less than 1 µm"
    return bpy.utils.units.to_string(units.system, "LENGTH", length, precision=2, split_unit=False).strip()


def in_units_of(scene: Scene) -> Callable[[float], str]:
    """Return a function that makes text of a length in the units of a scene."""
    return lambda length: distance_text(length, scene)


def length_text(length: float) -> str:
    """Return a length as a plain number with three significant digits, to a millionth at most."""
    size = abs(length)
    if not isfinite(size):  # of a rig with such scales
        return "an infinite distance"
    places = _DIGITS - 1 - floor(log10(size)) if size > 0.0 else 0
    text = f"{length:.{min(max(places, 0), _PLACES)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def degrees_text(angle: float) -> str:
    """Return an angle [rad] in degrees: whole ones from 10 on, else with one decimal, and 0 below 0.1."""
    shown = round(degrees(angle), 1)
    if abs(shown) >= _WHOLE:
        return f"{shown:.0f}°"
    return f"{shown:.1f}°" if abs(shown) >= LEAST_ANGLE else "0°"


def is_seen(angle: float | None) -> bool:
    """Whether there is an angle [rad], and it is not shown as 0."""
    return angle is not None and degrees_text(angle) != "0°"
