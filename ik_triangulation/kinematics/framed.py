# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a joint in other axes: those of its limb, or of the joint on the other side; and paths inside limits.

Limits mirrored to the joint on the other side of a symmetric rig. A mirror at the YZ plane takes a rotation vector v to
-M v with M = diag(-1, 1, 1): a rotation is an axial vector. From the rest frame R of one joint to the rest frame S of
the other that is the rotation transpose(S) (-M) R.

The flexion axis of a limb, from its rest pose, for limits that suit bones of any roll: that of an elbow is orthogonal
to both its links, with the sign of the bend at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import atan2, pi, radians, sin
from random import Random

from mathutils import Matrix, Quaternion, Vector

from ..errors import FreedomError
from .cone import Cone
from .freedom import Coordinate, EulerLimits, Freedom, Hinge

_ALONG = 0.01  # [rad] angle up to which an axis counts as the mirror image of another; Rigify's feet differ by 0.002

JointPath = Callable[[float], Quaternion]

_SAMPLES = 16  # intervals between which the shortest path is checked against the limits


@dataclass(frozen=True)
class Framed(Freedom):
    """Another freedom, `inner`, whose axes are turned from the joint's own by `frame`, a unit quaternion.

    A rotation r of the joint is the rotation frame⁻¹ r frame of the inner freedom. Made by framed().
    """

    inner: Freedom
    frame: Quaternion

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", Quaternion(self.frame).normalized().freeze())

    def __hash__(self) -> int:
        return hash((self.inner, tuple(self.frame)))

    @property
    def moves(self) -> bool:
        return self.inner.moves

    @property
    def bend_axis(self) -> Vector:
        return self.frame @ self.inner.bend_axis

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def into(self, rotation: Quaternion) -> Quaternion:
        """Return a rotation of the joint in the axes of the inner freedom."""
        return self.frame.conjugated() @ rotation @ self.frame

    def out_of(self, rotation: Quaternion) -> Quaternion:
        """Return a rotation in the axes of the inner freedom in those of the joint."""
        turned: Quaternion = self.frame @ rotation @ self.frame.conjugated()
        turned.normalize()
        return turned

    def nearest(self, rotation: Quaternion) -> Quaternion:
        own = self.into(rotation)
        found = self.inner.nearest(own)
        return rotation if found is own else self.out_of(found)

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        return [each._replace(axis=self.frame @ each.axis) for each in self.inner.coordinates(self.into(rotation))]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return self.out_of(self.inner.at(self.into(rotation), values))

    def on_limits(self, rotation: Quaternion) -> list[str]:
        return self.inner.on_limits(self.into(rotation))

    def random(self, random: Random) -> Quaternion:
        return self.out_of(self.inner.random(random))

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        own, back = self.into(rotation), self.frame.conjugated()
        found = self.inner.swung(own, back @ start, back @ end)
        return rotation if found is own else self.out_of(found)


def framed(freedom: Freedom, frame: Quaternion) -> Freedom:
    """Return a freedom with its axes turned by `frame`, in its simplest form: a hinge has only another axis."""
    if isinstance(freedom, Framed):
        return framed(freedom.inner, frame @ freedom.frame)
    if isinstance(freedom, Hinge):
        return Hinge(frame @ freedom.axis, freedom.lower, freedom.upper)
    if not isinstance(freedom, (Cone, EulerLimits)) or frame.to_axis_angle()[1] == 0.0:
        return freedom
    return Framed(freedom, frame)


def unframed(freedom: Freedom) -> Freedom:
    """Return the inner freedom of one that is framed, and any other as it is."""
    return freedom.inner if isinstance(freedom, Framed) else freedom


def mirror_between(rest: Matrix, other: Matrix) -> Matrix:
    """The 3x3 rotation that takes rotation vectors in the rest frame `rest` to their mirror image in `other`.

    Both are 3x3 rotations from the joint's rest frame to armature space.
    """
    return other.transposed() @ Matrix.Diagonal((1.0, -1.0, -1.0)) @ rest


def mirrored(freedom: Freedom, mirror: Matrix) -> Freedom:
    """The freedom of the other joint: `freedom` mirrored by the rotation of mirror_between().

    `mirror` may be any other rotation from one rest frame to another. Raises FreedomError for Euler limits and cones
    whose axes are not parallel or opposite to axes of the other joint within 0.01 rad.
    """
    if isinstance(freedom, Framed):
        return framed(freedom.inner, mirror.to_quaternion() @ freedom.frame)
    if isinstance(freedom, Hinge):
        return Hinge(mirror @ freedom.axis, freedom.lower, freedom.upper)
    if isinstance(freedom, EulerLimits):
        images = [_image(mirror, axis) for axis in range(3)]
        lower, upper = [0.0] * 3, [0.0] * 3
        for (axis, sense), *ends in zip(images, freedom.lower, freedom.upper, strict=True):
            lower[axis], upper[axis] = _turned(sense, *ends)
        order = "".join("XYZ"[images["XYZ".index(letter)][0]] for letter in freedom.order)
        return EulerLimits(order, tuple(lower), tuple(upper))
    if isinstance(freedom, Cone):
        axis, sense = _image(mirror, 1)
        if axis != 1:
            raise _no_image(1)
        return Cone(freedom.swing, *_turned(sense, freedom.twist_lower, freedom.twist_upper))
    return freedom


def _image(mirror: Matrix, axis: int) -> tuple[int, float]:
    """The axis that is the mirror image of an axis, and 1.0, or -1.0 if it is the opposite."""
    image: Sequence[float] = mirror.col[axis]
    onto = max(range(3), key=lambda i: abs(image[i]))
    sense = 1.0 if image[onto] > 0.0 else -1.0
    if any(abs(image[i] - (sense if i == onto else 0.0)) > _ALONG for i in range(3)):
        raise _no_image(axis)
    return onto, sense


def _no_image(axis: int) -> FreedomError:
    return FreedomError(
        f"Their {'XYZ'[axis]} axes are no mirror images, so these limits cannot be mirrored. "
        "Symmetrize the bones or their rolls, or use a hinge."
    )


def _turned(sense: float, lower: float, upper: float) -> tuple[float, float]:
    return (lower, upper) if sense > 0.0 else (-upper, -lower)


def joint_path(freedom: Freedom, start: Quaternion, end: Quaternion) -> JointPath:
    """Return a function of a share (0 to 1) that interpolates between two allowed rotations.

    It follows the shortest path (slerp) if all of that is allowed, else it interpolates the angles of the degrees of
    freedom: their range has no gap, so a hinge from 100 to -100 degrees goes back through 0 and does not cross the
    forbidden angles.
    """
    shares = [number / _SAMPLES for number in range(1, _SAMPLES)]
    shortest = [start.slerp(end, share) for share in shares]
    if not all(map(freedom.allows, shortest)) and isinstance(unframed(freedom), Hinge | EulerLimits):
        first, last = ([c.value for c in freedom.coordinates(rotation)] for rotation in (start, end))
        return lambda share: freedom.at(start, [a + (b - a) * share for a, b in zip(first, last, strict=True)])
    return lambda share: freedom.nearest(start.slerp(end, share))


_STRAIGHT = 0.01  # [rad] a limb that bends less than this at rest is straight
_LEAST_BEND = radians(5.0)  # bend at rest from which on it tells the axis of flexion: less is noise of modelling
_MOST_ASIDE = radians(45.0)  # angle to the axis that anatomy wants, up to which it does: knock-knees bend sideways
_CLEAR = radians(20.0)  # bend at rest from which on it tells the axis whatever anatomy wants, as of an animal's elbow
_FLEXES = 0.17  # [rad] of range to one side from which on a joint can flex to it
_MOSTLY = 0.5  # share of an axis that limits have to leave for a joint to flex about it
_PARALLEL = 1e-3  # relative length of the part orthogonal to a bone, up to which an axis is parallel to it


def flexion_axis(
    links: Sequence[Vector], joints: Iterable[int], least: float = _STRAIGHT, against: Collection[int] = ()
) -> Vector | None:
    """Mean axis about which these joints are bent at rest (unit vector); None if that is by less than `least` [rad].

    `links` are the vectors from joint to joint in armature space, the last one to the tip. Joints that are `against`
    the others, as a hock is against the knee, count with the opposite sign.
    """
    directions = [link.normalized() for link in links]
    bends = (directions[i - 1].cross(directions[i]) * (-1.0 if i in against else 1.0) for i in joints if i > 0)
    bend = sum(bends, Vector((0.0, 0.0, 0.0)))
    return bend.normalized() if bend.length > least else None


def bend_about(axis: Vector, before: Vector, after: Vector) -> float:
    """The angle [rad] about a unit axis from one link to the next."""
    first, second = (link - axis * link.dot(axis) for link in (before, after))
    return atan2(first.cross(second).dot(axis), first.dot(second))


def turn_to(rest: Matrix, axis: Vector | None) -> float:
    """The angle [rad] about a bone, its Y axis, that brings its X axis nearest to `axis`; 0 for None.

    `rest` is the bone's rest orientation (3x3) in armature space, where `axis` is as well.
    """
    if axis is None:
        return 0.0
    x, _, z = rest.transposed() @ axis
    return atan2(-z, x) if abs(x) + abs(z) > _PARALLEL * axis.length else 0.0


def to_quarter(angle: float) -> float:
    """The multiple of a quarter turn nearest to an angle [rad]."""
    return round(angle / (pi / 2.0)) * pi / 2.0


def anatomical_flexion(towards: Vector, upper: Vector, lower: Vector) -> Vector | None:
    """Return the axis about which an elbow or knee flexes that goes `towards` a direction when it bends; unit vector.

    `upper` and `lower` are the limb's two links at rest, in the same space. A bend at rest may tell the axis better
    (told_flexion()). None where the limb points in that direction itself.
    """
    middle: Vector = upper.normalized() + lower.normalized()
    wanted = Vector(towards.cross(middle))
    told = told_flexion([upper, lower], [1], wanted)
    if told is not None or wanted.length <= _PARALLEL * towards.length:
        return told
    return wanted.normalized()


def told_flexion(
    links: Sequence[Vector], joints: Iterable[int], wanted: Vector, against: Collection[int] = ()
) -> Vector | None:
    """Return the axis of flexion that the bend of these joints at rest tells (unit vector); None if it tells none.

    It does if the bend is more than noise of modelling and about the axis that anatomy wants, or clear. For joints that
    are `against` the others see flexion_axis().
    """
    joints = list(joints)
    told = flexion_axis(links, joints, sin(_LEAST_BEND), against)
    if told is None or flexion_axis(links, joints, sin(_CLEAR), against) is not None:
        return told
    return told if told.angle(wanted, 0.0) < _MOST_ASIDE else None


def hinge_axis(freedom: Freedom) -> Vector | None:
    """Return the axis about which a joint flexes by its Euler limits, signed; None unless it bends one way.

    In the joint's rest frame, see EulerLimits.hinge.
    """
    own = unframed(freedom)
    hinge = own.hinge if isinstance(own, EulerLimits) else None
    return freedom.frame @ hinge if hinge is not None and isinstance(freedom, Framed) else hinge


def allowed_flexion(freedom: Freedom, axis: Vector) -> Vector:
    """Return the unit axis nearest to `axis` about which a joint's limits let it bend from rest, signed as it can.

    Both are in the joint's rest frame. Where the limits leave too little of it, it is the axis of the widest range.
    """
    coordinates = freedom.coordinates(Quaternion())
    left, widest = Vector((0.0, 0.0, 0.0)), (0.0, Vector(axis))
    for each in coordinates:
        share = axis.dot(each.axis)
        below, beyond = each.value - each.lower, each.upper - each.value
        if (beyond if share > 0.0 else below) > _FLEXES:
            left += share * each.axis
        # Of two equal ranges the one to the side of the axis.
        wide = max((beyond, share > 0.0, 1.0), (below, share <= 0.0, -1.0))
        if wide[0] > widest[0]:
            widest = wide[0], wide[2] * each.axis
    return left.normalized() if left.length > _MOSTLY else widest[1].normalized()
