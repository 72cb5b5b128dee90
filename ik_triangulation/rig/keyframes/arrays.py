# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes as arrays: an array for each attribute of a keyframe, with an entry for each key; packed as text.

Reading and writing arrays is hundreds of times faster than keyframe by keyframe.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from bpy.types import FCurve, Keyframe

KeyArrays = dict[str, "np.ndarray[Any, Any]"]

# All attributes of a keyframe, in the order in which writing them back is exact: coordinates after the handle types.
ATTRIBUTES = {
    "interpolation": (1, np.uint8),
    "easing": (1, np.uint8),
    "type": (1, np.uint8),
    "amplitude": (1, np.float32),
    "period": (1, np.float32),
    "back": (1, np.float32),
    "handle_left_type": (1, np.uint8),
    "handle_right_type": (1, np.uint8),
    "select_control_point": (1, np.bool_),
    "select_left_handle": (1, np.bool_),
    "select_right_handle": (1, np.bool_),
    "co": (2, np.float32),
    "handle_left": (2, np.float32),
    "handle_right": (2, np.float32),
}
# What a keyframe has when it is added to a curve, where that is the same in every file.
_AS_ADDED = {"interpolation": "BEZIER", "easing": "AUTO", "type": "KEYFRAME", "handle_left_type": "AUTO_CLAMPED"}
_AS_ADDED["handle_right_type"] = _AS_ADDED["handle_left_type"]
# Added keyframes are selected.
SELECTED = ("select_control_point", "select_left_handle", "select_right_handle")
SAME_FRAME = 1e-3  # frames; Blender takes keyframes closer than that for one


def get_keys(curve: FCurve, names: Collection[str] = tuple(ATTRIBUTES)) -> KeyArrays:
    """Return all keyframes of an F-curve: these attributes of them."""
    keys: KeyArrays = {}
    for name in names:
        width, dtype = ATTRIBUTES[name]
        flat: np.ndarray[Any, Any] = np.empty(len(curve.keyframe_points) * width, dtype)
        curve.keyframe_points.foreach_get(name, flat)
        keys[name] = flat.reshape(-1, 2) if width == 2 else flat
    return keys


def put_keys(curve: FCurve, keys: KeyArrays, left_as_added: Collection[str] = ()) -> None:
    """Replace an F-curve's keyframes, bit by bit; attributes `left_as_added` keep what a new keyframe has.

    There is no update(), which would move the handles of keyframes that are not ours.
    """
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys["co"]))
    for name in ATTRIBUTES:  # in their order
        if name not in left_as_added:
            points.foreach_set(name, keys[name].ravel())


class NewKeys:
    """New keyframes at `frames` on any number of curves; arrays that these have in common are made once.

    `as_added` are the attributes that keyframes have right when they are added to a curve.
    """

    def __init__(self, frames: Sequence[float], interpolation: str, kind: str) -> None:
        count = len(frames)
        wanted = {**_AS_ADDED, "interpolation": interpolation, "type": kind}
        numbers: dict[str, float] = {name: enum_number(name, item) for name, item in wanted.items()}
        numbers |= {"amplitude": 0.8, "period": 4.1, "back": 1.70158, **dict.fromkeys(SELECTED, True)}
        self._keys: KeyArrays = {name: np.full(count, numbers[name], ATTRIBUTES[name][1]) for name in numbers}
        self.as_added = {name for name in _AS_ADDED if wanted[name] == _AS_ADDED[name]} | {*SELECTED}
        times = np.asarray(frames, np.float64)
        self._steps = np.diff(times)
        self._even = bool(count > 1 and (self._steps == self._steps[0]).all())
        around = np.concatenate(([1.0], self._steps, [1.0])) / 3.0
        self._back, self._ahead = around[:-1], around[1:]
        for name, offset in (("co", 0.0), ("handle_left", -self._back), ("handle_right", self._ahead)):
            self._keys[name] = np.empty((count, 2), np.float32)
            self._keys[name][:, 0] = times + offset

    def on_curves(
        self,
        values: np.ndarray[Any, Any],
        columns: Sequence[int],
        slopes: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None,
        clamped: np.ndarray[Any, Any] | None = None,
    ) -> Iterator[KeyArrays]:
        """Yield the keyframes of each of the `columns` of `values` (F x channels); they hold until the next.

        Handles lead a third of the way to their neighbours along the `slopes` on each side (shaped like the values), by
        default the mean slope around each keyframe. Handles with given slopes stay as they are in Blender, but for
        those in the mask `clamped` (shaped like the values), which are Auto Clamped.
        """
        heights = np.array(values.T, np.float64)
        left, right = (each.T for each in slopes) if slopes else (self._mean_slopes(heights),) * 2
        before, after = heights - left * self._back, heights + right * self._ahead
        keys = dict(self._keys)
        for column in columns:
            keys["co"][:, 1] = heights[column]
            keys["handle_left"][:, 1], keys["handle_right"][:, 1] = before[column], after[column]
            if slopes:
                kinds = _fitted_handles(left[column], right[column])
                if clamped is not None:
                    kinds[clamped[:, column]] = enum_number("handle_left_type", "AUTO_CLAMPED")
                keys["handle_left_type"] = keys["handle_right_type"] = kinds
            yield keys

    def _mean_slopes(self, heights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return slopes (channels x F) to second order, as numpy.gradient() does."""
        slopes = np.zeros_like(heights)
        if len(self._steps):
            steps, rises = self._steps, np.diff(heights) / self._steps
            slopes[:, 0], slopes[:, -1] = rises[:, 0], rises[:, -1]
            if self._even:
                slopes[:, 1:-1] = (rises[:, 1:] + rises[:, :-1]) / 2.0
            else:
                one, other = steps[:-1], steps[1:]
                slopes[:, 1:-1] = (one * rises[:, 1:] + other * rises[:, :-1]) / (one + other)
        return slopes


def _fitted_handles(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return handle types that Blender leaves as they are; handles in one line stay so when they are edited."""
    aligned, free = enum_number("handle_left_type", "ALIGNED"), enum_number("handle_left_type", "FREE")
    return np.where(left == right, aligned, free).astype(np.uint8)


def merge_keys(old: KeyArrays, new: KeyArrays, first: float, last: float, only: int | None = None) -> KeyArrays:
    """Merge the old keyframes outside the range with the new ones, in order of time.

    If `only` keyframes of that type are to be replaced, the others inside the range stay too, and new keyframes at
    their frames are dropped.
    """
    stays = ~in_range(old, first, last)
    if only is not None:
        stays |= old["type"] != only
    free = _apart(new["co"][:, 0], old["co"][stays, 0])
    order = np.argsort(np.concatenate((old["co"][stays, 0], new["co"][free, 0])), kind="stable")
    return {name: np.concatenate((column[stays], new[name][free]))[order] for name, column in old.items()}


def in_range(keys: KeyArrays, first: float, last: float) -> np.ndarray[Any, Any]:
    """Return a mask of the keyframes inside the range."""
    times = keys["co"][:, 0]
    inside: np.ndarray[Any, Any] = (times >= first - SAME_FRAME) & (times <= last + SAME_FRAME)
    return inside


@cache
def enum_number(prop: str, item: str) -> int:
    """Return the number that an enumeration property of keyframes has for an item."""
    return int(Keyframe.bl_rna.properties[prop].enum_items[item].value)


def _apart(times: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a mask of the times that are not among the sorted `others`."""
    others = np.concatenate(([-np.inf], others, [np.inf]))
    after = np.searchsorted(others, times)
    apart: np.ndarray[Any, Any] = np.minimum(others[after] - times, times - others[after - 1]) > SAME_FRAME
    return apart


def packed(keys: KeyArrays) -> dict[str, Any]:
    """Return keyframes as JSON takes them; a value that all of them share is there once."""
    texts: dict[str, Any] = {"count": len(keys["co"])}
    for name in ATTRIBUTES:
        column = keys[name]
        shared = column.ndim == 1 and (column == column[0]).all()
        texts[name] = column[0].item() if shared else b64encode(column.tobytes()).decode()
    return texts


def unpacked(texts: dict[str, Any]) -> KeyArrays:
    """Return the keyframes again. Raises LookupError, TypeError or ValueError for what is none."""
    count, keys = texts["count"], {}
    for name, (width, dtype) in ATTRIBUTES.items():
        value = texts[name]
        column = np.frombuffer(b64decode(value), dtype) if isinstance(value, str) else np.full(count, value, dtype)
        keys[name] = column.reshape(count, 2) if width == 2 else column.reshape(count)
    return keys
