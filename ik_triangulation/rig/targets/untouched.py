# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that were made for a body: not turned yet, waiting until they are moved, or hung on its own bones.

A hand whose target is only moved stays natural to its forearm. It turns with its target, over the whole shot, once that
is turned anywhere in it: now, by keys, a driver or a constraint. Keys that hold the rotation with which the target was
made turn nothing, as Blender keys rotation along with location by default; nor does the target's parent. The rotation
is stored on the target: another target of the limb has none, and a copy of this one has it too.

Targets of a body that was set up wait until they are moved or keyed. A hand whose empty has not been touched follows
the body with its own animation, as if it had no target. The empty goes along with it, so that it is at the hand when it
is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import radians
from typing import NamedTuple

import numpy as np
from bpy.types import AnimData, Constraint, Depsgraph, FCurve, Object, PoseBone, PropertyGroup, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ...kinematics import Free
from ...kinematics.rotation import rotation_angle
from ..armature import object_or_bone
from ..body import RigBody
from ..checks import check_armature, check_limb
from ..dependencies import Dependencies
from ..keyframes.arrays import enum_number, get_keys
from ..limb import Limb
from ..rotation import channel, rotation_from, values_for
from ..stance import look_of
from ..timeline import curves_in, strips_of
from .made import hangs_at_most_on, is_space, space_constraints

MADE_ROTATION = "ik_triangulation_made_rotation"  # the property of objects
_TURNED = radians(0.1)  # more than this is a turn
_DELTAS = {"rotation_euler": "delta_rotation_euler"}  # of other modes a quaternion
_ONLY_PLACE = {
    "CLAMP_TO",
    "COPY_LOCATION",
    "COPY_SCALE",
    "LIMIT_DISTANCE",
    "LIMIT_LOCATION",
    "LIMIT_SCALE",
    "MAINTAIN_VOLUME",
    "PIVOT",
}
# Constraints that turn their owner if one of these is on.
_SWITCHES = {
    "CHILD_OF": ("use_rotation_x", "use_rotation_y", "use_rotation_z"),
    "FLOOR": ("use_rotation",),
    "FOLLOW_PATH": ("use_curve_follow",),
    "SHRINKWRAP": ("use_track_normal",),
}

_SAME = 1e-6  # difference of matrices that is rounding, relative to their largest number
_AHEAD = 2.0  # of the length of a head: distance to the ball it looks at

_faces: dict[tuple[object, ...], Vector] = {}  # places in front of faces, in the bone's own axes, of one rest pose


def remember_rotation(target: Object) -> None:
    """Store the present rotation of a target as the one with which it was made for a hand."""
    setattr(target, MADE_ROTATION, _rotation(target))


def forget_rotation(target: Object) -> None:
    """Have a hand turn with its target from now on, as if that was turned."""
    setattr(target, MADE_ROTATION, (0.0, 0.0, 0.0, 0.0))


def made_rotation_of(target: Object) -> tuple[float, ...]:
    """Return the quaternion with which a target was made for a hand; zeros, or nothing, if it was not."""
    return tuple(getattr(target, MADE_ROTATION, ()))  # missing where nothing is registered


def is_as_made(target: Object) -> bool:
    """Tell whether a target was made for a hand and is not turned since, neither now nor anywhere in its animation."""
    stored = made_rotation_of(target)
    if not any(stored):
        return False
    made = Quaternion(stored)
    if rotation_angle(_rotation(target), made) > _TURNED or any(map(_turns, target.constraints)):
        return False
    animation = target.animation_data
    return animation is None or not _is_turned_by(animation, target, made)


def is_not_turned_yet(stored: PropertyGroup) -> bool:
    """Tell whether the tip of a limb, whose settings are `stored`, turns with its target only once that is turned."""
    target = stored.target
    if stored.orientation != "AUTO" or target is None or target.type != "EMPTY":
        return False
    return target.empty_display_type == "ARROWS" and is_as_made(target)


def _rotation(target: Object, curves: Sequence[FCurve] = ()) -> Quaternion:
    """Return the target's own rotation, with its delta; of channels with one of these curves, at its first key."""
    path, delta = _paths(target)
    values = {name: list(getattr(target, name)) for name in (path, delta)}
    for curve in curves:
        values[curve.data_path][curve.array_index] = curve.keyframe_points[0].co.y
    mode = target.rotation_mode
    turned = rotation_from(values[path], mode)
    return turned if mode == "AXIS_ANGLE" else rotation_from(values[delta], mode) @ turned  # which has no delta


def _paths(target: Object) -> tuple[str, str]:
    """Return the names of the properties by which a target is turned: of its rotation mode, and that of its delta."""
    path = channel(target)[0]
    return path, _DELTAS.get(path, "delta_rotation_quaternion")


def _is_turned_by(animation: AnimData, target: Object, made: Quaternion) -> bool:
    """Tell whether drivers, the active action or NLA strips give a target another rotation than it was made with."""
    paths = _paths(target)
    if any(curve.data_path in paths and not curve.mute for curve in animation.drivers):
        return True
    for curves, replaces in _animations(animation):
        turning = [curve for curve in curves if curve.data_path in paths and not (curve.mute or curve.is_empty)]
        if turning and (not replaces or any(map(_varies, turning))):
            return True
        if turning and rotation_angle(_rotation(target, turning), made) > _TURNED:
            return True
    return False


def _animations(animation: AnimData) -> Iterator[tuple[Sequence[FCurve], bool]]:
    """Yield the F-curves of the active action and of each NLA strip, and whether they replace what is below."""
    yield list(curves_in(animation.action, animation.action_slot)), animation.action_blend_type == "REPLACE"
    for strip in strips_of(animation) if animation.use_nla else ():
        if not strip.mute:
            yield list(curves_in(strip.action, strip.action_slot)), strip.blend_type == "REPLACE"


def _varies(curve: FCurve) -> bool:
    """Tell whether the values of an F-curve differ by half of a turn that counts, or may."""
    if len(curve.sampled_points) or any(not modifier.mute for modifier in curve.modifiers):
        return True
    keys = get_keys(curve, ["co", "handle_left", "handle_right", "interpolation"])
    smooth = keys["interpolation"] == enum_number("interpolation", "BEZIER")
    values = np.concatenate((keys["co"][:, 1], keys["handle_left"][smooth, 1], keys["handle_right"][smooth, 1]))
    return not len(values) or bool(np.ptp(values) > _TURNED / 2.0)


def _turns(constraint: Constraint) -> bool:
    """Tell whether a constraint may turn its owner, but for spaces, which only carry it."""
    if constraint.mute or constraint.type in _ONLY_PLACE or is_space(constraint):
        return False
    switches = _SWITCHES.get(constraint.type)
    return switches is None or any(getattr(constraint, name) for name in switches)


def let_wait(bone: PoseBone) -> None:
    """Let the target of the limb that ends in a bone wait until it leaves the place where it is."""
    posed = bone.ik_triangulation_posed
    posed.waits, posed.waits_at = True, _place(bone.ik_triangulation.target)


def remember_made(bone: PoseBone) -> None:
    """Remember the place at which the target of the limb that ends in a bone was made."""
    bone.ik_triangulation_posed.waits_at = _place(bone.ik_triangulation.target)


def is_waiting(bone: PoseBone) -> bool:
    """Tell whether the target of this limb waits, and has not been touched since."""
    return bool(bone.ik_triangulation_posed.waits) and is_untouched(bone)


def is_untouched(bone: PoseBone) -> bool:
    """Tell whether the target was made for this limb and was never moved, keyed, parented or constrained."""
    posed, target = bone.ik_triangulation_posed, bone.ik_triangulation.target
    if not posed.is_property_set("waits_at") or target is None or bone.ik_triangulation.subtarget:
        return False
    animation = target.animation_data
    animated = animation and (animation.action or len(animation.drivers) or len(animation.nla_tracks))
    if animated or not hangs_at_most_on(bone.id_data, target) or len(target.constraints):
        return False
    return _is_same(_place(target), posed.waits_at)


def put_at_tip(target: Object, bone: PoseBone, frame: Matrix, looks: bool = False) -> None:
    """Put a target that hangs on nothing but its armature at the tail of a bone, turned as it.

    `frame` is that of the bone (4x4, armature space). If the bone `looks`, the target comes in front of its face, and
    keeps its rotation.
    """
    if looks:
        target.location = _into_channels(target) @ _before_face(bone, frame)
        return
    target.location, turn, _ = (_into_channels(target) @ place_at_tip(bone, frame)).decompose()
    turning = channel(target)[0]
    values = values_for(turn, target.rotation_mode, Free(), tuple(getattr(target, turning)))
    setattr(target, turning, values)


def _into_channels(target: Object) -> Matrix:
    """Return what makes a place in the world (4x4) one of the channels of a target, before its deltas."""
    if target.parent is None:
        return Matrix.Identity(4)
    return (target.parent.matrix_world @ target.matrix_parent_inverse).inverted_safe()


def place_at_tip(bone: PoseBone, frame: Matrix) -> Matrix:
    """Return a frame without scale (4x4, world space) at the tail of a bone that has this `frame` (armature space)."""
    return (bone.id_data.matrix_world @ frame @ Matrix.Translation((0.0, bone.bone.length, 0.0))).normalized()


def _before_face(bone: PoseBone, frame: Matrix) -> Vector:
    """Return the place in front of the face of a bone that has this `frame` (armature space), world space."""
    armature, rest = bone.id_data, bone.bone
    key = armature.session_uid, bone.name, len(armature.pose.bones), rest.length, rest.matrix_local.copy().freeze()
    if key not in _faces:
        look = look_of(armature, bone.name)  # of 700 bones this takes 10 ms
        _faces[key] = Vector((0.0, rest.length, 0.0)) + look.origin + look.axis * (_AHEAD * rest.length)
    return armature.matrix_world @ frame @ _faces[key]


def _is_at_tip(target: Object, bone: PoseBone, frame: Matrix, looks: bool) -> bool:
    """Tell whether a target is where put_at_tip() puts it, so that it does not have to be evaluated once more."""
    if looks:
        return _is_same(target.location, _into_channels(target) @ _before_face(bone, frame))
    place, turn, _ = (_into_channels(target) @ place_at_tip(bone, frame)).decompose()
    return _is_same(target.location, place) and rotation_angle(target.matrix_basis.to_quaternion(), turn) <= _SAME


def take_along_shown(rig: RigBody, view_layer: ViewLayer, undo: ExitStack) -> None:
    """Move the targets of a body that wait to their tips, as `view_layer` shows these, and update it if any has moved.

    Closing `undo` restores them.
    """
    bones = rig.armature.evaluated_get(view_layer.depsgraph).pose.bones
    tips = [rig.armature.pose.bones[limb.tip] for limb in rig.limbs]
    if take_along(tips, lambda name: bones[name].matrix, undo):
        view_layer.update()


def take_along(bones: Iterable[PoseBone], frame_of: Callable[[str], Matrix], undo: ExitStack) -> bool:
    """Move the targets that wait to their tips, and let them wait there; tell whether any has moved.

    `frame_of` returns the frame of a bone (4x4, armature space). A limb with an offset, whose empty cannot be turned as
    its tip, is left out. Closing `undo` restores them.
    """
    moved = False
    for bone in bones:
        limb, target = bone.ik_triangulation, bone.ik_triangulation.target
        if not is_waiting(bone) or limb.use_offset or target.library is not None:
            continue
        before, frame, looks = _place(target), frame_of(bone.name), limb.orientation == "LOOK"
        if _is_at_tip(target, bone, frame, looks):
            continue
        keep_waiting(bone, undo)
        as_made = is_as_made(target)
        put_at_tip(target, bone, frame, looks)
        if as_made:
            remember_rotation(target)
        let_wait(bone)
        moved |= not _is_same(_place(target), before)
    return moved


def keep_waiting(bone: PoseBone, undo: ExitStack) -> None:
    """Have the closing of `undo` give back the place at which the target of a limb waits."""
    target, at = bone.ik_triangulation.target, tuple(bone.ik_triangulation_posed.waits_at)
    undo.callback(setattr, bone.ik_triangulation_posed, "waits_at", at)
    for name in ("location", channel(target)[0], MADE_ROTATION):
        undo.callback(setattr, target, name, tuple(getattr(target, name)))


def _is_same(place: Iterable[float], other: Iterable[float]) -> bool:
    now, then = np.array(tuple(place)), np.array(tuple(other))
    return bool(np.abs(now - then).max() <= _SAME * max(1.0, np.abs(then).max()))


def _place(target: Object) -> list[float]:
    """Numbers of the target's own matrix, row by row."""
    return [number for row in target.matrix_basis for number in row]


class Carriers(NamedTuple):
    """Bones of a body on which the target of a limb hangs: at all frames, and while it is in a space of that name."""

    always: str
    spaces: Mapping[str, str]

    def at(self, limb: Limb, depsgraph: Depsgraph) -> str:
        """Return the bone that carries the target as evaluated; empty without one."""
        if not self.spaces:
            return self.always
        shown = limb.target.evaluated_get(depsgraph)
        owner = object_or_bone(shown, limb.subtarget)
        within = (bone for name, bone in self.spaces.items() if owner.constraints[name].influence > 0.0)
        return self.always or next(within, "")


def carriers_of(rig: RigBody, limb: Limb) -> Carriers:
    """Return the bones of a body on which the target of a limb hangs."""
    owner = object_or_bone(limb.target, limb.subtarget)
    spaces = [each for each in space_constraints(owner) if each.target] if owner else []
    found = {each.name: _carrier(rig, each.target, each.subtarget) for each in spaces}
    return Carriers(carrier_of(rig, limb), {name: bone for name, bone in found.items() if bone})


def carrier_of(rig: RigBody, limb: Limb) -> str:
    """Return the bone of the body on which the target of a limb hangs without a motion of its own; empty if on none.

    The target, or what it is parented to, such as a prop in a hand, is a bone, or is parented to one; a bone that is
    not of the body, such as a finger, moves with the one of the body that it hangs on.
    """
    return _carrier(rig, limb.target, limb.subtarget)


def _carrier(rig: RigBody, ob: Object, bone: str) -> str:
    target: Object | None = ob
    bones = rig.armature.pose.bones
    while target is not None:
        if target == rig.armature:
            line = [bone, *(above.name for above in bones[bone].parent_recursive)] if bone in bones else []
            return next((name for name in line if name in rig.bones), "")
        target, bone = _above(target)
    return ""


def check_body_limbs(rig: RigBody, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise what check_limb() does for a body and each of its limbs, but for targets that hang on its own bones."""
    known = Dependencies(rig.limbs)
    check_armature(rig.armature, view_layer)
    for limb in rig.limbs:
        check_limb(limb, scene, view_layer, known, carried=any(carriers_of(rig, limb)))
        known.check_obstacles(limb, frozenset(rig.bones))


def _above(ob: Object) -> tuple[Object | None, str]:
    """Return the object that an object hangs on, and its bone."""
    for constraint in ob.constraints:
        carries = constraint.type == "CHILD_OF" and constraint.target and not constraint.mute
        if carries and constraint.influence == 1.0 and not is_space(constraint):
            return constraint.target, constraint.subtarget
    return ob.parent, ob.parent_bone if ob.parent and ob.parent_type == "BONE" else ""
