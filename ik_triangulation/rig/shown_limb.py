# SPDX-License-Identifier: GPL-3.0-or-later
"""The limb that a character shows, which may follow IK controls while the FK controls stand idle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from bpy.types import Object, ViewLayer
from mathutils import Matrix, Quaternion

from ..errors import IKError
from ..kinematics.rotation import orientation
from .armature import is_flat
from .ik_controls import IKControls, ik_controls_of
from .keyframes import GENERATED, AnimatedValues, curves_of, made_by_hand
from .keyframes.arrays import KeyArrays, enum_number, get_keys, merge_keys, put_keys
from .keyframes.channelbags import channelbag_of, find_curves
from .keyframes.replaced import replaced_in
from .limb import Limb
from .rotation import channel
from .switches import switches_of

_SAME = 1e-3  # of a bone's length
_ALWAYS = float("-inf"), float("inf")


def controls_or_none(limb: Limb, of_end: bool = False) -> IKControls | None:
    """Return the IK controls of a limb, or of its end if that will do; None if it has none."""
    try:
        return ik_controls_of(limb, of_end=of_end)
    except IKError:
        return None


def shown_limb(limb: Limb) -> Limb:
    """Return a limb whose tip is the bone that shows the tip of this one; itself on a rig without IK controls."""
    controls = controls_or_none(limb)
    if controls is None or controls.tip.bone != limb.tip:
        return limb
    rests = limb.armature.data.bones
    own, shown = rests[limb.tip], rests[controls.tip.shown]
    alike = (own.head_local - shown.head_local).length + (own.tail_local - shown.tail_local).length
    return replace(limb, bones=(*limb.bones[:-1], shown.name)) if alike <= _SAME * own.length else limb


def key_bones(limb: Limb) -> Sequence[str]:
    """Return the bones whose keys animate a limb: its own and, if somebody has animated those, its IK controls."""
    controls = controls_or_none(limb)
    return [*limb.bones, *(controls.keyed if controls and is_animated_by_hand(limb.armature, controls) else ())]


def is_animated_by_hand(armature: Object, controls: IKControls) -> bool:
    """Tell whether IK controls have keys that somebody made, or had such keys before they were baked.

    Keys beside baked ones do not count: they correct a bake.
    """
    bag = channelbag_of(armature)
    for name in controls.keyed:
        for path in _paths(armature, name):
            known = replaced_in(bag, path)
            if known and any(len(keys["co"]) for keys in known.keys.values()):
                return True
            if any(not _has_baked(get_keys(curve)) for curve in find_curves(bag, path).values()):
                return True
    return False


def shows_ik(limb: Limb) -> IKControls | None:
    """Return the IK controls if they animate what the character shows; None if the limb's own bones do.

    That is so where they were animated by hand, and the limb's own bones were not or the character does not follow
    those at present.
    """
    own_paths = tuple(bone.path_from_id() for bone in limb.pose_bones)
    if all(curve.data_path.startswith(own_paths) for curve in curves_of(limb.armature)):
        return None  # quickly: nothing else is animated
    controls = controls_or_none(limb)
    if controls is None or not is_animated_by_hand(limb.armature, controls):
        return None
    bag, bones = channelbag_of(limb.armature), limb.pose_bones
    replaced = (replaced_in(bag, bone.path_from_id(channel(bone)[0])) for bone in bones)
    own = made_by_hand(limb.armature, limb.in_order, *_ALWAYS) or any(known and known.keys for known in replaced)
    return controls if not own or controls.is_shown(limb.armature) else None


@contextmanager
def baked_keys_aside(armature: Object, controls: IKControls, view_layer: ViewLayer) -> Iterator[None]:
    """Give IK controls and their switches in the body what somebody made of them, without the keys of bakes."""
    bag = channelbag_of(armature)
    paths = [path for name in controls.keyed for path in _paths(armature, name)]
    paths += [each.path for each in switches_of(armature, controls.examined) if each.owner == armature]
    baked = [path for path in paths if any(_has_baked(get_keys(each)) for each in find_curves(bag, path).values())]
    with ExitStack() as undo:
        if baked:
            saved = AnimatedValues(armature, baked)
            undo.callback(saved.update_and_restore, view_layer)
        for path in baked:
            known = replaced_in(bag, path)
            for index, curve in find_curves(bag, path).items():
                keys, before = get_keys(curve), known.keys.get(index) if known else None
                left = _by_hand(keys)
                if before is not None:
                    left = merge_keys(left, before, *reversed(_ALWAYS))
                if not len(left["co"]) and known:
                    left = {name: column[:1].copy() for name, column in keys.items()}
                    left["co"][0, 1] = known.before[index]
                undo.callback(put_keys, curve, keys)
                put_keys(curve, left)
        yield


def shown_rotations(limb: Limb, controls: IKControls, armature: Object) -> list[Quaternion]:
    """Return the rotations of a limb's bones, in their own rest axes, in the pose that its IK controls have.

    The armature is evaluated. Bones in between keep theirs.
    """
    rests, poses = armature.data.bones, dict[str, Matrix]()
    leaders = {each.bone: each.leader for each in controls.showing if each.leader != controls.control}
    found = []
    for name in limb.bones:
        bone, rest = armature.pose.bones[name], rests[name]
        above = bone.parent
        into = {"matrix_local": rest.matrix_local}
        if above:
            into |= {
                "parent_matrix": poses.get(above.name, above.matrix),
                "parent_matrix_local": rests[above.name].matrix_local,
            }
        if name in leaders or name == controls.tip.bone:
            leader = leaders.get(name, controls.tip.shown)
            poses[name] = armature.pose.bones[leader].matrix @ (
                rests[leader].matrix_local.inverted() @ rest.matrix_local
            )
            basis = rest.convert_local_to_pose(poses[name], invert=True, **into)
        else:
            basis = bone.matrix_basis
            poses[name] = rest.convert_local_to_pose(basis, **into)
        found.append(Quaternion() if is_flat(basis) else orientation(basis.to_3x3()))
    return found


def _paths(armature: Object, name: str) -> list[str]:
    bone = armature.pose.bones[name]
    return [bone.path_from_id(prop) for prop in ("location", channel(bone)[0], "scale")]


def _has_baked(keys: KeyArrays) -> bool:
    return bool((keys["type"] == enum_number("type", GENERATED)).any())


def _by_hand(keys: KeyArrays) -> KeyArrays:
    mask = keys["type"] != enum_number("type", GENERATED)
    return {name: column[mask] for name, column in keys.items()}
