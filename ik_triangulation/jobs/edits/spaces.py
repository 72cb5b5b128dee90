# SPDX-License-Identifier: GPL-3.0-or-later
"""Space of a target over time: a span of frames in which it moves with an object or bone, such as a table or the hips.

Keyframes of the target keep their places in the world, those that repeat the one before move with the space, and from
the last one on the target is held in it. The frame after the span has a keyframe where the space has carried the target
to: nothing moves at the change, and from there it goes on to its next keyframe. Source: none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import bpy
from bpy.types import Object, Scene, ViewLayer
from mathutils import Matrix

from ...errors import SettingError, TargetError
from ...rig.armature import find_bone, is_flat
from ...rig.body import RigBody
from ...rig.checks import check_frames, check_readable, is_evaluated
from ...rig.dependencies import Dependencies, Node
from ...rig.frames.samples import frame_of
from ...rig.limb import Limb, selected_limb
from ...rig.targets.made import TargetSpace, spaces_on
from ...rig.targets.motion import keyable_owner, owner_of
from ...rig.targets.untouched import carriers_of
from ..shots.problem import body_of
from ..shots.writing import Undo
from .space_change import AitkenSteps, SpaceChange


def spaces_of(armature: Object, tip: str, scene: Scene | None = None) -> tuple[TargetSpace, ...]:
    """Return the spaces of the target of the limb that ends in `tip`, in order of time."""
    limb = selected_limb(armature.pose.bones[find_bone(armature, tip).name])
    return tuple(each for _, each in spaces_on(owner_of(limb), scene or bpy.context.scene))


def set_space(
    armature: Object,
    tip: str,
    space: Object,
    bone: str = "",
    frame_start: int | None = None,
    frame_end: int | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> TargetSpace:
    """Have the target of a limb move with an object, or its `bone`, from `frame_start` to `frame_end`.

    They are the present frame and, by default, the end of a space that is there, the frame before the next one, or the
    last of the scene. The target does not move at the first frame, nor from the last to the one after: there it gets a
    keyframe where the space has carried it to. Its other keyframes stay where they are in the world, but within the
    span those that repeat the one before, and the time after the last one, are held in the space. Spaces that begin
    within the span are replaced, and one that is there at its first frame ends before. The same one again is fitted to
    where its object is by now: its keyframes stay, and nothing moves at the ends. Raises an IKError that names the
    culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = _readable(armature, tip, scene, view_layer)
    start = scene.frame_current if frame_start is None else frame_start
    there = spaces_on(owner_of(limb), scene)
    end = last_frame_from(armature, tip, start, scene) if frame_end is None else frame_end
    check_frames(start, end, 1)
    for _, each in there:
        if each.frame_start <= end < each.frame_end:
            raise SettingError(
                f"The target is in '{each.name}' from frame {each.frame_start} to {each.frame_end}, beyond frame "
                f"{end}. End that space first, or choose a later frame."
            )
    _check_space(limb, space, bone, scene, view_layer)
    change = SpaceChange(limb, start, end, scene, view_layer)
    made = TargetSpace(space, bone, start, end)
    with Undo() as undo:
        change.begin(undo)
        if any(span == made for _, span in there):
            change.fit({}, {}, AitkenSteps())
        else:
            for each, span in there:
                if span.frame_start <= end and start <= span.frame_end:
                    change.free(each, span, max(start, span.frame_start))
            change.hold(space, bone)
        undo.pop_all()
    change.finish()
    return made


def end_space(
    armature: Object,
    tip: str,
    frame: int | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> TargetSpace | None:
    """End the space that the target of a limb is in at `frame`, by default the present one: from there on it is free.

    Nothing moves at that frame. Returns the space as it is now, None where it began at the frame and is removed.
    Raises an IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = _readable(armature, tip, scene, view_layer)
    at = scene.frame_current if frame is None else frame
    for constraint, each in spaces_on(owner_of(limb), scene):
        if each.frame_start <= at <= each.frame_end:
            change = SpaceChange(limb, at, each.frame_end, scene, view_layer)
            with Undo() as undo:
                change.begin(undo)
                change.free(constraint, each, at)
                undo.pop_all()
            change.finish()
            return each._replace(frame_end=at - 1) if each.frame_start < at else None
    raise SettingError(f"The target '{limb.target_name}' is in no space at frame {at}. Go to a frame of one.")


def remove_space(
    armature: Object,
    tip: str,
    frame: int,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> None:
    """Remove the space that the target of a limb is in at a frame, with the keyframes that were made at its ends.

    The other keyframes stay where they are in the world. Raises an IKError that names the culprit; then nothing has
    changed.
    """
    for each in spaces_of(armature, tip, scene):
        if each.frame_start <= frame <= each.frame_end:
            end_space(armature, tip, each.frame_start, scene, view_layer)
            return
    raise SettingError(f"The target of '{tip}' is in no space at frame {frame}. Choose a frame of one.")


def _readable(armature: Object, tip: str, scene: Scene, view_layer: ViewLayer) -> Limb:
    """Return the limb that ends in a bone. Raises the IKError that explains why its target cannot be keyed."""
    limb = selected_limb(armature.pose.bones[find_bone(armature, tip).name])
    view_layer.update()
    check_readable(limb, scene, view_layer)
    owner = keyable_owner(limb)
    if isinstance(owner, Object) and any((*owner.delta_location, *owner.delta_rotation_euler)):
        raise TargetError(f"Target '{owner.name}' has delta transforms. Use Object > Apply > Deltas.")
    return limb


def fit_spaces(
    rig: RigBody,
    solved: Callable[[str, float], Matrix | None],
    relaxed: AitkenSteps,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> float:
    """Have targets of a body in spaces on its own bones not move at the changes, with these where they are `solved`.

    `solved` returns the world matrix (4x4) of a bone at a frame, None where that is not solved. Returns the largest
    distance by which a target would have jumped [Blender units]; closing `undo` restores all.
    """
    far = 0.0
    for limb in rig.limbs:
        own = carriers_of(rig, limb).spaces
        carriers = {name: (rig.armature, bone) for name, bone in own.items()}
        places = {}
        for each, span in spaces_on(owner_of(limb), scene) if own else ():
            for frame in span.changes:
                place = solved(own[each.name], frame) if each.name in own else None
                if place is not None:
                    places[each.name, float(frame)] = place
        if places:
            spans = [span for _, span in spaces_on(owner_of(limb), scene)]
            change = SpaceChange(limb, spans[0].frame_start, spans[-1].frame_end, scene, view_layer)
            change.begin(undo)
            far = max(far, change.fit(carriers, places, relaxed))
    return far


def last_frame_from(armature: Object, tip: str, start: int, scene: Scene) -> int:
    """Return the frame up to which a space of a limb's target that begins at `start` goes if nothing else is said."""
    for each in spaces_of(armature, tip, scene):
        if each.frame_start <= start <= each.frame_end:
            return each.frame_end
        if each.frame_start > start:
            return each.frame_start - 1
    return max(scene.frame_end, start)


def _check_space(limb: Limb, space: Object, bone: str, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise the IKError that explains why a target cannot move with an object or bone."""
    if bone:
        find_bone(space, bone)
    name = bone or space.name
    if scene not in space.users_scene or not is_evaluated(space, view_layer):
        raise TargetError(f"'{space.name}' is not in this scene, or disabled in this view layer. Enable it first.")
    if is_flat(frame_of(space, bone, view_layer.depsgraph)):
        raise TargetError(f"'{name}' is scaled to zero, nothing has a place in it. Give it a scale.")
    known, body, bones = Dependencies([limb]), body_of(limb.armature, limb.tip), limb.armature.pose.bones
    others = [tip for tip in (body.tips if body else ()) if tip != limb.tip]
    led = {*limb.solved} - {above.name for tip in others for above in bones[tip].parent_recursive}
    for node in known.movers(Node(space, bone)):
        if node.object == limb.armature and node.bone in led:
            raise TargetError(f"'{name}' follows chain bone '{node.bone}', which the target leads. Choose another one.")
        if node.object == limb.target and node.bone == limb.subtarget:
            raise TargetError(f"'{name}' is the target '{limb.target_name}', or follows it. Choose another space.")
