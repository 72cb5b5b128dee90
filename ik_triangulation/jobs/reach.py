# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: from the pose at one frame to targets at others, as keys for the limb's rotations in between."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import NamedTuple

import bpy
from bpy.types import Object, PropertyGroup, Scene, ViewLayer

from ..cooperative import Job, Progress, Work, run_through, telling
from ..errors import SettingError, TargetError
from ..motion.timing import profile
from ..rig.animated import ignored
from ..rig.armature import Bones
from ..rig.checks import check_limb, check_range
from ..rig.clock import evaluated_time
from ..rig.dependencies import Bound
from ..rig.destination import Destination
from ..rig.frames.stepping import bound_to, reading
from ..rig.keyframes import check_keys
from ..rig.limb import Limb, bone_of
from ..rig.nla import check_nla
from . import write as commit
from .bake import moved_inside, none_due, report_of
from .frame_solver import Solved, outside
from .measure import Watch, measure
from .reach_motion import Manner, Movement, Visit
from .report import Report

PATHS = ("LINE", "ARC")
STRAIGHT = "GAUSS_NEWTON"  # turns the joints least from frame to frame; others fold a chain anew each time


class Stop(NamedTuple):
    """A target, or the head of its bone `subtarget`, to be at from `frame` on for `hold` more frames."""

    target: Object | None
    frame: int
    hold: int = 0
    subtarget: str = ""


def saved_stops(stored: PropertyGroup) -> list[Stop]:
    """The stops saved on a tip bone, in the order of their frames."""
    stops = [
        Stop(stop.target, stop.frame, stop.hold, bone_of(stop.target, stop.subtarget)) for stop in stored.reach_stops
    ]
    return sorted(stops, key=lambda stop: stop.frame)


def own_stop(limb: Limb, frame: int, hold: int = 0) -> Stop:
    """The stop at the target that the limb has itself."""
    return Stop(limb.target, frame, hold, limb.subtarget)


def reach(
    limb: Limb,
    frame_start: int,
    frame_end: int,
    hold: int = 0,
    return_frames: int = 0,
    timing: str = "MINIMUM_JERK",
    easing: str = "EASE_IN_OUT",
    path: str = "LINE",
    onset: float = 0.0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    progress: Progress | None = None,
) -> Report:
    """Key the limb's rotations from the pose that it has at `frame_start` to its target at `frame_end`.

    The tip stays with the target for `hold` more frames, and then comes back to where it was in the start pose within
    `return_frames`, if these are not 0. The rest is as reach_through() says.
    """
    how = timing, easing, path, onset
    stops = [own_stop(limb, frame_end, hold)]
    return reach_through(limb, stops, frame_start, return_frames, *how, scene, view_layer, progress)


def reach_through(
    limb: Limb,
    stops: Sequence[Stop],
    frame_start: int,
    return_frames: int = 0,
    timing: str = "MINIMUM_JERK",
    easing: str = "EASE_IN_OUT",
    path: str = "LINE",
    onset: float = 0.0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    progress: Progress | None = None,
) -> Report:
    """Key the limb's rotations from the pose that it has at `frame_start` through the `stops`, whatever its own target.

    `timing` and `easing` are those of kinematics.timing.profile(), for each way anew. Along the `path` LINE the tip
    goes straight, by Gauss-Newton whatever the solver of the limb; along ARC the joints turn from pose to pose, with
    `onset` 0 all at once, with 1 those near the root so much before the others that the last begins when the first is
    there. Every frame is keyed; rotation keys that these bones had inside the range are replaced, and all else stays.
    In the report only frames at a stop are due.
    Raises an IKError that says what is in the way; then, and if `progress` raises, nothing has changed.
    """
    manner = manner_of(timing, easing, path, onset)
    return run_through(reaching(limb, stops, frame_start, return_frames, manner, scene, view_layer), progress)


def reaching(
    limb: Limb,
    stops: Sequence[Stop],
    frame_start: int,
    return_frames: int,
    manner: Manner,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    seconds: float = inf,
) -> Job[Report]:
    """What reach_through() does, frame by frame, as baking() does."""
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    if manner.straight:
        limb = replace(limb, solver=STRAIGHT)
    _check_stops(stops, frame_start, return_frames)
    last = stops[-1].frame + stops[-1].hold + return_frames
    check_range(scene, frame_start, last, 1)
    limbs = [replace(limb, target=stop.target, subtarget=stop.subtarget) for stop in stops]
    for each in limbs:
        check_limb(each, scene, view_layer)
    warnings = [
        *check_keys(limb.armature, limb.in_order, limb.destination),
        *ignored(limb.pose_bones),
    ]
    check_nla(limb.armature, scene, frame_start, last, limb.destination)
    bones, watch = Bones(limb.armature, limb.bones, limb.solved), Watch(limb)
    bounds = [bound_to(each, scene, view_layer, range(frame_start, last + 1)) for each in limbs]
    warnings += [f"The scene was stepped frame by frame: {bound.why}." for bound in bounds if bound]
    whole = last - frame_start + 1
    visits = yield from telling(
        _visits(limbs, stops, bounds, frame_start, last, scene, view_layer, seconds, warnings), (0, whole)
    )
    solved: list[Solved] = []
    for result in Movement(bones, visits, manner).frames(frame_start, return_frames):
        solved.append(result)
        yield len(solved), whole
    warnings += moved_inside(outside(limb, bones, solved[0].now), frame_start)
    with ExitStack() as undo:
        where = Destination(evaluated_time(scene, frame_start), evaluated_time(scene, last))
        keying = commit.key(limb, solved, frame_start, last, scene, view_layer, where, undo, {})
        written = yield from telling(keying, (whole, whole))
        checked = {frame_start, last, *(stop.frame for stop in stops)}
        some = [solved[i] for i in written.at if solved[i].now.frame in checked]
        bound = next(filter(None, bounds), None)
        measuring = measure(watch, solved, some, scene, view_layer, bound, seconds)
        measured = yield from telling(measuring, (whole, whole))
        view_layer.update()
        undo.pop_all()
    report = report_of(limb, solved, perf_counter() - started, written, warnings, measured=measured)
    return _judged(report, visits, manner)


def manner_of(timing: str, easing: str, path: str, onset: float) -> Manner:
    """How to go, as reach_through() is told. Raises SettingError for what is unknown and for an onset beyond 0..1."""
    if path not in PATHS:
        raise SettingError(f"Path '{path}' is unknown. Choose one of {', '.join(PATHS)}.")
    if not 0.0 <= onset <= 1.0:
        raise SettingError(f"Onset {onset:g} is no share. Give it a number from 0 to 1.")
    return Manner(profile(timing, easing), path == "LINE", onset)


def _check_stops(stops: Sequence[Stop], frame_start: int, return_frames: int) -> None:
    """Raise SettingError or TargetError for stops that cannot be reached one after the other."""
    if not stops:
        raise SettingError("There is no stop to reach. Give at least one target with its frame.")
    leave, before = frame_start, f"its start at frame {frame_start}"
    for number, stop in enumerate(stops, 1):
        if stop.target is None:
            raise TargetError(f"Stop {number} has no target. Choose an object to reach for.")
        name = f"'{stop.target.name}' at frame {stop.frame}"
        if stop.frame <= leave:
            raise SettingError(f"The reach to {name} does not come after {before}. Give it a later frame.")
        if stop.hold < 0:
            raise SettingError(f"{name} cannot be held for {stop.hold} frames. Give it a number from 0 up.")
        leave = stop.frame + stop.hold
        before = f"{name}, held up to frame {leave}" if stop.hold else name
    if return_frames < 0:
        raise SettingError(f"{return_frames} frames do not lead back. Give it a number from 0 up; 0 for no return.")


def _visits(
    limbs: Sequence[Limb],
    stops: Sequence[Stop],
    bounds: Sequence[Bound | None],
    first: int,
    last: int,
    scene: Scene,
    view_layer: ViewLayer,
    seconds: float,
    warnings: list[str],
) -> Work[list[Visit]]:
    """The stops with what has to be known of each: from leaving the one before until being at the next.

    Drivers that do not run are added to the `warnings`.
    """
    begins = [first, *(stop.frame + stop.hold for stop in stops[:-1])]
    ends = [*(stop.frame for stop in stops[1:]), last]
    visits = []
    for limb, stop, bound, begin, end in zip(limbs, stops, bounds, begins, ends, strict=True):
        frames = range(begin, end + 1)
        moments = yield from reading(limb, scene, view_layer, frames, bound, seconds, broken=warnings)
        visits.append(Visit(limb, stop.frame, stop.frame + stop.hold, dict(zip(frames, moments, strict=True))))
    return visits


def _judged(report: Report, visits: Sequence[Visit], manner: Manner) -> Report:
    """The report with only the frames at the stops due, and a warning where the straight way cannot be kept to."""
    due = {frame for visit in visits for frame in range(visit.frame, visit.leave + 1)}
    frames, alone = (
        [result._replace(due=result.due and result.frame in due) for result in results]
        for results in (report.frames, report.alone)
    )
    warnings = list(dict.fromkeys([*report.warnings, *none_due(frames)]))
    own = report.alone or report.frames
    astray = [result for result in own if result.due and result.frame not in due and not result.reached]
    if manner.straight and astray:
        worst = max(astray, key=lambda result: result.error)
        warnings.append(
            f"The limb cannot follow the straight way at {len(astray)} frames; at frame {worst.frame:g} it is "
            f"{worst.error:.3g} off. Choose the path Arc."
        )
    targets = ", ".join(visit.limb.target_name for visit in visits)
    return replace(report, target=targets, frames=frames, alone=alone, warnings=warnings)
