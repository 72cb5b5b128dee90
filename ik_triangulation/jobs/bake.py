# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of a limb at the present frame, and baking of limbs over a range: read, solve, check, write.

A limb is planned and solved before it is written, and the file is left as it was if anything fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import perf_counter

import bpy
from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, cooperative
from ..errors import AnimationError
from ..rig.animated import MovingPaths, ignored
from ..rig.armature import Bones, find_bone
from ..rig.by_hand.keys import keep_place, remember_place, remember_written
from ..rig.by_hand.record import recorded_bake, recorded_span
from ..rig.by_hand.reference import hold_reference
from ..rig.checks import broken_drivers, check_limb, check_range, check_separate
from ..rig.controls import Links
from ..rig.dependencies import Dependencies, in_waves
from ..rig.destination import Made
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import sample
from ..rig.freedom import limit_notes
from ..rig.keyframes import check_keys, is_baked, key_frames, remove_generated
from ..rig.limb import Limb
from ..rig.timeline import Clock, check_nla, mark
from .bake_wave import BakePlan, Span, bake_together, check_something
from .controls import check_keyed, keyed_bones, watch_of
from .frame_solver import SolvedFrame, outside
from .keys import WrittenKeys, pose_channels
from .measure import Watch, measure_now, moved_inside, report_of
from .natural_shot import solve_among_others, solve_frames
from .report import Report
from .writing import Transaction, Undo, write_pose


def solve_pose(
    limb: Limb, scene: Scene | None = None, view_layer: ViewLayer | None = None, key: bool = False
) -> Report:
    """Pose the limb so that its tip reaches the target at the present frame; with `key` the rotations are keyed there.

    Works in `scene` and `view_layer`, by default the context's. Raises an IKError that names the culprit.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_limb(limb, scene, view_layer)
    frame = scene.frame_current + scene.frame_subframe
    warnings = check_keys(limb.armature, limb.in_order) if key else []
    warnings += limit_notes(limb.pose_bones)
    if key:
        check_nla(limb.armature, scene, frame, frame)
    bones, watch = Bones(limb.armature, limb.bones, limb.solved), Watch(limb)
    now = sample(limb, view_layer.depsgraph, frame)
    warnings += [*broken_drivers(limb, view_layer.depsgraph), *moved_inside(outside(bones, now), now.frame)]
    solved = solve_among_others(limb, bones, now, scene, view_layer)
    if not isinstance(solved, SolvedFrame):
        (solved,) = solve_frames(limb, bones, [now], scene)
    with Undo() as undo:
        keys = write_pose(limb, pose_channels(limb, solved), frame, key, scene, view_layer, undo)
        view_layer.update()
        measured = measure_now(watch, solved, view_layer.depsgraph, scene)
        written = WrittenKeys(keys, keys, [0])
        report = report_of(limb, [solved], perf_counter() - started, written, warnings, measured=measured)
        undo.pop_all()
    return report


@cooperative
def bake(
    limb: Limb,
    frame_start: int,
    frame_end: int,
    step: float = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[Report]:
    """Key the limb's rotations from `frame_start` to `frame_end`, every `step` frames, so that its tip follows.

    Rotation keys of these bones inside the range are replaced; everything else stays: other keys, the present frame,
    and poses that are not keyed. Raises an IKError that names the culprit; then, and if it is stopped, nothing has
    changed. Steps are as those of bake_spans().
    """
    return (yield from bake_limbs.steps([limb], frame_start, frame_end, step, scene, view_layer, seconds=seconds))[0]


@cooperative
def bake_limbs(
    limbs: Sequence[Limb],
    frame_start: int,
    frame_end: int,
    step: float = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[list[Report]]:
    """Bake several limbs as one: all of them or, if one fails, none. Returns a report for each, in the order given.

    A limb whose root or target moves with another limb is baked after that one. The rest is as in bake(); raises
    ChainError if a bone belongs to two of the limbs, or they move each other. Steps are as those of bake_spans().
    """
    spans = [(frame_start, frame_end, step)] * len(limbs)
    return (yield from bake_spans.steps(limbs, spans, scene, view_layer, seconds=seconds))


@cooperative
def bake_spans(
    limbs: Sequence[Limb],
    spans: Sequence[Span],
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
    keep: bool = False,
    within: Transaction | None = None,
) -> Job[list[Report]]:
    """Bake several limbs as one as bake_limbs() does, each over a span of its own.

    With `keep` keys that were made by hand stay as they are, and the baked rotations run on from them. A step is one
    frame; frames of the user's scene count as well where it has to be stepped. Between two steps nothing but the keys
    made so far differs from before, and no more frames are read at once than can be in about that many `seconds`. What
    is done `within` a larger transaction is undone with that.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    if within is None and not keep:
        check_something((), limbs)
    check_separate(limbs)
    known, moving = Dependencies(limbs), {ob.session_uid: MovingPaths(ob) for ob in {limb.armature for limb in limbs}}
    warnings, all_frames = [], []
    for limb, span in zip(limbs, spans, strict=True):
        check_range(scene, *span)
        check_limb(limb, scene, view_layer, known)
        limb.read_animation(paths := moving[limb.armature.session_uid])
        warnings.append([*check_keyed(limb), *limit_notes(limb.pose_bones), *ignored(limb.pose_bones, paths)])
        check_nla(limb.armature, scene, *span[:2], limb.destination)
        all_frames.append(_frames_of(limb, scene, *span))
    links: dict[int, Links | None] = {}
    plans = [
        BakePlan(limb, span, FrameReader(limb, scene, view_layer, frames, known), watch_of(limb, links), found)
        for limb, span, frames, found in zip(limbs, spans, all_frames, warnings, strict=True)
    ]
    made: Made = within.made if within else {}
    whole, done = sum(plan.parts for plan in plans), 0
    by_limb = {id(plan.limb): plan for plan in plans}
    with Undo() as undo:
        for wave in in_waves(limbs, known):
            for part in bake_together([by_limb[id(limb)] for limb in wave], made, undo, seconds, keep):
                done += part
                yield done, whole
        for plan in plans:
            if plan.limb.mark_misses:
                name = f"{plan.limb.armature.name}: {plan.limb.tip} misses"
                mark(scene, name, plan.report.missed, *plan.span[:2], undo)
        reports = [plan.report for plan in plans]
        Transaction.end(undo, within)
    return reports


@cooperative
def rebake(
    armature: Object,
    tip: str,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[Report]:
    """Bake the limb that ends in `tip` as it was baked last into the active action, over its span of frames.

    Keys that were baked are replaced, and those made by hand are kept. The rest is as in bake(); raises AnimationError
    if it was not baked before.
    """
    limb, span, notes = recorded_bake(armature, tip, scene or bpy.context.scene)
    (report,) = yield from bake_spans.steps([limb], [span], scene, view_layer, seconds=seconds, keep=True)
    return replace(report, warnings=[*notes, *report.warnings])


def repeats_bake(limb: Limb, span: Span) -> bool:
    """Tell whether a bake would only repeat an earlier one: keys made by hand since are corrections then, to be kept.

    That is so where the limb's bones have baked keys, and the last bake into the active action had all of these frames.
    """
    before = recorded_span(limb.armature, limb.tip)
    inside = before is not None and before[0] <= span[0] and span[1] <= before[1]
    return limb.destination == "ACTION" and inside and is_baked(limb.armature, keyed_bones(limb))


def delete_generated(
    armature: Object,
    bones: Sequence[str],
    first: float = -inf,
    last: float = inf,
    view_layer: ViewLayer | None = None,
    scene: Scene | None = None,
) -> int:
    """Delete the rotation keys of these bones that a bake has made, from frame `first` to `last`; return their number.

    The keys that they have replaced are given back. Raises an IKError that names the culprit; then nothing has changed.
    """
    for name in bones:
        find_bone(armature, name)
    check_keys(armature, bones)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    clock, posed = Clock(scene, armature), [armature.pose.bones[name] for name in bones]
    with Undo() as undo:
        hold_reference(posed, scene, undo)
        removed = remove_generated(armature, bones, clock.time(first), clock.time(last), view_layer, undo)
        if removed.count:  # the pose that is left is no pose by hand
            for bone in posed:
                keep_place(bone, undo)
            remember_written(posed)
            remember_place(posed)
            undo.pop_all()
            for curve in removed.empty:  # of which Blender shows nothing: the last thing to do, as it cannot be undone
                removed.bag.fcurves.remove(curve)
    return removed.count


def _frames_of(limb: Limb, scene: Scene, frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """Return the frames at which a limb is keyed. Raises AnimationError without any keys of the target to bake at."""
    if not limb.only_target_keys:
        return frames_from(frame_start, frame_end, step)
    clock = Clock(scene, limb.target)
    times = key_frames(limb.target, limb.subtarget, *sorted(map(clock.time, (frame_start, frame_end))))
    frames = sorted(map(clock.frame, times))
    if not frames:
        raise AnimationError(
            f"Target '{limb.target_name}' has no keys from frame {frame_start} to {frame_end}. "
            "Turn off Only at Target's Keys."
        )
    return frames


def frames_from(frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """Return the frames of a bake; they are whole numbers if the step is."""
    if step == int(step):
        return range(frame_start, frame_end + 1, int(step))
    count = int((frame_end - frame_start) / step + 1e-6) + 1
    return [frame_start + number * step for number in range(count)]
