# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs of other people's animals posed by Add Limb and Bake: joints off true poses, and the way in which they bend.

The left legs follow place and rotation of their true feet along random poses, from rest, with default settings. In a
true pose the first inner joint of a hind leg bends its lower part backwards, that of a front leg forwards, and each
joint after it the other way; the joint before the foot of a leg of five parts bends either way. Files are those of
rigs.py.
"""

import time
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np

from . import rig_truth as truth
from .rigs import silent
from .scenes import empty_file, extension

SEED, POSES, BETWEEN = 5, 6, 6
SWING, ASIDE, BEND, EITHER, FOOT = (-25, 25), (-6, 6), (-2, 45), (-10, 25), (-15, 15)  # degrees
BACK = 8.0  # degrees to the wrong side, off the least true bend and off straight, from which on a joint bends back
HEAD = "| Skeleton | leg | bones | frames reached | off: median / 95 % | bent to the wrong side | s |"


def legs_of(data):
    """Return the left legs of three parts or more, each with whether another one is behind it."""
    heads = {row["name"]: np.array(row["head"]) for row in data["bones"]}
    rows = [row for row in data["limbs"] if row["part"] == "leg" and row["side"] == "L" and len(row["bones"]) > 2]
    ahead = np.linalg.inv(np.array(data["object"])[:3, :3]) @ np.array(data["forward"], dtype=float)
    places = [heads[row["bones"][0]] @ ahead for row in rows]
    return [(row, place > min(places) + 1e-6) for row, place in zip(rows, places, strict=True)]


def path_of(ob, data, names, is_fore):
    """Return links, the axis (3,) about which a hind knee flexes, the ways of inner joints, and turns of each frame."""
    random = Random(f"{SEED} {names[0]}")
    left, front, up = truth.axes_of(data)
    axis = left if np.cross(left, -up) @ front < 0.0 else -left
    places = [truth.head(ob, name) for name in names] + [truth.tail(ob, names[-1])]
    inner = len(names) - 2
    ways = [(-1.0 if is_fore else 1.0) * (-1.0) ** number for number in range(inner)]
    if inner > 2:
        ways[-1] = 0.0
    keys = [np.zeros(len(names) + 1)]
    for _ in range(POSES):
        bends = [way * random.uniform(*BEND) if way else random.uniform(*EITHER) for way in ways]
        keys.append(np.array([random.uniform(*ASIDE), random.uniform(*SWING), *bends, random.uniform(*FOOT)]))
    angles = [a + (b - a) * step / BETWEEN for a, b in pairwise(keys) for step in range(BETWEEN)] + keys[-1:]
    frames = []
    for aside, *own in angles:
        turn, turns = truth.turn(front, aside), []
        for angle in own:
            turn = turn @ truth.turn(axis, angle)
            turns.append(turn)
        frames.append(turns)
    return np.diff(places, axis=0), axis, ways, frames


def bends(links, turns, axis):
    """Return the bend [degrees] of each inner joint off straight, about the axis as the part before carries it."""
    found = []
    for before, after in pairwise(range(len(links) - 1)):
        carried = turns[before] @ axis
        first, second = (turns[n] @ links[n] for n in (before, after))
        first, second = (way - carried * (way @ carried) for way in (first, second))
        found.append(np.degrees(np.arctan2(np.cross(first, second) @ carried, first @ second)))
    return found


def posed(data, row, is_fore):
    """A line of the table."""
    import bpy
    from mathutils import Matrix

    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.jobs.setup import add_limbs
    from ik_triangulation.rig.limb import Limb

    empty_file()
    ob, names = truth.build(data), row["bones"]
    links, axis, ways, frames = path_of(ob, data, names, is_fore)
    bpy.ops.object.mode_set(mode="POSE")
    (tip,) = add_limbs(ob, [names[-1]])
    limb, world = Limb.of(ob.pose.bones[tip]), np.array(ob.matrix_world)
    target, last = limb.target, names.index(tip)
    begin, axes = target.matrix_world.copy(), np.array(ob.matrix_world.to_3x3().normalized())
    beyond = (np.linalg.inv(world) @ [*begin.translation, 1.0])[:3] - truth.head(ob, tip)
    target.rotation_mode = "QUATERNION"
    for frame, turns in enumerate(frames, 1):
        steps = sum((turns[n] @ links[n] for n in range(last)), truth.head(ob, names[0]))
        target.location = (world @ [*(steps + turns[last] @ beyond), 1.0])[:3]
        turned = Matrix(axes @ turns[last] @ axes.T) @ begin.to_3x3().normalized()
        target.rotation_quaternion = turned.to_quaternion()
        for channel in ("location", "rotation_quaternion"):
            target.keyframe_insert(channel, frame=frame)
    bpy.context.scene.frame_set(1)
    started = time.process_time()
    report = bake(limb, 1, len(frames))
    spent = time.process_time() - started
    rests = [np.array(ob.data.bones[name].matrix_local.to_3x3().normalized()) for name in names]
    off, bent, true = [], [], []
    for frame, turns in enumerate(frames, 1):
        bpy.context.scene.frame_set(frame)
        now = [
            np.array(ob.pose.bones[name].matrix.to_3x3().normalized()) @ rest.T
            for name, rest in zip(names, rests, strict=True)
        ]
        off += [truth.angle(a.T @ b) for a, b in zip(now, turns, strict=True)]
        bent.append(bends(links, now, axis))
        true.append(bends(links, turns, axis))
    bent, true = np.array(bent) * ways, np.array(true) * ways
    back = np.mean((bent < np.minimum(true.min(0), 0.0) - BACK)[:, np.array(ways) != 0.0])
    cells = [data["name"].replace("_", " "), "front" if is_fore else "hind", f"{len(limb.bones)} of {len(names)}"]
    cells += [f"{len(frames) - len(report.missed)} of {len(frames)}"]
    cells += [f"{np.median(off):.0f} / {np.percentile(off, 95):.0f}", f"{100.0 * back:.0f} %", f"{spent:.2f}"]
    return f"| {' | '.join(cells)} |"


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("folder", type=Path, help="skeletons as JSON files")


def run(arguments):
    """A line for each pair of legs of an animal that are no spider's."""
    print(f"{HEAD}\n{'|---' * 7}|")
    with extension():
        for path in sorted(arguments.folder.glob("*.json")):
            data = truth.read(path)
            legs = legs_of(data) if data["kind"] == "animal" else []
            for row, is_fore in legs if len(legs) < 3 else ():
                with silent():
                    line = posed(data, row, is_fore)
                print(line, flush=True)
