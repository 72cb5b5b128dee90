# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of a whole body: the frame its hips hang in, the goals of its limbs, and its animation made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object, Scene
from mathutils import Matrix

from ...cooperative import Work
from ...errors import RigError
from ...goals import Goal
from ...kinematics import Pose
from ...kinematics.arrays import Numbers
from ..armature import Bones, Channels, base_of, channels_of
from ..body import RigBody
from ..goal import GoalReader
from ..hips import hips_locations, is_moved_by_hand
from ..limb import Limb
from ..reference import reference_rotations
from ..rotation import rotation_of
from .sampling import go_to, sample, temporary_scene

_UNIT = 1e-4  # deviation of the frame above the hips from a rotation that is no scale
_OFTEN = 32  # frames read between two looks at what the user does


class BodySamples(NamedTuple):
    """F frames of a body, armature space.

    `worlds` and `bases` (4, 4, F) are the matrices of the armature (world space) and of the parent of the hips;
    `channels` those of all bones at the first frame, `rotations` (n, 4, F) and `locations` (3, F), of the hips, the
    animation made by hand, `goals` those of each limb, `influence` (F) those of each tip, from 0 to 1, by its name.
    """

    frames: Sequence[float]
    worlds: Numbers
    bases: Numbers
    channels: list[Channels]
    rotations: Numbers
    locations: Numbers
    goals: dict[str, list[Goal]]
    influence: dict[str, Numbers]


@contextmanager
def body_scene(rig: RigBody, scene: Scene) -> Iterator[Scene]:
    """Create a scene with only the armature and the targets of all limbs; it is removed afterwards."""
    # Without a limb that reaches there are no targets, but a scene is made for a limb.
    first, *others = rig.limbs or [Limb.from_tip(rig.armature, rig.held[0], rig.armature)]
    with temporary_scene(first, scene) as staged:
        for limb in others:
            for ob in (*(target for target, _ in limb.targets), *limb.obstacle_objects):
                if ob.name not in staged.collection.objects:
                    staged.collection.objects.link(ob)
        yield staged


def read_body(rig: RigBody, scene: Scene, frames: Sequence[float]) -> Work[BodySamples]:
    """Read a body at frames of the timeline, without stepping the user's scene.

    Raises RigError for a bone above the hips that is scaled, and what sample() raises.
    """
    readers = [_LimbGoals(limb) for limb in rig.limbs]
    goals: dict[str, list[Goal]] = {limb.tip: [] for limb in rig.limbs}
    worlds, bases = [], []
    influence: dict[str, list[float]] = {tip: [] for tip in rig.tips}
    channels: list[Channels] = []
    for begin in range(0, len(frames), _OFTEN):
        with body_scene(rig, scene) as staged:
            for frame in frames[begin : begin + _OFTEN]:
                depsgraph = go_to(staged, frame)
                evaluated = rig.armature.evaluated_get(depsgraph)
                channels = channels or channels_of(evaluated, rig.bones)
                bases.append(_unscaled(base_of(evaluated, rig.hips), rig.hips))
                worlds.append(evaluated.matrix_world.copy())
                for reader in readers:
                    goals[reader.limb.tip].append(reader.at(depsgraph, frame))
                _read_influence(influence, readers, evaluated)
        yield
    rotations, locations = _by_hand(rig, frames, scene)
    shares = {tip: np.array(each) for tip, each in influence.items()}
    return BodySamples(frames, _stacked(worlds), _stacked(bases), channels, rotations, locations, goals, shares)


def body_now(rig: RigBody, depsgraph: Depsgraph, frame: float, scene: Scene) -> BodySamples:
    """Read a body as it is shown at the present frame. Raises what read_body() does."""
    evaluated = rig.armature.evaluated_get(depsgraph)
    readers = [_LimbGoals(limb) for limb in rig.limbs]
    goals = {reader.limb.tip: [reader.at(depsgraph, frame)] for reader in readers}
    influence: dict[str, list[float]] = {tip: [] for tip in rig.tips}
    _read_influence(influence, readers, evaluated)
    base = _unscaled(base_of(evaluated, rig.hips), rig.hips)
    return BodySamples(
        [frame],
        _stacked([evaluated.matrix_world.copy()]),
        _stacked([base]),
        channels_of(evaluated, rig.bones),
        *_by_hand(rig, [frame], scene),
        goals,
        {tip: np.array(each) for tip, each in influence.items()},
    )


class _LimbGoals:
    """Reads the goals of a limb frame by frame, in terms of its pose at the first of them."""

    def __init__(self, limb: Limb) -> None:
        self.limb, self._reader = limb, GoalReader()
        self._start: Pose | None = None
        self.influence = 1.0  # at the frame read last

    def at(self, depsgraph: Depsgraph, frame: float) -> Goal:
        limb, now = self.limb, sample(self.limb, depsgraph, frame)
        if self._start is None:
            self._start = Bones(limb.armature, limb.bones, limb.solved).pose(now.rig.base, now.rig.channels)
        self.influence = now.limb.influence
        return self._reader.at(now, self._start)


def _read_influence(into: dict[str, list[float]], readers: Sequence[_LimbGoals], armature: Object) -> None:
    """Add the influence of each tip at a frame: of limbs that reach as they were read, of held tips as stored."""
    reached = {reader.limb.tip: reader.influence for reader in readers}
    for tip, shares in into.items():
        stored = getattr(armature.pose.bones[tip], "ik_triangulation", None)
        shares.append(reached.get(tip, stored.influence if stored else 1.0))


def _by_hand(rig: RigBody, frames: Sequence[float], scene: Scene) -> tuple[Numbers, Numbers]:
    """Return rotations (n, 4, F) of the bones and locations (3, F) of the hips as they were made by hand."""
    locations = hips_locations(rig.armature, rig.hips, frames, scene)
    if is_moved_by_hand(rig.armature, rig.hips):  # what is shown was posed by hand, as one pose
        rotations = np.array([rotation_of(bone)[:] for bone in rig.pose_bones], float)[:, :, None]
    else:
        rotations = reference_rotations(rig, frames, scene)
    return np.broadcast_to(rotations, (*rotations.shape[:2], len(frames))), locations


def _unscaled(base: Matrix, hips: str) -> Matrix:
    axes = np.array(base.to_3x3())
    if np.abs(axes @ axes.T - np.eye(3)).max() > _UNIT:
        raise RigError(f"A bone above the hips '{hips}' is scaled. Give it a scale of 1.")
    return base


def _stacked(matrices: Sequence[Matrix]) -> Numbers:
    return np.ascontiguousarray(np.moveaxis(np.array(matrices, float), 0, -1))
