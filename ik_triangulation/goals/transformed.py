# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets given in the space of another object, for example a scaled empty.

Source: projected gradient descent, Goldstein 1964, "Convex programming in Hilbert space".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite, sqrt

from mathutils import Matrix, Vector

from ..errors import TargetError
from .checks import set_fields
from .shapes import Field
from .target import Target

_UNEQUAL = 1e-4  # relative difference between the scales of two axes beyond which it is no rounding
DESCENT_STEPS = 32  # of projected gradient descent


@dataclass(frozen=True)
class Transformed(Target):
    """A target given in another space; `into` (4x4) maps that space to armature space.

    With a uniform scale the nearest point is the same in both spaces. Otherwise projected gradient descent moves the
    nearest point of the other space along the target to where it is nearest in armature space. The result lies on the
    target; its distance is the minimum within 1 % for scales that differ by up to a factor of 3, and a local minimum on
    round targets. A Field gives a vector and not a nearest point, so that vector is only transformed. Raises
    TargetError if `into` is singular.
    """

    target: Target
    into: Matrix
    out: Matrix = field(init=False, repr=False, compare=False)  # from armature space to the target's
    steps: int = field(init=False, repr=False, compare=False)  # of descent

    def __post_init__(self) -> None:
        into = Matrix(self.into)
        try:
            out = into.inverted()
        except ValueError:
            out = None
        if out is None or not all(isfinite(sum(row)) for row in out):
            raise TargetError("Target's space cannot be inverted. Give its object scale values other than zero.")
        alike = _stretch(into) * _stretch(out) < 1.0 + _UNEQUAL
        set_fields(
            self,
            into=into.freeze(),
            out=out.freeze(),
            steps=0 if alike or isinstance(self.target, Field) else DESCENT_STEPS,
        )

    def closest(self, point: Vector) -> Vector:
        goal = self.out @ point
        place = self.target.closest(goal)
        if self.steps:
            linear = self.into.to_3x3()
            # Down the gradient of the squared distance, with a step size of one over its Lipschitz constant.
            step = linear.transposed() @ linear * (1.0 / _stretch(linear) ** 2)
            for _ in range(self.steps):
                place = self.target.closest(place + step @ (goal - place))
        return self.into @ place

    def least_distance(self, point: Vector) -> float:
        return self.target.least_distance(self.out @ point) / _stretch(self.out)

    def greatest_distance(self, point: Vector) -> float:
        return self.target.greatest_distance(self.out @ point) * _stretch(self.into)


def _stretch(matrix: Matrix) -> float:
    """Upper bound of the largest singular value of `matrix`; exact for a uniform scale.

    Its square is the largest eigenvalue of M^T M, which is at most the largest sum of magnitudes in a row of M^T M.
    """
    linear = matrix.to_3x3()
    return sqrt(max(sum(map(abs, row)) for row in linear.transposed() @ linear))
