# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs and empties that stand in every way, and limbs between them."""

from math import atan2, hypot, pi, radians, sin

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.surface import looks_of

from ..rigs import chain_rig, empty, evaluated_tip

TOLERANCE = 1e-3


ANGLE = radians(0.1)


def looks_now(limb):
    bpy.context.view_layer.update()
    return looks_of(limb.target, limb.subtarget, bpy.context.view_layer.depsgraph)


def turned(ob):
    ob.rotation_euler = (0.4, -0.7, 1.1)


def scaled(ob):
    turned(ob)
    ob.scale = (2.5, 2.5, 2.5)


def unequal(ob):
    turned(ob)
    ob.scale = (1.5, 0.7, 1.0)


def mirrored(ob):
    turned(ob)
    ob.scale = (-1.0, 1.0, 1.0)


def parented(ob):
    holder = empty(f"Holder of {ob.name}", (0.3, -0.4, 0.2))
    holder.rotation_euler, holder.scale = (0.3, 0.5, -0.9), (0.6, 0.6, 0.6)
    ob.parent = holder
    turned(ob)


STANDS = {
    "plain": lambda ob: None,
    "turned": turned,
    "scaled": scaled,
    "unequal": unequal,
    "mirrored": mirrored,
    "parented": parented,
}


def standing_rig(how="plain", bones=3):
    rig = chain_rig(bones)
    rig.location = (1.0, 2.0, -0.5) if how != "plain" else (0.0, 0.0, 0.0)
    STANDS[how](rig)
    bpy.context.view_layer.update()
    return rig


def standing_empty(rig, how="plain", at=(0.8, 0.5, 1.2), display="PLAIN_AXES", size=0.5, name="Target"):
    """An empty at a place in the space of the rig."""
    ob = empty(name)
    ob.empty_display_type, ob.empty_display_size = display, size
    STANDS[how](ob)
    move(ob, rig.matrix_world @ Vector(at))
    return ob


def move(ob, world):
    """Put an object at a place in world space."""
    bpy.context.view_layer.update()
    ob.location = (ob.parent.matrix_world.inverted() if ob.parent else Matrix()) @ Vector(world)
    bpy.context.view_layer.update()


def limb(rig, target, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def solved(rig, target, **settings):
    """Solve; the report, and the tip's tail as Blender evaluates it, world space."""
    report = solve_pose(limb(rig, target, **settings))
    assert list(report.warnings) == []
    return report.frames[0], evaluated_tip(rig, rig.pose.bones[-1].name)


def world_of(rig, bone=None):
    """Evaluated frame of a bone, world space."""
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world @ evaluated.pose.bones[bone or rig.pose.bones[-1].name].matrix


def axes_of(matrix):
    """Unit axes as columns, for comparison."""
    columns = np.array(matrix.to_3x3(), dtype=float)
    return columns / np.linalg.norm(columns, axis=0)


def angle_between(a, b):
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    return atan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))


OFF = {
    "POINT": lambda x, y, z, size: hypot(x, y, z),
    "PLANE": lambda x, y, z, size: abs(z),
    "LINE": lambda x, y, z, size: hypot(x, y),
    "RAY": lambda x, y, z, size: hypot(x, y, min(z, 0.0)),
    "SEGMENT": lambda x, y, z, size: hypot(x, y, min(z, 0.0), max(z - size, 0.0)),
    "SPHERE": lambda x, y, z, size: abs(hypot(x, y, z) - size),
    "CYLINDER": lambda x, y, z, size: abs(hypot(x, z) - size),
    "RING": lambda x, y, z, size: hypot(hypot(x, z) - size, y),
    "BOX": lambda x, y, z, size: hypot(*(max(abs(value) - size, 0.0) for value in (x, y, z))),
}


def bend_off(rig, pole, angle=0.0, root=0):
    """Angle [rad] in world space from the pole to where the bones bend, about the line from root to tip."""
    matrix, bones = rig.matrix_world, rig.pose.bones[root:]
    heads = [np.array(matrix @ bone.head) for bone in bones]
    root, tip = heads[0], np.array(matrix @ bones[-1].tail)
    line = (tip - root) / np.linalg.norm(tip - root)
    bend, way = sum(head - root for head in heads[1:]), np.array(pole) - root
    bend, way = bend - line * bend.dot(line), way - line * way.dot(line)
    off = atan2(np.cross(way, bend).dot(line), way.dot(bend)) - angle
    return abs((off + pi) % (2.0 * pi) - pi)


def assert_on(shape, tip, frame, size):
    """The tip (world space) is within tolerance of a shape of the size that stands in a frame."""
    least = min(np.linalg.svd(np.array(frame.to_3x3()), compute_uv=False))
    assert OFF[shape](*(frame.inverted() @ tip), size) < 1.05 * TOLERANCE / least + 1e-5


def keyed_euler(target, frames):
    for frame in frames:
        target.rotation_euler = (0.05 * frame, 0.3 * sin(0.3 * frame), 0.08 * frame)
        target.keyframe_insert("rotation_euler", frame=frame)
