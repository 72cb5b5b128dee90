# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of the wrist in reaches of an arm and of a body: bow, length and speed, and what begins to move first.

Rigify's human, and of bodies also a skeleton in a T-pose, set up by the buttons and moved by *Reach* in 30 frames from
the pose that they have. Paths are seen from the bone that carries the arm.
"""

from itertools import product
from random import Random
from typing import NamedTuple

import numpy as np

from . import hand_motions
from .everyday import JOBS, REACHES
from .job_rigs import RIGS
from .job_shots import hand_place
from .job_shots import shown as shown_at
from .scenes import extension, silent

FRAMES = range(1, 32)
BEGUN = 0.1  # of the whole turn or way
STILL = 2.0  # degrees of a head or chest that is not moved


class Path(NamedTuple):
    """Bow and length of a path, of the straight way, and its largest speed beside the mean."""

    bow: float
    length: float
    peak: float


def path_of(places):
    """Return the Path of places (F, 3)."""
    way = places - places[0]
    chord = way[-1]
    size = np.linalg.norm(chord)
    off = way - np.outer(way @ chord, chord) / size**2
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return Path(np.linalg.norm(off, axis=1).max() / size, steps.sum() / size, steps.max() / steps.mean())


def of_arm(seed, path):
    """Reach for a random place in front of the body; return the Path and the largest turn of a joint in a frame."""
    import bpy

    hand = hand_motions.new_hand()
    hand.target.location = hand_motions.random_place(hand, Random(seed))
    bpy.context.view_layer.objects.active = hand.ob
    with silent():
        bpy.ops.pose.ik_triangulation_reach(frame_start=FRAMES[0], frame_end=FRAMES[-1], path=path)
    seen = hand_motions.watch(hand, FRAMES)
    return path_of(seen.places[2]), float(seen.turns.max())


def of_body(name, job, path):
    """Reach with a body; return the Path, and by how many frames hand, chest and head begin after the start."""
    import bpy

    rig = RIGS[name]
    ob = rig.make()
    bpy.ops.object.mode_set(mode="POSE")
    asked = {part[-1]: keys[1].place for part, keys in JOBS[job].keys.items()}
    places = {side: hand_place(ob, rig, side, place) for side, place in asked.items()}
    side = next(iter(places))
    with silent():
        bpy.ops.pose.ik_triangulation_body_add()
        for each, place in places.items():
            target = ob.pose.bones[rig.of("hand", each)].ik_triangulation.target
            target.location = target.parent.matrix_world.inverted() @ place if target.parent else place
        bpy.context.view_layer.update()
        ob.data.bones.active = ob.data.bones[rig.of("hand", side)]
        bpy.ops.pose.ik_triangulation_reach(frame_start=FRAMES[0], frame_end=FRAMES[-1], path=path)
    shown = [shown_at(ob, frame) for frame in FRAMES]
    hand, carrier = rig.of("hand", side), ob.data.bones[rig.of("upper_arm", side)].parent.name
    seen = np.array([now[carrier][0].inverted() @ now[hand][0].translation for now in shown])
    way = np.linalg.norm([now[hand][0].translation - shown[0][hand][0].translation for now in shown], axis=1)
    head = next(bone for bone in shown[0] if bone in {"spine.006", "mixamorig:Head"})
    return path_of(seen), _begun(way), *(_begun(_turns(shown, bone)) for bone in (rig.of("chest"), head))


def _turns(shown, bone):
    first = shown[0][bone][0].to_quaternion()
    angles = np.degrees([first.rotation_difference(now[bone][0].to_quaternion()).angle for now in shown])
    angles = np.minimum(angles, 360.0 - angles)
    return angles if angles[-1] > STILL else None


def _begun(values):
    return None if values is None else int(np.argmax(values >= BEGUN * values[-1]))


def run(arguments):
    """A line for each path: least, median and largest of all reaches."""

    def of(values):
        return f"{np.min(values):.2f} / {np.median(values):.2f} / {np.max(values):.2f}"

    print("| | path | bow, of the straight way | length | largest speed, times the mean | largest turn | late |")
    print("|---|---|---|---|---|---|---|")
    with extension():
        for path in arguments.paths:
            found = [of_arm(seed, path) for seed in range(arguments.count)]
            figures = " | ".join(map(of, zip(*(each for each, _ in found), strict=True)))
            print(f"| arm | {path} | {figures} | {np.max([turn for _, turn in found]):.0f}° | |", flush=True)
        for rig, path in product(RIGS, arguments.paths):
            found = [of_body(rig, job, path) for job in arguments.jobs]
            figures = " | ".join(map(of, zip(*(each for each, *_ in found), strict=True)))
            begun = [(hand, [each for each in others if each is not None]) for _, hand, *others in found]
            late = sum(bool(others) and min(others) > hand for hand, others in begun)
            print(f"| body of {rig} | {path} | {figures} | | {late} of {len(found)} |", flush=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--count", type=int, default=40, help="reaches of an arm; default: %(default)s")
    parser.add_argument("--jobs", nargs="+", choices=REACHES, default=REACHES)
    parser.add_argument("--paths", nargs="+", choices=("BOW", "ARC", "LINE"), default=["BOW", "ARC"])
