# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve a limb at the present frame, or bake limbs over a range: read, solve, check, write.

All is planned and solved before the first write, and the file is left as it was if anything fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf
from operator import itemgetter
from time import perf_counter

import bpy
from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, Progress, run_through, telling
from ..errors import AnimationError
from ..goals.orientation import missing_angle
from ..rig.animated import ignored
from ..rig.armature import Bones, find_bone
from ..rig.bake_record import record_bake, recorded_bake
from ..rig.checks import check_limb, check_range, check_separate
from ..rig.clock import Clock, evaluated_time
from ..rig.dependencies import Bound, in_order
from ..rig.destination import Destination, Made
from ..rig.drivers import broken_drivers
from ..rig.frames.sampling import Sample, in_parts, sample
from ..rig.frames.stepping import bound_to, reading, way_through
from ..rig.keyframes import check_keys, key_frames, made_by_hand, remove_keys
from ..rig.limb import Limb
from ..rig.markers import mark
from ..rig.nla import check_nla
from . import write as commit
from .ends import led_to_last, seams
from .frame_solver import Jumps, Solved, follow, outside, smoothed
from .measure import NOT_MEASURED, Measured, Watch, measure, measure_now
from .report import FrameResult, Report, Shown

Span = tuple[int, int, float]  # first frame, last frame, step
_ROWS = 5  # of missed frames that a warning names


def solve_pose(
    limb: Limb, scene: Scene | None = None, view_layer: ViewLayer | None = None, key: bool = False
) -> Report:
    """Pose the limb so that its tip reaches the target at the present frame; with `key` the rotations are keyed there.

    Works in `scene` and `view_layer`, by default the context's. Raises an IKError that says what is in the way.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_limb(limb, scene, view_layer)
    frame = scene.frame_current + scene.frame_subframe
    warnings = check_keys(limb.armature, limb.in_order) if key else []
    if key:
        check_nla(limb.armature, scene, frame, frame)
    bones, watch = Bones(limb.armature, limb.bones, limb.solved), Watch(limb)
    now = sample(limb, view_layer.depsgraph, frame)
    warnings += [*broken_drivers(limb, view_layer.depsgraph), *moved_inside(outside(limb, bones, now), now.frame)]
    (solved,) = follow(limb, bones, [now])
    with ExitStack() as undo:
        keys = commit.pose(limb, solved, key, scene, view_layer, undo)
        measured = measure_now(watch, solved, view_layer.depsgraph, scene)
        undo.pop_all()
    written = commit.Written(keys, keys, [0])
    return report_of(limb, [solved], perf_counter() - started, written, warnings, measured=measured)


def bake(
    limb: Limb,
    frame_start: int,
    frame_end: int,
    step: float = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    progress: Progress | None = None,
) -> Report:
    """Key the limb's rotations from `frame_start` to `frame_end`, every `step` frames: its tip follows the target.

    Rotation keys of these bones inside the range are replaced; everything else stays: other keys, the present frame,
    and poses that are not keyed. Raises an IKError that says
    what is in the way; then, and if `progress` raises, nothing has changed.
    """
    return bake_limbs([limb], frame_start, frame_end, step, scene, view_layer, progress)[0]


def bake_limbs(
    limbs: Sequence[Limb],
    frame_start: int,
    frame_end: int,
    step: float = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    progress: Progress | None = None,
) -> list[Report]:
    """Bake several limbs as one: all of them or, if one fails, none. A report for each, in the order given.

    A limb that stands on another one, or whose target moves with it, is baked after that. The rest is as bake() says;
    raises ChainError if a bone belongs to two of them, or they move each other.
    """
    return run_through(baking(limbs, [(frame_start, frame_end, step)] * len(limbs), scene, view_layer), progress)


def baking(
    limbs: Sequence[Limb],
    spans: Sequence[Span],
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    seconds: float = inf,
    keep: bool = False,
) -> Job[list[Report]]:
    """What bake_limbs() does, frame by frame: yields the frames done and the frames in all, returns the reports.

    Each limb has a span of its own. Closing it takes back everything. Between two frames nothing of Blender's is open
    but what has been keyed; no more frames are read at once than can be in about that many `seconds`. For motion that
    is there only in the user's scene that is stepped first, and its frames count as well. With `keep` keys that were
    made by hand stay where they are, and what is baked runs on from these.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_separate(limbs)
    warnings, all_frames = [], []
    for limb, span in zip(limbs, spans, strict=True):
        check_range(scene, *span)
        check_limb(limb, scene, view_layer)
        warnings.append(
            [
                *check_keys(limb.armature, limb.in_order, limb.destination),
                *ignored(limb.pose_bones),
            ]
        )
        check_nla(limb.armature, scene, *span[:2], limb.destination)
        all_frames.append(_frames_of(limb, scene, *span))
    plans = [
        _Plan(limb, span, frames, bound_to(limb, scene, view_layer, frames), found)
        for limb, span, frames, found in zip(limbs, spans, all_frames, warnings, strict=True)
    ]
    made: Made = {}
    whole, done = sum(plan.parts(scene) for plan in plans), 0
    by_limb = {id(plan.limb): plan for plan in plans}
    with ExitStack() as undo:
        for limb in in_order(limbs):
            plan = by_limb[id(limb)]
            first, last = (evaluated_time(scene, frame) for frame in plan.span[:2])
            destination = Destination(first, last, made)
            for part in _baking_one(plan, scene, view_layer, destination, undo, seconds, keep):
                done += part
                yield done, whole
        for plan in plans:
            if plan.limb.mark_misses:
                name = f"{plan.limb.armature.name}: {plan.limb.tip} misses"
                mark(scene, name, plan.report.missed, *plan.span[:2], undo)
        undo.pop_all()
    return [plan.report for plan in plans]


@dataclass
class _Plan:
    """What is to be done for a limb, and at last what came of it. `bound` says why its scene has to be stepped."""

    limb: Limb
    span: Span
    frames: Sequence[float]
    bound: Bound | None
    warnings: list[str]
    report: Report = field(init=False)

    def parts(self, scene: Scene) -> int:
        """How many frames are to be gone through."""
        return len(self.frames) + (len(way_through(scene, self.frames, self.bound)) if self.bound else 0)


def _baking_one(
    plan: _Plan,
    scene: Scene,
    view_layer: ViewLayer,
    destination: Destination,
    undo: ExitStack,
    seconds: float,
    keep: bool,
) -> Iterator[int]:
    """Bake one limb of several: yields 1 for each frame that is done, and 0 in between."""
    limb, bound, started = plan.limb, plan.bound, perf_counter()
    bones, watch, found = Bones(limb.armature, limb.bones, limb.solved), Watch(limb), plan.warnings
    moments: Iterable[Sample] = in_parts(limb, scene, plan.frames, seconds, broken=found)
    if bound:
        moments = yield from telling(reading(limb, scene, view_layer, plan.frames, bound, broken=found), 1)
        found.append(f"The scene was stepped frame by frame: {bound.why}.")
    solved: list[Solved] = []
    for result in follow(limb, bones, moments):
        solved.append(result)
        yield 1
    solved = led_to_last(limb, bones, solved, scene, bound)
    solved, find_jumps = yield from telling(smoothed(limb, bones, solved), 0)
    begin, ends = solved[0].now, plan.span[:2]
    if not keep:  # what a re-bake begins with is the last bake
        found += moved_inside(outside(limb, bones, begin), begin.frame)
    times = map(Clock(scene, limb.armature).time, ends)
    kept = made_by_hand(limb.armature, limb.in_order, *times) if keep else {}
    if kept:
        found.append(f"Keys made by hand were kept at {len(set().union(*kept.values()))} frames.")
    written = yield from telling(commit.key(limb, solved, *ends, scene, view_layer, destination, undo, kept), 0)
    record_bake(limb, plan.span, destination.bag(limb.destination, limb.armature, undo), undo)
    yield 0
    keyed = [solved[i] for i in written.at]
    measuring = measure(watch, solved, keyed, scene, view_layer, bound, seconds, by_hand=bool(kept))
    measured = yield from telling(measuring, 0)
    view_layer.update()
    took, beyond = perf_counter() - started, seams(limb, solved, scene)
    report = report_of(limb, solved, took, written, found, lambda: [*find_jumps(), *beyond], measured)
    plan.report = replace(report, warnings=[*report.warnings, *_missed(report.frames)])


def rebake(
    armature: Object,
    tip: str,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    progress: Progress | None = None,
) -> Report:
    """Bake the limb that ends in `tip` as it was baked last into the active action, over its span of frames.

    Keys that were baked are replaced, and those made by hand are kept. The rest is as bake() says; raises
    AnimationError if it was not baked before.
    """
    return run_through(rebaking(armature, tip, scene, view_layer), progress)[0]


def rebaking(
    armature: Object,
    tip: str,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    seconds: float = inf,
) -> Job[list[Report]]:
    """What rebake() does, frame by frame, as baking() does."""
    limb, span, notes = recorded_bake(armature, tip, scene or bpy.context.scene)
    (report,) = yield from baking([limb], [span], scene, view_layer, seconds, keep=True)
    return [replace(report, warnings=[*notes, *report.warnings])]


def delete_generated(
    armature: Object,
    bones: Sequence[str],
    first: float = -inf,
    last: float = inf,
    view_layer: ViewLayer | None = None,
    scene: Scene | None = None,
) -> int:
    """Delete the rotation keys of these bones that a bake has made, from frame `first` to `last`; returns how many.

    Raises an IKError that says what is in the way; then nothing has changed.
    """
    for name in bones:
        find_bone(armature, name)
    check_keys(armature, bones)
    clock = Clock(scene or bpy.context.scene, armature)
    return remove_keys(armature, bones, clock.time(first), clock.time(last), view_layer or bpy.context.view_layer)


def _frames_of(limb: Limb, scene: Scene, frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """The frames at which a limb is keyed. Raises AnimationError if the target has no keys where it should have."""
    if not limb.only_target_keys:
        return frames_from(frame_start, frame_end, step)
    clock = Clock(scene, limb.target)
    times = key_frames(limb.target, limb.subtarget, *sorted(map(clock.time, (frame_start, frame_end))))
    frames = sorted(map(clock.frame, times))
    if not frames:
        raise AnimationError(
            f"Target '{limb.target_name}' has no keys from frame {frame_start} to {frame_end}. Turn off Target's Keys."
        )
    return frames


def frames_from(frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """The frames of a bake, whole ones if the step is."""
    if step == int(step):
        return range(frame_start, frame_end + 1, int(step))
    count = int((frame_end - frame_start) / step + 1e-6) + 1
    return [frame_start + number * step for number in range(count)]


def report_of(
    limb: Limb,
    solved: Sequence[Solved],
    seconds: float,
    written: commit.Written,
    warnings: Sequence[str],
    find_jumps: Jumps = list,
    measured: Measured = NOT_MEASURED,
) -> Report:
    """What came of the frames that were solved; `seconds` is the time they took, `written` what keys came of them.

    A frame is judged by what was `measured` there as Blender evaluates it; where that agrees with the pose that was
    written, or was not looked at, by that pose.
    """
    results = [_result(each, measured.shown.get(each.now.frame)) for each in solved]
    warnings = list(dict.fromkeys([*warnings, *measured.warnings, *none_due(results)]))
    names = limb.armature.name, limb.tip, limb.target_name, limb.solver
    counts = {"keys": written.keys, "full_keys": written.full, "strayed": written.strayed}
    tolerances = limb.tolerance, limb.angle_tolerance
    notes = measured.not_following
    alone = [_result(each, measured.alone.get(each.now.frame)) for each in solved] if notes else ()
    following = {"not_following": notes, "alone": alone}
    return Report(
        *names, *tolerances, results, seconds, warnings=warnings, find_jumps=find_jumps, **counts, **following
    )


def none_due(results: Iterable[FrameResult]) -> list[str]:
    """A warning where no frame is due at its target."""
    if any(result.due for result in results):
        return []
    return ["Influence is below 1 at every frame at the target: none can be said to be reached or missed."]


def _result(each: Solved, shown: Shown | None) -> FrameResult:
    """What came of one frame; with an influence below 1 it is on its way."""
    (now, goal, solution, pose), world, limb = each, each.now.rig.world, each.now.limb
    tip = shown.tip if shown else pose.tip
    error = (world @ tip - world @ goal.target.closest(tip)).length
    angle = missing_angle(goal.soft, shown.rotation if shown else pose.tip_rotation) if goal.soft else None
    reached = error <= limb.tolerance and (angle is None or angle <= limb.angle_tolerance)
    due = limb.influence == 1.0
    return FrameResult(now.frame, error, reached, solution.iterations, pose, solution.pose, angle, due)


def _missed(results: Sequence[FrameResult]) -> list[str]:
    """A warning that names the first frames of a bake that miss the target; those in a row as one."""
    missed = [result.due and not result.reached for result in results]
    if len(results) == 1 or not any(missed):
        return []
    pairs = zip(missed, results, strict=True)
    rows = [[result for _, result in row] for is_missed, row in groupby(pairs, key=itemgetter(0)) if is_missed]
    first = [f"{r[0].frame:g}" if len(r) == 1 else f"{r[0].frame:g} to {r[-1].frame:g}" for r in rows[:_ROWS]]
    more = " and others" if len(rows) > _ROWS else ""
    return [f"The target is missed at frames {', '.join(first)}{more}."]


def moved_inside(names: Sequence[str], frame: float) -> list[str]:
    """A warning about bones that stood outside their limits."""
    if not names:
        return []
    bones = ", ".join(f"'{name}'" for name in names)
    return [f"{bones} stood outside the limits at frame {frame:g} and had to be moved inside."]
