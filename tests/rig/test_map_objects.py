# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps are objects beside their armature, one of a kind for each limb."""

import bpy
import numpy as np
import pytest

from ik_triangulation.maps import in_scene as mapping
from ik_triangulation.maps.metric_map import METRICS
from ik_triangulation.rig.map_objects import CLOUD, COLOURS, PICTURE, shown_map

from ..mapped import BONES, FAST, rig_in_space

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_cloud_has_its_colours_and_metrics_on_its_points():
    rig = rig_in_space()
    mapped = mapping.volume_in_scene(rig, BONES, "CCD", resolution=5, iterations=10, metric="travel", scale="HUE")
    mesh, made = mapped.shown.data, mapped.made
    assert mesh.validate() is False
    colour = mesh.color_attributes.active_color
    assert (colour.name, colour.domain, colour.data_type) == (COLOURS, "POINT", "FLOAT_COLOR")
    values = np.empty(len(mesh.vertices) * 4, np.float32)
    colour.data.foreach_get("color_srgb", values)
    assert np.allclose(values.reshape(-1, 6, 4)[:, 0, :3], made.colours("travel", "HUE"), atol=1e-3)
    for name in METRICS:
        attribute = mesh.attributes[name]
        assert (attribute.domain, attribute.data_type) == ("POINT", "FLOAT")
        numbers = np.empty(len(mesh.vertices), np.float32)
        attribute.data.foreach_get("value", numbers)
        assert np.allclose(numbers.reshape(-1, 6), made.metric(name)[:, None], atol=1e-5)


def test_a_new_map_takes_the_place_of_the_old_one():
    rig = rig_in_space()
    first = mapping.map_in_scene(rig, BONES, **FAST, size=8).shown
    cloud = mapping.volume_in_scene(rig, BONES, resolution=3).shown
    rig.pose.bones["Bone 0"].location = (1.0, 0.0, 0.0)
    before = first.matrix_basis.copy()
    with nothing_more():
        assert mapping.map_in_scene(rig, BONES, **FAST, size=10).shown == first
        assert mapping.volume_in_scene(rig, BONES, resolution=4).shown == cloud
    assert (first.matrix_basis.translation - before.translation).length > 0.5
    assert (first.data.size[0], cloud.data.name) == (10, "Reach of Bone 2")
    other = mapping.map_in_scene(rig, BONES[:2], **FAST, size=8).shown
    assert other != first
    assert shown_map(rig, "Bone 2", PICTURE) == first
    assert shown_map(rig, "Bone 1", CLOUD) is None


def nothing_more():
    """Fail if there are more or fewer data-blocks afterwards."""

    class Counted:
        def __enter__(self):
            self.before = counts()

        def __exit__(self, *_):
            assert counts() == self.before

    return Counted()


def counts():
    return {name: len(getattr(bpy.data, name)) for name in ("objects", "images", "meshes", "materials")}


def test_a_map_follows_its_armature_into_its_collection_and_leaves_the_selection():
    rig = rig_in_space()
    inside = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(inside)
    inside.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    shown = mapping.map_in_scene(rig, BONES, **FAST, size=8).shown
    assert (shown.parent, list(shown.users_collection)) == (rig, [inside])
    assert bpy.context.view_layer.objects.active == rig
    assert not shown.select_get()
    assert bpy.context.mode == "POSE"
