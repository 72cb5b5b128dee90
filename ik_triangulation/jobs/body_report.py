# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a body that was solved, measured on the bones that Blender shows, and its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import degrees
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, Scene, bpy_prop_collection
from mathutils import Matrix, Vector

from ..cooperative import Work
from ..goals import Anywhere, Goal
from ..goals.from_goals import body_tasks
from ..goals.orientation import Direction, LookAt, Orientation, missing_angle
from ..kinematics import Body
from ..kinematics.arrays import Mask, Numbers
from ..kinematics.batch.algebra import lengths, turn_vectors
from ..rig.body import BodyRest, RigBody
from ..rig.frames.body_frames import lengths_of, shown_frames
from ..rig.frames.body_samples import AT_ONCE, BodySamples, view_layer_of
from ..rig.frames.reader import Evaluator
from ..rig.interference import TipMoved, explained
from ..rig.limb import Limb
from ..rig.units import degrees_text, distance_text, is_seen, length_text, scale_of
from .body_problem import BodyProblem, HeldPlaces, Planned
from .measure import AGREES, held_tolerances, is_within
from .report import NotFollowing, TipSummary

_MOVED = 1e-4  # of a limb's reach, and [rad]: from which on a bone is off its place


class BodyTipReport(NamedTuple):
    """A tip at all frames: the largest distance from its goal [Blender units] and angle [rad], and frames it missed.

    Of a held tip the goal is its place and rotation in the animation or its contact; its distance and angle count half
    frames as well. The angle of the others is 0.0 where none was asked for. Frames with an influence below 1 do not
    count. `aim` is what a tip does: REACH, LOOK, or FOLLOW for one whose target waits, so that it goes along with the
    body. `median` is the median distance, `worst` the frame of the largest one, and `turns` whether a rotation counts.
    The target of one that is `below_floor` is there at a frame that it missed.
    """

    held: bool
    error: float
    angle: float
    missed: list[float]
    aim: str = "REACH"
    median: float = 0.0
    worst: float = 0.0
    turns: bool = True
    below_floor: bool = False

    @classmethod
    def judged(
        cls,
        off: tuple[Numbers, Numbers],
        tolerances: tuple[Numbers | float, float],
        frames: Sequence[float],
        goal: Goal | None = None,
        counted: Mask | None = None,
    ) -> BodyTipReport:
        """Judge a tip that is `off` by these distances [Blender units] and angles [rad] (F) at frames where it is due.

        Without a goal the tip is held. `counted` is a mask of the frames that can be missed, by default of all.
        """
        distances, angles = off
        late = ~is_within(distances, tolerances[0], angles, tolerances[1])
        late = late if counted is None else late & counted
        missed = [frames[at] for at in np.flatnonzero(late).tolist()]
        if not len(distances):
            distances, angles, frames = np.zeros(1), np.zeros(1), [0.0]
        worst = int(distances.argmax())
        return cls(
            goal is None,
            float(distances[worst]),
            float(angles.max()),
            missed,
            "REACH" if goal is None else aim_of(goal),
            float(np.median(distances)),
            frames[worst],
            goal is None or asks_rotation(goal),
        )


class BodyReport(NamedTuple):
    """A bake of a body: each tip, the `keys` written, and how far the centre of mass was `outside` (an estimate).

    A full bake would have had `full_keys`; if that is more, keys were dropped. Bones that are meant to follow the body
    and do not are in `not_following`; `moved` has the warnings that something moves a tip, by its name.
    """

    tips: dict[str, BodyTipReport]
    frames: Sequence[float]
    keys: int = 0
    outside: float | None = None
    warnings: Sequence[str] = ()
    seconds: float = 0.0
    full_keys: int = 0
    not_following: Sequence[NotFollowing] = ()
    moved: Mapping[str, str] = {}

    @property
    def reached(self) -> bool:
        """Whether every tip is where it has to be at every frame."""
        return not any(tip.missed for tip in self.tips.values())

    @property
    def all_reached(self) -> bool:
        """Whether that is so, and all bones that are meant to follow the body do."""
        return self.reached and not self.not_following

    @property
    def missed(self) -> list[float]:
        """Frames at which any tip is not where it has to be, in order."""
        return sorted({frame for tip in self.tips.values() for frame in tip.missed})

    def tip_summaries(self, rig: RigBody) -> list[TipSummary]:
        """Return each tip over all frames, with lengths in world space."""
        scale = scale_of(rig.armature)
        return [
            TipSummary(
                armature=rig.armature.name,
                tip=name,
                held=tip.held,
                reached=not tip.missed,
                missed=tip.missed,
                largest_distance=tip.error * scale,
                median_distance=tip.median * scale,
                largest_angle=degrees(tip.angle) if tip.turns else None,
                worst_frame=tip.worst,
            )
            for name, tip in self.tips.items()
        ]

    def to_dict(self, rig: RigBody) -> dict[str, Any]:
        """Return plain values for JSON of the body that this is about: angles [rad], distances in world space."""
        scale = scale_of(rig.armature)
        return {
            "armature": rig.armature.name,
            "hips": rig.hips,
            "frames": len(self.frames),
            "reached": self.reached,
            "missed": self.missed,
            "keys": self.keys,
            "full_keys": self.full_keys,
            "contacts": [contact._asdict() for contact in rig.contacts],
            "centre_of_mass_outside": None if self.outside is None else self.outside * scale,
            "seconds": self.seconds,
            "tips": [
                {
                    "tip": name,
                    "held": tip.held,
                    "reached": not tip.missed,
                    "largest_distance": tip.error * scale,
                    "largest_angle": tip.angle,
                    "missed": list(tip.missed),
                }
                for name, tip in self.tips.items()
            ],
        }

    @property
    def text(self) -> str:
        """The report as text, with lengths in Blender units."""
        return "; ".join([*_lines(self, length_text), *self.warnings])


def body_summary(report: BodyReport, scene: Scene, scale: float) -> str:
    """Return one line about all tips; `scale` is that from armature space to world space."""
    return "; ".join(body_lines(report, scene, scale))


def body_lines(report: BodyReport, scene: Scene, scale: float) -> list[str]:
    """Return the same as body_summary() in short lines: the body as a whole, each tip, its balance, and its keys."""
    return _lines(report, lambda length: distance_text(length * scale, scene))


def _lines(report: BodyReport, told: Callable[[float], str]) -> list[str]:
    frames = len(report.frames)
    missed = report.missed
    whole = (
        ("Not reached" if missed else "Reached")
        if frames == 1
        else f"Reached {frames - len(missed)} of {frames} frames"
    )
    lines = [whole, *(_of_tip(name, tip, told) for name, tip in report.tips.items())]
    if report.outside is not None:
        outside = f"{told(report.outside)} outside the feet" if report.outside else "over the feet"
        lines.append(f"Center of mass {outside} (an estimate)")
    if report.keys < report.full_keys:
        lines.append(f"{report.keys} of {report.full_keys} keys")
    return lines


def _of_tip(name: str, tip: BodyTipReport, told: Callable[[float], str]) -> str:
    distance = told(tip.error)
    turned = f", {degrees_text(tip.angle)} off its orientation" if is_seen(tip.angle) else ""
    if tip.held:
        return f"{name} slips {distance}{turned}" if tip.missed else f"{name} held, slip {distance}"
    if tip.aim == "FOLLOW":
        return f"{name} follows the body"
    if tip.aim == "LOOK":
        off = degrees_text(tip.angle)
        return f"{name} misses the look by {off}" if tip.missed else f"{name} looks, {off} off"
    if tip.missed and tip.below_floor:
        return f"{name} missed, {distance} away: below the floor{turned}"
    return f"{name} {'missed' if tip.missed else 'reached'}, distance {distance}{turned}"


class _Seen(NamedTuple):
    """A body as evaluated at one frame: matrices (n, 4, 4) of its bones, and off each due limb's goal by its tip."""

    matrices: Numbers
    off: dict[str, tuple[float, float]]


def measure_body(
    rig: RigBody,
    samples: BodySamples,
    held: HeldPlaces,
    scene: Scene,
    allowed: Mapping[str, float] | None = None,
    planned: Planned | None = None,
) -> Work[BodyReport]:
    """Measure all tips as evaluated: held ones at all frames in `held`, the others at those of the samples.

    Targets are measured where they are now. What fewer keys are `allowed` to move a tip that reaches, by its name
    [Blender units], is no miss. Warnings name what moves tips off the places that were `planned`, if these are given.
    """
    numbers = {frame: number for number, frame in enumerate(samples.frames)}
    moved: dict[str, None] = {}

    def look(depsgraph: Depsgraph, frame: float) -> _Seen:
        bones, off = rig.armature.evaluated_get(depsgraph).pose.bones, {}
        for limb in rig.limbs if frame in numbers else ():
            number, reader = numbers[frame], samples.readers.get(limb.tip)
            if samples.influence[limb.tip][number] == 1.0:
                goal = samples.goals[limb.tip][number]
                if reader is not None and reader.is_moved(depsgraph, frame):
                    goal, moved[limb.target_name] = reader.again(depsgraph, frame), None
                off[limb.tip] = tip_missing(goal, bones, limb.tip)
        return _Seen(np.array([bones[name].matrix for name in rig.bones], float), off)

    evaluator = Evaluator(rig, scene, view_layer_of(scene), held.frames)
    seen = yield from evaluator.evaluate(held.frames, look, AT_ONCE)
    shown = shown_frames(np.moveaxis(np.array([seen[frame].matrices for frame in held.frames]), 0, -1), lengths_of(rig))
    tips, body = {}, BodyRest(rig).body(samples.channels, Vector((0.0, 0.0, 1.0)), weighed=False)
    for name in rig.held:
        row, whole = rig.bones.index(name), np.array([frame in numbers for frame in held.frames])
        slips, turns = slips_and_turns(shown[row], held.bones[row], rig.armature.data.bones[name].length)
        due, tolerances = held.influence[name] == 1.0, held_tolerances(rig, name, body.reach(name))
        here = [held.frames[at] for at in np.flatnonzero(due).tolist()]
        here = [samples.frames[numbers[frame]] if frame in numbers else frame for frame in here]  # whole numbers stay
        tips[name] = BodyTipReport.judged((slips[due], turns[due]), tolerances, here, counted=whole[due])
    for limb in rig.limbs:
        found = {frame: each.off[limb.tip] for frame, each in seen.items() if limb.tip in each.off}
        tips[limb.tip] = judged_limb(limb, samples, found, (allowed or {}).get(limb.tip, 0.0))
    warnings = [
        f"Target '{name}' moves with the body that reaches for it. Unparent it or choose another." for name in moved
    ]
    if planned is not None and len(planned.frames):
        at = {frame: k for k, frame in enumerate(held.frames)}
        off_plan = _moved_off(rig, body, planned, shown[..., [at[frame] for frame in planned.frames]])
        return BodyReport(tips, samples.frames, warnings=[*warnings, *off_plan.values()], moved=off_plan)
    return BodyReport(tips, samples.frames, warnings=warnings)


def slips_and_turns(shown: Numbers, wanted: Numbers, length: float) -> tuple[Numbers, Numbers]:
    """Return how far the tail of a bone of this `length` is off and how far it is turned [rad], (F) each.

    The bone is given by frames (3, 4, F).
    """
    ends = [each[:, 3] + length * each[:, 1] for each in (shown, wanted)]
    turned = np.einsum("jif,jkf->ikf", shown[:, :3], wanted[:, :3])
    return lengths(ends[0] - ends[1]), lengths(turn_vectors(turned))


def judged_limb(
    limb: Limb, samples: BodySamples, off: Mapping[float, tuple[float, float]], allowed: float = 0.0
) -> BodyTipReport:
    """Judge a tip that reaches, by how far it is `off` [Blender units, rad] at frames of the samples, where it is due.

    What fewer keys are `allowed` to move it [Blender units] is no miss.
    """
    due = np.flatnonzero(samples.influence[limb.tip] == 1.0).tolist()
    frames, goals = [samples.frames[at] for at in due], samples.goals[limb.tip]
    distances, angles = np.array([off[frame] for frame in frames]).reshape(-1, 2).T
    tolerance = np.array([goals[at].tolerance + allowed for at in due])
    return BodyTipReport.judged((distances, angles), (tolerance, limb.angle_tolerance), frames, goals[0])


def _moved_off(rig: RigBody, body: Body, planned: Planned, shown: Numbers) -> dict[str, str]:
    """Return warnings that name what moves tips off the places that were planned, by the names of the tips.

    `shown` are the frames (n, 3, 4, F) of all bones.
    """
    far = list[TipMoved]()
    sizes, count = lengths_of(rig), len(planned.frames)
    for name in rig.tips:
        row, reach = rig.bones.index(name), body.reach(name)
        slips, _ = slips_and_turns(shown[row], planned.bones[row], sizes[row])
        at = int(slips.argmax())
        if slips[at] <= AGREES * reach:
            continue
        where = "" if count == 1 else f" at frame {planned.frames[at]:g}"
        moved = _turned_off(rig, planned.bones[..., at], shown[..., at], reach)
        far.append(TipMoved(name, float(slips[at]), where, moved))
    return explained(rig, far)


def _turned_off(rig: RigBody, planned: Numbers, shown: Numbers, reach: float) -> list[str]:
    """Return the bones that are not where they were planned on their parents, by frames (n, 3, 4) of all bones."""
    bones, found = rig.armature.data.bones, []
    for row, name in enumerate(rig.bones):
        own = [np.vstack((each[row], (0.0, 0.0, 0.0, 1.0))) for each in (planned, shown)]
        if row:
            above = rig.bones.index(bones[name].parent.name)
            own = [
                np.linalg.inv(np.vstack((each[above], (0.0, 0.0, 0.0, 1.0)))) @ mine
                for each, mine in zip((planned, shown), own, strict=True)
            ]
        off = np.abs(own[0] - own[1])
        if off[:3, :3].max() > _MOVED or off[:3, 3].max() > _MOVED * reach:
            found.append(name)
    return found


def aim_of(goal: Goal) -> str:
    """Return what a tip with this goal does, as BodyTipReport has it."""
    return "REACH" if not isinstance(goal.target, Anywhere) else "LOOK" if goal.soft else "FOLLOW"


def asks_rotation(goal: Goal) -> bool:
    """Tell whether an orientation, a direction or a look counts for a tip with this goal."""
    return any(isinstance(each, Orientation | Direction | LookAt) for each in goal.soft)


def tip_missing(goal: Goal, bones: bpy_prop_collection, name: str) -> tuple[float, float]:
    """Distance of a tip from its goal, and the angle that is missing, by the evaluated bones of the armature."""
    place, matrix = bones[name].tail, bones[name].matrix
    if goal.on:
        into = bones[goal.on].matrix.inverted()
        place, matrix = into @ place, into @ matrix
    angle = missing_angle(goal.soft, place, matrix.to_quaternion())
    return (goal.target.closest(place) - place).length, angle or 0.0


def tip_frame(rig: RigBody, frames: Numbers, name: str) -> Matrix:
    """The frame of a bone (4x4, armature space) with its tail as the place, from those of all bones (n, 3, 4)."""
    frame = frames[rig.bones.index(name)]
    matrix = Matrix.Identity(4)
    for row in range(3):
        matrix[row] = frame[row]
    length = rig.armature.data.bones[name].length
    matrix.translation = matrix @ Vector((0.0, length, 0.0))
    return matrix


def with_floor(report: BodyReport, problem: BodyProblem, goals: Mapping[str, Sequence[Goal]]) -> BodyReport:
    """Return a report in which tips that miss a goal below the floor say so; `goals` are those of its frames."""
    missed = {name: tip.missed for name, tip in report.tips.items() if tip.missed and name in goals}
    floor = problem.floor
    if floor is None or not missed:
        return report
    tips = dict(report.tips)
    for name, frames in missed.items():
        at = np.flatnonzero(np.isin(np.array(report.frames, float), frames))
        late = {name: [goals[name][number] for number in at.tolist()]}  # at other frames of a reach there are none
        for task in body_tasks(problem.body, late, 1.0):
            if (floor.take(at).below(task) > task.tolerance).any():
                tips[name] = tips[name]._replace(below_floor=True)
    return report._replace(tips=tips)
