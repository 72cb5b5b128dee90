# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a live body's limbs, read anew at each move while nobody else changes the rig."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bpy.types import ID, Action, Depsgraph, Scene
from mathutils import Matrix

from ..goals import Anywhere, Goal
from ..kinematics import Pose
from ..rig.armature import Bones, base_of
from ..rig.body import RigBody
from ..rig.frames.sampling import Sample, goals_at, sample
from ..rig.goal import GoalReader
from ..rig.waiting import is_waiting
from .live_state import Surroundings, surroundings_of
from .still_rig import StillRig


class BodyNow(NamedTuple):
    """State that a body follows at a frame: matrices (4x4) of the armature and above its hips, and samples of limbs."""

    frame: float
    world: Matrix
    base: Matrix
    samples: Sequence[Sample]

    def surroundings(self, depsgraph: Depsgraph) -> Surroundings:
        """All that is followed, in a form that can be compared; the body itself moves where its limbs begin.

        A target that waits is not followed.
        """
        still = Matrix.Identity(4)
        followed = [each for each in self.samples if not is_waiting(each.limb.armature.pose.bones[each.limb.tip])]
        own = [surroundings_of(each._replace(rig=each.rig._replace(base=still)), depsgraph) for each in followed]
        return self.world.freeze(), self.base.freeze(), *own


class LiveGoals:
    """The goals of a body as it was when this was made, at other places of its targets."""

    def __init__(self, rig: RigBody, depsgraph: Depsgraph, frame: float) -> None:
        """Raises what sample() raises."""
        self.rig = rig
        shown = rig.armature.evaluated_get(depsgraph)
        samples = [sample(limb, depsgraph, frame) for limb in rig.limbs]
        self.first = BodyNow(frame, shown.matrix_world.copy(), base_of(shown, rig.hips).copy(), samples)
        self._readers = [GoalReader() for _ in rig.limbs]
        self.starts: list[Pose] = [
            Bones(limb.armature, limb.bones, limb.solved).pose(now.rig.base, now.rig.channels)
            for limb, now in zip(rig.limbs, samples, strict=True)
        ]
        self._suits = all(StillRig.suits(limb) for limb in rig.limbs) and not _is_driven(rig)

    def again(self, depsgraph: Depsgraph, frame: float, touched: set[ID]) -> BodyNow | None:
        """Return what the depsgraph shows now; None if somebody may have changed more than what is followed."""
        rig, first = self.rig, self.first
        if not self._suits or rig.armature.data in touched:
            return None
        if any(isinstance(each, (Scene, Action)) for each in touched):
            return None
        try:
            shown = rig.armature.evaluated_get(depsgraph)
            if shown.matrix_world != first.world or base_of(shown, rig.hips) != first.base:
                return None
            if any(bone and bone not in ob.pose.bones for limb in rig.limbs for ob, bone in limb.targets):
                return None
            samples = [
                Sample(frame, each.rig, each.limb, *goals_at(each.limb, depsgraph, frame)) for each in first.samples
            ]
        except ReferenceError:  # a target was removed
            return None
        return BodyNow(frame, first.world, first.base, samples)

    def goals(self, now: BodyNow) -> dict[str, list[Goal]]:
        """The goals of all tips."""
        each = zip(self.rig.limbs, self._readers, self.starts, now.samples, strict=True)
        bones = self.rig.armature.pose.bones
        return {
            limb.tip: [Goal(Anywhere()) if is_waiting(bones[limb.tip]) else reader.at(sampled, start)]
            for limb, reader, start, sampled in each
        }


def _is_driven(rig: RigBody) -> bool:
    """Tell whether drivers move or set something of the body's bones."""
    animation = rig.armature.animation_data
    if animation is None:
        return False
    own = tuple(bone.path_from_id() for bone in rig.pose_bones)
    return any(curve.data_path.startswith(own) for curve in animation.drivers)
