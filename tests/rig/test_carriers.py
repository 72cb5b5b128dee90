# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets on the body's own bones, by parents and Child Of: a hand on a knee, and both hands on a prop."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.edits.spaces import set_space
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.targets.untouched import carrier_of

from ..bodies import FEET, human_rig
from ..rigs import empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12


@pytest.fixture
def rig():
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig)
    target = limb(rig, "hand.R").target
    for frame, height in ((1, 1.14), (LAST // 2, 0.45), (LAST, 1.14)):
        target.location = (-0.5, -0.35, height)
        target.keyframe_insert("location", frame=frame)
    return rig


def limb(rig, tip):
    return rig.pose.bones[tip].ik_triangulation


def at(rig, bone, place, name="On It"):
    """An empty at a place (world space) that is parented to a bone."""
    made = empty(name)
    made.parent, made.parent_type, made.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    made.matrix_world.translation = Vector(place)
    bpy.context.view_layer.update()
    return made


def carrier(rig, tip):
    body = body_of(rig, tip)
    return carrier_of(body, next(each for each in body.limbs if each.tip == tip))


def apart(rig, tip, target):
    """Largest distance from a tip to a target as shown."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append((rig.pose.bones[tip].tail - target.matrix_world.translation).length)
    return max(found)


def test_the_bone_of_the_body_that_carries_a_target_is_found(rig):
    assert carrier(rig, "hand.L") == ""
    limb(rig, "hand.L").target = at(rig, "shin.L", (0.1, -0.15, 0.55))
    assert carrier(rig, "hand.L") == "shin.L"
    limb(rig, "hand.L").target = at(rig, "heel.R", (0.1, 0.1, 0.05))  # not of the body
    assert carrier(rig, "hand.L") == "foot.R"
    limb(rig, "hand.L").target, limb(rig, "hand.L").subtarget = rig, "hand.R"
    assert carrier(rig, "hand.L") == "hand.R"


def test_a_hand_stays_on_its_own_knee_while_the_body_goes_down(rig):
    knee = at(rig, "shin.L", (0.1, -0.15, 0.55))
    limb(rig, "hand.L").target = knee
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached
    assert rig.pose.bones["spine"].head.z > 0.0
    assert apart(rig, "hand.L", knee) < 1e-4
    assert all(report.tips[name].error < 5e-3 for name in FEET)


@pytest.mark.parametrize("how", [pytest.param("parent", marks=pytest.mark.long), "child of"])
def test_both_hands_hold_a_prop_that_one_of_them_carries(rig, how):
    prop = empty("Prop")
    if how == "parent":
        prop = at(rig, "hand.R", rig.pose.bones["hand.R"].tail, "Stick")
    else:
        held = prop.constraints.new("CHILD_OF")
        held.target, held.subtarget = rig, "hand.R"
        prop.location = (0.0, 0.1, 0.0)
    grip = empty("Grip")
    grip.parent, grip.location = prop, (0.2, 0.0, 0.0)
    bpy.context.view_layer.update()
    limb(rig, "hand.L").target = grip
    assert carrier(rig, "hand.L") == "hand.R"
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert not report.tips["hand.R"].missed
    assert report.tips["hand.L"].error < 1e-3
    assert apart(rig, "hand.L", grip) < 1e-3


def test_a_hand_is_on_its_own_hips_for_some_frames_and_in_the_world_before_and_after(rig):
    target, (first, last) = limb(rig, "hand.L").target, (4, 9)
    for frame, place in ((1, (0.45, -0.2, 1.2)), (3, (0.2, -0.05, 1.05)), (LAST, (0.4, -0.3, 0.9))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(first)
    begins = target.matrix_world.translation.copy()
    set_space(rig, "hand.L", rig, "spine", first, last)
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached
    assert apart(rig, "hand.L", target) < 1e-3
    on_hips, low = [], 1.0
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        on_hips.append(rig.pose.bones["spine"].matrix.inverted() @ rig.pose.bones["hand.L"].tail)
        low = min(low, rig.pose.bones["spine"].head.z)
    assert low < 0.99
    assert max((each - on_hips[0]).length for each in on_hips) < 1e-4
    bpy.context.scene.frame_set(last + 1)  # where they have carried it to as they are solved, not as they were animated
    left = rig.pose.bones["spine"].matrix.inverted() @ rig.pose.bones["hand.L"].tail
    assert (left - on_hips[0]).length < 1e-4
    bpy.context.scene.frame_set(first)
    assert (target.matrix_world.translation - begins).length < 1e-5


def test_live_a_hand_stays_on_its_own_hips_while_the_other_one_pulls_them_down(rig):
    target, other, scene = limb(rig, "hand.L").target, limb(rig, "hand.R").target, bpy.context.scene
    target.location = (0.25, -0.1, 1.05)
    set_space(rig, "hand.L", rig, "spine", 4, 9)
    other.animation_data_clear()
    scene.frame_set(6)
    live.start(rig, "hand.L")
    heights = []
    for height in (1.0, 0.6, 0.3):
        other.location = (-0.3, -0.4, height)
        bpy.context.view_layer.update()
        bpy.context.view_layer.update()  # the target goes along with the hips
        heights.append(rig.pose.bones["spine"].head.z)
        assert (rig.pose.bones["hand.L"].tail - target.matrix_world.translation).length < 1e-4
        assert (rig.pose.bones["hand.R"].tail - other.matrix_world.translation).length < 1e-3
    assert heights[-1] < heights[0] - 0.03
    scene.frame_set(11)
    assert (rig.pose.bones["hand.L"].tail - target.matrix_world.translation).length < 2e-4
    live.stop(rig, "hand.L")


def test_a_head_looks_at_its_own_hand(rig):
    limb(rig, "head").target, limb(rig, "head").subtarget = rig, "hand.R"
    bpy.context.scene.frame_set(LAST // 2)
    report = solve_body_pose(body_of(rig, "head"))
    assert report.tips["head"].missed == []


def test_loops_are_refused_by_name_and_nothing_changes(rig):
    left, right = limb(rig, "hand.L"), limb(rig, "hand.R")
    left.target, left.subtarget = rig, "forearm.L"
    with nothing_lost(), pytest.raises(TargetError, match=r"'hand\.L' hangs on 'forearm\.L'"):
        solve_body_pose(body_of(rig, "hand.L"))
    left.subtarget, right.target, right.subtarget = "hand.R", rig, "hand.L"
    with nothing_lost(), pytest.raises(TargetError, match="hang on each other's limbs"):
        bake_body(body_of(rig, "hand.L"), 1, LAST)
