# SPDX-License-Identifier: GPL-3.0-or-later
"""A body between the frames that are baked: its animation made by hand, by which tips are held there too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import Scene
from mathutils import Matrix

from ...cooperative import Work
from ..armature import base_of
from ..body import RigBody
from .body_samples import BodySamples, body_by_hand, body_scene, held_influence, unscaled_base
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
    frames only where the armature, something above the hips or the influence of held tips moves. `influence` is that of
    held tips.
    """
    count, held = len(frames), {tip: samples.influence[tip] for tip in rig.held}
    still = not any((each != each[..., :1]).any() for each in (samples.worlds, samples.bases, *held.values()))
    if still:
        worlds, bases = (np.repeat(each[..., :1], count, -1) for each in (samples.worlds, samples.bases))
        influence = {tip: np.full(count, share[0]) for tip, share in held.items()}
    else:
        every: list[tuple[Matrix, Matrix, list[float]]] = []
        for begin in range(0, count, _OFTEN):
            with body_scene(rig, scene) as staged:
                for frame in frames[begin : begin + _OFTEN]:
                    evaluated = rig.armature.evaluated_get(go_to(staged, frame))
                    base = unscaled_base(base_of(evaluated, rig.hips), rig.hips)
                    shares = [held_influence(evaluated, tip) for tip in held]
                    every.append((evaluated.matrix_world.copy(), base, shares))
            yield
        worlds, bases, found = (
            np.ascontiguousarray(np.moveaxis(np.array(each, float), 0, -1)) for each in zip(*every, strict=True)
        )
        influence = dict(zip(held, found, strict=True))
    rotations, locations = body_by_hand(rig, frames, scene, without)
    yield
    return samples._replace(
        frames=frames,
        worlds=worlds,
        bases=bases,
        rotations=rotations,
        locations=locations,
        goals={},
        influence=influence,
    )
