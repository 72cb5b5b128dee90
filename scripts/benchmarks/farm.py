# SPDX-License-Identifier: GPL-3.0-or-later
"""Shots that one machine bakes in an hour, in lists and one by one: Rigify's human with five limbs.

Hands, feet and head follow the empties that Add Limb makes, keyed at every frame of a dance of the same rig. Measured
is the processor time of a whole run of the command line, from its start to the saved file, beside that of a run that
stops at a missing file, and beside the share of a shot in a list. There is no peer.
"""

import json
import os
import shutil
import subprocess
import sys
from math import sin
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from environment import ROOT

TIPS = "hand.L", "hand.R", "foot.L", "foot.R", "spine.006"
MOVES = {  # bend and swing about X [rad]
    "upper_arm": (0.0, 0.35),
    "forearm": (0.7, 0.4),
    "hand": (0.0, 0.2),
    "thigh": (-0.5, 0.3),
    "shin": (0.7, 0.4),
    "foot": (0.0, 0.15),
    "spine.005": (0.0, 0.15),
    "spine.006": (0.0, 0.15),
}
HINGES = "forearm", "shin"


def run(arguments):
    """Print the seconds that a shot and a start take, and the shots of an hour."""
    with TemporaryDirectory() as folder:
        shot = Path(folder, "shot.blend")
        size = _save(shot, arguments.frames, arguments.beyond)
        output = ["--all", "--accept-misses", "--output", f"{folder}/baked.blend", "--json", f"{folder}/baked.json"]
        _seconds("bake", [shot, *output], 0)  # the first reads Blender itself from the disk
        shots, starts = [], []
        for _ in range(arguments.rounds):
            shots.append(_seconds("bake", [shot, *output], 0))
            starts.append(_seconds("bake", [Path(folder, "missing.blend"), *output[:-2]], 1))
        names = [f"{number}.blend" for number in range(arguments.list)]
        for name in names:
            shutil.copy(shot, Path(folder, name))
        Path(folder, "shots.txt").write_text("\n".join(names), encoding="utf-8")
        listed = [f"{folder}/shots.txt", "--all", "--accept-misses", "--output", f"{folder}/list"]
        in_list = _seconds("bake-list", listed, 0) / len(names)
        found = json.loads(Path(folder, "baked.json").read_text(encoding="utf-8"))["limbs"]
    reached, due = (sum(limb[key] for limb in found) for key in ("reached", "due"))
    cores = os.cpu_count() or 1
    whole, start = median(shots), median(starts)
    limbs = f"{len(TIPS)} limbs, {arguments.frames} frames, {size / 1e6:.1f} MB, reached {reached} of {due}"
    print(f"{limbs}: {whole:.2f} s, of them {start:.2f} s to start")
    for name, seconds in (("one by one", whole), (f"in lists of {arguments.list}", in_list)):
        print(f"{name}: {3600 / seconds:.0f} shots an hour and core, {cores * 3600 / seconds:.0f} with {cores} cores")
    print(f"a list is {whole / in_list:.1f} times as fast, with {in_list:.2f} s a shot")


def _save(path, frames, beyond=0.0):
    """Save a shot whose targets are farther from the hips by a share of their distance; returns its size in bytes."""
    import bpy
    from stage.acts import press_plus
    from stage.body import make_body

    import ik_triangulation
    from tests.rigs import PROPERTIES

    bpy.ops.wm.read_factory_settings(use_empty=True)
    ik_triangulation.register()
    scene, rig = bpy.context.scene, make_body()
    scene.frame_start, scene.frame_end = 1, frames
    targets = {tip: press_plus(rig, tip) for tip in TIPS}
    ends = {tip: rig.pose.bones[tip].matrix.inverted() @ target.matrix_world for tip, target in targets.items()}
    hips = rig.pose.bones["spine"].head.copy()
    for frame in range(1, frames + 1):
        _move(rig, frame)
        for tip, target in targets.items():
            target.matrix_world = rig.pose.bones[tip].matrix @ ends[tip]
            target.location += beyond * (target.location - hips)
            target.keyframe_insert("location", frame=frame)
            target.keyframe_insert(PROPERTIES.get(target.rotation_mode, "rotation_euler"), frame=frame)
    for bone in rig.pose.bones:
        bone.rotation_quaternion.identity()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    ik_triangulation.unregister()
    return path.stat().st_size


def _move(rig, frame):
    """Pose arms, legs and neck as in a slow dance, within their limits."""
    import bpy
    from mathutils import Euler

    for number, (name, (bend, swing)) in enumerate(MOVES.items()):
        for side in ("L", "R"):
            bone = rig.pose.bones.get(f"{name}.{side}") or rig.pose.bones[name]
            phase = 0.06 * frame + number + (1.5 if side == "R" else 0.0)
            turn = Euler((bend + swing * sin(phase), 0.0, 0.4 * swing * sin(0.7 * phase) * (name not in HINGES)))
            bone.rotation_quaternion = turn.to_quaternion()
    bpy.context.view_layer.update()


def _seconds(command, words, code):
    """Run a command and return its processor time [s], that of the system included."""
    # On a farm the code is compiled once, when it first runs.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "ik_triangulation", command, *map(str, words)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != code:
        sys.exit(done.stdout)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--list", type=int, default=50, help="shots in the list")
    parser.add_argument("--beyond", type=float, default=0.0, help="share by which the targets are farther away")
