# SPDX-License-Identifier: GPL-3.0-or-later
"""Report of a solve or a bake as text."""

from collections.abc import Sequence

from bpy.types import Scene

from ..rig.units import degrees_text, distance_text, is_seen
from .report import Report


def summary(report: Report, scene: Scene) -> str:
    """Return one line: due frames reached, largest distance with its frame, and deviation from the orientation."""
    worst, turned = distance_text(report.worst_error, scene), "".join(f", {line}" for line in _turned(report))
    if _is_single(report):
        return f"{_reached(report)}, distance {worst}{turned}"
    return (
        f"{_reached(report)}, largest distance {worst} at frame {report.worst_frame:g}{turned}"
        + "".join(f"; {line}" for line in jump_lines(report))
        + "".join(f". {line}" for line in _reduction(report, scene))
    )


def _is_single(report: Report) -> bool:
    """Tell whether the report is about a single frame."""
    return (report.due_count or len(report.frames)) == 1


def _reached(report: Report) -> str:
    """Count the due frames that are reached."""
    if not report.due_count:
        return "On the way (influence below 1)"
    if report.due_count == 1:
        return "Reached" if report.all_reached else "Not reached"
    return f"Reached {report.reached} of {report.due_count} frames"


def summary_of_all(reports: Sequence[Report], scene: Scene) -> str:
    """Return one line about several limbs together."""
    worst = max(reports, key=lambda report: report.worst_error)
    reached, frames = sum(report.reached for report in reports), sum(report.due_count for report in reports)
    return (
        f"{len(reports)} {'limb' if len(reports) == 1 else 'limbs'} reached {reached} of {frames} frames, "
        f"largest distance {distance_text(worst.worst_error, scene)} of '{worst.tip}' at frame {worst.worst_frame:g}"
    )


def lines(report: Report, scene: Scene) -> list[str]:
    """Return the same as summary() in short lines that fit in a sidebar."""
    where = "" if _is_single(report) else f" at frame {report.worst_frame:g}"
    distance = f"Distance {distance_text(report.worst_error, scene)}{where}"
    notes = [note.text(len(report.frames)) for note in report.not_following]
    return [_reached(report), distance, *_turned(report), *notes, *jump_lines(report), *_reduction(report, scene)]


def _turned(report: Report) -> list[str]:
    """Return a line about the orientation, if the tip is visibly off it."""
    angle = report.largest_angle
    return [f"{degrees_text(angle)} off its orientation"] if angle is not None and is_seen(angle) else []


def jump_lines(report: Report) -> list[str]:
    """Return a line with the number of jumps, the largest one and its reason, if there are any."""
    if not report.jumps:
        return []
    (at, joint, angle), reason = max(report.jumps, key=lambda jump: jump.turned.angle)
    count = "1 jump" if len(report.jumps) == 1 else f"{len(report.jumps)} jumps, the largest"
    return [f"{count} {degrees_text(angle)} of '{joint}' at frame {report.judged.frames[at]:g}: {reason}"]


def _reduction(report: Report, scene: Scene) -> list[str]:
    """Return a line about keys that were dropped, if any were."""
    if report.keys >= report.full_keys:
        return []
    deviation = distance_text(report.tip_deviation, scene)
    return [f"{report.keys} of {report.full_keys} keys, tip within {deviation} of a full bake"]


def on_limits(report: Report) -> list[str]:
    """Return a line for each bone that is at its limits at some frame."""
    return [f"{name}: {', '.join(ends)}" for name, ends in report.on_limits.items()]
