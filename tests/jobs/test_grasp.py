# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand closes around an object on any kind of character, keyed while it holds it; what cannot be held is refused."""

from itertools import pairwise
from math import degrees, radians
from random import Random
from types import SimpleNamespace

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from ik_triangulation.errors import RigError, TargetError
from ik_triangulation.jobs.grasp import _notes, grasp, hand_at, prop_held
from ik_triangulation.rig.fingers import HeldSurface
from ik_triangulation.rig.grasping import GraspingHand

from ..characters import character, part_of
from ..rigs import all_keys, curve_of, curves_of, empty, key_frames, nothing_lost, place

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
RADIUS = 0.0085  # m of a finger
SOME = "Rigify metarig", "Mixamo", "Unreal", "VRoid"


def hand_of(rig, kind):
    bpy.context.view_layer.update()
    return GraspingHand(rig, part_of(rig, kind, "hand").name)


def rod(hand, radius=0.025, off=0.014, depth=0.2, name="Rod"):
    """A rod along the knuckles, in the palm of a hand."""
    made = bmesh.new()
    bmesh.ops.create_cone(made, segments=32, radius1=radius, radius2=radius, depth=depth, cap_ends=True)
    mesh = bpy.data.meshes.new(name)
    made.to_mesh(mesh)
    made.free()
    ob = place(bpy.data.objects.new(name, mesh))
    middle = sum(hand.knuckles, Vector()) / len(hand.knuckles)
    turn = hand.row.to_track_quat("Z", "Y").to_matrix().to_4x4()
    ob.matrix_world = Matrix.Translation(middle + hand.palm * (radius + off) + hand.along * 0.008) @ turn
    bpy.context.view_layer.update()
    return ob


def clearances(rig, kind, ob):
    """The distances of the skin of each finger and the thumb from an object, as evaluated [m]."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    mesh = ob.evaluated_get(depsgraph).data
    tree = BVHTree.FromPolygons([ob.matrix_world @ v.co for v in mesh.vertices], [[*f.vertices] for f in mesh.polygons])
    found = {}
    for finger in ("thumb", "index", "middle", "ring", "little"):
        bones = [part_of(rig, kind, f"{finger}{n}") for n in (1, 2, 3)]
        joints = [rig.matrix_world @ bone.head for bone in bones]
        for share in np.linspace(0.0, 1.0, 9)[1:]:
            for a, b in pairwise(joints):
                point = a.lerp(b, share)
                near, normal, _, away = tree.find_nearest(point)
                signed = away if (point - near).dot(normal) > 0.0 else -away
                found[finger] = min(found.get(finger, 1.0), signed - RADIUS)
    return found


@pytest.mark.parametrize("kind", SOME)
def test_fingers_touch_and_are_not_in_the_object_and_the_thumb_is_opposite(kind):
    rig = character(kind)
    held = rod(hand_of(rig, kind))
    done = grasp(rig, part_of(rig, kind, "hand").name, held, key=False)
    assert done.fingers >= 3
    assert degrees(done.opposition) >= 100.0
    assert done.penetration <= 0.002
    assert done.warnings == ()
    shown = clearances(rig, kind, held)
    assert min(shown.values()) > -0.002
    assert sum(clear < 0.004 for finger, clear in shown.items() if finger != "thumb") >= 3
    assert not all_keys(rig)


def test_limits_of_the_rig_hold_and_human_ones_where_it_has_none():
    kind = "Mixamo"
    rig = character(kind)
    hand = hand_of(rig, kind)
    stiff = part_of(rig, kind, "index2")
    for axis in "xyz":
        setattr(stiff, f"use_ik_limit_{axis}", True)
        setattr(stiff, f"ik_min_{axis}", radians(-5.0))
        setattr(stiff, f"ik_max_{axis}", radians(5.0))
    grasp(rig, hand.name, rod(hand, 0.015), key=False, shift=False)
    assert degrees(stiff.rotation_quaternion.angle) < 9.0
    bent = degrees(part_of(rig, kind, "middle2").rotation_quaternion.angle)
    assert 20.0 < bent <= 105.1


def test_the_hand_shifts_to_what_is_a_little_off_its_palm_unless_its_arm_is_animated():
    kind = "Rigify metarig"
    rig = character(kind)
    hand = hand_of(rig, kind)
    held = rod(hand, 0.02, off=0.028)
    before = rig.matrix_world @ part_of(rig, kind, "hand").head
    done = grasp(rig, hand.name, held, key=False)
    moved = (rig.matrix_world @ part_of(rig, kind, "hand").head - before).length
    assert 0.005 < moved <= 0.035
    assert done.shift == pytest.approx(moved, abs=1e-4)
    assert done.fingers >= 3
    part_of(rig, kind, "upper_arm").keyframe_insert("rotation_quaternion", frame=1)
    part_of(rig, kind, "forearm").keyframe_insert("rotation_quaternion", frame=1)
    held.location += hand.palm * 0.01
    assert grasp(rig, hand.name, held, key=False).shift == 0.0


def taken(rig, hand, ob, frames=(20, 41)):
    """Let a hand take an object, from one frame to the one before another."""
    hold = ob.constraints.new("CHILD_OF")
    hold.name, hold.target, hold.subtarget = f"Held by {hand.name}", rig, hand.name
    bone = rig.pose.bones[hand.name]
    hold.inverse_matrix = (rig.matrix_world @ bone.matrix).inverted()
    for frame, value in ((1, 0.0), (frames[0], 1.0), (frames[1], 0.0)):
        hold.influence = value
        hold.keyframe_insert("influence", frame=frame)
    for curve in curves_of(ob):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"


def test_fingers_are_keyed_while_the_hand_holds_what_it_takes():
    kind = "Mixamo"
    rig = character(kind)
    hand = hand_of(rig, kind)
    held = rod(hand)
    taken(rig, hand, held)
    ring = part_of(rig, kind, "ring2")
    for frame, turn in ((-20, -0.1), (80, 0.1)):
        ring.rotation_quaternion = (1.0, turn, 0.0, 0.0)
        ring.keyframe_insert("rotation_quaternion", frame=frame)
    curve = curve_of(rig, ring.name, 1)
    moving = {frame: curve.evaluate(frame) for frame in range(-20, 81)}
    bpy.context.scene.frame_set(5)
    done = grasp(rig, hand.name, held)
    assert [curve_of(rig, ring.name, 1).evaluate(f) for f in (done.frames[0], done.frames[-1])] == pytest.approx(
        [moving[round(done.frames[0])], moving[round(done.frames[-1])]], abs=1e-6
    )
    own = [round(frame) for frame in (done.frames[0], done.frames[-1])]
    assert done.frames[1:-1] == (12, 20, 40, 48)
    assert (own[0] in {4, -4, -12}, own[1] in {56, 64, 72}) == (True, True)
    curve = next(c for c in curves_of(rig) if "HandMiddle1" in c.data_path and c.array_index == 0)
    assert key_frames(curve) == [own[0], 12, 20, 40, 48, own[1]]
    assert curve.evaluate(own[0]) == pytest.approx(1.0)
    assert curve.evaluate(30) < curve.evaluate(12) <= 1.0
    assert curve.evaluate(own[1]) == pytest.approx(1.0)
    held = [curve.evaluate(frame) for frame in range(20, 41)]
    assert np.ptp(held) < 1e-6


@pytest.mark.parametrize("kind", SOME)
def test_fingers_and_thumb_do_not_pass_through_the_object_while_the_hand_opens_and_closes(kind):
    random = Random(kind)
    rig = character(kind)
    hand = hand_of(rig, kind)
    held = rod(hand, random.uniform(0.012, 0.035))
    held.data.transform(Matrix.Rotation(random.uniform(-0.2, 0.2), 4, "X"))
    taken(rig, hand, held)
    grasp(rig, hand.name, held)
    for frame in (*range(12, 21), 30, *range(40, 49)):
        bpy.context.scene.frame_set(frame)
        assert min(clearances(rig, kind, held).values()) > -0.002, frame


def test_the_hand_opens_far_enough_from_an_object_that_it_comes_to():
    kind = "Mixamo"
    rig = character(kind)
    hand = hand_of(rig, kind)
    held = rod(hand, 0.03)
    rig.location = -0.25 * hand.palm - 0.1 * hand.along
    for frame, away in ((1, 1.0), (20, 0.0), (40, 0.0), (60, 1.0)):
        rig.location = (-0.25 * hand.palm - 0.1 * hand.along) * away
        rig.keyframe_insert("location", frame=frame)
    rig.location = Vector()
    bpy.context.view_layer.update()
    taken(rig, hand, held)
    grasp(rig, hand.name, held)
    for frame in range(1, 61):
        bpy.context.scene.frame_set(frame)
        assert min(clearances(rig, kind, held).values()) > -0.002, frame


def test_what_cannot_be_held_is_refused_in_words():
    kind = "Rigify metarig"
    rig = character(kind)
    hand = hand_of(rig, kind)
    far = rod(hand, 0.02, off=0.4, name="Far")
    thick = rod(hand, 0.15, depth=0.4, name="Barrel")
    flat = empty()
    with nothing_lost():
        with pytest.raises(TargetError, match=r"'Far' is .* out of the reach of its fingers"):
            grasp(rig, hand.name, far)
        with pytest.raises(TargetError, match=r"'Barrel' is .* thick, more than 'hand.L' opens"):
            grasp(rig, hand.name, thick)
        with pytest.raises(TargetError, match="has no faces to hold"):
            grasp(rig, hand.name, flat)
        with pytest.raises(RigError, match="belongs to no arm or hand"):
            grasp(rig, "thigh.L", far)
    plain = character(kind, "Plain", fingers=False)
    with nothing_lost(), pytest.raises(RigError, match="is no hand whose fingers are known"):
        grasp(plain, "hand.L", far)


def test_what_is_beside_an_acute_edge_is_outside():
    made = bmesh.new()
    bmesh.ops.create_cone(made, segments=16, radius1=0.04, radius2=0.0, depth=0.02, cap_ends=True)
    mesh = bpy.data.meshes.new("Cone")
    made.to_mesh(mesh)
    made.free()
    cone = place(bpy.data.objects.new("Cone", mesh))
    bpy.context.view_layer.update()
    surface = HeldSurface(cone, bpy.context.evaluated_depsgraph_get())
    for turn in np.linspace(0.0, 2.0 * np.pi, 33):
        for high in (-0.012, -0.01, -0.008):
            point = Vector((0.05 * np.cos(turn), 0.05 * np.sin(turn), high))
            assert surface.distance(point) > 0.005
    assert surface.distance(Vector((0.0, 0.0, -0.005))) == pytest.approx(-0.005, abs=1e-6)
    assert surface.away(Vector((0.0, 0.0, -0.005))) == pytest.approx(0.005, abs=1e-6)


@pytest.mark.parametrize(
    ("touches", "values", "said"),
    [
        ((1, 2, 1), {}, []),
        ((0, 0, 1), {}, ["1 fingers of 'Hand' touch 'Cup'. Move the hand until the object is in its palm."]),
        ((1, 0), {}, ["1 fingers of 'Hand' touch 'Cup'. Move the hand until the object is in its palm."]),
        (
            (1, 1, 1),
            {"opposition": 0.2},
            ["The thumb of 'Hand' is not opposite of the fingers (11 degrees). Turn the hand, or 'Cup'."],
        ),
        ((1, 1, 1), {"opposition": 0.2, "thumb": None}, []),
        ((1, 1, 1), {"penetration": 0.003}, ["A finger of 'Hand' is 3 mm in 'Cup'. Move the hand off it."]),
        ((1, 1, 1), {"penetration": 0.0019}, []),
    ],
)
def test_a_hand_that_does_not_hold_says_why(touches, values, said):
    fingers = [SimpleNamespace(touches=each) for each in touches]
    whole = {"fingers": fingers, "thumb": "Thumb", "opposition": 2.0, "penetration": 0.0, "radius": 0.008, **values}
    assert list(_notes(SimpleNamespace(**whole), "Hand", SimpleNamespace(name="Cup"), bpy.context.scene)) == said


def test_the_hand_is_found_from_its_fingers_and_arm_and_holds_one_thing():
    kind, scene = "Mixamo", bpy.context.scene
    rig = character(kind)
    hand = part_of(rig, kind, "hand").name
    for part in ("index3", "thumb1", "hand", "forearm", "upper_arm"):
        assert hand_at(rig, part_of(rig, kind, part).name) == hand
    assert prop_held(rig, hand, scene) is None
    props = [rod(hand_of(rig, kind), name=name) for name in ("Cup", "Pen")]
    taken(rig, hand_of(rig, kind), props[0])
    assert prop_held(rig, hand, scene) == props[0]
    taken(rig, hand_of(rig, kind), props[1])
    assert prop_held(rig, hand, scene) is None
    props[0].hide_viewport = True
    bpy.context.view_layer.update()
    with nothing_lost(), pytest.raises(TargetError, match="'Cup' cannot be held"):
        grasp(rig, hand, props[0])
    with nothing_lost(), pytest.raises(TargetError, match="it is the armature itself"):
        grasp(rig, hand, rig)
