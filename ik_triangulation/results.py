# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the last solve or bake of each limb, for the panel; forgotten when Blender is closed."""

from functools import cached_property
from math import degrees

from bpy.types import Object, Scene

from .blender.units import distance_text, scale_of
from .report import Report
from .summary import lines, on_limits


class Result:
    """A report in words: whether all that was due is `reached`, its `icon`, in short `lines`; the rest when shown."""

    def __init__(self, report: Report, scene: Scene, scale: float) -> None:
        self.reached, self.icon, self.lines = report.all_reached, _icon(report), lines(report, scene)
        self._report, self._scale = report, scale

    @cached_property
    def limits(self) -> list[str]:
        """A line for each bone that stands on its limits."""
        return on_limits(self._report)

    def cost(self, scene: Scene) -> str:
        """What the way there cost, in one line."""
        turns, angle, travel = self._cost
        return f"{turns} turns, {angle:.0f}°, tip moved {distance_text(travel, scene)}"

    @cached_property
    def _cost(self) -> tuple[int, float, float]:
        cost = self._report.cost
        return cost.turns, degrees(cost.total_angle), cost.travel * self._scale


def _icon(report: Report) -> str:
    """Name of the icon that says whether all that was due is reached."""
    return ("CHECKMARK" if report.all_reached else "ERROR") if report.due else "INFO"


_latest: dict[tuple[int, str], Result] = {}  # by the armature's session uid and the tip bone


def remember(report: Report, armature: Object, scene: Scene) -> None:
    """Keep what the panel says of a report."""
    _latest[armature.session_uid, report.tip] = Result(report, scene, scale_of(armature))


def forget(armature: Object, tip: str) -> None:
    """Keep nothing of the limb that ends in bone `tip`."""
    _latest.pop((armature.session_uid, tip), None)


def latest(armature: Object, tip: str) -> Result | None:
    """The last result of the limb that ends in bone `tip`."""
    return _latest.get((armature.session_uid, tip))
