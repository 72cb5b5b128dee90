# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of the limbs of a body, read frame by frame, and how much each tip counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Matrix, Vector

from ...goals import Anywhere, Goal, Point
from ...goals.flow import Flow
from ...kinematics import Pose
from ..armature import Bones, into_bone
from ..limb import Limb
from ..targets.flow import Streamline
from ..targets.goal import GoalReader
from ..targets.untouched import Carriers, is_waiting
from .keyed_motion import KeyedBody
from .samples import Sample, Samples, frame_of, is_elsewhere, may_hang, sample


class LimbGoals:
    """Reads the goals of a limb frame by frame, in terms of its pose at the first of them."""

    def __init__(self, limb: Limb, carriers: Carriers, single: bool = False) -> None:
        """Read a limb whose target bones of the body may carry; at a `single` frame a flow leads one step on."""
        self.limb, self._reader = limb, GoalReader()
        self._carriers = Carriers("", {}) if limb.follows_flow else carriers
        self._carried: set[float] = set()  # frames at which a bone of the body carries the target
        self._line = None if single else FlowInReach(limb)
        self.waits = is_waiting(limb.armature.pose.bones[limb.tip])  # then it has no goal, wherever its target is
        self._start: Pose | None = None
        self._first: Sample | None = None
        self._targets: dict[float, Matrix] = {}  # where the target was, by frame
        self._keyed: dict[float, tuple[Samples, int]] = {}  # samples by F-curves, and the number among them, by frame
        self.influence = 1.0  # at the frame read last

    @property
    def is_plain(self) -> bool:
        """Whether the goal depends on nothing but the armature and the target: no bone of the body carries that."""
        return self.waits or (not any(self._carriers) and not self.limb.is_led_by_tip)

    @property
    def hangs(self) -> bool:
        """Whether anything but its own keys may move the target, so that it may move with the body."""
        if self.limb.follows_flow:
            return False
        return any(self._carriers) or may_hang(self.limb.target, self.limb.subtarget, self.limb.armature)

    def target_at(self, frame: float) -> Matrix:
        """Return the world matrix of the target at a frame that was read."""
        if frame in self._keyed:
            samples, number = self._keyed[frame]
            target: Matrix = samples[number].target
            return target
        return self._targets[frame]

    def keyed(self, motion: KeyedBody, frames: Sequence[float]) -> list[Goal]:
        """Return the goals at all frames by F-curves; the first one was read by at()."""
        if self.waits:
            return [Goal(Anywhere())] * len(frames)
        assert self._start is not None
        assert self._first is not None
        samples = motion.samples(self.limb.tip, frames, self._first)
        self._keyed = {frame: (samples, number) for number, frame in enumerate(frames)}
        points = self._reader.goals(samples)
        if points is None or points.rotations is not None:
            return [self._reader.at(now, self._start) for now in samples]
        places = np.broadcast_to(points.places, (3, len(frames))).T.tolist()
        tolerances = np.broadcast_to(points.tolerance, len(frames)).tolist()
        near = zip(places, tolerances, strict=True)
        return [Goal(Point(Vector(place)), (), tolerance, points.angle_tolerance) for place, tolerance in near]

    def at(self, depsgraph: Depsgraph, frame: float) -> Goal:
        if self.waits:
            return Goal(Anywhere())
        limb, now = self.limb, sample(self.limb, depsgraph, frame)
        if self._start is None:
            self._start = Bones(limb.armature, limb.bones, limb.solved).pose(now.rig.base, now.rig.channels)
            self._first = now
        self.influence = now.limb.influence
        if self._line is not None and now.flow is not None:
            now = now._replace(target=self._line.go(now.flow, frame, depsgraph))
        if not now.limb.is_led_by_tip:  # the place on a surface goes by the limb itself
            self._targets[frame] = frame_of(limb.target, limb.subtarget, depsgraph)
        carrier = self._carriers.at(limb, depsgraph)
        if carrier:
            self._carried.add(frame)
        return goal_on(carrier, self._reader, now, self._start, depsgraph)

    def is_moved(self, depsgraph: Depsgraph, frame: float) -> bool:
        """Tell whether the target has moved since it was read at a frame; one that the body carries always does so."""
        if frame in self._carried or (frame not in self._targets and frame not in self._keyed):
            return False
        return is_elsewhere(self.target_at(frame), frame_of(self.limb.target, self.limb.subtarget, depsgraph))

    def again(self, depsgraph: Depsgraph, frame: float) -> Goal:
        """Return the goal as it is now, at a frame that was read before."""
        assert self._start is not None
        carrier = self._carriers.at(self.limb, depsgraph)
        return goal_on(carrier, self._reader, sample(self.limb, depsgraph, frame), self._start, depsgraph)


class FlowInReach:
    """The path of the tip of a limb along a flow, from where it is animated at the first frame.

    The body that the limb is of may come along, and how far is not known before it is solved: what is beyond the reach
    of the limb, as it is animated at its root, is a goal, and the next step begins inside the reach.
    """

    def __init__(self, limb: Limb) -> None:
        self._limb = limb
        self._line: Streamline | None = None

    def go(self, flow: Flow, frame: float, depsgraph: Depsgraph) -> Matrix:
        """Return the place to go to at a frame, after all those before it (4x4, world space)."""
        limb = self._limb
        armature = limb.armature.evaluated_get(depsgraph)
        bones = [armature.pose.bones[name] for name in limb.bones]
        heads = [armature.matrix_world @ bone.head for bone in bones]
        tip = armature.matrix_world @ bones[-1].tail
        if self._line is None:
            self._line = Streamline(tip, frame)
        target = self._line.go(flow, frame)
        reach = sum((b - a).length for a, b in pairwise([*heads, tip]))
        arm = self._line.place - heads[0]
        if arm.length > reach:
            self._line.place = heads[0] + arm * (reach / arm.length)
        return target


def goal_on(carrier: str, reader: GoalReader, now: Sample, start: Pose, depsgraph: Depsgraph) -> Goal:
    """Return the goal of a sample in the frame of the bone of the body that carries it, if one does."""
    if not carrier:
        return reader.at(now, start)
    into = into_bone(now.limb.armature.evaluated_get(depsgraph).pose.bones[carrier]) @ now.rig.into
    return reader.at(now._replace(rig=now.rig._replace(into=into)), start)._replace(on=carrier)


def influence_of(readers: Mapping[str, LimbGoals], tips: Sequence[str], armature: Object) -> dict[str, float]:
    """Return the influence of each tip at a frame: of limbs that reach as they were read, of held tips as stored."""
    return {tip: readers[tip].influence if tip in readers else held_influence(armature, tip) for tip in tips}


def held_influence(armature: Object, tip: str) -> float:
    """Return the influence of a held tip as stored, from 0 to 1."""
    stored = getattr(armature.pose.bones[tip], "ik_triangulation", None)
    return float(stored.influence) if stored else 1.0
