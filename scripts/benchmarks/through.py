# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms through the body: seeded reaches around trunk and head by *Set Up Body* and *Bake*, with and without thickness.

One hand goes from where it hangs to a place outside the body and back, many times; nothing asks for anything else. What
is inside is judged apart from the package, by points along the bones that Blender shows and by sizes as shares of the
stature: chest 0.17 broad and 0.14 deep, thighs 0.09 and heads 0.1 thick (means of the ANSUR II survey, rounded).
"""

from itertools import pairwise, product
from math import cos, pi, sin
from time import process_time

import numpy as np

from . import job_shots, jobs, scenes

BROAD, DEEP, THIGH, HEAD = 0.085, 0.07, 0.045, 0.05  # of the stature: halves
STEPS, STAYS = 20, 6  # frames from where the hand hangs to a place and back, and there
APART = 0.03, 0.10  # of the stature: distance of the places from the skin
# Places: angles around the trunk (degrees from ahead, positive to the side of the hand), and heights from hips to
# shoulders; None: of its own.
KINDS = {
    "belly": ((-100, 30), (0.0, 0.8)),
    "hip": ((60, 120), (-0.25, 0.2)),
    "back": ((140, 220), (0.0, 0.7)),
    "other side": ((-140, -60), (0.3, 1.0)),
    "head": ((-120, 180), (1.3, 1.7)),
    "overhead": ((-180, 180), (1.9, 2.3)),
    "far ahead": ((-60, 60), (-0.4, 0.9)),
    "floor": ((-60, 60), (-1.4, -0.6)),
}
FARTHER = {"far ahead": 0.25, "floor": 0.1}  # of the stature, more
POINTS = np.linspace(0.0, 1.0, 9)


class Frame:
    """The volumes of a rig, from its rest pose, to be looked at in poses."""

    def __init__(self, ob, rig):
        self.rig, bones = rig, ob.data.bones
        self.tall = max(bone.tail_local.z for bone in bones)
        heads = {part: [np.array(bones[rig.of(part, s)].head_local) for s in "LR"] for part in ("thigh", "upper_arm")}
        self.hips, self.shoulders = (np.mean(heads[part], 0) for part in ("thigh", "upper_arm"))
        spine = [bones[rig.of("chest")]]
        while spine[-1].name != rig.of("hips"):
            spine.append(spine[-1].parent)
        spine.reverse()
        self.carriers = [spine[0].name, spine[len(spine) // 2].name, spine[-1].name]
        middle = self.hips + 0.5 * (self.shoulders - self.hips)
        places = (self.hips, middle, self.hips + 0.85 * (self.shoulders - self.hips))
        self.own = [
            np.linalg.inv(np.array(bones[name].matrix_local)) @ (*place, 1.0)
            for name, place in zip(self.carriers, places, strict=True)
        ]
        self.head = next(name for name in ("mixamorig:Head", "spine.006") if name in bones)

    def place(self, kind, random, side):
        """A place outside the body, for a hand of a side (1 left, -1 right)."""
        angles, heights = KINDS[kind]
        angle, height = random.uniform(*angles) * pi / 180.0, random.uniform(*heights)
        apart = (random.uniform(*APART) + FARTHER.get(kind, 0.0)) * self.tall
        broad, deep = (BROAD, DEEP) if height < 1.2 else (HEAD, HEAD)
        way = np.array((side * sin(angle) * (broad * self.tall + apart), -cos(angle) * (deep * self.tall + apart), 0.0))
        at = self.hips + height * (self.shoulders - self.hips) + way
        at[2] = max(at[2], 0.06 * self.tall)
        return at

    def way(self, start, place):
        """Places from one to another around the trunk, as a person leads a hand: by minimum jerk, outside the body."""
        seen = [each - self.hips for each in (start, place)]
        angles = [np.arctan2(each[0], -each[1]) for each in seen]  # from ahead
        if angles[1] < -0.6 * pi:
            angles[1] += 2.0 * pi  # behind, the side of the hand is the shorter way
        outs = [np.linalg.norm(each[:2]) for each in seen]
        found = []
        for t in np.arange(1, STEPS + 1) / STEPS:
            share = t**3 * (10.0 - 15.0 * t + 6.0 * t * t)
            angle, out, height = (a + share * (b - a) for a, b in (angles, outs, (seen[0][2], seen[1][2])))
            least = np.hypot((BROAD + APART[0]) * sin(angle), (DEEP + APART[0]) * cos(angle)) * self.tall
            out = max(out, least * min(1.0, 4.0 * share, 4.0 * (1.0 - share)))
            found.append(self.hips + np.array((out * sin(angle), -out * cos(angle), height)))
        return found

    def depths(self, shown, side):
        """Depths of points of the forearm and of the hand [stature] in trunk, head and thighs; negative outside."""
        rig = self.rig
        matrices = {name: np.array(matrix) for name, (matrix, _) in shown.items()}
        elbow, wrist = (matrices[rig.of(part, side)][:3, 3] for part in ("forearm", "hand"))
        end = np.array(shown[rig.of("hand", side)][1])
        points = elbow + POINTS[:, None] * (wrist - elbow)
        points = np.concatenate((points, wrist + POINTS[1:, None] * (end - wrist)))
        at = [(matrices[name] @ own)[:3] for name, own in zip(self.carriers, self.own, strict=True)]
        across = matrices[rig.of("upper_arm", "L")][:3, 3] - matrices[rig.of("upper_arm", "R")][:3, 3]
        across = across / np.linalg.norm(across)
        pairs = [(a, b, DEEP, 1.0 - DEEP / BROAD) for a, b in pairwise(at)]
        pairs += [(matrices[rig.of("thigh", s)][:3, 3], matrices[rig.of("shin", s)][:3, 3], THIGH, 0.0) for s in "LR"]
        low, high = matrices[self.head][:3, 3], np.array(shown[self.head][1])
        pairs.append((low + 0.4 * (high - low), low + 0.6 * (high - low), HEAD, 0.0))
        found = []
        for a, b, thick, flat in pairs:
            narrow = np.eye(3) - flat * np.outer(across, across)
            p, a, b = points @ narrow, a @ narrow, b @ narrow
            share = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            found.append(thick - np.linalg.norm(p - (a + share[:, None] * (b - a)), axis=1) / self.tall)
        return np.max(found, 0)


def shot(rig, kind, count, seed, thickness):
    """Bake; return depths (F, p) of forearm and hand, largest turns, distances at the places, and seconds."""
    import bpy
    from mathutils import Vector

    rig = jobs.RIGS[rig]
    ob = rig.make()
    bpy.ops.object.mode_set(mode="POSE")
    scene = bpy.context.scene
    period = 2 * STEPS + STAYS
    scene.frame_start, scene.frame_end = 1, 1 + count * period
    random = np.random.default_rng((seed, list(KINDS).index(kind)))
    frame = Frame(ob, rig)
    with scenes.silent():
        assert bpy.ops.pose.ik_triangulation_body_add() == {"FINISHED"}
        if hasattr(ob.ik_triangulation, "thickness"):
            ob.ik_triangulation.thickness = thickness
        target = ob.pose.bones[rig.of("hand", "L")].ik_triangulation.target
        into = target.parent.matrix_world.inverted() if target.parent else None
        start = target.matrix_world.translation.copy()
        hanging, places = np.array(ob.matrix_world.inverted() @ start), {}
        for number in range(count):
            place = frame.place(kind, random, 1.0)
            begin = 1 + number * period
            there, leaves = begin + STEPS, begin + STEPS + STAYS
            way = [hanging, *frame.way(hanging, place)]
            keys = [*enumerate(way, begin), *enumerate(reversed(way), leaves)]
            for at, here in keys:
                here = ob.matrix_world @ Vector(here)
                target.location = into @ here if into else here
                target.keyframe_insert("location", frame=at)
            place = ob.matrix_world @ Vector(place)
            places |= dict.fromkeys(range(there, leaves + 1), place)
        ob.data.bones.active = ob.data.bones[rig.of("hand", "L")]
        begun = process_time()
        assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
        spent = process_time() - begun
    shown = [job_shots.shown(ob, at) for at in range(1, scene.frame_end + 1)]
    turning = [rig.of("chest"), *(rig.of(part, "L") for part in ("upper_arm", "forearm", "hand"))]
    turns = [
        max(jobs._turn(a[bone][0].to_quaternion(), b[bone][0].to_quaternion()) for bone in turning)
        for a, b in pairwise(shown)
    ]
    off = [(shown[at - 1][rig.of("hand", "L")][1] - place).length for at, place in places.items()]
    clear = np.array([frame.depths(each, "L") for each in shown])
    return clear, np.array(turns), np.array(off) / frame.tall, spent, shown, list(places)


def run(arguments):
    print(
        "| Rig | Reaches | Thickness | Frames with forearm inside | elbow | hand | Depth of these, median | 95 % ",
        end="",
    )
    print("| Largest turn | 99 % | Missed by > 1 mm | Seconds |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    with scenes.extension():
        for rig, kind, thickness in product(arguments.rigs, arguments.kinds, arguments.thickness):
            with scenes.silent():
                found = shot(rig, kind, arguments.count, arguments.seed, thickness)
            depths, turns, off, spent = found[:4]
            fore, hand = depths[:, :9], depths[:, 10:]
            deep = fore.max(1)
            inside = deep[deep > 0.0] * 1750.0 if (deep > 0.0).any() else np.zeros(1)
            print(
                f"| {rig} | {kind} | {thickness:g} | {(deep > 0.0).mean():.1%} | {(fore[:, 0] > 0.0).mean():.1%} "
                f"| {(hand.max(1) > 0.0).mean():.1%} | {np.median(inside):.0f} mm | {np.percentile(inside, 95):.0f} mm "
                f"| {turns.max():.0f}\N{DEGREE SIGN} | {np.percentile(turns, 99):.0f}\N{DEGREE SIGN} "
                f"| {(off > 1e-3 / 1.75).sum()} of {len(off)} | {spent:.1f} |",
                flush=True,
            )


def add_arguments(parser):
    parser.add_argument("--rigs", nargs="+", choices=jobs.RIGS, default=list(jobs.RIGS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--thickness", nargs="+", type=float, default=[0.0, 1.0])
    parser.add_argument("--count", type=int, default=10, help="reaches of each kind")
    parser.add_argument("--seed", type=int, default=1)
