# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels of a live limb or body, read and written for the whole armature at once.

A bone that is written alone costs thirty times as much, and Blender reports it as a change of the armature's data. This
way only changes by somebody else are reported so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from bpy.types import Object, PoseBone
from mathutils import Quaternion

from ..kinematics import Freedom, Locked, Pose
from ..kinematics.arrays import Array, Numbers
from ..rig.limit_check import within_limits
from ..rig.rotation import channel, values_for

Values = bytes  # channels of the bones, as they are stored
_PLACE = "location"


class _Property(NamedTuple):
    """One property: the bones of which it is posed, and buffers for all bones of the armature."""

    name: str
    rows: dict[str, int]  # of these bones, by name,
    all: slice | list[int]  # and all of them
    flat: Array  # (bones of the armature * channels)
    values: Array  # the same as rows (bones of the armature, channels)


class LiveChannels:
    """Reads and writes the rotations of `bones`, and the location of the one that is `located`, if any.

    Out of date once the armature's bones or their modes change.
    """

    def __init__(self, bones: Sequence[PoseBone], located: PoseBone | None = None) -> None:
        rows = {bone.name: row for row, bone in enumerate(bones[0].id_data.pose.bones)}
        self._modes = {bone.name: bone.rotation_mode for bone in bones}
        by_property = sorted(bones, key=channel)
        self._rotating = [_buffers(*key, list(group), rows) for key, group in groupby(by_property, key=channel)]
        self._located = None if located is None else _buffers(_PLACE, 3, [located], rows)
        self._properties = [*self._rotating, *([self._located] if self._located else [])]

    @property
    def bones(self) -> list[str]:
        """Names of the bones."""
        return list(self._modes)

    def read(self, armature: Object) -> Values:
        """Return the present values."""
        for each in self._properties:
            armature.pose.bones.foreach_get(each.name, each.flat)
        return self._all_values()

    def restore(self, armature: Object, values: Values) -> None:
        """Write values that were read before."""
        self.read(armature)
        numbers, first = np.frombuffer(values, np.float32), 0
        for each in self._properties:
            last = first + len(each.rows) * each.values.shape[1]
            each.values[each.all] = numbers[first:last].reshape(len(each.rows), -1)
            first = last
        self._write(armature)

    def pose(self, armature: Object, start: Sequence[Quaternion], pose: Pose) -> Values:
        """Write the rotations of joints that are no longer those at the `start`, where the values were read last.

        Returns all values.
        """
        turned = {
            joint.name: (joint.freedom, after)
            for joint, before, after in zip(pose.chain.joints, start, pose.rotations, strict=True)
            if after is not before and not isinstance(joint.freedom, Locked)
        }
        for each in self._rotating:
            own = [(name, row) for name, row in each.rows.items() if name in turned]
            if own:
                rows = [row for _, row in own]
                before = each.values[rows].tolist()
                pairs = zip(own, before, strict=True)
                each.values[rows] = [self._values(name, *turned[name], old) for (name, _), old in pairs]
        self._write(armature)
        return self._all_values()

    def put(self, armature: Object, turned: Mapping[str, tuple[Freedom, Numbers]], place: Sequence[float]) -> Values:
        """Write unit quaternions by the bones' names, and the place of the bone that is located; return all values.

        The values were read before.
        """
        for each in self._rotating:
            own = [(name, row) for name, row in each.rows.items() if name in turned]
            if own and each.name == "rotation_quaternion":
                rows = [row for _, row in own]
                wanted = np.array([turned[name][1] for name, _ in own])
                against = np.einsum("ij,ij->i", wanted, each.values[rows]) < 0.0
                each.values[rows] = np.where(against[:, None], -wanted, wanted)
                continue
            for name, row in own:
                freedom, values = turned[name]
                each.values[row] = self._values(name, freedom, Quaternion(values), each.values[row].tolist())
        if self._located:
            each, (row,) = self._located, self._located.rows.values()
            each.values[row] = place
        self._write(armature)
        return self._all_values()

    def _values(self, bone: str, freedom: Freedom, rotation: Quaternion, previous: Sequence[float]) -> Sequence[float]:
        """Return channel values within the limits in single precision; a quaternion is in that already."""
        mode = self._modes[bone]
        values = values_for(rotation, mode, freedom, previous)
        if mode == "QUATERNION":
            return values[:]
        row: Sequence[float] = within_limits(bone, np.array([values]), mode, [freedom])[0]
        return row

    def _all_values(self) -> Values:
        return b"".join(each.values[each.all].tobytes() for each in self._properties)

    def _write(self, armature: Object) -> None:
        for each in self._properties:
            armature.pose.bones.foreach_set(each.name, each.flat)
        # That notifies nobody; a location that stays the same has Blender evaluate the armature and draw it again.
        armature.location = armature.location


def _buffers(name: str, width: int, bones: Sequence[PoseBone], rows: Mapping[str, int]) -> _Property:
    flat = np.empty(len(rows) * width, np.float32)
    own = {bone.name: rows[bone.name] for bone in bones}
    numbers, first = list(own.values()), min(own.values())
    in_line = numbers == list(range(first, first + len(own)))
    return _Property(name, own, slice(first, first + len(own)) if in_line else numbers, flat, flat.reshape(-1, width))
