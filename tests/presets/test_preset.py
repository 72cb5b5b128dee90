# SPDX-License-Identifier: GPL-3.0-or-later
"""A preset fits limbs of any number of bones: it leaves joints out by their rank, or repeats one."""

import pytest

from ik_triangulation.kinematics import EulerLimits, Free, Locked
from ik_triangulation.presets.file import Preset, PresetJoint

LIMITS = EulerLimits("XYZ", (-0.6, -0.3, 0.0), (0.9, 0.3, 1.2))


def preset(**middle):
    """Three joints; the last is the first to be left out."""
    joints = PresetJoint("upper", Free()), PresetJoint("lower", LIMITS, **middle), PresetJoint("end", Locked(), rank=1)
    return Preset("Limb", joints)


def names(joints):
    return [joint.name for joint in joints]


@pytest.mark.parametrize(("count", "left"), [(1, ["upper"]), (2, ["upper", "lower"]), (3, ["upper", "lower", "end"])])
def test_a_shorter_limb_leaves_out_the_highest_ranks(count, left):
    assert names(preset().for_bones(count)) == left


def test_where_nothing_repeats_a_longer_limb_has_bones_without_a_joint():
    assert len(preset().for_bones(7)) == 3


@pytest.mark.parametrize("count", [4, 6])
def test_a_joint_is_repeated_in_its_place(count):
    found = preset(repeats=True).for_bones(count)
    assert names(found) == ["upper", *["lower"] * (count - 2), "end"]
    assert all(joint.freedom is LIMITS for joint in found[1:-1])


def test_joints_that_share_a_range_have_it_together():
    found = preset(repeats=True, shared=True).for_bones(5)[1:-1]
    assert len(found) == 3
    for axis in range(3):
        assert sum(joint.freedom.lower[axis] for joint in found) == pytest.approx(LIMITS.lower[axis])
        assert sum(joint.freedom.upper[axis] for joint in found) == pytest.approx(LIMITS.upper[axis])
