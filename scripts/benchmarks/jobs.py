# SPDX-License-Identifier: GPL-3.0-or-later
"""Everyday jobs of a body that few empties drive: what its knees, trunk, shoulders and free arm do at the far end.

*Set Up Body*, hands' empties keyed, *Bake*, all by operators: on Rigify's human, and on a skeleton in a T-pose with
Mixamo's names, whose arms are lowered. Every figure is of what Blender shows.
"""

from collections.abc import Callable
from itertools import pairwise, product
from math import atan2, degrees, radians
from typing import Any, NamedTuple

from . import postures, scenes

# Places [m] of the hands of Rigify's human, 1.98 m tall, who faces -Y with the left at +X. For others they are as many
# arms' lengths from the shoulders, at the same share of their height.
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
SHOULDERS, ARM = {"L": (0.19, 0.03, 1.58), "R": (-0.19, 0.03, 1.58)}, 0.63  # of Rigify's human


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


class Rig(NamedTuple):
    """How to make a skeleton, and the names of its bones; those of a side have a place for L or R."""

    make: Callable[[], Any]
    hips: str = "spine"
    chest: str = "spine.003"
    shoulder: str = "shoulder.{}"
    upper_arm: str = "upper_arm.{}"
    forearm: str = "forearm.{}"
    hand: str = "hand.{}"
    thigh: str = "thigh.{}"
    shin: str = "shin.{}"
    foot: str = "foot.{}"
    sides: dict[str, str] = {"L": "L", "R": "R"}

    def of(self, part, side=""):
        """The name of a bone."""
        return getattr(self, part).format(self.sides.get(side, side))


def t_pose():
    """A skeleton at rest in a T-pose, with Mixamo's names and proportions of a person of 1.8 m; its arms hang."""
    import bpy
    from mathutils import Matrix, Vector

    scenes.empty_file()
    data = bpy.data.armatures.new("T-Pose")
    ob = bpy.data.objects.new("T-Pose", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")

    def add(name, parent, head, tail):
        bone = data.edit_bones.new(f"mixamorig:{name}")
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[f"mixamorig:{parent}"] if parent else None

    add("Hips", None, (0.0, 0.0, 1.02), (0.0, 0.0, 1.12))
    trunk = ((0.0, 0.0, 1.12), (0.0, 0.013, 1.22), (0.0, 0.027, 1.31), (0.0, 0.047, 1.47))
    for name, parent, head, tail in zip(
        ("Spine", "Spine1", "Spine2"), ("Hips", "Spine", "Spine1"), trunk, trunk[1:], strict=False
    ):
        add(name, parent, head, tail)
    add("Neck", "Spine2", (0.0, 0.047, 1.47), (0.0, 0.03, 1.57))
    add("Head", "Neck", (0.0, 0.03, 1.57), (0.0, 0.05, 1.80))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        arm = [
            Vector((sign * x, y, 1.42))
            for x, y in ((0.045, 0.05), (0.15, 0.07), (0.425, 0.072), (0.7, 0.07), (0.78, 0.07))
        ]
        names = ("Shoulder", "Arm", "ForeArm", "Hand")
        for name, parent, head, tail in zip(
            names, ("Spine2", *(side + each for each in names)), arm, arm[1:], strict=False
        ):
            add(side + name, parent, head, tail)
        leg = (
            (0.085, 0.015, 0.95),
            (0.085, 0.01, 0.52),
            (0.085, 0.04, 0.085),
            (0.085, -0.065, 0.0),
            (0.085, -0.15, 0.0),
        )
        leg = [Vector((sign * x, y, z)) for x, y, z in leg]
        names = ("UpLeg", "Leg", "Foot", "ToeBase")
        for name, parent, head, tail in zip(
            names, ("Hips", *(side + each for each in names)), leg, leg[1:], strict=False
        ):
            add(side + name, parent, head, tail)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        bone = ob.pose.bones[f"mixamorig:{side}Arm"]
        at = Matrix.Translation(bone.head)
        bone.matrix = at @ Matrix.Rotation(radians(sign * HANGING), 4, "Y") @ at.inverted() @ bone.matrix
    bpy.context.view_layer.update()
    return ob


HANGING = 75.0  # degrees by which arms of the T-pose are lowered
MIXAMO = (
    "Hips",
    "Spine2",
    *("{}Shoulder", "{}Arm", "{}ForeArm", "{}Hand", "{}UpLeg", "{}Leg", "{}Foot"),
)
RIGS = {
    "human": Rig(postures.human),
    "t-pose": Rig(t_pose, *(f"mixamorig:{name}" for name in MIXAMO), {"L": "Left", "R": "Right"}),
}


class Baked(NamedTuple):
    """A job that was baked: its rig, where the hands should be, and all bones before and at each frame."""

    rig: Rig
    places: dict[str, Any]
    before: dict[str, Any]
    shown: list[dict[str, Any]]


def baked(job, rig="human"):
    """Set up the body of a rig, key the hands and bake."""
    import bpy

    rig = RIGS[rig]
    ob = rig.make()
    bpy.ops.object.mode_set(mode="POSE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    places = _places(ob, rig, JOBS[job])
    with scenes.silent():
        assert bpy.ops.pose.ik_triangulation_body_add() == {"FINISHED"}
        for side, place in places.items():
            target = ob.pose.bones[rig.of("hand", side)].ik_triangulation.target
            into = target.parent.matrix_world.inverted() if target.parent else None
            start = target.matrix_world.translation.copy()
            for frame, at in ((1, start), (THERE, place), (LEAVES, place), (FRAMES, start)):
                target.location = into @ at if into else at
                target.keyframe_insert("location", frame=frame)
        before = _shown(ob, 1)
        ob.data.bones.active = ob.data.bones[rig.of("hand", next(iter(places)))]
        assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    return Baked(rig, places, before, [_shown(ob, frame) for frame in range(1, FRAMES + 1)])


def _places(ob, rig, places):
    """Places (world space) for the hands of a rig."""
    from mathutils import Vector

    rest = {part: ob.data.bones[rig.of(part, "L")] for part in ("upper_arm", "hand")}
    arm = (rest["upper_arm"].length + (rest["hand"].head_local - rest["upper_arm"].tail_local).length) + rest[
        "hand"
    ].length
    found = {}
    for side, place in places.items():
        here = ob.data.bones[rig.of("upper_arm", side)].head_local
        way = (Vector(place) - Vector(SHOULDERS[side])) * arm / ARM
        found[side] = ob.matrix_world @ Vector((here.x + way.x, here.y + way.y, place[2] * here.z / SHOULDERS[side][2]))
    return found


def _shown(ob, frame):
    """Matrices (world space) and tails of all bones as Blender shows them at a frame."""
    import bpy

    bpy.context.scene.frame_set(frame)
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: (posed.matrix_world @ bone.matrix, posed.matrix_world @ bone.tail) for bone in posed.pose.bones}


def posture_of(job, rig="human"):
    """Bake a job; return its posture."""
    rig, places, before, shown = baked(job, rig)
    from mathutils import Vector

    there, up = shown[THERE - 1], Vector((0.0, 0.0, 1.0))

    def way(pose, first, second, side, other=None):
        return pose[rig.of(second, other or side)][0].translation - pose[rig.of(first, side)][0].translation

    def yaw(pose, bone):
        across = way(pose, bone, bone, "R", "L")
        return degrees(atan2(across.y, across.x))

    def on_chest(pose, side):
        return (pose[rig.of("chest")][0].inverted() @ pose[rig.of("shoulder", side)][0]).to_quaternion()

    knees = [degrees(way(there, "thigh", "shin", s).angle(way(there, "shin", "foot", s))) for s in "LR"]
    trunk = way(there, "thigh", "upper_arm", "L") + way(there, "thigh", "upper_arm", "R")
    idle = next((side for side in "RL" if side not in places), None)
    tilts = (
        [degrees(way(pose, "upper_arm", "forearm", idle).angle(-up)) for pose in (before, there)] if idle else (0, 0)
    )
    turning = [rig.of(part) for part in ("hips", "chest")]
    turning += [
        rig.of(part, side) for part, side in (("upper_arm", "L"), ("upper_arm", "R"), ("thigh", "L"), ("shin", "L"))
    ]
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
            for bone in turning
        ),
        max((there[rig.of("hand", side)][1] - place).length for side, place in places.items()),
        max((pose[name][1] - before[name][1]).length for pose in shown for name in (rig.of("foot", s) for s in "LR")),
    )


def _turn(first, second):
    angle = degrees(first.rotation_difference(second).angle)
    return min(angle, 360.0 - angle)


def run(arguments):
    print("| Rig | Job | Knee | Trunk off upright | Shoulders turn | Hips turn | Clavicle | Free arm raised ", end="")
    print("| Largest turn of a frame | Hand off [mm] | Feet slip [mm] |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with scenes.extension():
        for rig, job in product(arguments.rigs, arguments.jobs):
            with scenes.silent():
                found = posture_of(job, rig)
            angles = " | ".join(f"{round(angle)}\N{DEGREE SIGN}" for angle in found[:7])
            print(f"| {rig} | {job} | {angles} | {1e3 * found.off:.1f} | {1e3 * found.slip:.2f} |", flush=True)


def add_arguments(parser):
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--rigs", nargs="+", choices=RIGS, default=list(RIGS))
