# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve a limb at the present frame, or bake limbs over a range: read, solve, check, write.

All is planned and solved before the first write, and the file is left as it was if anything fails.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import groupby
from math import inf
from time import perf_counter
from typing import TypeVar

import bpy
from bpy.types import Object, Scene, ViewLayer

from . import commit
from .blender.armature import Bones, find_bone
from .blender.checks import check_limb, check_range, check_separate
from .blender.clock import Clock, evaluated_time
from .blender.dependencies import in_order
from .blender.destination import Destination
from .blender.keyframes import check_keys, key_frames, made_by_hand, remove_keys
from .blender.limb import Limb
from .blender.markers import mark
from .blender.memory import recall, remember
from .blender.nla import check_tweaked
from .blender.sampling import Sample, sample, samples, stage, tip_in_armature
from .blender.stepping import bound_to, evaluating, in_order_of_time, stepped, way_through
from .errors import AnimationError
from .follow import Jumps, Solved, follow, outside, smoothed
from .job import Progress, run_through
from .report import FrameResult, Report
from .work import Work

T = TypeVar("T")
Span = tuple[int, int, float]  # first frame, last frame, step
_ROWS = 5  # of missed frames that a warning names
Job = Generator[tuple[int, int], None, list[Report]]


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
        check_tweaked(limb.armature, scene, frame, frame)
    bones = Bones(limb.armature, limb.bones, limb.solved)
    now = sample(limb, view_layer.depsgraph, frame)
    warnings += moved_inside(outside(limb, bones, now), now.frame)
    (solved,) = follow(limb, bones, [now])
    with ExitStack() as undo:
        keys = commit.pose(limb, solved, key, scene, view_layer, undo)
        warnings += commit.disagreement(limb, solved, tip_in_armature(limb, view_layer.depsgraph))
        undo.pop_all()
    return report_of(limb, [solved], perf_counter() - started, commit.Written(keys, keys, [0]), warnings)


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
) -> Job:
    """What bake_limbs() does, frame by frame: yields the frames done and the frames in all, returns the reports.

    Each limb has a span of its own. Closing it takes back everything. Between two frames nothing of Blender's is open
    but what has been keyed; no more frames are read at once than can be in about that many `seconds`. For motion that
    is there only in the user's scene that is stepped first, and its frames count as well. With `keep` keys that were
    made by hand stay where they are, and what is baked runs on from these.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_separate(limbs)
    warnings: dict[int, list[str]] = {}
    frames: dict[int, Sequence[float]] = {}
    for limb, span in zip(limbs, spans, strict=True):
        check_range(scene, *span)
        check_limb(limb, scene, view_layer)
        warnings[id(limb)] = check_keys(limb.armature, limb.in_order, limb.destination)
        check_tweaked(limb.armature, scene, *span[:2])
        frames[id(limb)] = _frames_of(limb, scene, *span)
    bounds = {id(limb): bound_to(limb, scene, view_layer, frames[id(limb)]) for limb in limbs}
    spans_of = {id(limb): span for limb, span in zip(limbs, spans, strict=True)}
    ends = {key: span[:2] for key, span in spans_of.items()}
    ways = {key: way_through(scene, frames[key], bound) for key, bound in bounds.items() if bound}
    whole, done = sum(map(len, (*frames.values(), *ways.values()))), 0
    reports: dict[int, Report] = {}
    first, last = min(start for start, _ in ends.values()), max(end for _, end in ends.values())
    destination = Destination(evaluated_time(scene, first), evaluated_time(scene, last))
    with ExitStack() as undo:
        for limb in in_order(limbs):
            started = perf_counter()
            bones, bound = Bones(limb.armature, limb.bones, limb.solved), bounds[id(limb)]
            moments = _sampled(limb, scene, frames[id(limb)], seconds)
            if bound:
                seen: list[Sample | None] = []
                with closing(stepped(limb, scene, view_layer, frames[id(limb)], bound)) as steps:
                    for now in steps:
                        seen.append(now)
                        done += 1
                        yield done, whole
                moments = iter(in_order_of_time(seen))
                warnings[id(limb)].append(f"The scene was stepped frame by frame: {bound.why}.")
            solved: list[Solved] = []
            for result in follow(limb, bones, moments):
                solved.append(result)
                done += 1
                yield done, whole
            solved, find_jumps = yield from _telling(smoothed(limb, bones, solved), (done, whole))
            begin = solved[0].now
            found = warnings[id(limb)] + moved_inside(outside(limb, bones, begin), begin.frame)
            times = map(Clock(scene, limb.armature).time, ends[id(limb)])
            kept = made_by_hand(limb.armature, limb.in_order, *times) if keep else {}
            if kept:
                found.append(f"Keys made by hand were kept at {len(set().union(*kept.values()))} frames.")
            keying = commit.key(limb, solved, *ends[id(limb)], scene, view_layer, destination, undo, kept)
            written = yield from _telling(keying, (done, whole))
            remember(limb, spans_of[id(limb)], destination.bag(limb.destination, limb.armature, undo), undo)
            for i in () if kept else (0, written.at[len(written.at) // 2], -1):
                result = solved[i]
                with evaluating(limb, scene, view_layer, bound) as evaluate:
                    found += commit.disagreement(limb, result, tip_in_armature(limb, evaluate(result.now.frame)))
                yield done, whole
            view_layer.update()
            took = perf_counter() - started
            report = report_of(limb, solved, took, written, list(dict.fromkeys(found)), find_jumps)
            reports[id(limb)] = replace(report, warnings=[*report.warnings, *_missed(report.frames)])
        for limb in limbs:
            if limb.mark_misses:
                name = f"{limb.armature.name}: {limb.tip} misses"
                mark(scene, name, reports[id(limb)].missed, *ends[id(limb)], undo)
        undo.pop_all()
    return [reports[id(limb)] for limb in limbs]


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
) -> Job:
    """What rebake() does, frame by frame, as baking() does."""
    limb, span = recall(armature, tip, scene or bpy.context.scene)
    return baking([limb], [span], scene, view_layer, seconds, keep=True)


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
            f"Target '{limb.target_name}' has no keys from frame {frame_start} to {frame_end}. "
            "Turn off Target's Keys Only."
        )
    return frames


def frames_from(frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """The frames of a bake, whole ones if the step is."""
    if step == int(step):
        return range(frame_start, frame_end + 1, int(step))
    count = int((frame_end - frame_start) / step + 1e-6) + 1
    return [frame_start + number * step for number in range(count)]


def _sampled(limb: Limb, scene: Scene, frames: Sequence[float], seconds: float) -> Iterator[Sample]:
    """The limb's samples, read for `seconds` at a time; the scene that takes is gone before they are given out."""
    done = 0
    while done < len(frames):
        read: list[Sample] = []
        with stage(limb, scene) as staged:
            until = perf_counter() + seconds
            for now in samples(limb, staged, frames[done:]):
                read.append(now)
                if perf_counter() > until:
                    break
        yield from read
        done += len(read)


def _telling(work: Work[T], done: tuple[int, int]) -> Generator[tuple[int, int], None, T]:
    """The work, which yields nothing, with what is `done` told each time."""
    while True:
        try:
            next(work)
        except StopIteration as finished:
            result: T = finished.value
            return result
        yield done


def report_of(
    limb: Limb,
    solved: Sequence[Solved],
    seconds: float,
    written: commit.Written,
    warnings: Sequence[str],
    find_jumps: Jumps = list,
) -> Report:
    """What came of the frames that were solved; `seconds` is the time they took, `written` what keys came of them."""
    results = []
    for now, goal, solution, _ in solved:
        world, tip = now.rig.world, solution.pose.tip
        error = (world @ tip - world @ goal.target.closest(tip)).length
        results.append(
            FrameResult(now.frame, error, error <= limb.tolerance, solution.iterations, solution.pose, goal.soft)
        )
    names = limb.armature.name, limb.tip, limb.target_name, limb.solver
    counts = {"keys": written.keys, "full_keys": written.full, "strayed": written.strayed}
    return Report(*names, limb.tolerance, results, seconds, warnings=warnings, find_jumps=find_jumps, **counts)


def _missed(results: Sequence[FrameResult]) -> list[str]:
    """A warning that names the first frames of a bake that miss the target; those in a row as one."""
    if len(results) == 1 or all(result.reached for result in results):
        return []
    rows = [list(row) for reached, row in groupby(results, key=lambda result: result.reached) if not reached]
    first = [f"{r[0].frame:g}" if len(r) == 1 else f"{r[0].frame:g} to {r[-1].frame:g}" for r in rows[:_ROWS]]
    more = " and others" if len(rows) > _ROWS else ""
    return [f"The target is missed at frames {', '.join(first)}{more}."]


def moved_inside(names: Sequence[str], frame: float) -> list[str]:
    """A warning about bones that stood outside their limits."""
    if not names:
        return []
    bones = ", ".join(f"'{name}'" for name in names)
    return [f"{bones} stood outside the limits at frame {frame:g} and had to be moved inside."]
