# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of the last solve or bake of each limb and body, for the panel; not saved."""

from functools import cached_property
from math import degrees

from bpy.types import Object, Scene

from ..jobs import live
from ..jobs import report as reporting
from ..rig.units import degrees_text, distance_text, scale_of
from .overlay.updates import redraw


class LastResult:
    """Report as the panel shows it: `reached` if all frames are, an `icon`, `lines`; the rest is made when drawn."""

    def __init__(self, report: "reporting.Report", scene: Scene, scale: float) -> None:
        self.reached, self.lines = report.all_reached, reporting.lines(report, scene)
        self.icon = ("CHECKMARK" if self.reached else "ERROR") if report.due_count else "INFO"
        self.report, self._scale = report, scale
        missed = sorted((tip for tip in report.tips.values() if tip.missed), key=lambda tip: -tip.largest_distance)
        self._missed = [f"{tip.tip} {_off(tip, scene)}" for tip in missed]

    @property
    def line(self) -> str:
        """The result in a few words; of a limb that is not reached at a single frame with the distance or the angle.

        Of a body it names the tips that are off, the farthest first, or else the bones that do not follow them.
        """
        if not self.report.hips:
            if self.report.due_count != 1 or self.reached:
                return self.lines[0]
            (tip,) = self.report.tips.values()
            why = self.lines[1 + int(tip.turned_only)]  # the distance, or the orientation
            return f"{self.lines[0]}: {why[0].lower()}{why[1:]}"
        if not self._missed and self.report.not_following:
            names = list(dict.fromkeys(note.bone for note in self.report.not_following))
            return f"{names[0]} does not follow" if len(names) == 1 else f"{len(names)} bones do not follow"
        if not self._missed:
            return f"Body: {self.lines[0][0].lower()}{self.lines[0][1:]}"
        if self.is_bake:
            return f"Missed at {len(self.report.missed)} frames: {self._missed[0]}"
        return f"Missed: {', '.join(self._missed)}"

    @property
    def switches(self) -> list[str]:
        """Names of the properties to set so that the bones which do not follow do."""
        remedies = [note.remedy for note in self.report.not_following]
        return list(dict.fromkeys(remedy.name for remedy in remedies if remedy))

    @property
    def is_bake(self) -> bool:
        """True for several frames."""
        return len(self.report.frames) > 1

    @cached_property
    def limits(self) -> list[str]:
        """Lines about the bones of a limb at a joint limit."""
        return reporting.on_limits(self.report)

    def cost(self, scene: Scene) -> str:
        """Return the cost of a limb's motion in one line."""
        turns, angle, travel = self._cost
        return f"{turns} turns, {angle:.0f}°, tip moved {distance_text(travel, scene)}"

    @cached_property
    def _cost(self) -> tuple[int, float, float]:
        cost = self.report.cost
        return cost.turns, degrees(cost.total_angle), cost.travel * self._scale


def _off(tip: "reporting.TipReport", scene: Scene) -> str:
    """Return how far a tip is off in a word: its angle where its place is met, or where it looks."""
    by_angle = tip.turned_only or tip.aim == "LOOK"
    return degrees_text(tip.angle) if by_angle else distance_text(tip.largest_distance, scene)


_latest: dict[tuple[int, str], LastResult] = {}  # by the armature's session uid and the tip bone


def remember_result(report: "reporting.Report", armature: Object, scene: Scene) -> None:
    """Keep a report for the panel at each of its tips, and show it: a live pose is reported after it is drawn."""
    result = LastResult(report, scene, scale_of(armature))
    _latest.update(((armature.session_uid, tip), result) for tip in report.tips)
    redraw()


def forget_result(armature: Object, tip: str) -> None:
    """Drop the result of the limb that ends in bone `tip`."""
    _latest.pop((armature.session_uid, tip), None)


def latest(armature: Object, tip: str) -> LastResult | None:
    """Return the last result of the limb that ends in bone `tip`."""
    return _latest.get((armature.session_uid, tip))


def register() -> None:
    live.listeners.append(remember_result)


def unregister() -> None:
    live.listeners.remove(remember_result)
    _latest.clear()
