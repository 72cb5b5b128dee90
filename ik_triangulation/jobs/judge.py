# SPDX-License-Identifier: GPL-3.0-or-later
"""Judgement of solved frames: reached or missed by what Blender shows of them, as a report with its warnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from ..goals.orientation import missing_angle
from ..rig.limb import Limb
from .frame_solver import Jumps, SolvedFrame
from .measure import NOT_MEASURED, Measured
from .report import FrameResult, Report, Shown
from .write import WrittenKeys

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
    results = [_result(each, measured.shown.get(each.now.frame)) for each in solved]
    warnings = list(dict.fromkeys([*warnings, *measured.warnings, *none_due(results)]))
    names = limb.armature.name, limb.tip, limb.target_name, limb.solver
    counts = {"keys": written.keys, "full_keys": written.full, "tip_deviation": written.tip_deviation}
    tolerances = limb.tolerance, limb.angle_tolerance
    notes = measured.not_following
    alone = [_result(each, measured.alone.get(each.now.frame)) for each in solved] if notes else ()
    following = {"not_following": notes, "alone": alone}
    return Report(
        *names, *tolerances, results, seconds, warnings=warnings, find_jumps=find_jumps, **counts, **following
    )


def none_due(results: Iterable[FrameResult]) -> list[str]:
    """Return a warning if no frame is due at its target."""
    if any(result.due for result in results):
        return []
    return ["Influence is below 1 at every frame at the target: none can be said to be reached or missed."]


def _result(each: SolvedFrame, shown: Shown | None) -> FrameResult:
    """Judge one frame; with an influence below 1 it is not due."""
    (now, goal, solution, pose), world, limb = each, each.now.rig.world, each.now.limb
    tip = shown.tip if shown else pose.tip
    error = (world @ tip - world @ goal.target.closest(tip)).length
    angle = missing_angle(goal.soft, shown.rotation if shown else pose.tip_rotation) if goal.soft else None
    reached = error <= limb.tolerance and (angle is None or angle <= limb.angle_tolerance)
    due = limb.influence == 1.0
    return FrameResult(now.frame, error, reached, solution.iterations, pose, solution.pose, angle, due)


def missed_frames(results: Sequence[FrameResult]) -> list[str]:
    """Return a warning that names the first frames of a bake that miss the target, consecutive ones as a range."""
    missed = [result.due and not result.reached for result in results]
    if len(results) == 1 or not any(missed):
        return []
    pairs = zip(missed, results, strict=True)
    rows = [[result for _, result in row] for is_missed, row in groupby(pairs, key=itemgetter(0)) if is_missed]
    first = [f"{r[0].frame:g}" if len(r) == 1 else f"{r[0].frame:g} to {r[-1].frame:g}" for r in rows[:_ROWS]]
    more = " and others" if len(rows) > _ROWS else ""
    return [f"The target is missed at frames {', '.join(first)}{more}."]


def moved_inside(names: Sequence[str], frame: float) -> list[str]:
    """Return a warning about bones that were outside their limits."""
    if not names:
        return []
    bones = ", ".join(f"'{name}'" for name in names)
    return [f"{bones} stood outside the limits at frame {frame:g} and had to be moved inside."]
