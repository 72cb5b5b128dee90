# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a body that was baked, measured on the bones that Blender shows."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from typing import NamedTuple

import numpy as np
from bpy.types import Scene
from mathutils import Matrix, Vector

from ..cooperative import Work
from ..goals import Goal
from ..goals.orientation import missing_angle
from ..kinematics.arrays import Numbers
from ..kinematics.rotation import rotation_angle
from ..rig.body import RigBody
from ..rig.frames.body_samples import BodySamples, body_scene
from ..rig.frames.sampling import go_to

_OFTEN = 32  # frames measured between two looks at what the user does


class BodyTipReport(NamedTuple):
    """A tip at all frames: the largest distance from its goal [Blender units] and angle [rad], and frames it missed.

    Of a held tip the goal is its place in the animation or its contact, and half frames count for the distance as well;
    the angle of the others is 0.0 where none was asked for. Frames with an influence below 1 do not count.
    """

    held: bool
    error: float
    angle: float
    missed: list[float]


class BodyReport(NamedTuple):
    """A bake of a body: each tip, the `keys` written, and how far the centre of mass was `outside` (an estimate)."""

    tips: dict[str, BodyTipReport]
    frames: Sequence[float]
    keys: int = 0
    outside: float | None = None
    warnings: Sequence[str] = ()
    seconds: float = 0.0

    @property
    def reached(self) -> bool:
        """Whether every tip is where it has to be at every frame."""
        return not any(tip.missed for tip in self.tips.values())

    @property
    def text(self) -> str:
        """The report in sentences."""
        lines = []
        for name, tip in self.tips.items():
            if tip.held:
                lines.append(f"'{name}' held, slips by {tip.error:.2g} at most.")
            elif tip.missed:
                lines.append(f"'{name}' misses at {len(tip.missed)} frames, by up to {tip.error:.3g}.")
            else:
                lines.append(f"'{name}' reached, {degrees(tip.angle):.1f} degrees off at most.")
        if self.outside is not None:
            lines.append(f"Center of mass (estimated) outside by {self.outside:.3g} at most.")
        return " ".join([*lines, *self.warnings])


def measure_body(rig: RigBody, samples: BodySamples, held: Numbers, scene: Scene) -> Work[BodyReport]:
    """Measure all tips as evaluated; held ones by the frames (n, 3, 4, F) that they had, at half frames too."""
    frames = samples.frames
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in rig.tips}
    halves: dict[str, float] = dict.fromkeys(rig.held, 0.0)
    every = [frames[0] + 0.5 * k for k in range(2 * len(frames) - 1)]
    for begin in range(0, len(every), _OFTEN):
        with body_scene(rig, scene) as staged:
            for number, frame in enumerate(every[begin : begin + _OFTEN], begin):
                bones = rig.armature.evaluated_get(go_to(staged, frame)).pose.bones
                at, half = divmod(number, 2)
                for name in rig.held:
                    wanted = tip_frame(rig, held[..., [at, at + half]].mean(-1), name)
                    away = (bones[name].tail - wanted.translation).length
                    if min(samples.influence[name][[at, at + half]]) < 1.0:
                        continue
                    halves[name] = max(halves[name], away)
                    if not half:
                        turned = rotation_angle(bones[name].matrix.to_quaternion(), wanted.to_quaternion())
                        found[name].append((away, turned))
                if not half:
                    for limb in rig.limbs:
                        goal = samples.goals[limb.tip][at]
                        if samples.influence[limb.tip][at] < 1.0:
                            continue
                        found[limb.tip].append(tip_missing(goal, bones[limb.tip].tail, bones[limb.tip].matrix))
        yield
    tips = {}
    for name in rig.held:
        error, angle = np.array(found[name] or [(0.0, 0.0)]).max(0)
        tips[name] = BodyTipReport(True, max(float(error), halves[name]), float(angle), [])
    for limb in rig.limbs:
        off = np.array(found[limb.tip] or np.empty((0, 2)))
        due = np.flatnonzero(samples.influence[limb.tip] == 1.0)
        tolerance = [samples.goals[limb.tip][at].tolerance for at in due]
        late = (off[:, 0] > tolerance) | (off[:, 1] > limb.angle_tolerance)
        missed = [frames[at] for at in due[late]]
        off = off if len(off) else np.zeros((1, 2))
        tips[limb.tip] = BodyTipReport(False, float(off[:, 0].max()), float(off[:, 1].max()), missed)
    return BodyReport(tips, frames)


def tip_missing(goal: Goal, place: Vector, matrix: Matrix) -> tuple[float, float]:
    """Distance of a tip from its goal, and the angle that is missing."""
    angle = missing_angle(goal.soft, matrix.to_quaternion())
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
