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
