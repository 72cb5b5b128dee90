# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a whole body whose joints have Limit Rotation constraints: sets that can be reached, and how many are.

Each bone of the arms, legs and spine of the basic human of Rigify gets an enabled constraint in Local Space. Poses are
drawn inside them, and the tips of hands and feet are targets. Nothing is set about limits: the joints have the source
that is there by default. What is reached is measured on the evaluated rig.
"""

from math import radians
from random import Random

from .scenes import empty_file, extension

REACHED = 1e-3  # of an arm
RANGES = {  # degrees about X, Y and Z
    "spine.001": ((-20, 20), (-15, 15), (-15, 15)),
    "spine.002": ((-20, 20), (-15, 15), (-15, 15)),
    "spine.003": ((-20, 20), (-15, 15), (-15, 15)),
    "upper_arm": ((-60, 60), (-40, 40), (-60, 60)),
    "forearm": ((0, 130), (-10, 10), (-10, 10)),
    "hand": ((-50, 50), (-30, 30), (-20, 20)),
    "thigh": ((-80, 30), (-20, 20), (-30, 30)),
    "shin": ((0, 130), (-5, 5), (-5, 5)),
    "foot": ((-30, 30), (-15, 15), (-15, 15)),
}
TIPS = [f"{part}.{side}" for part in ("hand", "foot") for side in "LR"]


def figure():
    """Make Rigify's basic human with its constraints."""
    import addon_utils
    import bpy

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_basic_human_metarig_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        ranges = RANGES.get(bone.name) or RANGES.get(bone.name.rpartition(".")[0])
        bone.rotation_mode = "XYZ"
        if ranges is not None:
            limit = bone.constraints.new("LIMIT_ROTATION")
            limit.owner_space, limit.euler_order = "LOCAL", "XYZ"
            for axis, (low, high) in zip("xyz", ranges, strict=True):
                setattr(limit, f"use_limit_{axis}", True)
                setattr(limit, f"min_{axis}", radians(low))
                setattr(limit, f"max_{axis}", radians(high))
    return rig


def pose(rig, random):
    """Turn every constrained bone by angles inside its ranges, half of them at most."""
    for bone in rig.pose.bones:
        limit = next((each for each in bone.constraints if each.type == "LIMIT_ROTATION"), None)
        if limit is not None:
            share = random.uniform(0.0, 1.0)
            bone.rotation_euler = [
                share * random.uniform(getattr(limit, f"min_{axis}"), getattr(limit, f"max_{axis}")) for axis in "xyz"
            ]


def add_arguments(parser):
    parser.add_argument("--sets", type=int, default=40, help="sets of goals")


def run(arguments):
    import bpy

    from ik_triangulation.jobs.pose import solve_body_pose
    from ik_triangulation.jobs.setup import set_up_body
    from ik_triangulation.jobs.shots.problem import body_of

    random, reached, said = Random(7), 0, 0
    with extension():
        empty_file()
        rig = figure()
        set_up_body(rig)
        for name in TIPS:
            rig.pose.bones[name].ik_triangulation.hold = False
            target = bpy.data.objects.new(f"Goal {name}", None)
            bpy.context.scene.collection.objects.link(target)
            rig.pose.bones[name].ik_triangulation.target = target
            rig.pose.bones[name].ik_triangulation.orientation = "NONE"
        arm = sum(rig.data.bones[f"{part}.L"].length for part in ("upper_arm", "forearm", "hand"))
        for _ in range(arguments.sets):
            pose(rig, random)
            bpy.context.view_layer.update()
            goals = {name: rig.matrix_world @ rig.pose.bones[name].tail for name in TIPS}
            for bone in rig.pose.bones:
                bone.matrix_basis.identity()
            for name, place in goals.items():
                rig.pose.bones[name].ik_triangulation.target.location = place
            bpy.context.view_layer.update()
            report = solve_body_pose(body_of(rig, TIPS[0]))
            bpy.context.view_layer.update()
            off = max((rig.matrix_world @ rig.pose.bones[name].tail - place).length for name, place in goals.items())
            reached += off < REACHED * arm
            said += report.reached
            for bone in rig.pose.bones:
                bone.matrix_basis.identity()
    print(f"{reached} of {arguments.sets} feasible sets are reached, {said} are reported as reached")
