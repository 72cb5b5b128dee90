# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of a target: its keyed frames, and its channels, moved and turned in world space as Blender does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Depsgraph, FCurve, Object, PoseBone, Scene
from mathutils import Euler, Matrix, Quaternion, Vector

from ...errors import AnimationError, RigError, TargetError
from ...kinematics import Free
from ...kinematics.rotation import orientation, rotation_between
from ..armature import find_bone, is_flat, object_or_bone
from ..by_hand.shown_limb import shown_limb
from ..frames.samples import frame_of, offset_of, tip_location
from ..keyframes import Channel, curves_of, get_keys, key_frames
from ..keyframes.arrays import in_range
from ..limb import Limb
from ..rotation import channel, delta_rotation, rotation_from, values_for
from ..stance import look_of
from ..timeline import Clock, curves_in, frames_from, strips_of
from .goal import line_direction, orientation_of
from .made import hangs_at_most_on
from .surface import looks_of

# Constraints that carry their owner along: a move has to be seen from where they take it.
_CARRYING = {"ARMATURE", "CHILD_OF", "CLAMP_TO", "FOLLOW_PATH", "FOLLOW_TRACK", "OBJECT_SOLVER"}
_UNITS = Matrix.Identity(3)
_FREE = Free()

_ALONG = Vector((0.0, 1.0, 0.0))  # of a bone
_FLAT = "Target '{}' (or a parent) is scaled to zero at frame {:g}. Give it a non-zero scale."


def frames_of_target(limb: Limb, scene: Scene, first: float, last: float) -> list[float]:
    """Return the frames from the first to the last one at which the target of a limb has keys."""
    clock = Clock(scene, limb.target)
    times = key_frames(limb.target, limb.subtarget, *sorted(map(clock.time, (first, last))))
    return [clock.frame(time) for time in times]


def frames_to_key(
    limbs: Sequence[Limb], only_target_keys: bool, scene: Scene, frame_start: int, frame_end: int, step: float
) -> Sequence[float]:
    """Return the frames to key limbs at. Raises AnimationError without any keys of their targets to bake at."""
    if not only_target_keys:
        return frames_from(frame_start, frame_end, step)
    found: set[float] = set()
    for limb in limbs:
        frames = frames_of_target(limb, scene, frame_start, frame_end)
        found |= {*frames} if len(limbs) == 1 else {round(frame, 3) for frame in frames}
    if not found:
        whose = f"Target '{limbs[0].target_name}' has" if len(limbs) == 1 else "The targets of the body have"
        raise AnimationError(
            f"{whose} no keys from frame {frame_start} to {frame_end}. Turn off Only at Target's Keys."
        )
    return sorted(found)


def insert_keys(owner: Any, prop: str, scene: Scene, always: bool = False) -> None:
    """Key a property of an object or bone as Auto Keying does, by its preferences.

    With `always` it is keyed even if it has no animation and only available channels are to be keyed. Raises RigError
    where Blender cannot.
    """
    tools, edit = scene.tool_settings, bpy.context.preferences.edit
    options = {"INSERTKEY_CYCLE_AWARE"} if tools.use_keyframe_cycle_aware else set()
    if edit.use_auto_keyframe_insert_needed:
        options.add("INSERTKEY_NEEDED")
    if edit.use_keyframe_insert_available and not always:
        options.add("INSERTKEY_AVAILABLE")
        if owner.path_from_id(prop) not in {curve.data_path for curve in curves_of(owner.id_data)}:
            return  # Blender would warn that it inserts nothing
    if tools.auto_keying_mode == "REPLACE_KEYS":
        options.add("INSERTKEY_REPLACE")
    _insert(owner, prop, options=options, keytype=tools.keyframe_type)


def _insert(owner: Any, prop: str, **how: Any) -> None:
    """Key a property in the group that Blender gives it. Raises RigError where Blender cannot."""
    group = owner.name if isinstance(owner, PoseBone) else "Object Transforms"
    try:
        owner.keyframe_insert(prop, group=group, **how)
    except (RuntimeError, TypeError) as error:
        raise RigError(f"'{owner.id_data.name}' could not be keyed: {error}") from error


class TargetHandle:
    """Place and orientation of a target, an object or a bone, which can be moved, turned, restored and keyed.

    Each move and each turn starts from the channels at the time when this was made. Locked channels stay as they are,
    and the location of a bone that is connected to its parent.
    """

    def __init__(self, target: Object, bone: str, depsgraph: Depsgraph) -> None:
        """Raises TargetError for a target that is linked, scaled to zero or without such a bone."""
        if target.library is not None:
            raise TargetError(f"Target '{target.name}' is linked. Create a library override first.")
        if bone:
            find_bone(target, bone)
        self._owner: Any = target.pose.bones[bone] if bone else target
        self._is_empty = not bone and target.type == "EMPTY"
        self.frame = frame_of(target, bone, depsgraph)  # 4x4, world space
        to_location, to_rotation = _spaces(target, bone, depsgraph)
        if is_flat(to_location) or is_flat(to_rotation):
            raise TargetError(f"Target '{target.name}' (or a parent) is scaled to zero. Give it a non-zero scale.")
        self._into = to_location.to_3x3().inverted()
        self._space = orientation(to_rotation.to_3x3())
        self._location = Vector(self._owner.location)
        self._mode, self._rotating = self._owner.rotation_mode, channel(self._owner)[0]
        self._rotation = tuple(getattr(self._owner, self._rotating))
        self._moved = self._turned = False

    def move(self, by: Vector) -> None:
        """Move the target from where it was by a vector, world space."""
        if is_connected(self._owner):
            return
        self._owner.location = _unlocked(self._location, self._location + self._into @ by, self._owner.lock_location)
        self._moved = True

    def turn(self, by: Quaternion) -> None:
        """Turn the target about its own origin from its orientation by a rotation, world space."""
        own = self._space.conjugated() @ by @ self._space
        if not isinstance(self._owner, PoseBone):
            delta = delta_rotation(self._owner)
            own = delta.conjugated() @ own @ delta
        turned = own @ rotation_from(self._rotation, self._mode)
        values = values_for(turned, self._mode, _FREE, self._rotation)
        setattr(self._owner, self._rotating, self._with_locks(tuple(values)))
        self._turned = True

    def restore(self) -> None:
        """Give back the channels as they were."""
        self._owner.location = self._location
        setattr(self._owner, self._rotating, self._rotation)

    def key(self, scene: Scene) -> None:
        """Key the channels that were moved or turned as Auto Keying does, by its preferences.

        An empty is keyed even if it has no animation and only available channels are to be keyed, like the limb itself:
        it is there to be animated.

        Raises RigError where Blender cannot.
        """
        for prop in self._changed:
            insert_keys(self._owner, prop, scene, self._is_empty)

    def key_all(self, scene: Scene) -> None:
        """Key place and rotation as they are at the present frame, whatever the preferences of Auto Keying say.

        Raises RigError where Blender cannot.
        """
        for prop in ("location", self._rotating):
            _insert(self._owner, prop, keytype=scene.tool_settings.keyframe_type)

    def key_at(self, time: float) -> None:
        """Key the channels that were moved or turned at an evaluated time. Raises RigError where Blender cannot."""
        for prop in self._changed:
            _insert(self._owner, prop, frame=time)
            path, ob = self._owner.path_from_id(prop), self._owner.id_data
            keyed = [in_range(get_keys(curve), time, time).any() for curve in curves_of(ob) if curve.data_path == path]
            if not all(keyed):  # of which Blender only warns
                raise RigError(f"The F-Curves of '{ob.name}' take no keys. Apply or remove their modifiers.")

    @property
    def _changed(self) -> list[str]:
        """The channels that were moved or turned."""
        return [prop for prop, changed in (("location", self._moved), (self._rotating, self._turned)) if changed]

    def _with_locks(self, values: Sequence[float]) -> Sequence[float]:
        """Return rotation values with the locked ones as they were; those of Euler angles unless Lock 4D is on."""
        owner, before, locks = self._owner, self._rotation, tuple(self._owner.lock_rotation)
        if len(values) == 4 and not owner.lock_rotations_4d:
            if not any(locks):
                return values
            old = rotation_from(before, self._mode).to_euler()
            new = rotation_from(values, self._mode).to_euler("XYZ", old)
            kept = Euler(_unlocked(old, new, locks))
            return tuple(values_for(kept.to_quaternion(), self._mode, _FREE, before))
        if len(values) == 4:
            locks = (owner.lock_rotation_w, *locks)
        return _unlocked(before, values, locks)


def _unlocked(before: Sequence[float], after: Sequence[float], locks: Sequence[bool]) -> list[float]:
    return [old if locked else new for old, new, locked in zip(before, after, locks, strict=True)]


def is_connected(owner: Object | PoseBone) -> bool:
    """Tell whether this is a bone at its parent's tail, whose location has no effect."""
    return isinstance(owner, PoseBone) and bool(owner.parent and owner.bone.use_connect)


def _spaces(target: Object, bone: str, depsgraph: Depsgraph) -> tuple[Matrix, Matrix]:
    """Return the matrices from location and rotation channels to world space (4x4); their translations do not count."""
    shown = target.evaluated_get(depsgraph)
    owner = shown.pose.bones[bone] if bone else shown
    if any(each.type in _CARRYING and not each.mute and each.influence for each in owner.constraints):
        carried = (
            shown.matrix_world @ owner.matrix if bone else shown.matrix_world
        ) @ owner.matrix_basis.inverted_safe()
        return carried, carried
    if not bone:
        if target.parent is None:
            return Matrix.Identity(4), Matrix.Identity(4)
        # matrix_local is relative to the parent, or its bone or vertices, without the parent inverse.
        parent = shown.matrix_world @ shown.matrix_local.inverted_safe() @ target.matrix_parent_inverse
        return parent, parent
    world = shown.matrix_world
    places = [_in_pose(owner, Matrix.Translation(column)).translation for column in (Vector(), *_UNITS)]
    moved = Matrix([place - places[0] for place in places[1:]]).transposed()
    return world @ moved.to_4x4(), world @ _in_pose(owner, Matrix.Identity(4))


def _in_pose(bone: PoseBone, local: Matrix) -> Matrix:
    """Return the pose matrix (armature space) of a bone with these channels, but for constraints."""
    above = bone.parent
    parents = {"parent_matrix": above.matrix, "parent_matrix_local": above.bone.matrix_local} if above else {}
    return bone.bone.convert_local_to_pose(local, bone.bone.matrix_local, **parents)


class TargetMotion:
    """Location and rotation channels of a limb's target, collected frame by frame with see().

    With them the tip, as it is animated, is at its goal: the target at the tip's place, or where the limb's offset
    takes it from there, and oriented as the limb reads it. Of a tip that looks, the target stays in front of it, as far
    away as at the first frame, and oriented as it is. With `turns` off the target keeps its orientation if the limb
    does not read it.
    """

    def __init__(self, limb: Limb, turns: bool = True) -> None:
        """Raises TargetError for a target that cannot be keyed, and ChainError for a bone that it does not have."""
        self.limb, self.owner, self._shown, self._turns = limb, keyable_owner(limb), shown_limb(limb), turns
        self._mode, (self._rotating, _) = self.owner.rotation_mode, channel(self.owner)
        self._locations: list[tuple[float, ...]] = []
        self._rotations: list[tuple[float, ...]] = []
        self._matrices: list[Matrix] = []
        self._ahead: float | None = None

    @property
    def paths(self) -> tuple[str, str]:
        """Data paths of location and rotation."""
        return self.owner.path_from_id("location"), self.owner.path_from_id(self._rotating)

    def see(self, depsgraph: Depsgraph, frame: float) -> None:
        """Add a frame, evaluated. Raises TargetError for a target that is scaled flat, RigError for such a tip."""
        limb = self.limb
        looks = limb.orientation == "LOOK"
        wanted = (
            self._target_looked_at(depsgraph, frame)
            if looks
            else _target_at_tip(self._shown, depsgraph, frame, self._turns)
        )
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
        self._matrices.append(wanted)

    def channels(self) -> list[Channel]:
        """Return the channels of all frames."""
        group = self.owner.name if isinstance(self.owner, PoseBone) else "Object Transforms"
        values = np.array(self._locations), np.array(self._rotations)
        return [Channel(group, path, each, range(each.shape[1])) for path, each in zip(self.paths, values, strict=True)]

    def apart(self, index: int, depsgraph: Depsgraph) -> float:
        """Return the distance of the target from its place at the frame with number `index`, as evaluated.

        The distance is in Blender units, to which its greatest axis of rotation adds one for each radian.
        """
        shown = frame_of(self.limb.target, self.limb.subtarget, depsgraph)
        wanted = self._matrices[index]
        turned = orientation(shown.to_3x3()).rotation_difference(orientation(wanted.to_3x3()))
        return float((shown.translation - wanted.translation).length + turned.angle)

    def _target_looked_at(self, depsgraph: Depsgraph, frame: float) -> Matrix:
        """Return the world matrix (4x4) of the target with which the tip looks at it as shown; its scale stays."""
        limb, now = self.limb, _target_shown(self.limb, depsgraph, frame)
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


def carried_by_nothing_but(armature: Object, target: Object) -> bool:
    """Tell whether the location of a target is its place in the world, or in an armature, but for a constant."""
    return hangs_at_most_on(armature, target) and not _is_carried(target)


def _is_carried(target: Object) -> bool:
    """Tell whether a constraint may carry a target along, such as one of its spaces."""
    return any(each.type in _CARRYING and not each.mute for each in target.constraints)


def hangs_on_nothing_that_moves(target: Object, bone: str) -> bool:
    """Tell whether what the channels of a target are relative to stays where it is over the whole animation."""
    if bone or _is_carried(target):
        return False
    above = target
    while above.parent is not None:
        if above.parent_type != "OBJECT" or above.parent.type == "CURVE":
            return False
        above = above.parent
        if len(above.constraints) or above.rigid_body or any(map(_moves_object, _all_curves(above))):
            return False
    return True


def _all_curves(ob: Object) -> Iterator[FCurve]:
    """Yield the F-curves of an object's action, its drivers and its NLA strips."""
    yield from curves_of(ob)
    animation = ob.animation_data
    if animation is not None:
        yield from animation.drivers
        for strip in strips_of(animation):
            yield from curves_in(strip.action, strip.action_slot)


def _moves_object(curve: FCurve) -> bool:
    return curve.data_path.removeprefix("delta_").startswith(("location", "rotation", "scale"))


def into_location(target: Object, bone: str, depsgraph: Depsgraph, by: Vector) -> Vector:
    """Return the change of a target's location channels that moves it by a vector in world space, as evaluated now.

    Raises TargetError for a target whose parent is scaled to zero.
    """
    to_location, _ = _spaces(target, bone, depsgraph)
    if is_flat(to_location):
        raise TargetError(f"Target '{target.name}' (or a parent) is scaled to zero. Give it a non-zero scale.")
    return to_location.to_3x3().inverted() @ by


def into_rotation(target: Object, bone: str, depsgraph: Depsgraph, turn: Vector) -> Vector:
    """Return a rotation vector of world space as it turns a target's rotation channels, as evaluated now."""
    turned = orientation(_spaces(target, bone, depsgraph)[1].to_3x3()).conjugated() @ turn
    return turned if bone else delta_rotation(target).conjugated() @ turned


def owner_of(limb: Limb) -> Any:
    """Return the object or bone that is a limb's target. Raises ChainError for a bone that is not there."""
    return object_or_bone(limb.target, limb.subtarget and find_bone(limb.target, limb.subtarget).name)


def keyable_owner(limb: Limb) -> Any:
    """Return the object or bone that is a limb's target. Raises TargetError for one that cannot be keyed."""
    target = limb.target
    if limb.on_surface:
        raise TargetError(f"'{limb.target_name}' is a surface, which follows no tip. Choose an empty as the target.")
    if limb.follows_flow:
        raise TargetError(f"'{limb.target_name}' is a field to follow, and follows no tip. Choose another shape.")
    if target.library is not None:
        raise TargetError(f"Target '{target.name}' is linked. Create a library override first.")
    owner = owner_of(limb)
    locks = [*owner.lock_location, *owner.lock_rotation]
    if any(locks):
        raise TargetError(f"Target '{limb.target_name}' has locked channels. Unlock its location and rotation.")
    if is_connected(owner):
        raise TargetError(f"Target '{limb.target_name}' is connected to its parent. Disconnect it in Edit Mode.")
    return owner


def _target_shown(limb: Limb, depsgraph: Depsgraph, frame: float) -> Matrix:
    """Return the world matrix (4x4) of the target as shown. Raises TargetError for a target that is scaled flat."""
    now = frame_of(limb.target, limb.subtarget, depsgraph)
    if is_flat(now):
        raise TargetError(_FLAT.format(limb.target_name, frame))
    return now


def _target_at_tip(limb: Limb, depsgraph: Depsgraph, frame: float, turns: bool = True) -> Matrix:
    """Return the world matrix (4x4) of the target with which the tip is where it is shown; its scale stays.

    With `turns` off so does its orientation if the limb does not read it.
    """
    now = _target_shown(limb, depsgraph, frame)
    _, relative = offset_of(limb, depsgraph)  # the tip in the target's space
    turned = orientation(now.to_3x3()) @ relative
    kind = orientation_of(limb, looks_of(limb.target, limb.subtarget, depsgraph))
    if kind == "NONE" and not turns:
        turned = orientation(now.to_3x3())
    elif limb.offset:
        turned = turned @ limb.offset.rotation.conjugated()
    elif kind == "DIRECTION":
        turned = turned @ rotation_between(line_direction(limb), _ALONG)
    sized = turned.to_matrix().to_4x4() @ Matrix.Diagonal((*now.to_scale(), 1.0))
    place = tip_location(limb, depsgraph)
    if limb.offset and limb.offset.matched:
        bone = limb.armature.evaluated_get(depsgraph).pose.bones[limb.tip]
        end = limb.armature.matrix_world.to_3x3() @ (bone.tail - bone.head)
        place = place - turned @ (limb.offset.location.normalized() * end.length)
    elif limb.offset:
        place = place - sized @ limb.offset.location
    sized.translation = place
    return sized
