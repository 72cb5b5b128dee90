# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of the bake benchmarks: a chain, its target, and what makes either of them dear."""

import os
import sys
from contextlib import contextmanager
from itertools import cycle
from math import asin, atan2, cos, degrees, radians, sin
from typing import Any, NamedTuple

REACH = 40.0  # of every benchmark chain [Blender units]
AROUND = 40  # vertices in a ring of the mesh
PAPER = (9.0, 9.0, 9.0, 9.0, 4.0)  # the chain of the 2007 paper
ROUND = {"x": (-60, 60), "y": (-30, 30), "z": (-60, 60)}
# Ranges of four bones in degrees, as an animator sets them up: a shoulder, an elbow, a wrist and a knuckle.
MIXED = (
    {"x": (-90, 90), "y": (-45, 45), "z": (-60, 60)},
    {"x": (-10, 140)},
    {"x": (-70, 70), "z": (-30, 30)},
    ROUND,
)
HINGES = ({"x": (-100, 100)}, {"z": (-100, 100)})


@contextmanager
def extension():
    """Have the extension enabled, so that bones have its settings; afterwards it is as it was."""
    import addon_utils

    there = addon_utils.check("ik_triangulation")[1]
    if not there:
        addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    try:
        yield
    finally:
        if not there:
            addon_utils.disable("ik_triangulation", default_set=True)


@contextmanager
def silent():
    """Keep what operators report, which Blender prints, out of the tables."""
    sys.stdout.flush()
    there, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(there, 1)
        os.close(there)
        os.close(nowhere)


def empty_file():
    """Begin a new file without a single object; what is enabled stays so."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


class Scene(NamedTuple):
    """What a benchmark bakes: the armature, the number of bones of its limb, the target, and a mesh, if there is one.

    The limb ends in the bone that is named `tip`. One that was made by + is `stored` on it and turns as its target.
    """

    ob: Any
    count: int
    target: Any
    skin: Any = None
    tip: str = ""
    stored: bool = False

    @property
    def bones(self):
        """The limb's pose bones from root to tip."""
        tip = self.ob.pose.bones[self.tip or self.ob.pose.bones[-1].name]
        return [*reversed(tip.parent_recursive[: self.count - 1]), tip]


def lengths_of(count):
    """The paper's chain for five bones, else equal ones of the same reach."""
    return PAPER if count == len(PAPER) else (REACH / count,) * count


def make_chain(count, bend=2.0):
    """An armature of `count` connected bones along +Y, each bent by `bend` degrees, so that Blender's IK can start."""
    import bpy
    from mathutils import Vector

    armature = bpy.data.armatures.new("Chain")
    ob = bpy.data.objects.new("Chain", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    head, parent = Vector(), None
    for i, length in enumerate(lengths_of(count)):
        bone = armature.edit_bones.new(f"bone_{i:02}")
        angle = radians(bend) * i
        bone.head, bone.tail = head, head + Vector((0.0, cos(angle), sin(angle))) * length
        bone.parent, bone.use_connect = parent, parent is not None
        head, parent = bone.tail.copy(), bone
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
        (bone if hasattr(bone, "select") else bone.bone).select = True
    return ob


def make_target(frames):
    """An empty keyed every ten frames along a smooth way at 0.4 to 0.84 of the reach."""
    import bpy

    empty = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in range(1, frames + 11, 10):
        empty.location = smooth_way(frame)
        empty.keyframe_insert("location", frame=frame)
    return empty


def smooth_way(frame):
    """The place of the target at a frame: a smooth way at 0.4 to 0.84 of the reach round the root."""
    t = frame / 24.0
    r, a, b = REACH * (0.62 + 0.22 * sin(0.83 * t)), 0.91 * t, 0.55 * sin(0.47 * t)
    return r * cos(a) * cos(b), r * sin(a) * cos(b), r * sin(b)


def make_skin(ob, vertices):
    """A tube of about so many vertices around the chain, deformed by it, each vertex by two bones."""
    import bpy
    import numpy as np

    rings = max(2, round(vertices / AROUND))
    along, around = np.divmod(np.arange(rings * AROUND), AROUND)
    angles, radius = 2.0 * np.pi * around / AROUND, 0.05 * REACH
    places = np.column_stack((radius * np.cos(angles), REACH * along / (rings - 1), radius * np.sin(angles)))
    first, after = along * AROUND + around, along * AROUND + (around + 1) % AROUND
    faces = np.column_stack((first, after, after + AROUND, first + AROUND))[: (rings - 1) * AROUND]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(places.tolist(), [], faces.tolist())
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.parent = ob
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    bones = len(ob.pose.bones)
    nearest = np.minimum(along * bones // rings, bones - 1)
    for i, bone in enumerate(ob.pose.bones):
        group = skin.vertex_groups.new(name=bone.name)
        group.add(np.flatnonzero(nearest == i).tolist(), 0.7, "REPLACE")
        group.add(np.flatnonzero(np.maximum(nearest - 1, 0) == i).tolist(), 0.3, "ADD")
    return skin


def limit_bone(bone, ranges):
    """Limit a bone's rotation in Blender's Inverse Kinematics panel, which its own IK keeps as well as ours.

    `ranges` has those of the axes that are not locked, in degrees; none of them leaves out the rest pose.
    """
    for axis in "xyz":
        lower, upper = ranges.get(axis, (0.0, 0.0))
        setattr(bone, f"lock_ik_{axis}", axis not in ranges)
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", radians(lower))
        setattr(bone, f"ik_max_{axis}", radians(upper))


def outside_in_blender(bone, rotation):
    """Return by how many degrees a rotation is outside the ranges of limit_bone() as Blender's own IK reads them.

    It takes X and Z for the swing and Y for the twist of a bone with two or three axes, not for Euler angles, so that
    what it keeps differs from Euler limits by some degrees where a bone turns about several axes.
    """
    w, x, y, z = rotation if rotation.w >= 0.0 else -rotation
    twist = 2.0 * atan2(y, w)
    c, s = cos(twist / 2.0), sin(twist / 2.0)
    angles = {"x": 2.0 * asin(x * c + z * s), "y": twist, "z": 2.0 * asin(z * c - x * s)}
    if sum(not getattr(bone, f"lock_ik_{axis}") for axis in "xyz") == 1:
        angles = {"x": 2.0 * atan2(x, w), "y": 2.0 * atan2(y, w), "z": 2.0 * atan2(z, w)}
    over = [0.0]
    for axis, angle in angles.items():
        if getattr(bone, f"use_ik_limit_{axis}"):
            over += [getattr(bone, f"ik_min_{axis}") - angle, angle - getattr(bone, f"ik_max_{axis}")]
    return degrees(max(over))


def free(bones, frames):
    """A chain without limits."""
    return Scene(make_chain(bones), bones, make_target(frames))


def limited(ranges):
    """Return the maker of a chain with limits on every bone but the root: these ranges, over and over again."""

    def make(bones, frames):
        scene = free(bones, frames)
        for bone, each in zip(scene.ob.pose.bones[1:], cycle(ranges), strict=False):
            limit_bone(bone, each)
        return scene

    return make


def moving_root(bones, frames, others=0):
    """A chain below a bone with keys every ten frames, in a rig with `others` more bones, ten to a strand."""
    import bpy

    scene = free(bones, frames)
    ob, names = scene.ob, [bone.name for bone in scene.ob.pose.bones]
    bpy.ops.object.mode_set(mode="EDIT")
    edit = ob.data.edit_bones
    root = edit.new("root")
    root.head, root.tail = (0.0, -0.1 * REACH, 0.0), (0.0, 0.0, 0.0)
    edit[names[0]].parent = root
    for n in range(others):
        bone = edit.new(f"other_{n:03}")
        bone.parent, bone.use_connect = (edit[f"other_{n - 1:03}"], True) if n % 10 else (root, False)
        bone.head = bone.parent.tail if n % 10 else (0.1 * n, 0.0, -1.0)
        bone.tail = bone.head[0], bone.head[1], bone.head[2] - 1.0
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    root = ob.pose.bones["root"]
    root.rotation_mode = "QUATERNION"
    for frame in range(1, frames + 11, 10):
        t = frame / 24.0
        root.location = tuple(0.05 * REACH * sin((0.5 + 0.2 * i) * t) for i in range(3))
        root.rotation_quaternion = cos(0.2 * sin(0.6 * t)), 0.0, 0.0, sin(0.2 * sin(0.6 * t))
        root.keyframe_insert("location", frame=frame)
        root.keyframe_insert("rotation_quaternion", frame=frame)
    return scene._replace(tip=names[-1])


def root_and_others(bones, frames):
    """The same with 300 other bones in the rig."""
    return moving_root(bones, frames, others=300)


def skinned(vertices):
    """Return the maker of a chain beside a mesh of about so many vertices that it deforms."""

    def make(bones, frames):
        scene = free(bones, frames)
        return scene._replace(skin=make_skin(scene.ob, vertices))

    return make


def among_objects(count):
    """Return the maker of a chain in a scene with `count` other objects, each a mesh of eight vertices."""

    def make(bones, frames):
        import bpy

        mesh = bpy.data.meshes.new("Block")
        corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        mesh.from_pydata(corners, [], faces)
        for n in range(count):
            ob = bpy.data.objects.new("Block", mesh)
            ob.location = 2.0 * (n % 50), 2.0 * (n // 50), -REACH
            bpy.context.scene.collection.objects.link(ob)
        return free(bones, frames)

    return make
