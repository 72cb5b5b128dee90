# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a solve or a bake, in words."""

from collections.abc import Sequence
from math import degrees

from bpy.types import Scene

from .blender.units import distance_text
from .report import Report


def summary(report: Report, scene: Scene) -> str:
    """One line: frames reached, the largest distance with its frame, and how far the tip's orientation is off."""
    worst, angle = report.worst, report.largest_angle
    turned = "" if angle is None else f", {degrees(angle):.2g}° off its orientation"
    if len(report.frames) == 1:
        reached = "Reached" if report.all_reached else "Not reached"
        return f"{reached}, distance {distance_text(worst.error, scene)}{turned}"
    return (
        f"Reached {report.reached} of {len(report.frames)} frames, "
        f"largest distance {distance_text(worst.error, scene)} at frame {worst.frame:g}{turned}"
    )


def summary_of_all(reports: Sequence[Report], scene: Scene) -> str:
    """The same of several limbs together, in one line."""
    worst = max(reports, key=lambda report: report.worst.error)
    reached, frames = sum(report.reached for report in reports), sum(len(report.frames) for report in reports)
    return (
        f"{len(reports)} limbs reached {reached} of {frames} frames, "
        f"largest distance {distance_text(worst.worst.error, scene)} of '{worst.tip}' at frame {worst.worst.frame:g}"
    )


def lines(report: Report, scene: Scene) -> list[str]:
    """The same in short lines, as they fit in a sidebar."""
    worst, angle = report.worst, report.largest_angle
    single = len(report.frames) == 1
    if single:
        reached = "Reached" if report.all_reached else "Not reached"
    else:
        reached = f"Reached {report.reached} of {len(report.frames)} frames"
    where = "" if single else f" at frame {worst.frame:g}"
    distance = f"Distance {distance_text(worst.error, scene)}{where}"
    return [reached, distance, *([] if angle is None else [f"{degrees(angle):.2g}° off its orientation"])]


def on_limits(report: Report) -> list[str]:
    """A line for each bone that stands on its limits at some frame."""
    return [f"{name}: {', '.join(ends)}" for name, ends in report.on_limits.items()]
