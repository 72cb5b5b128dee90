# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands of other people's characters around twenty objects: depth, fingers that touch, opposition of the thumb, time.

Skeletons are files as `skeletons` reads them. Objects are as large as hands are: rods, balls, cones and boxes in the
palm of the left hand, along its knuckles. Fingers are capsules of 8 mm at human size. The thumb is to be at least 100
degrees from a finger, 85 on boxes and on what is thicker than 7.6 cm.
"""

from math import degrees
from pathlib import Path
from time import process_time

import numpy as np

from . import rig_truth as truth
from .scenes import empty_file

HUMAN = 0.095  # m from the wrist to the knuckles of a grown-up
THICK = 0.076
RODS = [("rod", radius) for radius in (0.008, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04)]
BOXES = [("box", size) for size in ((0.03, 0.03, 0.14), (0.04, 0.06, 0.14), (0.02, 0.07, 0.14), (0.06, 0.06, 0.14))]
BOXES += [("box", size) for size in ((0.07, 0.08, 0.14), (0.045, 0.045, 0.045), (0.01, 0.08, 0.15))]
BALLS = [("ball", radius) for radius in (0.02, 0.03, 0.035, 0.045)]
OBJECTS = [*RODS, *BOXES, *BALLS, ("cone", 0.03), ("cone", 0.035)]


def object_of(kind, size, placed):
    """An object of a kind and a size [m], with its longest side along Z."""
    import bmesh
    import bpy

    made = bmesh.new()
    if kind == "ball":
        bmesh.ops.create_uvsphere(made, u_segments=32, v_segments=16, radius=size)
    elif kind == "box":
        bmesh.ops.create_cube(made, size=1.0)
        bmesh.ops.scale(made, vec=size, verts=made.verts)
    else:
        below, above = (1.3 * size, 0.8 * size) if kind == "cone" else (size, size)
        bmesh.ops.create_cone(made, segments=32, radius1=below, radius2=above, depth=0.15, cap_ends=True)
    bmesh.ops.recalc_face_normals(made, faces=made.faces)
    mesh = bpy.data.meshes.new(kind)
    made.to_mesh(mesh)
    made.free()
    found = bpy.data.objects.new(f"{kind} {size}", mesh)
    bpy.context.scene.collection.objects.link(found)
    found.matrix_world = placed
    bpy.context.view_layer.update()
    return found


def in_palm(hand, kind, size):
    """The matrix of an object that is in the palm of a hand, 14 mm off its knuckles."""
    from mathutils import Matrix, Vector

    scale = hand.size / HUMAN
    half = size[0] / 2.0 if isinstance(size, tuple) else size
    middle = sum(hand.knuckles, Vector()) / len(hand.knuckles)
    place = middle + hand.palm * (half + 0.014) * scale + hand.along * 0.008 * scale
    axes = Matrix((hand.palm, hand.along, hand.row)).transposed()
    if axes.determinant() < 0.0:
        axes = Matrix((hand.palm, -hand.along, hand.row)).transposed()
    return Matrix.Translation(place) @ axes.to_4x4() @ Matrix.Scale(scale, 4)


def grasped(rig, name, kind, size):
    """Fingers that touch, phalanges, depth [mm at human size], opposition [degrees], width [m], seconds, and depth on
    the way from the open hand [mm]."""
    import bpy

    from ik_triangulation.rig.fingers import HeldSurface
    from ik_triangulation.rig.grasping import GraspingHand

    depsgraph = bpy.context.evaluated_depsgraph_get()
    hand = GraspingHand(rig.evaluated_get(depsgraph), name)
    unit = HUMAN / hand.size
    held = object_of(kind, size, in_palm(hand, kind, size))
    depsgraph = bpy.context.evaluated_depsgraph_get()
    began = process_time()
    surface = HeldSurface(held, depsgraph)
    way, closed = hand.settle(surface)
    took = process_time() - began
    passed = deepest_on_the_way(hand.moved(way), closed, surface) * unit * 1000.0
    bpy.data.objects.remove(held)
    touching = sum(finger.touches > 0 for finger in closed.fingers)
    phalanges = sum(finger.touches for finger in closed.all)
    deep = closed.penetration * unit * 1000.0
    return touching, phalanges, deep, degrees(closed.opposition), surface.width * unit, took, passed


def deepest_on_the_way(hand, closed, surface):
    """The depth of the deepest finger from the open hand to the grasp, at eight places of each phalanx; 0 outside."""
    rows, deepest = [*hand.rows, *([hand.thumb] if closed.thumb else [])], 0.0
    for row, finger in zip(rows, closed.all, strict=True):
        for share in np.linspace(0.0, 1.0, 9):
            pairs = zip(finger.opened, finger.rotations, strict=True)
            ends = row.phalanges([a.slerp(b, share) for a, b in pairs])
            places = (a.lerp(b, along) for a, b in ends for along in np.linspace(0.25, 1.0, 8))
            deepest = max(deepest, row.radius - min(surface.distance(place) for place in places))
    return deepest


def add_arguments(command):
    command.add_argument("folder", type=Path, help="folder of skeletons as JSON")
    command.add_argument("--each", action="store_true", help="print each object")


def run(arguments):
    print(
        "| hand | held of 20 | fingers | phalanges | depth, mm | thumb, degrees | ms, median, most | on the way, mm |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for path in sorted(arguments.folder.glob("*.json")):
        empty_file()
        rig = truth.build(truth.read(path))
        hand = hand_of_left(rig)
        if hand is None:
            continue
        rows, held = [], 0
        for kind, size in OBJECTS:
            rows.append(grasped(rig, hand, kind, size))
            touching, _, deep, opposed, width, *_ = rows[-1]
            asked = 85.0 if kind == "box" or width > THICK else 100.0
            held += touching >= 3 and deep <= 2.0 and opposed >= asked
            if arguments.each:
                print(f"  {path.stem} {kind} {size}: {rows[-1]}")
        least, mean, deep, opposed, times, passed = (np.array([row[n] for row in rows]) for n in (0, 1, 2, 3, 5, 6))
        print(
            f"| {path.stem} | {held} | {least.min()} | {mean.mean():.1f} | {deep.max():.2f} | {opposed.min():.0f} "
            f"| {np.median(times) * 1000:.0f}, {times.max() * 1000:.0f} | {passed.max():.2f} |"
        )


def hand_of_left(rig):
    """The left hand of a skeleton with a thumb and four fingers; None without one."""
    from ik_triangulation.rig.anatomy.hands import hand_of
    from ik_triangulation.rig.anatomy.limbs import rest_body

    body = rest_body(rig)
    for bone in rig.data.bones:
        part = body.part(bone.name)
        if part is not None and (part.part, part.side) == ("hand", "L"):
            hand = hand_of(body, bone.name)
            if hand is not None and hand.thumb is not None and len(hand.fingers) == 4 and len(hand.thumb.bones) == 3:
                return bone.name
    return None
