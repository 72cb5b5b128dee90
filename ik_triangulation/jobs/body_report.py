# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a body that was solved, measured on the bones that Blender shows, and its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from bpy.types import Scene, bpy_prop_collection
from mathutils import Matrix, Vector

from ..cooperative import Work
from ..goals import Anywhere, Goal
from ..goals.orientation import missing_angle
from ..kinematics.arrays import Numbers
from ..kinematics.rotation import rotation_angle
from ..rig.body import RigBody
from ..rig.frames.body_samples import BodySamples, body_scene
from ..rig.frames.sampling import go_to
from ..rig.units import angle_text, distance_text, is_seen, length_text
from .report import NotFollowing

if TYPE_CHECKING:
    from .body_bake import BodyProblem

_OFTEN = 32  # frames measured between two looks at what the user does


class BodyTipReport(NamedTuple):
    """A tip at all frames: the largest distance from its goal [Blender units] and angle [rad], and frames it missed.

    Of a held tip the goal is its place and rotation in the animation or its contact, and half frames count as well; the
    angle of the others is 0.0 where none was asked for. Frames with an influence below 1 do not count. `aim` is what a
    tip does: REACH, LOOK, or FOLLOW for one whose target waits, so that it goes along with the body.
    """

    held: bool
    error: float
    angle: float
    missed: list[float]
    aim: str = "REACH"


class BodyReport(NamedTuple):
    """A bake of a body: each tip, the `keys` written, and how far the centre of mass was `outside` (an estimate).

    A full bake would have had `full_keys`; if that is more, keys were dropped. Bones that are meant to follow the body
    and do not are in `not_following`.
    """

    tips: dict[str, BodyTipReport]
    frames: Sequence[float]
    keys: int = 0
    outside: float | None = None
    warnings: Sequence[str] = ()
    seconds: float = 0.0
    full_keys: int = 0
    not_following: Sequence[NotFollowing] = ()

    @property
    def reached(self) -> bool:
        """Whether every tip is where it has to be at every frame."""
        return not any(tip.missed for tip in self.tips.values())

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
    missed = {frame for tip in report.tips.values() for frame in tip.missed}
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
    if tip.held:
        return f"{name} held, slip {distance}"
    if tip.aim == "FOLLOW":
        return f"{name} follows the body"
    if tip.aim == "LOOK":
        off = angle_text(tip.angle)
        return f"{name} misses the look by {off}" if tip.missed else f"{name} looks, {off} off"
    turned = f", {angle_text(tip.angle)} off its orientation" if is_seen(tip.angle) else ""
    return f"{name} {'missed' if tip.missed else 'reached'}, distance {distance}{turned}"


class HeldPlaces(NamedTuple):
    """The frames at which a body is measured, with the frames (n, 3, 4, S) of its bones as held at each.

    `influence` (S) is that of each tip, by its name.
    """

    frames: Sequence[float]
    bones: Numbers
    influence: Mapping[str, Numbers]

    @classmethod
    def of(cls, problem: BodyProblem) -> HeldPlaces:
        """Those of a body at the frames where it was read."""
        return cls(problem.samples.frames, problem.held_frames, problem.samples.influence)


def measure_body(
    rig: RigBody,
    samples: BodySamples,
    held: HeldPlaces,
    scene: Scene,
    allowed: Mapping[str, float] | None = None,
) -> Work[BodyReport]:
    """Measure all tips as evaluated: held ones at all frames in `held`, the others at those of the samples.

    What fewer keys are `allowed` to move a tip that reaches, by its name [Blender units], is no miss.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in rig.tips}
    numbers = {frame: number for number, frame in enumerate(samples.frames)}
    for begin in range(0, len(held.frames), _OFTEN):
        with body_scene(rig, scene) as staged:
            for at, frame in enumerate(held.frames[begin : begin + _OFTEN], begin):
                bones = rig.armature.evaluated_get(go_to(staged, frame)).pose.bones
                for name in rig.held:
                    if held.influence[name][at] < 1.0:
                        continue
                    wanted = tip_frame(rig, held.bones[..., at], name)
                    turned = rotation_angle(bones[name].matrix.to_quaternion(), wanted.to_quaternion())
                    found[name].append(((bones[name].tail - wanted.translation).length, turned))
                for limb in rig.limbs if frame in numbers else ():
                    number = numbers[frame]
                    if samples.influence[limb.tip][number] == 1.0:
                        goal = samples.goals[limb.tip][number]
                        found[limb.tip].append(tip_missing(goal, bones, limb.tip))
        yield
    tips = {}
    for name in rig.held:
        error, angle = np.array(found[name] or [(0.0, 0.0)]).max(0)
        tips[name] = BodyTipReport(True, float(error), float(angle), [])
    for limb in rig.limbs:
        off = np.array(found[limb.tip] or np.empty((0, 2)))
        due = np.flatnonzero(samples.influence[limb.tip] == 1.0)
        more = (allowed or {}).get(limb.tip, 0.0)
        tolerance = [samples.goals[limb.tip][at].tolerance + more for at in due]
        late = (off[:, 0] > tolerance) | (off[:, 1] > limb.angle_tolerance)
        missed = [samples.frames[at] for at in due[late]]
        off = off if len(off) else np.zeros((1, 2))
        aim = aim_of(samples.goals[limb.tip][0])
        tips[limb.tip] = BodyTipReport(False, float(off[:, 0].max()), float(off[:, 1].max()), missed, aim)
    return BodyReport(tips, samples.frames)


def aim_of(goal: Goal) -> str:
    """Return what a tip with this goal does, as BodyTipReport has it."""
    return "REACH" if not isinstance(goal.target, Anywhere) else "LOOK" if goal.soft else "FOLLOW"


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
