# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation channels of a live limb, read and written for the whole armature at once.

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
from ..kinematics.arrays import Array
from ..rig.limb import Limb
from ..rig.limit_check import within_limits
from ..rig.rotation import channel, values_for

Values = bytes  # rotation channels of a limb's bones, as they are stored


class _Property(NamedTuple):
    """One rotation property: the limb's bones that use it, and buffers for all bones of the armature."""

    name: str
    rows: dict[str, int]  # of these bones, by name,
    all: slice | list[int]  # and all of them
    flat: Array  # (bones of the armature * channels)
    values: Array  # the same as rows (bones of the armature, channels)


class LiveChannels:
    """Reads and writes the rotations of a limb's bones; out of date once the armature's bones or their modes change."""

    def __init__(self, limb: Limb) -> None:
        bones = limb.armature.pose.bones
        rows = {bone.name: row for row, bone in enumerate(bones)}
        self._modes = {bone.name: bone.rotation_mode for bone in limb.pose_bones}
        by_property = sorted(limb.pose_bones, key=channel)
        self._properties = [_buffers(*key, list(group), rows) for key, group in groupby(by_property, key=channel)]

    def read(self, armature: Object) -> Values:
        """Return the present values."""
        for each in self._properties:
            armature.pose.bones.foreach_get(each.name, each.flat)
        return self._of_limb()

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
        for each in self._properties:
            own = [(name, row) for name, row in each.rows.items() if name in turned]
            if own:
                rows = [row for _, row in own]
                before = each.values[rows].tolist()
                pairs = zip(own, before, strict=True)
                each.values[rows] = [self._values(name, *turned[name], old) for (name, _), old in pairs]
        self._write(armature)
        return self._of_limb()

    def _values(self, bone: str, freedom: Freedom, rotation: Quaternion, previous: Sequence[float]) -> Sequence[float]:
        """Return channel values within the limits in single precision; a quaternion is in that already."""
        mode = self._modes[bone]
        values = values_for(rotation, mode, freedom, previous)
        if mode == "QUATERNION":
            return values[:]
        row: Sequence[float] = within_limits(bone, np.array([values]), mode, [freedom])[0]
        return row

    def _of_limb(self) -> Values:
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
