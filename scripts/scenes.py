# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of the manual's films as files to open in Blender, with limbs and targets to press Bake for again.

python scripts/scenes.py [FOLDER] [SCENE ...]     (dist/scenes and all of them, when left out)

Each is baked; how far the ends are from their targets is printed.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path

from environment import ROOT, enter

SCENES = ("cup", "cloth", "step", "crate", "tail", "buttons", "handing", "path", "terrain")
ACTS = {"cup": "Reach", "cloth": "Wipe", "step": "Lift", "crate": "Crouch"}  # those of the film at the manual's begin


def main():
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist" / "scenes", metavar="FOLDER")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=", ".join(SCENES))
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.scenes) - set(SCENES))
    if unknown:
        parser.error(f"no scene {', '.join(unknown)}; there are {', '.join(SCENES)}")
    enter("demo")
    import bpy  # noqa: F401  # first: mathutils is not found before it

    import ik_triangulation

    arguments.folder.mkdir(parents=True, exist_ok=True)
    ik_triangulation.register()  # the settings on the bones
    try:
        reached = [write(name, arguments.folder) for name in arguments.scenes or SCENES]
    finally:
        ik_triangulation.unregister()  # Blender 4.5 crashes when it ends with a command line still registered
    sys.exit(0 if all(reached) else 1)


def write(name, folder):
    """Write the file of a scene, and print what its bakes say; whether they reach everywhere."""
    import bpy
    from benchmarks.scenes import silent
    from stage import props

    with silent():  # add-ons and operators print
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        props.studio()
        reports = make(name)
        bpy.context.scene.frame_set(1)
        file = (folder / f"{name}.blend").resolve()
        bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True, compress=True)
    # of a limb `reached` is the number of frames
    reached = all(each.all_reached if hasattr(each, "all_reached") else each.reached for each in reports)
    print(f"{file}: {'reached at every frame' if reached else 'not reached everywhere'}", flush=True)
    return reached


def make(name):
    """Make a scene, baked; returns the reports of its bakes."""
    from demo import bake_all, make_scene
    from stage import buttons, cat, handing, path, terrain

    if name in ACTS:
        return [each.report for each in bake_all(make_scene(ACTS[name]))]
    if name == "tail":
        return [cat.make()]
    if name == "buttons":
        return [buttons.make()]
    if name == "handing":
        return handing.make()[0]
    if name == "path":
        return [path.edit(path.make()[1])]
    return [terrain.stand(*terrain.make())]


if __name__ == "__main__":
    main()
