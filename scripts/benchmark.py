# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed and quality beside Blender's own IK, on the same work in one run: read the ratios, not the seconds.

python scripts/benchmark.py bake [--rounds N]     whole bakes beside bpy.ops.nla.bake with the IK constraint
python scripts/benchmark.py reach [--targets N]   limited chains: targets reached, limits kept, time of a solve
"""

import sys
from argparse import ArgumentParser
from math import cos, degrees, sin
from statistics import median
from time import perf_counter

from environment import enter

REACH = 40.0  # of every benchmark chain [Blender units]
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


def bake_ours(solver):
    def run(ob, target, frames):
        from ik_triangulation.bake import bake
        from ik_triangulation.blender.limb import Limb

        limb = Limb.from_tip(ob, ob.pose.bones[-1].name, target, tolerance=1e-4 * REACH, solver=solver)
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


def benchmark_bake(arguments):
    """Bones x frames, each method in turn, `rounds` times over; the ratio is of the medians."""
    import bpy

    from ik_triangulation.solvers import SOLVERS

    methods = {"nla.bake": bake_blender} | {key: bake_ours(key) for key in SOLVERS if key in arguments.solvers}
    print(
        f"Blender {bpy.app.version_string}, rotation channels, medians of {arguments.rounds} rounds; distances / reach"
    )
    print(f"{'bones x frames':>14}  {'method':<20} {'ms':>8} {'ratio':>6}  {'median':>8} {'largest':>8}  {'turn':>6}")
    for bones, frames in arguments.sizes:
        times = {name: [] for name in methods}
        results = {}
        for _ in range(arguments.rounds):
            for name, method in methods.items():
                bpy.ops.wm.read_factory_settings(use_empty=True)
                target, ob = make_target(frames), make_chain(bones)
                times[name].append(method(ob, target, frames))
                if name not in results:
                    results[name] = quality(ob, target, frames)
        peer = median(times["nla.bake"])
        for name in methods:
            mid, worst, turn = results[name]
            own = median(times[name])
            size = f"{bones} x {frames}"
            print(
                f"{size:>14}  {name:<20} {own * 1e3:8.1f} {peer / own:6.2f}  {mid:8.1e} {worst:8.1e}  {turn:5.1f}°",
                flush=True,
            )


def hinge(axis, lower, upper):
    """Limits in degrees of a bone that turns about one axis."""
    return {axis: (lower, upper)}


# Lengths, and for each bone its range in degrees about each axis that is not locked.
LIMITED = {
    "arm 3+1+2": (
        (0.3, 0.28, 0.1),
        ({"x": (-90, 60), "y": (-80, 80), "z": (-60, 90)}, hinge("x", 0, 150), {"x": (-70, 70), "z": (-20, 30)}),
    ),
    "finger 2+1+1": (
        (0.05, 0.03, 0.02),
        ({"x": (-10, 90), "z": (-15, 15)}, hinge("x", 0, 110), hinge("x", 0, 80)),
    ),
    "3 hinges 126": ((1.0,) * 3, (hinge("x", -126, 126),) * 3),
    "5 hinges 90": ((1.0,) * 5, (hinge("x", -90, 90),) * 5),
    "5 hinges 45": ((1.0,) * 5, (hinge("x", -45, 45),) * 5),
    "10 hinges 45": ((1.0,) * 10, (hinge("x", -45, 45),) * 10),
    "alternating hinges": ((1.0,) * 6, (hinge("x", -60, 60), hinge("z", -60, 60)) * 3),
    "knee 5-150": (
        (0.45, 0.42, 0.1),
        ({"x": (-100, 30), "y": (-45, 45), "z": (-30, 45)}, hinge("x", 5, 150), hinge("x", -40, 30)),
    ),
    "5 bones x+z 60": ((1.0,) * 5, ({"x": (-60, 60), "z": (-60, 60)},) * 5),
    "tail of 20": ((1.0,) * 20, ({"x": (-20, 20), "y": (-5, 5), "z": (-20, 20)},) * 20),
}


def make_limited(lengths, limits):
    """An armature along +Y with these limits, in Blender's own settings and, where those cannot hold them, in ours."""
    from math import radians

    import bpy
    from mathutils import Vector

    armature = bpy.data.armatures.new("Limited")
    ob = bpy.data.objects.new("Limited", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    head, parent = Vector(), None
    for i, length in enumerate(lengths):
        bone = armature.edit_bones.new(f"bone_{i:02}")
        bone.head, bone.tail = head, head + Vector((0.0, length, 0.0))
        bone.parent, bone.use_connect = parent, parent is not None
        head, parent = bone.tail.copy(), bone
    bpy.ops.object.mode_set(mode="POSE")
    for bone, ranges in zip(ob.pose.bones, limits, strict=True):
        for axis in "xyz":
            lower, upper = ranges.get(axis, (0.0, 0.0))
            setattr(bone, f"lock_ik_{axis}", axis not in ranges)
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", radians(lower))  # Blender takes at most 0
            setattr(bone, f"ik_max_{axis}", radians(upper))
            if lower > 0.0:
                joint = bone.ik_triangulation_joint
                joint.source, joint.kind = "OWN", "HINGE"
                joint.axis = [float(axis == letter) for letter in "xyz"]
                joint.lower, joint.upper = radians(lower), radians(upper)
    return ob


def reach_of_blender(ob, targets, tolerance):
    """Share reached by Blender's own IK from rest, and the median time of an evaluation in microseconds."""
    import bpy

    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    constraint = ob.pose.bones[-1].constraints.new("IK")
    constraint.target = target
    view_layer, times, reached = bpy.context.view_layer, [], 0
    for place in targets:
        target.location = place
        started = perf_counter()
        view_layer.update()
        times.append(perf_counter() - started)
        reached += (ob.pose.bones[-1].tail - place).length <= tolerance
    return reached / len(targets), median(times) * 1e6


def reach_of_solver(start, targets, tolerance, solver, finish):
    """Share reached from rest, solutions outside their limits, and the median and longest time in microseconds."""
    from ik_triangulation.kinematics.rotation import rotation_angle
    from ik_triangulation.solvers import solve
    from ik_triangulation.targets import Point

    times, reached, outside = [], 0, 0
    for place in targets:
        started = perf_counter()
        solution = solve(start, Point(place), solver, tolerance=tolerance, finish=finish)
        times.append(perf_counter() - started)
        reached += solution.reached
        pairs = zip(start.chain.joints, solution.pose.rotations, strict=True)
        outside += any(rotation_angle(joint.freedom.nearest(rotation), rotation) > 2e-6 for joint, rotation in pairs)
    return reached / len(targets), outside, median(times) * 1e6, max(times) * 1e6


def benchmark_reach(arguments):
    """Targets made by forward kinematics of random poses inside the limits: some pose reaches each of them."""
    from random import Random

    import addon_utils
    import bpy

    from ik_triangulation.blender.armature import Bones, base_of, channels_of
    from ik_triangulation.kinematics import Pose
    from ik_triangulation.solvers import SOLVERS

    addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    print(
        f"Blender {bpy.app.version_string}, {arguments.targets} targets a chain, tolerance 1e-3 of the reach, from rest"
    )
    print(f"{'chain':<20} {'method':<28} {'reached':>8} {'outside':>8} {'us':>7} {'longest':>8}")
    for name, (lengths, limits) in LIMITED.items():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        ob = make_limited(lengths, limits)
        bpy.context.view_layer.update()
        names = [bone.name for bone in ob.pose.bones]
        start = Bones(ob, names, names).pose(base_of(ob, names[0]), channels_of(ob, names))
        random = Random(2007)
        targets = [
            Pose(start.chain, start.base, [joint.freedom.random(random) for joint in start.chain.joints]).tip
            for _ in range(arguments.targets)
        ]
        tolerance = 1e-3 * sum(lengths)
        share, micro = reach_of_blender(ob, targets, tolerance)
        print(f"{name:<20} {'Blender IK':<28} {share:8.2%} {'':>8} {micro:7.0f}")
        for solver in SOLVERS:
            if solver == "TWO_BONE" and sum(joint.freedom.moves for joint in start.chain.joints) != 2:
                continue
            for finish in (False, True):
                share, outside, micro, longest = reach_of_solver(start, targets, tolerance, solver, finish)
                method = f"{solver}{' + finish' if finish else ''}"
                print(f"{'':<20} {method:<28} {share:8.2%} {outside:8} {micro:7.0f} {longest:8.0f}", flush=True)
    addon_utils.disable("ik_triangulation", default_set=True)


def main():
    enter("test")
    parser = ArgumentParser(description="Beside Blender's own IK, on the same work in one run.")
    commands = parser.add_subparsers(required=True)
    bake = commands.add_parser("bake", help="whole bakes beside bpy.ops.nla.bake")
    bake.add_argument("--rounds", type=int, default=7)
    bake.add_argument("--solvers", nargs="+", default=["TRIANGULATION"])
    size = {"nargs": "+", "type": lambda text: tuple(map(int, text.split("x")))}
    bake.add_argument("--sizes", **size, default=[(5, 250), (5, 2000)], metavar="BONESxFRAMES")
    bake.set_defaults(run=benchmark_bake)
    reach = commands.add_parser("reach", help="limited chains beside Blender's IK")
    reach.add_argument("--targets", type=int, default=2000)
    reach.set_defaults(run=benchmark_reach)
    arguments = parser.parse_args()
    import bpy  # noqa: F401  # first: mathutils is not found before it

    arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
