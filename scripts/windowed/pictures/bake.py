# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's arm after a bake, played: an animated picture."""

import subprocess
import sys
from math import radians
from pathlib import Path

import bpy

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import ball, bare, look_at, paint, square

sys.path.append(str(Path(__file__).resolve().parents[2]))  # the demo imports its neighbours
from demo import ARM, FRAMES, make_scene

STEP = 3  # frames from one picture to the next
SIDE = 320  # pixels
LOOP = ("-loop", "0", "+dither", "-colors", "48", "+remap", "-layers", "OptimizeTransparency")


def script() -> Steps:
    clear()
    rig, cup = make_scene()
    ball(cup, 0.035)
    rig.show_in_front = True
    paint(rig, *ARM)
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[ARM[-1]]
    tip = rig.pose.bones[ARM[-1]].ik_triangulation
    tip.target, tip.chain_count, tip.smooth = cup, len(ARM), True
    bpy.ops.pose.ik_triangulation_bake()
    for bone in rig.pose.bones:
        bone.select = False
    bare()
    yield 1.0  # the viewport is larger then
    look_at((0.25, 0.0, 1.35), 1.05, radians(30.0))
    yield 0.5
    frames = []
    for frame in range(1, FRAMES + 1, STEP):
        bpy.context.scene.frame_set(frame)
        yield 0.1
        frames.append(str(square(f"frame-{frame:03}", SIDE)))
    delay = str(round(100 * STEP / bpy.context.scene.render.fps))
    subprocess.run(["magick", "-delay", delay, *frames, *LOOP, str(screen.output / "bake.gif")], check=True)
    for file in frames:
        Path(file).unlink()
