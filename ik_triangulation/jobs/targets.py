# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb's target moved by hand with the limb following, and keyed where an animated limb goes.

A limb's target moved or turned by hand, with the limb following as if it were live, until that is done or cancelled.
The limb, or its body, is live meanwhile, if it is not so anyway, so that a drag in Pose Mode solves as one of the
object does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

import bpy
from bpy.types import Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ..cooperative import Job, Work, cooperative, finished, relay
from ..errors import AnimationError, IKError, SettingError, TargetError
from ..kinematics.rotation import orientation
from ..rig.by_hand.shown_limb import key_bones
from ..rig.checks import check_limb, check_range, check_readable
from ..rig.frames.reader import FrameReader, stepping
from ..rig.frames.samples import frame_of
from ..rig.keyframes import check_action, check_curves, curves_of, ensure_channelbag, keep_curves, key_frames
from ..rig.keyframes.unkeyed import AnimatedValues
from ..rig.keyframes.writing import replace_keys
from ..rig.limb import Limb, selected_limb
from ..rig.rotation import channel
from ..rig.targets.goal import orientation_of
from ..rig.targets.made import spaces_on
from ..rig.targets.motion import TargetHandle, TargetMotion, keyable_owner
from ..rig.targets.surface import looks_of
from ..rig.targets.untouched import (
    MADE_ROTATION,
    carriers_of,
    forget_rotation,
    is_as_made,
    is_waiting,
    keep_waiting,
    let_wait,
    made_rotation_of,
    remember_rotation,
)
from ..rig.timeline import Clock, evaluated_time
from ..rig.units import distance_text
from .live import following as live
from .shots.problem import body_of
from .shots.writing import Undo

_APART = 1e-4  # of the limb's reach: how far a target may be from its path where it is looked at again
_LOOKS = 5  # frames at which it is


class TargetDrag:
    """A drag of the target of the limb that ends in `tip`; each move and turn starts from where the target was."""

    def __init__(self, armature: Object, tip: str, scene: Scene, view_layer: ViewLayer) -> None:
        """Raises an IKError that names the culprit; then nothing has changed."""
        limb = selected_limb(armature.pose.bones[tip])
        view_layer.update()
        check_readable(limb, scene, view_layer)
        self._handle = TargetHandle(limb.target, limb.subtarget, view_layer.depsgraph)
        self._onto_hand = _turn_onto_hand(limb, view_layer.depsgraph)
        self._armature, self._tip, self._scene, self._view_layer = armature, tip, scene, view_layer
        self._undo = ExitStack()
        self._is_ours = not live.is_live(armature, tip)
        if self._is_ours:
            live.start(armature, tip, at_once=False)
        live.keep_poses(self._undo)

    @property
    def frame(self) -> Matrix:
        """Frame of the target before the drag, 4x4, world space."""
        return self._handle.frame

    @property
    def problem(self) -> str:
        """The error that keeps the limb from following now; empty if there is none."""
        return live.problem(self._armature, self._tip)

    def move(self, by: Vector) -> None:
        """Move the target by a vector, world space, and solve the limb or its body."""
        self._handle.move(by)
        self._view_layer.update()

    def turn(self, by: Quaternion) -> None:
        """Turn the target about its own origin by a rotation, world space, and solve the limb or its body.

        A target that was not turned since it was made for a hand begins with the hand's rotation, which does not jump.
        """
        self._handle.turn(by @ self._onto_hand)
        self._view_layer.update()

    def finish(self) -> str:
        """End the drag, and with Auto Keying on key target and limb; return what went wrong, or an empty string."""
        problem = self.problem
        live.rest_now()
        if self._scene.tool_settings.use_keyframe_insert_auto:
            try:
                self._handle.key(self._scene)
            except IKError as error:
                problem = str(error)
            live.key_now()
            problem = problem or self.problem
        if self._is_ours:
            live.stop(self._armature, self._tip)
        return problem

    def cancel(self) -> None:
        """Give back target and poses as they were before the drag."""
        self._handle.restore()
        self._undo.close()
        if self._is_ours:
            live.stop(self._armature, self._tip)
        self._view_layer.update()


def _turn_onto_hand(limb: Limb, depsgraph: Depsgraph) -> Quaternion:
    """Return the turn, world space, that brings a target that was not turned so far onto the hand; of others none."""
    looks = looks_of(limb.target, limb.subtarget, depsgraph)
    if not looks.as_made or orientation_of(limb, looks._replace(as_made=False)) != "FULL":
        return Quaternion()
    hand, target = (
        orientation(frame_of(*of, depsgraph).to_3x3())
        for of in ((limb.armature, limb.tip), (limb.target, limb.subtarget))
    )
    offset = limb.offset.rotation if limb.offset else Quaternion()
    return hand @ offset.conjugated() @ target.conjugated()


class KeyedTarget(NamedTuple):
    """A target that follows a limb: its name as in messages, and the number of frames that were keyed."""

    tip: str
    target: str
    frames: int


@cooperative
def target_from_animation(
    limbs: Sequence[Limb],
    frame_start: int,
    frame_end: int,
    *,
    only_keys: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[list[KeyedTarget]]:
    """Key the targets of the limbs so that the tips, as they are animated, are at their goals: place and orientation.

    Every frame from `frame_start` to `frame_end` gets a key; with `only_keys` the frames at which a bone of the limb,
    or of its body, has one, so that the path between them is Blender's. Keys that a target has in the range are
    replaced; those of the bones stay. A bake with nothing edited, at the frames that were keyed, gives the same
    animation, as limbs keep near keys that somebody made. Raises an IKError that names the culprit; then, and if it is
    stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_range(scene, frame_start, frame_end, 1)
    _check_own_targets(limbs)
    motions = []
    for limb in limbs:
        _check(limb, scene, view_layer)
        motions.append(TargetMotion(limb))
    done, keyed = 0, [_frames(limb, frame_start, frame_end, only_keys, scene) for limb in limbs]
    count = sum(map(len, keyed))
    for motion, frames in zip(motions, keyed, strict=True):
        reader = FrameReader(motion.limb, scene, view_layer, frames)
        yield from relay(reader.evaluate(frames, motion.see), (done, count))
        done += len(frames)
    with Undo() as undo:
        for motion, frames in zip(motions, keyed, strict=True):
            yield from relay(_write(motion, frames, (frame_start, frame_end), scene, view_layer, undo), (done, count))
        for motion, frames in zip(motions, keyed, strict=True):
            some = [frames[round(share * (len(frames) - 1) / (_LOOKS - 1))] for share in range(_LOOKS)]
            reader = FrameReader(motion.limb, scene, view_layer, some)
            apart = yield from relay(
                reader.evaluate(
                    sorted({*some}),
                    lambda depsgraph, frame, motion=motion, frames=frames: motion.apart(frames.index(frame), depsgraph),
                ),
                (done, count),
            )
            _check_followed(motion.limb, apart, scene)
        found = [
            KeyedTarget(limb.tip, limb.target_name, len(frames)) for limb, frames in zip(limbs, keyed, strict=True)
        ]
        undo.pop_all()
    return found


def target_to_tip(
    limbs: Sequence[Limb], key: bool = False, scene: Scene | None = None, view_layer: ViewLayer | None = None
) -> list[str]:
    """Move the targets of the limbs to where their tips are shown at the present frame; return the targets' names.

    A target turns with its tip if the limb reads its orientation, and an empty that was made for a hand and never
    turned does too, which still requests no rotation. With `key` the moved channels are keyed at the frame. Raises an
    IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    _check_own_targets(limbs)
    frame, depsgraph = scene.frame_current + scene.frame_subframe, view_layer.depsgraph
    motions = []
    for limb in limbs:
        _check(limb, scene, view_layer)
        motion = TargetMotion(limb, turns=_follows_hand(limb.target, limb.subtarget))
        motion.see(depsgraph, frame)
        motions.append(motion)
    with Undo() as undo:
        for motion in motions:
            _place_target(motion, key, frame, scene, view_layer, undo)
        view_layer.update()
        for motion in motions:
            _check_followed(motion.limb, {frame: motion.apart(0, view_layer.depsgraph)}, scene)
        undo.pop_all()
    return [limb.target_name for limb in limbs]


def _follows_hand(target: Object, bone: str) -> bool:
    """Tell whether a target was made for a hand, was never turned, and has no keys that would turn it back."""
    turning = channel(target)[0]
    return not bone and is_as_made(target) and all(curve.data_path != turning for curve in curves_of(target))


def _place_target(
    motion: TargetMotion, key: bool, frame: float, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> None:
    """Give a target the channels of the frame that its motion has seen, and key those that differ or are animated."""
    target, bone = motion.limb.target, motion.limb.armature.pose.bones[motion.limb.tip]
    waits = hasattr(bone, "ik_triangulation") and bone.ik_triangulation.target == target and is_waiting(bone)
    as_made = _follows_hand(target, motion.limb.subtarget)
    # Of what it shows before it is turned, which would count as a request.
    requests_none = as_made and orientation_of(motion.limb, looks_of(target, "", view_layer.depsgraph)) == "NONE"
    if waits:
        keep_waiting(bone, undo)
    elif as_made:
        undo.callback(setattr, target, MADE_ROTATION, made_rotation_of(target))
    channels = motion.channels()
    for each in channels:
        prop = each.path.rpartition(".")[2]
        undo.callback(setattr, motion.owner, prop, tuple(getattr(motion.owner, prop)))
        setattr(motion.owner, prop, each.values[0].tolist())
    if requests_none:
        remember_rotation(target)
        channels = channels[:1]
    if waits and not key:
        let_wait(bone)
    if not key:
        return
    time, paths = Clock(scene, target).time(frame), [each.path for each in channels]
    check_action(target)
    curves = [curve for curve in curves_of(target) if curve.data_path in paths]
    check_curves(curves, f"target '{motion.limb.target_name}'")
    saved = AnimatedValues(target, paths)
    undo.callback(saved.update_and_restore, view_layer)
    bag = ensure_channelbag(target, undo)
    finished(replace_keys(bag, channels, [time], time, time, undo, "BEZIER"))
    for curve in bag.fcurves:
        if curve.data_path in paths:
            curve.update()  # the handles of the keys beside it
    saved.update_and_restore(view_layer)


def _check(limb: Limb, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise what check_limb() does, but for a target that bones of the limb's body carry."""
    body = body_of(limb.armature, limb.tip) if hasattr(limb.armature, "ik_triangulation") else None
    check_limb(limb, scene, view_layer, carried=body is not None and any(carriers_of(body, limb)))


def _check_own_targets(limbs: Sequence[Limb]) -> None:
    """Raise TargetError if two limbs share a target, and SettingError if there are no limbs."""
    if not limbs:
        raise SettingError("There is no limb with a target. Choose one, or add one with +.")
    owners: dict[tuple[Object, str], str] = {}
    for limb in limbs:
        other = owners.setdefault((limb.target, limb.subtarget), limb.tip)
        if other != limb.tip:
            raise TargetError(
                f"'{limb.target_name}' is the target of '{other}' and '{limb.tip}', and cannot follow both. "
                "Give one of them its own target."
            )


def _frames(limb: Limb, first: int, last: int, only_keys: bool, scene: Scene) -> list[float]:
    """Return the frames to key. Raises AnimationError if only keys are wanted and there are none."""
    if not only_keys:
        return [float(frame) for frame in range(first, last + 1)]
    clock = Clock(scene, limb.armature)
    ends = clock.time(first), clock.time(last)
    body = body_of(limb.armature, limb.tip) if hasattr(limb.armature, "ik_triangulation") else None
    bones = body.bones if body else key_bones(limb)
    times = {time for bone in bones for time in key_frames(limb.armature, bone, *ends)}
    if not times:
        raise AnimationError(
            f"The bones of the limb of '{limb.tip}' have no keys from frame {first} to {last}. "
            "Choose another range, or every frame."
        )
    changes = {float(frame) for _, each in spaces_on(keyable_owner(limb), scene) for frame in each.changes}
    return sorted({*map(clock.frame, times), *(frame for frame in changes if first <= frame <= last)})


def _write(
    motion: TargetMotion,
    frames: Sequence[float],
    ends: tuple[int, int],
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[None]:
    """Key one target and show it as keyed; what else is animated stays as it was posed.

    Raises AnimationError for F-curves that cannot be keyed.
    """
    target, clock = motion.limb.target, Clock(scene, motion.limb.target)
    check_curves(
        [curve for curve in curves_of(target) if curve.data_path in motion.paths],
        f"target '{motion.limb.target_name}'",
    )
    _take_as_turned(target, undo)
    saved = AnimatedValues(target, motion.paths)
    undo.callback(saved.update_and_restore, view_layer)
    bag, times = ensure_channelbag(target, undo), clock.times(frames)
    yield from replace_keys(bag, motion.channels(), times, clock.time(ends[0]), clock.time(ends[1]), undo)
    saved.show_keyed(motion.paths, view_layer)


def _take_as_turned(target: Object, undo: ExitStack) -> None:
    """Have a hand turn with its target, which is keyed to turn as the hand does, even where that stands still."""
    if any(made := made_rotation_of(target)):
        undo.callback(setattr, target, MADE_ROTATION, made)
        forget_rotation(target)


def _check_followed(limb: Limb, apart: dict[float, float], scene: Scene) -> None:
    """Raise TargetError if the target, evaluated, is not where it was keyed to be."""
    reach = sum(limb.armature.pose.bones[name].length for name in limb.bones)
    frame = max(apart, key=apart.__getitem__)
    if apart[frame] > _APART * max(1.0, reach):
        raise TargetError(
            f"Target '{limb.target_name}' does not go where it is keyed, {distance_text(apart[frame], scene)} off at "
            f"frame {frame:g}. Turn off its constraints and drivers, and the NLA tracks above its action."
        )


def key_place(
    target: Object,
    frame: float,
    location: Vector,
    rotation: Quaternion | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> None:
    """Key an object at a frame where it is to be there, in world space; its rotation only if one is given.

    Locked channels stay as they are. Raises an IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    check_range(scene, frame, frame, 1)
    check_action(target)
    check_curves(curves_of(target), f"target '{target.name}'")
    animation, moved = target.animation_data, ("location",) if rotation is None else ("location", "rotation")
    if any(curve.data_path.startswith(moved) and not curve.mute for curve in (animation.drivers if animation else ())):
        raise AnimationError(f"Target '{target.name}' has a driver. Key what drives it, or remove it.")
    with stepping(scene, view_layer) as evaluate, Undo() as undo:
        handle = TargetHandle(target, "", evaluate(frame))
        undo.callback(handle.restore)
        handle.move(location - handle.frame.translation)
        if rotation is not None:
            handle.turn(rotation.normalized() @ orientation(handle.frame.to_3x3()).conjugated())
        keep_curves(target, undo)
        handle.key_at(evaluated_time(scene, frame))
        undo.pop_all()
