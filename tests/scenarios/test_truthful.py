# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says is what Blender shows: "reached" is reached, limits hold as stored, and what was moved is named.

Single precision: Blender's evaluation of a pose and ours differ by up to 1e-5 of the reach, so a tip that near to the
edge of the tolerance may be told either way; stored rotations are held to their limits within 2e-6 rad.
"""

from math import dist, isfinite, pi, radians
from random import Random

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.report import Report
from ik_triangulation.kinematics import Locked
from ik_triangulation.kinematics.rotation import EULER_ORDERS, rotation_angle
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of
from ik_triangulation.settings import JointSettings, settings_of

from ..chains import GENERAL
from ..modes import every_mode, in_short
from ..rigs import (
    MODES,
    armature,
    chain_rig,
    empty,
    evaluated_tip,
    nothing_lost,
    random_rotation,
    random_specs,
    random_vector,
    rotate,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

AGREE = 1e-5  # of the reach
LIMIT = 2e-6  # [rad]
RIGS, TARGETS = 12, 20


def random_range(random: Random) -> tuple[float, float]:
    """A range [rad] anywhere within Blender's own bounds of half a turn, up to that wide; some are one angle."""
    low = random.uniform(-pi, pi)
    return low, min(pi, low + random.choice((0.0, random.uniform(0.2, pi))))


def limit_randomly(random: Random, bone: bpy.types.PoseBone) -> None:
    """Give a bone limits of any kind, from any of the sources there are; a root may at least turn somehow."""
    own = bone.ik_triangulation_joint
    own.source = random.choice(("BLENDER", "OWN", "OWN", "CONSTRAINT")) if bone.parent else "OWN"
    own.kind = random.choice(settings_of(JointSettings)["kind"].choices) if bone.parent else "CONE"
    own.axis, own.order = random_rotation(random) @ Vector((1.0, 0.0, 0.0)), random.choice(("AUTO", *EULER_ORDERS))
    own.lower, own.upper = random_range(random)
    own.minimum, own.maximum = zip(*(random_range(random) for _ in "xyz"), strict=True)
    own.swing, (own.twist_lower, own.twist_upper) = random.uniform(0.3, pi), random_range(random)
    own.stiffness = random.choice((0.0, 0.5))
    # Angles that add up to less than 270 degrees: of others the constraint reads another triple than was meant.
    constraint = bone.constraints.new("LIMIT_ROTATION") if own.source == "CONSTRAINT" else None
    for axis in "xyz":
        low, high = -random.uniform(0.1, 1.5), random.uniform(0.1, 1.5)
        setattr(bone, f"use_ik_limit_{axis}", random.random() < 0.7)
        setattr(bone, f"lock_ik_{axis}", random.random() < 0.3)
        setattr(bone, f"ik_min_{axis}", low)
        setattr(bone, f"ik_max_{axis}", high)
        if constraint:
            constraint.owner_space = "LOCAL"
            setattr(constraint, f"use_limit_{axis}", True)
            setattr(constraint, f"min_{axis}", low)
            setattr(constraint, f"max_{axis}", high)


def random_rig(random: Random) -> bpy.types.Object:
    """An armature anywhere, with one chain of two to six limited bones in any pose and rotation modes."""
    rig = armature("Rig", random_specs(random, "Bone", random.randint(2, 6)))
    rig.location, rig.rotation_euler = random_vector(random, -3.0, 3.0), random_vector(random, -pi, pi)
    rig.scale = (random.uniform(0.5, 2.0),) * 3
    for bone in rig.pose.bones:
        bone.rotation_mode = random.choice(MODES)
        rotate(bone, random_rotation(random))
        limit_randomly(random, bone)
    return rig


def reach_of(rig: bpy.types.Object) -> float:
    """Sum of the lengths of all links [Blender units, world space]."""
    heads = [rig.matrix_world @ bone.head for bone in rig.pose.bones]
    return sum(map(dist, heads, [*heads[1:], evaluated_tip(rig, rig.pose.bones[-1].name)]))


def check_truthful(rig: bpy.types.Object, target: bpy.types.Object, report: Report) -> bool:
    """Whether Blender shows what the report says; returns whether that is a tip that reaches."""
    shown = dist(evaluated_tip(rig, rig.pose.bones[-1].name), target.matrix_world.translation)
    [result] = report.frames
    rounding = AGREE * reach_of(rig)
    assert abs(result.error - shown) <= rounding
    assert shown <= report.tolerance + rounding if result.reached else shown >= report.tolerance - rounding
    return bool(result.reached)


def check_limits(rig: bpy.types.Object) -> None:
    """Every bone stands within its limits as stored, and its values are numbers that mean a rotation."""
    for bone in rig.pose.bones:
        rotation = rotation_of(bone)
        assert rotation_angle(freedom_of(bone).nearest(rotation), rotation) <= LIMIT, bone.name
        values = [*bone.rotation_quaternion, *bone.rotation_axis_angle, *bone.rotation_euler]
        assert all(map(isfinite, values))
        if bone.rotation_mode == "QUATERNION":
            assert abs(bone.rotation_quaternion.magnitude - 1.0) < 5e-7


def pose_within_limits(random: Random, rig: bpy.types.Object) -> None:
    """Turn every bone that is not locked to some rotation that it may have."""
    for bone in rig.pose.bones:
        freedom = freedom_of(bone)
        if freedom != Locked():
            rotate(bone, freedom.random(random))
    bpy.context.view_layer.update()


@pytest.mark.parametrize("seed", [pytest.param(n, marks=pytest.mark.long) if n % 2 else n for n in range(RIGS)])
def test_reached_is_what_blender_shows_and_limits_hold_as_stored(seed, long):
    """Places anywhere in and out of reach, and the tips of poses within the limits, from any start."""
    random = Random(seed)
    rig, target = random_rig(random), empty()
    tip, bones = rig.pose.bones[-1].name, rig.pose.bones
    for number in range(TARGETS if long else TARGETS // 2):
        pose_within_limits(random, rig)
        reach = reach_of(rig)
        away = random_rotation(random) @ Vector((0.0, reach * random.uniform(0.0, 1.2), 0.0))
        target.location = rig.matrix_world @ bones[0].head + away if number % 2 else evaluated_tip(rig, tip)
        for bone in bones:
            if freedom_of(bone) != Locked():
                rotate(bone, random_rotation(random))
        solver, finish = GENERAL[(seed + number) % len(GENERAL)], number % 4 > 0
        report = solve_pose(
            Limb.from_tip(rig, tip, target, solver=solver, tolerance=1e-3 * reach, iterations=30, finish=finish)
        )
        reached = check_truthful(rig, target, report)
        check_limits(rig)
        assert reached or number % 2 or not finish


@every_mode
@pytest.mark.parametrize("influence", [1.0, 0.5, 0.01])
def test_stored_quaternions_have_unit_length_whatever_the_influence(mode, influence):
    rig = chain_rig(3, mode=mode)
    target = empty(location=evaluated_tip(rig, "Bone 2") + Vector((0.02, 0.0, -0.02)))
    solve_pose(Limb.from_tip(rig, "Bone 2", target, influence=influence, tolerance=1e-5))
    check_limits(rig)
    assert any(rotation_of(bone) != Quaternion() for bone in rig.pose.bones)


def hinge(bone: bpy.types.PoseBone, lower: float, upper: float) -> None:
    """Let a bone turn about its X axis by its own values [rad]."""
    own = bone.ik_triangulation_joint
    own.source, own.kind, own.axis, own.lower, own.upper = "OWN", "HINGE", (1.0, 0.0, 0.0), lower, upper


@pytest.mark.parametrize("upper", [radians(150.0), radians(30.0)], ids=["a range", "one angle"])
@pytest.mark.parametrize("act", ["solve", "bake"])
def test_bones_that_stood_outside_their_limits_are_moved_inside_and_named(act, upper):
    rig = chain_rig(3)
    hinge(rig.pose.bones["Bone 1"], radians(30.0), upper)
    limb = Limb.from_tip(rig, "Bone 2", empty())
    report = solve_pose(limb) if act == "solve" else bake(limb, 1, 3)
    assert any("'Bone 1' stood outside the limits" in warning for warning in report.warnings)
    assert not any("Bone 0" in warning for warning in report.warnings)
    check_limits(rig)
    again = solve_pose(limb) if act == "solve" else bake(limb, 1, 3)
    assert not again.warnings


def test_a_rig_on_which_nothing_can_move_is_refused():
    rig = chain_rig(3)
    rig.pose.bones["Bone 0"].lock_rotation = (True, True, True)
    rig.pose.bones["Bone 1"].ik_triangulation_joint.source = "OWN"
    rig.pose.bones["Bone 1"].ik_triangulation_joint.kind = "LOCKED"
    hinge(rig.pose.bones["Bone 2"], 0.5, 0.5)
    limb = Limb.from_tip(rig, "Bone 2", empty())
    for act in (lambda: solve_pose(limb), lambda: bake(limb, 1, 3)):
        with nothing_lost(), pytest.raises(ChainError, match="Nothing can move"):
            act()


@pytest.mark.parametrize("order", in_short(EULER_ORDERS))
def test_a_limit_rotation_constraint_leaves_alone_what_was_solved_near_its_poles(order):
    """Where the middle angle is nearly a right one the constraint would tell the other two apart by rounding."""
    random = Random(order)
    rig, target = chain_rig(2, mode=order), empty()
    middle = order[1].lower()
    for bone in rig.pose.bones:
        limit = bone.constraints.new("LIMIT_ROTATION")
        limit.owner_space = "LOCAL"
        for axis in {*"xyz"} - {middle}:
            setattr(limit, f"use_limit_{axis}", True)
            setattr(limit, f"min_{axis}", -0.6)
            setattr(limit, f"max_{axis}", 0.7)
        bone.ik_triangulation_joint.source = "CONSTRAINT"
    for _ in range(20):
        target.location = random_rotation(random) @ Vector((0.0, 2.0, 0.0))
        report = solve_pose(Limb.from_tip(rig, "Bone 1", target))
        check_truthful(rig, target, report)
        check_limits(rig)
