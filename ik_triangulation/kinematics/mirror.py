# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits mirrored to the joint on the other side of a symmetric rig.

A mirror at the YZ plane takes a rotation vector v to -M v with M = diag(-1, 1, 1): a rotation is an axial vector. From
the rest frame R of one joint to the rest frame S of the other that is the rotation transpose(S) (-M) R.
"""

from collections.abc import Sequence

from mathutils import Matrix

from ..errors import FreedomError
from .cone import Cone
from .euler_limits import EulerLimits
from .framed import Framed, framed
from .freedom import Freedom
from .hinge import Hinge

_ALONG = 0.01  # [rad] angle up to which an axis counts as the mirror image of another; Rigify's feet differ by 0.002


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
    """The axis that is the mirror image of an axis, and 1.0, or -1.0 if the opposite of that axis is."""
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
