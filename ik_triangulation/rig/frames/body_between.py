# SPDX-License-Identifier: GPL-3.0-or-later
"""A body between the frames that are baked: its animation made by hand, by which tips are held there too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import Depsgraph, Scene
from mathutils import Matrix

from ...cooperative import Work
from ..armature import base_of
from ..body import RigBody
from .body_frames import Animation
from .body_samples import (
    AT_ONCE,
    BodySamples,
    body_by_hand,
    check_unscaled,
    held_influence,
    read_animation,
    unscaled_base,
    view_layer_of,
)
from .keyed_reading import read_keyed_body
from .reader import Evaluator


def read_between(
    rig: RigBody,
    samples: BodySamples,
    frames: Sequence[float],
    scene: Scene,
    without: tuple[float, float] | None = None,
) -> Work[BodySamples]:
    """Return a body at other frames of the timeline than those of `samples`, without goals.

    Keys that correct a bake between the two times (in the action) in `without` are left out. Blender evaluates the
    frames only where the armature, something above the hips or the influence of held tips moves, and where the samples
    have what it shows. `influence` is that of held tips.
    """
    count, held = len(frames), {tip: samples.influence[tip] for tip in rig.held}
    still = not any((each != each[..., :1]).any() for each in (samples.worlds, samples.bases, *held.values()))
    if still:
        worlds, bases = (np.repeat(each[..., :1], count, -1) for each in (samples.worlds, samples.bases))
        influence = {tip: np.full(count, share[0]) for tip, share in held.items()}
    elif samples.keyed and (keyed := read_keyed_body(rig, scene, frames)) is not None:
        worlds, bases = (np.broadcast_to(each, (4, 4, count)).copy() for each in (keyed.worlds, keyed.bases))
        check_unscaled(bases, rig.hips)
        influence = {tip: np.full(count, share[0]) for tip, share in held.items()}
    else:
        evaluator = Evaluator(rig, scene, view_layer_of(scene), frames)

        def look(depsgraph: Depsgraph, _: float) -> tuple[Matrix, Matrix, list[float]]:
            evaluated = rig.armature.evaluated_get(depsgraph)
            base = unscaled_base(base_of(evaluated, rig.hips), rig.hips)
            return evaluated.matrix_world.copy(), base, [held_influence(evaluated, tip) for tip in held]

        seen = yield from evaluator.evaluate(frames, look, AT_ONCE)
        worlds, bases, found = (
            np.ascontiguousarray(np.moveaxis(np.array(each, float), 0, -1))
            for each in zip(*(seen[frame] for frame in frames), strict=True)
        )
        influence = dict(zip(held, found, strict=True))
    if samples.shown is None:
        animation = Animation(*body_by_hand(rig, frames, scene, without))
    else:
        animation = yield from read_animation(rig, scene, frames, bases, without)
    yield
    there = samples.animated(animation)
    return there._replace(frames=frames, worlds=worlds, bases=bases, goals={}, influence=influence)
