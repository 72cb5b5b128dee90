# SPDX-License-Identifier: GPL-3.0-or-later
"""A body, a tree of joints with named end effectors, on hips that may move: at rest, and its poses.

A body at rest: a tree of joints with named end effectors, on hips that may move. Lengths in Blender units, armature
space, quaternions wxyz.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from .arrays import Numbers
from .batch import States, Tree, TreeTip
from .batch.algebra import matrices, normalized
from .body_anatomy import BodyAnatomy
from .joint import Joint
from .pose import Chain, Pose

HIPS_MOTIONS = "FREE", "UP_DOWN", "FIXED"
_UP = Vector((0.0, 0.0, 1.0)).freeze()
_TREES = deque[tuple["Body", Tree]](maxlen=8)  # of the last bodies, the newest first


@dataclass(frozen=True)
class BodyTip:
    """A named end effector: its `place` and `rotation` in the frame of joint number `joint`.

    `contacts` are the points in that frame that are on the ground while the tip is held, such as heel and ball of a
    foot; by default its place alone.
    """

    name: str
    joint: int
    place: Vector
    rotation: Quaternion = field(default_factory=Quaternion)
    contacts: tuple[Vector, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", Vector(self.place).freeze())
        object.__setattr__(self, "rotation", Quaternion(self.rotation).freeze())
        contacts = self.contacts or (self.place,)
        object.__setattr__(self, "contacts", tuple(Vector(point).freeze() for point in contacts))


@dataclass(frozen=True)
class BodySegment:
    """The mass that moves with a joint, in any unit, and its centre in the joint's frame."""

    mass: float
    centre: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", Vector(self.centre).freeze())


@dataclass(frozen=True)
class Body:
    """Joints, each after its parent (-1: none), with end effectors.

    The first joint is the hips. `hips_motion` tells where they may go: FREE anywhere, UP_DOWN along `up`, FIXED
    nowhere; their rotation has the limits of their joint. `segments` has the mass of each joint, `anatomy` its part of
    the body, and the arms and legs with their axes of flexion; without them the lengths of the links give an estimate.
    Raises ChainError for joints that are no tree or whose bones are scaled, for tips that have the same name, and for
    numbers that are not valid.
    """

    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    tips: tuple[BodyTip, ...]
    hips_motion: str = "FREE"
    up: Vector = _UP
    segments: tuple[BodySegment, ...] = ()
    anatomy: BodyAnatomy | None = None

    def __post_init__(self) -> None:
        for name in ("joints", "parents", "tips", "segments"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "up", Vector(self.up).normalized().freeze())
        _check(self)
        if not self.segments:
            object.__setattr__(self, "segments", segments_by_length(self))

    @cached_property
    def number_of(self) -> dict[str, int]:
        """Number of each tip, by its name."""
        return {tip.name: number for number, tip in enumerate(self.tips)}

    def tip(self, name: str) -> BodyTip:
        """The end effector of this name. Raises ChainError if there is none."""
        if name not in self.number_of:
            raise ChainError(f"The body has no tip '{name}'. It has {', '.join(map(repr, self.number_of))}.")
        return self.tips[self.number_of[name]]

    def path(self, joint: int) -> list[int]:
        """Joints from the root to a joint."""
        found = [joint]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return found[::-1]

    def limb(self, name: str) -> list[int]:
        """Joints that lead to this tip and to no other one; at least the last joint."""
        path = self.path(self.tip(name).joint)
        others = {i for tip in self.tips if tip.name != name for i in self.path(tip.joint)}
        return [i for i in path if i not in others] or path[-1:]

    def reach(self, name: str) -> float:
        """Length of the limb of a tip, stretched out [Blender units]."""
        limb = self.limb(name)
        return sum(self.joints[i].offset.length for i in limb[1:]) + self.tip(name).place.length

    def chain(self, name: str) -> Chain:
        """The chain from the root to a tip, for the published methods and other code that takes a chain."""
        tip = self.tip(name)
        return Chain(tuple(self.joints[i] for i in self.path(tip.joint)), tip.place, tip.rotation)

    @cached_property
    def tree(self) -> Tree:
        """The same joints as arrays; a body that is read again has the tree it had, and all that is known of that."""
        known = next((tree for body, tree in _TREES if body == self), None)
        if known is None:
            known = self._as_arrays()
            _TREES.appendleft((self, known))
        return known

    def _as_arrays(self) -> Tree:
        longest = max(self.reach(tip.name) for tip in self.tips)
        tips = [
            TreeTip(tip.joint, tip.place, tip.rotation, self.reach(tip.name) or longest, self.limb(tip.name)[0])
            for tip in self.tips
        ]
        along = self.up if self.hips_motion == "UP_DOWN" else None
        return Tree(self.joints, self.parents, tips, self.hips_motion != "FIXED", along, self.anatomy, self.up)

    def rest_pose(self) -> BodyPose:
        """The pose at rest, with the parent of the hips at the origin."""
        return BodyPose(self, Matrix.Identity(4), [Quaternion() for _ in self.joints])


def _check(body: Body) -> None:
    joints, parents, tips, segments = body.joints, body.parents, body.tips, body.segments
    if not joints or not tips:
        raise ChainError("A body needs joints and at least one tip. Choose the bones to hold or to reach with.")
    if body.hips_motion not in HIPS_MOTIONS:
        raise ChainError(f"Hips that move '{body.hips_motion}' are unknown. Use one of {', '.join(HIPS_MOTIONS)}.")
    if len(parents) != len(joints) or any(not -1 <= parent < i for i, parent in enumerate(parents)):
        raise ChainError("Each joint of a body comes after its parent. Sort the joints from the root on.")
    if body.hips_motion != "FIXED" and -1 in parents[1:]:
        raise ChainError(
            f"Bone '{joints[parents.index(-1, 1)].name}' does not hang on the hips that move. Leave it out."
        )
    for joint in joints:
        Chain((joint,), joint.offset)  # checks its numbers
        if not joint.plain:
            raise ChainError(f"Bone '{joint.name}' is scaled, or inherits no rotation. A body needs plain bones.")
    names = [tip.name for tip in tips]
    for tip in tips:
        if names.count(tip.name) > 1:
            raise ChainError(f"Two tips are called '{tip.name}'. Give each a name of its own.")
        if not 0 <= tip.joint < len(joints) or not all(map(isfinite, (*tip.place, *tip.rotation))):
            raise ChainError(f"Tip '{tip.name}' is at no joint of the body. Give it the number of a joint and a place.")
    if not body.up.length or not all(map(isfinite, body.up)):
        raise ChainError("The body's upward direction has no length. Give it one, such as (0, 0, 1).")
    if segments and (
        len(segments) != len(joints)
        or not sum(each.mass for each in segments) > 0.0
        or any(not 0.0 <= each.mass < float("inf") for each in segments)
    ):
        raise ChainError("Masses of a body are one for each joint, none of them negative. Leave them out to estimate.")


def segments_by_length(body: Body, masses: Sequence[float] | None = None) -> tuple[BodySegment, ...]:
    """Estimate the masses of a body: each link, from a joint to the next ones and to tips, weighs as it is long.

    With `masses` these are the joints', and only the centres are estimated: the middle of the links, by their lengths.
    """
    ends: list[list[Vector]] = [[] for _ in body.joints]
    for joint, parent in zip(body.joints, body.parents, strict=True):
        if parent >= 0:
            ends[parent].append(joint.offset)
    for tip in body.tips:
        ends[tip.joint].append(tip.place)
    found = []
    for number, links in enumerate(ends):
        length = sum(link.length for link in links)
        weighted = sum((link * link.length for link in links), Vector((0.0, 0.0, 0.0)))
        centre = weighted / (2.0 * length) if length else Vector((0.0, 0.0, 0.0))
        found.append(BodySegment(length if masses is None else masses[number], centre))
    if not sum(each.mass for each in found) > 0.0:
        return tuple(BodySegment(1.0, each.centre) for each in found)
    return tuple(found)


class BodyPose:
    """A body with a rotation for each joint, in armature space.

    `base` is the frame that the hips hang in (4x4), which goes where hips that move go; `rotations` are the joints'
    rotations from rest. A pose is not changed: solving gives another one.
    """

    def __init__(self, body: Body, base: Matrix, rotations: Sequence[Quaternion]) -> None:
        self.body, self.base = body, base.copy().freeze()
        self.rotations = tuple(Quaternion(rotation).freeze() for rotation in rotations)

    def head(self, joint: int) -> Vector:
        """Position of a joint."""
        return Vector(self.frames[joint, :, 3])

    def tip(self, name: str) -> Vector:
        """Position of an end effector."""
        tip = self.body.tip(name)
        frame = self.frames[tip.joint]
        return Vector(frame[:, :3] @ np.array(tip.place[:]) + frame[:, 3])

    def tip_rotation(self, name: str) -> Quaternion:
        """Orientation of an end effector."""
        tip = self.body.tip(name)
        rotation: Quaternion = Matrix(self.frames[tip.joint, :, :3].tolist()).to_quaternion() @ tip.rotation
        return rotation

    def contacts(self, names: Sequence[str]) -> Numbers:
        """Points of these tips that are on the ground (c, 3)."""
        tips = [self.body.tip(name) for name in names]
        of = [(self.frames[tip.joint], np.array(point[:])) for tip in tips for point in tip.contacts]
        return np.array([frame[:, :3] @ point + frame[:, 3] for frame, point in of]).reshape(-1, 3)

    def limb(self, name: str) -> Pose:
        """The same pose of the chain from the root to a tip."""
        body = self.body
        path = body.path(body.tip(name).joint)
        return Pose(body.chain(name), self.base, [self.rotations[i].copy() for i in path])

    def inside(self) -> BodyPose:
        """The pose with every joint moved inside its limits; itself if none was outside."""
        joints = self.body.joints
        rotations = [joint.freedom.nearest(turn) for joint, turn in zip(joints, self.rotations, strict=True)]
        if all(turn is other for turn, other in zip(rotations, self.rotations, strict=True)):
            return self
        return BodyPose(self.body, self.base, rotations)

    @cached_property
    def frames(self) -> Numbers:
        """Orientation of each joint after its own rotation, and its head in the last column (n, 3, 4)."""
        body = self.body
        turns = matrices(normalized(np.array([turn[:] for turn in self.rotations])[:, :, None]))[..., 0]
        rests = matrices(normalized(np.array([joint.rest[:] for joint in body.joints])[:, :, None]))[..., 0]
        local, offsets = rests @ turns, np.array([joint.offset[:] for joint in body.joints])
        base, frames = np.array([row[:] for row in self.base.copy()]), np.empty((len(turns), 3, 4))
        for i, parent in enumerate(body.parents):
            above = base[:3] if parent < 0 else frames[parent]
            frames[i, :, :3] = above[:, :3] @ local[i]
            frames[i, :, 3] = above[:, :3] @ offsets[i] + above[:, 3]
        return frames


def states_of(poses: Sequence[BodyPose]) -> States:
    """Poses of one body as those of its tree, moved inside the limits; each with a place of its own if hips move."""
    tree, count = poses[0].body.tree, len(poses)
    rotations = normalized(np.array([[turn[:] for turn in pose.rotations] for pose in poses]).transpose(1, 2, 0))
    bases = np.array([[row[:] for row in pose.base.copy()] for pose in poses])
    root, place = bases[:, :3, :3].transpose(1, 2, 0).copy(), bases[:, :3, 3].T.copy()
    none = np.empty((tree.angles, count)), np.empty((len(tree.balls), 4, count))
    return tree.posed(rotations, States(*none, rotations[tree.held], root, place))


def poses_of_body(body: Body, states: States) -> list[BodyPose]:
    """Poses of the tree of a body as single ones."""
    rotations, found = body.tree.rotations(states), []
    for n in range(len(states)):
        base = np.eye(4)
        base[:3, :3], base[:3, 3] = (a[..., n if a.shape[-1] > 1 else 0] for a in (states.root, states.place))
        turns = [Quaternion(rotation).normalized() for rotation in rotations[..., n].tolist()]
        found.append(BodyPose(body, Matrix(base.tolist()), turns))
    return found
