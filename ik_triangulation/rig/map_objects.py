# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of a limb as objects in the scene, in their collection: an image in a plane, and a shell in space.

They are children of the armature, as maps are in its space, and so follow its transform. A limb has one map of each
kind: a new one replaces the old.
"""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import Collection, Image, LayerCollection, Material, Mesh, Object, Scene, ViewLayer
from mathutils import Color, Matrix
from numpy.typing import NDArray

PICTURE, VOLUME = "Map", "Reach"
_KEY = "ik_triangulation_map"  # custom property of the object: kind of map and tip bone
_LEGEND = "ik_triangulation_legend"
_OPACITY = 0.7  # of the image, so that bones behind it stay visible
_MATERIAL = f"IK Triangulation {VOLUME} #"  # how names of materials begin
_TRANSLUCENT = 0.12  # opacity of each side of a shell, so that a character inside it stays visible


def home(ob: Object, scene: Scene, view_layer: ViewLayer) -> Collection:
    """Return the collection for new objects that belong to an object.

    It is one that the object is in and that is visible, local and not overridden; otherwise that of the scene.
    """
    for collection in shown_collections(view_layer.layer_collection):
        if collection in ob.users_collection and not (collection.library or collection.override_library):
            return collection
    return scene.collection


def shown_collections(layer: LayerCollection) -> Iterator[Collection]:
    """Yield the collections whose objects a view layer shows."""
    if not layer.exclude and layer.is_visible:
        yield layer.collection
    for child in layer.children:
        yield from shown_collections(child)


def place_picture(
    armature: Object,
    tip: str,
    image: Image,
    frame: Matrix,
    side: float,
    legend: str,
    scene: Scene,
    view_layer: ViewLayer,
) -> Object:
    """Show an image whose top is a square map, with the square centred in the XY plane of `frame`.

    `frame` (4x4) and the length of the square's `side` are in armature space.
    """
    ob = _object(armature, tip, PICTURE, image, legend, scene, view_layer)
    width, height = image.size
    ob.empty_display_type, ob.empty_display_size = "IMAGE", side * height / width  # that of the longer side
    ob.empty_image_offset = -0.5, width / 2.0 / height - 1.0
    ob.use_empty_image_alpha, ob.color = True, (1.0, 1.0, 1.0, _OPACITY)
    ob.matrix_basis = frame
    return ob


def place_volume(
    armature: Object,
    tip: str,
    corners: NDArray[np.float64],
    faces: NDArray[Any],
    colours: NDArray[np.float64],
    metrics: dict[str, NDArray[np.float64]],
    legend: str,
    scene: Scene,
    view_layer: ViewLayer,
) -> Object:
    """Show a surface of `corners` (n, 3; armature space) and quads (m, 4), translucent, that hides nothing.

    `colours` (m, 3; sRGB) are those of its faces, of which only a few may differ, as each needs a material: the
    viewport shows translucent colours of materials only. `metrics` (n) become attributes.
    """
    mesh = bpy.data.meshes.new(f"{VOLUME} of {tip}")
    fill_with_quads(mesh, corners, faces)
    used, numbers = np.unique(colours, axis=0, return_inverse=True)
    for colour in used:
        mesh.materials.append(_material(colour))
    mesh.polygons.foreach_set("material_index", numbers.astype(np.int32).ravel())
    for name, values in metrics.items():
        mesh.attributes.new(name, "FLOAT", "POINT").data.foreach_set("value", values.astype(np.float32))
    ob = _object(armature, tip, VOLUME, mesh, legend, scene, view_layer)
    ob.color = *(used[0] if len(used) else (1.0, 1.0, 1.0)), _TRANSLUCENT
    ob.visible_shadow = False
    # Solid shading hides what it draws over the objects, such as bones, behind translucent ones as behind all others,
    # but what is In Front only behind what is In Front.
    ob.show_in_front = not armature.show_in_front
    return ob


def shown_map(armature: Object, tip: str, kind: str) -> Object | None:
    """Return the map of a kind of the limb that ends in `tip`, or None."""
    return shown_maps(armature).get(map_key(tip, kind))


def shown_maps(armature: Object) -> dict[str, Object]:
    """Return the maps of the limbs of an armature by their keys; this searches all objects of the file."""
    return {key: ob for ob in reversed(armature.children) if (key := ob.get(_KEY))}


def map_key(tip: str, kind: str) -> str:
    """Return the key of a kind of map of the limb that ends in `tip`."""
    return f"{kind} {tip}"


def remove_map(ob: Object) -> None:
    """Remove a map with its mesh and materials, or its image, unless they are used elsewhere."""
    data = ob.data
    bpy.data.objects.remove(ob)
    _discard(data)


def legend_of(ob: Object) -> str:
    """Return the text that explains the colours of a map."""
    return str(ob.get(_LEGEND, ""))


def _object(
    armature: Object, tip: str, kind: str, data: Image | Mesh, legend: str, scene: Scene, view_layer: ViewLayer
) -> Object:
    """Return the object that shows `data`: that of the limb's earlier map, or a new one beside the armature."""
    ob = shown_map(armature, tip, kind)
    if ob is None:
        ob = bpy.data.objects.new(f"{kind} of {tip}", data if isinstance(data, Mesh) else None)
        ob.parent = armature
        ob[_KEY] = map_key(tip, kind)
    if ob.name not in scene.objects:
        home(armature, scene, view_layer).objects.link(ob)
    before = ob.data
    if before != data:
        ob.data = data
        if isinstance(before, Mesh) and not before.users:
            name = before.name
            _discard(before)
            data.name = name
    ob[_LEGEND] = legend
    return ob


def _discard(data: Image | Mesh) -> None:
    """Remove what a map showed, with the materials of it, unless something else uses them or it is a user's file."""
    if data.users:
        return
    if isinstance(data, Image):
        if not data.filepath:
            bpy.data.images.remove(data)
        return
    materials = set(data.materials)
    bpy.data.meshes.remove(data)
    bpy.data.batch_remove([each for each in materials if not each.users and each.name.startswith(_MATERIAL)])


def fill_with_quads(mesh: Mesh, corners: NDArray[Any], faces: NDArray[Any]) -> None:
    """Fill a mesh with smooth quads in bulk: from_pydata() would loop over all of them in Python."""
    mesh.vertices.add(len(corners))
    mesh.vertices.foreach_set("co", corners.ravel())
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.astype(np.int32).ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, faces.shape[1], dtype=np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
    mesh.update(calc_edges=True)


def _material(colour: NDArray[np.float64]) -> Material:
    """Return the material of a colour (sRGB), translucent in every kind of shading."""
    red, green, blue = (round(255.0 * float(part)) for part in colour)
    name = f"{_MATERIAL}{red:02X}{green:02X}{blue:02X}"
    material = bpy.data.materials.get((name, None))
    if material is None:
        material = bpy.data.materials.new(name)
        if material.node_tree is None:  # before Blender 5
            material.use_nodes = True
        linear = Color(colour).from_srgb_to_scene_linear()
        material.diffuse_color = *linear, _TRANSLUCENT
        material.surface_render_method = "BLENDED"
        nodes, links = material.node_tree.nodes, material.node_tree.links
        nodes.clear()
        clear, shine, mix, output = (
            nodes.new(f"ShaderNode{kind}") for kind in ("BsdfTransparent", "Emission", "MixShader", "OutputMaterial")
        )
        shine.inputs["Color"].default_value = *linear, 1.0
        mix.inputs[0].default_value = _TRANSLUCENT
        links.new(clear.outputs[0], mix.inputs[1])
        links.new(shine.outputs[0], mix.inputs[2])
        links.new(mix.outputs[0], output.inputs["Surface"])
    return material
