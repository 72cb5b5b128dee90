# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame of the active limb's target as its gizmo shows it: place, axes by the transform orientation, use of a turn."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Context, Object, PoseBone
from mathutils import Matrix

from ...errors import IKError
from ...kinematics.rotation import orientation
from ...rig.armature import is_flat
from ...rig.checks import is_evaluated
from ...rig.frames.sampling import frame_of
from ...rig.limb import bone_of
from ...rig.looks import looks_of
from ...rig.selection import selected_limb
from ...rig.soft_goals import orientation_of
from ...rig.target_shape import shape_of
from ..context import active_bone

_ROUND = {"POINT", "SPHERE"}  # shapes that look the same from all sides
_OWN = {"LOCAL", "NORMAL", "GIMBAL", "PARENT"}  # transform orientations that are the target's own axes here


def target_of(bone: PoseBone | None) -> tuple[Object, str] | None:
    """Return the target of the limb that ends in a bone, with its bone if it is one; None if there is none to drag."""
    if bone is None:
        return None
    stored = bone.ik_triangulation
    target = stored.target
    if target is None or target.library is not None or stored.hold:  # what a foot stands on is not dragged
        return None
    subtarget = bone_of(target, stored.subtarget)
    return None if subtarget and subtarget not in target.pose.bones else (target, subtarget)


class TargetFrame(NamedTuple):
    """Frame of the target and axes along which it is moved (4x4, world space), and whether turning it matters."""

    frame: Matrix
    axes: Matrix
    turns: bool


def target_frame(context: Context) -> TargetFrame | None:
    """Return the frame of the active limb's target as shown; None if there is none, or if it is not evaluated."""
    bone = active_bone(context)
    found = target_of(bone)
    if bone is None or found is None or not is_evaluated(found[0], context.view_layer):
        return None
    frame = frame_of(*found, context.view_layer.depsgraph)
    axes = drag_axes(context, frame)
    axes.translation = frame.translation
    return TargetFrame(frame, axes, _turns(context, bone, *found))


def drag_axes(context: Context, frame: Matrix) -> Matrix:
    """Return the axes of the scene's transform orientation as a rotation matrix (4x4) for a target with this frame."""
    slot = context.scene.transform_orientation_slots[0]
    if slot.type in _OWN:
        return Matrix.Identity(4) if is_flat(frame) else orientation(frame.to_3x3()).to_matrix().to_4x4()
    if slot.type == "CURSOR":
        return context.scene.cursor.matrix.to_3x3().normalized().to_4x4()
    if slot.type == "VIEW" and context.region_data is not None:
        return context.region_data.view_rotation.to_matrix().to_4x4()
    if slot.custom_orientation is not None:
        return slot.custom_orientation.matrix.normalized().to_4x4()
    return Matrix.Identity(4)


def _turns(context: Context, bone: PoseBone, target: Object, subtarget: str) -> bool:
    """Tell whether the limb is posed otherwise if its target is turned; one that was not turned so far counts."""
    try:
        limb = selected_limb(bone)
        looks = looks_of(target, subtarget, context.view_layer.depsgraph)._replace(as_made=False)
        turned = orientation_of(limb, looks)
        if turned == "LOOK":
            return False
        return limb.use_offset or turned != "NONE" or shape_of(limb, looks) not in _ROUND
    except IKError:
        return False
