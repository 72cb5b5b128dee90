# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of a limb, or of everything that was made for a rig, so that the file is as it was before."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import bpy
from bpy.types import Object, PoseBone, Scene, ViewLayer

from ..errors import IKError
from ..kinematics.rotation import rotation_angle
from ..rig.anatomy.limbs import ARM, Anatomy
from ..rig.armature import find_bone, object_or_bone
from ..rig.by_hand.keys import location_before_writing, values_before_writing
from ..rig.controls import Controls
from ..rig.keyframes.channelbags import curves_of, curves_of_action
from ..rig.rotation import channel, rotation_of
from ..rig.scene_objects import remove_map, shown_maps
from ..rig.stance import relaxed_arm
from ..rig.targets.made import (
    is_made,
    made_targets,
    remove_all_unused,
    remove_empty_collections,
    remove_unused,
    space_constraints,
)
from ..settings import check_registered
from ..settings.property_groups import forget_settings
from .bake import delete_generated
from .edits.spaces import remove_space, spaces_of
from .live.following import stop
from .shots.writing import all_or_nothing

_SAME = 1e-4  # [rad]


@all_or_nothing
def remove_limb(armature: Object, tip: str) -> None:
    """Clear the target of the limb that ends in `tip`, let go of it and reset its length; its other settings stay.

    An empty that was made for it is removed, unless anything else has a use for it. Raises ChainError for no such bone.
    """
    check_registered()
    stored = armature.pose.bones[find_bone(armature, tip).name].ik_triangulation
    target = stored.target
    for name in ("target", "hold", "chain_count", "body_part"):
        stored.property_unset(name)
    armature.update_tag()  # of a value that is unset Blender tells nobody
    if target is not None:
        remove_unused(target, armature)  # last, as it cannot be undone here


class Removal(NamedTuple):
    """Numbers of what was removed from a rig: limbs, baked keys, and objects such as targets and maps."""

    limbs: int
    keys: int
    objects: int


def remove_everything(armature: Object, view_layer: ViewLayer | None = None, scene: Scene | None = None) -> Removal:
    """Remove the limbs of a rig, baked keys, the empties that were made as targets, maps and all settings.

    Keys that a bake replaced, and the pose where there were none, are put back; arms that hang as they were relaxed are
    at rest again. Targets of the user's own stay, and empties that something else has a use for. Raises an IKError that
    names what stands against it, such as a locked action; then nothing has changed.
    """
    check_registered()
    bones = list(armature.pose.bones)
    keys = delete_generated(armature, [bone.name for bone in bones], view_layer=view_layer, scene=scene)
    _drop_empty_action(armature)
    for bone in bones:
        _remove_spaces(bone, scene, view_layer)
    tips = [bone.name for bone in bones if bone.ik_triangulation.target is not None or bone.ik_triangulation.hold]
    for tip in tips:
        stop(armature, tip)
    _put_back(armature)
    _spread(armature)
    made = made_targets(armature)
    forget_settings(armature)
    unused = remove_all_unused(made, armature)
    remove_empty_collections(armature)
    maps = list(shown_maps(armature).values())
    for each in maps:
        remove_map(each)
    armature.update_tag()
    return Removal(len(tips), keys, unused + len(maps))


def remove_targets(armature: Object) -> int:
    """Remove the empties that were made as targets of a rig, with their actions, and return their number; keys stay.

    The limbs keep their settings and get no target. Targets of the user's own stay, as their limbs do, and so do
    empties that something else has a use for. Exporters that take every action of a file then find that of the rig.
    """
    check_registered()
    made = made_targets(armature)
    for bone in armature.pose.bones:
        limb = bone.ik_triangulation
        if limb.target in made:
            stop(armature, bone.name)
        for name in ("target", "pole_target"):
            if getattr(limb, name) in made:
                limb.property_unset(name)
        for stop_at in limb.reach_stops:
            if stop_at.target in made:
                stop_at.target = None
    armature.update_tag()  # of a value that is unset Blender tells nobody
    return remove_all_unused(made, armature)


def _drop_empty_action(armature: Object) -> None:
    """Remove the action of a rig if it has no F-curves left and nothing else uses it, as a bake makes one."""
    animation = armature.animation_data
    action = animation.action if animation else None
    if action is None or action.library or action.users > 1 or action.use_fake_user or curves_of_action(action):
        return
    bpy.data.actions.remove(action)
    if not (len(animation.drivers) or len(animation.nla_tracks)):
        armature.animation_data_clear()


def _remove_spaces(bone: PoseBone, scene: Scene | None, view_layer: ViewLayer | None) -> None:
    """Remove the spaces of a target, unless that goes anyway; if it cannot be keyed, the constraints alone."""
    target, name = bone.ik_triangulation.target, bone.ik_triangulation.subtarget
    if target is None or is_made(target):
        return
    owner = object_or_bone(target, name)
    if owner is None or not space_constraints(owner):
        return
    with suppress(IKError):
        for each in spaces_of(bone.id_data, bone.name, scene):
            remove_space(bone.id_data, bone.name, each.frame_start, scene, view_layer)
    for constraint in space_constraints(owner):
        owner.constraints.remove(constraint)


def _put_back(armature: Object) -> None:
    """Pose the bones as they were before the extension wrote to them, but for channels that are animated."""
    animated = {curve.data_path for curve in curves_of(armature)}
    poses = [(bone, values_before_writing(bone), location_before_writing(bone)) for bone in armature.pose.bones]
    for bone, values, location in poses:
        rotation = channel(bone)[0]
        for path, before in ((rotation, values), ("location", location)):
            if bone.path_from_id(path) not in animated and tuple(getattr(bone, path)) != before:
                setattr(bone, path, before)


def _spread(armature: Object) -> None:
    """Pose arms as at rest that hang as Set Up Body has relaxed them, and that nothing animates."""
    animated = {curve.data_path for curve in curves_of(armature)}
    for limb in Anatomy(armature, Controls(armature)).limbs(ARM):
        turns = relaxed_arm(armature, limb)
        arm = [armature.pose.bones[name] for name in turns]
        hangs = all(rotation_angle(rotation_of(bone), turns[bone.name]) < _SAME for bone in arm)
        if hangs and animated.isdisjoint(bone.path_from_id(channel(bone)[0]) for bone in arm):
            for bone in arm:
                prop = channel(bone)[0]
                setattr(bone, prop, tuple(bone.bl_rna.properties[prop].default_array))
