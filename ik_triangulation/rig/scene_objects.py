# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are added to a scene: maps of limbs, an image in a plane and a shell in space, and the demo's figure.

Maps are children of the armature, as they are in its space, and so follow its transform. A limb has one map of each
kind: a new one replaces the old.

The figure is a plain human to try things on: an armature with a skin of tapered capsules. Source: none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Collection, Image, LayerCollection, Material, Mesh, Object, Scene, ViewLayer
from mathutils import Color, Matrix, Vector
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
    """Fill a new mesh with quads in bulk, smooth as new faces are; from_pydata() would loop over them in Python."""
    mesh.vertices.add(len(corners))
    mesh.vertices.foreach_set("co", corners.ravel())
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.astype(np.int32).ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, faces.shape[1], dtype=np.int32))
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


class _Part(NamedTuple):
    """A bone: its parent, head and tail [m], and the radii of the skin there."""

    parent: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    radii: tuple[float, float]
    connected: bool = True


# 1.78 m tall, facing -Y, elbows and knees a little bent, so that they flex to the right side.
_MIDDLE = {
    "hips": _Part("", (0.0, 0.02, 0.96), (0.0, 0.02, 1.08), (0.13, 0.12), False),
    "spine": _Part("hips", (0.0, 0.02, 1.08), (0.0, 0.03, 1.22), (0.12, 0.13)),
    "chest": _Part("spine", (0.0, 0.03, 1.22), (0.0, 0.03, 1.46), (0.13, 0.12)),
    "neck": _Part("chest", (0.0, 0.03, 1.46), (0.0, 0.0, 1.56), (0.055, 0.05)),
    "head": _Part("neck", (0.0, 0.0, 1.56), (0.0, -0.02, 1.78), (0.085, 0.09)),
}
_LEFT = {
    "clavicle": _Part("chest", (0.03, 0.01, 1.43), (0.17, 0.03, 1.43), (0.055, 0.06), False),
    "upper_arm": _Part("clavicle", (0.18, 0.03, 1.42), (0.36, 0.06, 1.20), (0.055, 0.045), False),
    "forearm": _Part("upper_arm", (0.36, 0.06, 1.20), (0.51, 0.0, 1.01), (0.045, 0.03)),
    "hand": _Part("forearm", (0.51, 0.0, 1.01), (0.57, -0.03, 0.93), (0.035, 0.04)),
    "thigh": _Part("hips", (0.1, 0.01, 0.93), (0.11, -0.01, 0.50), (0.09, 0.065), False),
    "shin": _Part("thigh", (0.11, -0.01, 0.50), (0.11, 0.04, 0.09), (0.06, 0.04)),
    "foot": _Part("shin", (0.11, 0.04, 0.09), (0.12, -0.10, 0.025), (0.045, 0.035)),
    "toe": _Part("foot", (0.12, -0.10, 0.025), (0.12, -0.17, 0.02), (0.03, 0.025)),
}
_SIDES, _ROUND = 12, 3  # vertices of a ring of the skin, and rings of each of its caps
_SKIN, _BALL = (0.62, 0.68, 0.75, 1.0), (0.85, 0.45, 0.2, 1.0)  # colors


def human_figure(name: str, collection: Collection) -> Object:
    """Make the figure at the origin, in Object Mode and active; it is the armature, and the skin its child.

    Its bones are named as most rigs name them. The caller is in Object Mode, and the collection is visible.
    """
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        for bone, part in _parts().items():
            made = armature.data.edit_bones.new(bone)
            made.head, made.tail = part.head, part.tail
            made.parent = armature.data.edit_bones[part.parent] if part.parent else None
            made.use_connect = part.connected
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    _add_skin(armature, collection)
    return armature


def ball_at(place: Vector, radius: float, collection: Collection) -> Object:
    """Make a ball around a place (world space)."""
    mesh = bpy.data.meshes.new("Ball")
    ball = bpy.data.objects.new(mesh.name, mesh)
    collection.objects.link(ball)
    ball.location, ball.color = place, _BALL
    half = 1e-3 * radius
    corners, quads = _capsule(_Part("", (0.0, 0.0, -half), (0.0, 0.0, half), (radius, radius)))
    fill_with_quads(mesh, corners, quads)
    return ball


def _parts() -> dict[str, _Part]:
    """Return the bones of both sides, parents first."""
    found = dict(_MIDDLE)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, part in _LEFT.items():
            parent = part.parent if part.parent in _MIDDLE else f"{part.parent}.{side}"
            head, tail = ((sign * x, y, z) for x, y, z in (part.head, part.tail))
            found[f"{name}.{side}"] = part._replace(parent=parent, head=head, tail=tail)
    return found


def _add_skin(armature: Object, collection: Collection) -> None:
    """Give the armature a mesh in which each bone has a capsule of its own."""
    mesh = bpy.data.meshes.new(f"{armature.name} Skin")
    skin = bpy.data.objects.new(mesh.name, mesh)
    collection.objects.link(skin)
    skin.parent, skin.color = armature, _SKIN
    corners, faces = list[NDArray[np.float64]](), list[NDArray[np.intp]]()
    groups: dict[str, range] = {}
    for name, part in _parts().items():
        places, quads = _capsule(part)
        start = sum(map(len, corners))
        groups[name] = range(start, start + len(places))
        corners.append(places)
        faces.append(quads + start)
    fill_with_quads(mesh, np.concatenate(corners), np.concatenate(faces))
    for name, members in groups.items():
        skin.vertex_groups.new(name=name).add(list(members), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = armature


def _capsule(part: _Part) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return corners (n, 3) and quads (m, 4) of a capsule along a bone, with its radii at both ends."""
    head, tail = Vector(part.head), Vector(part.tail)
    axis, length = (tail - head).normalized(), (tail - head).length
    frame = np.array(Matrix.Translation(head) @ axis.to_track_quat("Z", "Y").to_matrix().to_4x4())
    rise = np.linspace(0.02, 0.5 * np.pi, _ROUND)  # closed but for a hole that is never seen
    heights = np.concatenate((-part.radii[0] * np.cos(rise), length + part.radii[1] * np.cos(rise[::-1])))
    widths = np.concatenate((part.radii[0] * np.sin(rise), part.radii[1] * np.sin(rise[::-1])))
    angles = np.arange(_SIDES) * (2.0 * np.pi / _SIDES)
    rings = np.stack(
        (
            widths[:, None] * np.cos(angles),
            widths[:, None] * np.sin(angles),
            np.broadcast_to(heights[:, None], (len(heights), _SIDES)),
        ),
        axis=-1,
    )
    ring, side = np.divmod(np.arange((len(heights) - 1) * _SIDES), _SIDES)
    following = (side + 1) % _SIDES
    below = ring * _SIDES
    quads = np.stack((below + side, below + following, below + _SIDES + following, below + _SIDES + side), axis=1)
    return rings.reshape(-1, 3) @ frame[:3, :3].T + frame[:3, 3], quads
