# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of the pose that a bone had before the extension wrote to it, which tells what is posed by hand.

It is saved with the bone and undone with its pose. Where nothing is registered, bones have no memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from bpy.types import PoseBone

from ..kinematics import Free
from .rotation import channel, rotation_from, set_rotation, values_for

_SAME = 1e-5  # difference of channel values that rounding explains
_MEMORY = "ik_triangulation_posed"
_FREE = Free()


def values_before_writing(bone: PoseBone) -> tuple[float, ...]:
    """Return the channel values that a bone had before the extension wrote to it; the present ones if it never did."""
    present, memory = _present(bone), _memory(bone)
    return values_in_mode(memory.before, memory.mode, bone.rotation_mode, present) if memory else present


def is_as_written(bone: PoseBone, which: Collection[int]) -> bool:
    """Tell whether the present values of the channels `which` are those that the extension wrote last."""
    memory = _memory(bone)
    if memory is None:
        return False
    present = _present(bone)
    written = values_in_mode(memory.written, memory.mode, bone.rotation_mode, present)
    return all(abs(written[index] - present[index]) <= _SAME for index in which)


def is_posed_since(bone: PoseBone, which: Collection[int]) -> bool:
    """Tell whether the extension wrote the channels `which` and somebody has changed them since."""
    return _memory(bone) is not None and not is_as_written(bone, which)


def remember_before(bone: PoseBone, values: Sequence[float], undo: ExitStack | None = None) -> None:
    """Remember channel values as those before the extension writes; closing `undo` restores what was remembered."""
    memory = getattr(bone, _MEMORY, None)
    if memory is None:
        return
    if undo is not None:
        undo.callback(_put, memory, memory.mode, tuple(memory.before), tuple(memory.written))
    _put(memory, bone.rotation_mode, _four(values), tuple(memory.written))


def remember_written(bones: Iterable[PoseBone]) -> None:
    """Remember the present values of the bones, whose pose before is known, as written by the extension."""
    for bone in bones:
        memory = getattr(bone, _MEMORY, None)
        if memory is not None:
            memory.written = _four(_present(bone))


def location_before_writing(bone: PoseBone) -> tuple[float, ...]:
    """Return the location that a bone had before the extension wrote to it; the present one if it was changed since.

    A body is one pose: where a bone of the armature was turned by hand since, the location is by hand as well.
    """
    memory = getattr(bone, _MEMORY, None)
    if memory is None or not memory.is_moved or is_moved_since(bone):
        return tuple(bone.location)
    others = bone.id_data.pose.bones
    posed = any(is_posed_since(other, range(len(_present(other)))) for other in others)
    return tuple(bone.location) if posed else tuple(memory.place_before)


def is_moved_since(bone: PoseBone) -> bool:
    """Tell whether the extension wrote the location of a bone and somebody has changed it since."""
    memory = getattr(bone, _MEMORY, None)
    if memory is None or not memory.is_moved:
        return False
    written: Sequence[float] = memory.place_written
    return any(abs(bone.location[axis] - written[axis]) > _SAME for axis in range(3))


def remember_place(bones: Iterable[PoseBone]) -> None:
    """Remember the present location of those bones whose location the extension wrote before as written."""
    for bone in bones:
        memory = getattr(bone, _MEMORY, None)
        if memory is not None and memory.is_moved:
            memory.place_written = tuple(bone.location)


def remember_location(bone: PoseBone, before: Sequence[float], undo: ExitStack) -> None:
    """Remember the present location of a bone as written, and that `before`; closing `undo` restores what was known."""
    memory = getattr(bone, _MEMORY, None)
    if memory is not None:
        _keep_place(memory, undo)
        _put_place(memory, True, before, tuple(bone.location))


def keep_place(bone: PoseBone, undo: ExitStack) -> None:
    """Have the closing of `undo` restore what is remembered of the location of a bone."""
    memory = getattr(bone, _MEMORY, None)
    if memory is not None:
        _keep_place(memory, undo)


def keep_location(bone: PoseBone, undo: ExitStack) -> None:
    """Have the closing of `undo` put a bone where it is now, with what is remembered of that."""
    undo.callback(setattr, bone, "location", tuple(bone.location))
    keep_place(bone, undo)


def keep_pose(bones: Iterable[PoseBone], undo: ExitStack) -> None:
    """Have the closing of `undo` pose the bones as they are now, with what is remembered of them."""
    for bone in bones:
        undo.callback(set_rotation, bone, _present(bone))
        memory = getattr(bone, _MEMORY, None)
        if memory is not None:
            undo.callback(_put, memory, memory.mode, tuple(memory.before), tuple(memory.written))


def values_in_mode(values: Sequence[float], mode: str, other: str, near: Sequence[float]) -> tuple[float, ...]:
    """Return channel values of rotation `mode` in the `other` one; of all equivalent ones, those nearest to `near`."""
    values = tuple(values)[: len(near) if mode == other else 4 if mode in {"QUATERNION", "AXIS_ANGLE"} else 3]
    return values if mode == other else tuple(values_for(rotation_from(values, mode), other, _FREE, near))


def _memory(bone: PoseBone) -> Any:
    """Return the memory of a bone that the extension wrote to, else None."""
    memory = getattr(bone, _MEMORY, None)
    return memory if memory is not None and memory.mode else None


def _present(bone: PoseBone) -> tuple[float, ...]:
    return tuple(getattr(bone, channel(bone)[0]))


def _put(memory: Any, mode: str, before: Sequence[float], written: Sequence[float]) -> None:
    memory.mode, memory.before, memory.written = mode, before, written


def _keep_place(memory: Any, undo: ExitStack) -> None:
    undo.callback(_put_place, memory, memory.is_moved, tuple(memory.place_before), tuple(memory.place_written))


def _put_place(memory: Any, is_moved: bool, before: Sequence[float], written: Sequence[float]) -> None:
    memory.is_moved, memory.place_before, memory.place_written = is_moved, before, written


def _four(values: Sequence[float]) -> tuple[float, ...]:
    """Return values with as many zeros as make four."""
    return (*values, 0.0)[:4]
