# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Clamped handles as Blender places them, which depends on the keyframes around: asked of curves of its own."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .arrays import enum_number, get_keys

_Array = np.ndarray[Any, Any]


def clamped_slopes(keys: tuple[_Array, _Array, _Array, _Array], which: _Array) -> tuple[_Array, _Array]:
    """Return the slopes of the handles on both sides of keyframes, of which some are Auto Clamped.

    They are those in the mask `which` (F x channels). `keys` are times (F), values, and the slopes before and after
    (F x channels) that the others keep. As long as Blender smooths a curve, which it does with new ones, all handles
    lead a third of the way to their neighbours.
    """
    times, values, left, right = keys
    found = left.copy(), right.copy()
    steps = np.concatenate(([3.0], np.diff(times), [3.0])) / 3.0
    clamped, free = (enum_number("handle_left_type", item) for item in ("AUTO_CLAMPED", "FREE"))
    interpolation = np.full(len(times), enum_number("interpolation", "BEZIER"), np.uint8)
    action = bpy.data.actions.new("Handles")
    try:
        slot = action.slots.new("OBJECT", "Handles")
        bag = action.layers.new("Handles").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
        for column in np.flatnonzero(which.any(0)).tolist():
            curve = bag.fcurves.new("handles", index=column)
            curve.auto_smoothing = "CONT_ACCEL"
            points = curve.keyframe_points
            points.add(len(times))
            kinds = np.where(which[:, column], clamped, free).astype(np.uint8)
            ends = ("co", 0.0 * times, left), ("handle_left", -steps[:-1], left), ("handle_right", steps[1:], right)
            for name, shift, slopes in ends:
                places = np.column_stack((times + shift, values[:, column] + shift * slopes[:, column]))
                points.foreach_set(name, places.astype(np.float32).ravel())
            for name, numbers in (("interpolation", interpolation), ("handle_left_type", kinds)):
                points.foreach_set(name, numbers)
            points.foreach_set("handle_right_type", kinds)
            curve.update()
            placed = get_keys(curve, ("co", "handle_left", "handle_right"))
            for side, slopes in zip(("handle_left", "handle_right"), found, strict=True):
                way = placed[side].astype(np.float64) - placed["co"]
                slopes[:, column] = np.where(which[:, column], way[:, 1] / way[:, 0], slopes[:, column])
    finally:
        bpy.data.actions.remove(action)
    return found
