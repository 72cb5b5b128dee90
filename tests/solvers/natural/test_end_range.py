# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of an end in axes of their own are those of the same limits in the joint's, turned."""

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics import Cone, EulerLimits, framed
from ik_triangulation.solvers.natural.tip_limb import EndRange

FRAME = Quaternion((0.3, -0.8, 0.5), 1.1)
KINDS = {
    "euler": EulerLimits("YXZ", (-0.5, -1.4, -0.3), (0.7, 1.5, 0.4)),
    "one angle": EulerLimits("XYZ", (-0.5, 0.0, 0.0), (0.7, 0.0, 0.0)),
    "cone": Cone(0.8, -1.3, 1.2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_limits_in_other_axes_allow_what_they_allow_turned(kind):
    limits = framed(KINDS[kind], FRAME)
    turned, random = EndRange(limits), np.random.default_rng(4)
    assert turned.parts == EndRange(KINDS[kind]).parts
    rotations = random.normal(size=(4, 40))
    rotations /= np.linalg.norm(rotations, axis=0)
    found = [turned.nearest(rotations), *(turned.nearest_in_part(part, rotations) for part in range(turned.parts))]
    for values in found:
        assert np.abs(turned.inside(values.copy()) - values).max() < 1e-6
    for n, quaternion in enumerate(turned.quaternions(found[0]).T):
        nearest = limits.nearest(Quaternion(rotations[:, n]))
        assert abs(abs(np.dot(quaternion, nearest)) - 1.0) < 1e-5


def test_about_an_axis_without_ends_a_change_is_at_most_half_a_turn():
    free, limited = EndRange(Cone(1.0)), EndRange(Cone(1.0, -3.1, 3.1))
    before, after = np.array([0.2, -0.3, -3.0]), np.array([0.5, 0.4, 3.0])
    assert free.difference(after, before) == pytest.approx([0.3, 0.7, 6.0 - 2.0 * np.pi])
    assert limited.difference(after, before) == pytest.approx([0.3, 0.7, 6.0])
    both = free.difference(np.array([after, before]).T, np.array([before, after]).T)
    assert pytest.approx(np.array([[0.3, 0.7, 6.0 - 2.0 * np.pi], [-0.3, -0.7, 2.0 * np.pi - 6.0]])) == both.T
