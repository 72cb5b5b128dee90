# SPDX-License-Identifier: GPL-3.0-or-later
"""A body between the frames that are baked: its animation made by hand, by which tips are held there too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import Scene

from ...cooperative import Work
from ..armature import base_of
from ..body import RigBody
from .body_samples import BodySamples, body_by_hand, body_scene, unscaled_base
from .sampling import go_to

_OFTEN = 32  # frames read between two looks at what the user does


def read_between(
    rig: RigBody,
    samples: BodySamples,
    frames: Sequence[float],
    scene: Scene,
    without: tuple[float, float] | None = None,
) -> Work[BodySamples]:
    """Return a body at other frames of the timeline than those of `samples`, without goals.

    Keys that correct a bake between the two times (in the action) in `without` are left out. Blender evaluates the
    frames only where something above the hips moves.
    """
    moves = bool((samples.bases != samples.bases[..., :1]).any())
    bases = samples.bases[..., :1]
    if moves:
        found = []
        for begin in range(0, len(frames), _OFTEN):
            with body_scene(rig, scene) as staged:
                for frame in frames[begin : begin + _OFTEN]:
                    evaluated = rig.armature.evaluated_get(go_to(staged, frame))
                    found.append(unscaled_base(base_of(evaluated, rig.hips), rig.hips))
            yield
        bases = np.moveaxis(np.array(found, float), 0, -1)
    rotations, locations = body_by_hand(rig, frames, scene, without)
    yield
    bases = np.ascontiguousarray(np.broadcast_to(bases, (4, 4, len(frames))))
    worlds = np.broadcast_to(samples.worlds[..., :1], (4, 4, len(frames)))
    return samples._replace(
        frames=frames, worlds=worlds, bases=bases, rotations=rotations, locations=locations, goals={}
    )
