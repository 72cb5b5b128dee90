# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that wait: those of a body that was set up, until somebody moves or keys them.

A hand whose empty has not been touched follows the body with its own animation, as if it had no target. The empty goes
along with it, so that it is at the hand when it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack

import numpy as np
from bpy.types import Object, PoseBone, ViewLayer
from mathutils import Matrix, Vector

from ..kinematics import Free
from .body import RigBody
from .look_axis import look_of
from .made_rotation import MADE_ROTATION, is_as_made, remember_rotation
from .rotation import channel, values_for

_SAME = 1e-6  # difference of matrices that is rounding, relative to their largest number
_AHEAD = 2.0  # of the length of a head: distance to the ball it looks at


def let_wait(bone: PoseBone) -> None:
    """Let the target of the limb that ends in a bone wait until it leaves the place where it is."""
    posed = bone.ik_triangulation_posed
    posed.waits, posed.waits_at = True, _place(bone.ik_triangulation.target)


def remember_made(bone: PoseBone) -> None:
    """Remember the place at which the target of the limb that ends in a bone was made."""
    bone.ik_triangulation_posed.waits_at = _place(bone.ik_triangulation.target)


def is_waiting(bone: PoseBone) -> bool:
    """Tell whether the target of this limb waits, and has not been touched since."""
    return bool(bone.ik_triangulation_posed.waits) and is_untouched(bone)


def is_untouched(bone: PoseBone) -> bool:
    """Tell whether the target of this limb was made for it and nobody has moved, keyed, parented or constrained it."""
    posed, target = bone.ik_triangulation_posed, bone.ik_triangulation.target
    if not posed.is_property_set("waits_at") or target is None or bone.ik_triangulation.subtarget:
        return False
    animation = target.animation_data
    animated = animation and (animation.action or len(animation.drivers) or len(animation.nla_tracks))
    if animated or target.parent or len(target.constraints):
        return False
    return _is_same(_place(target), posed.waits_at)


def put_at_tip(target: Object, bone: PoseBone, frame: Matrix, looks: bool = False) -> None:
    """Put a target without a parent at the tail of a bone, turned as it; if the bone `looks`, in front of its face.

    `frame` is that of the bone (4x4, armature space). What is looked at keeps its rotation.
    """
    if looks:
        look, world = look_of(bone.id_data, bone.name), bone.id_data.matrix_world @ frame
        target.location = world @ (Vector((0.0, bone.length, 0.0)) + look.origin + look.axis * (_AHEAD * bone.length))
        return
    target.location, turn, _ = place_at_tip(bone, frame).decompose()
    turning = channel(target)[0]
    values = values_for(turn, target.rotation_mode, Free(), tuple(getattr(target, turning)))
    setattr(target, turning, values)


def place_at_tip(bone: PoseBone, frame: Matrix) -> Matrix:
    """Return a frame without scale (4x4, world space) at the tail of a bone that has this `frame` (armature space)."""
    return (bone.id_data.matrix_world @ frame @ Matrix.Translation((0.0, bone.length, 0.0))).normalized()


def take_along_shown(rig: RigBody, view_layer: ViewLayer, undo: ExitStack) -> None:
    """Move the targets of a body that wait to their tips, as `view_layer` shows these, and update it if any has moved.

    Closing `undo` restores them.
    """
    bones = rig.armature.evaluated_get(view_layer.depsgraph).pose.bones
    tips = [rig.armature.pose.bones[limb.tip] for limb in rig.limbs]
    if take_along(tips, lambda name: bones[name].matrix, undo):
        view_layer.update()


def take_along(bones: Iterable[PoseBone], frame_of: Callable[[str], Matrix], undo: ExitStack) -> bool:
    """Move the targets that wait to their tips, and let them wait there; tell whether any has moved.

    `frame_of` returns the frame of a bone (4x4, armature space). A limb with an offset, whose empty cannot be turned as
    its tip, is left out. Closing `undo` restores them.
    """
    moved = False
    for bone in bones:
        limb, target = bone.ik_triangulation, bone.ik_triangulation.target
        if not is_waiting(bone) or limb.use_offset or target.library is not None:
            continue
        before = _place(target)
        keep_waiting(bone, undo)
        as_made = is_as_made(target)
        put_at_tip(target, bone, frame_of(bone.name), limb.orientation == "LOOK")
        if as_made:
            remember_rotation(target)
        let_wait(bone)
        moved |= not _is_same(_place(target), before)
    return moved


def keep_waiting(bone: PoseBone, undo: ExitStack) -> None:
    """Have the closing of `undo` give back the place at which the target of a limb waits."""
    target, at = bone.ik_triangulation.target, tuple(bone.ik_triangulation_posed.waits_at)
    undo.callback(setattr, bone.ik_triangulation_posed, "waits_at", at)
    for name in ("location", channel(target)[0], MADE_ROTATION):
        undo.callback(setattr, target, name, tuple(getattr(target, name)))


def _is_same(place: Iterable[float], other: Iterable[float]) -> bool:
    now, then = np.array(tuple(place)), np.array(tuple(other))
    return bool(np.abs(now - then).max() <= _SAME * max(1.0, np.abs(then).max()))


def _place(target: Object) -> list[float]:
    """Numbers of the target's own matrix, row by row."""
    return [number for row in target.matrix_basis for number in row]
