# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of joints with several tips, and many poses of it as arrays; a chain is a tree with one tip.

A tree is built once for many poses, with the constants that they share. Its columns are the directions in which a pose
can change: a column for each angle of the joints with limits, three for each ball joint (a rotation vector in armature
space), and one for each direction in which the root moves, in units of the tree's `size`, so that no column knows how
large the tree is. `above`, the ancestor table, tells which joints rotate with which.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from ..arrays import Columns, Indices, Numbers
from ..body_anatomy import BodyAnatomy, LimbLine, anatomy_by_lengths
from ..cone import Cone
from ..framed import unframed
from ..freedom import EulerLimits, Free, Freedom, Hinge, Locked
from ..joint import Joint
from ..pose import Chain, Pose
from .algebra import IDENTITY, as_slice, at, matrices, normalized, rotate_back, stepped
from .coordinates import Cones, Coordinates, EulerAngles, Frames, Hinges, bounded


@dataclass
class States:
    """F poses of a tree. Arrays whose last axis is 1 hold for all of them.

    `angles` (m, F) [rad] are the coordinates of the joints with limits, always inside them; `balls` (b, 4, F) the
    rotations of the joints without limits; `held` (h, 4, F or 1) those of locked joints. `root` (3, 3, F or 1) and
    `place` (3, F or 1) are orientation and location of the frame that the root hangs in, armature space. `geometry` is
    what Geometry.of() has made of them last.
    """

    angles: Numbers
    balls: Numbers
    held: Numbers
    root: Numbers
    place: Numbers
    geometry: Any = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        """Number of poses."""
        return int(self.angles.shape[-1])

    def take(self, columns: Columns) -> States:
        """Those of the poses; through a slice they are seen, not copied."""
        place = at(self.place, columns)
        if place is self.place and not isinstance(columns, slice):  # that of a single pose, which a descent moves
            place = place.copy()
        angles, balls = self.angles[:, columns], self.balls[..., columns]
        return States(angles, balls, at(self.held, columns), at(self.root, columns), place)

    def put(self, columns: Columns, other: States) -> None:
        """Replace the rotations of poses, and their places where each has its own."""
        self.angles[:, columns], self.balls[..., columns] = other.angles, other.balls
        if self.place.shape[-1] == len(self):
            self.place[:, columns] = other.place

    def own_places(self) -> None:
        """Give each pose a place of its own, for a root that moves: one that all share could not be replaced."""
        if self.place.shape[-1] != len(self):
            self.place = np.repeat(self.place, len(self), -1)

    def copy(self) -> States:
        """The same poses; changing them leaves these as they are."""
        return States(self.angles.copy(), self.balls.copy(), self.held, self.root, self.place.copy())

    def alike(self, other: States) -> bool:
        """Tell whether these are exactly the same poses as others."""
        return all(
            one is two or (one.shape == two.shape and bool((one == two).all()))
            for one, two in (
                (self.angles, other.angles),
                (self.balls, other.balls),
                (self.place, other.place),
                (self.root, other.root),
                (self.held, other.held),
            )
        )

    def like(self, other: States) -> States:
        """These rotations in the frames, and with the locked joints, of other poses."""
        return States(self.angles, self.balls, other.held, other.root, other.place)


def joined(parts: Sequence[States]) -> States:
    """The poses of all parts, one after the other."""

    def together(arrays: Sequence[Numbers]) -> Numbers:
        each = zip(arrays, parts, strict=True)
        return np.concatenate([np.broadcast_to(array, (*array.shape[:-1], len(part))) for array, part in each], -1)

    return States(
        together([part.angles for part in parts]),
        together([part.balls for part in parts]),
        together([part.held for part in parts]),
        together([part.root for part in parts]),
        together([part.place for part in parts]),
    )


@dataclass(frozen=True)
class TreeTip:
    """An end effector: its place and rotation in the frame of a joint, and the length of the limb that leads to it.

    `first` is the joint at which that limb begins, for tasks of its bend.
    """

    joint: int
    place: Vector
    rotation: Quaternion
    reach: float
    first: int = 0

    @cached_property
    def matrix(self) -> Numbers | None:
        """Its rotation (3, 3, 1) in the frame of the joint; None without any."""
        matrix = np.array(self.rotation.to_matrix(), float)[:, :, None]
        return None if (matrix == IDENTITY).all() else matrix


class Tree:
    """Joints, each after its parent (-1: none), and tips. With `moves_root` the first joint's place is free.

    The joints have to move rigidly with their parents (Joint.plain). A root that moves does so in all directions, or
    only `along` a unit vector of armature space; `root_ways` (c, 3) are its directions. `anatomy` tells arms and legs.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        parents: Sequence[int],
        tips: Sequence[TreeTip],
        moves_root: bool = False,
        along: Vector | None = None,
        anatomy: BodyAnatomy | None = None,
        up: Vector | None = None,
    ) -> None:
        self.joints, self.parents, self.tips, self.moves_root = tuple(joints), tuple(parents), tuple(tips), moves_root
        ways = np.eye(3) if along is None else np.array([along[:]], float)
        self.root_ways: Numbers = ways if moves_root else ways[:0]
        count = len(self.joints)
        self.above = np.eye(count, dtype=bool)  # [i, j]: joint j rotates with joint i
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                self.above[:, j] |= self.above[:, parent]
        self.offsets = np.array([joint.offset[:] for joint in self.joints], float)[:, :, None]
        self.tiers = self._tiers()
        self._group()
        self.compliance = self._compliances()
        self.lower, self.upper = self._bounds()
        self.columns = len(self.joint_of) + len(self.root_ways)
        self._moving: dict[int, tuple[Any, Any]] = {}
        self.size = max(tip.reach for tip in self.tips) or 1.0  # of a tree without length any serves
        self._anatomy = anatomy
        self.up: Numbers | None = None if up is None else np.array(up[:], float)

    @classmethod
    def of(cls, chain: Chain) -> Tree:
        """The tree of a chain."""
        last = len(chain.joints) - 1
        tip = TreeTip(last, chain.tip, chain.tip_rest, chain.reach)
        return cls(chain.joints, range(-1, last), [tip])

    def part(self, joints: Sequence[int], moving: Collection[int], tips: Sequence[int]) -> Tree:
        """The tree of some joints with all their parents, of which only those `moving` turn, and of some tips."""
        rows = {joint: row for row, joint in enumerate(joints)}
        every = [(joint, self.joints[joint]) for joint in joints]
        own = [each if joint in moving else replace(each, freedom=Locked()) for joint, each in every]
        ends = [replace(self.tips[tip], joint=rows[self.tips[tip].joint], first=0) for tip in tips]
        along = Vector(self.root_ways[0]) if len(self.root_ways) == 1 else None
        return Tree(own, [rows.get(self.parents[joint], -1) for joint in joints], ends, self.moves_root, along)

    @cached_property
    def is_chain(self) -> bool:
        """Whether every joint leads to the one tip."""
        return len(self.tips) == 1 and not self.moves_root and bool(self.above[:, self.tips[0].joint].all())

    @cached_property
    def is_line(self) -> bool:
        """Whether every joint hangs on the one before it."""
        return list(self.parents) == [*range(-1, len(self.joints) - 1)]

    @cached_property
    def is_compliant(self) -> bool:
        """Whether no column is stiff."""
        return bool((self.compliance == 1.0).all())

    @cached_property
    def anatomy(self) -> BodyAnatomy:
        """The parts of the body that the joints are: as given, else estimated by the lengths of the links."""
        return self._anatomy or anatomy_by_lengths(self.joints, self.above, self.lines, self.size)

    @cached_property
    def lines(self) -> list[LimbLine]:
        """The joints of each tip's limb, from its first one to its last one."""
        every = range(len(self.joints))
        return [
            LimbLine([j for j in every if self.above[j, tip.joint] and self.above[tip.first, j]], tip.reach)
            for tip in self.tips
        ]

    def moving(self, joint: int) -> tuple[Any, Any]:
        """The columns that move a joint, and the joint of each of them."""
        if joint not in self._moving:
            columns = np.flatnonzero(self.above[self.joint_of, joint])
            self._moving[joint] = as_slice(columns), as_slice(self.joint_of[columns])
        return self._moving[joint]

    def _tiers(self) -> list[tuple[Any, Any]]:
        """Joints of equal depth, and their parents (None: they have none); forward kinematics takes a tier at once."""
        depths = self.above.sum(0)
        tiers: list[tuple[Any, Any]] = []
        for depth in range(2, int(depths.max()) + 1):
            joints = np.flatnonzero(depths == depth)
            parents = np.array([self.parents[j] for j in joints])
            if len(joints) == 1:
                tiers.append((int(joints[0]), int(parents[0])))
            else:
                tiers.append(
                    (as_slice(joints), int(parents[0]) if (parents == parents[0]).all() else as_slice(parents))
                )
        roots = np.flatnonzero(depths == 1)
        return [(as_slice(roots), None), *tiers]

    def _group(self) -> None:
        """Sort the joints by kind, and number the columns."""
        freedoms = [bounded(joint.freedom) for joint in self.joints]
        own: list[Any] = [unframed(freedom) for freedom in freedoms]

        def frames(those: Sequence[int], orders: Sequence[str] = ()) -> Frames | None:
            return Frames.of([freedoms[i] for i in those], orders)

        rests = normalized(np.array([joint.rest[:] for joint in self.joints], float)[:, :, None])

        def those(wanted: type) -> list[int]:
            return [i for i, freedom in enumerate(own) if isinstance(freedom, wanted)]

        self.balls, hinges, cones, eulers = those(Free), those(Hinge), those(Cone), those(EulerLimits)
        self.held = sorted({*range(len(freedoms))} - {*self.balls, *hinges, *cones, *eulers})
        self.kinds: list[Coordinates] = []
        self.cones: Cones | None = None
        if hinges:
            self.kinds.append(Hinges(hinges, [own[i] for i in hinges], self._next_row, matrices(rests[hinges])))
        if eulers:
            limits, stands = [own[i] for i in eulers], matrices(rests[eulers])
            axes = frames(eulers, [freedom.order for freedom in limits])
            self.kinds.append(EulerAngles(eulers, limits, self._next_row, stands, axes))
        if cones:
            stands = matrices(rests[cones])
            self.cones = Cones(cones, [own[i] for i in cones], self._next_row, stands, frames(cones))
            self.kinds.append(self.cones)
        self.angles = self._next_row  # number of rows of the angles
        of = [i for each in self.kinds for i in _owners(each, own)]
        self.joint_of: Indices = np.array([*of, *np.repeat(self.balls, 3)], np.intp)  # of each column that rotates
        self.at_balls, self.at_held = as_slice(np.array(self.balls, np.intp)), np.array(self.held, np.intp)
        turned = (np.abs(rests[:, 1:, 0]) > 0.0).any(1)  # joints with a rest rotation that no kind has in its constants
        turned[[i for kind in self.kinds for i in kind.joints]] = False
        self.turned, self.rests = as_slice(np.flatnonzero(turned)), matrices(rests[turned])
        self.at_columns = as_slice(self.joint_of[: self.angles])

    @property
    def _next_row(self) -> int:
        return int(self.kinds[-1].rows.stop) if self.kinds else 0

    def _compliances(self) -> Numbers:
        """Square of 1 - stiffness for each column (k, 1): its rotation beside that of a joint without stiffness."""
        of_joint = np.array([(1.0 - joint.stiffness) ** 2 for joint in self.joints])
        compliance = of_joint[self.joint_of]
        return np.concatenate((compliance, np.ones(len(self.root_ways))))[:, None]

    def _bounds(self) -> tuple[Numbers, Numbers]:
        empty = np.empty((0, 1))
        lower, upper = ([getattr(kind, end) for kind in self.kinds] for end in ("lower", "upper"))
        return np.concatenate([empty, *lower]), np.concatenate([empty, *upper])

    def states(self, poses: Sequence[Pose]) -> States:
        """Poses of one chain as states. Rotations outside their limits are moved inside."""
        count = len(poses)
        angles, balls = np.empty((self.angles, count)), np.empty((len(self.balls), 4, count))
        for n, pose in enumerate(poses):
            for kind in self.kinds:
                values = [v for k, i in enumerate(kind.joints) for v in kind.read(k, pose.rotations[i])]
                angles[kind.rows, n] = values
            for b, i in enumerate(self.balls):
                balls[b, :, n] = pose.rotations[i]
        held = _once(np.array([[pose.rotations[i][:] for i in self.held] for pose in poses]).reshape(count, -1, 4))
        bases = _once(np.array([pose.base.copy() for pose in poses], float))
        root, place = bases[:3, :3], bases[:3, 3]
        return States(self.inside(angles), normalized(balls) if len(balls) else balls, held, root, place)

    def posed(self, rotations: Numbers, frames: States) -> States:
        """States with these rotations (n, 4, F), moved inside their limits, in the frames of others."""
        count = rotations.shape[-1]
        angles = np.empty((self.angles, count))
        for kind in self.kinds:
            angles[kind.rows] = kind.angles(rotations[kind.joints])
        return States(angles, normalized(rotations[self.balls]), frames.held, frames.root, frames.place)

    def rotations(self, states: States) -> Numbers:
        """Rotation of every joint from rest, unit quaternions (n, 4, F)."""
        result = np.empty((len(self.joints), 4, len(states)))
        for kind in self.kinds:
            result[kind.joints] = kind.quaternions(states.angles[kind.rows])
        result[self.balls], result[self.held] = states.balls, states.held
        return result

    def inside(self, angles: Numbers) -> Numbers:
        """Angles moved inside their bounds."""
        angles = np.minimum(np.maximum(angles, self.lower), self.upper)
        if self.cones:
            self.cones.inside(angles[self.cones.rows])
        return angles

    def moved(self, states: States, frames: Numbers, change: Numbers) -> States:
        """The states after a change (k, F) of all columns; `frames` (n, 3, 4, F) are those of the joints before it."""
        angles, balls, place = states.angles, states.balls, states.place
        if self.angles:
            plain = self.cones.rows.start if self.cones else self.angles
            angles = np.empty_like(angles)
            own = np.add(states.angles[:plain], change[:plain], out=angles[:plain])
            np.minimum(np.maximum(own, self.lower[:plain], out=own), self.upper[:plain], out=own)
            if self.cones:
                rows = self.cones.rows
                angles[rows] = self.cones.moved(states.angles[rows], change[rows])
        if self.balls:
            turns = change[self.angles : len(self.joint_of)].reshape(len(self.balls), 3, -1)
            balls = stepped(balls, rotate_back(frames[self.at_balls][:, :, :3], turns))
        if self.moves_root:
            place = place + self.size * (self.root_ways.T @ change[len(self.joint_of) :])
        return States(angles, balls, states.held, states.root, place)

    def ranges(self, states: States, largest: Numbers | float) -> tuple[Numbers, Numbers]:
        """Least and greatest change of each angle (m, F) within its bounds and `largest` [rad]."""
        low = np.maximum(self.lower - states.angles, -largest)
        high = np.minimum(self.upper - states.angles, largest)
        if self.cones:
            rows = self.cones.rows
            self.cones.range_of(states.angles[rows], low[rows], high[rows], largest)
        return low, high


def _owners(kind: Coordinates, freedoms: Sequence[Freedom]) -> list[int]:
    """Joint of each row of a kind."""
    if isinstance(kind, EulerAngles):
        return [i for i in kind.joints for _ in freedoms[i].axes]
    return [i for i in kind.joints for _ in range(3 if isinstance(kind, Cones) else 1)]


def _once(values: Numbers) -> Numbers:
    """Values of each pose (F, ...) with the poses last; only once if they are all the same."""
    if (values == values[:1]).all():
        values = values[:1]
    return np.ascontiguousarray(values.transpose(*range(1, values.ndim), 0))
