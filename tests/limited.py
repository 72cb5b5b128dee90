# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with limits of every kind, for what works on many poses of them at once."""

from math import radians

from mathutils import Vector

from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked

from .chains import straight

X, Z = Vector((1.0, 0.0, 0.0)), Vector((0.0, 0.0, 1.0))


def limited_chains():
    """Name and chain: an arm, hinges, cones, bones that bend sideways, and one of every kind of joint."""
    shoulder = EulerLimits("XYZ", (-1.5, -1.4, -1.0), (1.0, 1.4, 1.5))
    wrist = EulerLimits("ZYX", (-1.2, 0.0, -0.3), (1.2, 0.0, 0.5))
    sideways = EulerLimits("XYZ", (-1.0, 0.0, -1.0), (1.0, 0.0, 1.0))
    every = [Cone(1.0, -0.5, 0.5), Free(), Hinge(Z, -0.8, 1.2), Locked(), EulerLimits("YXZ", (-1, 0, 0), (0.6, 0, 0))]
    return {
        "arm": straight((0.3, 0.28, 0.1), [shoulder, Hinge(X, 0.0, radians(150.0)), wrist]),
        "hinges": straight((1.0,) * 4, [Hinge(X, -1.5, 1.5)] * 4),
        "cones": straight((1.0,) * 4, [Cone(1.0, -0.5, 0.5)] * 4),
        "sideways": straight((1.0,) * 4, [sideways] * 4),
        "every kind": straight((1.0, 0.8, 0.7, 0.2, 0.6), every),
    }
