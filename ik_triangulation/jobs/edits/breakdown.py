# SPDX-License-Identifier: GPL-3.0-or-later
"""A breakdown: the pose between the keyed poses before and after the present frame, in which held tips stay held.

Hands and feet that are at one place in both poses are held there: legs and arms bend to them, and those that move are
on their way. The body is recognised for that, and nothing of it is stored. Source: none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph, FCurve, Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import finished
from ...errors import AnimationError, SettingError
from ...goals.from_goals import hold_tasks, point_task
from ...goals.task import Level, Task
from ...kinematics.batch import Geometry
from ...rig.body import RigBody
from ...rig.by_hand.keys import keep_location, keep_pose
from ...rig.frames.body_frames import plain_values
from ...rig.frames.reader import Evaluator
from ...rig.freedom import freedom_of
from ...rig.keyframes import check_keys, curves_of, generated
from ...rig.keyframes.arrays import SAME_FRAME, get_keys
from ...rig.limb import Limb
from ...rig.rotation import channel, rotation_from, values_for
from ...rig.targets.motion import insert_keys
from ...rig.timeline import Clock
from ..body_drag import recognised, samples_as_shown
from ..shots.keys import body_channels
from ..shots.problem import BodyProblem
from ..shots.writing import Undo, show_first
from .edited_shot import near_shown

_STAYS = 0.02  # of the body's size: a tip that moves less from one pose to the other is held
_NEAR = 1e-4  # of the body's size: how near to their places the other tips come


class Breakdown(NamedTuple):
    """The frames `before` and `after` of a breakdown, the tips that were `held`, and the bones that were `posed`."""

    before: float
    after: float
    held: Sequence[str]
    posed: Sequence[str]


def breakdown(
    armature: Object,
    factor: float = 0.5,
    key: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Breakdown:
    """Pose an armature between its keyed poses before and after the present frame; `factor` 0 is the one before.

    Hands and feet that are at one place in both stay there. With `key` the posed bones are keyed. Raises an IKError
    that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    if not 0.0 <= factor <= 1.0:
        raise SettingError(f"A factor of {factor:g} is not between the two poses. Choose one from 0 to 1.")
    ends, keyed = _poses_around(armature, scene)
    bones = list(keyed)
    if key:
        check_keys(armature, [bone.name for bone in bones])
    with Undo() as undo, recognised(armature) as found:
        keep_pose(bones, undo)
        for bone in bones:
            keep_location(bone, undo)
        _interpolate(keyed, ends, factor, Clock(scene, armature))
        view_layer.update()
        held = _with_held(found, ends, factor, scene, view_layer, undo) if found is not None else ()
        if key:
            for bone, props in keyed.items():
                for prop in props:
                    insert_keys(bone, prop, scene, always=True)
        undo.pop_all()
    view_layer.update()
    return Breakdown(*ends, held, [bone.name for bone in bones])


def _poses_around(armature: Object, scene: Scene) -> tuple[tuple[float, float], dict[PoseBone, list[str]]]:
    """Return the frames of the nearest keys by hand before and after the present one, and the bones that are keyed.

    With each bone are its properties that are.
    """
    clock, now = Clock(scene, armature), scene.frame_current_final
    curves: dict[str, list[FCurve]] = {}
    for curve in curves_of(armature):
        curves.setdefault(curve.data_path, []).append(curve)
    times, keyed = set[float](), dict[PoseBone, list[str]]()
    for bone in armature.pose.bones:
        paths = {prop: bone.path_from_id(prop) for prop in ("location", channel(bone)[0], "scale")}
        props = [prop for prop, path in paths.items() if path in curves]
        for curve in (curve for prop in props for curve in curves[paths[prop]]):
            times.update(get_keys(curve, ["co"])["co"][~generated(curve), 0].tolist())
        if props:
            keyed[bone] = props
    frames = sorted(map(clock.frame, times))
    before = [frame for frame in frames if frame < now - SAME_FRAME]
    after = [frame for frame in frames if frame > now + SAME_FRAME]
    if not before or not after:
        where = "before" if not before else "after"
        raise AnimationError(
            f"'{armature.name}' has no keys made by hand {where} frame {now:g}. Go to a frame between two keyed poses."
        )
    return (before[-1], after[0]), keyed


def _interpolate(
    keyed: Mapping[PoseBone, Sequence[str]], ends: tuple[float, float], factor: float, clock: Clock
) -> None:
    """Pose bones between two frames of the F-curves of these properties."""
    times = [clock.time(frame) for frame in ends]
    for bone, props in keyed.items():
        turning, mode = channel(bone)[0], bone.rotation_mode
        for prop in props:
            one, other = plain_values(bone, prop, times).T
            if prop != turning:
                setattr(bone, prop, (one + (other - one) * factor).tolist())
                continue
            between = rotation_from(one, mode).slerp(rotation_from(other, mode), factor)
            setattr(bone, prop, tuple(values_for(between, mode, freedom_of(bone), one.tolist())))


def _with_held(
    found: RigBody,
    ends: tuple[float, float],
    factor: float,
    scene: Scene,
    view_layer: ViewLayer,
    undo: Undo,
) -> Sequence[str]:
    """Bring the tips of a posed body that stay from one frame to the other to their places; return those."""
    armature, tips = found.armature, [name for name in found.tips if found.hips in found.line(name)]
    limbs = tuple(Limb.from_tip(armature, tip, armature) for tip in tips)
    whole = replace(found, limbs=limbs, held=(), planted=(), contacts=(), free_heads=(), may_swing=())

    def look(depsgraph: Depsgraph, _: float) -> dict[str, Matrix]:
        bones = armature.evaluated_get(depsgraph).pose.bones
        return {tip: bones[tip].matrix.copy() for tip in tips}

    seen = finished(Evaluator(whole, scene, view_layer, list(ends)).evaluate(list(ends), look))
    one, other = (seen[frame] for frame in ends)
    size = sum(armature.data.bones[name].length for name in whole.line(tips[0]))
    held = [tip for tip in tips if (_tail(armature, one, tip) - _tail(armature, other, tip)).length < _STAYS * size]
    if not held:
        return ()
    moving = tuple(limb for limb in whole.limbs if limb.tip not in held)
    rig = replace(whole, limbs=moving, held=tuple(held), balance=False, floor=False)
    samples = samples_as_shown(rig, scene, view_layer)
    problem = BodyProblem(rig, samples)
    body, frames = problem.body, problem.held_frames.copy()
    for tip in held:
        turn = one[tip].to_quaternion().slerp(other[tip].to_quaternion(), factor)
        place = one[tip].translation.lerp(other[tip].translation, factor)
        row = rig.bones.index(tip)
        frames[row, :, :3, 0], frames[row, :, 3, 0] = np.array(turn.to_matrix(), float), np.array(place)
    tasks: list[Task] = hold_tasks(body, held, frames)
    geometry = Geometry(body.tree, problem.reference)
    for limb in moving:
        number = body.number_of[limb.tip]
        task = point_task(geometry.tip(number), np.array([_NEAR * body.tree.size]))
        tasks.append(replace(task, tip=number, level=Level.REACH))
    states, _ = near_shown(problem, scene, tasks)
    keep_pose(rig.pose_bones, undo)
    keep_location(armature.pose.bones[rig.hips], undo)
    show_first(armature, body_channels(problem, states))
    return held


def _tail(armature: Object, seen: dict[str, Matrix], tip: str) -> Vector:
    """Return the place of a bone's tail by the matrices of bones."""
    return seen[tip] @ Vector((0.0, armature.data.bones[tip].length, 0.0))
