# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of a limb as objects in the scene: an image in a plane, and a point cloud.

They are children of the armature, as maps are in its space, and so follow its transform. A limb has one map of each
kind: a new one replaces the old.
"""

from typing import Any

import bpy
import numpy as np
from bpy.types import Image, Material, Mesh, Object, Scene, ViewLayer
from mathutils import Matrix
from numpy.typing import NDArray

from .collections import home

PICTURE, CLOUD = "Map", "Reach"
COLOURS = "Color"  # the attribute of the cloud that the viewport shows
_KEY = "ik_triangulation_map"  # custom property of the object: kind of map and tip bone
_LEGEND = "ik_triangulation_legend"
_OPACITY = 0.7  # of the image, so that bones behind it stay visible
_SIZE = 0.3  # half the size of a mark, relative to the spacing of the points
_CORNERS = np.concatenate((np.eye(3), -np.eye(3)))  # of a mark, an octahedron
_FACES = np.array([(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)])


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


def place_cloud(
    armature: Object,
    tip: str,
    places: NDArray[np.float64],
    spacing: float,
    colours: NDArray[np.float64],
    metrics: dict[str, NDArray[np.float64]],
    legend: str,
    scene: Scene,
    view_layer: ViewLayer,
) -> Object:
    """Show points (rows of `places` in armature space, `spacing` apart) in colours (sRGB), with metrics as attributes.

    Each point is a mark of six vertices, in the order of the points, with the point's values on all of them.
    """
    mesh = bpy.data.meshes.new(f"{CLOUD} of {tip}")
    count = len(places)
    corners = (places[:, None] + _CORNERS * spacing * _SIZE).reshape(-1, 3)
    faces = (np.arange(count)[:, None, None] * len(_CORNERS) + _FACES).reshape(-1, 3)
    _fill(mesh, corners, faces)
    attribute = mesh.attributes.new(COLOURS, "FLOAT_COLOR", "POINT")
    attribute.data.foreach_set("color_srgb", _spread(np.column_stack((colours, np.ones(count)))))
    mesh.color_attributes.active_color = attribute
    for name, values in metrics.items():
        mesh.attributes.new(name, "FLOAT", "POINT").data.foreach_set("value", _spread(values))
    mesh.materials.append(_material())
    return _object(armature, tip, CLOUD, mesh, legend, scene, view_layer)


def shown_map(armature: Object, tip: str, kind: str) -> Object | None:
    """Return the map of that kind of the limb that ends in `tip`; None if there is none."""
    return next((ob for ob in armature.children if ob.get(_KEY) == f"{kind} {tip}"), None)


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
        ob[_KEY] = f"{kind} {tip}"
    if ob.name not in scene.objects:
        home(armature, scene, view_layer).objects.link(ob)
    before = ob.data
    if before != data:
        ob.data = data
        if isinstance(before, Mesh) and not before.users:
            name = before.name
            bpy.data.meshes.remove(before)
            data.name = name
    ob[_LEGEND] = legend
    return ob


def _fill(mesh: Mesh, corners: NDArray[Any], faces: NDArray[Any]) -> None:
    """Fill a mesh with triangles in bulk: from_pydata() would loop over all of them in Python."""
    mesh.vertices.add(len(corners))
    mesh.vertices.foreach_set("co", corners.ravel())
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.astype(np.int32).ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, 3, dtype=np.int32))
    mesh.update(calc_edges=True)


def _spread(values: NDArray[Any]) -> NDArray[np.float32]:
    """Repeat the values of the points for all corners of their marks, as a flat array."""
    return np.repeat(values, len(_CORNERS), axis=0).astype(np.float32).ravel()


def _material() -> Material:
    """Return the material that shows the colours in material preview and renders."""
    name = f"IK Triangulation {CLOUD}"
    material = bpy.data.materials.get((name, None))
    if material is None:
        material = bpy.data.materials.new(name)
        if material.node_tree is None:  # before Blender 5
            material.use_nodes = True
        nodes, links = material.node_tree.nodes, material.node_tree.links
        nodes.clear()
        colour, output = nodes.new("ShaderNodeVertexColor"), nodes.new("ShaderNodeOutputMaterial")
        colour.layer_name = COLOURS
        links.new(colour.outputs["Color"], output.inputs["Surface"])
    return material
