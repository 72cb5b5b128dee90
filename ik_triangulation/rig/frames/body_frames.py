# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of a body frame by frame: frames of its bones, by channels or as shown, and the goals of its limbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object, PoseBone
from mathutils import Matrix, Vector

from ...goals import Anywhere, Avoid, Goal, Point
from ...goals.flow import Flow
from ...goals.from_goals import BATCHED
from ...goals.goal import SoftGoal
from ...kinematics import Body, Pose
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States
from ...kinematics.batch.algebra import (
    compose,
    cross,
    dot,
    lengths,
    matrices,
    normalized,
    quaternions,
    signs_along,
    turn_vectors,
)
from ..armature import Bones, into_bone
from ..body import RigBody
from ..keyframes.channelbags import channelbag_of, find_curves
from ..limb import Limb
from ..rotation import channel
from ..targets.goal import GoalReader, avoid_of
from ..targets.surface import Streamline
from ..targets.untouched import Carriers, is_waiting
from ..timeline import Clock
from .curve_values import rotation_quaternions, values_at
from .keyed_motion import KeyedBody
from .samples import Sample, Samples, frame_of, is_elsewhere, may_hang, sample


class Animation(NamedTuple):
    """An animation of a body: `rotations` (n, 4, F) of all bones, and `locations` (3, F) of the hips, as channels.

    Where these are not all that moves the bones, `shown` (n, 3, 4, F) are the frames of the bones as Blender evaluates
    them, unscaled and with their tails in place, armature space; the channels are then those that come nearest.
    """

    rotations: Numbers
    locations: Numbers
    shown: Numbers | None = None


def frames_by_channels(rig: RigBody, body: Body, bases: Numbers, moved: Animation) -> Numbers:
    """Return the frames (n, 3, 4, F) of the bones of a body by forward kinematics, armature space.

    `bases` (4, 4, F) are the frames that the hips hang in.
    """
    roots, tree, count = bases[:3, :3], body.tree, bases.shape[-1]
    located = np.array(rig.rest.locating[0], float) @ moved.locations
    place = bases[:3, 3] + np.einsum("ijf,jf->if", roots, located)
    rotations = np.ascontiguousarray(moved.rotations)
    none = np.empty((0, count)), np.empty((0, 4, count))
    return Geometry(tree, tree.posed(rotations, States(*none, rotations[tree.held], roots, place))).frames


def shown_frames(rig: RigBody, matrices: Numbers) -> Numbers:
    """Return the frames without scale (n, 3, 4, F) of the bones of a body with these matrices (n, 4, 4, F).

    The tails are in place; heads of bones that something else has scaled are where these would have them otherwise.
    """
    frames = np.empty((len(matrices), 3, 4, matrices.shape[-1]))
    along = normalized(matrices[:, :3, 1])
    across = matrices[:, :3, 0]
    across = normalized(across - along * dot(across, along)[:, None])
    for axis, each in enumerate((across, along, cross(across, along))):
        frames[:, :, axis] = each
    sizes, scaled = np.array([*rig.sizes.values()])[:, None, None], lengths_of(rig)[:, None, None]
    reached = scaled * (matrices[:, :3, 1] / sizes - frames[:, :, 1])
    frames[:, :, 3] = matrices[:, :3, 3] + reached
    return frames


def with_places(rig: RigBody, frames: Numbers, places: Mapping[str, Numbers]) -> Numbers:
    """Return frames (n, 3, 4, F) of all bones with those of planted tips (3, 4), by their names, at one place."""
    if not places:
        return frames
    frames = frames.copy()
    for name, place in places.items():
        frames[rig.bones.index(name)] = place[:, :, None]
    return frames


def animation_shown(rig: RigBody, bases: Numbers, matrices: Numbers) -> Animation:
    """Return the animation that bones of a body with these matrices (n, 4, 4, F) have, armature space.

    `bases` (4, 4, F) are the frames that the hips hang in.
    """
    frames = shown_frames(rig, matrices)
    turned = {name: frames[number, :, :3] for number, name in enumerate(rig.bones)}
    none = np.empty((len(turned), 4, bases.shape[-1]))
    return animation_turned(rig, bases, turned, matrices[0, :3, 3], none)._replace(shown=frames)


def animation_turned(
    rig: RigBody, bases: Numbers, turned: Mapping[str, Numbers], place: Numbers, others: Numbers
) -> Animation:
    """Return the animation in which bones, by their names, are `turned` so (3, 3, F), and the hips at a place (3, F).

    All that in armature space. The other ones of the body have the rotations (n, 4, F) of `others`. `bases` (4, 4, F)
    are the frames that the hips hang in.
    """
    rest, bones, rotations = rig.rest, rig.armature.data.bones, np.array(others, float)
    found = dict[str, Numbers]()
    for number, name in enumerate(rig.bones):
        parent = found[bones[name].parent.name] if number else bases[:3, :3]
        stands = compose(parent, np.array(rest.rests[number].to_3x3().normalized(), float)[:, :, None])
        if name in turned:
            found[name] = turned[name]
            rotations[number] = quaternions(np.einsum("jif,jkf->ikf", stands, turned[name]))
        else:
            found[name] = compose(stands, matrices(rotations[number]))
    rotations *= signs_along(rotations)[:, None]
    offset = np.array(rest.rests[0].translation, float)
    away = place - bases[:3, 3] - np.einsum("ijf,j->if", bases[:3, :3], offset)
    ways = np.einsum("ijf,jk->fik", bases[:3, :3], np.array(rest.locating[0], float))
    locations = np.einsum("fij,jf->if", np.linalg.pinv(ways), away)
    return Animation(rotations, locations)


def tips_apart(rig: RigBody, body: Body, one: Numbers, other: Numbers) -> float:
    """Return how far the tips and hips are apart at most by two arrays of frames (n, 3, 4, F), as a share of a reach.

    For tips that is of their limb's reach, for hips of the longest; an angle [rad] counts as such a share.
    """
    found = [float(lengths(one[0, :, 3] - other[0, :, 3]).max()) / max(body.reach(tip) for tip in rig.tips)]
    for name in rig.tips:
        tip = body.tip(name)
        place = np.array(tip.place, float)
        ends = [np.einsum("ijf,j->if", each[tip.joint, :, :3], place) + each[tip.joint, :, 3] for each in (one, other)]
        found.append(float(lengths(ends[0] - ends[1]).max()) / body.reach(name))
        turned = np.einsum("jif,jkf->ikf", one[tip.joint, :, :3], other[tip.joint, :, :3])
        found.append(float(lengths(turn_vectors(turned)).max()))
    return max(found)


def plain_animation(rig: RigBody, clock: Clock, frames: Sequence[float]) -> Animation:
    """Return the animation of a body by the active action's F-curves and unkeyed values alone, generated or not."""
    times = [clock.time(frame) for frame in frames]
    hips = rig.armature.pose.bones[rig.hips]
    return Animation(plain_rotations(rig.armature, rig.bones, times), plain_values(hips, "location", times))


def plain_rotations(armature: Object, names: Sequence[str], times: Sequence[float]) -> Numbers:
    """Return the rotations (n, 4, F) that the active action's F-curves and unkeyed values alone give bones."""
    bones = [armature.pose.bones[name] for name in names]
    every = [rotation_quaternions(plain_values(bone, channel(bone)[0], times), bone.rotation_mode) for bone in bones]
    return np.array(every).reshape(len(names), 4, len(times))


def plain_values(bone: PoseBone, prop: str, times: Sequence[float]) -> Numbers:
    """Return the channels (n, F) of a property of a bone by the active action's F-curves, else as they are."""
    found = np.repeat(np.array(getattr(bone, prop), float)[:, None], len(times), 1)
    bag = channelbag_of(bone.id_data)
    every = find_curves(bag, bone.path_from_id(prop)) if bag else {}
    curves = {i: curve for i, curve in every.items() if i < len(found) and not (curve.mute or curve.is_empty)}
    if curves:
        found[[*curves]] = values_at([*curves.values()], np.array(times))
    return found


def matrices_of(evaluated: Object, names: Sequence[str]) -> Numbers:
    """Return the matrices (n, 4, 4) of bones of an evaluated armature, armature space."""
    return np.array([evaluated.pose.bones[name].matrix for name in names], float)


def lengths_of(rig: RigBody) -> Numbers:
    """Return the lengths (n) of the bones of a body, scaled [armature space]."""
    return np.array([rig.length(name) for name in rig.bones])


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
        self.avoided: dict[float, Avoid] = {}  # the obstacles, by frame
        self.preferred: dict[float, Preferred] = {}  # comfort, by frame

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
            return [self._placed(self._reader.at(now, self._start), now.frame) for now in samples]
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
        if now.obstacles:
            self.avoided[frame] = avoid_of(now)
        return self._placed(goal_on(carrier, self._reader, now, self._start, depsgraph), frame)

    def _placed(self, goal: Goal, frame: float) -> Goal:
        """Return a goal without comfort, which is kept."""
        assert self._start is not None
        goal, preferred = without_comfort(goal, self._start)
        if preferred is not None:
            self.preferred[frame] = preferred
        return goal

    def is_moved(self, depsgraph: Depsgraph, frame: float) -> bool:
        """Tell whether the target has moved since it was read at a frame; one that the body carries always does so."""
        if frame in self._carried or (frame not in self._targets and frame not in self._keyed):
            return False
        return is_elsewhere(self.target_at(frame), frame_of(self.limb.target, self.limb.subtarget, depsgraph))

    def again(self, depsgraph: Depsgraph, frame: float) -> Goal:
        """Return the goal as it is now, at a frame that was read before."""
        assert self._start is not None
        carrier = self._carriers.at(self.limb, depsgraph)
        now = sample(self.limb, depsgraph, frame)
        return without_comfort(goal_on(carrier, self._reader, now, self._start, depsgraph), self._start)[0]


class Preferred(NamedTuple):
    """The comfort of a limb at a frame, with the names of the joints of its chain."""

    soft: tuple[SoftGoal, ...]
    joints: tuple[str, ...]


def without_comfort(goal: Goal, start: Pose) -> tuple[Goal, Preferred | None]:
    """Return a goal without comfort, and that of the chain of a pose; None without any."""
    soft = tuple(each for each in goal.soft if not isinstance(each, BATCHED))
    if not soft:
        return goal, None
    rest = tuple(each for each in goal.soft if isinstance(each, BATCHED))
    return goal._replace(soft=rest), Preferred(soft, tuple(joint.name for joint in start.chain.joints))


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
    """Return the goal of a sample in the frame of the bone of the body that carries it, if one does.

    Obstacles are none of a body's goals.
    """
    now = now._replace(obstacles=())
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
