# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motion solved again: the hands and feet of a BVH file as targets for its own arms and legs.

Only where wrist or ankle went is told, and the pose of the first frame; the rest of the body moves as recorded. How far
the joints then are from the recorded ones says how natural a solver's poses are. That depends on what the joints may
do: anything ("free"), or what they are seen to do in the whole file ("learned"). Blender's IK has no such joints and
solves them free.
"""

import re
from collections import defaultdict
from functools import partial
from itertools import pairwise
from math import degrees
from statistics import median
from time import perf_counter
from typing import NamedTuple

ENDS = re.compile(r"hand|wrist|foot|ankle", re.IGNORECASE)
FIRST = "by default from 2 on: the first frame is often no motion but a T-pose"
TOLERANCE = 1e-3  # of the reach
BLENDER = "Blender's IK"


class Motion(NamedTuple):
    """Motion of a limb: its tip (world space) and its bones' rotations at each frame."""

    tips: list
    rotations: list


class Row(NamedTuple):
    """Results of one method on one limb: errors as shares of the reach, angles [rad] by bone and frame."""

    limb: str
    joints: str
    solver: str
    seconds: float
    errors: list
    angles: list
    largest_turn: float


def load(path):
    """The armature of a BVH file, its bones in quaternions, alone in a scene; one frame of the file a frame."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_anim.bvh(filepath=str(path), rotate_mode="QUATERNION", frame_start=1)
    ob = bpy.context.object
    bpy.context.scene.frame_end = int(ob.animation_data.action.frame_range[1])
    return ob


def limbs_of(ob):
    """The two bones before each wrist and ankle, as long as both of them can be turned to see a difference."""
    found = []
    for bone in ob.pose.bones:
        before = [bone.parent, bone.parent.parent] if bone.parent and bone.parent.parent else []
        first = not any(ENDS.search(above.name) for above in bone.parent_recursive)
        if ENDS.search(bone.name) and first and before:
            found.append([parent.name for parent in reversed(before)])
    return found


def watch(ob, bones, frames):
    """Return the evaluated motion of the limb."""
    import bpy

    motion = Motion([], [])
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        poses = [ob.pose.bones[name] for name in bones]
        local = [ob.convert_space(pose_bone=p, matrix=p.matrix, from_space="POSE", to_space="LOCAL") for p in poses]
        motion.tips.append(ob.matrix_world @ poses[-1].tail)
        motion.rotations.append([matrix.to_quaternion() for matrix in local])
    return motion


def forget(ob, bones, rotations):
    """Take away what the file says of these bones' rotations, but for a pose of them."""
    from ik_triangulation.rig.keyframes import curves_of

    paths = [f'pose.bones["{name}"].rotation' for name in bones]
    for curve in [c for c in curves_of(ob) if c.data_path.startswith(tuple(paths))]:
        curves_of(ob).remove(curve)
    for name, rotation in zip(bones, rotations, strict=True):
        ob.pose.bones[name].rotation_quaternion = rotation


def lead(name, places, frames):
    """An empty that is keyed along the places."""
    import bpy

    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    for frame, place in zip(frames, places, strict=True):
        empty.location = place
        empty.keyframe_insert("location", frame=frame)
    return empty


def compare(ob, bones, frames, solver, joints, recorded, solve):
    """Solve with what `solve()` sets up, watch what is seen then, and compare that with what was recorded."""
    from ik_triangulation.kinematics.rotation import rotation_angle

    started = perf_counter()
    solve()
    seconds = perf_counter() - started
    seen = watch(ob, bones, frames)
    world = ob.matrix_world.to_scale()[0]
    reach = world * sum(ob.data.bones[name].length for name in bones)
    errors = [(a - b).length / reach for a, b in zip(seen.tips, recorded.tips, strict=True)]
    angles = [
        [rotation_angle(a, b) for a, b in zip(*pair, strict=True)]
        for pair in zip(seen.rotations, recorded.rotations, strict=True)
    ]
    turns = [rotation_angle(a, b) for pair in pairwise(seen.rotations) for a, b in zip(*pair, strict=True)]
    return Row(" + ".join(bones), joints, solver, seconds, errors, angles, max(turns))


def rows(path, first, last, solvers, smooth=True):
    """A row for each limb, way of its joints and solver. The add-on has to be registered."""
    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.jobs.joint_tools import learn
    from ik_triangulation.rig.limb import Limb

    for number in range(len(limbs_of(load(path)))):
        for joints in ("free", "learned"):
            for solver in (*solvers, *([BLENDER] if joints == "free" else [])):
                ob = load(path)
                bones = limbs_of(ob)[number]
                end = min(last, int(ob.animation_data.action.frame_range[1]))
                frames = range(first, end + 1)
                recorded = watch(ob, bones, frames)
                if joints == "learned":
                    learn(ob, bones)
                forget(ob, bones, recorded.rotations[0])
                reach = ob.matrix_world.to_scale()[0] * sum(ob.data.bones[name].length for name in bones)
                target = lead("Target", recorded.tips, frames)
                if solver == BLENDER:
                    yield compare(ob, bones, frames, solver, joints, recorded, partial(constrain, ob, bones, target))
                    continue
                limb = Limb.from_bones(ob, bones, target, solver=solver, tolerance=TOLERANCE * reach, smooth=smooth)
                yield compare(ob, bones, frames, solver, joints, recorded, partial(bake, limb, first, end))


def constrain(ob, bones, target):
    """Blender's IK on the limb; it is solved as the frames are watched."""
    constraint = ob.pose.bones[bones[-1]].constraints.new("IK")
    constraint.target, constraint.chain_count = target, len(bones)


def run(arguments):
    """A line for each limb, way of its joints and solver, and then the medians over the limbs."""
    import addon_utils
    import bpy

    addon_utils.enable("ik_triangulation", default_set=True)
    print(f"Blender {bpy.app.version_string}, {arguments.file}, frames {arguments.frames}; tip: distance / reach;")
    print("joints: median and 95th percentile of the angle to the recorded motion; turn: largest in a frame")
    print(
        f"{'limb':<26} {'joints':<8} {'solver':<16} {'ms':>7}  {'median':>8} {'largest':>8}  {'joints':>13} {'turn':>7}"
    )
    kinds = defaultdict(list)
    for row in rows(arguments.file, *arguments.frames, arguments.solvers):
        angles = sorted(degrees(angle) for both in row.angles for angle in both)
        middle, high = angles[len(angles) // 2], angles[len(angles) * 95 // 100]
        kinds[row.joints, row.solver].append((middle, high))
        took = f"{row.seconds * 1e3:7.1f}" if row.solver != BLENDER else f"{'':>7}"
        print(
            f"{row.limb:<26} {row.joints:<8} {row.solver:<16} {took}  {median(row.errors):8.1e} {max(row.errors):8.1e}"
            f"  {middle:5.1f}° {high:5.1f}° {degrees(row.largest_turn):6.1f}°",
            flush=True,
        )
    for (joints, solver), pairs in kinds.items():
        middle, high = (median(column) for column in zip(*pairs, strict=True))
        print(f"{'medians of the limbs':<26} {joints:<8} {solver:<16} {'':>27}  {middle:5.1f}° {high:5.1f}°")
    addon_utils.disable("ik_triangulation", default_set=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("file", help="a BVH file, with bones named like hand, wrist, foot or ankle")
    parser.add_argument("--frames", nargs=2, type=int, default=[2, 250], metavar=("FIRST", "LAST"), help=FIRST)
    solvers = ["TRIANGULATION", "GAUSS_NEWTON", "CCD", "TWO_BONE"]
    parser.add_argument("--solvers", nargs="+", default=solvers)
