# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bake benchmark measures of ours alone: many bones, many limbs, targets out of reach, and scaled rigs.

There is no peer whose time could be set against ours in the same run, so times are those of the processor, which depend
less on what else the machine does.
"""

import subprocess
import sys
from contextlib import suppress
from gc import collect
from math import cos, sin
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from . import reach, scaled
from .scenes import REACH, Scene, empty_file, extension, make_chain, make_target, silent

LIMBS = 60
BONES_OF_LIMB = 3
ROUND = 240  # frames of the way of a target that leaves the range of a limited chain
AWAY = 0.75, 0.35  # of the reach: that way's mean distance from the root, and what it swings by
TOO_LONG = 600  # seconds after which a bake in a process of its own is ended
SCRIPT = Path(__file__).resolve().parent.parent / "benchmark.py"


def many_bones(arguments):
    """Time and peak memory of one long bake, each in a fresh process, as memory that was once used stays."""
    print(
        "\n| Bones x frames | Solver | Time, s | CPU, s | Memory before, MB | Peak, MB | Reached |\n"
        "|---|---|---|---|---|---|---|"
    )
    kept = []
    for bones, frames in arguments.many:
        for solver in arguments.solvers:
            command = [sys.executable, str(SCRIPT), "bake", "--rows", "alone", "--sizes", f"{bones}x{frames}"]
            try:
                done = subprocess.run(
                    [*command, "--solvers", solver], capture_output=True, text=True, timeout=TOO_LONG, check=True
                )
                cells = done.stdout.splitlines()[-1].split()
            except subprocess.TimeoutExpired:
                cells = [f"over {TOO_LONG}", "", "", "", ""]
            print(f"| {bones} x {frames} | {solver} | {' | '.join(cells)} |", flush=True)
            kept.append([bones, frames, solver, *cells])
    return kept


@extension()
def alone(arguments):
    """Bake one chain once and print seconds, CPU seconds, memory before and at the peak [MB], and frames reached."""
    import bpy

    from ik_triangulation.ui.last_result import latest

    from .bake import set_up

    (bones, frames), solver = arguments.sizes[0], arguments.solvers[0]
    empty_file()
    scene = Scene(make_chain(bones), bones, make_target(frames))
    tip = set_up(scene, solver=solver)
    bpy.context.view_layer.update()
    before = peak_memory()
    started, worked = perf_counter(), process_time()
    with silent():
        bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=frames)
    took, worked = perf_counter() - started, process_time() - worked
    print(f"{took:.2f} {worked:.2f} {before:.0f} {peak_memory():.0f} {latest(scene.ob, tip.name).report.reached}")


def peak_memory():
    """The most memory [MB] that this process has had so far.

    On Linux getrusage() counts that of the process which started it as well.
    """
    with suppress(FileNotFoundError):
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def make_limbs(count, frames):
    """An armature of `count` limbs of three bones each and a keyed target for each of them; returns their tips."""
    import bpy

    empty_file()
    ob = make_chain(BONES_OF_LIMB)
    length = REACH / BONES_OF_LIMB
    bpy.ops.object.mode_set(mode="EDIT")
    edit, limbs = ob.data.edit_bones, [[bone.name for bone in ob.data.bones]]
    for n in range(1, count):
        names, parent = [], None
        for i in range(BONES_OF_LIMB):
            bone = edit.new(f"limb_{n:02}_{i}")
            head = parent.tail.copy() if parent else (2.0 * REACH * n, 0.0, 0.0)
            bone.head, bone.tail = head, (head[0], head[1] + length, head[2] + 0.02 * i * length)
            bone.parent, bone.use_connect = parent, parent is not None
            names.append(bone.name)
            parent = bone
        limbs.append(names)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    tips = []
    for n, names in enumerate(limbs):
        target = make_target(frames)
        target.delta_location = 2.0 * REACH * n, 0.0, 0.0
        tips.append(ob.pose.bones[names[-1]])
        stored = tips[-1].ik_triangulation
        stored.target, stored.chain_count, stored.tolerance = target, BONES_OF_LIMB, 1e-4 * REACH
        stored.use_scene_range, stored.frame_start, stored.frame_end = False, 1, frames
    bpy.context.view_layer.update()
    return tips


@extension()
def many_limbs(arguments):
    """The limbs of one armature in one press of Bake All, beside a bake of one limb in a scene of its own."""
    import bpy

    from ik_triangulation.ui.last_result import latest

    frames, times, reached = 250, {1: [], LIMBS: []}, {}
    make_limbs(1, frames)
    with silent():
        bpy.ops.pose.ik_triangulation_bake_all()  # the first bake of a process imports
    for _ in range(arguments.rounds):
        for count, taken in times.items():
            tips = make_limbs(count, frames)
            collect()  # or a bake pays for what the one before has left
            started = process_time()
            with silent():
                bpy.ops.pose.ik_triangulation_bake_all()
            taken.append((process_time() - started) / count)
            reached[count] = sum(latest(tip.id_data, tip.name).report.reached for tip in tips)
    one, many = (median(taken) * 1e3 for taken in times.values())
    print(
        "\n| Limbs x bones x frames | One limb alone, CPU ms | Of many, CPU ms each | Ratio | Reached |\n"
        "|---|---|---|---|---|"
    )
    size = f"{LIMBS} x {BONES_OF_LIMB} x {frames}"
    print(f"| {size} | {one:.1f} | {many:.1f} | {many / one:.2f} | {reached[LIMBS]} of {LIMBS * frames} |", flush=True)
    return {"one": one, "each": many, "reached": reached[LIMBS]}


def leaving_target(ob, bones):
    """An empty keyed along a smooth way that limited bones can follow only in part, in their plane if they have one."""
    import bpy
    from mathutils import Vector

    base, length = ob.data.bones[bones[0]].head_local, sum(ob.data.bones[bone].length for bone in bones)
    planar = all(ob.pose.bones[bone].lock_ik_y and ob.pose.bones[bone].lock_ik_z for bone in bones)

    empty = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in range(1, ROUND + 1, 8):
        t = frame / 24.0
        r = length * (AWAY[0] + AWAY[1] * sin(0.83 * t))
        a, b = 0.91 * t, 0.9 * sin(0.47 * t)
        place = Vector((0.0, cos(a), sin(a)) if planar else (sin(a) * cos(b), cos(a) * cos(b), sin(b)))
        empty.location = ob.matrix_world @ (base + r * place)
        empty.keyframe_insert("location", frame=frame)
    return empty


@extension()
def out_of_reach(arguments):
    """Limited chains that follow a target which leaves their range; which frames are reached goes into the JSON."""
    import bpy

    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.rig.limb import Limb

    print(
        "\n| Chain | Solver | Out of reach, frames | CPU ms a frame | Reached | Mean distance / reach |\n"
        "|---|---|---|---|---|---|"
    )
    kept = []
    for name, ob, bones in reach.chains():
        for bone in bones:
            ob.pose.bones[bone].rotation_mode = "QUATERNION"
        bpy.context.view_layer.update()
        length = sum(ob.data.bones[bone].length for bone in bones)
        target = leaving_target(ob, bones)
        bpy.context.view_layer.update()
        for solver in arguments.solvers:
            limb = Limb.from_tip(ob, bones[-1], target, len(bones), solver=solver, tolerance=1e-3 * length)
            started = process_time()
            report = bake(limb, 1, ROUND)
            took = (process_time() - started) / ROUND * 1e3
            mean = sum(frame.error for frame in report.frames) / ROUND / length
            cells = [name, solver, ROUND - report.reached, f"{took:.2f}", report.reached, f"{mean:.4f}"]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
            missed = set(report.missed)
            kept.append([name, solver, took, mean, [n for n in range(1, ROUND + 1) if n not in missed]])
            ob.animation_data_clear()
            for bone in bones:
                ob.pose.bones[bone].rotation_quaternion = 1.0, 0.0, 0.0, 0.0
    return kept


ROWS = {"many": many_bones, "limbs": many_limbs, "out-of-reach": out_of_reach, "scale": scaled.rigs}
HIDDEN = {"alone": alone}  # what `many` starts in processes of their own


def add_arguments(parser):
    """Add the arguments of these rows to the command line."""
    from .bake import sizes

    parser.add_argument("--many", nargs="+", type=sizes, default=[(100, 10_000)], metavar="BONESxFRAMES")
    parser.add_argument("--rigs", type=int, default=104, help="random rigs with keyed scale, of 40 frames each")
