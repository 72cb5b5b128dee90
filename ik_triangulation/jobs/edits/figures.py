# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures: the ends of a character's bones at many frames, read from F-curves, else in a temporary scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from bpy.types import Depsgraph, Object, Scene, ViewLayer

from ...cooperative import Work
from ...kinematics.arrays import Array
from ...rig.by_hand.keys import counts
from ...rig.frames.keyed_motion import read_keyed_bones
from ...rig.frames.reader import Evaluator
from ...rig.keyframes import curves_of, generated, get_keys
from ...rig.limb import Limb
from ...rig.timeline import Clock
from .trail import keyed_frames

Figures = Mapping[int, Array]  # heads and tails (2, bones, 3) of the bones at frames, world space, single precision

_AGREE = 1e-4  # of the size of the figure: difference that single precision and bones without length explain


def figure_bones(armature: Object) -> list[str]:
    """Return the bones that a figure is drawn from: those that deform a mesh, all of them where none does."""
    bones = armature.data.bones
    return [bone.name for bone in bones if bone.use_deform] or bones.keys()


def read_figures(
    armature: Object,
    names: Sequence[str],
    frames: Sequence[int],
    scene: Scene,
    view_layer: ViewLayer,
    seconds: float,
) -> Work[Figures | None]:
    """Read bones of an armature at whole frames; None if only the user's scene, stepped, shows their motion.

    Gives way after about so many seconds.
    """
    if not names:
        return {}
    reading = read_keyed_bones(armature, names, scene, frames)
    until = perf_counter() + seconds
    while True:
        try:
            next(reading)
        except StopIteration as end:
            found = end.value
            break
        if perf_counter() > until:
            yield
            until = perf_counter() + seconds
    if found is not None:
        lengths = np.array([armature.data.bones[name].length for name in names])
        by_frame, now = (_ends(matrices, lengths) for matrices in found)
        shown = _shown(armature.evaluated_get(view_layer.depsgraph), names)
        if np.abs(now[0] - shown).max() <= _AGREE * max(float(np.ptp(shown, axis=1).max()), 1e-9):
            return dict(zip(frames, by_frame.astype(np.float32), strict=True))
    evaluator = Evaluator(Limb.from_bones(armature, names[:1], armature), scene, view_layer, frames)
    if evaluator.stepped:
        return None

    def look(depsgraph: Depsgraph, _: float) -> Array:
        return _shown(armature.evaluated_get(depsgraph), names).astype(np.float32)

    return (yield from evaluator.evaluate(frames, look, seconds))


def _ends(matrices: Array, lengths: Array) -> Array:
    """Return heads and tails (F, 2, bones, 3) of bones with these matrices (4, 4, bones, F) and lengths."""
    heads = matrices[:3, 3]
    ends: Array = np.stack((heads, heads + matrices[:3, 1] * lengths[:, None])).transpose(3, 0, 2, 1)
    return ends


def _shown(evaluated: Object, names: Sequence[str]) -> Array:
    """Return heads and tails (2, bones, 3) of bones of an evaluated armature, world space."""
    bones, ends = evaluated.pose.bones, []
    rows = [bones.find(name) for name in names]
    world = np.array(evaluated.matrix_world)
    for prop in ("head", "tail"):
        flat = np.empty(3 * len(bones), np.float32)
        bones.foreach_get(prop, flat)
        ends.append(flat.reshape(-1, 3)[rows] @ world[:3, :3].T + world[:3, 3])
    return np.array(ends)


def pose_frames(armature: Object, tips: Sequence[str], frames: Sequence[int], scene: Scene) -> list[int]:
    """Return the whole frames among `frames` at which a character was keyed by hand: targets of its tips, or bones.

    Where a bake has made all keys of an armature without targets, these count.
    """
    clock, bones = Clock(scene, armature), armature.pose.bones
    found = {round(frame) for tip in tips for frame in keyed_frames(bones[tip], frames, scene)}
    if not found:
        curves = [curve for curve in curves_of(armature) if counts(curve)]
        keys = [get_keys(curve, ["co"])["co"][:, 0] for curve in curves]
        ours = [times[~generated(curve)] for curve, times in zip(curves, keys, strict=True)]
        by_hand = np.unique(np.concatenate(ours)) if ours else np.empty(0)
        times = by_hand if len(by_hand) or not keys else np.unique(np.concatenate(keys))
        found = {round(clock.frame(time)) for time in times.tolist()}
    return sorted(found & {*frames})
