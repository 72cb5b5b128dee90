# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole bakes beside bpy.ops.nla.bake with the IK constraint: alone, or beside a mesh that the chain deforms."""

from itertools import product
from math import cos, degrees, sin
from statistics import median
from time import perf_counter

REACH = 40.0  # of every benchmark chain [Blender units]
AROUND = 40  # vertices in a ring of the mesh
PAPER = (9.0, 9.0, 9.0, 9.0, 4.0)  # the chain of the 2007 paper


def lengths_of(count):
    """The paper's chain for five bones, else equal ones of the same reach."""
    return PAPER if count == len(PAPER) else (REACH / count,) * count


def make_chain(count, bend=2.0):
    """An armature of `count` connected bones along +Y, each bent by `bend` degrees, so that Blender's IK can start."""
    from math import radians

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
        t = frame / 24.0
        r, a, b = REACH * (0.62 + 0.22 * sin(0.83 * t)), 0.91 * t, 0.55 * sin(0.47 * t)
        empty.location = r * cos(a) * cos(b), r * sin(a) * cos(b), r * sin(b)
        empty.keyframe_insert("location", frame=frame)
    return empty


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


def bake_blender(ob, target, frames):
    import bpy

    constraint = ob.pose.bones[-1].constraints.new("IK")
    constraint.target = target
    started = perf_counter()
    bpy.ops.nla.bake(
        frame_start=1,
        frame_end=frames,
        step=1,
        only_selected=True,
        visual_keying=True,
        clear_constraints=True,
        use_current_action=True,
        bake_types={"POSE"},
        channel_types={"ROTATION"},
    )
    return perf_counter() - started


def bake_ours(solver, smooth):
    def run(ob, target, frames):
        from ik_triangulation.jobs.bake import bake
        from ik_triangulation.rig.limb import Limb

        limb = Limb.from_tip(ob, ob.pose.bones[-1].name, target, tolerance=1e-4 * REACH, solver=solver, smooth=smooth)
        started = perf_counter()
        bake(limb, 1, frames)
        return perf_counter() - started

    return run


def quality(ob, target, frames):
    """Median and largest distance per reach, and the largest turn of a bone in one frame [degrees], by stepping."""
    import bpy

    from ik_triangulation.kinematics.rotation import rotation_angle

    distances, jump, before = [], 0.0, None
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        distances.append((ob.pose.bones[-1].tail - target.matrix_world.translation).length)
        now = [bone.rotation_quaternion.copy() for bone in ob.pose.bones]
        if before:
            jump = max(jump, *(rotation_angle(a, b) for a, b in zip(before, now, strict=True)))
        before = now
    return median(distances) / REACH, max(distances) / REACH, degrees(jump)


def run(arguments):
    """Bones x frames beside meshes, each method in turn, `rounds` times over; the ratio is of the medians."""
    import bpy

    methods = {"nla.bake": bake_blender}
    for key in arguments.solvers:
        methods |= {f"{key}, bare": bake_ours(key, smooth=False), f"{key}, No Jumps": bake_ours(key, smooth=True)}
    print(
        f"Blender {bpy.app.version_string}, rotation channels, medians of {arguments.rounds} rounds; distances / reach"
    )
    print(
        f"{'bones x frames':>14} {'vertices':>8}  {'method':<26} {'ms':>8} {'ratio':>6}  {'median':>8} {'largest':>8}"
        f"  {'turn':>6}"
    )
    for (bones, frames), vertices in product(arguments.sizes, arguments.vertices):
        times = {name: [] for name in methods}
        results = {}
        for _ in range(arguments.rounds):
            for name, method in methods.items():
                bpy.ops.wm.read_factory_settings(use_empty=True)
                target, ob = make_target(frames), make_chain(bones)
                skin = make_skin(ob, vertices) if vertices else None
                bpy.context.view_layer.update()
                times[name].append(method(ob, target, frames))
                if skin:
                    bpy.data.objects.remove(skin)
                if name not in results:
                    results[name] = quality(ob, target, frames)
        peer = median(times["nla.bake"])
        for name in methods:
            mid, worst, turn = results[name]
            own = median(times[name])
            size = f"{bones} x {frames}"
            print(
                f"{size:>14} {vertices:>8}  {name:<26} {own * 1e3:8.1f} {peer / own:6.2f}  {mid:8.1e} {worst:8.1e}"
                f"  {turn:5.1f}°",
                flush=True,
            )


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--solvers", nargs="+", default=["TRIANGULATION"])
    sizes = {"nargs": "+", "type": lambda text: tuple(map(int, text.split("x")))}
    parser.add_argument("--sizes", **sizes, default=[(5, 250), (5, 2000), (30, 2000)], metavar="BONESxFRAMES")
    parser.add_argument("--vertices", nargs="+", type=int, default=[0], help="of a mesh that the chain deforms")
