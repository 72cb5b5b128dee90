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


def test_the_width_of_an_object_is_measured_across_its_longest_side_wherever_it_is_and_however_it_is_turned():
    mesh = bpy.data.meshes.new("Box")
    corners = [(x, y, z) for x in (0.0, 5.0) for y in (0.0, 2.0) for z in (0.0, 1.0)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    box = place(bpy.data.objects.new("Box", mesh))
    for where, turn in (((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((30.0, -20.0, 9.0), (0.4, -0.8, 1.3))):
        box.location, box.rotation_euler = where, turn
        bpy.context.view_layer.update()
        surface = HeldSurface(box, bpy.context.evaluated_depsgraph_get())
        assert surface.width == pytest.approx(2.0, abs=1e-4)


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


# By the radius of the rod and its distance from the knuckles [m]: shift [mm] and turn of the hand [degrees], the bends
# of all fingers and of the thumb [degrees], phalanges that touch, the angle between thumb and fingers [degrees], and
# the bends while all are open.
GRASPS = {
    (0.012, 0.014): (1.0, 0.0, [173, 189, 168, 114, 178], [2, 2, 2, 3, 1], 173.3, [87, 95, 84, 57, 122]),
    (0.022, 0.014): (1.1, 0.0, [133, 142, 123, 82, 126], [2, 3, 3, 3, 1], 169.4, [67, 71, 62, 41, 67]),
    (0.04, 0.014): (1.2, 0.0, [88, 93, 81, 55, 109], [3, 3, 3, 3, 2], 168.8, [44, 46, 40, 27, 66]),
    (0.03, 0.04): (20.7, 0.0, [105, 123, 94, 55, 111], [3, 3, 3, 3, 2], 180.0, [52, 62, 47, 28, 62]),
    (0.015, 0.0): (15.0, 0.0, [160, 174, 153, 103, 26], [2, 2, 3, 3, 1], 160.0, [80, 87, 77, 51, 25]),
    (0.005, 0.01): (8.6, 10.0, [192, 211, 183, 147, 39], [2, 2, 2, 3, 2], 165.0, [96, 106, 92, 81, 38]),
    (0.05, 0.03): (14.8, 0.0, [72, 83, 65, 44, 63], [3, 3, 3, 3, 2], 135.0, [36, 41, 32, 22, 50]),
    (0.022, -0.02): (20.7, 0.0, [0, 172, 0, 0, 131], [1, 2, 1, 2, 2], 180.0, [0, 93, 0, 0, 67]),
    (0.03, 0.07): (20.7, 0.0, [77, 83, 75, 59, 76], [1, 1, 1, 1, 2], 168.7, [39, 41, 37, 29, 66]),
}


def bends(rotations):
    return [round(degrees(sum(turn.angle for turn in each))) for each in rotations]


@pytest.mark.parametrize(("radius", "off"), GRASPS)
def test_a_rod_is_held_as_a_hand_of_its_size_holds_it(radius, off):
    rig = character("Mixamo")
    bpy.context.view_layer.update()
    hand = GraspingHand(rig, part_of(rig, "Mixamo", "hand").name)
    surface = HeldSurface(rod(hand, radius, off), bpy.context.evaluated_depsgraph_get())
    way, closed = hand.settle(surface)
    shift, turn, bent, touches, angle, opened = GRASPS[radius, off]
    assert 1000.0 * (way @ hand.wrist - hand.wrist).length == pytest.approx(shift, abs=1.0)
    assert degrees(way.to_quaternion().angle) == pytest.approx(turn, abs=0.5)
    assert bends([finger.rotations for finger in closed.all]) == pytest.approx(bent, abs=2)
    assert [finger.touches for finger in closed.all] == touches
    assert degrees(closed.opposition) == pytest.approx(angle, abs=2.0)
    coming = Matrix.Translation(-0.03 * (way.to_quaternion() @ hand.palm))
    stages = [Stage(0.0, coming), Stage(0.5, Matrix()), Stage(1.0, Matrix())]
    own = [finger.rotations for finger in closed.all]
    found, is_clear = open_rotations(hand.moved(way), closed, surface, stages, own)
    assert is_clear is (off >= 0.0), "the last rod is between the fingers"
    assert bends(found) == pytest.approx(opened, abs=2)


def test_a_hand_that_is_moved_has_all_of_it_moved():
    rig = character("Mixamo")
    bpy.context.view_layer.update()
    hand = GraspingHand(rig, part_of(rig, "Mixamo", "hand").name)
    way = Matrix.LocRotScale((1.0, 2.0, 3.0), Matrix.Rotation(1.0, 3, (1.0, 2.0, 3.0)), None)
    moved = hand.moved(way)
    for name in ("palm", "along", "row"):
        assert (getattr(moved, name) - way.to_3x3() @ getattr(hand, name)).length < 1e-6
    assert (moved.wrist - way @ hand.wrist).length < 1e-6
    for one, other in zip(moved.knuckles, hand.knuckles, strict=True):
        assert (one - way @ other).length < 1e-6
    for one, other in zip([*moved.rows, moved.thumb], [*hand.rows, hand.thumb], strict=True):
        for (a, b), (c, d) in zip(one.straight(), other.straight(), strict=True):
            assert (a - way @ c).length + (b - way @ d).length < 1e-5
    hand.thumb = None
    assert hand.moved(way).thumb is None


def test_a_finger_closes_within_the_limits_of_its_joints():
    rig = character("Mixamo")
    stiff, locked = (part_of(rig, "Mixamo", f"{finger}2") for finger in ("index", "ring"))
    for axis in "xyz":
        setattr(stiff, f"use_ik_limit_{axis}", True)
        setattr(stiff, f"ik_min_{axis}", -0.2)
        setattr(stiff, f"ik_max_{axis}", 0.2)
    locked.rotation_mode, locked.lock_rotation = "XYZ", (True, True, True)
    bpy.context.view_layer.update()
    hand = GraspingHand(rig, part_of(rig, "Mixamo", "hand").name)
    closed = hand.close(HeldSurface(rod(hand, 0.012), bpy.context.evaluated_depsgraph_get()))
    index, middle, ring, _ = (finger.rotations[1].angle for finger in closed.fingers)
    assert 0.15 < index < 0.36
    assert middle > 0.8
    assert ring == pytest.approx(0.0, abs=1e-6)
