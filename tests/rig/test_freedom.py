# SPDX-License-Identifier: GPL-3.0-or-later
"""Where limits come from: a Limit Rotation constraint means what Blender does with it, own values are read as written.

Blender evaluates single-precision Euler angles, which lose most beside the poles of the middle axis.
"""

from math import inf, pi, radians
from random import Random

import bpy
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.errors import ChainError, FreedomError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.freedom import freedom_of, is_unlimited, limit_notes, limits_of, stiffness_of, store
from ik_triangulation.rig.limb import Limb

from ..chains import random_cone, random_hinge, random_limits
from ..rigs import EULER_MODES, chain_rig, empty, random_rotation, rotate

pytestmark = pytest.mark.usefixtures("empty_scene")

ROUNDING = 2e-3  # [rad] of Blender's evaluation, beside the poles of the middle axis


def bone(mode="QUATERNION"):
    return chain_rig(1, mode=mode).pose.bones["Bone 0"]


def limited(pose_bone, **settings):
    """The bone takes its limits from a new constraint in Local Space."""
    pose_bone.ik_triangulation_joint.source = "CONSTRAINT"
    limit = pose_bone.constraints.new("LIMIT_ROTATION")
    return change(limit, {"owner_space": "LOCAL"} | settings)


def change(limit, settings):
    for name, value in settings.items():
        setattr(limit, name, value)
    return limit


def random_settings(random, order, legacy):
    """Limits on some axes, round the circle if they can, that add up to no more than Blender tells apart."""
    settings: dict[str, object] = {f"use_limit_{axis}": False for axis in "xyz"}
    settings |= {"euler_order": order, "use_legacy_behavior": legacy}
    left = 4.6
    for axis in random.sample("xyz", random.randint(1, 3)):
        most = random.uniform(0.1, min(left, pi))
        left -= most
        low, high = sorted(random.uniform(-most, most) for _ in range(2))
        if not legacy and left > pi and random.random() < 0.5:
            low, high, left = high, low + 2.0 * pi, left + most - pi  # across half a turn
        settings |= {f"use_limit_{axis}": True, f"min_{axis}": low, f"max_{axis}": high}
        if left < 0.2:
            break
    return settings


def evaluated(pose_bone, rotation):
    """What the constraint makes of a rotation."""
    rotate(pose_bone, rotation)
    bpy.context.view_layer.update()
    posed = pose_bone.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[pose_bone.name]
    return (posed.bone.matrix_local.inverted() @ posed.matrix).to_quaternion()


@pytest.mark.parametrize("legacy", [False, True], ids=["now", "legacy"])
@pytest.mark.parametrize("order", ["AUTO", *EULER_MODES])
def test_a_limit_rotation_constraint_leaves_alone_what_is_allowed(order, legacy):
    random = Random(f"{order} {legacy}")
    pose_bone = bone()
    limit = limited(pose_bone)
    for _ in range(15):
        change(limit, random_settings(random, order, legacy))
        freedom = freedom_of(pose_bone)
        for _ in range(4):
            allowed = freedom.random(random)
            assert rotation_angle(evaluated(pose_bone, allowed), allowed) < ROUNDING
            any_rotation = random_rotation(random)
            if rotation_angle(evaluated(pose_bone, any_rotation), any_rotation) > ROUNDING:
                assert freedom.nearest(any_rotation) is not any_rotation


@pytest.mark.parametrize("legacy", [False, True], ids=["now", "legacy"])
@pytest.mark.parametrize("order", ["AUTO", *EULER_MODES])
def test_a_constraint_on_every_axis_allows_all_that_blender_leaves_alone(order, legacy):
    random = Random(f"{order} {legacy}")
    pose_bone = bone()
    limit = limited(pose_bone)
    alone = 0
    for _ in range(5):
        change(limit, {f"use_limit_{axis}": True for axis in "xyz"} | {"euler_order": order})
        change(limit, {"use_legacy_behavior": legacy})
        for axis in "xyz":
            change(limit, {f"min_{axis}": random.uniform(-1.55, 0.0), f"max_{axis}": random.uniform(0.0, 1.55)})
        freedom = freedom_of(pose_bone)
        for _ in range(25):
            rotation = Quaternion().slerp(random_rotation(random), random.random())
            result = evaluated(pose_bone, rotation)
            assert rotation_angle(freedom.nearest(result), result) < ROUNDING
            if rotation_angle(result, rotation) < 1e-5:
                alone += 1
                assert rotation_angle(freedom.nearest(rotation), rotation) < ROUNDING
    assert alone > 10


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
def test_the_default_order_of_a_constraint_is_that_of_the_bone_or_xyz(mode):
    pose_bone = bone(mode)
    limited(pose_bone, use_limit_x=True, min_x=-0.5, max_x=0.25)
    freedom, random = freedom_of(pose_bone), Random(5)
    assert freedom.order == (mode if len(mode) == 3 else "XYZ")
    for _ in range(20):
        allowed = freedom.random(random)
        assert rotation_angle(evaluated(pose_bone, allowed), allowed) < ROUNDING


def test_axes_without_limits_share_what_the_others_leave_of_270_degrees():
    pose_bone = bone("XYZ")
    limit = limited(pose_bone, use_limit_x=True, min_x=0.0, max_x=radians(150.0))
    assert freedom_of(pose_bone).upper == pytest.approx([radians(angle) for angle in (150.0, 60.0, 60.0)], abs=1e-4)
    change(limit, {"use_limit_z": True, "min_z": -radians(90.0), "max_z": 0.0})
    assert freedom_of(pose_bone).lower == pytest.approx([radians(angle) for angle in (0.0, -30.0, -90.0)], abs=1e-4)
    change(limit, {"min_z": -radians(121.0)})
    assert freedom_of(pose_bone).upper[:2] == pytest.approx([radians(90.0)] * 2, abs=1e-4), "all are cut alike"
    change(limit, {"min_x": radians(140.0)})
    with pytest.raises(ChainError, match=r"'Limit Rotation' on 'Bone 0' is too wide to be held.*Narrow it"):
        freedom_of(pose_bone)


def test_automatic_limits_are_the_narrower_of_the_ik_panel_and_the_constraints():
    pose_bone = bone("XYZ")
    limit = limited(pose_bone, use_limit_x=True, min_x=-0.5, max_x=1.5, use_limit_y=True, min_y=-0.1, max_y=0.1)
    pose_bone.ik_triangulation_joint.property_unset("source")
    assert pose_bone.ik_triangulation_joint.source == "AUTO"
    assert freedom_of(pose_bone).upper[:2] == pytest.approx((1.5, 0.1))
    pose_bone.use_ik_limit_x, pose_bone.ik_min_x, pose_bone.ik_max_x = True, -1.0, 0.7
    assert (freedom_of(pose_bone).lower[0], freedom_of(pose_bone).upper[0]) == pytest.approx((-0.5, 0.7))
    pose_bone.lock_ik_z = True
    assert (freedom_of(pose_bone).lower[2], freedom_of(pose_bone).upper[2]) == (0.0, 0.0)
    second = change(pose_bone.constraints.new("LIMIT_ROTATION"), {"owner_space": "LOCAL", "use_limit_x": True})
    change(second, {"min_x": -0.2, "max_x": 0.4})
    assert (freedom_of(pose_bone).lower[0], freedom_of(pose_bone).upper[0]) == pytest.approx((-0.2, 0.4))
    assert limit_notes([pose_bone]) == []
    change(second, {"min_x": 1.2, "max_x": 1.4})
    assert freedom_of(pose_bone).upper[0] == pytest.approx(1.4), "the constraint wins"
    assert "no angle about X in common" in limit_notes([pose_bone])[0]
    pose_bone.constraints.remove(second)
    for settings, why in (
        ({"mute": True}, "disabled"),
        ({"mute": False, "influence": 0.5}, "influence below 1"),
        ({"influence": 1.0, "owner_space": "WORLD"}, "not in Local Space"),
    ):
        change(limit, settings)
        assert freedom_of(pose_bone).upper[:2] == (pytest.approx(0.7), inf)
        assert limit_notes([pose_bone]) == [f"Limit Rotation constraints are not obeyed on 'Bone 0' ({why})."]


def test_limit_rotation_constraints_that_are_ignored_are_one_line_of_a_report():
    rig = chain_rig(4)
    limits = [change(each.constraints.new("LIMIT_ROTATION"), {"owner_space": "LOCAL"}) for each in rig.pose.bones]
    for limit in limits:
        change(limit, {"use_limit_x": True, "min_x": -0.5, "max_x": 0.5})
    limits[0].mute = limits[1].mute = True
    limits[2].influence = 0.0
    limb = Limb.from_tip(rig, "Bone 3", empty(location=rig.pose.bones["Bone 3"].tail), 4)
    line = "Limit Rotation constraints are not obeyed on 'Bone 0', 'Bone 1' (disabled), 'Bone 2' (influence below 1)."
    assert [each for each in solve_pose(limb).warnings if "Limit Rotation" in each] == [line]
    assert [each for each in bake(limb, 1, 2).warnings if "Limit Rotation" in each] == [line]


def test_ignored_constraints_that_change_nothing_are_not_named():
    rig = chain_rig(3)
    panel, locked, unlimited = rig.pose.bones
    for each in rig.pose.bones:
        change(each.constraints.new("LIMIT_ROTATION"), {"mute": True, "use_limit_x": each != unlimited, "max_x": 1.0})
    panel.ik_triangulation_joint.source = "BLENDER"
    locked.lock_rotation, locked.rotation_mode = (True, True, True), "XYZ"
    assert limit_notes(rig.pose.bones) == []
    panel.ik_triangulation_joint.source = "AUTO"
    assert len(limit_notes(rig.pose.bones)) == 1


def test_constraints_that_add_limb_ignores_are_named_on_bones_with_a_preset():
    rig = chain_rig(3)
    muted, weak, acting = (each.constraints.new("LIMIT_ROTATION") for each in rig.pose.bones)
    for limit in (muted, weak, acting):
        change(limit, {"owner_space": "LOCAL", "use_limit_x": True, "max_x": 1.0})
    muted.mute, weak.influence = True, 0.4
    for each in rig.pose.bones:
        store(Free(), 0.0, each.ik_triangulation_joint)
    line = "Limit Rotation constraints are not obeyed on 'Bone 0' (disabled), 'Bone 1' (influence below 1)."
    assert limit_notes(rig.pose.bones) == [line]


def test_a_bone_with_a_limit_rotation_constraint_is_limited_and_gets_no_preset():
    pose_bone = bone()
    assert is_unlimited(pose_bone)
    change(pose_bone.constraints.new("LIMIT_ROTATION"), {"owner_space": "LOCAL", "use_limit_x": True, "max_x": 1.0})
    assert not is_unlimited(pose_bone)


def test_a_solve_with_default_settings_shows_what_was_solved_under_a_constraint():
    rig = chain_rig(3)
    for each in rig.pose.bones:
        limit = change(each.constraints.new("LIMIT_ROTATION"), {"owner_space": "LOCAL"})
        for axis in "xyz":
            change(limit, {f"use_limit_{axis}": True, f"min_{axis}": -0.6, f"max_{axis}": 0.6})
    for each in rig.pose.bones:
        rotate(each, Euler((0.5, 0.2, -0.4)).to_quaternion())
    bpy.context.view_layer.update()
    place = rig.pose.bones["Bone 2"].tail.copy()
    for each in rig.pose.bones:
        rotate(each, Quaternion())
    assert solve_pose(Limb.from_tip(rig, "Bone 2", empty(location=place), 3)).all_reached


def test_a_constraint_that_limits_nothing_allows_every_rotation():
    pose_bone = bone()
    limited(pose_bone)
    freedom, random = freedom_of(pose_bone), Random(6)
    for _ in range(50):
        rotation = random_rotation(random)
        assert freedom.nearest(rotation) is rotation


def test_a_legacy_constraint_knows_no_angle_beyond_half_a_turn():
    pose_bone = bone()
    limit = limited(pose_bone, use_limit_x=True, min_x=2.5, max_x=4.0, euler_order="XYZ")
    assert freedom_of(pose_bone).upper[0] == pytest.approx(4.0)
    limit.use_legacy_behavior = True
    assert (freedom_of(pose_bone).lower[0], freedom_of(pose_bone).upper[0]) == (pytest.approx(2.5), pi)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"owner_space": "WORLD"}, "'Limit Rotation' on 'Bone 0' is not in Local Space"),
        ({"influence": 0.5}, "has an influence below 1"),
        ({"influence": 0.0}, "no active Limit Rotation constraint"),
        ({"mute": True}, "no active Limit Rotation constraint"),
    ],
)
def test_a_constraint_that_cannot_be_held_is_refused(settings, message):
    pose_bone = bone()
    limited(pose_bone, **settings)
    with pytest.raises(ChainError, match=message):
        freedom_of(pose_bone)


def test_two_constraints_or_none_are_refused_unless_one_is_off():
    pose_bone = bone()
    pose_bone.ik_triangulation_joint.source = "CONSTRAINT"
    with pytest.raises(ChainError, match="'Bone 0' takes its limits from a constraint, but has no active"):
        freedom_of(pose_bone)
    limited(pose_bone, use_limit_y=True, min_y=-0.5, max_y=0.5)
    second = limited(pose_bone)
    with pytest.raises(ChainError, match=r"has 2 active Limit Rotation constraints\. Leave one"):
        freedom_of(pose_bone)
    second.mute = True
    assert freedom_of(pose_bone).upper[1] == 0.5


def test_an_inverted_constraint_is_refused():
    pose_bone = bone()
    limited(pose_bone, use_limit_x=True, min_x=1.0, max_x=0.5)
    with pytest.raises(FreedomError, match="X is inverted"):
        freedom_of(pose_bone)


# Own values


def test_own_values_of_a_cone():
    pose_bone = bone()
    own = pose_bone.ik_triangulation_joint
    own.source, own.kind, own.swing, own.twist_lower, own.twist_upper = "OWN", "CONE", 0.75, -0.5, 1.25
    assert freedom_of(pose_bone) == Cone(0.75, -0.5, 1.25)
    own.use_limits = False
    assert freedom_of(pose_bone) == Cone(0.75)
    own.use_limits, own.twist_lower = True, 2.0
    with pytest.raises(FreedomError, match="Cone twist is inverted"):
        freedom_of(pose_bone)


@pytest.mark.parametrize("mode", ["QUATERNION", "XZY"])
def test_own_euler_limits_are_in_the_order_that_is_named_or_that_of_the_bone(mode):
    pose_bone = bone(mode)
    own = pose_bone.ik_triangulation_joint
    own.source, own.kind = "OWN", "EULER"
    assert freedom_of(pose_bone).order == (mode if len(mode) == 3 else "YXZ")
    for order in EULER_MODES:
        own.order = order
        assert freedom_of(pose_bone).order == order


KINDS = {
    "free": lambda _: Free(),
    "locked": lambda _: Locked(),
    "hinge": random_hinge,
    "hinge without limits": lambda random: Hinge(random_hinge(random).axis),
    "hinge with one": lambda random: Hinge(random_hinge(random).axis, 0.5, inf),
    "euler": random_limits,
    "euler with some": lambda random: EulerLimits("ZXY", (-inf, random.uniform(-3.0, -1.0), 0.25), (inf, 0.0, 0.25)),
    "cone": random_cone,
    "cone without twist limits": lambda random: Cone(random.uniform(0.1, 3.0)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_is_read_again(kind):
    random, pose_bone = Random(kind), bone()
    own = pose_bone.ik_triangulation_joint
    for _ in range(10):
        freedom = KINDS[kind](random)
        store(freedom, 0.5, own)
        read = limits_of(pose_bone)
        assert (type(read), stiffness_of(pose_bone), own.source) == (type(freedom), 0.5, "OWN")
        assert read.moves == freedom.moves
        for _ in range(20):
            rotation = random_rotation(random)
            a, b = freedom.nearest(rotation), read.nearest(rotation)
            # Where two allowed rotations are as near, either will do.
            assert rotation_angle(a, b) < 1e-5 or rotation_angle(a, rotation) == pytest.approx(
                rotation_angle(b, rotation), abs=1e-5
            )
            inside = freedom.random(random)
            assert rotation_angle(read.nearest(inside), inside) < 2e-6


def test_storing_leaves_the_values_of_other_kinds_alone():
    own = bone().ik_triangulation_joint
    own.lower, own.upper, own.swing, own.minimum = 0.25, 0.5, 1.5, (-1.0, -0.5, -0.25)
    store(Hinge(Vector((0.0, 0.0, 1.0))), 0.0, own)
    assert (own.lower, own.upper, own.swing, tuple(own.minimum)) == (0.25, 0.5, 1.5, (-1.0, -0.5, -0.25))


def first_bone(mode="QUATERNION"):
    """The only bone of a rig."""
    return chain_rig(1, mode=mode).pose.bones[0]


def limit(pose_bone, axis, low, high):
    setattr(pose_bone, f"use_ik_limit_{axis}", True)
    setattr(pose_bone, f"ik_min_{axis}", low)
    setattr(pose_bone, f"ik_max_{axis}", high)


def test_a_bone_is_free_at_first():
    assert freedom_of(first_bone()) == Free()
    assert stiffness_of(first_bone()) == 0.0


@pytest.mark.parametrize("axis", "xyz")
def test_two_locks_of_the_ik_panel_make_a_hinge(axis):
    pose_bone = first_bone()
    for other in "xyz":
        setattr(pose_bone, f"lock_ik_{other}", other != axis)
    hinge = freedom_of(pose_bone)
    assert isinstance(hinge, Hinge)
    assert hinge.axis["xyz".index(axis)] == 1.0
    assert (hinge.lower, hinge.upper) == (-inf, inf)
    limit(pose_bone, axis, -0.25, 1.5)
    limited = freedom_of(pose_bone)
    assert (limited.lower, limited.upper) == (-0.25, 1.5)


def test_three_locks_of_the_ik_panel_make_a_bone_that_does_not_turn():
    pose_bone = first_bone()
    pose_bone.lock_ik_x = pose_bone.lock_ik_y = pose_bone.lock_ik_z = True
    assert freedom_of(pose_bone) == Locked()


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_limits_of_the_ik_panel_are_euler_limits_in_the_order_of_the_bone(mode):
    pose_bone = first_bone(mode)
    limit(pose_bone, "x", -0.5, 0.25)
    pose_bone.lock_ik_z = True
    limits = freedom_of(pose_bone)
    assert limits == EulerLimits(mode if len(mode) == 3 else "YXZ", (-0.5, -inf, 0.0), (0.25, inf, 0.0))


def test_limits_of_a_locked_axis_do_not_count():
    pose_bone = first_bone("XYZ")
    limit(pose_bone, "x", -0.5, 0.25)
    pose_bone.lock_ik_x = True
    assert freedom_of(pose_bone) == EulerLimits("XYZ", (0.0, -inf, -inf), (0.0, inf, inf))


def test_stiffness_of_the_ik_panel_is_that_of_the_stiffest_axis():
    pose_bone = first_bone()
    pose_bone.ik_stiffness_x, pose_bone.ik_stiffness_y = 0.25, 0.5
    assert stiffness_of(pose_bone) == 0.5


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("FREE", Free()),
        ("LOCKED", Locked()),
        ("HINGE", Hinge(Vector((0.0, 0.0, 1.0)), 0.5, 2.0)),
        ("EULER", EulerLimits("XYZ", (-0.5, 0.0, -1.0), (0.5, 0.0, 1.0))),
    ],
)
def test_own_settings_replace_those_of_the_ik_panel(kind, expected):
    pose_bone = first_bone("XYZ")
    pose_bone.lock_ik_x = True
    own = pose_bone.ik_triangulation_joint
    own.source, own.kind, own.axis, own.lower, own.upper = "OWN", kind, (0.0, 0.0, 2.0), 0.5, 2.0
    own.minimum, own.maximum, own.stiffness = (-0.5, 0.0, -1.0), (0.5, 0.0, 1.0), 0.75
    assert freedom_of(pose_bone) == expected
    assert stiffness_of(pose_bone) == 0.75


def test_own_settings_of_a_hinge_without_limits():
    own = first_bone().ik_triangulation_joint
    own.source, own.kind, own.use_limits, own.axis = "OWN", "HINGE", False, (0.0, 3.0, 0.0)
    assert freedom_of(own.id_data.pose.bones[0]) == Hinge(Vector((0.0, 1.0, 0.0)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "HINGE", "axis": (0.0, 0.0, 0.0)}, "has no direction"),
        ({"kind": "HINGE", "lower": 2.0, "upper": 1.0}, "inverted"),
        ({"kind": "EULER", "minimum": (0.0, 1.0, 0.0), "maximum": (0.0, 0.5, 0.0)}, "Euler limit Y is inverted"),
    ],
)
def test_settings_that_describe_no_rotation_are_refused(settings, message):
    own = first_bone().ik_triangulation_joint
    own.source = "OWN"
    for name, value in settings.items():
        setattr(own, name, value)
    with pytest.raises(FreedomError, match=message):
        freedom_of(own.id_data.pose.bones[0])


def test_a_locked_channel_freezes_an_axis_where_it_is():
    pose_bone = first_bone("XYZ")
    pose_bone.rotation_euler, pose_bone.lock_rotation[1] = (0.25, 0.5, 0.75), True
    assert freedom_of(pose_bone) == EulerLimits("XYZ", (-inf, 0.5, -inf), (inf, 0.5, inf))


def test_a_locked_channel_wins_over_a_limit():
    pose_bone = first_bone("XYZ")
    pose_bone.rotation_euler, pose_bone.lock_rotation[0] = (0.75, 0.0, 0.0), True
    limit(pose_bone, "x", -0.5, 0.25)
    assert freedom_of(pose_bone) == EulerLimits("XYZ", (0.75, -inf, -inf), (0.75, inf, inf))


def test_a_locked_channel_across_a_slanted_hinge_is_refused_by_name():
    pose_bone = first_bone("XYZ")
    own = pose_bone.ik_triangulation_joint
    own.source, own.kind, own.axis = "OWN", "HINGE", (1.0, 1.0, 0.0)
    pose_bone.lock_rotation[0] = True
    with pytest.raises(ChainError, match="'Bone 0' has locked rotation channels, and limits"):
        freedom_of(pose_bone)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_locked_channel_beside_a_hinge_leaves_the_hinge_its_range(sign):
    pose_bone = first_bone("XYZ")
    own = pose_bone.ik_triangulation_joint
    own.source, own.kind, own.axis, own.lower, own.upper = "OWN", "HINGE", (0.0, 0.0, sign), -0.5, 1.0
    pose_bone.lock_rotation[0] = True
    ends = (-0.5, 1.0) if sign > 0.0 else (-1.0, 0.5)
    assert freedom_of(pose_bone) == EulerLimits("XYZ", (0.0, 0.0, ends[0]), (0.0, 0.0, ends[1]))


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ((20.0, 150.0, 150.0), (20.0, 125.0, 125.0)),
        ((150.0, 30.0, 140.0), (120.0, 30.0, 120.0)),
        ((100.0, 100.0, 100.0), (90.0, 90.0, 90.0)),
        ((90.0, 80.0, 100.0), (90.0, 80.0, 100.0)),
    ],
)
def test_of_ranges_that_are_too_wide_the_widest_are_cut_until_they_add_up_to_270_degrees(ends, found):
    pose_bone = bone("XYZ")
    sizes = {name: radians(end) for name, end in zip("xyz", ends, strict=True)}
    limited(
        pose_bone,
        **{f"use_limit_{axis}": True for axis in sizes},
        **{f"min_{axis}": -size for axis, size in sizes.items()},
        **{f"max_{axis}": size for axis, size in sizes.items()},
    )
    assert freedom_of(pose_bone).upper == pytest.approx([radians(each) for each in found], abs=1e-4)
    assert freedom_of(pose_bone).lower == pytest.approx([-radians(each) for each in found], abs=1e-4)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("is_limited", [False, True])
def test_a_hinge_of_the_ik_panel_stays_one_beside_a_constraint_about_it(axis, is_limited):
    pose_bone, letter = bone("XYZ"), "xyz"[axis]
    for other in "xyz":
        setattr(pose_bone, f"lock_ik_{other}", other != letter)
    setattr(pose_bone, f"use_ik_limit_{letter}", is_limited)
    setattr(pose_bone, f"ik_min_{letter}", -0.4)
    setattr(pose_bone, f"ik_max_{letter}", 1.0)
    limit = pose_bone.constraints.new("LIMIT_ROTATION")
    change(limit, {"owner_space": "LOCAL", f"use_limit_{letter}": True, f"min_{letter}": -0.6, f"max_{letter}": 0.6})
    found = freedom_of(pose_bone)
    for each in range(3):
        ends = ((-0.4 if is_limited else -0.6), 0.6) if each == axis else (0.0, 0.0)
        assert (found.lower[each], found.upper[each]) == pytest.approx(ends, abs=1e-6)
