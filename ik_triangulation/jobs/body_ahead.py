# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a body whose targets are animated, solved at once while it is live: they are what a bake keys."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bpy.types import Scene, ViewLayer

from ..cooperative import finished
from ..goals import Anywhere, Goal
from ..kinematics.arrays import Numbers
from ..kinematics.batch import States
from ..rig.body import RigBody
from ..rig.frames.body_samples import BodySamples
from ..rig.frames.keyed_reading import read_keyed
from ..rig.frames.samples import Samples
from ..rig.goal import GoalReader
from ..rig.keyframes import curves_of
from ..rig.limb import saved_range
from ..rig.waiting import is_waiting
from .among_others import is_at, is_moving
from .body_problem import BodyProblem
from .live_goals import BodyNow, LiveGoals

_AROUND = 120  # frames on either side at most


class AheadOfBake(NamedTuple):
    """The poses of a body at `frames`, and what they were solved from, in a form that can be compared."""

    frames: range
    source: tuple[Any, ...]
    states: States

    def at(self, frame: float) -> States:
        """The pose at a frame."""
        return self.states.take([self.frames.index(int(frame))]).copy()


def solve_ahead(
    rig: RigBody,
    tip: str,
    goals: LiveGoals,
    now: BodyNow,
    samples: BodySamples,
    known: AheadOfBake | None,
    scene: Scene,
    view_layer: ViewLayer,
) -> AheadOfBake | None:
    """Solve all frames of the range of the limb at `tip` as a bake would, unless they are `known`.

    `samples` are those of the present frame. None where a target is off its animation, where F-curves do not tell all
    of the motion or nothing moves, and outside the range.
    """
    stored = rig.armature.pose.bones[tip].ik_triangulation
    first, last, step = saved_range(stored, scene, scene.use_preview_range)
    frame = int(now.frame)
    if rig.contacts or _fades(rig, samples):
        return None
    if step != 1 or frame != now.frame or not first <= frame <= last or first == last or _moves_above(rig):
        return None
    frames = range(max(first, frame - _AROUND), min(last, frame + _AROUND) + 1)
    if known is not None and frame in known.frames and known.frames[0] >= first and known.frames[-1] <= last:
        frames = known.frames
    read = [read_keyed(limb, scene, view_layer, frames, simple=True) for limb in rig.limbs]
    shots = [each for each in read if each is not None]
    if len(shots) < len(read) or not any(is_moving(each) for each in shots):
        return None
    at = frames.index(frame)
    if not all(is_at(each, at, seen) for each, seen in zip(shots, now.samples, strict=True)):
        return None
    source = rig, *(_bytes(each) for each in shots), samples.rotations.tobytes(), samples.locations.tobytes()
    if known is not None and known.frames == frames and known.source == source:
        return known
    problem = BodyProblem(rig, _of_all(rig, goals, samples, shots, frames))
    states, _ = finished(problem.path(scene))
    return AheadOfBake(frames, source, states)


def _of_all(rig: RigBody, goals: LiveGoals, now: BodySamples, shots: list[Samples], frames: range) -> BodySamples:
    """The samples of all frames from those of the present one and of each limb."""
    found = {}
    for limb, start, shot in zip(rig.limbs, goals.starts, shots, strict=True):
        reader, waits = GoalReader(), is_waiting(rig.armature.pose.bones[limb.tip])
        found[limb.tip] = [Goal(Anywhere()) if waits else reader.at(shot[k], start) for k in range(len(frames))]
    return now._replace(
        frames=frames,
        worlds=_of_frames(shots[0].worlds, len(frames)),
        bases=_of_frames(now.bases, len(frames)),
        rotations=_of_frames(now.rotations, len(frames)),
        locations=_of_frames(now.locations, len(frames)),
        shown=None if now.shown is None else _of_frames(now.shown, len(frames)),
        goals=found,
        influence={tip: _of_frames(share, len(frames)) for tip, share in now.influence.items()},
    )


def _of_frames(values: Numbers, count: int) -> Numbers:
    return np.broadcast_to(values, (*values.shape[:-1], count))


def _bytes(shot: Samples) -> tuple[bytes, ...]:
    return tuple(each.tobytes() for each in (shot.worlds, shot.targets, shot.poles) if each is not None)


def _fades(rig: RigBody, samples: BodySamples) -> bool:
    """Tell whether tips have an influence below 1, or one that is animated."""
    if any((share < 1.0).any() for share in samples.influence.values()):
        return True
    return any(curve.data_path.endswith("ik_triangulation.influence") for curve in curves_of(rig.armature))


def _moves_above(rig: RigBody) -> bool:
    """Tell whether a bone above the hips is animated."""
    above = tuple(bone.path_from_id() for bone in rig.armature.pose.bones[rig.hips].parent_recursive)
    return bool(above) and any(curve.data_path.startswith(above) for curve in curves_of(rig.armature))
