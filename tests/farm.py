# SPDX-License-Identifier: GPL-3.0-or-later
"""Shots for a farm, and how it starts the command line in Blender. Imported inside of Blender's window as well."""

from pathlib import Path
from textwrap import dedent

import bpy

from .rigs import chain_rig, configure, empty, key_location

FARMS = Path(__file__).resolve().parent.parent / "scripts/farms"
TEMPLATE, JOB_TYPE, SUMMARY = FARMS / "bake_shots.yaml", FARMS / "ik_triangulation_bake.js", FARMS / "summary.py"

# After the name of the Blender program. Its preferences are not read, so the extension is named.
START = ["-b", "--factory-startup", "--addons", "bl_ext.user_default.ik_triangulation", "--command", "ik_triangulation"]
FLAMENCO_START = ["-b", "-y", *START[1:]]  # with Flamenco's own arguments

SHOTS = ("sq010/reached.blend", "missed.blend", "broken.blend")
NAMES = ("sq010/reached", "missed", "broken")  # of their output
MISSED = "The target is missed at frames 2 to 4."


def save_shots(folder: Path) -> None:
    """Save three shots and the list of them: a target that is reached, one that leaves the reach, and no .blend file.

    They are made in the present file, which has no objects.
    """
    (folder / "sq010").mkdir(parents=True)
    rig, target = chain_rig(4), key_location(empty(), range(1, 42, 4))
    configure(rig, "Bone 3", target=target, chain_count=3)
    bpy.context.scene.frame_end = 6
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / SHOTS[0]))
    for frame in (3, 4):
        target.location.z = 90.0
        target.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / SHOTS[1]))
    (folder / SHOTS[2]).write_text("no .blend file")
    (folder / "shots.txt").write_text("\n".join(SHOTS))


def worker_script() -> str:
    """Return the Python script in the template of Open Job Description, which is the last thing in it."""
    return dedent(TEMPLATE.read_text(encoding="utf-8").partition(" data: |\n")[2])
