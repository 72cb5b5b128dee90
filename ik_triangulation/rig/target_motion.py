# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of a target: the channels by which an object or a bone goes where it is to be, frame by frame, as keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Depsgraph, Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..errors import TargetError
from ..kinematics import Free
from ..kinematics.rotation import orientation, rotation_between
from .armature import find_bone, is_flat
from .frames.sampling import frame_of, offset_of, tip_location
from .keyframes import Channel
from .limb import Limb
from .look_axis import look_of
from .looks import looks_of
from .rotation import channel, delta_rotation, values_for
from .shown_limb import shown_limb
from .soft_goals import orientation_of
from .target_handle import is_connected
from .target_shape import line_direction

_FREE = Free()
_ALONG = Vector((0.0, 1.0, 0.0))  # of a bone
_FLAT = "Target '{}' (or a parent) is scaled to zero at frame {:g}. Give it a non-zero scale."


class TargetMotion:
    """Location and rotation channels of a limb's target, collected frame by frame with see().

    With them the tip, as it is animated, is at its goal: the target at the tip's place, or where the limb's offset
    takes it from there, and oriented as the limb reads it. Of a tip that looks, the target stays in front of it, as far
    away as at the first frame, and oriented as it is.
    """

    def __init__(self, limb: Limb) -> None:
        """Raises TargetError for a target that cannot be keyed, and ChainError for a bone that it does not have."""
        self.limb, self.owner, self._shown = limb, _owner_of(limb), shown_limb(limb)
        self._mode, (self._rotating, _) = self.owner.rotation_mode, channel(self.owner)
        self._locations: list[tuple[float, ...]] = []
        self._rotations: list[tuple[float, ...]] = []
        self._wanted: list[Matrix] = []
        self._ahead: float | None = None

    @property
    def paths(self) -> tuple[str, str]:
        """Data paths of location and rotation."""
        return self.owner.path_from_id("location"), self.owner.path_from_id(self._rotating)

    def see(self, depsgraph: Depsgraph, frame: float) -> None:
        """Add a frame, evaluated. Raises TargetError for a target that is scaled flat, RigError for such a tip."""
        limb = self.limb
        looks = limb.orientation == "LOOK"
        wanted = self._seen(depsgraph, frame) if looks else _wanted(self._shown, depsgraph, frame)
        basis = self._into_channels(wanted, depsgraph)
        if is_flat(basis):
            raise TargetError(_FLAT.format(limb.target_name, frame))
        place, turn = basis.to_translation(), orientation(basis.to_3x3())
        if isinstance(self.owner, Object):
            place -= self.owner.delta_location
            turn = delta_rotation(self.owner).conjugated() @ turn
        before = self._rotations[-1] if self._rotations else tuple(getattr(self.owner, self._rotating))
        self._locations.append(tuple(place))
        self._rotations.append(tuple(values_for(turn, self._mode, _FREE, before)))
        self._wanted.append(wanted)

    def channels(self) -> list[Channel]:
        """Return the channels of all frames."""
        group = self.owner.name if isinstance(self.owner, PoseBone) else "Object Transforms"
        values = np.array(self._locations), np.array(self._rotations)
        return [Channel(group, path, each, range(each.shape[1])) for path, each in zip(self.paths, values, strict=True)]

    def apart(self, index: int, depsgraph: Depsgraph) -> float:
        """Return how far the target is from where it is to be at the frame that was seen as number `index`, evaluated.

        The distance is in Blender units, to which its greatest axis of rotation adds one for each radian.
        """
        shown = frame_of(self.limb.target, self.limb.subtarget, depsgraph)
        wanted = self._wanted[index]
        turned = orientation(shown.to_3x3()).rotation_difference(orientation(wanted.to_3x3()))
        return float((shown.translation - wanted.translation).length + turned.angle)

    def _seen(self, depsgraph: Depsgraph, frame: float) -> Matrix:
        """Return the world matrix (4x4) of the target with which the tip looks at it as shown; its scale stays."""
        limb, now = self.limb, _now(self.limb, depsgraph, frame)
        armature = limb.armature.evaluated_get(depsgraph)
        bone, look = armature.pose.bones[self._shown.tip], look_of(limb.armature, limb.tip, limb.look_axis)
        turned = orientation(bone.matrix.to_3x3())
        eye = armature.matrix_world @ (bone.tail + turned @ look.origin)
        along = (armature.matrix_world.to_3x3() @ (turned @ look.axis)).normalized()
        if self._ahead is None:
            nearest = (armature.matrix_world.to_3x3() @ (bone.tail - bone.head)).length
            self._ahead = max((now.translation - eye).length, nearest)
        now.translation = eye + along * self._ahead
        return now

    def _into_channels(self, wanted: Matrix, depsgraph: Depsgraph) -> Matrix:
        """Return matrix_basis (4x4) of the target for a matrix in world space."""
        shown = self.limb.target.evaluated_get(depsgraph)
        if self.limb.subtarget:
            bone = shown.pose.bones[self.limb.subtarget]
            pose = shown.matrix_world.inverted_safe() @ wanted
            if any(not each.mute and each.influence for each in bone.constraints):
                return bone.matrix_basis @ bone.matrix.inverted_safe() @ pose
            return shown.convert_space(pose_bone=bone, matrix=pose, from_space="POSE", to_space="LOCAL")
        return shown.matrix_basis @ shown.matrix_world.inverted_safe() @ wanted


def _owner_of(limb: Limb) -> Any:
    target = limb.target
    if limb.on_surface:
        raise TargetError(f"'{limb.target_name}' is a surface, which follows no tip. Choose an empty as the target.")
    if target.library is not None:
        raise TargetError(f"Target '{target.name}' is linked. Create a library override first.")
    owner = target.pose.bones[find_bone(target, limb.subtarget).name] if limb.subtarget else target
    locks = [*owner.lock_location, *owner.lock_rotation]
    if any(locks):
        raise TargetError(f"Target '{limb.target_name}' has locked channels. Unlock its location and rotation.")
    if is_connected(owner):
        raise TargetError(f"Target '{limb.target_name}' is connected to its parent. Disconnect it in Edit Mode.")
    return owner


def _now(limb: Limb, depsgraph: Depsgraph, frame: float) -> Matrix:
    """Return the world matrix (4x4) of the target as shown. Raises TargetError for a target that is scaled flat."""
    now = frame_of(limb.target, limb.subtarget, depsgraph)
    if is_flat(now):
        raise TargetError(_FLAT.format(limb.target_name, frame))
    return now


def _wanted(limb: Limb, depsgraph: Depsgraph, frame: float) -> Matrix:
    """Return the world matrix (4x4) of the target with which the tip is where it is shown; its scale stays."""
    now = _now(limb, depsgraph, frame)
    _, relative = offset_of(limb, depsgraph)  # the tip in the target's space
    turned = orientation(now.to_3x3()) @ relative
    kind = orientation_of(limb, looks_of(limb.target, limb.subtarget, depsgraph))
    if limb.use_offset:
        turned = turned @ Quaternion(limb.offset_rotation).conjugated()
    elif kind == "DIRECTION":
        turned = turned @ rotation_between(line_direction(limb), _ALONG)
    sized = turned.to_matrix().to_4x4() @ Matrix.Diagonal((*now.to_scale(), 1.0))
    place = tip_location(limb, depsgraph)
    if limb.use_offset:
        place = place - sized @ Vector(limb.offset_location)
    sized.translation = place
    return sized
