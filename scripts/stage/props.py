# SPDX-License-Identifier: GPL-3.0-or-later
"""Table, cup, cloth, ground, light and camera of the demo."""

from itertools import pairwise
from math import tau

import bmesh
import bpy
from mathutils import Matrix, Vector

from .body import material

WOOD, CHINA, CLOTH, GROUND = (0.4, 0.2, 0.085), (0.62, 0.03, 0.02), (0.85, 0.62, 0.06), (0.22, 0.3, 0.32)
SKY, HORIZON = (0.32, 0.37, 0.4), (0.343, 0.5, 0.475)  # what lights all, and what is seen: the ground in that light


def table(home, here, height):
    """A table before a body: metres, its top as high as told."""
    shape = bmesh.new()
    _block(shape, (0.0, -0.47, height - 0.02), (1.1, 0.56, 0.04))
    for x in (-0.5, 0.5):
        for y in (-0.24, -0.7):
            _block(shape, (x, y, (height - 0.04) / 2.0), (0.05, 0.05, height - 0.04))
    made = add(home, "Table", shape, WOOD, bevel=0.006)
    made.location = here
    return made


def cup(home, place):
    """A cup that stands at a place: an outline turned about Z."""
    outline = [
        (0.0, 0.0),
        (0.028, 0.0),
        (0.034, 0.008),
        (0.039, 0.05),
        (0.041, 0.095),
        (0.0385, 0.096),
        (0.0355, 0.05),
        (0.03, 0.01),
        (0.0, 0.008),
    ]
    shape = bmesh.new()
    verts = [shape.verts.new((radius, 0.0, z)) for radius, z in outline]
    edges = [shape.edges.new(pair) for pair in pairwise(verts)]
    bmesh.ops.spin(shape, geom=[*verts, *edges], axis=(0.0, 0.0, 1.0), steps=40, angle=tau)
    bmesh.ops.remove_doubles(shape, verts=shape.verts[:], dist=1e-5)
    bmesh.ops.recalc_face_normals(shape, faces=shape.faces[:])
    made = add(home, "Cup", shape, CHINA, roughness=0.25)
    made.location = place
    return made


def crate(home, place):
    """A crate that stands at a place."""
    shape = bmesh.new()
    _block(shape, (0.0, 0.0, 0.13), (0.34, 0.3, 0.26))
    made = add(home, "Crate", shape, WOOD, bevel=0.012)
    made.location = place
    return made


def ball(home, radius):
    """An empty with a red ball on it, so that it stays a point."""
    empty = bpy.data.objects.new("Ball", None)
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=3, radius=radius)
    add(home, "Ball Shown", shape, CHINA).parent = empty
    home.objects.link(empty)
    return empty


def cloth(home, empty, height):
    """A folded cloth on a table as high as told, which goes with an empty on a hand above it."""
    shape = bmesh.new()
    _block(shape, (0.0, 0.0, 0.0), (0.15, 0.17, 0.012))
    made = add(home, "Cloth", shape, CLOTH, bevel=0.005)
    made.parent = empty
    bpy.context.view_layer.update()
    made.matrix_world = Matrix.Translation((*empty.matrix_world.translation.xy, height + 0.007))
    return made


def studio():
    """Ground, light and sky, for Cycles and for the viewport."""
    import addon_utils

    addon_utils.enable("cycles")
    scene = bpy.context.scene
    shape = bmesh.new()
    bmesh.ops.create_grid(shape, x_segments=1, y_segments=1, size=40.0)
    add(scene.collection, "Ground", shape, GROUND, roughness=0.9)
    scene.world = bpy.data.worlds.new("Sky")
    if bpy.app.version < (5, 0):  # later ones always do
        scene.world.use_nodes = True
    nodes, links = scene.world.node_tree.nodes, scene.world.node_tree.links
    seen, light, both = (nodes.new(f"ShaderNode{name}") for name in ("Background", "LightPath", "MixShader"))
    nodes["Background"].inputs["Color"].default_value = (*SKY, 1.0)
    seen.inputs["Color"].default_value = (*HORIZON, 1.0)
    links.new(light.outputs["Is Camera Ray"], both.inputs[0])
    links.new(nodes["Background"].outputs[0], both.inputs[1])
    links.new(seen.outputs[0], both.inputs[2])
    links.new(both.outputs[0], nodes["World Output"].inputs[0])
    _sun("Key", 4.5, 0.12, (1.0, 0.93, 0.82), (0.7, 1.0, -1.35))
    _sun("Rim", 2.0, 0.3, (0.75, 0.85, 1.0), (-1.0, -0.6, -0.5))
    scene.view_settings.look = "AgX - Medium High Contrast"
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.samples, cycles.use_denoising, cycles.max_bounces, cycles.diffuse_bounces = 12, True, 3, 2
    scene.render.use_persistent_data = True


def camera(name, place, at, height):
    """A camera that sees `height` metres at the distance of a point."""
    data = bpy.data.cameras.new(name)
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    place, at = Vector(place), Vector(at)
    data.sensor_fit, data.sensor_height, data.lens = "VERTICAL", 24.0, 24.0 * (place - at).length / height
    made.location, made.rotation_euler = place, (at - place).to_track_quat("-Z", "Y").to_euler()
    return made


def _sun(name, strength, angle, colour, along):
    data = bpy.data.lights.new(name, "SUN")
    data.energy, data.angle, data.color = strength, angle, colour
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    made.rotation_euler = Vector(along).to_track_quat("-Z", "Y").to_euler()


def _block(shape, centre, size):
    matrix = Matrix.LocRotScale(Vector(centre), None, Vector(size))
    bmesh.ops.create_cube(shape, size=1.0, matrix=matrix)


def add(home, name, shape, colour, roughness=0.6, bevel=0.0):
    if bevel:
        bmesh.ops.bevel(shape, geom=shape.edges[:], offset=bevel, segments=3, affect="EDGES", profile=0.5)
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    if not bevel:
        mesh.shade_smooth()
    mesh.materials.append(material(name, colour, roughness))
    made = bpy.data.objects.new(name, mesh)
    home.objects.link(made)
    return made
