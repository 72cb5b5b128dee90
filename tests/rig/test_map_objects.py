# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps are objects beside their armature, one of a kind for each limb."""

import bpy
import numpy as np
import pytest
from mathutils import Color

from ik_triangulation.maps import in_scene as mapping
from ik_triangulation.maps.metric_map import METRICS, SCALES
from ik_triangulation.rig.scene_objects import PICTURE, VOLUME, remove_map, shown_map

from ..mapped import BONES, FAST, rig_in_space

pytestmark = pytest.mark.usefixtures("empty_scene")
QUICK = {**FAST, "finish": False}  # what a map shows of methods is tried elsewhere


def values(mesh, name):
    numbers = np.empty(len(mesh.vertices), np.float32)
    mesh.attributes[name].data.foreach_get("value", numbers)
    return numbers


def test_the_shell_has_its_metrics_on_its_corners_and_a_few_colours_on_its_faces():
    rig = rig_in_space()
    mapped = mapping.volume_in_scene(rig, BONES, "CCD", resolution=6, iterations=10, metric="travel", scale="HUE")
    mesh, made = mapped.shown.data, mapped.made
    assert mesh.validate() is False
    for name in METRICS:
        attribute = mesh.attributes[name]
        assert (attribute.domain, attribute.data_type) == ("POINT", "FLOAT")
        assert made.metric(name).min() - 1e-5 <= values(mesh, name).min()
        assert values(mesh, name).max() <= made.metric(name).max() + 1e-5
    travel, ends = values(mesh, "travel"), made.ends("travel")
    materials = [material.diffuse_color[:3] for material in mesh.materials]
    assert 3 < len(materials) <= 10
    for face in mesh.polygons:
        share = (travel[list(face.vertices)].mean() - ends[0]) / (ends[1] - ends[0])
        wanted = SCALES["HUE"](np.array([np.clip(np.rint(9.0 * share) / 9.0, 0.0, 1.0)]))[0]
        shown = Color(materials[face.material_index]).from_scene_linear_to_srgb()
        assert np.abs(np.array(shown) - wanted).max() < 0.02


def test_the_shell_hides_nothing_in_any_kind_of_shading():
    rig = rig_in_space()
    for rig.show_in_front in (True, False):
        shown = mapping.volume_in_scene(rig, BONES, resolution=3, metric="reached").shown
        assert shown.show_in_front is not rig.show_in_front  # else it hides the bones
    (material,) = shown.data.materials
    assert shown.color[3] == pytest.approx(material.diffuse_color[3]) == pytest.approx(0.12)
    assert material.surface_render_method == "BLENDED"
    (mix,) = [node for node in material.node_tree.nodes if node.type == "MIX_SHADER"]
    assert mix.inputs[0].default_value == pytest.approx(0.12)
    assert mix.inputs[1].links[0].from_node.type == "BSDF_TRANSPARENT"


def test_a_new_map_takes_the_place_of_the_old_one():
    rig = rig_in_space()
    first = mapping.map_in_scene(rig, BONES, **QUICK, size=8).shown
    shell = mapping.volume_in_scene(rig, BONES, "CCD", resolution=3, iterations=10).shown
    rig.pose.bones["Bone 0"].location = (1.0, 0.0, 0.0)
    before = first.matrix_basis.copy()
    with nothing_more():
        assert mapping.map_in_scene(rig, BONES, **QUICK, size=10).shown == first
        assert mapping.volume_in_scene(rig, BONES, "CCD", resolution=3, iterations=10, tolerance=0.02).shown == shell
    assert (first.matrix_basis.translation - before.translation).length > 0.5
    assert (first.data.size[0], shell.data.name) == (10, "Reach of Bone 2")
    other = mapping.map_in_scene(rig, BONES[:2], **QUICK, size=8).shown
    assert other != first
    assert shown_map(rig, "Bone 2", PICTURE) == first
    assert shown_map(rig, "Bone 1", VOLUME) is None


def nothing_more():
    """Fail if there are more or fewer data-blocks afterwards."""

    class Counted:
        def __enter__(self):
            self.before = counts()

        def __exit__(self, *_):
            assert counts() == self.before

    return Counted()


def counts():
    assert all(material.users for material in bpy.data.materials)
    return {name: len(getattr(bpy.data, name)) for name in ("objects", "images", "meshes")}


def test_a_map_follows_its_armature_into_its_collection_and_leaves_the_selection():
    rig = rig_in_space()
    inside = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(inside)
    inside.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    shown = mapping.map_in_scene(rig, BONES, **QUICK, size=8).shown
    assert (shown.parent, list(shown.users_collection)) == (rig, [inside])
    assert bpy.context.view_layer.objects.active == rig
    assert not shown.select_get()
    assert bpy.context.mode == "POSE"


def test_a_map_is_removed_with_all_that_only_it_uses():
    rig = rig_in_space()
    materials = len(bpy.data.materials)
    with nothing_more():
        for shown in (
            mapping.map_in_scene(rig, BONES, **QUICK, size=8).shown,
            mapping.volume_in_scene(rig, BONES, "CCD", resolution=3, iterations=10).shown,
        ):
            remove_map(shown)
    assert len(bpy.data.materials) == materials
    assert shown_map(rig, BONES[-1], PICTURE) is shown_map(rig, BONES[-1], VOLUME) is None


def test_what_else_uses_a_map_keeps_its_image():
    rig = rig_in_space()
    shown = mapping.map_in_scene(rig, BONES, **QUICK, size=8).shown
    image = shown.data
    other = bpy.data.objects.new("Other", None)
    other.empty_display_type, other.data = "IMAGE", image
    remove_map(shown)
    assert other.data == image
    remove_map(other)
    assert not bpy.data.images
