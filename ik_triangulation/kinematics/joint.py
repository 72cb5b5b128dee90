# SPDX-License-Identifier: GPL-3.0-or-later
"""One joint of a chain at rest, and what it inherits of its parent's rotation and scale.

Inheritance of a parent's rotation and scale by Blender's own rules, for rigs with scaled bones. The rules are those of
Blender's bone evaluation (`Bone.inherit_scale`, `Bone.use_inherit_rotation`); the tests hold them equal to
`Bone.convert_local_to_pose`.
"""

from dataclasses import dataclass
from math import acos, cos, pi, sin, sqrt

from mathutils import Matrix, Quaternion, Vector

from .freedom import Freedom

_SHEAR = 1e-4  # cosine above which Blender calls two axes sheared


@dataclass(frozen=True)
class Inheritance:
    """The part of its parent's transform that a joint inherits, in the words of Blender's bone settings.

    `scale` is one of FULL, FIX_SHEAR, ALIGNED, AVERAGE, NONE, NONE_LEGACY. Without `rotation` the joint keeps the
    orientation of the parent at rest, `parent_rest` (3x3, armature space).
    """

    scale: str
    rotation: bool
    parent_rest: Matrix

    def socket(self, parent: Matrix, rest: Matrix) -> tuple[Matrix, Vector | None]:
        """The frame (3x3) in which the joint's own rotation acts, and the scale applied after that rotation, if any.

        `parent` is the parent's posed frame, `rest` the joint's rest orientation in it; both 3x3.
        """
        if self.rotation and self.scale == "FULL":
            return parent @ rest, None
        after = None
        if self.rotation:
            frame = parent.copy()
            if self.scale in {"NONE", "AVERAGE"}:
                frame = _orthogonalized(frame, normalize=True)
            elif self.scale == "ALIGNED":
                frame, after = _split(_orthogonalized(frame))
            elif self.scale == "NONE_LEGACY":
                frame, _ = _split(frame)
        else:
            frame = self.parent_rest.copy()
            if self.scale == "FULL":
                frame = frame @ Matrix.Diagonal(_split(parent)[1])
            elif self.scale == "FIX_SHEAR":
                frame = frame @ Matrix.Diagonal(_unsheared_scale(parent))
            elif self.scale == "ALIGNED":
                after = _unsheared_scale(parent)
        if self.scale == "AVERAGE":
            frame = frame * abs(parent.determinant()) ** (1.0 / 3.0)
        frame = frame @ rest
        if self.scale == "FIX_SHEAR":
            frame = _orthogonalized(frame)
        return frame, after


def _split(frame: Matrix) -> tuple[Matrix, Vector]:
    """Unit columns of a 3x3 matrix, and their lengths."""
    scale = Vector(column.length for column in frame.col)
    return Matrix([column.normalized() for column in frame.col]).transposed(), scale


def _unsheared_scale(frame: Matrix) -> Vector:
    """Lengths of the columns of a 3x3 matrix, scaled by a common factor so that their product is its volume."""
    _, scale = _split(frame)
    volume = scale.x * scale.y * scale.z
    return scale * abs(frame.determinant() / volume) ** (1.0 / 3.0) if volume else scale


def _orthogonalized(frame: Matrix, normalize: bool = False) -> Matrix:
    """Remove the shear of a 3x3 matrix: Y keeps its direction, X and Z share the correction; the area is kept."""
    y = frame.col[1].copy()
    x, z = frame.col[0].copy(), frame.col[2].copy()
    if squared := y.length_squared:
        x -= y * (x.dot(y) / squared)
        z -= y * (z.dot(y) / squared)
        if normalize:
            y /= sqrt(squared)
    # Blender takes the axes in the order z, x, y from its primary axis on.
    second, third = z, x
    lengths = second.length, third.length
    unit_2, unit_3 = second.normalized(), third.normalized()
    cosine = unit_2.dot(unit_3)
    if _SHEAR < abs(cosine) < 1.0 - 1.2e-7:
        angle = acos(cosine)
        between = angle + (pi / 2.0 - angle) / 2.0
        across = (unit_2 - unit_3 * cosine).normalized()
        unit_2 = across * sin(between) + unit_3 * cos(between)
        unit_3 = unit_2.cross(unit_3).cross(unit_2).normalized()
        keep = sqrt(sin(angle))
        second, third = unit_2 * (lengths[0] * keep), unit_3 * (lengths[1] * keep)
    if normalize:
        second, third = unit_2, unit_3
    return Matrix((third, y, second)).transposed()


@dataclass(frozen=True)
class Joint:
    """A joint at rest. It rotates about its head, and everything after it in the chain rotates with it.

    `offset` is the head in the frame of the joint before it [Blender units], `rest` the orientation there, `freedom`
    the degrees of freedom with their limits, `stiffness` in 0..1 the resistance to rotation. Two are for rigs with
    scaled bones only: `scale`, the bone's own scale, and `inheritance`, the part of the parent's rotation and scale
    that it inherits (None: all of it). `mass` is that of the link for its length, of which only ratios count.
    """

    name: str
    offset: Vector
    rest: Quaternion
    freedom: Freedom
    stiffness: float = 0.0
    scale: Vector | None = None
    inheritance: Inheritance | None = None
    mass: float = 1.0

    def __post_init__(self) -> None:
        # A frozen dataclass does not prevent changes of mathutils values in place.
        object.__setattr__(self, "offset", Vector(self.offset).freeze())
        rest = Quaternion(self.rest)
        if abs(rest.magnitude - 1.0) > 1e-6:  # normalising a unit quaternion again would change its last bits
            rest.normalize()
        object.__setattr__(self, "rest", rest.freeze())
        if self.scale is not None:
            object.__setattr__(self, "scale", Vector(self.scale).freeze())

    @property
    def plain(self) -> bool:
        """Whether the joint moves rigidly with its parent, as every joint of an unscaled rig does."""
        return self.scale is None and self.inheritance is None
