# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames solved from where the limb's solver starts: the natural one from the pose that somebody made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpy.types import Scene
from mathutils import Quaternion

from ..kinematics import Locked
from ..kinematics.arrays import Numbers
from ..rig.armature import Bones
from ..rig.frames.sampling import Sample
from ..rig.limb import Limb
from ..rig.reference import reference_rotations
from .frame_solver import NATURAL, SolvedFrame, follow


def solve_frames(
    limb: Limb,
    bones: Bones,
    samples: Sequence[Sample],
    scene: Scene,
    begun: bool = False,
    shown: Numbers | None = None,
) -> Iterator[SolvedFrame]:
    """Solve one sample after the other, as follow() does, from the reference if the solver is the natural one.

    The reference is what is `shown` (bones, 4, F), if that is given.
    """
    begins = referred(limb, bones, samples, scene, shown)
    for now, solved in zip(samples, follow(limb, bones, begins, begun), strict=True):
        yield solved._replace(now=now)


def referred(
    limb: Limb, bones: Bones, samples: Sequence[Sample], scene: Scene, shown: Numbers | None = None
) -> Iterator[Sample]:
    """Yield the samples as the solver starts from them.

    For the natural solver that is the reference, in place of the animated rotations of the bones that turn.
    """
    if limb.solver != NATURAL:
        yield from samples
        return
    rotations = reference_rotations(limb, [now.frame for now in samples], scene) if shown is None else shown
    turning = [not isinstance(freedom, Locked) for freedom in bones.freedoms]
    for k, now in enumerate(samples):
        column = k if rotations.shape[-1] > 1 else 0
        channels = [
            each._replace(rotation=Quaternion(rotations[row, :, column])) if turns else each
            for row, (turns, each) in enumerate(zip(turning, now.rig.channels, strict=True))
        ]
        yield now._replace(rig=now.rig._replace(channels=channels))
