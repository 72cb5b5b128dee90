# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the IK panel and of constraints, whatever the rotation mode."""

from math import inf

import pytest

from ik_triangulation.kinematics import Free, Hinge, Locked
from ik_triangulation.rig.freedom import limit_notes, limits_of

from .test_freedom import bone, change

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_constraints_of_several_euler_orders_exclude_each_other_but_not_custom_limits():
    pose_bone = bone()
    for order, ends in (("XYZ", 0.7), ("ZYX", 0.3), ("XYZ", 0.5)):
        limit = change(pose_bone.constraints.new("LIMIT_ROTATION"), {"owner_space": "LOCAL", "euler_order": order})
        change(limit, {"use_limit_x": True, "min_x": -ends, "max_x": ends})
    assert (limits_of(pose_bone).order, limits_of(pose_bone).upper[0]) == ("XYZ", pytest.approx(0.5))
    line = "Limit Rotation constraints are not obeyed on 'Bone 0' (another Euler order than the first)."
    assert limit_notes([pose_bone]) == [line]
    pose_bone.ik_triangulation_joint.source = "OWN"
    assert limit_notes([pose_bone]) == []


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ", "ZYX"])
@pytest.mark.parametrize("locked", ["", "x", "xy", "xyz", "yz"])
@pytest.mark.parametrize("limited", ["", "x", "yz"])
def test_the_ik_panel_says_which_axes_turn_and_how_far(mode, locked, limited):
    pose_bone = bone(mode)
    for axis in "xyz":
        setattr(pose_bone, f"lock_ik_{axis}", axis in locked)
        setattr(pose_bone, f"use_ik_limit_{axis}", axis in limited)
        setattr(pose_bone, f"ik_min_{axis}", -0.25)
        setattr(pose_bone, f"ik_max_{axis}", 0.5)
    found, free = limits_of(pose_bone), [axis for axis in "xyz" if axis not in locked]
    if not free:
        assert isinstance(found, Locked)
    elif len(free) == 1:
        assert isinstance(found, Hinge)
        assert [*found.axis] == [axis == free[0] for axis in "xyz"]
        ends = (-0.25, 0.5) if free[0] in limited else (-inf, inf)
        assert (found.lower, found.upper) == pytest.approx(ends)
    elif not locked and not limited:
        assert isinstance(found, Free)
    else:
        assert found.order == (mode if mode != "QUATERNION" else "YXZ")
        wide = [0.0 if axis in locked else 0.5 if axis in limited else inf for axis in "xyz"]
        assert found.upper == pytest.approx(wide)
        low = [0.0 if axis in locked else -0.25 if axis in limited else -inf for axis in "xyz"]
        assert found.lower == pytest.approx(low)
