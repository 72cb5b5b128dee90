# SPDX-License-Identifier: GPL-3.0-or-later
"""Report of a solve or a bake, for people as text and for programs, with a summary of each tip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import degrees
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Scene

from ...kinematics import Cost
from ...motion.jumps import JointStep, Jump, largest_turn
from ...rig.body import Contact, RigBody
from ...rig.units import degrees_text, distance_text, in_units_of, is_seen, length_text
from .frame_solver import FrameResult, JudgedFrames


@dataclass(frozen=True)
class TipReport:
    """A tip at all frames of a solve, a bake or a reach, as Blender shows it.

    Distances are in Blender units in world space, `angle` is the largest in rad, 0.0 where no rotation counts (not
    `turns`). `held` tips are measured from their place and rotation in the animation or in a contact, half frames
    included, the others from their target; frames with an influence below 1 do not count. `missed` are the frames at
    which the tip was not there. `aim` is REACH, LOOK, or FOLLOW for a tip whose target waits, so that it goes along
    with the body. `below_floor` is a tip whose target is there at a frame that was missed, `turned_only` one that is
    missed by its rotation alone. `scale` leads from armature to world space.
    """

    armature: str
    tip: str
    held: bool
    missed: Sequence[float]
    largest_distance: float
    median_distance: float
    worst_frame: float
    angle: float = 0.0
    turns: bool = True
    aim: str = "REACH"
    below_floor: bool = False
    turned_only: bool = False
    scale: float = 1.0

    @property
    def reached(self) -> bool:
        """Whether no frame is missed."""
        return not self.missed

    @property
    def error(self) -> float:
        """Largest distance [Blender units, armature space]."""
        return self.largest_distance / self.scale

    @property
    def largest_angle(self) -> float | None:
        """Largest angle in degrees; None where no rotation counts."""
        return degrees(self.angle) if self.turns else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: distances in Blender units, world space, the angle in degrees."""
        return {
            "armature": self.armature,
            "tip": self.tip,
            "held": self.held,
            "reached": self.reached,
            "missed": list(self.missed),
            "largest_distance": self.largest_distance,
            "median_distance": self.median_distance,
            "largest_angle": self.largest_angle,
            "worst_frame": self.worst_frame,
        }


def tip_of_frames(armature: str, tip: str, judged: JudgedFrames) -> TipReport:
    """Return the report on a tip by its judged frames: those that are due, or all if none is."""
    counted = judged.counted
    worst = int(np.where(counted, judged.errors, -1.0).argmax())
    angles = np.zeros(0) if judged.angles is None else judged.angles[counted]
    angles = angles[~np.isnan(angles)]
    return TipReport(
        armature=armature,
        tip=tip,
        held=False,
        missed=[judged.frames[k] for k in np.flatnonzero(judged.due & ~judged.reached).tolist()],
        largest_distance=float(judged.errors[worst]),
        median_distance=float(np.median(judged.errors[counted])),
        worst_frame=judged.frames[worst],
        angle=float(angles.max()) if len(angles) else 0.0,
        turns=bool(len(angles)),
    )


def missed_frames_of(tips: Iterable[TipReport]) -> list[float]:
    """Return the frames at which any of the tips was missed, in order."""
    return sorted({frame for tip in tips for frame in tip.missed})


class Remedy(NamedTuple):
    """A property by its holder (a bone or data-block) and name, its value now, and the one to set."""

    holder: str
    name: str
    now: float
    value: float


class NotFollowing(NamedTuple):
    """A deform bone that is meant to follow the limb's tip bone and at some `frames` `of` those looked at does not.

    `distance` is the largest from the tip [Blender units, world space], at `frame`; `remedy` makes it follow, if one is
    known.
    """

    bone: str
    tip: str
    distance: float
    frame: float
    frames: int
    of: int
    remedy: Remedy | None

    def text(self, length: Callable[[float], str] = length_text) -> str:
        """Describe it in a sentence or two, with `length` for lengths."""
        where = "" if self.of == 1 else f" at frame {self.frame:g}"
        some = f" at {self.frames} of {self.of} frames" if self.frames < self.of else ""
        begin = f"'{self.bone}' does not follow '{self.tip}'{some}, it is {length(self.distance)} away{where}: "
        if self.remedy is None:
            return f"{begin}other constraints or bones move it. Bake those, or mute them."
        holder, name, now, value = self.remedy
        return f"{begin}'{name}' of '{holder}' is {now:g}. Set it to {value:g}."


@dataclass(frozen=True)
class Report:
    """The tips of a solve, a bake or a reach at its frames, and the number of `keys` written; a limb has one tip.

    `seconds` is the time it took. A full bake would have had `full_keys`; if that is more, keys were dropped. `tips`
    are by name; bones that are meant to follow and do not are `not_following`.

    The `frames` of a limb are results with the pose of each. `tip_deviation` is the largest distance of its tip from
    the full bake [Blender units, world space], at the frames and halfway between them; `find_jumps` finds the `jumps`.
    `mended` frames are not as the chosen method has them: it missed there, or jumped.
    Its frames are judged by its tip and by the deform bones that are meant to follow it; if some do not, `alone` are
    the frames judged by the tip alone.

    The `frames` of a body, the limbs that are solved together on their `hips`, are numbers. `outside` is how far its
    centre of mass was off its feet (an estimate) [Blender units, armature space]; None without balance. `moved` has the
    warnings that something moves a tip, by its name. `scale` leads from armature to world space.
    """

    armature: str
    tips: Mapping[str, TipReport]
    frames: Sequence[Any]
    keys: int = 0
    warnings: Sequence[str] = ()
    seconds: float = 0.0
    full_keys: int = 0
    not_following: Sequence[NotFollowing] = ()

    target: str = ""
    solver: str = ""
    tolerance: float = 0.0
    angle_tolerance: float = 0.0
    tip_deviation: float = 0.0
    mended: int = 0
    find_jumps: Callable[[], Sequence[Jump]] = list
    alone: Sequence[FrameResult] = ()

    hips: str = ""
    contacts: Sequence[Contact] = ()
    scale: float = 1.0
    outside: float | None = None
    moved: Mapping[str, str] = field(default_factory=dict)

    @property
    def tip(self) -> str:
        """Name of the limb's tip; of a body the last one."""
        return [*self.tips][-1]

    @cached_property
    def jumps(self) -> Sequence[Jump]:
        """Rotations of joints that stand out from those of the frames around them, with their reasons.

        Their indices are those of `frames`.
        """
        return self.find_jumps()

    @cached_property
    def judged(self) -> JudgedFrames:
        """The frames of a limb with the arrays of what is counted."""
        return JudgedFrames.of(self.frames)

    @property
    def numbers(self) -> Sequence[float]:
        """Numbers of the frames."""
        return self.frames if self.hips else self.judged.frames

    @property
    def due(self) -> Sequence[FrameResult]:
        """Frames at which a limb's tip should be at the target.

        Not due are the frames between the stops of a reach, and those with an influence below 1. A row is made for
        each; `due_count` counts them without.
        """
        return [self.frames[k] for k in np.flatnonzero(self.judged.due).tolist()]

    @property
    def due_count(self) -> int:
        """Number of due frames; of a body all frames."""
        return len(self.frames) if self.hips else int(self.judged.due.sum())

    @property
    def reached_count(self) -> int:
        """Number of due frames at which every tip is within tolerance, in place and orientation."""
        return self.due_count - len(self.missed)

    @property
    def reached(self) -> int:
        """Number of due frames within tolerance; of a body whether every tip is so at every frame.

        Scripts rely on both.
        """
        return not self.missed if self.hips else self.reached_count

    @property
    def all_reached(self) -> bool:
        """Whether every tip is within tolerance at every due frame, and all bones follow that are meant to."""
        return not self.missed and not (self.hips and self.not_following)

    @cached_property
    def missed(self) -> list[float]:
        """Due frames at which a tip is not within tolerance, in order."""
        return missed_frames_of(self.tips.values())

    @property
    def worst(self) -> FrameResult:
        """Due frame of a limb with the largest error; if none is due, of all frames."""
        return self.frames[self.judged.frames.index(self.worst_frame)]

    @property
    def _worst_tip(self) -> TipReport:
        return max(self.tips.values(), key=lambda tip: tip.largest_distance)

    @property
    def worst_error(self) -> float:
        """Largest distance of a tip from its goal at a due frame [Blender units, world space]."""
        return self._worst_tip.largest_distance

    @property
    def worst_frame(self) -> float:
        """Number of that frame."""
        return self._worst_tip.worst_frame

    @property
    def median_error(self) -> float:
        """Median distance from tip to goal at the due frames, of the farthest tip [Blender units, world space]."""
        return self._worst_tip.median_distance

    @property
    def largest_angle(self) -> float | None:
        """Largest deviation from the orientation at a due frame [rad], at any if none is due; None if none counts."""
        return max((tip.angle for tip in self.tips.values() if tip.turns), default=None)

    def with_frames(self, frames: Sequence[FrameResult], alone: Sequence[FrameResult] = (), **changes: Any) -> Report:
        """Return the report of a limb with other frames, and what follows from them."""
        tips = {self.tip: tip_of_frames(self.armature, self.tip, JudgedFrames.of(frames))}
        return replace(self, tips=tips, frames=frames, alone=alone, **changes)

    def following(self, scene: Scene) -> Report:
        """Return the report as it is once all bones follow the limb."""
        return self.with_frames(self.alone or self.frames).without_followers(scene)

    def without_followers(self, scene: Scene) -> Report:
        """Return the report without the bones that do not follow, and without the warnings of them."""
        said = {note.text(in_units_of(scene)) for note in self.not_following}
        warnings = [warning for warning in self.warnings if warning not in said]
        return replace(self, warnings=warnings, not_following=())

    @property
    def on_limits(self) -> dict[str, list[str]]:
        """Limits that joints of a limb are at in some frame, by the bones' names."""
        if self.hips:
            return {}
        if self.judged.path is not None:
            return self.judged.path.on_limits
        ends: dict[str, dict[str, None]] = {}
        for result in self.frames:
            for name, found in result.on_limits.items():
                ends.setdefault(name, {}).update(dict.fromkeys(found))
        return {name: list(found) for name, found in ends.items()}

    @property
    def cost(self) -> Cost:
        """Sum of the costs of all frames of a limb."""
        if self.judged.path is not None:
            return self.judged.path.costs.total
        costs = [result.cost for result in self.frames]
        turns, angles, travels = zip(*((cost.turns, cost.total_angle, cost.travel) for cost in costs), strict=True)
        return Cost(sum(turns), sum(angles), sum(travels))

    @property
    def largest_turn(self) -> JointStep | None:
        """Largest rotation of a joint of a limb from one frame to the next; None for a single frame."""
        if self.judged.path is not None:
            return self.judged.path.largest_turn
        return largest_turn([result.pose for result in self.frames])

    def tip_summaries(self, rig: RigBody | None = None) -> list[TipReport]:
        """Return the reports on all tips. They need no `rig`, which earlier versions asked for."""
        return [*self.tips.values()]

    def to_dict(self, rig: RigBody | None = None) -> dict[str, Any]:
        """Return plain values for JSON: distances in Blender units, world space (travel: armature).

        Angles are in radians, those in the tips of a limb in degrees. It needs no `rig`, as tip_summaries().
        """
        tips = [tip.to_dict() | ({"largest_angle": tip.angle} if self.hips else {}) for tip in self.tips.values()]
        every = {
            "armature": self.armature,
            "frames": len(self.frames),
            "reached": self.reached,
            "missed": self.missed,
            "keys": self.keys,
            "full_keys": self.full_keys,
            "seconds": self.seconds,
            "warnings": list(self.warnings),
            "not_following": [
                {**note._asdict(), "remedy": note.remedy and note.remedy._asdict()} for note in self.not_following
            ],
            "tips": tips,
        }
        return every | (self._body_to_dict() if self.hips else self._limb_to_dict())

    def _body_to_dict(self) -> dict[str, Any]:
        return {
            "hips": self.hips,
            "contacts": [contact.to_dict() for contact in self.contacts],
            "centre_of_mass_outside": None if self.outside is None else self.outside * self.scale,
        }

    def _limb_to_dict(self) -> dict[str, Any]:
        turned = self.largest_turn
        return {
            "tip": self.tip,
            "target": self.target,
            "solver": self.solver,
            "tolerance": self.tolerance,
            "angle_tolerance": self.angle_tolerance,
            "due": self.due_count,
            "largest_distance": self.worst_error,
            "largest_distance_frame": self.worst_frame,
            "median_distance": self.median_error,
            "largest_angle": self.largest_angle,
            "on_limits": self.on_limits,
            "cost": asdict(self.cost),
            "largest_turn": turned and self._turned(turned),
            "jumps": [{**self._turned(jump.turned), "reason": jump.reason} for jump in self.jumps],
            "largest_distance_from_full_bake": self.tip_deviation,
            "mended": self.mended,
            "per_frame": self.judged.to_dicts(),
        }

    def _turned(self, turned: JointStep) -> dict[str, Any]:
        return {"frame": self.judged.frames[turned.at], "bone": turned.joint, "angle": turned.angle}

    @property
    def text(self) -> str:
        """The report as text, with lengths in Blender units."""
        return "; ".join([*_lines(self, length_text), *self.warnings])


BodyReport, TipSummary = Report, TipReport  # as they were called when limbs and bodies had reports of their own


def summary(report: Report, scene: Scene) -> str:
    """Return one line: due frames reached, largest distance with its frame, orientation; of a body each tip."""
    (whole, first, *others), more = _of_tips(report, in_units_of(scene)), _of_keys(report, in_units_of(scene))
    if report.hips:
        return "; ".join([whole, first, *others, *more])
    worst, turned = distance_text(report.worst_error, scene), "".join(f", {line}" for line in others)
    if _is_single(report):
        return f"{whole}, distance {worst}{turned}"
    return (
        f"{whole}, largest distance {worst} at frame {report.worst_frame:g}{turned}"
        + "".join(f"; {line}" for line in [*jump_lines(report), *_mended(report)])
        + "".join(f". {line}" for line in more)
    )


def summaries(reports: Sequence[Report], scene: Scene) -> Iterator[tuple[bool, str]]:
    """Yield a line for each body and one for all limbs together, each with whether all is reached."""
    for report in reports:
        if report.hips:
            yield report.all_reached, summary(report, scene)
    limbs = [report for report in reports if not report.hips]
    if limbs:
        line = summary(limbs[0], scene) if len(limbs) == 1 else summary_of_all(limbs, scene)
        yield all(report.all_reached for report in limbs), line


def lines(report: Report, scene: Scene) -> list[str]:
    """Return the same as summary() in short lines that fit in a sidebar, with the bones that do not follow."""
    return _lines(report, in_units_of(scene))


def _lines(report: Report, length: Callable[[float], str]) -> list[str]:
    notes = [] if report.hips else [note.text(length) for note in report.not_following]
    return [*_of_tips(report, length), *notes, *jump_lines(report), *_mended(report), *_of_keys(report, length)]


def _is_single(report: Report) -> bool:
    """Tell whether the report is about a single frame."""
    return (report.due_count or len(report.frames)) == 1


def _of_tips(report: Report, length: Callable[[float], str]) -> list[str]:
    """Return a line that counts the due frames that are reached, the lines of each tip, and one on the balance."""
    if not report.due_count:
        whole = "On the way (influence below 1)"
    elif report.due_count == 1:
        whole = "Not reached" if report.missed else "Reached"
    else:
        whole = f"Reached {report.reached_count} of {report.due_count} frames"
    if not report.hips:
        return [whole, *_of_one_tip(report, length)]
    found = [whole, *(_of_tip(tip, length) for tip in report.tips.values())]
    if report.outside is not None:
        outside = length(report.outside * report.scale)
        off = f"{outside} outside the feet" if report.outside else "over the feet"
        found.append(f"Center of mass {off} (an estimate)")
    return found


def _of_one_tip(report: Report, length: Callable[[float], str]) -> list[str]:
    """Return a line with the distance of a limb's tip, and one about the orientation, if the tip is visibly off it."""
    distance, angle = length(report.worst_error), report.largest_angle
    where = "" if _is_single(report) else f" at frame {report.worst_frame:g}"
    turned = [f"{degrees_text(angle)} off its orientation"] if angle is not None and is_seen(angle) else []
    return [f"Distance {distance}{where}", *turned]


def _of_tip(tip: TipReport, length: Callable[[float], str]) -> str:
    """Return the line on one of several tips."""
    distance, off = length(tip.largest_distance), degrees_text(tip.angle)
    turned = f", {off} off its orientation" if is_seen(tip.angle) else ""
    if tip.held:
        return f"{tip.tip} slips {distance}{turned}" if tip.missed else f"{tip.tip} held, slip {distance}"
    if tip.aim == "FOLLOW":
        return f"{tip.tip} follows the body"
    if tip.aim == "LOOK":
        return f"{tip.tip} misses the look by {off}" if tip.missed else f"{tip.tip} looks, {off} off"
    if tip.missed and tip.below_floor:
        return f"{tip.tip} missed, {distance} away: below the floor{turned}"
    if tip.missed:
        return f"{tip.tip} missed, distance {distance}{turned}"
    return f"{tip.tip} reached, distance {distance}{turned}"


def summary_of_all(reports: Sequence[Report], scene: Scene) -> str:
    """Return one line about several limbs together."""
    worst = max(reports, key=lambda report: report.worst_error)
    reached, frames = sum(report.reached_count for report in reports), sum(report.due_count for report in reports)
    return (
        f"{len(reports)} {'limb' if len(reports) == 1 else 'limbs'} reached {reached} of {frames} frames, "
        f"largest distance {distance_text(worst.worst_error, scene)} of '{worst.tip}' at frame {worst.worst_frame:g}"
    )


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


def _of_keys(report: Report, length: Callable[[float], str]) -> list[str]:
    """Return a line about keys that were dropped, if any were."""
    if report.keys >= report.full_keys:
        return []
    within = "" if report.hips else f", tip within {length(report.tip_deviation)} of a full bake"
    return [f"{report.keys} of {report.full_keys} keys{within}"]


def on_limits(report: Report) -> list[str]:
    """Return a line for each bone that is at its limits at some frame."""
    return [f"{name}: {', '.join(ends)}" for name, ends in report.on_limits.items()]
