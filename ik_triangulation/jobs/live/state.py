# SPDX-License-Identifier: GPL-3.0-or-later
"""State and channels of whatever is live, a limb or a body.

Channels of a live limb or body, read and written for the whole armature at once. A bone that is written alone costs
thirty times as much, and Blender reports it as a change of the armature's data. This way only changes by somebody else
are reported so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from math import inf
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import ID, Action, Depsgraph, Object, PoseBone, Scene, ViewLayer
from mathutils import Quaternion

from ...kinematics import Freedom, Locked, Pose
from ...kinematics.arrays import Array, Numbers
from ...rig.by_hand.keys import given_by_strips, remember_written
from ...rig.by_hand.reference import Boned
from ...rig.frames.samples import Sample, frame_of
from ...rig.keyframes import curves_of
from ...rig.limb import MovingPaths
from ...rig.rotation import channel, values_for, within_limits
from ...rig.targets.surface import surface_state
from ...rig.timeline import strips_of
from ..shots.report import Report

Values = bytes  # channels of the bones, as they are stored
_PLACE = "location"

_REMEMBERED = 4  # a drag is recognised only from its second or third change on

Surroundings = tuple[Any, ...]  # everything that is followed, in a form that can be compared


class _Property(NamedTuple):
    """One property: the bones of which it is posed, and buffers for all bones of the armature."""

    name: str
    rows: dict[str, int]  # of these bones, by name,
    all: slice | list[int]  # and all of them
    flat: Array  # (bones of the armature * channels)
    values: Array  # the same as rows (bones of the armature, channels)
    driven: Sequence[tuple[int, int]]  # rows and channels of these bones, as in `all`, that drivers give their values,
    by_strips: Sequence[tuple[int, int]]  # and those that NLA strips give theirs whenever the frame changes


class LiveChannels:
    """Reads and writes the rotations of `bones`, and the location of the one that is `located`, if any.

    Out of date once the armature's bones or their modes change.
    """

    def __init__(self, bones: Sequence[PoseBone], located: PoseBone | None = None) -> None:
        armature = bones[0].id_data
        rows = {bone.name: row for row, bone in enumerate(armature.pose.bones)}
        self._modes = {bone.name: bone.rotation_mode for bone in bones}
        self._strips, given = _strips(armature), given_by_strips(armature)
        by_property = sorted(bones, key=channel)
        self._rotating = [_buffers(*key, list(group), rows, given) for key, group in groupby(by_property, key=channel)]
        self._located = None if located is None else _buffers(_PLACE, 3, [located], rows, given)
        self._properties = [*self._rotating, *([self._located] if self._located else [])]

    @property
    def bones(self) -> list[str]:
        """Names of the bones."""
        return list(self._modes)

    @property
    def has_strips(self) -> bool:
        """Whether NLA strips give values to some of the channels whenever the frame changes."""
        return any(each.by_strips for each in self._properties)

    def suits(self, armature: Object) -> bool:
        """Tell whether the armature still has the NLA strips that it had."""
        return self._strips == _strips(armature)

    def is_changed(self, values: Values, before: Values, new_frame: bool) -> bool:
        """Tell whether values differ from those before by more than what strips have made of them at a `new_frame`."""
        if values == before or len(values) != len(before):
            return values != before
        different, first = np.frombuffer(values, np.float32) != np.frombuffer(before, np.float32), 0
        for each in self._properties if new_frame else ():
            width = each.values.shape[1]
            different[[first + row * width + index for row, index in each.by_strips]] = False
            first += len(each.rows) * width
        return bool(different.any())

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
        found = list[bytes]()
        for each in self._properties:
            values = each.values[each.all]
            if each.driven:  # what is written there does not last
                values = values.copy()
                values[tuple(zip(*each.driven, strict=True))] = 0.0
            found.append(values.tobytes())
        return b"".join(found)

    def _write(self, armature: Object) -> None:
        for each in self._properties:
            armature.pose.bones.foreach_set(each.name, each.flat)
        # That notifies nobody; a location that stays the same has Blender evaluate the armature and draw it again.
        armature.location = armature.location


def _strips(armature: Object) -> list[tuple[int, bool]]:
    """Return the NLA strips of an armature, and whether they play, in a form that can be compared."""
    animation = armature.animation_data
    if animation is None or not animation.use_nla:
        return []
    return [(strip.as_pointer(), strip.mute) for strip in strips_of(animation, muted=False)]


def _buffers(
    name: str, width: int, bones: Sequence[PoseBone], rows: Mapping[str, int], by_strips: Collection[tuple[str, int]]
) -> _Property:
    flat = np.empty(len(rows) * width, np.float32)
    own = {bone.name: rows[bone.name] for bone in bones}
    numbers, first = list(own.values()), min(own.values())
    in_line = numbers == list(range(first, first + len(own)))
    some = slice(first, first + len(own)) if in_line else numbers
    animation = bones[0].id_data.animation_data
    paths = {bone.path_from_id(name): k for k, bone in enumerate(bones)}
    drivers = animation.drivers if animation else ()
    driven = [(paths[each.data_path], each.array_index) for each in drivers if each.data_path in paths]
    striped = [(paths[path], index) for path, index in by_strips if path in paths]
    return _Property(name, own, some, flat, flat.reshape(-1, width), driven, striped)


class LiveState(ABC):
    """A limb or a body that is live, with its state when it was last seen; found by the bone at its `tip`.

    `tips` are those of all limbs that are solved together. The methods after look() take the state now and the limb or
    body that it returns.
    """

    comes_to_rest = False  # whether the pose changes once the targets rest

    def __init__(self, armature: Object, tip: str, tips: Sequence[str], scene: Scene) -> None:
        self.tips = tuple(tips)
        self.name, self.uid, self.tip, self.scene = armature.name, armature.session_uid, tip, scene.session_uid
        self.posed = Values()  # as it was posed last
        self.channels: LiveChannels | None = None
        self.surroundings: Surroundings | None = None  # None if they have not been seen yet
        self.left: dict[Surroundings, Values] = {}  # the poses before it was last posed, the latest last
        self.dragged = False
        self.changed = -inf  # time at which it was last posed, if it is not keyed yet,
        self.frame = 0.0  # and the frame
        self.moved = -inf  # time at which it was last posed
        self.untold = False  # whether it was posed since the last report
        self.problem = ""
        self._moving: MovingPaths | None = None  # until somebody keys, mutes or drives something

    def moving(self, armature: Object, touched: set[ID], new_frame: bool) -> MovingPaths:
        """Return what animates the armature's bones, read anew only if it may have changed."""
        if not new_frame and (armature in touched or any(isinstance(each, Action) for each in touched)):
            self._moving = None
        if self._moving is None or not self._moving.suits(armature):
            self._moving = MovingPaths(armature)
        return self._moving

    def forget(self) -> None:
        """Accept the state that is seen next as it is."""
        self.channels = self.surroundings = self._moving = None
        self.left.clear()
        self.dragged, self.changed, self.untold = False, -inf, False

    @abstractmethod
    def forget_reading(self) -> None:
        """Read the rig anew at the next look."""

    @abstractmethod
    def begin(self, rig: Any) -> Report:
        """Solve the limb or body as it is now; return the report."""

    @abstractmethod
    def keep(self, armature: Object, undo: ExitStack) -> None:
        """Have the closing of `undo` give back the present pose."""

    @abstractmethod
    def look(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[Any, Any, bool]:
        """Return what the depsgraph shows now, the limb or body, and whether its settings have changed since.

        `touched` are the data-blocks that have been evaluated. Raises an IKError that names the culprit.
        """

    @abstractmethod
    def surroundings_of(self, now: Any, depsgraph: Depsgraph) -> Surroundings:
        """Return everything that is followed, in a form that can be compared."""

    @abstractmethod
    def is_animated(self, rig: Any) -> bool:
        """Tell whether there are keys, which are not overridden."""

    @abstractmethod
    def solve(self, now: Any, rig: Any) -> None:
        """Solve from the present pose and write the pose; it is not evaluated yet."""

    @abstractmethod
    def report(self, armature: Object, scene: Scene, depsgraph: Depsgraph) -> Report | None:
        """Return the report of the pose that was shown last; None if it was told, or somebody else has posed it."""

    @abstractmethod
    def key(self, armature: Object, scene: Scene, view_layer: ViewLayer) -> None:
        """Key the present pose. Raises an IKError that names the culprit."""

    def rest(self, armature: Object) -> bool:
        """Let a pose that is still shown come to rest; tell whether it has changed."""
        return False

    def solve_upcoming(self, seconds: float) -> bool:
        """Solve frames to come, for about so long; tell whether there is more to solve."""
        return False

    def armature(self) -> Object | None:
        """Return the armature, even if it was renamed; None if it or the bone at the tip was removed."""
        armature = bpy.data.objects.get(self.name)
        if armature is None or armature.session_uid != self.uid:
            armature = next((ob for ob in bpy.data.objects if ob.session_uid == self.uid), None)
        if armature is None or armature.pose is None or self.tip not in armature.pose.bones:
            return None
        self.name = armature.name
        return armature

    def cancel_drag(self, armature: Object) -> bool:
        """Restore the pose of the present surroundings from before they were dragged, if there is one."""
        if self.channels is None or self.surroundings not in self.left:
            return False
        self.posed = self.left[self.surroundings]
        self.forget_reading()
        self.channels.restore(armature, self.posed)
        remember_written(armature.pose.bones[name] for name in self.channels.bones)
        return True

    def is_overwritten(self, armature: Object) -> bool:
        """Tell whether NLA strips have replaced the pose, as they do when the frame changes."""
        channels = self.channels
        return channels is not None and channels.has_strips and channels.read(armature) != self.posed

    def remember(self, armature: Object, before: Surroundings, held: bool, new_frame: bool = False) -> bool:
        """Remember the pose as it is before it is changed; `before` are the surroundings that led to it.

        Returns whether somebody else has posed it; strips, which do so at a `new_frame`, are nobody.
        """
        assert self.channels is not None
        present = self.channels.read(armature)
        if not held:
            self.left.pop(before, None)
            self.left[before] = present
            if len(self.left) > _REMEMBERED:
                del self.left[next(iter(self.left))]
        return self.channels.is_changed(present, self.posed, new_frame)


def surroundings_of(now: Sample, depsgraph: Depsgraph) -> Surroundings:
    """Return everything that a limb follows, in a form that can be compared.

    Of a surface it is the mesh: the place on it that is reached follows the limb itself. Of a flow it is the target and
    the frame: the tip goes one step for each.
    """
    obstacles = (
        (each.frame.freeze(), each.looks, each.lowest.freeze(), each.highest.freeze()) for each in now.obstacles
    )
    on_surface = now.limb.on_surface
    target: Any = surface_state(now.limb.target, depsgraph) if on_surface else now.target.freeze()
    if now.limb.follows_flow:
        target = frame_of(now.limb.target, now.limb.subtarget, depsgraph).freeze(), now.frame
    places = target, now.rig.world.freeze(), now.rig.base.freeze(), now.pole and now.pole.freeze()
    return *places, now.looks, *obstacles


def is_animated(rig: Boned, moved: str = "") -> bool:
    """Tell whether the active action has rotation keys, or such of the location of the bone that is `moved`.

    They are not overridden. What strips animate is: it is the animation that is solved on, as in a bake.
    """
    animation = rig.armature.animation_data
    if animation is None:
        return False
    bones = [rig.armature.pose.bones[name] for name in rig.bones]
    paths = {bone.path_from_id(channel(bone)[0]) for bone in bones}
    if moved:
        paths.add(rig.armature.pose.bones[moved].path_from_id("location"))
    return any(curve.data_path in paths and not curve.mute for curve in curves_of(rig.armature))
