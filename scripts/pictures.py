# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's pictures and films: those named in RENDERED and in WINDOWED.

python scripts/pictures.py [PICTURE ...] [--chroot FOLDER] [--output FOLDER]

All of them if none is named. Those RENDERED take minutes; those WINDOWED are files in
scripts/windowed/pictures and show the real Blender window. What these need is what scripts/window.py needs, and the
exit codes are the same.
"""

import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from environment import ROOT, enter
from window import add_chroot, play

RENDERED = (
    "demo",
    "before_after",
    "crouch",
    "tail",
    "reach",
    "handing",
    "terrain",
    "path",
    "farms",
    "postures",
    "jobs",
    "grasp",
    "follow",
)
WINDOWED = ("panel", "solvers", "surface", "flow")
FILMED = ("trail", "dragging", "first_minute")  # of the window as well, a folder of pictures each
KNOWN = RENDERED + WINDOWED + FILMED
WIDTH, RATE = 480, 10  # pixels of a film of the window, and its pictures a second


def main():
    parser = ArgumentParser(description="The documentation's pictures.")
    parser.add_argument("pictures", nargs="*", default=KNOWN, metavar="PICTURE", help=", ".join(KNOWN))
    parser.add_argument("--output", type=Path, default=ROOT / "docs", help="where to write; docs by default")
    add_chroot(parser)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.pictures) - set(KNOWN))
    if unknown:
        parser.error(f"no picture {', '.join(unknown)}; there are {', '.join(KNOWN)}")
    rendered = [name for name in arguments.pictures if name in RENDERED]
    windowed = [name for name in arguments.pictures if name not in RENDERED]
    enter("demo", "blender", "manual") if windowed else enter("demo")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in rendered:
        render(name, arguments.output)
    if windowed:
        show(windowed, arguments.chroot, arguments.output)
    print(f"Wrote {arguments.output}")


def render(name, output):
    """Render pictures of scenes made for them."""
    import bpy
    from demo import bake_all, make_scene
    from stage import buttons, cat, farm, film, following, grasping, handing, job_sheet, path, peers, terrain

    import ik_triangulation

    ik_triangulation.register()
    try:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        if name == "before_after":
            peers.move(output / "before_after.webp")
        elif name == "crouch":
            peers.crouch(output / "crouch.webp")
        elif name == "tail":
            cat.move(output / "tail.webp")
        elif name == "reach":
            buttons.move(output / "reach.webp")
        elif name == "handing":
            handing.move(output / "handing.webp")
        elif name == "grasp":
            grasping.move(output / "grasp.webp")
        elif name == "follow":
            following.move(output / "follow.webp")
        elif name == "terrain":
            terrain.move(output / "terrain.webp")
        elif name == "path":
            path.move(output / "path.webp")
        elif name == "farms":
            farm.picture(output / "farms.png")
        elif name == "postures":
            peers.picture(output / "postures.png")
        elif name == "jobs":
            job_sheet.sheet(output / "jobs.webp")
        else:
            actors = make_scene()
            bake_all(actors)
            film.set_up(actors)
            film.move(output / "demo.webp")
    finally:
        ik_triangulation.unregister()  # Blender 4.5 crashes when it ends with a command line still registered


def show(names, chroot, output):
    """Take pictures of the real window."""
    modules = [f"scripts.windowed.pictures.{name}" for name in names]
    with TemporaryDirectory() as made:
        failed = play(modules, chroot, Path(made))
        if failed:
            kept = shutil.copytree(made, ROOT / "dist/pictures", dirs_exist_ok=True)
            sys.exit(f"Failed: {', '.join(failed)}; what there is of the pictures is in {kept}")
        for name in set(names) & set(FILMED):
            write_film(Path(made, name), output / f"{name}.webp")
            shutil.rmtree(Path(made, name))
        shutil.copytree(made, output, dirs_exist_ok=True)


def write_film(folder, file):
    """Write the pictures of a folder as an animated one."""
    from PIL import Image

    images = []
    for path in sorted(folder.glob("*.png")):
        with Image.open(path) as image:
            images.append(image.convert("RGB").resize((WIDTH, round(image.height * WIDTH / image.width))))
    images[0].save(file, save_all=True, append_images=images[1:], duration=1000 // RATE, loop=0, quality=60, method=6)


if __name__ == "__main__":
    main()
