# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is posed at the present frame reaches, keeps its feet, and starts from the pose made by hand."""

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import AnimationError
from ik_triangulation.jobs.bake import bake_body, delete_generated
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.shots.problem import body_of

from ..bodies import FEET, HANDS, set_up_rig
from ..rigs import curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 24


@pytest.fixture
def rig(empty_scene):
    rig = set_up_rig(LAST)
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    return rig


def lower(rig, name, way=(-0.3, -0.3, -0.6)):
    rig.pose.bones[name].ik_triangulation.target.location += Vector(way)


def tails(rig, names=FEET):
    bpy.context.view_layer.update()
    return [rig.pose.bones[name].tail.copy() for name in names]


def apart(one, other):
    return max((a - b).length for a, b in zip(one, other, strict=True))


def channels(rig):
    return [(*bone.location, *bone.rotation_quaternion) for bone in rig.pose.bones]


def test_a_hand_reaches_and_the_feet_stay(rig):
    feet = tails(rig)
    lower(rig, "hand.L")
    report = solve_body_pose(body_of(rig, "hand.L"))
    assert report.reached, report.text
    assert apart(tails(rig), feet) < 1e-4
    assert rig.pose.bones["spine"].head.z < 0.95
    assert (rig.pose.bones["hand.L"].tail - rig.pose.bones["hand.L"].ik_triangulation.target.location).length < 1e-3
    assert not curves_of(rig)


def test_posing_again_gives_the_same_pose(rig):
    lower(rig, "hand.L")
    solve_body_pose(body_of(rig, "hand.L"))
    first = channels(rig)
    lower(rig, "hand.L", (0.0, 0.1, 0.3))
    solve_body_pose(body_of(rig, "hand.L"))
    assert channels(rig) != first
    lower(rig, "hand.L", (0.0, -0.1, -0.3))
    solve_body_pose(body_of(rig, "hand.L"))
    assert channels(rig) == [pytest.approx(each, abs=1e-4) for each in first]


def test_a_pose_is_keyed_when_asked_for(rig):
    lower(rig, "hand.R")
    report = solve_body_pose(body_of(rig, "hand.R"), key=True)
    assert report.keys == sum(len(curve.keyframe_points) for curve in curves_of(rig)) > 0
    assert 'pose.bones["spine"].location' in {curve.data_path for curve in curves_of(rig)}


def test_hips_moved_by_hand_take_the_pose_that_is_shown_along(rig):
    lower(rig, "hand.L")
    solve_body_pose(body_of(rig, "hand.L"))
    rig.pose.bones["spine"].location.x += 0.05
    feet = tails(rig)
    solve_body_pose(body_of(rig, "hand.L"))
    assert apart(tails(rig), feet) < 1e-4


def test_the_feet_are_where_they_were_after_baked_keys_are_deleted(rig):
    feet = tails(rig)
    lower(rig, "hand.L")
    body = body_of(rig, "hand.L")
    solve_body_pose(body)
    bake_body(body, 1, 5)
    delete_generated(rig, body.bones)
    solve_body_pose(body)
    assert apart(tails(rig), feet) < 1e-4


def test_a_pose_that_fails_changes_nothing(rig):
    rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=3)
    curves_of(rig)[0].lock = True
    lower(rig, "hand.L")
    with nothing_lost(), pytest.raises(AnimationError, match=r"'shin\.L' are locked"):
        solve_body_pose(body_of(rig, "hand.L"), key=True)


def test_a_leg_turned_by_hand_is_held_as_it_is(rig):
    rig.pose.bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), -0.4)
    feet = tails(rig)
    lower(rig, "hand.R", (0.0, -0.2, -0.2))
    solve_body_pose(body_of(rig, "hand.R"))
    assert apart(tails(rig), feet) < 1e-4
