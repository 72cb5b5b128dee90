# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of each limb's last solve or bake, for the panel; not saved."""

from functools import cached_property
from math import degrees

from bpy.types import Object, Scene

from ..jobs import live
from ..jobs.body_report import BodyReport, body_lines
from ..jobs.report import Report, lines, on_limits
from ..rig.units import distance_text, scale_of
from .overlay.updates import redraw


class LastResult:
    """Report as the panel shows it: `reached` if all frames are, an `icon`, `lines`; the rest is made when drawn."""

    def __init__(self, report: Report, scene: Scene, scale: float) -> None:
        self.reached, self.icon, self.lines = report.all_reached, _icon(report), lines(report, scene)
        self.report, self._scale = report, scale

    @property
    def line(self) -> str:
        """The result in a few words; of a single frame that is not reached with the distance."""
        missed = self.report.due_count == 1 and not self.reached
        return f"{self.lines[0]}: {self.lines[1][0].lower()}{self.lines[1][1:]}" if missed else self.lines[0]

    @property
    def switches(self) -> list[str]:
        """Names of the properties to set so that the bones which do not follow the limb do."""
        return _switches(self.report)

    @property
    def is_bake(self) -> bool:
        """True for several frames."""
        return len(self.report.frames) > 1

    @cached_property
    def limits(self) -> list[str]:
        """Lines about the bones at a joint limit."""
        return on_limits(self.report)

    def cost(self, scene: Scene) -> str:
        """Return the cost of the motion in one line."""
        turns, angle, travel = self._cost
        return f"{turns} turns, {angle:.0f}°, tip moved {distance_text(travel, scene)}"

    @cached_property
    def _cost(self) -> tuple[int, float, float]:
        cost = self.report.cost
        return cost.turns, degrees(cost.total_angle), cost.travel * self._scale


class BodyResult:
    """Report on a body as the panel shows it at each of its tips; the names are those of LastResult."""

    report = None

    def __init__(self, report: BodyReport, scene: Scene, scale: float) -> None:
        self.body, self.switches = report, _switches(report)
        self.reached = report.all_reached
        self.icon = "CHECKMARK" if self.reached else "ERROR"
        self.lines, self.is_bake = body_lines(report, scene, scale), len(report.frames) > 1
        missed = {name: tip.error * scale for name, tip in report.tips.items() if tip.missed}
        self._missed = [f"{name} {distance_text(missed[name], scene)}" for name in sorted(missed, key=missed.get)[::-1]]
        self._at = len({frame for tip in report.tips.values() for frame in tip.missed})

    @property
    def line(self) -> str:
        """The result in a few words: of a body that is not reached the tips that are off, the farthest first.

        Where all are reached, bones that do not follow them are named.
        """
        if not self._missed and self.body.not_following:
            names = list(dict.fromkeys(note.bone for note in self.body.not_following))
            return f"{names[0]} does not follow" if len(names) == 1 else f"{len(names)} bones do not follow"
        if not self._missed:
            return f"Body: {self.lines[0][0].lower()}{self.lines[0][1:]}"
        if self.is_bake:
            return f"Missed at {self._at} frames: {self._missed[0]}"
        return f"Missed: {', '.join(self._missed)}"


def _switches(report: Report | BodyReport) -> list[str]:
    remedies = [note.remedy for note in report.not_following]
    return list(dict.fromkeys(remedy.name for remedy in remedies if remedy))


def _icon(report: Report) -> str:
    """Return the icon for a report: all due frames reached, some missed, or none due."""
    return ("CHECKMARK" if report.all_reached else "ERROR") if report.due_count else "INFO"


_latest: dict[tuple[int, str], LastResult | BodyResult] = {}  # by the armature's session uid and the tip bone


def remember_result(report: Report | BodyReport, armature: Object, scene: Scene) -> None:
    """Keep a report for the panel at each of its tips, and show it: a live pose is reported after it is drawn."""
    scale = scale_of(armature)
    if isinstance(report, BodyReport):
        result: LastResult | BodyResult = BodyResult(report, scene, scale)
        tips = [*report.tips]
    else:
        result, tips = LastResult(report, scene, scale), [report.tip]
    _latest.update(((armature.session_uid, tip), result) for tip in tips)
    redraw()


def forget_result(armature: Object, tip: str) -> None:
    """Drop the result of the limb that ends in bone `tip`."""
    _latest.pop((armature.session_uid, tip), None)


def latest(armature: Object, tip: str) -> LastResult | BodyResult | None:
    """Return the last result of the limb that ends in bone `tip`."""
    return _latest.get((armature.session_uid, tip))


def register() -> None:
    live.listeners.append(remember_result)


def unregister() -> None:
    live.listeners.remove(remember_result)
    _latest.clear()
