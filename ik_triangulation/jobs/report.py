# SPDX-License-Identifier: GPL-3.0-or-later
"""Report of a solve or a bake, for people as text and for programs, with a summary of each tip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import degrees
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Scene

from ..kinematics import Cost
from ..motion.jumps import JointStep, Jump, largest_turn
from ..rig.units import degrees_text, distance_text, is_seen, length_text
from .frame_solver import FrameResult, JudgedFrames


class TipSummary(NamedTuple):
    """A tip at all frames of a solve, a bake or a reach, as Blender shows it.

    Distances are in Blender units in world space, angles in degrees. `held` tips are measured from the place where they
    should stay, the others from their target. `missed` are the frames at which the tip was not there, `reached` is true
    if there are none. `largest_angle` is None where no rotation counts. `worst_frame` is that of the largest distance.
    """

    armature: str
    tip: str
    held: bool
    reached: bool
    missed: Sequence[float]
    largest_distance: float
    median_distance: float
    largest_angle: float | None
    worst_frame: float


def missed_frames_of(tips: Iterable[TipSummary]) -> list[float]:
    """Return the frames at which any of the tips was missed, in order."""
    return sorted({frame for tip in tips for frame in tip.missed})


class Remedy(NamedTuple):
    """A property by its holder (a bone or data-block) and name, its value now, and the one to set."""

    holder: str
    name: str
    now: float
    value: float


class NotFollowing(NamedTuple):
    """A deform bone that is meant to follow the limb's tip bone and at a number of `frames` does not.

    `distance` is the largest from the tip [Blender units, world space], at `frame`; `remedy` makes it follow, if one is
    known.
    """

    bone: str
    tip: str
    distance: float
    frame: float
    frames: int
    remedy: Remedy | None

    def text(self, of: int) -> str:
        """Describe it in a sentence or two, for that many frames in all."""
        where = "" if of == 1 else f" at frame {self.frame:g}"
        some = f" at {self.frames} of {of} frames" if self.frames < of else ""
        begin = f"'{self.bone}' does not follow '{self.tip}'{some}, it is {length_text(self.distance)} away{where}: "
        if self.remedy is None:
            return f"{begin}other constraints or bones move it. Bake those, or mute them."
        holder, name, now, value = self.remedy
        return f"{begin}'{name}' of '{holder}' is {now:g}. Set it to {value:g}."


@dataclass(frozen=True)
class Report:
    """All frames of a solve or bake; `seconds` is the time it took, `keys` the number of keys written.

    A full bake would have had `full_keys`; if that is more, keys were dropped, and `tip_deviation` is the largest
    distance of the tip from the full bake [Blender units, world space], at the frames and halfway between them.
    `mended` frames are not as the chosen method has them: it missed there, or jumped.
    `find_jumps` finds the `jumps`. The frames are judged by the limb's tip and by the deform bones that are meant to
    follow it; if some are `not_following`, `alone` are the frames judged by the limb's tip alone.
    """

    armature: str
    tip: str
    target: str
    solver: str
    tolerance: float
    angle_tolerance: float
    frames: Sequence[FrameResult]
    seconds: float
    keys: int = 0
    warnings: Sequence[str] = field(default_factory=tuple)
    full_keys: int = 0
    tip_deviation: float = 0.0
    mended: int = 0
    find_jumps: Callable[[], Sequence[Jump]] = list
    not_following: Sequence[NotFollowing] = ()
    alone: Sequence[FrameResult] = ()

    @cached_property
    def jumps(self) -> Sequence[Jump]:
        """Rotations of joints that stand out from those of the frames around them, with their reasons.

        Their indices are those of `frames`.
        """
        return self.find_jumps()

    @cached_property
    def judged(self) -> JudgedFrames:
        """The frames with the arrays of what is counted."""
        return JudgedFrames.of(self.frames)

    @property
    def due(self) -> Sequence[FrameResult]:
        """Frames at which the tip should be at the target.

        Not due are the frames between the stops of a reach, and those with an influence below 1. A row is made for
        each; `due_count` counts them without.
        """
        return [self.frames[k] for k in np.flatnonzero(self.judged.due).tolist()]

    @property
    def due_count(self) -> int:
        """Number of due frames."""
        return int(self.judged.due.sum())

    @property
    def reached(self) -> int:
        """Number of due frames within tolerance, in place and orientation."""
        return int((self.judged.reached & self.judged.due).sum())

    @property
    def all_reached(self) -> bool:
        """True if every due frame is within tolerance."""
        return self.reached == self.due_count

    @property
    def missed(self) -> list[float]:
        """Due frames that are not within tolerance."""
        judged = self.judged
        return [judged.frames[k] for k in np.flatnonzero(judged.due & ~judged.reached).tolist()]

    @property
    def worst(self) -> FrameResult:
        """Due frame with the largest error; if none is due, of all frames."""
        return self.frames[self._worst_at]

    @property
    def worst_error(self) -> float:
        """Distance from tip to target at that frame [Blender units, world space]."""
        return float(self.judged.errors[self._worst_at])

    @property
    def worst_frame(self) -> float:
        """Number of that frame."""
        return self.judged.frames[self._worst_at]

    @cached_property
    def _worst_at(self) -> int:
        judged = self.judged
        return int(np.where(judged.counted, judged.errors, -1.0).argmax())

    @property
    def largest_angle(self) -> float | None:
        """Largest deviation from the orientation at a due frame [rad], at any if none is due; None if none is asked."""
        judged = self.judged
        asked = np.zeros(0) if judged.angles is None else judged.angles[judged.counted]
        asked = asked[~np.isnan(asked)]
        return float(asked.max()) if len(asked) else None

    def following(self) -> Report:
        """Return the report as it is once all bones follow the limb."""
        said = {note.text(len(self.frames)) for note in self.not_following}
        warnings = [warning for warning in self.warnings if warning not in said]
        return replace(self, frames=self.alone or self.frames, warnings=warnings, not_following=(), alone=())

    @property
    def on_limits(self) -> dict[str, list[str]]:
        """Limits that joints are at in some frame, by the bones' names."""
        if self.judged.path is not None:
            return self.judged.path.on_limits
        ends: dict[str, dict[str, None]] = {}
        for result in self.frames:
            for name, found in result.on_limits.items():
                ends.setdefault(name, {}).update(dict.fromkeys(found))
        return {name: list(found) for name, found in ends.items()}

    @property
    def cost(self) -> Cost:
        """Sum of the costs of all frames."""
        if self.judged.path is not None:
            return self.judged.path.costs.total
        costs = [result.cost for result in self.frames]
        turns, angles, travels = zip(*((cost.turns, cost.total_angle, cost.travel) for cost in costs), strict=True)
        return Cost(sum(turns), sum(angles), sum(travels))

    @property
    def median_error(self) -> float:
        """Median distance from tip to target at the due frames, at all if none is due [Blender units, world space]."""
        return float(np.median(self.judged.errors[self.judged.counted]))

    @property
    def largest_turn(self) -> JointStep | None:
        """Largest rotation of a joint from one frame to the next; None for a single frame."""
        if self.judged.path is not None:
            return self.judged.path.largest_turn
        return largest_turn([result.pose for result in self.frames])

    @property
    def tips(self) -> list[TipSummary]:
        """The limb's tip over all frames."""
        angle = self.largest_angle
        return [
            TipSummary(
                armature=self.armature,
                tip=self.tip,
                held=False,
                reached=self.all_reached,
                missed=self.missed,
                largest_distance=self.worst_error,
                median_distance=self.median_error,
                largest_angle=None if angle is None else degrees(angle),
                worst_frame=self.worst_frame,
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: distances in Blender units, world space (travel: armature).

        Angles are in radians, those in `tips` in degrees.
        """
        turned = self.largest_turn
        return {
            "armature": self.armature,
            "tip": self.tip,
            "target": self.target,
            "solver": self.solver,
            "tolerance": self.tolerance,
            "angle_tolerance": self.angle_tolerance,
            "frames": len(self.frames),
            "due": self.due_count,
            "reached": self.reached,
            "missed": self.missed,
            "largest_distance": self.worst_error,
            "largest_distance_frame": self.worst_frame,
            "median_distance": self.median_error,
            "largest_angle": self.largest_angle,
            "on_limits": self.on_limits,
            "cost": asdict(self.cost),
            "largest_turn": turned and self._turned(turned),
            "jumps": [{**self._turned(jump.turned), "reason": jump.reason} for jump in self.jumps],
            "keys": self.keys,
            "full_keys": self.full_keys,
            "largest_distance_from_full_bake": self.tip_deviation,
            "mended": self.mended,
            "seconds": self.seconds,
            "warnings": list(self.warnings),
            "not_following": [
                {**note._asdict(), "remedy": note.remedy and note.remedy._asdict()} for note in self.not_following
            ],
            "tips": [tip._asdict() for tip in self.tips],
            "per_frame": self.judged.to_dicts(),
        }

    def _turned(self, turned: JointStep) -> dict[str, Any]:
        return {"frame": self.judged.frames[turned.at], "bone": turned.joint, "angle": turned.angle}


def summary(report: Report, scene: Scene) -> str:
    """Return one line: due frames reached, largest distance with its frame, and deviation from the orientation."""
    worst, turned = distance_text(report.worst_error, scene), "".join(f", {line}" for line in _turned(report))
    if _is_single(report):
        return f"{_reached(report)}, distance {worst}{turned}"
    return (
        f"{_reached(report)}, largest distance {worst} at frame {report.worst_frame:g}{turned}"
        + "".join(f"; {line}" for line in [*jump_lines(report), *_mended(report)])
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
    more = [*notes, *jump_lines(report), *_mended(report), *_reduction(report, scene)]
    return [_reached(report), distance, *_turned(report), *more]


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


def _mended(report: Report) -> list[str]:
    """Return a line with the number of frames that are not the method's own, if there are any."""
    return [f"{report.mended} of {len(report.frames)} frames mended"] if report.mended else []


def _reduction(report: Report, scene: Scene) -> list[str]:
    """Return a line about keys that were dropped, if any were."""
    if report.keys >= report.full_keys:
        return []
    deviation = distance_text(report.tip_deviation, scene)
    return [f"{report.keys} of {report.full_keys} keys, tip within {deviation} of a full bake"]


def on_limits(report: Report) -> list[str]:
    """Return a line for each bone that is at its limits at some frame."""
    return [f"{name}: {', '.join(ends)}" for name, ends in report.on_limits.items()]
