# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of a limb at the present frame, and baking of limbs over a range: read, solve, check, write.

Everything is planned and solved before the first write, and the file is left as it was if anything fails.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter

import bpy
from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, cooperative, relay
from ..errors import AnimationError
from ..goals import Goal
from ..rig.animated import MovingPaths, ignored
from ..rig.armature import Bones, find_bone
from ..rig.bake_record import record_bake, recorded_bake
from ..rig.checks import check_limb, check_range, check_separate
from ..rig.clock import Clock, evaluated_time
from ..rig.dependencies import Dependencies, in_order
from ..rig.destination import Destination, Made
from ..rig.drivers import broken_drivers
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import Samples
from ..rig.frames.sampling import sample
from ..rig.keyframes import check_keys, key_frames, made_by_hand, remove_keys
from ..rig.limb import Limb
from ..rig.links import Links
from ..rig.markers import mark
from ..rig.nla import check_nla
from .ends import kept_last, seams
from .frame_solver import Jumps, SolvedFrame, follow, outside, smoothed
from .judge import missed_frames, moved_inside, report_of
from .measure import Watch, measure_frames, measure_now
from .report import Report
from .shot import solve_together
from .write import WrittenKeys, write_bake, write_pose

Span = tuple[int, int, float]  # first frame, last frame, step


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
    if key:
        check_nla(limb.armature, scene, frame, frame)
    bones, watch = Bones(limb.armature, limb.bones, limb.solved), Watch(limb)
    now = sample(limb, view_layer.depsgraph, frame)
    warnings += [*broken_drivers(limb, view_layer.depsgraph), *moved_inside(outside(bones, now), now.frame)]
    (solved,) = follow(limb, bones, [now])
    with ExitStack() as undo:
        keys = write_pose(limb, solved, key, scene, view_layer, undo)
        measured = measure_now(watch, solved, view_layer.depsgraph, scene)
        undo.pop_all()
    written = WrittenKeys(keys, keys, [0])
    return report_of(limb, [solved], perf_counter() - started, written, warnings, measured=measured)


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
) -> Job[list[Report]]:
    """Bake several limbs as one as bake_limbs() does, each over a span of its own.

    With `keep` keys that were made by hand stay as they are, and the baked rotations run on from them. A step is one
    frame; frames of the user's scene count as well where it has to be stepped. Between two steps nothing but the keys
    made so far differs from before, and no more frames are read at once than can be in about that many `seconds`.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_separate(limbs)
    known, moving = Dependencies(limbs), {ob.session_uid: MovingPaths(ob) for ob in {limb.armature for limb in limbs}}
    warnings, all_frames = [], []
    for limb, span in zip(limbs, spans, strict=True):
        check_range(scene, *span)
        check_limb(limb, scene, view_layer, known)
        limb.read_animation(paths := moving[limb.armature.session_uid])
        warnings.append([*check_keys(limb.armature, limb.in_order, limb.destination), *ignored(limb.pose_bones, paths)])
        check_nla(limb.armature, scene, *span[:2], limb.destination)
        all_frames.append(_frames_of(limb, scene, *span))
    links: dict[int, Links | None] = {}
    plans = [
        _Plan(limb, span, FrameReader(limb, scene, view_layer, frames, known), Watch(limb, links), found)
        for limb, span, frames, found in zip(limbs, spans, all_frames, warnings, strict=True)
    ]
    made: Made = {}
    whole, done = sum(plan.parts for plan in plans), 0
    by_limb = {id(plan.limb): plan for plan in plans}
    with ExitStack() as undo:
        for limb in in_order(limbs, known):
            plan = by_limb[id(limb)]
            first, last = (evaluated_time(scene, frame) for frame in plan.span[:2])
            for part in _bake_planned(plan, Destination(first, last, made), undo, seconds, keep):
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
    """A limb of a bake with its span, reader, watch and the warnings so far, and finally the report on it."""

    limb: Limb
    span: Span
    reader: FrameReader
    watch: Watch
    warnings: list[str]
    report: Report = field(init=False)

    @property
    def parts(self) -> int:
        """The number of frames to step through and to solve."""
        return len(self.reader.frames) + self.reader.parts


def _bake_planned(plan: _Plan, destination: Destination, undo: ExitStack, seconds: float, keep: bool) -> Iterator[int]:
    """Bake one limb of several: yields 1 for each frame that is done, and 0 in between."""
    limb, reader, watch, warnings, started = plan.limb, plan.reader, plan.watch, plan.warnings, perf_counter()
    scene, view_layer = reader.scene, reader.view_layer
    bones = Bones(limb.armature, limb.bones, limb.solved)
    samples = yield from relay(reader.read(seconds), 1 if reader.stepped else 0)
    solved, find_jumps = yield from _solved(limb, bones, samples, reader)
    warnings += reader.warnings
    begin, ends = solved[0].now, plan.span[:2]
    if not keep:  # a re-bake begins with the last bake
        warnings += moved_inside(outside(bones, begin), begin.frame)
    times = map(Clock(scene, limb.armature).time, ends)
    kept = made_by_hand(limb.armature, limb.in_order, *times) if keep else {}
    if kept:
        warnings.append(f"Keys made by hand were kept at {len(set().union(*kept.values()))} frames.")
    writing = write_bake(limb, solved, ends, destination, undo, scene=scene, view_layer=view_layer, kept=kept)
    written = yield from relay(writing, 0)
    record_bake(limb, plan.span, destination.bag(limb.destination, limb.armature, undo), undo)
    yield 0
    measured = yield from relay(measure_frames(watch, reader, solved, written.at, seconds, by_hand=bool(kept)), 0)
    view_layer.update()
    took, beyond = perf_counter() - started, seams(limb, solved, scene)
    report = report_of(limb, solved, took, written, warnings, lambda: [*find_jumps(), *beyond], measured)
    plan.report = replace(report, warnings=[*report.warnings, *missed_frames(report.judged)])


def _solved(
    limb: Limb, bones: Bones, samples: Samples, reader: FrameReader
) -> Generator[int, None, tuple[Sequence[SolvedFrame], Jumps]]:
    """Solve all frames together, or one after the other where they cannot be; yields the frames that are done."""

    def keep_last(goal: Goal) -> SolvedFrame | None:
        return kept_last(limb, bones, samples[len(samples) - 1], goal, reader)

    shot = yield from relay(solve_together(limb, bones, samples, keep_last), 0)
    if shot is not None:
        yield len(samples)
        return shot, shot.jumps
    solved = []
    for each in follow(limb, bones, samples):
        solved.append(each)
        yield 1
    last = keep_last(solved[-1].goal) if len(solved) > 1 else None
    if last and len(last.pose) == len(solved[-1].pose):
        solved[-1] = last
    return (yield from relay(smoothed(limb, bones, solved), 0))


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


def delete_generated(
    armature: Object,
    bones: Sequence[str],
    first: float = -inf,
    last: float = inf,
    view_layer: ViewLayer | None = None,
    scene: Scene | None = None,
) -> int:
    """Delete the rotation keys of these bones that a bake has made, from frame `first` to `last`; return their number.

    Raises an IKError that names the culprit; then nothing has changed.
    """
    for name in bones:
        find_bone(armature, name)
    check_keys(armature, bones)
    clock = Clock(scene or bpy.context.scene, armature)
    return remove_keys(armature, bones, clock.time(first), clock.time(last), view_layer or bpy.context.view_layer)


def _frames_of(limb: Limb, scene: Scene, frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """Return the frames at which a limb is keyed. Raises AnimationError if Target's Keys is on and there are none."""
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
    """Return the frames of a bake; they are whole numbers if the step is."""
    if step == int(step):
        return range(frame_start, frame_end + 1, int(step))
    count = int((frame_end - frame_start) / step + 1e-6) + 1
    return [frame_start + number * step for number in range(count)]
