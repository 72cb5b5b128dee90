# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of limbs that do not depend on each other: all are solved, then written, then evaluated once and measured."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from time import perf_counter

from ..cooperative import relay
from ..goals import Goal
from ..rig.armature import Bones
from ..rig.bake_record import record_bake
from ..rig.clock import Clock, evaluated_time
from ..rig.destination import Destination, Made
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import Samples
from ..rig.keyframes import ByHand
from ..rig.limb import Limb
from .ends import kept_last, seams
from .frame_solver import NATURAL, Jumps, SolvedFrame, outside, smoothed
from .judge import missed_frames, moved_inside, report_of
from .keys import LimbBake, WrittenKeys
from .measure import Watch, measure_frames
from .natural_shot import solve_naturally
from .onto_controls import kept_by_hand, write_by_settings
from .reference import shown_reference, solve_frames
from .report import Report
from .shot import SolvedShot, frame_by_frame, solve_together

Span = tuple[int, int, float]  # first frame, last frame, step


@dataclass
class BakePlan:
    """A limb of a bake with its span, reader, watch and the warnings so far, and finally the report on it.

    `took` are the seconds spent on it alone.
    """

    limb: Limb
    span: Span
    reader: FrameReader
    watch: Watch
    warnings: list[str]
    took: float = 0.0
    report: Report = field(init=False)

    @property
    def parts(self) -> int:
        """The number of frames to step through and to solve."""
        return len(self.reader.frames) + self.reader.parts


def bake_together(plans: Sequence[BakePlan], made: Made, undo: ExitStack, seconds: float, keep: bool) -> Iterator[int]:
    """Bake limbs that do not depend on each other: yields the frames that are done, and 0 in between.

    `made` are the channelbags that were made for limbs baked before. Closing `undo` restores everything.
    """
    scene, view_layer = plans[0].reader.scene, plans[0].reader.view_layer
    bakes, searches = [], []
    for plan in plans:
        started = perf_counter()
        first, last = (evaluated_time(scene, frame) for frame in plan.span[:2])
        bake, find_jumps = yield from _solved(plan, Destination(first, last, made), seconds, keep)
        bakes.append(bake)
        searches.append(find_jumps)
        plan.took = perf_counter() - started
    started = perf_counter()
    written = yield from relay(write_by_settings(bakes, undo, scene=scene, view_layer=view_layer), 0)
    for plan, bake in zip(plans, bakes, strict=True):
        bag = bake.destination.bag(plan.limb.destination, plan.limb.armature, undo)
        record_bake(plan.limb, plan.span, bag, undo)
    yield 0
    each = (perf_counter() - started) / len(plans)
    for plan, bake, find_jumps, keys in zip(plans, bakes, searches, written, strict=True):
        plan.took += each
        yield from _reported(plan, bake, find_jumps, keys, seconds)
    view_layer.update()


def _solved(
    plan: BakePlan, destination: Destination, seconds: float, keep: bool
) -> Generator[int, None, tuple[LimbBake, Jumps]]:
    """Read and solve the frames of a limb; nothing is written."""
    limb, reader, ends = plan.limb, plan.reader, plan.span[:2]
    bones = Bones(limb.armature, limb.bones, limb.solved)
    samples = yield from relay(reader.read(seconds), 1 if reader.stepped else 0)
    solved, find_jumps, warnings = yield from _solved_frames(limb, bones, samples, reader)
    plan.warnings += [*reader.warnings, *warnings]
    begin = solved[0].now
    if not keep:  # a re-bake begins with the last bake
        plan.warnings += moved_inside(outside(bones, begin), begin.frame)
    times = map(Clock(reader.scene, limb.armature).time, ends)
    kept: Mapping[str, ByHand] = kept_by_hand(limb, *times) if keep else {}
    if kept:
        plan.warnings.append(f"Keys made by hand were kept at {len(set().union(*kept.values()))} frames.")
    return LimbBake(limb, solved, ends, destination, kept), find_jumps


def _solved_frames(
    limb: Limb, bones: Bones, samples: Samples, reader: FrameReader
) -> Generator[int, None, tuple[Sequence[SolvedFrame], Jumps, list[str]]]:
    """Solve all frames together, or one after the other where they cannot be; yields the frames that are done.

    Returns the solved frames, the search for jumps in them, and the reasons why they were not solved together.
    """

    def keep_last(goal: Goal) -> SolvedFrame | None:
        return kept_last(limb, bones, samples[len(samples) - 1], goal, reader)

    natural = limb.solver == NATURAL
    shown = shown_reference(reader) if natural else None
    together = (
        solve_naturally(limb, bones, samples, reader.scene, shown=shown)
        if natural
        else solve_together(limb, bones, samples, keep_last)
    )
    shot = yield from relay(together, 0)
    if isinstance(shot, SolvedShot):
        yield len(samples)
        return shot, shot.jumps, []
    solved = []
    for each in solve_frames(limb, bones, samples, reader.scene, shown=shown):
        solved.append(each)
        yield 1
    last = keep_last(solved[-1].goal) if len(solved) > 1 and not natural else None
    if last and len(last.pose) == len(solved[-1].pose):
        solved[-1] = last
    frames, find_jumps = yield from relay(smoothed(limb, bones, solved), 0)
    return frames, find_jumps, frame_by_frame(shot) if len(samples) > 1 else []


def _reported(
    plan: BakePlan, bake: LimbBake, find_jumps: Jumps, written: WrittenKeys, seconds: float
) -> Generator[int, None, None]:
    """Measure a limb that is written, and report on it."""
    started, reader, solved = perf_counter(), plan.reader, bake.solved
    measuring = measure_frames(plan.watch, reader, solved, written.at, seconds, by_hand=bool(bake.kept))
    measured = yield from relay(measuring, 0)
    took, beyond = plan.took + perf_counter() - started, seams(plan.limb, solved, reader.scene)
    report = report_of(plan.limb, solved, took, written, plan.warnings, lambda: [*find_jumps(), *beyond], measured)
    plan.report = replace(report, warnings=[*report.warnings, *missed_frames(report.judged)])
