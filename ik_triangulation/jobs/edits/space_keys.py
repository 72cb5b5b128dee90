# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes of a target in a space: which there are, how their channels change, and how they are left.

All matrices are 4x4. Those of channels have location and rotation; a change is multiplied from the left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from bpy.types import FCurve
from mathutils import Matrix, Quaternion, Vector

from ...kinematics import Free
from ...kinematics.arrays import Numbers
from ...kinematics.rotation import orientation
from ...rig.keyframes import SAME_FRAME
from ...rig.keyframes.arrays import KeyArrays, enum_number, get_keys
from ...rig.keyframes.shaping import changed_keys, with_keys_at
from ...rig.rotation import rotation_from, values_for
from ...rig.timeline import Clock

MADE = "MOVING_HOLD"  # type of the keyframes that are made for a space, and go with it
_FADE = 8  # frames within which keyframes on every frame after a span go back to where they were
_EASE = 4.0  # frames: the longest handle with which a target leaves a space as fast as that moves
_SAME = 1e-6  # difference of channel values that repeat
_FREE = Free()


class TargetSeen(NamedTuple):
    """World matrix of a target at a frame, the matrix of its own channels, and those of spaces by their names; 4x4."""

    world: Matrix
    basis: Matrix
    spaces: Mapping[str, Matrix]


@dataclass
class SpacePlan:
    """New keyframes of a target: `changes` (4x4) of the matrix of its channels at frames, and world matrices `wanted`.

    The keyframe at `held` is held until the next. Those at `dropped` frames that were made for a space are removed, and
    the last one up to `held_before` is held no longer. `leaving` are the speeds at frames after a span
    [per frame, in the space of the location].
    """

    changes: dict[float, Matrix]
    wanted: dict[float, Matrix]
    held: float | None = None
    leaving: dict[float, Vector] = field(default_factory=dict)
    dropped: Sequence[float] = ()
    held_before: float | None = None


def frames_to_change(keyed: Sequence[float], start: int, end: int) -> list[float]:
    """Return the ends of a span, its frames with keyframes, and those of the run of keyframes after and the next."""
    found, last = {float(start), float(end), end + 1.0, *(each for each in keyed if start <= each <= end)}, float(end)
    for frame in keyed:
        if last < frame <= min(last + 1.0, float(end + _FADE)):
            found.add(frame)
            last = frame
    return sorted({*found, *next_after(keyed, max(found))})


def next_after(keyed: Sequence[float], frame: float) -> Sequence[float]:
    """Return the first frame with keyframes after another one, if there is any."""
    return [each for each in keyed if each > frame][:1]


def plan_for_space(
    seen: Mapping[float, TargetSeen], keyed: Sequence[float], name: str, start: float, end: float
) -> SpacePlan:
    """Return the keyframes with which a target is in a space from `start` to `end`."""
    inverse, after = seen[start].spaces[name].inverted(), end + 1.0
    base = {frame: now.world @ now.basis.inverted() for frame, now in seen.items()}
    space = {frame: now.spaces[name] @ inverse @ base[frame] for frame, now in seen.items()}
    changes, prior = {start: Matrix()}, start
    for frame in (frame for frame in keyed if start < frame <= end):
        repeats = _is_same(seen[frame].basis, seen[prior].basis)
        changes[frame] = changes[prior] if repeats else space[frame].inverted() @ base[frame]
        prior = frame
    plan = SpacePlan(changes, {}, held=prior)
    last = changes[prior] @ seen[prior].basis
    if after in keyed and not _is_same(seen[after].basis, seen[prior].basis):
        plan.held, changes[end], changes[after] = end, changes.get(end, space[end].inverted() @ base[end]), Matrix()
    else:
        left, before = (base[after].inverted() @ space[frame] @ last for frame in (after, end))
        changes[after] = left @ seen[after].basis.inverted()
        plan.leaving[after] = left.translation - before.translation
        if after in keyed:
            _fade(plan, seen, base, end)
    for frame in seen:
        if frame > after:
            changes.setdefault(frame, Matrix())  # where channels without keyframes are as before, too
    for frame, change in changes.items():
        plan.wanted[frame] = (space if frame <= end else base)[frame] @ change @ seen[frame].basis
    return plan


def _fade(plan: SpacePlan, seen: Mapping[float, TargetSeen], base: Mapping[float, Matrix], end: float) -> None:
    """Have the keyframes on every frame after a span go back to where they were, from where the space left them."""
    after = end + 1.0
    left, was = base[after] @ plan.changes[after] @ seen[after].basis, seen[after].world
    way = left.translation - was.translation
    turn = orientation(left.to_3x3()) @ orientation(was.to_3x3()).conjugated()
    for frame, now in seen.items():
        if after < frame <= end + _FADE and frame - 1.0 in seen:
            t = (end + _FADE + 1.0 - frame) / _FADE
            share = t * t * (3.0 - 2.0 * t)
            world = Quaternion().slerp(turn, share).to_matrix().to_4x4() @ now.world
            world.translation = now.world.translation + way * share
            plan.changes[frame] = base[frame].inverted() @ world @ now.basis.inverted()


def _is_same(one: Matrix, other: Matrix) -> bool:
    """Tell whether channels with these matrices (4x4) repeat."""
    numbers = np.array(one), np.array(other)
    return bool(np.abs(numbers[0] - numbers[1]).max() <= _SAME * max(1.0, np.abs(numbers[1]).max()))


def with_made_at(curve: FCurve, times: Sequence[float]) -> KeyArrays:
    """Return the keyframes of an F-curve with others at times, marked as made, which leave its shape as it is."""
    before = get_keys(curve, ["co"])["co"][:, 0]
    keys = with_keys_at(curve, times)
    for number, time in enumerate(keys["co"][:, 0].tolist()):
        if not (np.abs(before - time) <= SAME_FRAME).any():
            keys["type"][number] = enum_number("type", MADE)
    return keys


def without_made(keys: KeyArrays, times: Sequence[float], end: float | None) -> KeyArrays:
    """Return keyframes without those at these times that were made for a space; the last up to `end` is not held.

    Handles beside a keyframe that goes are as much longer as the segment is then, as they were before it was divided.
    """
    at, count = keys["co"][:, 0].astype(float), len(keys["co"])
    there = np.array([(np.abs(at[number] - times) <= SAME_FRAME).any() for number in range(count)], bool)
    stays = ~(there & (keys["type"] == enum_number("type", MADE)))
    result = {name: column.copy() for name, column in keys.items()}
    kept = np.flatnonzero(stays)
    for one, other in pairwise(kept):
        if other > one + 1:
            for number, beside, name in ((one, one + 1, "handle_right"), (other, other - 1, "handle_left")):
                by = (at[other] - at[one]) / abs(at[beside] - at[number])
                result[name][number] = keys["co"][number] + (keys[name][number] - keys["co"][number]) * by
    last = kept[at[kept] <= end + SAME_FRAME] if end is not None else ()
    if len(last) and keys["interpolation"][last[-1]] == enum_number("interpolation", "CONSTANT"):
        before = kept[kept < last[-1]]
        kind = keys["interpolation"][before[-1]] if len(before) else enum_number("interpolation", "BEZIER")
        result["interpolation"][last[-1]] = kind
    return {name: column[stays] for name, column in result.items()}


def planned_keys(
    keys: dict[int, KeyArrays], plan: SpacePlan, prop: str, owner: Any, clock: Clock, present: Sequence[float]
) -> dict[int, KeyArrays]:
    """Return the keyframes of the channels of a property with those of a plan changed."""
    frames = sorted(plan.changes)
    times = np.array([clock.time(frame) for frame in frames])
    rows = {index: [int(np.abs(new["co"][:, 0] - time).argmin()) for time in times] for index, new in keys.items()}
    matrices = [plan.changes[frame] for frame in frames]
    some = {index: {name: column[rows[index]] for name, column in new.items()} for index, new in keys.items()}
    still = [_is_same(matrix, Matrix()) for matrix in matrices]
    change = _moved(matrices) if prop == "location" else _turned(matrices, owner.rotation_mode)
    changed = changed_keys(some, present, change)
    if prop != "location":
        _continue(changed, some, owner.rotation_mode)
    free = enum_number("handle_left_type", "FREE")
    for index, new in keys.items():
        part = changed.get(index, some[index])
        for row, number in enumerate(rows[index]):
            if still[row]:
                continue
            for name in ("co", "handle_left", "handle_right"):
                new[name][number] = part[name][row]
            new["handle_left_type"][number] = new["handle_right_type"][number] = free
        for frame, way in plan.leaving.items():
            _leave(new, rows[index][frames.index(frame)], way[index] if prop == "location" else 0.0)
    return keys


def _leave(keys: KeyArrays, number: int, speed: float) -> None:
    """Have the curve leave a keyframe at a speed, with a short handle, whatever there was before."""
    at = keys["co"][:, 0].astype(float)
    gap = at[number + 1] - at[number] if number + 1 < len(at) else 3.0
    length = min(gap / 3.0, _EASE)
    keys["handle_left"][number] = keys["co"][number] - (1.0 / 3.0, 0.0)
    keys["handle_right"][number] = keys["co"][number] + (length, length * speed)
    if number + 1 == len(at):
        keys["handle_right"][number, 1] = keys["co"][number, 1]  # beyond its keyframes it stays where it was left
        keys["interpolation"][number] = enum_number("interpolation", "BEZIER")


def _moved(matrices: Sequence[Matrix]) -> Any:
    """Return the change of locations, in rows for each of the matrices (4x4)."""
    stacked = np.array([np.array(each) for each in matrices])

    def change(values: Numbers) -> Numbers:
        by = np.repeat(stacked, len(values) // len(stacked), 0)
        moved: Numbers = np.einsum("fij,fj->fi", by[:, :3, :3], values) + by[:, :3, 3]
        return moved

    return change


def _turned(matrices: Sequence[Matrix], mode: str) -> Any:
    """Return the change of rotation channels in a mode, in rows for each of the matrices (4x4)."""
    turns = [orientation(each.to_3x3()) for each in matrices]

    def change(values: Numbers) -> Numbers:
        many, rows = len(values) // len(turns), []
        for number, row in enumerate(values.tolist()):
            if mode == "QUATERNION":  # not normalised: a linear change of all four channels
                turned: tuple[float, ...] = tuple(turns[number // many] @ Quaternion(row))
            else:
                turned = tuple(values_for(turns[number // many] @ rotation_from(row, mode), mode, _FREE, row))
            rows.append(turned)
        return np.array(rows, float)

    return change


def _continue(changed: Mapping[int, KeyArrays], before: Mapping[int, KeyArrays], mode: str) -> None:
    """Have rotation channels go on from each keyframe to the next as they did before, without whole turns between."""
    names = ("co", "handle_left", "handle_right")
    indices = sorted(changed)
    for row in range(1, len(next(iter(changed.values()))["co"])) if changed else ():
        values, prior = (np.array([changed[index]["co"][at, 1] for index in indices], float) for at in (row, row - 1))
        if mode == "QUATERNION":
            if values @ prior < 0.0:
                for index in indices:
                    for name in names:
                        changed[index][name][row, 1] *= -1.0
        elif mode != "AXIS_ANGLE":
            was = np.array([before[index]["co"][row, 1] - before[index]["co"][row - 1, 1] for index in indices])
            turns = np.round((was - (values - prior)) / (2.0 * np.pi)) * 2.0 * np.pi
            for index, turn in zip(indices, turns, strict=True):
                for name in names:
                    changed[index][name][row, 1] += turn
