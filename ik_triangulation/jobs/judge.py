# SPDX-License-Identifier: GPL-3.0-or-later
"""Judgement of solved frames: reached or missed by what Blender shows of them, as a report with its warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..goals.orientation import missing_angle
from ..rig.limb import Limb
from .frame_result import FrameResult, JudgedFrames, Shown
from .frame_solver import Jumps, SolvedFrame
from .judgement import is_within
from .keys import WrittenKeys
from .measure import NOT_MEASURED, Measured
from .report import Report
from .shot import SolvedShot, frames_of

_ROWS = 5  # of missed frames that a warning names


def report_of(
    limb: Limb,
    solved: Sequence[SolvedFrame],
    seconds: float,
    written: WrittenKeys,
    warnings: Sequence[str],
    find_jumps: Jumps = list,
    measured: Measured = NOT_MEASURED,
) -> Report:
    """Return the report of solved frames; `seconds` is the time they took, `written` the keys made of them.

    A frame is judged by the tip that was `measured` as Blender evaluates it; where that agrees with the pose that was
    written, or was not measured, by that pose.
    """
    results = _judged(solved, measured.shown)
    warnings = list(dict.fromkeys([*warnings, *written.warnings, *measured.warnings, *none_due(results)]))
    names = limb.armature.name, limb.tip, limb.target_name, limb.solver
    counts = {"keys": written.keys, "full_keys": written.full, "tip_deviation": written.tip_deviation}
    tolerances = limb.tolerance, limb.angle_tolerance
    notes = measured.not_following
    alone = _judged(solved, measured.alone) if notes else ()
    following = {"not_following": notes, "alone": alone}
    return Report(
        *names, *tolerances, results, seconds, warnings=warnings, find_jumps=find_jumps, **counts, **following
    )


def _judged(solved: Sequence[SolvedFrame], shown: Mapping[float, Shown]) -> JudgedFrames:
    """Judge solved frames; those of a shot by its arrays, a row of the report is made where it is asked for."""

    def row(k: int) -> FrameResult:
        return _result(solved[k], shown.get(solved[k].now.frame))

    if not (isinstance(solved, SolvedShot) and solved.is_written):
        return JudgedFrames.of([row(k) for k in range(len(solved))])
    limb, angles, errors = solved.samples.first.limb, solved.angles, solved.distances.copy()
    if shown:
        places = {frame: k for k, frame in enumerate(frames_of(solved))}
        angles = None if angles is None else angles.copy()
        for frame in shown:
            k = places[frame]
            result = row(k)
            errors[k] = result.error
            if angles is not None:
                angles[k] = result.angle
    reached = is_within(errors, limb.tolerance, angles, limb.angle_tolerance)
    due = np.ones(len(solved), bool)
    return JudgedFrames(row, solved.samples.frames, errors, reached, due, angles, solved.measures)


def none_due(results: JudgedFrames) -> list[str]:
    """Return a warning if no frame is due at its target."""
    if results.due.any():
        return []
    return ["Influence is below 1 at every frame at the target: none can be said to be reached or missed."]


def _result(each: SolvedFrame, shown: Shown | None) -> FrameResult:
    """Judge one frame; with an influence below 1 it is not due."""
    (now, goal, solution, pose), world, limb = each, each.now.rig.world, each.now.limb
    goal = (shown and shown.goal) or goal
    tip = shown.tip if shown else pose.tip
    error = (world @ tip - world @ goal.target.closest(tip)).length
    angle = missing_angle(goal.soft, tip, shown.rotation if shown else pose.tip_rotation) if goal.soft else None
    reached = error <= limb.tolerance and (angle is None or angle <= limb.angle_tolerance)
    due = limb.influence == 1.0
    return FrameResult(now.frame, error, reached, solution.iterations, pose, solution.pose, angle, due)


def missed_frames(results: JudgedFrames) -> list[str]:
    """Return a warning that names the first frames of a bake that miss the target, consecutive ones as a range."""
    missed = results.due & ~results.reached
    if len(results) == 1 or not missed.any():
        return []
    begins = np.flatnonzero(missed & ~np.concatenate(([False], missed[:-1])))
    ends = np.flatnonzero(missed & ~np.concatenate((missed[1:], [False])))
    frames = results.frames
    rows = zip(begins[:_ROWS].tolist(), ends[:_ROWS].tolist(), strict=True)
    first = [f"{frames[a]:g}" if a == b else f"{frames[a]:g} to {frames[b]:g}" for a, b in rows]
    more = " and others" if len(begins) > _ROWS else ""
    return [f"The target is missed at frames {', '.join(first)}{more}."]


def moved_inside(names: Sequence[str], frame: float) -> list[str]:
    """Return a warning about bones that were outside their limits."""
    if not names:
        return []
    bones = ", ".join(f"'{name}'" for name in names)
    return [f"{bones} stood outside the limits at frame {frame:g} and had to be moved inside."]
