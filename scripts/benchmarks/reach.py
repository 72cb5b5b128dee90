# SPDX-License-Identifier: GPL-3.0-or-later
"""Limited chains beside Blender's own IK: targets reached, limits kept, time of a solve.

Targets are made by forward kinematics of random poses inside the limits, so some pose reaches each of them; every solve
starts from rest. What a solver with Finish calls reached is checked in Blender: its rotations are given to the bones,
and the evaluated tip must be where it says.
"""

from math import radians
from random import Random
from statistics import median
from time import perf_counter

TOLERANCE = 1e-3  # of the reach
ROUNDING = 1e-5  # of the reach: what may lie between our place of the tip and Blender's
ROUND = {"x": (-60, 60), "y": (-30, 30), "z": (-60, 60)}  # what Blender has nearest to a cone of 60 degrees
SHOULDER = {"x": (-90, 60), "y": (-80, 80), "z": (-60, 90)}
HIP = {"x": (-100, 30), "y": (-45, 45), "z": (-30, 45)}
WRIST = {"x": (-70, 70), "z": (-20, 30)}

# Lengths, and for each bone its range in degrees about each axis that is not locked, or the swing and twist of a cone.
CHAINS = {
    "arm 3+1+2": ((0.3, 0.28, 0.1), (SHOULDER, {"x": (0, 150)}, WRIST)),
    "finger 2+1+1": ((0.05, 0.03, 0.02), ({"x": (-10, 90), "z": (-15, 15)}, {"x": (0, 110)}, {"x": (0, 80)})),
    "3 hinges 126": ((1.0,) * 3, ({"x": (-126, 126)},) * 3),
    "5 hinges 90": ((1.0,) * 5, ({"x": (-90, 90)},) * 5),
    "5 hinges 45": ((1.0,) * 5, ({"x": (-45, 45)},) * 5),
    "10 hinges 45": ((1.0,) * 10, ({"x": (-45, 45)},) * 10),
    "alternating hinges": ((1.0,) * 6, ({"x": (-60, 60)}, {"z": (-60, 60)}) * 3),
    "knee 5-150": ((0.45, 0.42, 0.1), (HIP, {"x": (5, 150)}, {"x": (-40, 30)})),
    "5 bones x+z 60": ((1.0,) * 5, ({"x": (-60, 60), "z": (-60, 60)},) * 5),
    "5 cones 60": ((1.0,) * 5, ({"cone": (60, 30), **ROUND},) * 5),
    "tail of 20": ((1.0,) * 20, ({"x": (-20, 20), "y": (-5, 5), "z": (-20, 20)},) * 20),
}
RIGIFY = {
    "Rigify's arm": (("upper_arm.L", "forearm.L", "hand.L"), (SHOULDER, {"x": (0, 150)}, WRIST)),
    "Rigify's leg": (("thigh.L", "shin.L", "foot.L"), (HIP, {"x": (5, 150)}, {"x": (-40, 30)})),
}


def chains():
    """Name, armature and bones of each chain, one after the other in an empty scene."""
    import addon_utils
    import bpy

    for name, (lengths, limits) in CHAINS.items():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        ob = make_armature(lengths)
        bones = [bone.name for bone in ob.pose.bones]
        limit(ob, bones, limits)
        yield name, ob, bones
    for name, (bones, limits) in RIGIFY.items():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        addon_utils.enable("rigify", default_set=True)
        bpy.ops.object.armature_human_metarig_add()
        limit(bpy.context.object, bones, limits)
        yield name, bpy.context.object, bones
        addon_utils.disable("rigify", default_set=True)


def make_armature(lengths):
    """Connected bones of these lengths along +Y."""
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
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def limit(ob, names, limits):
    """Give bones these limits, in Blender's own settings and, where those cannot hold them, in ours."""
    for name, ranges in zip(names, limits, strict=True):
        bone = ob.pose.bones[name]
        joint = bone.ik_triangulation_joint
        for axis in "xyz":
            lower, upper = ranges.get(axis, (0.0, 0.0))
            setattr(bone, f"lock_ik_{axis}", axis not in ranges)
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", radians(lower))  # Blender takes at most 0
            setattr(bone, f"ik_max_{axis}", radians(upper))
            if lower > 0.0:
                joint.source, joint.kind = "OWN", "HINGE"
                joint.axis = [float(axis == letter) for letter in "xyz"]
                joint.lower, joint.upper = radians(lower), radians(upper)
        if "cone" in ranges:
            swing, twist = map(radians, ranges["cone"])
            joint.source, joint.kind, joint.swing = "OWN", "CONE", swing
            joint.twist_lower, joint.twist_upper = -twist, twist


class Tip:
    """The end of a chain of bones as Blender evaluates it, in armature space."""

    def __init__(self, ob, bones):
        self.ob, self.bones = ob, bones

    def place(self):
        import bpy

        bpy.context.view_layer.update()
        return self.ob.pose.bones[self.bones[-1]].tail.copy()

    def of(self, solution):
        """Where it is with the rotations of a solution."""
        for joint, rotation in zip(solution.pose.chain.joints, solution.pose.rotations, strict=True):
            self.ob.pose.bones[joint.name].rotation_quaternion = rotation
        return self.place()


def reach_of_blender(tip, targets, tolerance):
    """Share reached by Blender's own IK from rest, and the median time of an evaluation in microseconds."""
    import bpy

    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    last = tip.ob.pose.bones[tip.bones[-1]]
    constraint = last.constraints.new("IK")
    constraint.target, constraint.chain_count = target, len(tip.bones)
    times, reached = [], 0
    for place in targets:
        target.location = tip.ob.matrix_world @ place
        started = perf_counter()
        found = tip.place()
        times.append(perf_counter() - started)
        reached += (found - place).length <= tolerance
    last.constraints.remove(constraint)
    return reached / len(targets), median(times) * 1e6


def reach_of_solver(start, tip, targets, tolerance, solver, finish):
    """Share reached from rest, solutions outside limits, those wrongly called reached or not, and times [us]."""
    from ik_triangulation.goals import Point
    from ik_triangulation.kinematics.rotation import rotation_angle
    from ik_triangulation.solvers import solve

    times, reached, outside, wrong = [], 0, 0, 0
    rounding = ROUNDING / TOLERANCE * tolerance
    for place in targets:
        started = perf_counter()
        solution = solve(start, Point(place), solver=solver, tolerance=tolerance, finish=finish)
        times.append(perf_counter() - started)
        reached += solution.reached
        pairs = zip(start.chain.joints, solution.pose.rotations, strict=True)
        outside += any(rotation_angle(joint.freedom.nearest(rotation), rotation) > 2e-6 for joint, rotation in pairs)
        if finish:
            error = (tip.of(solution) - place).length
            wrong += error > tolerance + rounding if solution.reached else error < tolerance - rounding
    return reached / len(targets), outside, wrong, median(times) * 1e6, max(times) * 1e6


def run(arguments):
    """Each chain: Blender's IK, then each solver alone and with Finish."""
    import addon_utils
    import bpy

    from ik_triangulation.errors import ChainError
    from ik_triangulation.kinematics import Pose
    from ik_triangulation.rig.armature import Bones, base_of, channels_of
    from ik_triangulation.solvers import SOLVERS

    addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    print(f"Blender {bpy.app.version_string}, {arguments.targets} targets a chain, tolerance {TOLERANCE} of the reach")
    print(
        f"{'chain':<20} {'method':<32} {'reached':>8} {'outside':>8} {'wrong':>6} {'us':>7} {'ratio':>6} {'longest':>8}"
    )
    for name, ob, bones in chains():
        bpy.context.view_layer.update()
        start = Bones(ob, bones, bones).pose(base_of(ob, bones[0]), channels_of(ob, bones))
        random, tip = Random(2007), Tip(ob, bones)
        targets = [
            Pose(start.chain, start.base, [joint.freedom.random(random) for joint in start.chain.joints]).tip
            for _ in range(arguments.targets)
        ]
        tolerance = TOLERANCE * start.chain.reach
        share, peer = reach_of_blender(tip, targets, tolerance)
        print(f"{name:<20} {'Blender IK':<32} {share:8.2%} {'':>8} {'':>6} {peer:7.0f}")
        for solver in arguments.solvers or SOLVERS:
            for finish in (False, True):
                method = f"{'':<20} {solver}{' + finish' if finish else ''}"
                try:
                    share, outside, wrong, micro, longest = reach_of_solver(
                        start, tip, targets, tolerance, solver, finish
                    )
                except ChainError as error:
                    print(f"{method:<53} {error}")
                    break
                print(
                    f"{method:<53} {share:8.2%} {outside:8} {wrong if finish else '':>6} "
                    f"{micro:7.0f} {micro / peer:6.1f} {longest:8.0f}",
                    flush=True,
                )
    addon_utils.disable("ik_triangulation", default_set=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--targets", type=int, default=2000)
    parser.add_argument("--solvers", nargs="+", help="default: all")
