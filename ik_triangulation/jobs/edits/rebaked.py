# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a limb or body as a bake would make them, before an edit and after it: so the edit agrees with a bake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from bpy.types import Scene, ViewLayer

from ...cooperative import Work
from ...kinematics.arrays import Numbers
from ...motion.edited_path import carried_over, end_fades, without_ends
from ...rig.armature import Bones
from ...rig.body import RigBody
from ...rig.frames.reader import FrameReader
from ...rig.limb import Limb
from ...rig.timeline import frames_from
from ..shots.natural_shot import shown_reference, solve_naturally
from ..shots.shot import SolvedShot, arrays_of
from ..solved_body import read_to_solve

_AROUND = 12  # frames of a limb on both sides of those edited: farther away they hardly matter
_MOST = 250  # frames of a body that are solved as a whole; of a longer bake those around the edited ones,
_FAR = 60  # so many on both sides


class BakedPoses(NamedTuple):
    """Rotations (n, 4, F) of joints by their names, and locations (3, F) of hips, at frames as a bake poses them."""

    frames: Sequence[float]
    joints: Sequence[str]
    rotations: Numbers
    locations: Numbers | None = None

    def at(self, frames: Sequence[float]) -> BakedPoses:
        """Return the poses at other frames, between those known."""
        at = np.interp(frames, np.array(self.frames, float), np.arange(len(self.frames)))
        below = np.clip(np.floor(at).astype(int), 0, max(len(self.frames) - 2, 0))
        above, part = np.minimum(below + 1, len(self.frames) - 1), at - below
        one, other = self.rotations[..., below], self.rotations[..., above]
        near = np.where((one * other).sum(1, keepdims=True) < 0.0, -1.0, 1.0)
        mixed = one * (1.0 - part) + other * near * part
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        places = self.locations
        if places is not None:
            places = places[:, below] * (1.0 - part) + places[:, above] * part
        return BakedPoses(frames, self.joints, mixed, places)


def baked_poses(
    of: Limb | RigBody,
    span: tuple[float, float, float],
    frames: Sequence[float],
    smoothing: float,
    scene: Scene,
    view_layer: ViewLayer,
) -> Work[BakedPoses | None]:
    """Solve frames of a bake over a span as that bake does, and others around as far as these matter to them.

    None of a limb whose frames cannot be solved together.
    """
    first, last, step = span
    if isinstance(of, RigBody):
        around = _frames_around(span, frames, last - first if (last - first) / step <= _MOST else _FAR * step)
        problem = yield from read_to_solve(of, around, scene, view_layer)
        states = (yield from problem.path(scene, smoothing)).states
        names = [joint.name for joint in problem.body.joints]
        return BakedPoses(around, names, problem.rotations(states), problem.locations(states))
    around = _frames_around(span, frames, _AROUND * step)
    reader = FrameReader(of, scene, view_layer, around)
    samples_of_limb = yield from reader.read()
    bones = Bones(of.armature, of.bones, of.solved)
    shown = shown_reference(reader)
    shot = yield from solve_naturally(of, bones, samples_of_limb, scene, part_from=int(around[0]), shown=shown)
    if not isinstance(shot, SolvedShot):
        return None
    arrays = arrays_of(shot)
    rotations = np.array([np.asarray(arrays.rotations(name)).T for name in arrays.joints])
    return BakedPoses(around, arrays.joints, rotations)


def _frames_around(span: tuple[float, float, float], frames: Sequence[float], away: float) -> Sequence[float]:
    """Return the frames of a bake from so many before the first of some to as many after their last."""
    first, last, step = span
    before = min(np.floor((frames[0] - first) / step), np.ceil(away / step))
    after = min(np.floor((last - frames[-1]) / step + 1e-6), np.ceil(away / step))
    if step == int(step):
        return range(int(frames[0] - before * step), int(frames[-1] + after * step) + 1, int(step))
    return frames_from(int(first), int(last), step)


class BakeChange(NamedTuple):
    """The change of an edit at a frame: poses as a bake made them before, and as it makes them after."""

    before: BakedPoses
    after: BakedPoses
    at: float

    def rotations(
        self, names: Sequence[str], shown: Numbers, frames: Sequence[float], like: Sequence[float]
    ) -> Numbers:
        """Return the rotations (n, 4, F) of bones that are `shown` at the frames `like`, as the edit changes them."""
        known = [name for name in self.before.joints if name in self.after.joints and name in names]
        rows = [list(names).index(name) for name in known]
        one, other = (
            poses.at(at).rotations[[list(poses.joints).index(name) for name in known]]
            for poses, at in ((self.before, like), (self.after, frames))
        )
        changed = shown.copy()
        changed[rows] = carried_over(shown[rows], one, other, self._fades(frames))
        return changed

    def locations(self, shown: Numbers, frames: Sequence[float], like: Sequence[float]) -> Numbers:
        """Return the locations (3, F) of hips that are `shown` at the frames `like`, as the edit changes them."""
        one, other = self.before.at(like).locations, self.after.at(frames).locations
        if one is None or other is None:
            return shown
        moved: Numbers = shown + without_ends(other - one, self._fades(frames))
        return moved

    def _fades(self, frames: Sequence[float]) -> Numbers:
        known = self.after.frames
        bound = frames[0] > known[0], frames[-1] < known[-1]
        return end_fades(np.array(frames, float), self.at, *bound)
