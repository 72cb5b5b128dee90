# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of a limb that the character shows by its IK controls: the pose that these have, frame by frame."""

from __future__ import annotations

import numpy as np
from bpy.types import Depsgraph
from mathutils import Quaternion

from ..cooperative import finished
from ..kinematics.arrays import Numbers
from ..kinematics.batch.algebra import signs_along
from ..rig.frames.reader import FrameReader
from ..rig.frames.sampling import Sample
from ..rig.shown_limb import baked_keys_aside, controls_or_none, shown_rotations, shows_ik


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
