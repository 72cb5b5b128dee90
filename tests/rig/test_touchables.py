# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that a character may touch, and how far its hands are from them and from its own bones."""

import bpy
import numpy as np
import pytest

from ik_triangulation.rig.touchables import MeshesSeen, away_from_bone, meshes_to_touch, never_moves

from ..bodies import human_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def box(name, place=(0, 0, 0), scale=(1, 1, 1)):
    """A cube of 2 m, at a place and scaled."""
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.location, ob.scale = place, scale
    bpy.context.view_layer.update()
    return ob


def test_skin_clothes_and_what_is_hidden_are_not_touched():
    rig, skin, hat, hidden, cup = human_rig(), box("Skin"), box("Hat"), box("Hidden"), box("Cup")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "spine.002"
    hidden.hide_viewport = True
    bpy.context.view_layer.update()
    assert meshes_to_touch(rig, bpy.context.scene, bpy.context.view_layer) == [cup]


def test_distances_are_those_of_the_world_and_what_is_far_is_not_looked_at():
    flat, far = box("Flat", (1.0, 0.0, 0.0), (0.5, 2.0, 0.25)), box("Far", (50.0, 0.0, 0.0))
    points = np.array((1.0, 0.3, 0.35)).reshape(1, 3, 1) + np.zeros((1, 3, 2))
    points[0, 2, 1] = 3.0
    seen = MeshesSeen([flat, far], {"hand": points}, {"hand": 1.0}, [1, 2])
    assert seen.meshes == [flat]
    depsgraph = bpy.context.view_layer.depsgraph
    assert seen.look(depsgraph, 1)["Flat"].away["hand"] == pytest.approx(0.1, abs=1e-5)
    assert seen.look(depsgraph, 2)["Flat"].away["hand"] == np.inf
    frame = seen.look(depsgraph, 1)["Flat"].frame
    assert frame.to_scale()[:] == pytest.approx((1, 1, 1))
    frames = np.repeat(np.array(frame)[:, :, None], 3, axis=2)
    assert never_moves(frames)
    frames[0, 3, 2] += 0.01
    assert not never_moves(frames)


def test_a_thigh_is_thicker_than_its_bone():
    head, tail = np.zeros((3, 1)), np.array(((0.0,), (0.0,), (-0.5,)))
    beside = np.array((0.2, 0.0, -0.25)).reshape(1, 3, 1)
    assert away_from_bone(beside, head, tail, "thigh") == pytest.approx(0.2 - 0.17 * 0.5)
    assert away_from_bone(0.3 * beside, head, tail, "thigh") == 0.0
    below = np.array((0.0, 0.0, -0.7)).reshape(1, 3, 1)
    assert away_from_bone(np.vstack((beside, below)), head, tail, "") == pytest.approx(0.2)
