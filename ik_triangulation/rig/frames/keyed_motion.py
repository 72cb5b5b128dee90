# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of objects and bones that are moved by F-curves alone, and by parents that are: read without evaluation."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np
from bpy.types import AnimData, FCurve, Object, PoseBone
from mathutils import Matrix

from ...kinematics.arrays import Array
from ..armature import locating
from ..dependencies import ik_constraints
from ..keyframes import curves_of
from ..rotation import channel
from .curve_values import values_at
from .transforms import composed_matrices, from_matrix, products, rotation_matrices, to_matrix

CurvesByPath = dict[str, list[FCurve]]

# Beginnings of the paths of properties that no array of values stands for, of objects, bones and armatures.
_UNREAD = ("rotation_mode", "parent", "matrix", "track_axis", "up_axis")
_TRANSFORMS = tuple(
    delta + name
    for delta in ("", "delta_")
    for name in ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")
)
_PLACES = {"location", "delta_location"}
_UNREAD_OF_DATA = ("bones[", "pose_position")


class NotKeyedError(Exception):
    """Motion that F-curves alone do not tell: something has constraints, drivers, NLA tracks or physics."""


class KeyedMotion:
    """Matrices of objects and bones at all `times` (evaluated, not those of the timeline), as arrays.

    Each is (4, 4, times), or (4, 4, 1) if it does not move. `compound` is True if there was more to read than the
    keys of objects without a parent.
    """

    def __init__(self, times: Array) -> None:
        self._times = times
        self.compound = False
        self._curves: dict[int, CurvesByPath] = {}
        self._worlds: dict[int, Array] = {}
        self._posed: dict[tuple[int, str], Array] = {}
        self._turned_by_ik: dict[int, Collection[str]] = {}

    def at_present(self) -> KeyedMotion:
        """Return the same for the present values of all properties, whatever their F-curves say."""
        now = KeyedMotion(np.empty(0))
        now._curves, now._turned_by_ik = self._curves, self._turned_by_ik
        return now

    def place(self, ob: Object, bone: str = "") -> Array:
        """Return the world matrices of an object or of one of its bones. Raises NotKeyedError."""
        return products(self.world(ob), self.posed(ob, bone)) if bone else self.world(ob)

    def curves(self, ob: Object) -> CurvesByPath:
        """Return the F-curves of an object that is moved by them alone, by path. Raises NotKeyedError."""
        found = self._curves.get(ob.session_uid)
        if found is None:
            if len(ob.constraints) or ob.rigid_body or not _only_action(ob.animation_data):
                raise NotKeyedError
            if ob.type == "ARMATURE" and ob.data.animation_data:
                if not _only_action(ob.data.animation_data):
                    raise NotKeyedError
                if any(curve.data_path.startswith(_UNREAD_OF_DATA) for curve in curves_of(ob.data)):
                    raise NotKeyedError
            found = self._curves[ob.session_uid] = by_path(ob)
            if any(path.startswith(_UNREAD) for path in found):
                raise NotKeyedError
        return found

    def world(self, ob: Object) -> Array:
        """Return the world matrices of an object. Raises NotKeyedError."""
        known = self._worlds.get(ob.session_uid)
        if known is None:
            known = self._basis(ob, self.curves(ob))
            if ob.parent:
                known = products(products(self._parent(ob), from_matrix(ob.matrix_parent_inverse)), known)
                self.compound = self.compound or known.shape[2] > 1
            self._worlds[ob.session_uid] = known
        return known

    def _basis(self, holder: Object | PoseBone, curves: CurvesByPath, start: str = "") -> Array:
        """Return the matrices of an object's or a bone's own location, rotation and scale, with their deltas.

        Its paths begin with `start`.
        """
        keyed = {name for name in _TRANSFORMS if start + name in curves} if len(self._times) else set()
        values = partial(self._values, holder, curves, start)
        if not keyed:
            return from_matrix(holder.matrix_basis)
        is_object = isinstance(holder, Object)
        place = values("location") + values("delta_location") if is_object else values("location")
        if keyed <= _PLACES:
            moved = np.repeat(from_matrix(holder.matrix_basis), place.shape[1], axis=2)
            moved[:3, 3] = place
            return moved
        prop, mode = channel(holder)[0], holder.rotation_mode
        rotation, scale = rotation_matrices(values(prop), mode), values("scale")
        if is_object:
            scale = scale * values("delta_scale")
            if mode != "AXIS_ANGLE":  # which has no delta
                rotation = products(rotation_matrices(values(f"delta_{prop}"), mode), rotation)
        return composed_matrices(place, rotation, scale)

    def _parent(self, ob: Object) -> Array:
        """Return the world matrices of the frame that an object is parented to."""
        parent = ob.parent
        if ob.parent_type == "BONE":
            bone = parent.data.bones.get(ob.parent_bone) if parent.type == "ARMATURE" else None
            if bone is None or bone.use_relative_parent:
                raise NotKeyedError
            tail = from_matrix(Matrix.Translation((0.0, bone.length, 0.0)))
            return products(self.place(parent, bone.name), tail)
        follows_path = parent.type == "CURVE" and parent.data.use_path
        if ob.parent_type not in {"OBJECT", "ARMATURE"} or follows_path:
            raise NotKeyedError
        return self.world(parent)

    def posed(self, ob: Object, name: str) -> Array:
        """Return the matrices of a bone in armature space. Raises NotKeyedError."""
        known = self._posed.get((ob.session_uid, name))
        if known is None:
            curves, bone = self.curves(ob), ob.pose.bones[name]
            if ob.data.pose_position == "REST" or ob.data.is_editmode or len(bone.constraints):
                raise NotKeyedError
            if name in self._turned(ob) or bone.path_from_id("rotation_mode") in curves:
                raise NotKeyedError
            parent = self.posed(ob, bone.parent.name) if bone.parent else None
            known = self._posed[ob.session_uid, name] = self._inherited(bone, curves, parent)
            self.compound = self.compound or known.shape[2] > 1
        return known

    def _inherited(self, bone: PoseBone, curves: CurvesByPath, parent: Array | None) -> Array:
        """Return the matrices of a bone whose parent's are given, by Blender's rules of inheritance."""
        rest, basis = bone.bone, self._basis(bone, curves, bone.path_from_id() + ".")
        rest_above = rest.parent.matrix_local if rest.parent else Matrix.Identity(4)
        from_parent = rest_above.inverted() @ rest.matrix_local
        if parent is not None and not (rest.use_inherit_rotation and rest.inherit_scale == "FULL"):
            if rest.use_connect:
                basis[:3, 3] = 0.0
            return _by_blender(bone, basis, parent, rest_above)
        local = products(from_matrix(from_parent.to_3x3().to_4x4()), basis)
        place = products(from_matrix(locating(rest, from_parent)), basis[:3, 3][:, None])
        local[:3, 3] = place[:, 0] + np.array(from_parent.translation)[:, None]
        return local if parent is None else products(parent, local)

    def _turned(self, ob: Object) -> Collection[str]:
        """Return the names of the bones that IK constraints on bones below them may turn."""
        if ob.session_uid not in self._turned_by_ik:
            self._turned_by_ik[ob.session_uid] = ik_constraints(ob)
        return self._turned_by_ik[ob.session_uid]

    def _values(self, holder: Object | PoseBone, curves: CurvesByPath, start: str, name: str) -> Array:
        """Return the values (channels, times) of a property; (channels, 1) if they do not change."""
        values = np.array(tuple(getattr(holder, name)), np.float64)[:, None]
        heard = [curve for curve in curves.get(start + name, ()) if not curve.mute and not curve.is_empty]
        if not heard:
            return values
        values = np.repeat(values, len(self._times), axis=1)
        values[[curve.array_index for curve in heard]] = values_at(heard, self._times).astype(np.float32)
        return values[:, :1] if (values == values[:, :1]).all() else values


def by_path(ob: Object) -> CurvesByPath:
    """Return the F-curves of an object's active action, by path."""
    found: CurvesByPath = {}
    for curve in curves_of(ob):
        found.setdefault(curve.data_path, []).append(curve)
    return found


def _only_action(animation: AnimData | None) -> bool:
    """Tell whether nothing but an active action animates a data-block."""
    if animation is None:
        return True
    return not (len(animation.drivers) or len(animation.nla_tracks) or animation.action_influence < 1.0)


def _by_blender(bone: PoseBone, basis: Array, parent: Array, rest_above: Matrix) -> Array:
    """Return the matrices of a bone that does not inherit all of its parent's transform, frame by frame."""
    rest, frames = bone.bone, max(basis.shape[2], parent.shape[2])
    convert, local = rest.convert_local_to_pose, rest.matrix_local
    posed = [
        convert(to_matrix(basis, k), local, parent_matrix=to_matrix(parent, k), parent_matrix_local=rest_above)
        for k in range(frames)
    ]
    return np.array(posed).transpose(1, 2, 0)
