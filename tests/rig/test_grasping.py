# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands of any character are known by their fingers, and settle where they hold an object best."""

from math import degrees

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import RigError, TargetError
from ik_triangulation.rig.fingers import ClosedFinger, HeldSurface
from ik_triangulation.rig.grasping import GraspingHand, Stage, open_rotations

from ..characters import KINDS, character, part_of
from ..jobs.test_grasp import rod
from ..rigs import empty, place

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_holds_a_rod_in_its_palm(kind):
    rig = character(kind)
    bpy.context.view_layer.update()
    hand = GraspingHand(rig, part_of(rig, kind, "hand").name)
    assert [row.joints[0].name for row in hand.rows] == [
        part_of(rig, kind, f"{finger}1").name for finger in ("index", "middle", "ring", "little")
    ]
    surface = HeldSurface(rod(hand, 0.022), bpy.context.evaluated_depsgraph_get())
    way, closed = hand.settle(surface)
    assert (way @ hand.wrist - hand.wrist).length <= 0.035
    assert degrees(way.to_quaternion().angle) <= 15.1
    assert sum(finger.touches > 0 for finger in closed.fingers) >= 3
    assert degrees(closed.opposition) >= 100.0
    assert closed.penetration <= 0.001
    # The hand opens until nothing is in the way, while it stays where it is, and comes along the way that it goes.
    there, coming = Matrix.Identity(4), Matrix.Translation(-0.03 * (way.to_quaternion() @ hand.palm))
    stages = [Stage(0.0, coming), Stage(0.5, there), Stage(1.0, there)]
    held = hand.moved(way)
    opened, is_clear = open_rotations(held, closed, surface, stages, [finger.rotations for finger in closed.all])
    assert is_clear
    assert [len(each) for each in opened] == [len(finger.rotations) for finger in closed.all]
    for turns, finger in zip(opened[:4], closed.fingers, strict=True):
        bends = [sum(turn.angle for turn in each) for each in (turns, finger.rotations)]
        assert bends[0] <= bends[1] + 1e-6


def test_fingers_of_a_hand_that_a_bone_scales_do_not_pass_into_what_they_hold():
    kind = next(iter(KINDS))
    rig = character(kind)
    hand = rig.pose.bones[part_of(rig, kind, "hand").name]
    hand.parent_recursive[-1].scale = (1.5,) * 3
    bpy.context.view_layer.update()
    grasping = GraspingHand(rig, hand.name)
    surface = HeldSurface(rod(grasping, 0.033), bpy.context.evaluated_depsgraph_get())
    _, closed = grasping.settle(surface)
    assert sum(finger.touches > 0 for finger in closed.fingers) >= 3
    assert closed.penetration <= 0.001


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_what_is_inside_is_told_at_sharp_edges_too(size):
    """A long prism: across, it is a triangle with acute corners."""
    across = np.array(((0.0, 0.0), (3.0, 0.0), (2.8, 0.4)))
    places = [(x, *corner) for x in (-9.0, 9.0) for corner in across]
    mesh = bpy.data.meshes.new("Wedge")
    mesh.from_pydata(
        (size * np.array(places)).tolist(), [], [(1, 4, 3, 0), (2, 5, 4, 1), (0, 3, 5, 2), (0, 2, 1), (3, 4, 5)]
    )
    surface = HeldSurface(place(bpy.data.objects.new("Wedge", mesh)), bpy.context.evaluated_depsgraph_get())
    into = np.linalg.inv(np.vstack((across.T, np.ones(3))))  # barycentric coordinates
    random, inside = np.random.default_rng(1), 0
    for x, y, z in random.uniform((-1.0, -0.5, -0.3), (1.0, 3.5, 0.6), (300, 3)):
        within = (into @ (y, z, 1.0)).min() > 0.0
        inside += within
        assert (surface.distance(size * Vector((x, y, z))) < 0.0) == within, (x, y, z)
    assert inside > 20


@pytest.mark.parametrize("mirrored", [False, True])
def test_what_is_outside_is_told_at_a_sharp_corner_one_side_of_which_has_many_faces(mirrored):
    """A spike, one side of which is a fan: its faces tell no more together than the single face of another side."""
    base = np.array([(0.25, -0.1, 0.0), (-0.25, -0.1, 0.0), (0.0, 0.15, 0.0)])
    fan = [tuple(base[0] + (base[1] - base[0]) * k / 12) for k in range(13)]
    corners = [(0.0, 0.0, 3.0), *fan, tuple(base[2])]
    faces = [(0, k + 1, k) for k in range(1, 13)] + [(0, 14, 13), (0, 1, 14), tuple(range(1, 15))]
    mesh = bpy.data.meshes.new("Spike")
    mesh.from_pydata(corners, [], faces)
    spike = place(bpy.data.objects.new("Spike", mesh))
    spike.scale.x = -1.0 if mirrored else 1.0
    bpy.context.view_layer.update()
    surface = HeldSurface(spike, bpy.context.evaluated_depsgraph_get())
    sides = [np.array(corners)[list(face[:3])] for face in (faces[0], *faces[12:14])]
    normals = [np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a)) for a, b, c in sides]
    random, inside = np.random.default_rng(3), 0
    for point in random.uniform((-0.3, -0.3, 2.0), (0.3, 0.3, 3.4), (2000, 3)) * (1.0 - 2.0 * mirrored, 1.0, 1.0):
        seen = point * (1.0 - 2.0 * mirrored, 1.0, 1.0)
        within = all((seen - side[0]) @ normal < 0.0 for side, normal in zip(sides, normals, strict=True))
        inside += within
        assert (surface.distance(Vector(point)) < 0.0) == within, point
    assert inside > 3


def test_what_is_out_of_reach_or_thicker_than_the_hand_opens_is_refused():
    kind = next(iter(KINDS))
    rig = character(kind)
    bpy.context.view_layer.update()
    hand, scene, graph = GraspingHand(rig, part_of(rig, kind, "hand").name), bpy.context.scene, None
    straight = [row.straight()[-1][1] for row in hand.rows]
    near = rod(hand, 0.022, name="Rod")
    graph = bpy.context.evaluated_depsgraph_get()
    hand.check(HeldSurface(near, graph), "Rod", scene)
    closed = hand.close(HeldSurface(near, graph))
    assert sum(finger.touches > 0 for finger in closed.fingers) >= 3
    assert closed.thumb is not None
    middle = sum(hand.knuckles, Vector()) / len(hand.knuckles)
    for reach, is_there in ((2.0, True), (2.4, False)):
        near.location = middle + hand.palm * (0.022 + reach * hand.size)
        bpy.context.view_layer.update()
        surface = HeldSurface(near, bpy.context.evaluated_depsgraph_get())
        assert surface.distance(middle) == pytest.approx(reach * hand.size, rel=0.01)
        if is_there:
            hand.check(surface, "Rod", scene)
        else:
            with pytest.raises(TargetError, match=r"'Rod' is .* away from the knuckles of .*out of the reach"):
                hand.check(surface, "Rod", scene)
    thumbs = [hand.thumb.phalanges(rotations)[-1][1] for rotations in hand.open_thumbs]
    assert hand.opening == pytest.approx(max((thumb - tip).length for thumb in thumbs for tip in straight))
    thick = rod(hand, 0.6 * hand.opening, name="Barrel", depth=3.0 * hand.opening)
    surface = HeldSurface(thick, bpy.context.evaluated_depsgraph_get())
    with pytest.raises(TargetError, match=r"'Barrel' is .* thick, more than .* opens .*Choose a smaller object"):
        hand.check(surface, "Barrel", scene)
    hand.thumb = None
    assert hand.opening == max((t - k).length for t, k in zip(straight, hand.knuckles, strict=True))
    closed = hand.close(HeldSurface(near, bpy.context.evaluated_depsgraph_get()))
    assert (closed.thumb, closed.opposition, closed.all) == (None, 0.0, closed.fingers)
    with pytest.raises(RigError, match=r"is no hand whose fingers are known\. Choose a hand with two fingers"):
        GraspingHand(rig, part_of(rig, kind, "forearm").name)
    with pytest.raises(TargetError, match="'Nail' has no faces to hold"):
        HeldSurface(empty("Nail"), bpy.context.evaluated_depsgraph_get())


def test_of_a_closed_finger_the_phalanges_that_touch_and_the_distances_of_the_others_are_counted():
    finger = ClosedFinger((), (), (-0.01, 0.02, 0.03, 0.05), (), 0.02, ())
    assert finger.touches == 2
    assert finger.left == pytest.approx(0.08)
