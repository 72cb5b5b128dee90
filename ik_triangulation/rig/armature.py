# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading an armature: the bones of a chain, and the chain of joints that they make.

Bones are looked up by name each time: a PoseBone that is kept across an undo points to freed memory.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import bpy
from bpy.types import Bone, Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError, RigError
from ..kinematics import Chain, Freedom, Inheritance, Joint, Locked, Pose
from .freedom import freedom_of, mass_of, stiffness_of
from .rotation import rotation_of

SQUARE = 1e-4  # deviation of a frame from a uniform scale, and of that from 1, that is rounding: Blender's own rest
# matrices are square to 5e-5 only
FLAT = 1e-6  # relative to the others: scales and volumes below this are zero in single precision
SMALLEST, LARGEST = 1e-12, 1e12  # range of scales and lengths [Blender units] whose squares and cubes are exact enough
_EVEN = 1e-5  # relative difference of the scales of a bone along its axes, or of one from 1, that is none
_ROUNDING = 1e-6  # relative difference of scales in single precision
_FOLLOWS_UNIFORM = {"FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE"}  # kinds of scale inheritance alike for uniform scale


def bones_from_tip(armature: Object, tip: str, count: int) -> tuple[str, ...]:
    """Return the names of `count` bones from the root of the chain to `tip`; 0 for all up to the armature's root.

    Raises ChainError if the bone does not exist or has fewer ancestors.
    """
    bone = find_bone(armature, tip)
    line = [bone, *bone.parent_recursive]
    if count < 0 or count > len(line):
        raise ChainError(
            f"Chain length {count} is more than the {len(line)} bones from '{tip}' to the root of '{armature.name}'. "
            f"Use 0 to {len(line)}."
        )
    return tuple(bone.name for bone in reversed(line[: count or None]))


def bones_in_line(armature: Object, chosen: Collection[str]) -> tuple[str, ...]:
    """Return the names of all bones from the topmost to the lowest of the `chosen` ones, including those between.

    Raises ChainError if none is chosen, or if they are not one line of descent.
    """
    if not chosen:
        raise ChainError("No bones are selected. Select the bones to solve, from the root to the tip.")
    bones = [find_bone(armature, name) for name in chosen]
    tip = max(bones, key=lambda bone: len(bone.parent_recursive))
    line = [tip, *tip.parent_recursive]
    for bone in bones:
        if bone not in line:
            raise ChainError(f"'{tip.name}' is not a descendant of '{bone.name}'. Choose bones of one line of descent.")
    first = max(line.index(bone) for bone in bones)
    return tuple(bone.name for bone in reversed(line[: first + 1]))


class Channels(NamedTuple):
    """The transform channels of a bone at some frame: location, rotation and scale of its matrix_basis.

    The scale is what constraints make of it, where that is uniform: bones of generated rigs that inherit none have it
    copied.
    """

    location: Vector
    rotation: Quaternion
    scale: Vector


def channels_of(evaluated: Object, names: Sequence[str]) -> list[Channels]:
    """Return the transform channels of the named bones on an object, evaluated or not."""
    bones = evaluated.pose.bones
    return [
        Channels(bone.location.copy(), rotation_of(bone), _scale_of(bone)) for bone in (bones[name] for name in names)
    ]


def _scale_of(bone: PoseBone) -> Vector:
    """Return the scale of an evaluated bone on its parent."""
    own: Vector = bone.scale.copy()
    if not len(bone.constraints) or all(each.mute for each in bone.constraints):
        return own
    size, before = uniform_scale(bone.matrix), uniform_scale(bone.parent.matrix) if bone.parent else 1.0
    if size is None or before is None:
        return own
    size /= before if bone.bone.inherit_scale in _FOLLOWS_UNIFORM else 1.0
    return own if max(abs(each - size) for each in own) <= SQUARE * size else Vector((size, size, size))


def base_of(evaluated: Object, root: str) -> Matrix:
    """Return the frame of the root bone's parent (4x4, armature space) as evaluated, with constraints."""
    parent = evaluated.pose.bones[root].parent
    return parent.matrix.copy() if parent else Matrix.Identity(4)


def into_bone(bone: PoseBone) -> Matrix:
    """Return the matrix (4x4) from armature space into the frame of an evaluated bone, without its scale."""
    into: Matrix = bone.matrix.normalized().inverted()
    return into


class Bones:
    """The rest pose of a chain's bones, read once; builds the chain of joints for the locations and scales of a frame.

    `names` run from root to tip; those not in `solved` keep their rotation.
    """

    def __init__(self, armature: Object, names: Sequence[str], solved: Collection[str]) -> None:
        self.names = tuple(names)
        self.freedoms: list[Freedom] = []
        self._rests: list[Matrix] = []  # in the parent's frame, 4x4
        self._locating: list[Matrix] = []  # from a bone's location channels to its parent's frame, 3x3
        self._inheritance: list[Inheritance] = []
        self._stiffness: list[float] = []
        self._mass: list[float] = []
        for name in names:
            pose_bone = armature.pose.bones[name]
            bone = pose_bone.bone
            rest = bone.matrix_local
            if not 1e-12 <= abs(rest.determinant()) < inf:  # NaN in any element makes it NaN
                raise RigError(f"Bone '{name}' has an invalid rest pose. Re-create it in Edit Mode.")
            parent_rest = bone.parent.matrix_local if bone.parent else Matrix.Identity(4)
            self._rests.append(parent_rest.inverted() @ rest)
            self._locating.append(locating(bone, self._rests[-1]))
            self._inheritance.append(Inheritance(bone.inherit_scale, bone.use_inherit_rotation, parent_rest.to_3x3()))
            self._stiffness.append(stiffness_of(pose_bone))
            self._mass.append(mass_of(pose_bone))
            self.freedoms.append(freedom_of(pose_bone) if name in solved else Locked())
        self.length = armature.data.bones[names[-1]].length
        self._latest: tuple[tuple, Chain] | None = None
        self._scales: tuple[Any, ...] | None = None  # in the pose before: of the base, then of each bone
        if not any(freedom.moves for freedom in self.freedoms):
            raise ChainError("Nothing can move: all chain axes are locked or limited to one value. Unlock one.")

    def pose(self, base: Matrix, channels: Sequence[Channels], freedoms: Mapping[str, Freedom] | None = None) -> Pose:
        """Return the pose that these channels give under the frame `base` (4x4, armature space) of the root's parent.

        Locked bones become part of a rigid link, so there may be fewer joints than bones; a joint has its bone's name.
        `freedoms` replaces those of bones whose limits differ at this frame. Raises RigError for scales that leave no
        direction or no length, and for locations and scales that are too large.
        """
        scale = uniform_scale(base)
        if scale is None and is_flat(base):
            raise RigError(f"A bone above '{self.names[0]}' is scaled to zero; no direction is left. Give it a scale.")
        if freedoms:
            self.freedoms = [
                freedoms.get(name, freedom) for name, freedom in zip(self.names, self.freedoms, strict=True)
            ]
        held = [isinstance(freedom, Locked) for freedom in self.freedoms]
        scale, channels = self._settled(scale, channels)
        key = (
            scale,
            *self.freedoms,
            *((c.location.to_tuple(), c.scale.to_tuple()) for c in channels),
            *(c.rotation[:] for c, still in zip(channels, held, strict=True) if still),
        )
        if self._latest is None or self._latest[0] != key:
            self._latest = key, self._chain(scale, channels)
        chain = self._latest[1]
        if chain.plain and scale != 1.0:
            base = base @ Matrix.Scale(1.0 / scale, 4)
        rotations = {name: channel.rotation for name, channel in zip(self.names, channels, strict=True)}
        pose = Pose(chain, base, [rotations[joint.name] for joint in chain.joints])
        if not chain.plain or not SMALLEST < chain.reach < LARGEST:
            self._check_sizes(pose)
        return pose

    def _settled(self, scale: float | None, channels: Sequence[Channels]) -> tuple[float | None, Sequence[Channels]]:
        """Return scales as they were in the pose before where they differ by rounding: the chain is the same then."""
        if self._scales is not None:
            known, *every = self._scales
            if scale is not None and known is not None and abs(scale - known) <= _ROUNDING * known:
                scale = known
            channels = [
                channel._replace(scale=own) if (channel.scale - own).length <= _ROUNDING * own.length else channel
                for channel, own in zip(channels, every, strict=True)
            ]
        self._scales = scale, *(channel.scale for channel in channels)
        return scale, channels

    def _check_sizes(self, pose: Pose) -> None:
        """Raise RigError where the product of scales leaves no direction or no length, or far too much of it."""
        flat = next((i for i in range(len(pose)) if is_flat(pose.frame(i))), None)
        if flat is not None:
            name = pose.chain.joints[flat].name
            raise RigError(
                f"Bone '{name}' is scaled flat by those above it; its direction is undefined. Scale them less."
            )
        if not SMALLEST < sum(pose.lengths) < LARGEST:
            length, name = sum(pose.lengths), self.names[-1]
            raise RigError(
                f"The bones that end in '{name}' are {length:.3g} long in all. Give them a usual length and scale."
            )

    def _chain(self, scale: float | None, channels: Sequence[Channels]) -> Chain:
        """Return the chain of joints for these locations and scales, under a frame of this `scale`.

        Uniform scales are applied to the offsets, and the joints move rigidly. Otherwise each bone is a joint with its
        own scale and Blender's rules of inheritance from its parent.
        """
        scales = [scale]  # of each bone's parent frame, and last of the tip's
        for name, channel, inheritance in zip(self.names, channels, self._inheritance, strict=True):
            if any(abs(component) < FLAT for component in channel.scale):
                raise RigError(f"Bone '{name}' is scaled to zero; its direction is undefined. Give it a scale.")
            if not all(abs(number) < LARGEST for number in (*channel.scale, *channel.location)):
                raise RigError(f"Bone '{name}' is scaled or moved beyond {LARGEST:g}. Give it usual numbers.")
            scales.append(next_scale(scales[-1], inheritance, channel.scale))
        offsets = [
            rest.to_translation() + locating @ channel.location
            for rest, locating, channel in zip(self._rests, self._locating, channels, strict=True)
        ]
        tip = Vector((0.0, self.length, 0.0))
        if None not in scales:
            offsets = [offset * scale for offset, scale in zip((*offsets, tip), scales, strict=True)]
            return self._rigid_chain(offsets[:-1], offsets[-1], channels)
        joints = []
        for i, channel in enumerate(channels):
            fixed = self.names[i], offsets[i], self._rests[i].to_quaternion(), self.freedoms[i], self._stiffness[i]
            joints.append(Joint(*fixed, channel.scale, self._inheritance[i], self._mass[i]))
        return Chain(tuple(joints), tip)

    def _rigid_chain(self, offsets: Sequence[Vector], tip: Vector, channels: Sequence[Channels]) -> Chain:
        """Return the chain of the bones that are not locked; locked bones between them become part of a rigid link.

        A bone limited to one angle is a joint too: its present angle may be another one, and it has to move there.
        """
        joints = []
        place, turn = Vector(), Quaternion()  # of the next bone's parent frame, from the last joint on
        for i, channel in enumerate(channels):
            place, turn = place + turn @ offsets[i], turn @ self._rests[i].to_quaternion()
            if not isinstance(self.freedoms[i], Locked):
                fixed = self.names[i], place, turn, self.freedoms[i], self._stiffness[i]
                joints.append(Joint(*fixed, mass=self._mass[i]))
                place, turn = Vector(), Quaternion()
            else:
                turn = turn @ channel.rotation
        return Chain(tuple(joints), place + turn @ tip, turn)


def locating(bone: Bone, rest: Matrix) -> Matrix:
    """Return the matrix (3x3) from location channels to the parent's frame, in which the bone rests at `rest`."""
    if bone.use_connect:
        # Blender keeps the head on the parent's tail, whatever the channels say.
        return Matrix.Diagonal((0.0, 0.0, 0.0))
    return rest.to_3x3() if bone.use_local_location else Matrix.Identity(3)


def is_flat(frame: Matrix) -> bool:
    """Tell whether a frame has no inverse in single precision: a scale of it is zero, far too large or not a number."""
    columns = frame.to_3x3().col
    if not all(SMALLEST < column.length < LARGEST for column in columns):
        return True
    x, y, z = (column.normalized() for column in columns)
    return not abs(x.cross(y).dot(z)) > FLAT


def uniform_scale(frame: Matrix) -> float | None:
    """Return the scale of a frame if it is uniform, without shear or mirroring; otherwise None."""
    x, y, z = frame.to_3x3().col
    size = y.length
    if size < 1e-12:
        return None
    slack = SQUARE * size
    alike = abs(x.length - size) < slack and abs(z.length - size) < slack
    square = max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x))) < slack * size
    if not alike or not square or x.cross(y).dot(z) < 0.0:
        return None
    return 1.0 if abs(size - 1.0) < SQUARE else size


def is_even(scale: Vector) -> bool:
    """Tell whether a bone's scale is alike along all axes, and not mirrored or zero."""
    least, most = min(scale[:]), max(scale[:])
    return least > 0.0 and most - least <= _EVEN * most


def next_scale(before: float | None, inheritance: Inheritance, own: Vector) -> float | None:
    """Return the scale of a bone's frame under a parent frame of scale `before`; None if it is not uniform.

    None too for a bone that does not inherit its parent's rotation.
    """
    if before is None or not inheritance.rotation or not is_even(own):
        return None
    return (before if inheritance.scale in _FOLLOWS_UNIFORM else 1.0) * (1.0 if abs(own.y - 1.0) <= _EVEN else own.y)


def find_bone(armature: Object, name: str) -> Bone:
    """Return a bone by its name. Raises ChainError if it does not exist."""
    bone = armature.data.bones.get(name)
    if bone is None:
        raise ChainError(f"Bone '{name}' is not in '{armature.name}' (renamed or deleted?). Pick the chain again.")
    return bone


def object_or_bone(ob: Object, bone: str) -> Any:
    """Return an object, or the pose bone of it that is named; None for a bone that it has not."""
    return ob.pose.bones.get(bone) if bone and ob.pose else ob


_SIDE_WORDS = (("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT"), ("_L_", "_R_"), ("_l_", "_r_"), (" L ", " R "))


def other_side(name: str, known: Container[str]) -> str:
    """Return the name of the bone on the other side, preferably a `known` one; of a bone without a side its own.

    Blender finds a side only at the ends of a name, and not in mixamorig:LeftHand or J_Bip_L_Hand.
    """
    flipped = bpy.utils.flip_name(name)
    if flipped != name and flipped in known:
        return str(flipped)
    for pair in _SIDE_WORDS:
        for one, other in (pair, pair[::-1]):
            if one in name and (found := name.replace(one, other, 1)) in known:
                return found
    missing = (name.replace(one, other, 1) for pair in _SIDE_WORDS for one, other in (pair, pair[::-1]) if one in name)
    return next(missing, str(flipped))
