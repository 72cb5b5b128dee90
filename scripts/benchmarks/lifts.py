# SPDX-License-Identifier: GPL-3.0-or-later
"""Leg lifts and squats of Rigify's human, with limits and with comfort: the largest turn of a joint in one frame.

The target moves steadily from where the foot is at rest and back, so that no joint has to snap.
"""

from math import degrees
from random import Random
from time import process_time
from typing import NamedTuple

from .postures import LIMBS, human
from .scenes import extension

FRAMES = 60
PRESETS = ("Human Leg (Hinge)", "Human Leg")
COMFORT = (0.0, 0.3)  # nearness to rest
SOLVERS = ("NATURAL", "TRIANGULATION", "GAUSS_NEWTON")


class Move(NamedTuple):
    """Largest turn of a joint in one frame [degrees], frames reached, jumps named, and CPU time of the bake [ms]."""

    turn: float
    reached: int
    jumps: int
    took: float


def there_and_back(frame):
    """Share of the way at a frame: there and back again by minimum jerk."""
    s = 2.0 * (frame - 1) / (FRAMES - 1)
    s = min(s, 2.0 - s)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def way(random, squat):
    """Of the leg's length: where the foot goes as the hips see it, up, and ahead or a little aside."""
    ahead = random.uniform(-0.15, 0.05) if squat else random.uniform(0.05, 0.45)
    return random.uniform(-0.05, 0.05), -ahead, random.uniform(0.2, 0.55)


def bake_move(random, squat, preset, comfort, solver, bones=LIMBS["leg"], **settings):
    """Bake a random lift, or a squat of the whole armature over a foot that stands; return a Move.

    `settings` of the limb are added to those that are varied.
    """
    import bpy
    from mathutils import Vector

    from ik_triangulation.api import Limb, bake
    from ik_triangulation.presets import find_preset
    from ik_triangulation.presets.file import read_preset
    from ik_triangulation.presets.limb import apply_preset

    ob = human()
    foot, length = ob.data.bones[bones[-1]], sum(ob.data.bones[name].length for name in bones[:2])
    target, rest = bpy.data.objects.new("Target", None), ob.matrix_world @ foot.tail_local
    bpy.context.scene.collection.objects.link(target)
    moved, start, there = (ob, Vector(), -1.0) if squat else (target, rest, 1.0)
    target.location = rest
    change = there * length * Vector(way(random, squat))
    for frame in range(1, FRAMES + 1):
        moved.location = start + there_and_back(frame) * change
        moved.keyframe_insert("location", frame=frame)
    apply_preset(ob, bones, read_preset(find_preset(preset)))
    limb = Limb.from_bones(ob, bones, target, solver=solver, rest_weight=comfort, **settings)
    started = process_time()
    report = bake(limb, 1, FRAMES)
    took = (process_time() - started) * 1e3
    return Move(largest_turn(ob, bones), report.reached, len(report.jumps), took)


def largest_turn(ob, bones):
    """Largest turn [degrees] of a bone from one frame to the next, of what Blender shows."""
    import bpy

    from ik_triangulation.kinematics.rotation import rotation_angle

    largest, before = 0.0, None
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        now = [ob.pose.bones[name].rotation_quaternion.copy() for name in bones]
        if before:
            largest = max(largest, *map(rotation_angle, before, now))
        before = now
    return degrees(largest)


def moves(count, seed, preset, comfort, solver, **settings):
    """Bake so many moves, lifts and squats in turn; return a list of Move."""
    random = Random(seed)
    return [bake_move(random, k % 2, preset, comfort, solver, **settings) for k in range(count)]


def run(arguments):
    """A line for each preset, comfort and solver."""
    import bpy

    print(f"Blender {bpy.app.version_string}, {arguments.count} lifts and squats of {FRAMES} frames\n")
    print(
        "| Preset | Comfort | Solver | Largest turn | Reached | Jumps | CPU ms a frame |\n|---|---|---|---|---|---|---|"
    )
    with extension():
        for preset in PRESETS:
            for comfort in COMFORT:
                for solver in arguments.solvers:
                    found = moves(arguments.count, arguments.seed, preset, comfort, solver)
                    turn, frames = max(each.turn for each in found), arguments.count * FRAMES
                    reached, jumps, took = (sum(getattr(each, key) for each in found) for key in Move._fields[1:])
                    cells = [preset, comfort, solver, f"{turn:.1f}°", f"{reached} of {frames}", jumps]
                    print(f"| {' | '.join(map(str, cells))} | {took / frames:.2f} |", flush=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--count", type=int, default=12, help="of moves; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--solvers", nargs="+", default=SOLVERS)
