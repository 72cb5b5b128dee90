# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's figure: its bones and its skin."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.rig.scene_objects import ball_at, home, human_figure, shown_collections

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_both_sides_of_the_figure_mirror_each_other():
    rig = human_figure("Figure", bpy.context.scene.collection)
    lefts = [bone for bone in rig.data.bones if bone.name.endswith(".L")]
    assert len(lefts) == 8
    for left in lefts:
        right = rig.data.bones[f"{left.name[:-1]}R"]
        for mine, other in ((left.head_local, right.head_local), (left.tail_local, right.tail_local)):
            assert np.allclose((-mine.x, mine.y, mine.z), other, atol=1e-6)


# Bones with the range of their lengths, and of the radii of their skin at both ends [m].
SIZES = {
    "hips": (0.11, 0.13, 0.13, 0.12),
    "spine": (0.13, 0.15, 0.12, 0.13),
    "chest": (0.23, 0.25, 0.13, 0.12),
    "neck": (0.10, 0.11, 0.055, 0.05),
    "head": (0.21, 0.23, 0.085, 0.09),
    "clavicle": (0.13, 0.15, 0.055, 0.06),
    "upper_arm": (0.27, 0.30, 0.055, 0.045),
    "forearm": (0.24, 0.26, 0.045, 0.03),
    "hand": (0.09, 0.11, 0.035, 0.04),
    "thigh": (0.42, 0.44, 0.09, 0.065),
    "shin": (0.40, 0.42, 0.06, 0.04),
    "foot": (0.14, 0.16, 0.045, 0.035),
    "toe": (0.06, 0.08, 0.03, 0.025),
}
OFF = {"clavicle": 0.05, "upper_arm": 0.02, "thigh": 0.185}  # [m] distance of a head from the tail of the parent


def test_the_figure_has_the_proportions_of_a_person_and_a_round_skin():
    rig = human_figure("Figure", bpy.context.scene.collection)
    (skin,) = rig.children
    bones = rig.data.bones
    assert {name.partition(".")[0] for name in bones.keys()} == set(SIZES)
    assert max(bone.tail_local.z for bone in bones) == pytest.approx(1.78)
    assert 0.0 < min(bone.tail_local.z for bone in bones) < 0.03
    for bone in bones:
        part = bone.name.partition(".")[0]
        least, most, at_head, at_tail = SIZES[part]
        assert least < bone.length < most, bone.name
        off = (bone.head_local - bone.parent.tail_local).length if bone.parent else 0.0
        assert (off > 0.0) == (part in OFF)
        assert off < OFF.get(part, 1e-6), bone.name
        assert bone.use_connect == (bone.parent is not None and part not in OFF)
        assert abs(bone.head_local.y) < (0.11 if part == "toe" else 0.07)
        group = skin.vertex_groups[bone.name].index
        corners = np.array([v.co for v in skin.data.vertices if v.groups[0].group == group])
        assert len(corners) == 72
        for end, radius in ((corners[:36], at_head), (corners[36:], at_tail)):
            around = bone.head_local if radius is at_head else bone.tail_local
            assert np.linalg.norm(end - np.array(around), axis=1) == pytest.approx(np.full(36, radius), rel=1e-4)
    ways = {bone.name: bone.tail_local - bone.head_local for bone in bones}
    up = ["hips", "spine", "chest", "neck", "head"]
    assert all(ways[name].normalized().z > 0.94 and abs(bones[name].head_local.x) < 1e-6 for name in up)
    for name, way in (("upper_arm", (0, 1, 0)), ("forearm", (0, -1, 0)), ("thigh", (0, -1, 0)), ("shin", (0, 1, 0))):
        vector = ways[f"{name}.L"]
        assert vector.z < 0.0
        assert 0.01 < vector.dot(way) < 0.1, "elbow behind and knee ahead"
    assert ways["foot.L"].normalized().y < -0.85
    assert ways["toe.L"].normalized().y < -0.95
    assert [round(value, 2) for value in skin.color] == [0.62, 0.68, 0.75, 1.0]


def test_each_bone_has_a_capsule_around_it():
    rig = human_figure("Figure", bpy.context.scene.collection)
    (skin,) = rig.children
    for bone in rig.data.bones:
        group = skin.vertex_groups[bone.name].index
        corners = np.array([v.co for v in skin.data.vertices if v.groups[0].group == group])
        middle = (np.array(bone.head_local) + np.array(bone.tail_local)) / 2.0
        assert np.abs(corners.mean(0) - middle).max() < 0.03
        assert ((corners - middle) @ (np.array(bone.tail_local) - middle)).max() > 0.0


def test_a_ball_is_as_far_around_its_place_as_its_radius():
    ball = ball_at(Vector((1.0, 2.0, 3.0)), 0.3, bpy.context.scene.collection)
    assert [round(value, 2) for value in ball.color] == [0.85, 0.45, 0.2, 1.0]
    assert len(ball.data.vertices) == 72
    bpy.context.view_layer.update()
    places = np.array([ball.matrix_world @ vertex.co for vertex in ball.data.vertices])
    assert np.linalg.norm(places - (1.0, 2.0, 3.0), axis=1) == pytest.approx(0.3, rel=0.002)
    assert all(face.use_smooth for face in ball.data.polygons)
    middles = np.array([ball.matrix_world @ face.center - ball.location for face in ball.data.polygons])
    normals = np.array([face.normal for face in ball.data.polygons])
    assert ((middles * normals).sum(1)).min() > 0.26  # the faces look outwards


def test_new_objects_are_put_beside_what_they_belong_to_where_that_is_shown():
    scene, layer = bpy.context.scene, bpy.context.view_layer
    inside, outside = bpy.data.collections.new("Inside"), bpy.data.collections.new("Outside")
    scene.collection.children.link(outside)
    outside.children.link(inside)
    ob = bpy.data.objects.new("Thing", None)
    inside.objects.link(ob)
    layer.update()
    assert home(ob, scene, layer) == inside
    outside.objects.link(ob)
    assert home(ob, scene, layer) == outside
    layer.layer_collection.children["Outside"].exclude = True
    assert home(ob, scene, layer) == scene.collection
    layer.layer_collection.children["Outside"].exclude = False
    layer.layer_collection.children["Outside"].hide_viewport = True
    assert home(ob, scene, layer) == scene.collection
    assert list(shown_collections(layer.layer_collection)) == [scene.collection]
