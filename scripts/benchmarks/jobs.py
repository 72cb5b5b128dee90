# SPDX-License-Identifier: GPL-3.0-or-later
"""Everyday jobs of a body that few empties drive: what its knees, trunk, shoulders and free arm do at the far end.

*Set Up Body*, which lets the arms hang, empties and hips keyed, *Bake*, all by operators: on Rigify's human, at rest in
an A-pose, and on a skeleton at rest in a T-pose with Mixamo's names. Every figure is of what Blender shows.
"""

from itertools import pairwise, product
from math import atan2, degrees
from typing import NamedTuple

from . import scenes
from .everyday import JOBS
from .job_rigs import RIGS
from .job_shots import BLENDER, OURS, baked, bone_of


class Posture(NamedTuple):
    """Degrees at the frame that is looked at, and distances [m] of tips from their empties and of feet that are held.

    `knee` is the larger bend, `trunk` and `pelvis` their angles to the vertical, `shoulders` and `hips` how far they
    have turned about it (left hand across is negative), `clavicle` the largest turn of a busy arm's on the chest, and
    `free` how far the other arm is off hanging straight down, `ankle` how far the larger one bends from where
    it began, and `turn` the largest turn of a bone in a frame.
    """

    knee: float
    trunk: float
    pelvis: float
    shoulders: float
    hips: float
    clavicle: float
    free: float
    ankle: float
    turn: float
    off: float
    slip: float


ANGLES = Posture._fields[:-2]
TITLES = (
    *(
        "Knee",
        "Trunk off upright",
        "Pelvis off upright",
        "Shoulders turn",
        "Hips turn",
        "Clavicle",
        "Free arm off down",
    ),
    *("Ankle", "Largest turn of a frame", "Tips off [mm]", "Feet slip [mm]"),
)


def posture_of(job, rig="human", method=OURS):
    """Bake a job; return its posture."""
    return posture(job, baked(job, rig, method))


def posture(job, shot):
    """The posture of a job that was baked."""
    from mathutils import Vector

    rig, before, at = shot.rig, shot.before, JOBS[job].at - 1
    there, up = shot.shown[at], Vector((0.0, 0.0, 1.0))
    hands = [part[-1] for part in JOBS[job].keys if part.startswith("hand")]

    def way(pose, first, second, side, other=None):
        return pose[rig.of(second, other or side)][0].translation - pose[rig.of(first, side)][0].translation

    def yaw(pose, bone):
        across = way(pose, bone, bone, "R", "L")
        return degrees(atan2(across.y, across.x))

    def on_chest(pose, side):
        return (pose[rig.of("chest")][0].inverted() @ pose[rig.of("shoulder", side)][0]).to_quaternion()

    def ankle(pose, side):
        foot = pose[rig.of("foot", side)]
        return degrees(way(pose, "shin", "foot", side).angle(foot[1] - foot[0].translation))

    def tilt(pose):
        return pose[rig.of("hips")][0].to_quaternion() @ (before[rig.of("hips")][0].to_quaternion().inverted() @ up)

    knees = [degrees(way(there, "thigh", "shin", s).angle(way(there, "shin", "foot", s))) for s in "LR"]
    trunk = way(there, "thigh", "upper_arm", "L") + way(there, "thigh", "upper_arm", "R")
    idle = next((side for side in "RL" if hands and side not in hands), None)
    hanging = degrees(way(there, "upper_arm", "forearm", idle).angle(-up)) if idle else 0.0
    turning = [rig.of(part) for part in ("hips", "chest")]
    turning += [rig.of(part, side) for part, side in product(("upper_arm", "thigh", "shin"), "LR")]
    return Posture(
        knee=max(knees),
        trunk=degrees(trunk.angle(up)),
        pelvis=degrees(tilt(there).angle(up)),
        shoulders=yaw(there, "upper_arm") - yaw(before, "upper_arm"),
        hips=yaw(there, "thigh") - yaw(before, "thigh"),
        clavicle=max((_turn(on_chest(before, side), on_chest(there, side)) for side in hands), default=0.0),
        free=hanging,
        ankle=max(abs(ankle(there, side) - ankle(before, side)) for side in "LR"),
        turn=max(
            _turn(first[bone][0].to_quaternion(), second[bone][0].to_quaternion())
            for first, second in pairwise(shot.shown)
            for bone in turning
        ),
        off=max(
            ((there[bone_of(rig, part)][1] - place).length for part, place in shot.asked[at].items() if part != "ball"),
            default=0.0,
        ),
        slip=max(
            (
                (pose[name][1] - before[name][1]).length
                for pose in shot.shown
                for name in (bone_of(rig, p) for p in shot.held)
            ),
            default=0.0,
        ),
    )


def unwanted(job, found):
    """The figures of a posture that are not as the job wants them."""
    texts = []
    for name, (low, high) in JOBS[job].wanted.items():
        value = getattr(found, name)
        if not low <= value <= high:
            texts.append(f"{name} {value:.4g}")
    return texts


def _turn(first, second):
    angle = degrees(first.rotation_difference(second).angle)
    return min(angle, 360.0 - angle)


def run(arguments):
    print(f"| Rig | Job | {' | '.join(TITLES)} | Not as wanted |\n{'|---' * (3 + len(TITLES))}|")
    method = BLENDER if arguments.blender else OURS
    with scenes.extension():
        for rig, job in product(arguments.rigs, arguments.jobs):
            with scenes.silent():
                found = posture_of(job, rig, method)
            angles = " | ".join(f"{round(getattr(found, name))}\N{DEGREE SIGN}" for name in ANGLES)
            ends = f"{1e3 * found.off:.1f} | {1e3 * found.slip:.2f} | {', '.join(unwanted(job, found))}"
            print(f"| {rig} | {job} | {angles} | {ends} |", flush=True)


def add_arguments(parser):
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--rigs", nargs="+", choices=RIGS, default=list(RIGS))
    parser.add_argument("--blender", action="store_true", help="by Blender's IK instead")
