# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of what Blender shows: where tips are against where they should be, without solving or writing."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from bpy.types import Depsgraph, Object, Scene, ViewLayer

from ..cooperative import finished
from ..errors import ChainError
from ..rig.armature import Bones
from ..rig.checks import check_limb, check_range
from ..rig.frames.reader import Evaluator
from ..rig.frames.samples import sample, tip_location
from ..rig.limb import Limb, enabled_tips
from ..rig.targets.flow import FieldBehind
from ..rig.targets.goal import GoalReader
from ..rig.targets.untouched import is_waiting
from ..rig.timeline import frames_from
from .shots.frame_solver import FrameResult, JudgedFrames, at_frame
from .shots.measure import Watch, judged_at, worst_place
from .shots.report import TipReport, tip_of_frames


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
        check_limb(limb, scene, view_layer, carried=True)
    seen = {limb.tip: _look(limb, frames, scene, view_layer) for limb in limbs}
    return {tip: tip_of_frames(armature.name, tip, JudgedFrames.of(found)) for tip, found in seen.items()}


def _look(limb: Limb, frames: Sequence[float], scene: Scene, view_layer: ViewLayer) -> list[FrameResult]:
    """Return the tip at each of these frames, as evaluated."""
    led = FieldBehind()
    watch, goals, bones = Watch(limb), GoalReader(), Bones(limb.armature, limb.bones, limb.solved)

    def look(depsgraph: Depsgraph, frame: float) -> FrameResult:
        now = sample(limb, depsgraph, frame)
        if now.flow is not None:
            now = now._replace(target=led.go(now.flow, frame, tip_location(limb, depsgraph)))
        pose = at_frame(now, bones)
        goal = goals.at(now, pose)
        return judged_at(now, goal, worst_place(now, goal, watch.look(depsgraph).places), pose)

    found = finished(Evaluator(limb, scene, view_layer, frames).evaluate(frames, look))
    return [found[frame] for frame in frames]
