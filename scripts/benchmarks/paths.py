# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns and jumps of joints along eight paths of the target, free and limited: the bake that artists see."""

import json
from math import cos, degrees, pi, radians, sin
from pathlib import Path
from time import process_time

from . import reach
from .scenes import REACH, empty_file, extension, make_chain, smooth_way

FRAMES = 240
TOLERANCE = 1e-3  # of the reach
FREE = {"5 bones": 5, "10 bones": 10, "30 bones": 30}


def share(frame):
    """How far along the path a frame is, from 0 to 1."""
    return (frame - 1) / (FRAMES - 1)


def benchmark(frame):
    """The way of the bake benchmark; x across the rest pose, y along it."""
    return tuple(each / REACH for each in smooth_way(frame))


def near_axis(frame):
    """A small circle round the axis of the rest pose, on which the plane of the limb turns as a whole."""
    s = share(frame)
    return 0.02 * cos(6.0 * pi * s), 0.75 + 0.1 * sin(4.0 * pi * s), 0.02 * sin(6.0 * pi * s)


def through_root(frame):
    """From one side to the other, past the root at a hundredth of the reach."""
    s = 2.0 * share(frame) - 1.0
    return 0.7 * s, 0.01, 0.1 * s


def behind(frame):
    """From ahead over the side to behind the limb and back."""
    angle = pi * sin(pi * share(frame))
    return 0.6 * sin(angle), 0.6 * cos(angle), 0.15


def loop(frame):
    """A circle beside the limb, twice, that closes."""
    angle = 4.0 * pi * share(frame)
    return 0.35 + 0.25 * cos(angle), 0.45 + 0.25 * sin(angle), 0.2 * sin(angle)


def in_and_out(frame):
    """Out of reach and back into it, five times."""
    s = share(frame)
    r = 0.9 + 0.25 * sin(10.0 * pi * s)
    return r * sin(0.8 * sin(2.0 * pi * s)), r * cos(0.8 * sin(2.0 * pi * s)), 0.1


def straight(frame):
    """Straight ahead, from near the root to full extension."""
    r = 0.3 + 0.7 * share(frame)
    return 0.3 * r, 0.9 * r, 0.1**0.5 * r


def zigzag(frame):
    """From side to side in seven frames, sharply, and slowly ahead."""
    phase = (frame / 14.0) % 1.0
    side = 4.0 * abs(phase - 0.5) - 1.0
    return 0.4 * side, 0.45 + 0.2 * share(frame), 0.2 * sin(5.0 * pi * share(frame))


PATHS = {
    "benchmark": benchmark,
    "near-axis": near_axis,
    "through-root": through_root,
    "behind": behind,
    "loop": loop,
    "in-and-out": in_and_out,
    "straight": straight,
    "zigzag": zigzag,
}


def chains(names):
    """Name, armature and bones of each chain, free ones first, one after the other in an empty scene."""

    for name, count in FREE.items():
        if not names or name in names:
            empty_file()
            ob = make_chain(count)
            yield name, ob, [bone.name for bone in ob.pose.bones]
    if not names or set(names) - set(FREE):
        for name, ob, bones in reach.chains():
            if not names or name in names:
                for bone in bones:
                    ob.pose.bones[bone].rotation_mode = "QUATERNION"
                yield name, ob, bones


def put_target(ob, bones, place):
    """An empty with a key at every frame of a path of so many reaches; planar limbs have it in their plane."""
    import bpy
    from mathutils import Vector

    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    rest, root = ob.data.bones[bones[-1]].tail_local, ob.data.bones[bones[0]].head_local
    length = sum(ob.data.bones[bone].length for bone in bones)
    turn = Vector((0.0, 1.0, 0.0)).rotation_difference(rest - root)
    planar = all(ob.pose.bones[bone].lock_ik_y and ob.pose.bones[bone].lock_ik_z for bone in bones)
    for frame in range(1, FRAMES + 1):
        x, y, z = place(frame)
        across = Vector((0.0, y, x)) if planar else Vector((x, y, z))
        target.location = ob.matrix_world @ (root + length * (turn @ across))
        target.keyframe_insert("location", frame=frame)
    return target, length


def shown(ob, bones, target):
    """Turns of the bones in each frame [degrees], and distances, as Blender shows them."""
    import bpy

    from ik_triangulation.kinematics.rotation import rotation_angle

    turned, distances, before = [], [], None
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        now = [ob.pose.bones[bone].rotation_quaternion.copy() for bone in bones]
        if before:
            turned.append([degrees(rotation_angle(a, b)) for a, b in zip(before, now, strict=True)])
        before = now
        tip = ob.matrix_world @ ob.pose.bones[bones[-1]].tail
        distances.append((tip - target.matrix_world.translation).length)
    return turned, distances


@extension()
def run(arguments):
    """Each chain along each path with each solver, everything else at its defaults."""
    import bpy

    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.rig.limb import Limb

    print(f"Blender {bpy.app.version_string}, {FRAMES} frames, tolerance {TOLERANCE} of the reach\n")
    print("| Chain | Path | Solver | Reached | Largest turn | Jumps | Squared turns, rad² | CPU ms a frame |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    kept = []
    for name, ob, bones in chains(arguments.chains):
        for path in arguments.paths:
            target, length = put_target(ob, bones, PATHS[path])
            bpy.context.view_layer.update()
            for solver in arguments.solvers:
                limb = Limb.from_tip(ob, bones[-1], target, len(bones), solver=solver, tolerance=TOLERANCE * length)
                started = process_time()
                report = bake(limb, 1, FRAMES)
                took = (process_time() - started) / FRAMES * 1e3
                turned, distances = shown(ob, bones, target)
                largest = max(map(max, turned))
                squared = sum(radians(angle) ** 2 for row in turned for angle in row)
                cells = [name, path, solver, report.reached, f"{largest:.1f}°", len(report.jumps), f"{squared:.3f}"]
                print(f"| {' | '.join(map(str, cells))} | {took:.2f} |", flush=True)
                kept.append(
                    {
                        "chain": name,
                        "path": path,
                        "solver": solver,
                        "reached": [n for n, d in enumerate(distances, 1) if d <= (TOLERANCE + 1e-5) * length],
                        "turn": largest,
                        "jumps": [
                            [jump.turned.at + 1, degrees(jump.turned.angle), jump.reason] for jump in report.jumps
                        ],
                        "squared": squared,
                        "ms": took,
                    }
                )
                ob.animation_data_clear()
                for bone in bones:
                    ob.pose.bones[bone].rotation_quaternion = 1.0, 0.0, 0.0, 0.0
            bpy.data.objects.remove(target)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(kept, indent=1), encoding="utf-8")
    if arguments.beside:
        compare(kept, json.loads(Path(arguments.beside).read_text(encoding="utf-8")))


def compare(now, before):
    """Print what differs from the figures of another version: frames lost, and turns and jumps that have grown."""
    earlier = {(row["chain"], row["path"], row["solver"]): row for row in before}
    pairs = [(row, earlier[key]) for row in now if (key := (row["chain"], row["path"], row["solver"])) in earlier]
    if not pairs:
        print("\nNo row is in both.")
        return
    totals = {key: [sum(row[key] for row in side) for side in zip(*pairs, strict=True)] for key in ("squared", "ms")}
    jumps = [sum(len(row["jumps"]) for row in side) for side in zip(*pairs, strict=True)]
    lost = [(row, len(set(old["reached"]) - set(row["reached"]))) for row, old in pairs]
    worse = [(row, old) for row, old in pairs if row["turn"] > max(12.0, old["turn"] + 1.0)]
    print(
        f"\nBeside {len(pairs)} rows of the other version: "
        f"{sum(count for _, count in lost)} frames that it reached are lost"
    )
    print(f"Jumps {jumps[0]} (other {jumps[1]}), squared turns {totals['squared'][0]:.1f} ({totals['squared'][1]:.1f})")
    print(f"Largest turn beyond 12 degrees and one more than the other's: {len(worse)} rows")
    for row, count in lost:
        if count:
            print(f"  lost {count}: {row['chain']}, {row['path']}, {row['solver']}")
    for row, old in worse:
        print(f"  turn {row['turn']:.1f} (other {old['turn']:.1f}): {row['chain']}, {row['path']}, {row['solver']}")


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--solvers", nargs="+", default=["TRIANGULATION", "GAUSS_NEWTON"])
    every = {"nargs": "+", "choices": PATHS, "default": list(PATHS), "metavar": "PATH"}
    parser.add_argument("--paths", **every, help=f"default: {' '.join(PATHS)}")
    parser.add_argument("--chains", nargs="+", metavar="CHAIN", help="default: all")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    parser.add_argument("--beside", metavar="FILE", help="such figures of another version, to compare with")
