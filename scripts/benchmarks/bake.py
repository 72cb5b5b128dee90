# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole bakes beside bpy.ops.nla.bake with the IK constraint: limits, moving roots, heavy scenes, many bones, scale.

Both are operators, as they are pressed: what is timed is all that a user waits for, but for the redraw of the window.
With --processor it is the time of the processor, which depends less on what else the machine does; Blender's threads
count in it one by one.
"""

import json
from collections.abc import Callable
from gc import collect
from math import degrees
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from . import arm_scene, bake_together, bounds, scenes
from .scenes import REACH, Scene, empty_file, make_chain, make_skin, make_target, outside_in_blender

__all__ = ["REACH", "make_chain", "make_skin", "make_target"]  # used by other benchmarks

WITHIN = 1e-3  # of the reach: distance up to which a frame counts as reached, for either method
TOLERANCE = 1e-4  # of the reach: what ours is asked for
PEER = "nla.bake"
SIZES = (5, 250), (5, 2000), (30, 2000)
_clock = [perf_counter]


class Row(NamedTuple):
    """A scene to bake: what it is called in the table, what makes it, and the sizes at which it is baked.

    One with a `fixed` number of bones, that of its own sizes, has no other at sizes that are asked for.
    """

    title: str
    make: Callable[[int, int], Scene]
    sizes: tuple[tuple[int, int], ...] = SIZES
    fixed: bool = False

    def sizes_for(self, asked):
        """Return the sizes at which it is baked where some are asked for, or none."""
        if not (asked and self.fixed):
            return asked or self.sizes
        return list(dict.fromkeys((self.sizes[0][0], frames) for _, frames in asked))


ROWS = {
    "free": Row("no limits", scenes.free),
    "limits": Row("limits on all but the root", scenes.limited([scenes.ROUND])),
    "mixed": Row("shoulder, elbow, wrist, knuckle", scenes.limited(scenes.MIXED), SIZES[:2]),
    "hinges": Row("hinges below the root", scenes.limited(scenes.HINGES), SIZES[:2]),
    "root": Row("root bone animated", scenes.moving_root, SIZES[:1]),
    "arm": Row("an arm that + made, no limits", arm_scene.arm(limits=False), ((3, 250), (3, 2000)), True),
    "arm-limits": Row("the same with limits", arm_scene.arm(limits=True), ((3, 250), (3, 2000)), True),
    "others": Row("the same with 300 other bones", scenes.root_and_others, SIZES[:1]),
    "mesh": Row("beside 10,000 vertices", scenes.skinned(10_000), SIZES[:1]),
    "heavy": Row("beside 200,000 vertices", scenes.skinned(200_000), SIZES[:1]),
    "objects": Row("beside 2,000 objects", scenes.among_objects(2000), ((5, 2),)),
}
HEAD = (
    "| Bones x frames | Scene | Method | nla.bake, ms | Ours, ms | Ratio | Reached: Blender | Ours | "
    "Largest distance: Blender | Ours | Largest turn: Blender | Ours | Jumps: Blender | Ours | "
    "Outside limits: Blender | Ours |"
)


class Quality(NamedTuple):
    """What Blender shows of a bake: frames within WITHIN, distances of the tip per reach, and angles in degrees.

    `turn` is the largest of a bone in one frame, `jumps` the number of turns that stand out, `outside` the largest
    angle by which a bone is outside its limits: for Blender's IK as it reads them itself.
    """

    reached: int
    distance: float
    turn: float
    jumps: int
    outside: float


def bake_blender(scene, frames):
    """Bake with Blender's own IK constraint; return the seconds it took."""
    import bpy

    constraint = scene.bones[-2 if scene.stored else -1].constraints.new("IK")
    constraint.target, constraint.chain_count = scene.target, scene.count - scene.stored
    if scene.stored:  # the hand turns as the target, and the IK is that of the bones before it, up to the wrist
        constraint.target = wrist = bpy.data.objects.new("Wrist", None)
        bpy.context.scene.collection.objects.link(wrist)
        wrist.parent, wrist.location = scene.target, (0.0, -scene.bones[-1].length, 0.0)
        scene.bones[-1].constraints.new("COPY_ROTATION").target = scene.target
    return bake_action(frames)


def bake_action(frames):
    """Bake what constraints show of the selected bones; return the seconds it took."""
    import bpy

    with scenes.silent():
        started = _clock[0]()
        bpy.ops.nla.bake(
            frame_start=1,
            frame_end=frames,
            step=1,
            only_selected=True,
            visual_keying=True,
            clear_constraints=True,
            use_current_action=True,
            bake_types={"POSE"},
            channel_types={"ROTATION"},
        )
        return _clock[0]() - started


def clock_of(arguments):
    """Return the clock by which bakes are timed, here as well."""
    _clock[0] = process_time if arguments.processor else perf_counter
    return _clock[0]


def set_up(scene, **settings):
    """Store the limb of a scene, at the benchmark's tolerance and otherwise with the defaults, and make it active."""
    tip = scene.bones[-1]
    stored = tip.ik_triangulation
    if not scene.stored:
        stored.target, stored.chain_count = scene.target, scene.count
    for name, value in {"tolerance": TOLERANCE * REACH, **settings}.items():
        setattr(stored, name, value)
    scene.ob.data.bones.active = tip.bone
    return tip


def bake_ours(solver, **settings):
    """Return the method that presses Bake with a solver and these settings; it returns the seconds it took."""

    def run(scene, frames):
        import bpy

        set_up(scene, solver=solver, **settings)
        bpy.context.view_layer.update()
        with scenes.silent():
            started = _clock[0]()
            bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=frames)
            return _clock[0]() - started

    return run


def quality(scene, frames, blender=False):
    """What Blender shows of a bake, by stepping through it; with `blender` limits are those of its own IK."""
    import bpy

    from ik_triangulation.kinematics.rotation import rotation_angle
    from ik_triangulation.motion.jumps import jumps, turns
    from ik_triangulation.rig.freedom import freedom_of

    bones = scene.bones
    freedoms = [freedom_of(bone) for bone in bones]
    distances, path, outside = [], [], 0.0
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        tip = scene.ob.matrix_world @ bones[-1].tail
        distances.append((tip - scene.target.matrix_world.translation).length / REACH)
        path.append([bone.rotation_quaternion.copy() for bone in bones])
        for bone, freedom, turn in zip(bones, freedoms, path[-1], strict=True):
            own = degrees(rotation_angle(freedom.nearest(turn), turn))
            outside = max(outside, outside_in_blender(bone, turn) if blender else own)
    along = turns(path)
    reached = sum(distance <= WITHIN for distance in distances)
    return Quality(reached, max(distances), degrees(max(along)), len(jumps(along)), outside)


def methods_of(arguments):
    """Each solver with the defaults, and bare if asked for: without No Jumps."""
    bare = arguments.solvers if arguments.bare else ()
    return {key: bake_ours(key) for key in arguments.solvers} | {
        f"{key}, bare": bake_ours(key, smooth=False) for key in bare
    }


def beside(row, size, methods, rounds):
    """Bake a scene with Blender's IK and each method in turn, `rounds` times over; return times and qualities."""
    import bpy

    every = {PEER: bake_blender} | methods
    times, found = {name: [] for name in every}, {}
    with scenes.extension():
        for _ in range(rounds):
            for name, method in every.items():
                empty_file()
                scene = row.make(*size)
                bpy.context.view_layer.update()
                collect()  # or a bake pays for what the one before has left
                times[name].append(method(scene, size[1]))
                if scene.skin:
                    bpy.data.objects.remove(scene.skin)
                if name not in found:
                    found[name] = quality(scene, size[1], blender=name == PEER)
    return {name: median(seconds) for name, seconds in times.items()}, found


def line_of(row, size, name, times, found):
    """A line of the table: one method beside Blender's IK."""
    peer, own = found[PEER], found[name]
    cells = [f"{size[0]} x {size[1]}", row.title, name]
    cells += [f"{times[each] * 1e3:.1f}" for each in (PEER, name)] + [f"{times[PEER] / times[name]:.2f}"]
    cells += [f"{each.reached}" for each in (peer, own)] + [f"{each.distance:.1e}" for each in (peer, own)]
    cells += [f"{each.turn:.1f}°" for each in (peer, own)] + [f"{each.jumps}" for each in (peer, own)]
    cells += [f"{each.outside:.2g}°" for each in (peer, own)]
    return f"| {' | '.join(cells)} |"


def run(arguments):
    """Each row at each of its sizes beside nla.bake, then what Blender has nothing like, in tables for the README."""
    import bpy

    beside_blender = [name for name in arguments.rows if name in ROWS]
    kept = {"blender": bpy.app.version_string, "rows": []}
    every_bound = bounds.ROWS | bounds.HIDDEN | {"together": bake_together.run}
    clock_of(arguments)
    if beside_blender:
        print(
            f"Blender {bpy.app.version_string}, rotation channels, medians of {arguments.rounds} interleaved rounds, "
            f"{'time of the processor' if arguments.processor else 'wall time'}; "
            f"distances / reach, reached within {WITHIN:g}\n\n{HEAD}\n{'|---' * HEAD.count(' |')}|",
            flush=True,
        )
    for name in beside_blender:
        for size in ROWS[name].sizes_for(arguments.sizes):
            times, found = beside(ROWS[name], size, methods_of(arguments), arguments.rounds)
            for method in methods_of(arguments):
                print(line_of(ROWS[name], size, method, times, found), flush=True)
            kept["rows"] += [
                {"row": name, "size": size, "method": method, "seconds": times[method], **found[method]._asdict()}
                for method in times
            ]
    for name in arguments.rows:
        if name in every_bound:
            kept[name] = every_bound[name](arguments)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(kept, indent=1), encoding="utf-8")


def sizes(text):
    """Bones and frames from a text such as 5x250."""
    bones, frames = map(int, text.split("x"))
    return bones, frames


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    rows = [*ROWS, "together", *bounds.ROWS]
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--solvers", nargs="+", default=["NATURAL"])
    parser.add_argument(
        "--rows",
        nargs="+",
        choices=[*rows, *bounds.HIDDEN],
        default=rows,
        metavar="ROW",
        help=f"default: {' '.join(rows)}",
    )
    parser.add_argument(
        "--sizes", nargs="+", type=sizes, metavar="BONESxFRAMES", help="in place of each row's own; arms have 3 bones"
    )
    parser.add_argument("--processor", action="store_true", help="time of the processor in place of that of the clock")
    parser.add_argument("--bare", action="store_true", help="also with No Jumps off")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well, to compare two versions")
    bounds.add_arguments(parser)
