# SPDX-License-Identifier: GPL-3.0-or-later
"""Everyday jobs of a body that few empties drive: what its knees, trunk, shoulders and free arm do at the far end.

*Set Up Body*, hands' empties keyed, *Bake*, all by operators on Rigify's human. Every figure is of what Blender shows.
"""

from itertools import pairwise
from math import atan2, degrees
from typing import NamedTuple

from . import postures, scenes

# Places [m] of the hands of a figure of 1.98 m, which faces -Y with its left at +X, and whose arms are 0.63 m long.
JOBS = {
    "cup across": {"L": (-0.38, -0.38, 1.05)},
    "shelf": {"L": (0.22, -0.35, 2.0)},
    "both hands up": {"L": (0.2, -0.1, 2.28), "R": (-0.2, -0.1, 2.28)},
    "far ahead": {"L": (0.15, -0.95, 1.15)},
    "far aside": {"L": (1.0, -0.1, 1.25)},
    "behind": {"L": (0.35, 0.75, 1.0)},
    "one hand to the floor": {"L": (0.3, -0.3, 0.1)},
    "both hands to the floor": {"L": (0.2, -0.4, 0.1), "R": (-0.2, -0.4, 0.1)},
    "lean on a table": {"L": (0.25, -0.75, 0.85), "R": (-0.25, -0.75, 0.85)},
    "handshake": {"R": (-0.05, -0.62, 1.15)},
    "near": {"L": (0.25, -0.4, 1.2)},
    "opposite shoulder": {"L": (-0.2, -0.12, 1.5)},
}
FRAMES, THERE, LEAVES = 60, 30, 40


class Posture(NamedTuple):
    """Degrees at the far end, and the distance [m] of the hands from their empties and of the feet from their places.

    `knee` is the larger bend, `trunk` its angle to the vertical, `shoulders` and `hips` how far they have turned about
    it (left hand across is negative), `clavicle` its turn on the chest, `free` how far the other arm hangs off its
    first direction in space, and `turn` the largest turn of a bone in a frame.
    """

    knee: float
    trunk: float
    shoulders: float
    hips: float
    clavicle: float
    free: float
    turn: float
    off: float
    slip: float


def posture_of(job):
    """Set up the body, key the hands and bake; return its posture."""
    import bpy
    from mathutils import Vector

    ob = postures.human()
    bpy.ops.object.mode_set(mode="POSE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    places = JOBS[job]
    with scenes.silent():
        assert bpy.ops.pose.ik_triangulation_body_add() == {"FINISHED"}
        for side, place in places.items():
            target = ob.pose.bones[f"hand.{side}"].ik_triangulation.target
            into = target.parent.matrix_world.inverted() if target.parent else None
            start = target.matrix_world.translation.copy()
            for frame, at in ((1, start), (THERE, Vector(place)), (LEAVES, Vector(place)), (FRAMES, start)):
                target.location = into @ at if into else at
                target.keyframe_insert("location", frame=frame)
        before = _shown(ob, 1)
        ob.data.bones.active = ob.data.bones[f"hand.{next(iter(places))}"]
        assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    shown = [_shown(ob, frame) for frame in range(1, FRAMES + 1)]
    return _posture(places, before, shown)


def _shown(ob, frame):
    """Matrices (world space) and tails of all bones as Blender shows them at a frame."""
    import bpy

    bpy.context.scene.frame_set(frame)
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: (posed.matrix_world @ bone.matrix, posed.matrix_world @ bone.tail) for bone in posed.pose.bones}


def _posture(places, before, shown):
    from mathutils import Vector

    there, up = shown[THERE - 1], Vector((0.0, 0.0, 1.0))

    def way(pose, first, second):
        return pose[second][0].translation - pose[first][0].translation

    def yaw(pose, bone):
        across = way(pose, f"{bone}.R", f"{bone}.L")
        return degrees(atan2(across.y, across.x))

    def on_chest(pose, side):
        return (pose["spine.003"][0].inverted() @ pose[f"shoulder.{side}"][0]).to_quaternion()

    knees = [degrees(way(there, f"thigh.{s}", f"shin.{s}").angle(way(there, f"shin.{s}", f"foot.{s}"))) for s in "LR"]
    trunk = way(there, "thigh.L", "upper_arm.L") + way(there, "thigh.R", "upper_arm.R")
    free = [way(pose, "upper_arm.R", "forearm.R") for pose in (before, there)] if "R" not in places else [up, up]
    if "L" not in places:
        free = [way(pose, "upper_arm.L", "forearm.L") for pose in (before, there)]
    tilts = [degrees(arm.angle(-up)) for arm in free]
    return Posture(
        max(knees),
        degrees(trunk.angle(up)),
        yaw(there, "upper_arm") - yaw(before, "upper_arm"),
        yaw(there, "thigh") - yaw(before, "thigh"),
        max(_turn(on_chest(before, side), on_chest(there, side)) for side in places),
        tilts[1] - tilts[0],
        max(
            _turn(first[bone][0].to_quaternion(), second[bone][0].to_quaternion())
            for first, second in pairwise(shown)
            for bone in ("spine", "spine.003", "upper_arm.L", "upper_arm.R", "thigh.L", "shin.L")
        ),
        max((there[f"hand.{side}"][1] - Vector(place)).length for side, place in places.items()),
        max((pose[f"foot.{s}"][1] - before[f"foot.{s}"][1]).length for pose in shown for s in "LR"),
    )


def _turn(first, second):
    angle = degrees(first.rotation_difference(second).angle)
    return min(angle, 360.0 - angle)


def run(arguments):
    print("| Job | Knee | Trunk off upright | Shoulders turn | Hips turn | Clavicle | Free arm raised ", end="")
    print("| Largest turn of a frame | Hand off [mm] | Feet slip [mm] |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with scenes.extension():
        for job in arguments.jobs:
            found = posture_of(job)
            angles = " | ".join(f"{round(angle)}\N{DEGREE SIGN}" for angle in found[:7])
            print(f"| {job} | {angles} | {1e3 * found.off:.1f} | {1e3 * found.slip:.2f} |", flush=True)


def add_arguments(parser):
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
