# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings as rigs: an armature with a T-pose at rest that plays a BVH file, and what it shows frame by frame."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .bvh import motion, read
from .figure import Figure, figure

RATE = 30  # frames a second
FIRST = 1
STILL = 1e-4  # [m]


class Recording(NamedTuple):
    """A rig that plays a recording: limbs by name as bones from root to tip, its frames, and matrices of all bones.

    matrices  (F, n, 4, 4) in the order of the armature's bones; the object is at the origin
    """

    name: str
    ob: Any
    limbs: dict[str, list[str]]
    frames: range
    matrices: np.ndarray

    def of(self, bones, matrices=None):
        """Matrices (F, 1 + n, 4, 4) of these bones after the one that the first hangs on."""
        names = self.ob.data.bones.keys()
        above = self.ob.data.bones[bones[0]].parent
        every = self.matrices if matrices is None else matrices
        return every[:, [names.index(above.name), *map(names.index, bones)]]

    def rests(self, bones):
        """Rest matrices (n, 4, 4) of these bones in the one before."""
        found = [self.ob.data.bones[name] for name in bones]
        return np.array([bone.parent.matrix_local.inverted() @ bone.matrix_local for bone in found])


def files_in(folder, count=None):
    """The BVH files in a folder, by name. Raises FileNotFoundError if there is none."""
    found = sorted(Path(folder).glob("*.bvh")) if Path(folder).is_dir() else []
    if not found:
        raise FileNotFoundError(
            f"There are no .bvh files in '{folder}'. Download recorded motion, such as clips of the CMU Graphics Lab "
            "Motion Capture Database (mocap.cs.cmu.edu) as BVH, put them into one folder, and give that folder."
        )
    return found[:count]


def load(file, length):
    """The middle of a recording, at most `length` frames at 30 frames a second, as a rig alone in the scene."""
    import bpy

    joints, values, seconds = read(file)
    every = max(1, round(1.0 / RATE / seconds))
    body = figure(joints, motion(joints, values[1::every]))  # the first row is often a T-pose and no motion
    start = max(0, (len(body.motion.places) - length) // 2)
    ob, names = armature_of(body)
    frames = range(FIRST, FIRST + min(length, len(body.motion.places)))
    chosen = slice(start, start + len(frames))
    _play(ob, body, names, chosen, frames)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = frames[0], frames[-1]
    bpy.context.scene.render.fps = RATE
    limbs = {name: [names[k] for k in line] for name, line in body.lines.items() if len(line) > 1}
    return Recording(Path(file).stem, ob, limbs, frames, watch(ob, frames))


def watch(ob, frames):
    """Matrices (F, n, 4, 4) of all bones as Blender shows them at these frames."""
    import bpy

    scene, found = bpy.context.scene, []
    for frame in frames:
        scene.frame_set(frame)
        found.append(np.array([bone.matrix for bone in ob.pose.bones]))
    return np.array(found)


def key(owner, path, frames, values, group=""):
    """Key a vector property of an object or pose bone at all frames with values (F, n), linear between them."""
    owner.keyframe_insert(path, frame=frames[0], **({"group": group} if group else {}))
    full = owner.path_from_id(path) if owner.id_data != owner else path
    from ik_triangulation.rig.keyframes.channelbags import curves_of

    for curve in curves_of(owner.id_data):
        if curve.data_path == full:
            points = curve.keyframe_points
            points.add(len(frames) - len(points))
            points.foreach_set("co", np.column_stack((frames, values[:, curve.array_index])).ravel())
            for point in points:
                point.interpolation = "LINEAR"
            curve.update()


def smooth_quaternions(rotations):
    """Quaternions (F, 4) of rotations (F, 3, 3), each on the same side as the one before."""
    from mathutils import Matrix

    found = np.array([Matrix(rotation).to_quaternion() for rotation in rotations])
    signs = np.where((found[1:] * found[:-1]).sum(1) < 0.0, -1.0, 1.0)
    found[1:] *= np.cumprod(signs)[:, None]
    return found


def armature_of(body: Figure):
    """An armature in the rest pose, and the names of its bones in the order of the joints."""
    import bpy
    from mathutils import Vector

    armature = bpy.data.armatures.new("Body")
    ob = bpy.data.objects.new("Body", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = []
    for name, parent, head, tail in zip(body.names, body.parents, body.rest.places, body.tails, strict=True):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = Vector(head), Vector(tail)
        if parent >= 0:
            bone.parent = bones[parent]
        bones.append(bone)
    names = [bone.name for bone in bones]
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return ob, names


def _play(ob, body, names, chosen, frames):
    """Key every bone's rotation as recorded, and its location where that changes."""
    rests = np.array([ob.data.bones[name].matrix_local.to_3x3() for name in names])
    world = body.motion.rotations[chosen] @ np.swapaxes(body.rest.rotations, -1, -2)  # from the rest pose
    turned, places = world @ rests, body.motion.places[chosen]
    for k, name in enumerate(names):
        parent = body.parents[k]
        above = turned[:, parent] @ rests[parent].T if parent >= 0 else np.eye(3)
        local = rests[k].T @ np.swapaxes(above, -1, -2) @ turned[:, k]
        key(ob.pose.bones[name], "rotation_quaternion", frames, smooth_quaternions(local), name)
        before = (places[:, parent], body.rest.places[parent]) if parent >= 0 else (0.0, 0.0)
        offset = (places[:, k] - before[0])[..., None]
        moved = ((np.swapaxes(above, -1, -2) @ offset)[..., 0] - (body.rest.places[k] - before[1])) @ rests[k]
        if np.abs(moved).max() > STILL:
            key(ob.pose.bones[name], "location", frames, moved, name)
