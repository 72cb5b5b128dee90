# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a shot that an edit with a falloff changes: frames of a bake, or of an animation by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import ceil, floor, isfinite
from typing import Any

import bpy
from bpy.types import Object, PoseBone, Scene, ViewLayer
from mathutils import Quaternion, Vector

from ...cooperative import Work
from ...errors import AnimationError, ChainError, SettingError
from ...items import PROFILES
from ...rig.anatomy.limbs import Anatomy
from ...rig.body import RigBody
from ...rig.by_hand.record import is_recorded_body, recorded_bake, recorded_body
from ...rig.controls import Controls
from ...rig.frames.reader import FrameReader
from ...rig.frames.samples import frame_of, tip_location
from ...rig.keyframes import curves_of, ensure_channelbag, is_baked
from ...rig.keyframes.arrays import get_keys
from ...rig.keyframes.channelbags import new_curve
from ...rig.keyframes.shaping import profile_at
from ...rig.layers import has_baked_layers
from ...rig.limb import Limb
from ...rig.rotation import channel
from ...rig.targets.untouched import is_waiting
from ...rig.timeline import Clock, evaluated_time, frames_from


@dataclass(frozen=True)
class Falloff:
    """An edit at a `frame` that fades over `falloff` frames on both sides, by a profile of proportional editing."""

    frame: float
    falloff: int
    profile: str

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise SettingError(f"Falloff '{self.profile}' is unknown. Choose one of {', '.join(PROFILES)}.")
        if self.falloff < 1:
            raise SettingError(f"A falloff of {self.falloff} frames is too short. Give it 1 or more.")

    @property
    def ends(self) -> tuple[float, float]:
        """First and last frame of the falloff."""
        return self.frame - self.falloff, self.frame + self.falloff

    def share(self, frame: float) -> float:
        """Return the share of the edit at a frame."""
        return float(profile_at(self.profile, 1.0 - abs(frame - self.frame) / self.falloff))


@dataclass(frozen=True)
class Pull(Falloff):
    """A pull by `offset` and `turn`, a rotation vector [rad], world space."""

    offset: Vector = field(default_factory=Vector)
    turn: Vector = field(default_factory=Vector)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(map(isfinite, (*self.offset, *self.turn))):
            raise SettingError("The offset is no valid vector. Give it three numbers.")


@dataclass(frozen=True)
class EditedPart:
    """Frames of a limb or body to solve again; a `helper` is a target that is removed afterwards.

    The first and the last frame are `kept` as they are, unless the falloff goes on beyond the bake there.
    """

    limb: Limb
    rig: RigBody | None
    frames: Sequence[float]
    helper: Object | None = None
    span: tuple[float, float, float] = (1.0, 1.0, 1.0)  # first frame, last frame and step of the bake
    smoothing: float = 0.0  # of the bake of a body
    kept: tuple[bool, bool] = (True, True)

    @property
    def of(self) -> Limb | RigBody:
        return self.rig or self.limb

    @property
    def ends(self) -> tuple[float, float]:
        return self.frames[0], self.frames[-1]

    @property
    def solved(self) -> Sequence[str]:
        return self.rig.bones if self.rig else self.limb.in_order

    def remove_helper(self) -> None:
        """Remove the helper with its action, if there is one."""
        if self.helper is not None:
            action = self.helper.animation_data.action
            bpy.data.objects.remove(self.helper)
            bpy.data.actions.remove(action)


def part_around(
    bone: PoseBone, edit: Falloff, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> Work[EditedPart]:
    """Return the frames that a pull solves again: of a bake, or of an animation by hand.

    Raises ChainError for a tip that is held, AnimationError where nothing is baked or keyed.
    """
    stored = getattr(bone, "ik_triangulation", None)
    if stored is not None and stored.hold:
        raise ChainError(f"'{bone.name}' is held. Turn off Hold in Place to pull it, or change its contact.")
    if stored is not None and stored.target is not None:
        yield
        return _baked_part(bone, edit, scene)
    pulled = edit if isinstance(edit, Pull) else Pull(edit.frame, edit.falloff, edit.profile)
    return (yield from _keyed_part(bone, pulled, scene, view_layer, undo))


def _baked_part(bone: PoseBone, edit: Falloff, scene: Scene) -> EditedPart:
    """Return the frames of a bake within the falloff. Raises AnimationError where there are none."""
    armature, tip = bone.id_data, bone.name
    if is_waiting(bone):
        raise AnimationError(
            f"The target of '{tip}' was not moved or keyed yet. Press Target from Animation first, then Bake."
        )
    rig, smoothing, keys_on = None, 0.0, "FK"
    if is_recorded_body(armature, tip):
        rig, span, settings, _ = recorded_body(armature, tip, scene)
        smoothing, keys_on = float(settings.get("smoothing", 0.0)), settings.get("keys_on", keys_on)
        limb = next(each for each in rig.limbs if each.tip == tip)
    else:
        try:
            limb, span, _ = recorded_bake(armature, tip, scene)
            keys_on = limb.keys_on
        except AnimationError:
            if has_baked_layers(armature, [tip, *(above.name for above in bone.parent_recursive)]):
                raise AnimationError(
                    f"'{tip}' is baked onto a layer, which cannot be edited so. Press Delete Generated Keys, and "
                    "bake it into the active action."
                ) from None
            raise
    if keys_on == "IK":
        raise AnimationError(
            f"'{tip}' is baked onto IK controls, which cannot be edited so. Move its target and press Bake Again, or "
            "choose FK controls for Keys On and bake."
        )
    if not is_baked(armature, rig.bones if rig else limb.in_order):
        raise AnimationError(f"'{tip}' has no baked keys in the active action. Bake it first.")
    first, last, step = span
    if not first <= edit.frame <= last:
        raise AnimationError(f"Frame {edit.frame:g} is not in the bake, from {first:g} to {last:g}. Choose another.")
    begin = first + step * max(0, floor((edit.ends[0] - first) / step))
    end = first + step * min(ceil((edit.ends[1] - first) / step), floor((last - first) / step + 1e-6))
    kept = begin <= edit.ends[0], end >= edit.ends[1]
    return EditedPart(limb, rig, frames_from(begin, end, step), None, span, smoothing, kept)


def _keyed_part(bone: PoseBone, edit: Pull, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[EditedPart]:
    """Return the frames of an animation by hand, with a target that is keyed at the tip, pulled.

    Raises AnimationError where the bones have no keys there.
    """
    armature, names = bone.id_data, bones_to(bone)
    helper = bpy.data.objects.new("IK Triangulation Pull", None)
    undo.callback(bpy.data.objects.remove, helper)
    scene.collection.objects.link(helper)
    limb = Limb.from_bones(armature, names, helper, **({"orientation": "FULL"} if edit.turn.length else {}))
    check_keyed_around(limb.pose_bones, edit.frame, scene)
    frames = range(floor(edit.ends[0]), ceil(edit.ends[1]) + 1)
    reader = FrameReader(limb, scene, view_layer, frames)
    seen = yield from reader.evaluate(
        frames,
        lambda depsgraph, _: (tip_location(limb, depsgraph), frame_of(armature, bone.name, depsgraph).to_quaternion()),
    )
    rows = {"location": [seen[frame][0] + edit.offset * edit.share(frame) for frame in frames]}
    if edit.turn.length:
        helper.rotation_mode, axis = "QUATERNION", edit.turn.normalized()
        turns = [Quaternion(axis, edit.turn.length * edit.share(frame)) @ seen[frame][1] for frame in frames]
        rows["rotation_quaternion"] = [each if each.dot(turns[0]) >= 0.0 else -each for each in turns]
    bag = ensure_channelbag(helper, ExitStack())
    for prop, values in rows.items():
        for index in range(len(values[0])):
            curve = new_curve(bag, prop, index, "Object Transforms", ExitStack())
            curve.keyframe_points.add(len(frames))
            for point, frame, value in zip(curve.keyframe_points, frames, values, strict=True):
                point.co, point.interpolation = (evaluated_time(scene, frame), value[index]), "LINEAR"
    undo.callback(bpy.data.actions.remove, helper.animation_data.action)
    helper.location = seen[frames[0]][0]
    view_layer.update()
    return EditedPart(limb, None, frames, helper)


def bones_to(bone: PoseBone) -> tuple[str, ...]:
    """Return the bones of the limb that ends in a bone, which nobody has set up: as recognized, else three."""
    armature = bone.id_data
    known = Anatomy(armature, Controls(armature)).limb_with(bone.name)
    above = [bone.name, *(each.name for each in bone.parent_recursive[:2])]
    return tuple(known.bones) if known and known.bones[-1] == bone.name else tuple(reversed(above))


def check_keyed_around(bones: Sequence[PoseBone], frame: float, scene: Scene) -> None:
    """Raise AnimationError if bones without a target have no rotation keys around a frame; the last one is the tip."""
    armature = bones[-1].id_data
    times = [key for curve in curves_of(armature) for key in _times(curve, bones)]
    if not times or not min(times) <= Clock(scene, armature).time(frame) <= max(times):
        raise AnimationError(
            f"The limb of '{bones[-1].name}' has no target, and its bones no keys around frame {frame:g}. "
            "Key them first, or add a limb."
        )


def _times(curve: Any, bones: Sequence[PoseBone]) -> list[float]:
    paths = {bone.path_from_id(channel(bone)[0]) for bone in bones}
    return get_keys(curve, ["co"])["co"][:, 0].tolist() if curve.data_path in paths else []
