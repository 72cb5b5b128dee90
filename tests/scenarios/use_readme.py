# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the Python of a document, as test_readme.py asks for it in a Blender of its own.

The words after `--`: the document, a .blend file to run it on and, for an extension that is to be installed, its zip
and the repository. Without these two the package is imported from a checkout, before anything of Blender is.
"""

import os
import re
import sys
import traceback
from pathlib import Path

DOCUMENT, SHOT, *ZIP = sys.argv[sys.argv.index("--") + 1 :]
BLOCKS = re.findall(r"```python\n(.*?)```", Path(DOCUMENT).read_text("utf-8"), re.DOTALL)
FROM_CHECKOUT, FROM_EXTENSION, CODE = BLOCKS[:3]
names = {}
if not ZIP:
    exec(FROM_CHECKOUT, names)

import bpy  # noqa: E402  what has just run has to find Blender by itself


def install(archive, repository):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    repositories = bpy.context.preferences.extensions.repos
    if repository not in [each.module for each in repositories]:
        repositories.new(name="Studio's Own", module=repository)
    bpy.ops.extensions.package_install_files(
        filepath=archive, directory=str(Path(archive).parent), repo=repository, enable_on_install=True
    )


def largest_distance(rig, tip, target):
    """Distance of the tip that Blender shows from the target, at most [Blender units]."""
    scene, distances = bpy.context.scene, []
    for frame in range(1, 121):
        scene.frame_set(frame)
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place = shown.matrix_world @ shown.pose.bones[tip].tail
        distances.append((place - target.matrix_world.translation).length)
    return max(distances)


def main(archive="", repository=""):
    if archive:
        install(archive, repository)
        exec(FROM_EXTENSION.replace(".user_default.", f".{repository}."), names)
    bpy.ops.wm.open_mainfile(filepath=SHOT)
    assert hasattr(bpy.types.PoseBone, "ik_triangulation") == bool(archive), "a script registers nothing"
    exec(CODE, names)
    assert names["report"].all_reached
    assert largest_distance(names["rig"], "hand.L", names["cup"]) < 2e-3
    print("imported from", names["bake"].__module__)


failed = False
try:
    main(*ZIP)
except BaseException:
    traceback.print_exc()
    failed = True
for stream in (sys.stdout, sys.stderr):
    stream.flush()
os._exit(failed)  # Blender 4.5 as a module hangs when it ends with an extension enabled
