# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of what Blender shows: where tips are against where they should be, without solving or writing."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import bpy
from bpy.types import Depsgraph, Object, Scene, ViewLayer

from ..cooperative import finished
from ..errors import ChainError
from ..goals.orientation import missing_angle
from ..rig.armature import Bones
from ..rig.checks import check_limb, check_range
from ..rig.frames.reader import Evaluator
from ..rig.frames.samples import sample
from ..rig.limb import Limb, enabled_tips
from ..rig.targets.goal import GoalReader
from ..rig.targets.untouched import is_waiting
from .bake import frames_from
from .frame_solver import at_frame
from .measure import Watch
from .report import TipReport


class _Seen(NamedTuple):
    """A tip at a frame: distance to its target [Blender units, world space] and angle [rad], None where none counts."""

    frame: float
    distance: float
    angle: float | None
    is_due: bool
    is_there: bool


def verify(
    armature: Object,
    frame_start: int,
    frame_end: int,
    step: float = 1,
    *,
    tips: Sequence[str] | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> dict[str, TipReport]:
    """Return, by tip, where limbs of a rig are at these frames, measured on what Blender shows: `tips` or all enabled.

    That is true of any animation, whoever made it. Limbs of generated rigs are measured by the deform bones that follow
    them too. Targets that were made and not moved yet ask for nothing, and held tips without a target are judged by
    their bake: neither is in the result. Raises ChainError if no limb has a target that asks for something, and
    SettingError for a range without frames.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    check_range(scene, frame_start, frame_end, step)
    frames = frames_from(frame_start, frame_end, step)
    bones = armature.pose.bones
    names = enabled_tips(armature) if tips is None else tips
    limbs = [Limb.of(bones[name]) for name in names if not is_waiting(bones[name])]
    if not limbs:
        raise ChainError(f"No target of '{armature.name}' has been moved. Move one, or key it.")
    for limb in limbs:
        check_limb(limb, scene, view_layer)
    return {limb.tip: _report(limb, _look(limb, frames, scene, view_layer)) for limb in limbs}


def _look(limb: Limb, frames: Sequence[float], scene: Scene, view_layer: ViewLayer) -> list[_Seen]:
    """Return the tip at each of these frames, as evaluated."""
    watch, goals, bones = Watch(limb), GoalReader(), Bones(limb.armature, limb.bones, limb.solved)

    def look(depsgraph: Depsgraph, frame: float) -> _Seen:
        now = sample(limb, depsgraph, frame)
        goal, here, world = goals.at(now, at_frame(now, bones)), watch.look(depsgraph), now.rig.world
        places = [here.tip, *here.followers.values()]
        distance = max((world @ shown.tip - world @ goal.target.closest(shown.tip)).length for shown in places)
        found = [missing_angle(goal.soft, shown.tip, shown.rotation) for shown in places]
        angle = max((each for each in found if each is not None), default=None)
        is_there = distance <= now.limb.tolerance and (angle is None or angle <= now.limb.angle_tolerance)
        return _Seen(frame, distance, angle, now.limb.influence == 1.0, is_there)

    found = finished(Evaluator(limb, scene, view_layer, frames).evaluate(frames, look))
    return [found[frame] for frame in frames]


def _report(limb: Limb, frames: Sequence[_Seen]) -> TipReport:
    """Return the report on a tip by the frames that are due, or by all if none is."""
    counted = [each for each in frames if each.is_due] or frames
    worst = max(counted, key=lambda each: each.distance)
    angles = [each.angle for each in counted if each.angle is not None]
    return TipReport(
        armature=limb.armature.name,
        tip=limb.tip,
        held=False,
        missed=[each.frame for each in frames if each.is_due and not each.is_there],
        largest_distance=worst.distance,
        median_distance=median(each.distance for each in counted),
        worst_frame=worst.frame,
        angle=max(angles, default=0.0),
        turns=bool(angles),
    )
