# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames solved from the reference of a limb: the pose made by hand, of its bones or of its IK controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from bpy.types import Depsgraph, Scene
from mathutils import Quaternion

from ..cooperative import finished
from ..kinematics import Locked
from ..kinematics.arrays import Numbers
from ..kinematics.batch.algebra import signs_along
from ..rig.armature import Bones
from ..rig.frames.reader import FrameReader
from ..rig.frames.sampling import Sample
from ..rig.limb import Limb
from ..rig.reference import reference_rotations
from ..rig.shown_limb import baked_keys_aside, controls_or_none, shown_rotations, shows_ik
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


def shown_reference(reader: FrameReader) -> Numbers | None:
    """Return the rotations (bones, 4, F) that the bones of a limb have in the pose of its IK controls, by hand.

    None if these do not animate what the character shows. What bakes have made of the controls does not count.
    """
    limb, armature = reader.limb, reader.limb.armature
    controls = shows_ik(limb)
    if controls is None:
        return None
    with baked_keys_aside(armature, controls, reader.view_layer):
        looking = reader.evaluate(
            reader.frames, lambda depsgraph, _: shown_rotations(limb, controls, armature.evaluated_get(depsgraph))
        )
        found = finished(looking)
    rotations = np.moveaxis(np.array([found[frame] for frame in reader.frames], float), 0, -1)
    return np.asarray(rotations * signs_along(rotations)[:, None])


def begun_as_shown(now: Sample, reader: FrameReader) -> Sample:
    """Return a sample whose rotations are those that the character shows, if that follows the limb's IK controls.

    Only for limbs whose keys go to these, or have the character follow the limb.
    """
    limb, armature = reader.limb, reader.limb.armature
    controls = controls_or_none(limb) if limb.keys_on != "FK" else None
    if controls is None:
        return now

    def look(depsgraph: Depsgraph, _: float) -> list[Quaternion] | None:
        evaluated = armature.evaluated_get(depsgraph)
        return shown_rotations(limb, controls, evaluated) if controls.is_shown(evaluated) else None

    rotations = finished(reader.evaluate([now.frame], look))[now.frame]
    if rotations is None:
        return now
    pairs = zip(now.rig.channels, rotations, strict=True)
    channels = [each._replace(rotation=rotation) for each, rotation in pairs]
    return now._replace(rig=now.rig._replace(channels=channels))
