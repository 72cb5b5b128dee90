# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that follows the motion of another character: targets for hips, chest, hands, feet and head, with keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup, Scene, ViewLayer
from mathutils import Matrix, Quaternion

from ..cooperative import Job, Work, cooperative, finished, relay
from ..errors import AnimationError, RigError, SettingError, TargetError
from ..rig.anatomy.limbs import ARM, LEG, NECK, Anatomy
from ..rig.armature import bones_from_tip
from ..rig.body import Contact, RigBody
from ..rig.by_hand.keys import check_hips
from ..rig.checks import check_armature, check_range
from ..rig.controls import Controls, limbs_with_ik
from ..rig.frames.body_frames import animation_turned
from ..rig.frames.body_samples import read_body
from ..rig.frames.reader import FrameReader
from ..rig.keyframes import Channel, check_keys, replace_keys
from ..rig.keyframes.channelbags import ensure_channelbag
from ..rig.keyframes.reading import keep_followed
from ..rig.layers import Destination
from ..rig.limb import Limb
from ..rig.retargeting import FACE, HIPS, Figure, PartPlace, Retargeting
from ..rig.stance import look_of
from ..rig.targets.made import is_made, remove_unused
from ..rig.targets.untouched import forget_rotation, put_at_tip
from ..rig.timeline import Clock, check_nla, evaluated_time, fps_of, moving_curves
from ..settings import check_registered
from ..settings.goal import JointSettings
from ..settings.property_groups import keep_settings
from ..settings.table import settings_of
from .setup import NewBody, new_target, set_up_body
from .shots.keys import body_channels
from .shots.problem import body_of, read_problem
from .shots.writing import Keys, Undo, Writing, keep_objects, write_together

_SIDES = "FK", "IK"

_SMOOTHING = 0.3  # of elbows and knees, which the targets leave free: those of a recording move smoothly

_AHEAD = 3.0  # of a leg: distance to what a head looks at, so far that its place matters little


@dataclass(frozen=True)
class Following:
    """A body that follows a `source`: the tips that have targets, contacts found in it, and how legs compare."""

    source: str
    tips: tuple[str, ...]
    contacts: tuple[Contact, ...]
    frames: int
    scale: float
    doubts: tuple[str, ...] = ()


@cooperative
def follow_rig(
    armature: Object,
    source: Object,
    frame_start: int,
    frame_end: int,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    keys_on: str = "FK",
) -> Job[Following]:
    """Set up a body, and key new targets for it so that it moves as another character does, whatever its proportions.

    Hips, chest, hands and feet get empties with a key at every frame, and the head one in front of its face. The way
    over the ground and the heights are scaled by the legs, hands by the arms; planted feet stay at one place, and hands
    that touch still do. All is relative to where both characters stand at rest, and to where they look. The bones get
    generated keys that turn them as those of the source; baking the body corrects these where the targets need it. With
    `keys_on` "IK" a bake also keys the IK controls of arms and legs, and the character follows those. Targets of an
    earlier call are replaced. Raises an IKError that names the culprit; then, and if it is stopped, nothing has
    changed.
    """
    check_registered()
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    if source == armature:
        raise TargetError(f"'{source.name}' cannot follow itself. Select another armature besides it.")
    if source.type != "ARMATURE":
        raise TargetError(f"'{source.name}' is no armature. Choose one that moves.")
    check_armature(armature, view_layer)
    check_range(scene, frame_start, frame_end, 1)
    if keys_on not in _SIDES:
        raise SettingError(f"Keys On '{keys_on}' is unknown. Choose one of {', '.join(_SIDES)}.")
    if keys_on == "IK":
        limbs_with_ik(armature)
    if next(moving_curves(source), None) is None and not any(bone.constraints for bone in source.pose.bones):
        raise AnimationError(f"'{source.name}' is not animated. Give it an action, or choose another armature.")
    theirs, anatomy = Figure(source), Anatomy(armature, Controls(armature))
    limbs = [limb for kind in (ARM, LEG, NECK) for limb in anatomy.limbs(kind)]
    own = Figure(armature, limbs)
    frames = [float(frame) for frame in range(frame_start, frame_end + 1)]
    tip = own.bones["hand.L"]
    limb = Limb(
        armature, bones := bones_from_tip(armature, tip, 1), frozenset(bones), source, subtarget=theirs.bones[HIPS]
    )
    yield 0, len(frames)
    reader = FrameReader(limb, scene, view_layer, frames)
    seen: dict[float, dict[str, PartPlace]] = yield from relay(
        reader.evaluate(frames, lambda depsgraph, _: theirs.see(depsgraph)), (0, len(frames))
    )
    shown = [seen[frame] for frame in frames]
    with Undo() as undo:
        keep_objects(undo)
        keep_settings(armature, undo)
        before = [bone.ik_triangulation.target for bone in armature.pose.bones]
        body = _set_up_without_limits(armature)
        own = Figure(armature, limbs, body.hips)
        retargeting, fade = Retargeting(theirs, own), armature.ik_triangulation.contact_fade
        spans = retargeting.spans(shown, fps_of(scene, frames), fade)
        wanted = retargeting.frames(shown, spans, fade)
        tips = _give_targets(armature, own, body, wanted, frames, before, keys_on, scene, undo)
        found = [
            Contact(own.bones[end], frames[first], frames[last]) for end, runs in spans.items() for first, last in runs
        ]
        found.sort(key=lambda each: (each.frame_start, each.tip))
        result = Following(source.name, tips, tuple(found), len(frames), retargeting.legs, body.doubts)
        view_layer.update()
        turns = [retargeting.turns(each) for each in shown]
        rig = body_of(armature, tips[0])
        if rig is not None:
            copying = _copy_turns(rig, own, turns, wanted[HIPS], frames, scene, view_layer, undo)
            yield from relay(copying, (len(frames), len(frames)))
        undo.pop_all()
    kept = {bone.ik_triangulation.target for bone in armature.pose.bones}
    for target in {each for each in before if is_made(each) and each not in kept}:
        remove_unused(target, armature)  # last, as it cannot be undone here
    yield len(frames), len(frames)
    return result


def _set_up_without_limits(armature: Object) -> NewBody:
    """Set up the body with joints that have the stiffness of their presets, but of limits only those of the rig.

    What somebody has moved is the measure of the motion, and not the ranges of others: where a hand or foot is turned
    out of them, the whole body would have to give way. Limits from Set Up Body go, and those of the user's own stay.
    """
    bones, before = armature.pose.bones, dict[str, dict[str, Any]]()
    for bone in bones:
        if bone.ik_triangulation_joint.source == "OWN":
            before[bone.name] = _stored(bone.ik_triangulation_joint)
            bone.property_unset("ik_triangulation_joint")
    body = set_up_body(armature, relax_arms=False)
    for bone in bones:
        joint = bone.ik_triangulation_joint
        given, own = _stored(joint), before.get(bone.name, {})
        if own and own != given:
            for key, value in own.items():
                setattr(joint, key, value)
        elif joint.source == "OWN" and joint.kind != "LOCKED":
            joint.kind = "FREE"
    return body


def _stored(joint: PropertyGroup) -> dict[str, Any]:
    """Return the settings of a joint that were ever set."""
    values = {name: getattr(joint, name) for name in settings_of(JointSettings) if joint.is_property_set(name)}
    return {name: value if isinstance(value, (str, bool, float)) else tuple(value) for name, value in values.items()}


def _give_targets(
    armature: Object,
    figure: Figure,
    body: NewBody,
    wanted: Mapping[str, Sequence[Matrix]],
    frames: Sequence[float],
    before: Collection[Object | None],
    keys_on: str,
    scene: Scene,
    undo: Undo,
) -> tuple[str, ...]:
    """Make the limbs of a body that follows, with a new keyed empty for each, and return their tips."""
    bones, settings = armature.pose.bones, armature.ik_triangulation
    if keys_on == "FK" and _has_ik(armature):
        keys_on = "FK_SWITCH"  # controls that are not followed show nothing
    settings.hips, settings.hips_motion, settings.balance = body.hips, "FREE", False
    tips = []
    for bone in bones:
        bone.ik_triangulation.hold = False
    for part, places in wanted.items():
        tip = figure.bones[part]
        stored = bones[tip].ik_triangulation
        line = [tip, *(above.name for above in bones[tip].parent_recursive)]
        if part != FACE or stored.orientation != "LOOK":
            stored.chain_count = line.index(body.hips) + 1
        fresh = stored.target is not None and stored.target not in before
        target = stored.target if fresh else new_target(armature, tip, turns=part != FACE)
        stored.enabled, stored.use_selected, stored.hold, stored.use_offset = True, False, False, False
        stored.target, stored.subtarget, stored.shape, stored.keys_on = target, "", "POINT", keys_on
        stored.orientation = "LOOK" if part == FACE else "FULL"
        if not stored.is_property_set("smoothing"):
            stored.smoothing = _SMOOTHING
        forget_rotation(target)
        if part == FACE:
            ahead = _AHEAD * figure.length("foot.L") * look_of(armature, tip).axis
            turned = [place.to_quaternion() @ ahead for place in places]
            places = [Matrix.Translation(way) @ place for way, place in zip(turned, places, strict=True)]
        _key(target, armature, tip, places, frames, scene, undo)
        tips.append(tip)
    armature.update_tag()
    return tuple(tips)


def _copy_turns(
    rig: RigBody,
    figure: Figure,
    turns: Sequence[Mapping[str, Quaternion]],
    hips: Sequence[Matrix],
    frames: Sequence[float],
    scene: Scene,
    view_layer: ViewLayer,
    undo: Undo,
) -> Work[None]:
    """Key the bones of a body with the turns of the parts (world space) that they are, and the hips at their places.

    Baking replaces these keys, and stays near them: so elbows and knees are where the source has them, and the targets
    only correct that. Bones that are no part stay as they are.
    """
    armature, ends = rig.armature, (frames[0], frames[-1])
    check_keys(armature, rig.bones)
    check_hips(armature, rig.hips)
    check_nla(armature, scene, *ends)
    into, turned = armature.matrix_world.inverted(), armature.matrix_world.to_quaternion().conjugated()
    rotations = {
        figure.bones[part]: np.moveaxis(np.array([(turned @ each[part]).to_matrix() for each in turns], float), 0, -1)
        for part in turns[0]
    }
    place = np.array([into @ each.translation for each in hips], float).T
    samples = yield from read_body(rig, scene, frames, view_layer, switched=True)
    problem = yield from read_problem(rig, samples, scene)
    moved = animation_turned(rig, samples.bases, rotations, place, samples.rotations)
    runs = body_channels(problem, problem.posed(moved.rotations, moved.locations))
    clock, destination = Clock(scene, armature), Destination(*(evaluated_time(scene, frame) for frame in ends))
    keys = Keys(runs, list(map(clock.time, frames)), "LINEAR", 0)
    yield from write_together([Writing(rig, keys, ends, destination)], undo, scene=scene, view_layer=view_layer)
    bag = destination.bag("ACTION", armature, undo)
    for run in runs:
        keep_followed(bag, run.path, (clock.time(ends[0]), clock.time(ends[1])), undo)


def _has_ik(armature: Object) -> bool:
    try:
        return bool(limbs_with_ik(armature))
    except RigError:
        return False


def _key(
    target: Object,
    armature: Object,
    tip: str,
    places: Sequence[Matrix],
    frames: Sequence[float],
    scene: Scene,
    undo: Undo,
) -> None:
    """Key an empty so that it is at the tail of a bone, in its size, that has these frames (4x4, world space)."""
    bone, looks = armature.pose.bones[tip], armature.pose.bones[tip].ik_triangulation.orientation == "LOOK"
    into, turned = armature.matrix_world.inverted(), armature.matrix_world.to_quaternion().conjugated()
    target.rotation_mode = "QUATERNION"
    locations, rotations = list[tuple[float, ...]](), list[tuple[float, ...]]()
    for place in places:
        frame = Matrix.LocRotScale(into @ place.translation, turned @ place.to_quaternion(), bone.matrix.to_scale())
        put_at_tip(target, bone, frame, looks)
        locations.append(tuple(target.location))
        rotations.append(tuple(target.rotation_quaternion))
    clock = Clock(scene, target)
    times = list(map(clock.time, frames))
    channels = [Channel("Object Transforms", "location", np.array(locations), range(3))]
    if not looks:
        channels.append(Channel("Object Transforms", "rotation_quaternion", np.array(rotations), range(4)))
    bag = ensure_channelbag(target, undo)
    finished(replace_keys(bag, channels, times, times[0], times[-1], undo))
