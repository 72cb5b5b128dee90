# SPDX-License-Identifier: GPL-3.0-or-later
"""Hypothesis strategies for chains, poses and targets: anything a rig can be, and the places where formulas break."""

import sys
from math import inf, pi, tau

from hypothesis import Phase, settings
from hypothesis import strategies as st
from mathutils import Matrix, Vector

from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Free, Hinge, Joint, Locked, Pose
from ik_triangulation.kinematics.rotation import EULER_ORDERS, about

LONG = "--long" in sys.argv  # before any test is collected
SPECIAL = (0.0, -0.0, pi / 2.0, -pi / 2.0, pi, -pi)
angles = st.sampled_from(SPECIAL) | st.floats(-pi, pi)
units = st.floats(-1.0, 1.0, width=32)
directions = st.one_of(
    st.tuples(units, units, units).filter(lambda v: Vector(v).length > 1e-3).map(lambda v: Vector(v).normalized()),
    st.sampled_from([Vector([float(sign * (i == j)) for j in range(3)]) for i in range(3) for sign in (1, -1)]),
)
rotations = st.builds(about, directions, angles)
seeds = st.integers(0, 2**32)
lengths = st.floats(-2.0, 2.0).map(lambda exponent: 10.0**exponent)  # Blender units


def examples(count):
    """Settings of a property: always the same examples, no clock, and no shrinking, which takes minutes.

    All of `count` in the long form, a third of them in the short one.
    """
    count = count if LONG else max(5, count // 3)
    return settings(derandomize=True, max_examples=count, deadline=None, database=None, phases=[Phase.generate])


@st.composite
def ranges(draw):
    """A range [rad]: anywhere on the circle, shifted by whole turns, up to a full turn wide, or open at its ends."""
    lower = draw(angles) + tau * draw(st.sampled_from((0, 0, 0, -1, 1)))
    upper = lower + draw(st.floats(0.0, tau))
    ends = draw(st.sampled_from(("both", "both", "both", "lower", "upper", "none")))
    return (lower if ends in {"both", "lower"} else -inf), (upper if ends in {"both", "upper"} else inf)


hinges = st.builds(lambda axis, ends: Hinge(axis, *ends), directions, ranges())
euler_limits = st.builds(
    lambda order, x, y, z: EulerLimits(order, *zip(x, y, z, strict=True)),
    st.sampled_from(EULER_ORDERS),
    ranges(),
    ranges(),
    ranges(),
)
cones = st.builds(lambda swing, ends: Cone(swing, *ends), st.sampled_from((0.0, pi)) | st.floats(0.0, pi), ranges())
FREEDOMS = {Free: st.just(Free()), Hinge: hinges, EulerLimits: euler_limits, Cone: cones, Locked: st.just(Locked())}
freedoms = st.one_of(*FREEDOMS.values())
stiffnesses = st.sampled_from((0.0, 0.0, 0.3, 0.99))


@st.composite
def chains(draw, freedoms=freedoms, most=8):
    """One to `most` links along any direction, 0.01 to 100 long, with joints of these `freedoms`."""
    offsets = [draw(directions) * length for length in draw(st.lists(lengths, min_size=1, max_size=most))]
    joints = [
        Joint(f"joint {i}", head, draw(rotations), draw(freedoms), draw(stiffnesses))
        for i, head in enumerate((Vector(), *offsets[:-1]))
    ]
    return Chain(joints, offsets[-1])


_any_chain = chains()


@st.composite
def poses(draw, chains=_any_chain):
    """A chain with every joint anywhere, allowed or not, on a base anywhere."""
    chain = draw(chains)
    base = Matrix.Translation(draw(directions) * chain.reach * draw(st.floats(0.0, 3.0)))
    base = base @ draw(rotations).to_matrix().to_4x4()
    return Pose(chain, base, [draw(rotations) for _ in chain.joints])


@st.composite
def scenes(draw):
    """A pose and a place to reach for: anywhere in or out of reach, on a joint, or on the tip."""
    pose = draw(poses())
    place = draw(st.integers(-3, len(pose)))
    if place == len(pose):
        return pose, pose.tip.copy()
    if place >= 0:
        return pose, pose.head(place).copy()
    return pose, pose.head(0) + draw(directions) * (pose.chain.reach * draw(st.floats(0.0, 2.0)))


def place_within_limits(pose, random):
    """Where the tip of a pose with every joint somewhere within its limits is."""
    there = pose.copy()
    there.project()
    for i, joint in enumerate(pose.chain.joints):
        if joint.freedom.moves:
            there.put(i, joint.freedom.random(random))
    return there.tip
