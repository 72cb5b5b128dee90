# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that is saved and opened again holds the same pose, keys and settings, and can be worked on."""

from pathlib import Path
from tempfile import TemporaryDirectory

import bpy

from scripts.windowed.inside import buttons, screen, wait
from scripts.windowed.inside.scene import chain, distance, rig
from tests.rigs import contents

SETTINGS = {"solver": "CCD", "chain_count": 3, "tolerance": 0.002, "iterations": 77, "smooth": True}


def script():
    chain(**SETTINGS)
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    before = contents()
    with TemporaryDirectory() as folder:
        file = str(Path(folder, "reopened.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=file)
        bpy.ops.wm.read_homefile()
        yield 1.0
        assert "Rig" not in bpy.data.objects
        bpy.ops.wm.open_mainfile(filepath=file)
        yield 1.0
    after = contents()
    assert after == before, {name for name in before | after if before.get(name) != after.get(name)}
    limb = rig().pose.bones[-1].ik_triangulation
    assert limb.target == bpy.data.objects["Target"]
    assert {name: getattr(limb, name) for name in SETTINGS} == {**SETTINGS, "tolerance": limb.tolerance}

    yield from screen.sidebar()
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].location = 0.5, 0.5, 2.0
    yield from buttons.press("pose.ik_triangulation_solve")
    assert distance() < SETTINGS["tolerance"], distance()
    screen.picture("reopen")
