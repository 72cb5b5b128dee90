# SPDX-License-Identifier: GPL-3.0-or-later
"""Random rigs with scaled armatures, scaled bones and keyed scale that shears: frames reached of frames that can be."""

from itertools import pairwise
from math import pi
from random import Random
from statistics import median
from time import process_time

from .scenes import empty_file

FRAMES = 40
BETWEEN_KEYS = 10  # frames between two keys of scale
INHERIT = "FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"
TOLERANCE = 1e-3  # of the reach
ROUNDING = 1e-5  # of the reach: what may lie between our place of the tip and Blender's
# Shares by which the axes of the armature and the scale of bones differ from one, whether scale is keyed, and the
# number of frames between two keys of rotations, which are those of the target.
KINDS = {
    "armature scaled uniformly": (0.0, 0.0, False, 10),
    "scaled bones": (0.0, 0.5, False, 10),
    "keyed scale that shears": (0.6, 0.5, True, 10),
    "the same, the target jumps": (0.6, 0.5, True, 1),
}


def make_rig(random, unequal, of_bones, keyed, between):
    """A chain of 2 to 6 bones anywhere, half of them connected, on a scaled armature, turning over FRAMES frames.

    The other arguments are those of KINDS. With keys of rotations at every frame poses have nothing to do with the ones
    before, else they follow from them. Each bone inherits scale in some way.
    """
    import bpy
    from mathutils import Quaternion, Vector

    empty_file()
    ob = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")

    def anywhere(size):
        return Vector([random.uniform(-size, size) for _ in range(3)])

    def turned():
        return Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized()

    parent, tail = None, anywhere(1.0)
    for i in range(random.randint(2, 6)):
        bone = ob.data.edit_bones.new(f"bone_{i}")
        connect = parent is not None and random.random() < 0.5
        bone.head = tail if connect else tail + anywhere(0.5)
        tail = bone.head + turned() @ Vector((0.0, random.uniform(0.2, 2.0), 0.0))
        bone.tail, bone.roll, bone.parent, bone.use_connect = tail, random.uniform(-pi, pi), parent, connect
        bone.inherit_scale = random.choice(INHERIT)
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    size = 10.0 ** random.uniform(-1.0, 1.0)
    ob.scale = [size * (1.0 + random.uniform(-unequal, unequal)) for _ in range(3)]
    ob.location, ob.rotation_mode, ob.rotation_quaternion = anywhere(3.0), "QUATERNION", turned()
    for bone in ob.pose.bones:
        bone.rotation_mode, now = "QUATERNION", turned()
        bone.scale = 3 * [1.0 + random.uniform(-of_bones, of_bones)]
        for frame in range(1, FRAMES + between, between):
            bone.rotation_quaternion = now
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            now = turned() if between == 1 else now @ Quaternion(anywhere(1.0), random.uniform(0.0, 1.0))
            now.normalize()
        for frame in range(1, FRAMES + BETWEEN_KEYS, BETWEEN_KEYS) if keyed else ():
            bone.scale = [1.0 + random.uniform(-of_bones, of_bones) for _ in range(3)]
            bone.keyframe_insert("scale", frame=frame)
    return ob


def put_target(ob):
    """Key a target at every frame where the tip now is, and turn the bones back to rest; return it and the reach."""
    import bpy

    scene, tip = bpy.context.scene, ob.pose.bones[-1].name
    target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(target)
    lengths = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        target.location = ob.matrix_world @ ob.pose.bones[tip].tail
        target.keyframe_insert("location", frame=frame)
        bones = [*ob.pose.bones]
        ends = [*(bone.head for bone in bones), bones[-1].tail]
        lengths.append(sum((ob.matrix_world.to_3x3() @ (b - a)).length for a, b in pairwise(ends)))
    rotations = [bone.path_from_id("rotation_quaternion") for bone in ob.pose.bones]
    curves = next(bag.fcurves for layer in ob.animation_data.action.layers for bag in layer.strips[0].channelbags)
    for curve in [curve for curve in curves if curve.data_path in rotations]:
        curves.remove(curve)
    for bone in ob.pose.bones:
        bone.rotation_quaternion = 1.0, 0.0, 0.0, 0.0
    scene.frame_set(1)
    return target, min(lengths)


def shown(ob, target, reach):
    """The distance per reach at each frame as Blender evaluates it."""
    import bpy

    found = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        tip = ob.matrix_world @ ob.pose.bones[-1].tail
        found.append((tip - target.matrix_world.translation).length / reach)
    return found


def rigs(arguments):
    """Each kind of scale and solver over random rigs: frames reached as Blender shows them, and wrong reports."""
    from ik_triangulation.errors import IKError
    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.rig.limb import Limb

    print(
        "\n| Scale | Solver | Reached | Reported wrongly | Farthest miss / reach | CPU ms a frame | Refused |\n"
        "|---|---|---|---|---|---|---|"
    )
    kept = []
    for kind, settings in KINDS.items():
        for solver in arguments.solvers:
            random, reached, wrong, worst, times, refused, frames = Random(2007), 0, 0, 0.0, [], [], 0
            for n in range(arguments.rigs):
                ob = make_rig(random, *settings)
                target, reach = put_target(ob)
                limb = Limb.from_tip(ob, ob.pose.bones[-1].name, target, solver=solver, tolerance=TOLERANCE * reach)
                started = process_time()
                try:
                    report = bake(limb, 1, FRAMES)
                except IKError as error:
                    refused.append((n, str(error)))
                    continue
                times.append((process_time() - started) / FRAMES * 1e3)
                frames += FRAMES
                distances = shown(ob, target, reach)
                reached += sum(distance <= TOLERANCE + ROUNDING for distance in distances)
                worst = max(worst, *distances)
                wrong += sum(
                    (distance > TOLERANCE + ROUNDING) if frame.reached else (distance < TOLERANCE - ROUNDING)
                    for frame, distance in zip(report.frames, distances, strict=True)
                )
            print(
                f"| {kind} | {solver} | {reached} of {frames} | {wrong} | {worst:.1e} | {median(times):.2f} | "
                f"{len(refused)} |",
                flush=True,
            )
            kept.append([kind, solver, reached, frames, wrong, worst, median(times), refused])
    return kept
