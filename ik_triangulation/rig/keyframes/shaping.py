# SPDX-License-Identifier: GPL-3.0-or-later
"""Reshape a part of an F-curve: keyframes at its ends leave the curve outside as it is, others give it new values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from bpy.types import FCurve

from ...errors import AnimationError
from ...kinematics.arrays import Numbers
from .arrays import ATTRIBUTES, SAME_FRAME, KeyArrays, NewKeys, enum_number, get_keys

_BESIDE = 0.01  # frames from a keyframe to where the slope beside it is measured
_HALVINGS = 60  # of a Bezier segment's parameter

Height = Callable[[float], float]  # of the time


def with_keys_at(curve: FCurve, times: Iterable[float]) -> KeyArrays:
    """Return the keyframes of an F-curve and new ones at `times`, which leave its shape as it is.

    Handles beside a new keyframe become free. Raises AnimationError for segments of other kinds than constant, linear
    and Bezier, which cannot be divided.
    """
    keys = get_keys(curve)
    for time in times:
        keys = _divided(curve, keys, time)
    return keys


def _divided(curve: FCurve, keys: KeyArrays, time: float) -> KeyArrays:
    at = keys["co"][:, 0].astype(float)
    if len(at) and np.abs(at - time).min() <= SAME_FRAME:
        return keys
    after = int(np.searchsorted(at, time))
    new = next(NewKeys([time], "BEZIER", "KEYFRAME").on_curves(np.array([[curve.evaluate(time)]]), [0]))
    new = {name: column.copy() for name, column in new.items()}
    free = enum_number("handle_left_type", "FREE")
    new["handle_left_type"][0] = new["handle_right_type"][0] = free
    result = {name: np.insert(keys[name], after, new[name], axis=0) for name in ATTRIBUTES}
    bezier, linear, constant = (enum_number("interpolation", name) for name in ("BEZIER", "LINEAR", "CONSTANT"))
    if 0 < after < len(at):
        kind = int(keys["interpolation"][after - 1])
        if kind not in (bezier, linear, constant):
            raise AnimationError(
                f"'{curve.data_path}' has an easing between its keys at {at[after - 1]:g} and {at[after]:g}, which "
                "cannot be divided. Set their interpolation to Bezier, or choose another falloff."
            )
        result["interpolation"][after], result["type"][after] = kind, keys["type"][after - 1]
        if kind == bezier:
            _divide_bezier(result, after, time)
            for beside in (after - 1, after + 1):
                result["handle_left_type"][beside] = result["handle_right_type"][beside] = free
    elif len(at):
        # Beyond its keyframes a curve is a line.
        result["interpolation"][after] = linear
        if after:
            result["interpolation"][after - 1] = linear
    return result


def _divide_bezier(keys: KeyArrays, number: int, time: float) -> None:
    """Set the handles of a keyframe, by its number, and of those beside it, by de Casteljau's construction."""
    before, after = number - 1, number + 1
    points = ("co", before), ("handle_right", before), ("handle_left", after), ("co", after)
    p = np.array([keys[name][at] for name, at in points], float)
    length = p[3, 0] - p[0, 0]
    for inner, end in ((1, 0), (2, 3)):  # Blender shortens a handle that reaches beyond the other keyframe
        p[inner] = p[end] + (p[inner] - p[end]) / max(1.0, abs(p[inner, 0] - p[end, 0]) / length)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        u = 0.5 * (low + high)
        x = np.array([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u**3]) @ p[:, 0]
        low, high = (u, high) if x < time else (low, u)
    one = p[:-1] + (p[1:] - p[:-1]) * u
    two = one[:-1] + (one[1:] - one[:-1]) * u
    keys["handle_right"][before], keys["handle_left"][number] = one[0], two[0]
    keys["co"][number] = two[0] + (two[1] - two[0]) * u
    keys["co"][number, 0] = time
    keys["handle_right"][number], keys["handle_left"][after] = two[1], one[2]


def knots_for(
    values: Sequence[Height], ends: tuple[float, float], times: Iterable[float], within: float
) -> list[float]:
    """Return times for keyframes between and at the ends, with which cubic curves are `within` a distance of `values`.

    The `times` are among them. Where that is not near enough others are put between, down to one at each whole frame.
    """
    knots = sorted({*ends, *(time for time in times if ends[0] < time < ends[1])})
    done = list[float]()
    while len(knots) > 1:
        begin, end = knots[0], knots[1]
        middle = float(round((begin + end) / 2.0))
        if end - begin > 1.0 + SAME_FRAME and begin < middle < end and _is_off(values, begin, end, within):
            knots.insert(1, middle)
        else:
            done.append(knots.pop(0))
    return [*done, *knots]


def _is_off(values: Sequence[Height], begin: float, end: float, within: float) -> bool:
    """Tell whether cubic curves between two times leave the values by more than a distance."""
    length = end - begin
    for value in values:
        low, high = value(begin), value(end)
        out, back = slope(value, begin, 1.0) * length, slope(value, end, -1.0) * length
        for time in np.arange(np.floor(begin * 2.0) / 2.0 + 0.5, end, 0.5).tolist():
            t = (time - begin) / length
            cubic = low * (1 + 2 * t) * (1 - t) ** 2 + high * t * t * (3 - 2 * t)
            cubic += out * t * (1 - t) ** 2 - back * t * t * (1 - t)
            if abs(cubic - value(time)) > within:
                return True
    return False


def slope(value: Height, time: float, side: float) -> float:
    """Return the slope of values per frame just after a time, or with a `side` of -1.0 just before it."""
    return (value(time + side * _BESIDE) - value(time)) / (side * _BESIDE)


def reshaped(keys: KeyArrays, value: Height, knots: Sequence[float]) -> KeyArrays:
    """Return keyframes that give a curve these values from the first to the last of the `knots`.

    `keys` has keyframes at the ends, whose outer handles stay, and keeps the types of those that are at a knot.
    """
    at, ends = keys["co"][:, 0].astype(float), (knots[0], knots[-1])
    heights = np.array([[value(time)] for time in knots])
    slopes = tuple(np.array([[slope(value, time, side)] for time in knots]) for side in (-1.0, 1.0))
    new = next(NewKeys(knots, "BEZIER", "KEYFRAME").on_curves(heights, [0], slopes))
    free = enum_number("handle_left_type", "FREE")
    for number, time in enumerate(knots):
        same = np.flatnonzero(np.abs(at - time) <= SAME_FRAME)
        if len(same):
            new["type"][number] = keys["type"][same[0]]
            outer = ("handle_left",) if number == 0 else ("handle_right",) if number == len(knots) - 1 else ()
            for name in outer:
                new[name][number] = keys[name][same[0]]
                new["handle_left_type"][number] = new["handle_right_type"][number] = free
            if number == len(knots) - 1:
                new["interpolation"][number] = keys["interpolation"][same[0]]
                for name in ("easing", "amplitude", "period", "back"):
                    new[name][number] = keys[name][same[0]]
    before, after = at < ends[0] - SAME_FRAME, at > ends[1] + SAME_FRAME
    return {name: np.concatenate((column[before], new[name], column[after])) for name, column in keys.items()}


def with_outside_of(
    keys: KeyArrays, before: KeyArrays, ends: tuple[float, float], keep_types: bool = True
) -> KeyArrays:
    """Return keyframes written between two times, with values and outer handles at these as they were `before`.

    With `keep_types` keyframes have the types that those at the same times had before.
    """
    result = {name: column.copy() for name, column in keys.items()}
    now, then = keys["co"][:, 0].astype(float), before["co"][:, 0].astype(float)
    free = enum_number("handle_left_type", "FREE")
    for number in np.flatnonzero((now >= ends[0] - SAME_FRAME) & (now <= ends[1] + SAME_FRAME)).tolist():
        same = np.flatnonzero(np.abs(then - now[number]) <= SAME_FRAME)
        if not len(same):
            continue
        old = same[0]
        if keep_types:
            result["type"][number] = before["type"][old]
        first, last = (abs(now[number] - end) <= SAME_FRAME for end in ends)
        if not (first or last):
            continue
        moved = before["co"][old, 1] - result["co"][number, 1]
        for name in ("co", "handle_left", "handle_right"):
            result[name][number, 1] += moved
        outer = ["handle_left"] if first else ["handle_right", "interpolation", "easing", "amplitude", "period", "back"]
        for name in outer:
            result[name][number] = before[name][old]
        result["handle_left_type"][number] = result["handle_right_type"][number] = free
    return result


def retimed(keys: KeyArrays, moved: Height) -> KeyArrays:
    """Return keyframes at other times, `moved` ones that keep their order, with their handles; values stay.

    Keyframes at whole frames go to whole frames where there is room. Those that move, or whose handles do, have free
    handles, as Blender would move others.
    """
    result = {name: column.copy() for name, column in keys.items()}
    before = keys["co"][:, 0].astype(float)
    exact = np.array([moved(time) for time in before.tolist()])
    whole = np.abs(before - np.round(before)) <= SAME_FRAME
    times = np.where(whole, np.round(exact), exact)
    if len(times) > 1 and np.diff(times).min() < 1.0:
        times = exact
    result["co"][:, 0] = times
    free, changed = enum_number("handle_left_type", "FREE"), times != before
    for name in ("handle_left", "handle_right"):
        at = keys[name][:, 0].astype(float)
        there = np.array([moved(time) for time in at.tolist()])
        changed |= there != at
        result[name][:, 0] = there + (times - exact)
    for name in ("handle_left_type", "handle_right_type"):
        result[name][changed] = free
    return result


def profile_at(profile: str, share: Numbers | float) -> Numbers:
    """Return the influence of proportional editing at a `share` of its radius, 1 at the middle and 0 at its rim."""
    near = np.clip(share, 0.0, 1.0)
    shapes: dict[str, Callable[[Numbers], Numbers]] = {
        "SMOOTH": lambda s: 3.0 * s**2 - 2.0 * s**3,
        "SPHERE": lambda s: np.sqrt(2.0 * s - s**2),
        "ROOT": np.sqrt,
        "INVERSE_SQUARE": lambda s: s * (2.0 - s),
        "SHARP": lambda s: s**2,
        "LINEAR": lambda s: s,
        "CONSTANT": lambda s: np.where(s > 0.0, 1.0, 0.0),
    }
    result: Numbers = np.asarray(shapes[profile](near), float)
    return result


Change = Callable[[Numbers], Numbers]  # of channel values (F, n) to as many others

_STEP = 1e-4  # of channel values, by which their derivatives are measured


def changed_keys(keys: Mapping[int, KeyArrays], present: Sequence[float], change: Change) -> dict[int, KeyArrays]:
    """Return the keyframes of channels whose values are changed together, with the slopes of their handles.

    All channels have keyframes at the same times; those without any keep the values that are `present`.
    """
    times = next(iter(keys.values()))["co"]
    values = np.repeat(np.array(present, float)[None], len(times), 0)
    out, back = np.zeros_like(values), np.zeros_like(values)  # slopes after and before each keyframe
    for index, column in keys.items():
        values[:, index] = column["co"][:, 1]
        for slopes, name in ((out, "handle_right"), (back, "handle_left")):
            way = np.subtract(column[name], column["co"], dtype=float)
            slopes[:, index] = np.divide(way[:, 1], way[:, 0], out=np.zeros(len(way)), where=way[:, 0] != 0.0)
    count, width = values.shape
    units = np.eye(width)
    steps = _STEP * np.concatenate((np.zeros((1, width)), *(np.stack((unit, -unit)) for unit in units)))
    every = change((values[:, None] + steps).reshape(-1, width)).reshape(count, len(steps), width)
    changed = every[:, 0]
    by = (every[:, 1::2] - every[:, 2::2]) / (2.0 * _STEP)  # (F, of channel, to channel)
    result = {}
    for index in range(width):
        if not any(np.abs(by[:, of, index]).max() > _STEP for of in keys):
            continue
        base = keys.get(index) or next(iter(keys.values()))
        new = {name: column.copy() for name, column in base.items()}
        new["co"][:, 1] = changed[:, index]
        for slopes, name in ((out, "handle_right"), (back, "handle_left")):
            slope_here = np.einsum("fc,fc->f", slopes, by[:, :, index])
            new[name][:, 1] = changed[:, index] + slope_here * np.subtract(
                new[name][:, 0], new["co"][:, 0], dtype=float
            )
        result[index] = new
    return result
