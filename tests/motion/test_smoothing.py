# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothing keeps the tip and the limits."""

from random import Random

import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.path import Path

from ..chains import hinged, limited
from .paths import (
    check,
    first_pass,
    free,
    posed,
    smooth_motion,
)


def roughness(path):
    """Sum of the squared distances [rad] of rotations from the middle of those around them."""
    triples = zip(path, path[1:], path[2:], strict=False)
    return sum(rotation_angle(p.slerp(r, 0.5), q) ** 2 for triple in triples for p, q, r in zip(*triple, strict=True))


@pytest.mark.parametrize("make", [free, hinged, limited])
def test_smoothing_makes_the_curves_smoother_and_stays_within_tolerance_and_limits(make):
    random = Random(8)
    chain = make(8, 5, 2.0)
    motion = list(smooth_motion(chain, random, 75))
    moments = first_pass(posed(chain, motion[0]), [posed(chain, rotations).tip for rotations in motion])
    levels = []
    for amount in (0.0, 0.2, 1.0):
        path = Path(moments)
        finished(path.relax(amount))
        check(moments, path)
        levels.append(roughness(path.rotations))
        assert path.rotations[0] is moments[0].pose.rotations
        assert path.rotations[-1] is moments[-1].pose.rotations
    assert levels[0] > levels[1] > levels[2]
    assert levels[2] < 0.7 * levels[0]
