# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror a motion: left and right of limbs are swapped, with their targets, holds, contacts and keys.

Bones, targets and settings change sides; each value becomes its mirror image in the plane of symmetry of the rest pose.
Done twice, everything is as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import FCurve, Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix

from ...errors import ChainError, TargetError
from ...kinematics import Free
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import product
from ...kinematics.rotation import orientation
from ...rig.armature import find_bone, other_side
from ...rig.body import Contact, store_contacts, stored_contacts
from ...rig.by_hand.keys import remember_before, remember_written, values_before_writing
from ...rig.checks import check_armature
from ...rig.frames.curve_values import rotation_quaternions
from ...rig.keyframes import AnimatedValues, check_action, check_curves, curves_of
from ...rig.keyframes.arrays import KeyArrays, get_keys, put_keys
from ...rig.keyframes.channelbags import channelbag_of, new_curve
from ...rig.keyframes.reading import Replaced, put_replaced, replaced_in
from ...rig.keyframes.shaping import Change, changed_keys, with_keys_at
from ...rig.rotation import channel, run_of
from ...rig.stance import stance_of
from ...rig.targets.motion import carried_by_nothing_but
from ...rig.targets.untouched import (
    MADE_ROTATION,
    forget_rotation,
    is_as_made,
    is_waiting,
    keep_waiting,
    let_wait,
    remember_rotation,
)
from ...rig.timeline import Clock
from ...settings import check_registered
from ...settings.property_groups import keep_settings
from ..shots.problem import body_of
from ..shots.writing import Undo

_SQUARE = 1e-3  # difference of a mirror image from axes of the other bone that rounding explains
_SIDED = ("hold", "hold_where", "influence", "enabled", "orientation", "use_offset", "shape")
_WHOLE = (*_SIDED, "target", "subtarget", "chain_count", "use_selected", "body_part")


class Mirrored(NamedTuple):
    """Names of the bones and targets that were mirrored, both sides."""

    bones: tuple[str, ...]
    targets: tuple[str, ...]


class _Plane:
    """The plane of symmetry of an armature at rest, armature space: its reflection, and the way of its origin."""

    def __init__(self, armature: Object) -> None:
        normal = np.array(stance_of(armature).left, float)
        self.reflection = np.eye(3) - 2.0 * np.outer(normal, normal)
        pairs = [(bone, armature.data.bones.get(_flip(armature, bone.name))) for bone in armature.data.bones]
        middles = [(np.array(a.head_local) + np.array(b.head_local)) / 2.0 for a, b in pairs if b and a.name != b.name]
        away = float(np.median([middle @ normal for middle in middles])) if middles else 0.0
        self.way = 2.0 * away * normal

    def between(self, one: PoseBone, other: PoseBone) -> Numbers:
        """Return the matrix (3x3) from the rest frame of a bone to that of its mirror image, which it turns over."""
        rests = [np.array(each.bone.matrix_local.to_3x3(), float) for each in (one, other)]
        found = rests[1].T @ self.reflection @ rests[0]
        near = np.round(found)
        return near if np.abs(found - near).max() < _SQUARE else found


def mirror_motion(
    armature: Object,
    tips: Sequence[str],
    frame_offset: float = 0.0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Mirrored:
    """Swap left and right of limbs, and of the limbs on the other side: targets, holds, contacts and keys.

    `tips` end the limbs; of a body all of it is mirrored. The mirrored motion begins `frame_offset` frames later.
    Limits stay with their bones. Raises an IKError that names the culprit; then nothing has changed.
    """
    check_registered()
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_armature(armature, view_layer)
    plane, limbs = _Plane(armature), _limb_tips(armature, tips)
    bones = _bones_of(armature, limbs)
    targets = _targets_of(armature, limbs)
    _check(armature, bones, targets)
    with Undo() as undo:
        for ob in (armature, *dict.fromkeys(targets.values())):
            undo.callback(AnimatedValues(ob, []).update_and_restore, view_layer)
        keep_settings(armature, undo)
        later = Clock(scene, armature).time(frame_offset) - Clock(scene, armature).time(0.0)
        waiting = {tip for tip in limbs if is_waiting(armature.pose.bones[tip])}
        pairs = sorted({tuple(sorted((name, _flip(armature, name)))) for name in bones})
        for one, other in pairs:
            _mirror_bones(armature, one, other, plane, later, undo)
        done = set[int]()
        for one, target in targets.items():
            partner = targets.get(_flip(armature, one)) or target
            if target.session_uid not in done:
                done |= {target.session_uid, partner.session_uid}
                _mirror_targets(armature, one, target, partner, plane, later, undo)
        for one, other in sorted({tuple(sorted((tip, _flip(armature, tip)))) for tip in limbs}):
            _swap_settings(armature, one, other, plane)
        _mirror_contacts(armature, {name for pair in pairs for name in pair}, round(frame_offset))
        view_layer.update()
        for tip in [_flip(armature, name) for name in waiting]:
            keep_waiting(armature.pose.bones[tip], undo)
            let_wait(armature.pose.bones[tip])
        undo.pop_all()
    names = dict.fromkeys(target.name for target in targets.values())
    return Mirrored(tuple(name for pair in pairs for name in dict.fromkeys(pair)), tuple(names))


def _flip(armature: Object, name: str) -> str:
    """Return the name of the bone on the other side; of a bone in the middle its own."""
    return other_side(name, armature.data.bones)


def _limb_tips(armature: Object, tips: Sequence[str]) -> list[str]:
    """Return the tips of limbs and of those on the other side; with one of a body, those of all of it."""
    found: dict[str, None] = {}
    for tip in tips:
        find_bone(armature, tip)
        body = body_of(armature, tip)
        found |= dict.fromkeys(body.tips if body else (tip,))
    for tip in [*found]:
        other = _flip(armature, tip)
        if other not in armature.pose.bones:
            raise ChainError(f"'{tip}' has no partner: '{armature.name}' has no bone '{other}'. Name it so.")
        found[other] = None
    if not found:
        raise ChainError("No limbs are selected. Select the hand or foot to mirror.")
    return [*found]


def _bones_of(armature: Object, tips: Iterable[str]) -> list[str]:
    """Return the names of the bones of limbs. Raises ChainError for a bone without a partner."""
    bones, found = armature.pose.bones, dict[str, None]()
    for tip in tips:
        stored = bones[tip].ik_triangulation
        both = stored, bones[_flip(armature, tip)].ik_triangulation
        own = next((each for each in both if each.target or each.hold), None)
        if own is None:
            raise ChainError(f"'{tip}' ends no limb, and nor does its partner. Add one with Add Limb.")
        line = [bones[tip], *bones[tip].parent_recursive]
        found |= dict.fromkeys(bone.name for bone in line[: own.chain_count or len(line)])
    for name in [*found]:
        other = _flip(armature, name)
        if other not in bones:
            raise ChainError(f"'{name}' has no partner: '{armature.name}' has no bone '{other}'. Name it so.")
        found[other] = None
    return [*found]


def _targets_of(armature: Object, tips: Iterable[str]) -> dict[str, Object]:
    found = {}
    for tip in tips:
        stored = armature.pose.bones[tip].ik_triangulation
        if stored.target is not None and not stored.hold:
            if stored.target.type == "ARMATURE" or not carried_by_nothing_but(armature, stored.target):
                raise TargetError(
                    f"Target '{stored.target.name}' is a bone, or is carried by another object: its motion has no "
                    "mirror image of its own. Choose an empty without parent, spaces and constraints."
                )
            if any((*stored.target.delta_location, *stored.target.delta_rotation_euler)):
                raise TargetError(f"Target '{stored.target.name}' has delta transforms. Use Object > Apply > Deltas.")
            found[tip] = stored.target
    return found


def _check(armature: Object, bones: Sequence[str], targets: Mapping[str, Object]) -> None:
    """Raise the IKError for actions or curves that cannot be changed, and for an armature that moves on its own."""
    moves = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle")
    own = [curve for curve in curves_of(armature) if curve.data_path in moves]
    loose = next((target for target in targets.values() if target.parent != armature), None)
    if own and loose is not None:
        raise TargetError(f"'{armature.name}' is animated as an object. Parent '{loose.name}' to it first.")
    for ob in dict.fromkeys((armature, *targets.values())):
        check_action(ob)
        if ob.library is not None:
            raise TargetError(f"'{ob.name}' is linked. Create a library override first.")
    paths = {armature.pose.bones[name].path_from_id() for name in bones}
    check_curves(
        [each for each in curves_of(armature) if each.data_path.rpartition(".")[0] in paths], "a mirrored bone"
    )
    for target in dict.fromkeys(targets.values()):
        check_curves(list(curves_of(target)), f"target '{target.name}'")


def _mirror_bones(armature: Object, one: str, other: str, plane: _Plane, later: float, undo: ExitStack) -> None:
    """Swap the channels of two bones, or mirror those of a bone in the middle, with all their keys."""
    bones = armature.pose.bones
    pair = [(bones[one], bones[other])] + ([(bones[other], bones[one])] if one != other else [])
    taken = []
    for bone, to in pair:
        turn = plane.between(bone, to)
        place = turn if bone.bone.use_local_location else plane.reflection
        changes = {
            "location": _linear(place),
            "scale": _linear(turn**2),
            "rotation_quaternion": _turned(-turn, -turn.T, "QUATERNION"),
            "rotation_axis_angle": _turned(-turn, -turn.T, "AXIS_ANGLE"),
            "rotation_euler": _turned(-turn, -turn.T, _euler_mode(bone)),
        }
        values = {name: tuple(getattr(bone, name)) for name in changes}
        before = values_before_writing(bone)
        taken.append((to, changes, values, before, bone.rotation_mode, channel(bone)[0]))
    _swap_curves(armature, one, other, later, {to.name: (changes, values) for to, changes, values, *_ in taken}, undo)
    for to, changes, values, before, mode, turning in taken:
        undo.callback(setattr, to, "rotation_mode", to.rotation_mode)
        for name in values:
            undo.callback(setattr, to, name, tuple(getattr(to, name)))
        to.rotation_mode = mode
        for name, value in values.items():
            setattr(to, name, changes[name](np.array([value], float))[0].tolist())
        remember_before(to, changes[turning](np.array([before[: len(values[turning])]], float))[0].tolist(), undo)
        remember_written([to])


def _swap_curves(
    armature: Object, one: str, other: str, later: float, by_bone: Mapping[str, Any], undo: ExitStack
) -> None:
    """Give the curves of each of two bones to the other, changed; also those of the settings of its limb."""
    bag, bones = channelbag_of(armature), armature.pose.bones
    if bag is None:
        return
    paths = {name: bones[name].path_from_id() + "." for name in (one, other)}
    known = {(name, prop): replaced_in(bag, paths[name] + prop) for name in (one, other) for prop in by_bone[one][0]}
    groups = [(group, other if group.name == one else one) for group in bag.groups if group.name in (one, other)]
    for group, name in groups:
        undo.callback(setattr, group, "name", group.name)
        group.name = f"{name} mirrored"
    for group, name in groups:
        group.name = name
    moved: dict[tuple[str, str], dict[int, FCurve]] = {}
    for curve in list(bag.fcurves):
        for name, to in ((one, other), (other, one)):
            if curve.data_path.startswith(paths[name]):
                prop = curve.data_path.removeprefix(paths[name])
                moved.setdefault((to, prop), {})[curve.array_index] = curve
                break
    for (to, prop), curves in moved.items():
        for curve in curves.values():
            undo.callback(put_keys, curve, get_keys(curve))
            undo.callback(setattr, curve, "data_path", curve.data_path)
            curve.data_path = paths[to] + prop
        changes, values = by_bone[to]
        if prop in changes:
            _change(curves, changes[prop], values[prop], bag, paths[to] + prop, to, undo)
        _shift(curves.values(), later)
    for (name, prop), kept in known.items():
        to = other if name == one else one
        changes, values = by_bone[to]
        put_replaced(bag, paths[to] + prop, _replaced(kept, changes[prop], values[prop], later), undo)


def _replaced(kept: Replaced | None, change: Change, present: Sequence[float], later: float) -> Replaced | None:
    """Return the mirror image of what a bake has replaced."""
    if kept is None:
        return None
    before = change(np.array([kept.before[: len(present)]], float))[0] if kept.before else ()
    new = []
    for keys in (kept.keys, dict(kept.followed)):
        alike = keys and len({tuple(each["co"][:, 0].tolist()) for each in keys.values()}) == 1
        new.append(changed_keys(keys, kept.before or present, change) if alike else {})
        for column in new[-1].values():
            _later(column, later)
    return Replaced(kept.mode, tuple(map(float, before)), *new)


def _change(
    curves: dict[int, FCurve],
    change: Change,
    present: Sequence[float],
    bag: Any,
    path: str,
    group: str,
    undo: ExitStack,
) -> None:
    """Change the values of the keys of a property's curves; curves are made where the change needs them."""
    times = sorted({time for curve in curves.values() for time in get_keys(curve, ["co"])["co"][:, 0].tolist()})
    keys = {index: with_keys_at(curve, times) for index, curve in curves.items() if len(curve.keyframe_points)}
    if not keys:
        return
    for index, new in changed_keys(keys, present, change).items():
        curve = curves.get(index)
        if curve is None:
            curve = curves[index] = new_curve(bag, path, index, group, undo)
        put_keys(curve, new)


def _shift(curves: Iterable[FCurve], later: float) -> None:
    for curve in curves if later else ():
        keys = get_keys(curve)
        _later(keys, later)
        put_keys(curve, keys)


def _later(keys: KeyArrays, later: float) -> None:
    for name in ("co", "handle_left", "handle_right"):
        keys[name][:, 0] += later


def _euler_mode(owner: Object | PoseBone) -> str:
    """Return the order of the Euler angles of a bone or object; XYZ where it is not turned by them."""
    mode = str(owner.rotation_mode)
    return "XYZ" if mode in {"QUATERNION", "AXIS_ANGLE"} else mode


def _linear(by: Numbers, way: Numbers | float = 0.0) -> Change:
    return lambda values: values @ by.T + way


def _turned(left: Numbers, right: Numbers, mode: str) -> Change:
    """Return the change of rotation channels, in a mode, of a rotation R to left R right (3x3 rotations)."""
    if np.allclose(left @ right, np.eye(3), atol=1e-9):
        by = np.eye(4)
        by[1:, 1:] = left  # a rotation vector turns as its axis does
        if mode in {"QUATERNION", "AXIS_ANGLE"}:
            return _linear(by)
        if np.array_equal(np.abs(left), np.eye(3)):
            return _linear(left)
    turns = [np.array(_matrix(each).to_quaternion()) for each in (left, right)]

    def change(values: Numbers) -> Numbers:
        rotations = rotation_quaternions(values.T, mode)
        turned = product(product(turns[0][:, None], rotations), turns[1][:, None]).T
        if mode == "QUATERNION":
            return np.ascontiguousarray(turned)
        return np.asarray(run_of(np.ascontiguousarray(turned), mode, Free(), tuple(values[0])), float)

    return change


def _mirror_targets(
    armature: Object, tip: str, target: Object, partner: Object, plane: _Plane, later: float, undo: ExitStack
) -> None:
    """Swap the motions of two targets, or mirror that of one; a target turns as the tip of its limb does."""
    bones, other = armature.pose.bones, _flip(armature, tip)
    as_made = {each.session_uid: is_as_made(each) for each in (target, partner)}
    taken = []
    for name, to_name, source, to in ((tip, other, target, partner), (other, tip, partner, target)):
        into = [_into_armature(each, armature) for each in (source, to)]
        back = np.linalg.inv(into[1])
        mirror = np.eye(4)
        mirror[:3, :3], mirror[:3, 3] = plane.reflection, plane.way
        place = back @ mirror @ into[0]
        turn = plane.between(bones[name], bones[to_name])
        frames = [np.array(orientation(_matrix(each)).to_matrix(), float) for each in into]
        left = -(frames[1].T @ plane.reflection @ frames[0])
        changes = {
            "location": _linear(place[:3, :3], place[:3, 3]),
            "rotation_quaternion": _turned(left, -turn.T, "QUATERNION"),
            "rotation_axis_angle": _turned(left, -turn.T, "AXIS_ANGLE"),
            "rotation_euler": _turned(left, -turn.T, _euler_mode(source)),
        }
        values = {prop: tuple(getattr(source, prop)) for prop in changes}
        keys = {
            prop: {curve.array_index: curve for curve in curves_of(source) if curve.data_path == prop}
            for prop in changes
        }
        taken.append((source, to, changes, values, keys, source.rotation_mode))
        if source == to:
            break
    if target != partner:
        _swap_actions(target, partner, undo)
    for source, to, changes, values, keys, mode in taken:
        bag = channelbag_of(to)
        for prop, curves in keys.items():
            for curve in curves.values():
                undo.callback(put_keys, curve, get_keys(curve))
            if curves:
                _change(curves, changes[prop], values[prop], bag, prop, "Object Transforms", undo)
        _shift(curves_of(to), later)
        undo.callback(setattr, to, "rotation_mode", to.rotation_mode)
        undo.callback(setattr, to, MADE_ROTATION, tuple(getattr(to, MADE_ROTATION)))
        for prop in values:
            undo.callback(setattr, to, prop, tuple(getattr(to, prop)))
        to.rotation_mode = mode
        turning = channel(to)[0]
        for prop in ("location", turning):
            setattr(to, prop, changes[prop](np.array([values[prop]], float))[0].tolist())
        if as_made[source.session_uid]:
            remember_rotation(to)
        else:
            forget_rotation(to)


def _into_armature(target: Object, armature: Object) -> Numbers:
    """Return the matrix (4x4) from a target's channels to the space of its armature."""
    world = target.matrix_parent_inverse if target.parent == armature else armature.matrix_world.inverted()
    return np.array(world, float)


def _matrix(of: Numbers) -> Any:
    return Matrix(of.tolist()).to_3x3()


def _swap_actions(one: Object, other: Object, undo: ExitStack) -> None:
    """Give each of two objects the action and slot of the other."""
    held = []
    for ob in (one, other):
        animation = ob.animation_data
        held.append((animation.action, animation.action_slot) if animation else (None, None))
    for ob, (action, slot) in ((one, held[1]), (other, held[0])):
        undo.callback(_assign, ob, *held[ob == other])
        _assign(ob, action, slot)


def _assign(ob: Object, action: Any, slot: Any) -> None:
    if ob.animation_data is None:
        if action is None:
            return
        ob.animation_data_create()
    ob.animation_data.action = action
    if action is not None:
        ob.animation_data.action_slot = slot


def _swap_settings(armature: Object, one: str, other: str, plane: _Plane) -> None:
    """Swap what sides have of their limbs' settings; a limb whose partner is none changes sides."""
    bones = armature.pose.bones
    groups = {name: bones[name].ik_triangulation for name in (one, other)}
    both = all(each.target is not None or each.hold for each in groups.values())
    both = both and (groups[one].target is None) == (groups[other].target is None)
    names = _SIDED if both else _WHOLE
    read = {name: {setting: _plain(getattr(group, setting)) for setting in names} for name, group in groups.items()}
    offsets = {name: (np.array(group.offset_location), tuple(group.offset_rotation)) for name, group in groups.items()}
    for name, to in ((one, other), (other, one)):
        turn = plane.between(bones[name], bones[to])
        for setting, value in read[name].items():
            if _plain(getattr(groups[to], setting)) != value:
                setattr(groups[to], setting, value)
        place, rotation = offsets[name]
        groups[to].offset_location = (turn @ place).tolist()
        groups[to].offset_rotation = _turned(-turn, -turn.T, "QUATERNION")(np.array([rotation], float))[0].tolist()
    armature.update_tag()


def _plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _mirror_contacts(armature: Object, bones: set[str], later: int) -> None:
    """Swap the sides of the contacts of these bones."""
    contacts = stored_contacts(armature)
    if not any(each.tip in bones for each in contacts):
        return
    store_contacts(armature, [_flipped(armature, each, later) if each.tip in bones else each for each in contacts])


def _flipped(armature: Object, contact: Contact, later: int) -> Contact:
    """Return a contact of the other side, on the other bone if it is on one of the same armature."""
    bone = _flip(armature, contact.bone) if contact.bone and contact.support == armature else contact.bone
    first, last = contact.frame_start + later, contact.frame_end + later
    return contact._replace(tip=_flip(armature, contact.tip), frame_start=first, frame_end=last, bone=bone)
