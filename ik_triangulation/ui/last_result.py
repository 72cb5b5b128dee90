# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the last solve or bake of each limb, for the panel; forgotten when Blender is closed."""

from functools import cached_property
from math import degrees

from bpy.types import Object, Scene

from ..jobs import live
from ..jobs.report import Report
from ..jobs.report_text import lines, on_limits
from ..rig.units import distance_text, scale_of


class Result:
    """A report in words: whether all that was due is `reached`, its `icon`, in short `lines`; the rest when shown."""

    def __init__(self, report: Report, scene: Scene, scale: float) -> None:
        self.reached, self.icon, self.lines = report.all_reached, _icon(report), lines(report, scene)
        self.report, self._scale = report, scale

    @property
    def switches(self) -> list[str]:
        """Names of the properties with which bones follow that do not."""
        remedies = [note.remedy for note in self.report.not_following]
        return list(dict.fromkeys(remedy.name for remedy in remedies if remedy))

    @property
    def is_bake(self) -> bool:
        """Whether it is of several frames."""
        return len(self.report.frames) > 1

    @cached_property
    def limits(self) -> list[str]:
        """A line for each bone that stands on its limits."""
        return on_limits(self.report)

    def cost(self, scene: Scene) -> str:
        """What the way there cost, in one line."""
        turns, angle, travel = self._cost
        return f"{turns} turns, {angle:.0f}°, tip moved {distance_text(travel, scene)}"

    @cached_property
    def _cost(self) -> tuple[int, float, float]:
        cost = self.report.cost
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


def register() -> None:
    live.listeners.append(remember)


def unregister() -> None:
    live.listeners.remove(remember)
    _latest.clear()
