# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms of a body stay out of obstacles, still or moving, in every job; what has to be in one is named."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import body_stop, reach_with_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of

from ...bodies import human_rig
from ...rigs import empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 21
NEAR = Vector((0.28, -0.3, 1.45))  # where the hand goes: the elbow would be aside of it


def box(name, location, size, moves=()):
    """A box as an empty, of this half size, whose ways from there are keyed at frames."""
    found = empty(name, location)
    found.empty_display_type, found.empty_display_size, found.scale = "CUBE", 1.0, size
    for frame, way in moves:
        found.location = Vector(location) + Vector(way)
        found.keyframe_insert("location", frame=frame)
    return found


def wall():
    return box("Wall", (0.4, -0.2, 1.1), (0.05, 0.8, 1.1))


def passing():
    return box("Cart", (0.4, -0.2, 1.1), (0.05, 0.8, 1.1), ((1, (0.6, 0, 0)), (LAST, (0, 0, 0))))


def ball():
    found = empty("Ball", (0.5, -0.1, 1.3))
    found.empty_display_type, found.empty_display_size = "SPHERE", 0.2
    return found


def set_up(*obstacles, place=NEAR):
    """A rig whose left hand goes from before its hips to a place, and avoids obstacles."""
    rig, collection = human_rig(with_head=True), bpy.data.collections.new("Obstacles")
    set_up_body(rig, relax_arms=False)
    for each in obstacles:
        collection.objects.link(each)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.obstacles = collection
    for frame, location in ((1, (0.3, -0.25, 1.0)), (LAST, place)):
        stored.target.location = location
        stored.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.context.view_layer.update()
    return rig


def inside(rig, ob, bones=("upper_arm.L", "forearm.L")):
    """How deep lines of bones are in an obstacle at the present frame; negative where outside."""
    deepest, into, scale = -1.0, ob.matrix_world.inverted(), np.array(ob.matrix_world.to_scale())
    for name in bones:
        head, tail = (rig.matrix_world @ each for each in (rig.pose.bones[name].head, rig.pose.bones[name].tail))
        for share in np.linspace(0.0, 1.0, 21):
            point = np.array(into @ head.lerp(tail, share))
            if ob.empty_display_type == "SPHERE":
                deep = ob.empty_display_size - np.linalg.norm(point * scale)
            else:
                deep = ((1.0 - np.abs(point)) * scale).min()
            deepest = max(deepest, float(deep))
    return deepest


def every_frame(rig, ob, **more):
    """The same at all frames."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(inside(rig, ob, **more))
    return max(found)


@pytest.mark.parametrize("made", [wall, passing, ball])
def test_an_elbow_stays_out_of_an_obstacle_while_its_hand_reaches(made):
    rig = set_up(made())
    (ob,), body = rig.pose.bones["hand.L"].ik_triangulation.obstacles.objects, body_of(rig, "hand.L")
    rig.pose.bones["hand.L"].ik_triangulation.obstacle_weight = 0.0
    bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert every_frame(rig, ob) > 0.01
    rig.pose.bones["hand.L"].ik_triangulation.obstacle_weight = 1.0
    report = bake_body(body, 1, LAST)
    assert report.reached, report.text
    assert not report.warnings
    assert every_frame(rig, ob) < 0.0
    shoulder = rig.pose.bones["upper_arm.L"].head
    assert rig.pose.bones["forearm.L"].head.z < shoulder.z, "an elbow goes down rather than up"


def test_clearance_is_kept_in_a_pose_and_in_a_drag(addon):
    rig = set_up(wall())
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target.animation_data_clear()
    stored.target.location, wall_now = NEAR, bpy.data.objects["Wall"]
    bpy.context.view_layer.update()
    solve_body_pose(body_of(rig, "hand.L"))
    assert inside(rig, wall_now) < 0.0
    stored.obstacle_margin = 0.03
    solve_body_pose(body_of(rig, "hand.L"))
    assert inside(rig, wall_now) < -0.03
    stored.obstacle_margin = 0.0
    live.start(rig, "hand.L")
    before = inside(rig, wall_now)
    for way in np.linspace(0.0, 0.06, 7):  # the wall comes nearer
        wall_now.location.x = 0.4 - way
        bpy.context.view_layer.update()
    assert inside(rig, wall_now) < 0.005, f"{before} before"
    assert (rig.matrix_world @ rig.pose.bones["hand.L"].tail - NEAR).length < 2e-3
    live.stop_all()


def test_a_hand_goes_round_the_edge_of_a_table_on_its_way():
    table, hand = box("Table", (0.0, -0.65, 0.95), (0.8, 0.45, 0.025)), ("forearm.L", "hand.L")
    rig = set_up(table)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target.animation_data_clear()
    stored.target.location = 0.42, -0.1, 0.72
    bpy.context.view_layer.update()
    solve_body_pose(body_of(rig, "hand.L"))
    stored.target.location = 0.2, -0.5, 1.02
    bpy.context.view_layer.update()
    for weight in (0.0, 1.0):
        stored.obstacle_weight = weight
        body = body_of(rig, "hand.L")
        report = reach_with_body(body, [body_stop(body, "hand.L", LAST)], 1)
        assert report.reached, report.text
        deep = every_frame(rig, table, bones=hand)
        assert (deep > 0.02) if weight == 0.0 else (deep < 0.015), "the hand still cuts the edge a little"


def test_what_has_to_be_in_an_obstacle_or_cannot_avoid_it_is_named():
    rig = set_up(wall(), place=Vector((0.55, -0.2, 1.3)))
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached
    assert [each for each in report.warnings if "'hand.L' goes into obstacle 'Wall', deepest at frame" in each]
    hand, head, foot = (rig.pose.bones[name].ik_triangulation for name in ("hand.L", "head", "foot.L"))
    head.obstacles = foot.obstacles = hand.obstacles
    head.target.location.x += 0.3
    told = [each for each in bake_body(body_of(rig, "hand.L"), 1, 3).warnings if "Obstacles" in each]
    assert [each.partition(":")[0] for each in told] == ["'foot.L'", "'head'"]


def test_an_obstacle_on_the_body_itself_is_refused():
    rig = set_up(wall())
    hat = bpy.data.objects["Wall"]
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "forearm.R"
    bpy.context.view_layer.update()
    with nothing_lost(), pytest.raises(TargetError, match=r"Obstacle 'Wall' follows chain bone"):
        bake_body(body_of(rig, "hand.L"), 1, LAST)


def test_a_free_arm_goes_on_to_hang_in_a_drag_whatever_is_around_it(addon):
    """Its obstacles count once it reaches, as in a pose."""
    rig = set_up(wall())
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target.animation_data_clear()
    other = rig.pose.bones["hand.R"].ik_triangulation
    cart = box("Cart", rig.pose.bones["forearm.R"].head, (0.1, 0.1, 0.1))
    other.obstacles = bpy.data.collections.new("Carts")
    other.obstacles.objects.link(cart)
    bpy.context.view_layer.update()
    live.start(rig, "hand.L")
    before = rig.pose.bones["forearm.R"].matrix_basis.copy()
    for way in np.linspace(0.01, 0.04, 4):
        stored.target.location = Vector((0.3, -0.25 - way, 1.0))
        bpy.context.view_layer.update()
    assert np.abs(np.array(rig.pose.bones["forearm.R"].matrix_basis - before)).max() < 0.02
    live.stop_all()
