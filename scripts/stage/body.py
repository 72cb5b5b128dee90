# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's human with a body: rounded parts round its bones, each fused to one smooth skin, weighted by Blender.

Lengths are metres in the rest pose of the metarig, which is two metres tall and looks along -Y. Parts are hulls of
spheres; those on the left are mirrored.
"""

import bmesh
import bpy
from mathutils import Matrix, Vector

FINGERS = {"f_index": 0.0112, "f_middle": 0.0116, "f_ring": 0.0112, "f_pinky": 0.0098, "thumb": 0.0125}
TORSO = [
    [((0.07, 0.02, 1.13), 0.105), ((0.055, 0.012, 1.25), 0.1), ((0.085, 0.0, 1.38), 0.105)],
    [((0.085, 0.0, 1.38), 0.105), ((0.085, 0.01, 1.5), 0.1), ((0.06, 0.015, 1.57), 0.075)],
    [((0.0, 0.015, 1.62), 0.062), ((0.175, 0.027, 1.585), 0.062), ((0.09, 0.012, 1.5), 0.09)],
]
SLEEVE = [
    [((0.175, 0.027, 1.582), 0.066), ((0.3, 0.054, 1.525), 0.058), ((0.442, 0.089, 1.449), 0.045)],
    [((0.442, 0.089, 1.449), 0.045), ((0.5, 0.077, 1.408), 0.046), ((0.648, 0.051, 1.313), 0.033)],
]
TROUSERS = [
    [((0.075, 0.022, 1.12), 0.106), ((0.08, 0.028, 1.04), 0.108)],
    [((0.09, 0.018, 1.03), 0.098), ((0.098, -0.005, 0.85), 0.085), ((0.098, -0.029, 0.54), 0.061)],
    [((0.098, -0.029, 0.54), 0.061), ((0.098, 0.006, 0.4), 0.061), ((0.098, 0.014, 0.12), 0.046)],
]
SHOE = [
    [((0.098, 0.014, 0.1), 0.038), ((0.098, 0.035, 0.04), 0.041), ((0.098, -0.05, 0.05), 0.034)],
    [((0.098, 0.04, 0.036), 0.036), ((0.088, -0.1, 0.03), 0.03), ((0.116, -0.1, 0.028), 0.028)],
    [((0.088, -0.1, 0.03), 0.03), ((0.116, -0.1, 0.028), 0.028), ((0.1, -0.175, 0.024), 0.024)],
]
HEAD = [
    [((0.0, 0.02, 1.6), 0.052), ((0.0, -0.008, 1.74), 0.05)],
    [
        ((0.0, 0.012, 1.885), 0.094),
        ((0.0, -0.032, 1.9), 0.082),
        ((0.0, -0.03, 1.83), 0.072),
        ((0.0, -0.055, 1.79), 0.045),
    ],
    [((0.0, -0.13, 1.845), 0.012), ((0.0, -0.1, 1.885), 0.014), ((0.0, -0.1, 1.845), 0.022)],
]
EARS = [[((0.082, 0.0, 1.85), 0.016), ((0.088, 0.008, 1.88), 0.018)]]
HAIR = [[((0.0, 0.026, 1.9), 0.096), ((0.0, -0.03, 1.93), 0.078), ((0.03, 0.05, 1.84), 0.06)]]
EYES = [[((0.036, -0.107, 1.866), 0.0115)]]
NO_SKIN = ("face", "breast", "pelvis", "heel")  # bones that move no part of it, with those below them


def make_body():
    """Rigify's human in the scene, with a skin of several colours that its bones deform; returns the armature."""
    import addon_utils

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    for bone in rig.data.bones:
        above = {bone.name.partition(".")[0], *(b.name for b in bone.parent_recursive)}
        bone.use_deform = above.isdisjoint(NO_SKIN)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    parts = {  # hulls with their mirror images as one, and apart; metres of a facet; colour
        "Shirt": (TORSO, SLEEVE, 0.011, (0.045, 0.22, 0.42)),
        "Trousers": ([], TROUSERS, 0.012, (0.075, 0.08, 0.1)),
        "Shoes": ([], SHOE, 0.007, (0.5, 0.13, 0.045)),
        "Skin": (HEAD, EARS + _hand(rig.data.bones), 0.0058, (0.72, 0.42, 0.28)),
        "Eyes": ([], EYES, 0.003, (0.02, 0.016, 0.014)),
        "Hair": (HAIR, [], 0.009, (0.06, 0.032, 0.02)),
    }
    for name, (whole, sided, grain, colour) in parts.items():
        hulls = [hull + mirrored(hull) for hull in whole]
        hulls += [side for hull in sided for side in (hull, mirrored(hull))]
        weigh(skin(name, hulls, grain, colour), rig)
    bpy.context.view_layer.objects.active = rig
    return rig


def copy_body(rig, name, collection):
    """Another body of the same bones and skins, in a collection; returns its armature."""
    copied = rig.copy()
    copied.name = name
    collection.objects.link(copied)
    for skin in rig.children:
        worn = skin.copy()
        collection.objects.link(worn)
        worn.parent, worn.modifiers["Armature"].object = copied, copied
    return copied


def only_body(title, name):
    """A body in a new collection of the scene, and no other; returns its armature and the collection."""
    collection = bpy.data.collections.new(title)
    bpy.context.scene.collection.children.link(collection)
    first = make_body()
    rig = copy_body(first, name, collection)
    for ob in [*first.children, first]:
        bpy.data.objects.remove(ob)
    return rig, collection


def material(name, colour, roughness=0.6):
    """A plain material of this colour, linear; also as the viewport shows it."""
    made = bpy.data.materials.new(name)
    if bpy.app.version < (5, 0):  # later ones always do
        made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    made.diffuse_color = (*colour, 1.0)
    return made


def _hand(bones):
    """Hulls of the left hand, from its bones."""
    knuckles = [(bones[f"palm.0{number}.L"].tail_local, 0.0125) for number in range(1, 5)]
    hulls = [
        [(bones["hand.L"].head_local, 0.024), (bones["hand.L"].head_local.lerp(knuckles[1][0], 0.5), 0.02), *knuckles]
    ]
    for finger, radius in FINGERS.items():
        for number in range(1, 4):
            bone = bones[f"{finger}.0{number}.L"]
            hulls.append(
                [(bone.head_local, radius * (1.06 - 0.08 * number)), (bone.tail_local, radius * (0.98 - 0.08 * number))]
            )
    hulls.append(
        [
            (bones["hand.L"].head_local, 0.02),
            (bones["thumb.01.L"].head_local, 0.016),
            (bones["thumb.01.L"].tail_local, 0.0125),
        ]
    )
    return hulls


def skin(name, hulls, grain, colour):
    """One smooth mesh round these hulls, of facets as large as `grain`."""
    mesh = bpy.data.meshes.new(name)
    shape = bmesh.new()
    for hull in hulls:
        _wrap(hull, mesh)
        shape.from_mesh(mesh)
    shape.to_mesh(mesh)
    shape.free()
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    fuse = ob.modifiers.new("Fuse", "REMESH")
    fuse.mode, fuse.voxel_size = "VOXEL", grain
    even = ob.modifiers.new("Even", "SMOOTH")
    even.factor, even.iterations = 0.5, 8
    fused = bpy.data.meshes.new_from_object(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    ob.modifiers.clear()
    ob.data = fused
    bpy.data.meshes.remove(mesh)
    fused.name = name
    fused.shade_smooth()
    fused.materials.append(material(name, colour))
    return ob


def mirrored(hull):
    return [((-x, y, z), radius) for (x, y, z), radius in hull]


def _wrap(balls, mesh):
    """Make a mesh the convex hull of some spheres."""
    hull = bmesh.new()
    for centre, radius in balls:
        bmesh.ops.create_icosphere(hull, subdivisions=3, radius=radius, matrix=Matrix.Translation(Vector(centre)))
    bmesh.ops.delete(hull, geom=hull.edges[:], context="EDGES_FACES")
    found = bmesh.ops.convex_hull(hull, input=hull.verts[:])
    bmesh.ops.delete(hull, geom=list({*found["geom_interior"], *found["geom_unused"]}), context="VERTS")
    hull.to_mesh(mesh)
    hull.free()


def weigh(ob, rig):
    """Have the bones deform a mesh, by Blender's automatic weights."""
    bpy.ops.object.select_all(action="DESELECT")
    ob.select_set(True)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
