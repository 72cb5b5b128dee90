# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps are objects beside their armature, one of a kind for each limb."""

import bpy
import numpy as np
import pytest
from mathutils import Color, Matrix

from ik_triangulation.maps import in_scene as mapping
from ik_triangulation.maps.metric_map import METRICS, SCALES
from ik_triangulation.rig.scene_objects import (
    PICTURE,
    VOLUME,
    legend_of,
    place_picture,
    place_volume,
    remove_map,
    shown_map,
)

from ..mapped import BONES, FAST, rig_in_space
from ..rigs import chain_rig, empty

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


def scene():
    return bpy.context.scene, bpy.context.view_layer


@pytest.mark.parametrize(("width", "height"), [(10, 14), (8, 8)])
def test_a_picture_has_its_square_in_the_middle_of_its_frame_and_what_explains_it_below(width, height):
    rig, image = chain_rig(2), bpy.data.images.new("Image", width, height)
    frame = Matrix.LocRotScale((1.0, 2.0, 3.0), Matrix.Rotation(0.5, 3, "X"), None)
    shown = place_picture(rig, "Bone 1", image, frame, 2.0, "Explained", *scene())
    assert (shown.empty_display_type, shown.data, shown.parent) == ("IMAGE", image, rig)
    unit = shown.empty_display_size / max(width, height)
    assert unit * width == pytest.approx(2.0), "as wide as the square"
    left, bottom = (
        offset * size * unit for offset, size in zip(shown.empty_image_offset, (width, height), strict=True)
    )
    assert (left, bottom + height * unit) == pytest.approx((-1.0, 1.0)), "the top is that of the square"
    assert shown.use_empty_image_alpha
    assert tuple(shown.color) == pytest.approx((1.0, 1.0, 1.0, 0.7))
    assert (shown.name, legend_of(shown)) == ("Map of Bone 1", "Explained")
    assert legend_of(empty()) == ""
    assert shown.matrix_basis.translation[:] == (1.0, 2.0, 3.0)


def test_a_volume_has_a_material_for_each_color_of_its_faces_and_casts_no_shadow():
    rig = chain_rig(2)
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)], float)
    faces = np.array([(0, 1, 2, 3), (0, 1, 5, 4)])
    colours = np.array([(1.0, 0.5, 0.0), (0.0, 0.25, 1.0)])
    metrics = {"travel": np.arange(6.0)}
    shown = place_volume(rig, "Bone 1", corners, faces, colours, metrics, "Explained", *scene())
    mesh = shown.data
    assert [vertex.co[:] for vertex in mesh.vertices] == [tuple(corner) for corner in corners]
    assert [tuple(face.vertices) for face in mesh.polygons] == [tuple(face) for face in faces]
    assert [face.use_smooth for face in mesh.polygons] == [True, True]
    assert values(mesh, "travel").tolist() == list(range(6))
    names = [mesh.materials[face.material_index].name for face in mesh.polygons]
    assert names == ["IK Triangulation Reach #FF8000", "IK Triangulation Reach #0040FF"]
    assert tuple(shown.color) == pytest.approx((0.0, 0.25, 1.0, 0.12))
    assert not shown.visible_shadow
    for material, colour in zip(mesh.materials, sorted(colours.tolist()), strict=True):
        linear = Color(colour).from_srgb_to_scene_linear()
        assert tuple(material.diffuse_color) == pytest.approx((*linear, 0.12), abs=1e-6)
        nodes = {node.type: node for node in material.node_tree.nodes}
        assert set(nodes) == {"BSDF_TRANSPARENT", "EMISSION", "MIX_SHADER", "OUTPUT_MATERIAL"}
        assert tuple(nodes["EMISSION"].inputs["Color"].default_value) == pytest.approx((*linear, 1.0), abs=1e-6)
        ends = {(link.from_node.type, link.to_node.type) for link in material.node_tree.links}
        assert ends == {
            ("BSDF_TRANSPARENT", "MIX_SHADER"),
            ("EMISSION", "MIX_SHADER"),
            ("MIX_SHADER", "OUTPUT_MATERIAL"),
        }
        assert nodes["MIX_SHADER"].inputs[2].links[0].from_node == nodes["EMISSION"]
        assert nodes["OUTPUT_MATERIAL"].inputs["Surface"].is_linked
    user = bpy.data.meshes.new("Of the user")
    user.materials.append(mesh.materials[0])
    kept = mesh.materials[0].name
    none = np.zeros((0, 3)), np.zeros((0, 4), int), np.zeros((0, 3))
    assert place_volume(rig, "Bone 1", *none, {}, "None", *scene()) == shown
    assert (shown.data.name, len(shown.data.vertices), legend_of(shown)) == ("Reach of Bone 1", 0, "None")
    assert tuple(shown.color) == pytest.approx((1.0, 1.0, 1.0, 0.12))
    assert [material.name for material in bpy.data.materials] == [kept], "what is used elsewhere stays"


def test_an_image_of_a_file_stays_when_its_map_is_removed():
    rig, image = chain_rig(2), bpy.data.images.new("Image", 4, 4)
    shown = place_picture(rig, "Bone 1", image, Matrix(), 1.0, "", *scene())
    image.filepath = "//mine.png"
    remove_map(shown)
    assert list(bpy.data.images) == [image]
