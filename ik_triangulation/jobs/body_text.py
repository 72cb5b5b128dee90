# SPDX-License-Identifier: GPL-3.0-or-later
"""Report of a body as text."""

from math import degrees

from bpy.types import Scene

from ..rig.units import distance_text
from .body_report import BodyReport, BodyTipReport


def body_summary(report: BodyReport, scene: Scene, scale: float) -> str:
    """Return one line about all tips; `scale` is that from armature space to world space."""
    return "; ".join(body_lines(report, scene, scale))


def body_lines(report: BodyReport, scene: Scene, scale: float) -> list[str]:
    """Return the same as body_summary() in short lines: the body as a whole, each tip, and its balance."""
    frames = len(report.frames)
    missed = {frame for tip in report.tips.values() for frame in tip.missed}
    whole = (
        ("Not reached" if missed else "Reached")
        if frames == 1
        else f"Reached {frames - len(missed)} of {frames} frames"
    )
    lines = [whole, *(_of_tip(name, tip, scene, scale) for name, tip in report.tips.items())]
    if report.outside is not None:
        outside = (
            f"{distance_text(report.outside * scale, scene)} outside the feet" if report.outside else "over the feet"
        )
        lines.append(f"Center of mass {outside} (an estimate)")
    return lines


def _of_tip(name: str, tip: BodyTipReport, scene: Scene, scale: float) -> str:
    distance = distance_text(tip.error * scale, scene)
    if tip.held:
        return f"{name} held, slip {distance}"
    if tip.aim == "FOLLOW":
        return f"{name} follows the body"
    if tip.aim == "LOOK":
        off = f"{degrees(tip.angle):.2g}°"
        return f"{name} misses the look by {off}" if tip.missed else f"{name} looks, {off} off"
    turned = f", {degrees(tip.angle):.2g}° off its orientation" if degrees(tip.angle) >= _SHOWN else ""
    return f"{name} {'missed' if tip.missed else 'reached'}, distance {distance}{turned}"


_SHOWN = 0.05  # [degrees] off an orientation from which on it is told
