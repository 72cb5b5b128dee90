# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation's pictures of the real Blender window: docs/panel.png, docs/bake.gif and docs/solvers/*.png.

python scripts/pictures.py [PICTURE ...] [--chroot FOLDER] [--output FOLDER]

A picture is a file in scripts/windowed/pictures; all of them if none is named. What it needs is what scripts/window.py
needs, and the exit codes are the same.
"""

import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from environment import ROOT, enter
from window import add_chroot, play

KNOWN = ("bake", "panel", "solvers")


def main():
    parser = ArgumentParser(description="The documentation's pictures of the real Blender window.")
    parser.add_argument("pictures", nargs="*", default=KNOWN, metavar="PICTURE", help=", ".join(KNOWN))
    parser.add_argument("--output", type=Path, default=ROOT / "docs", help="where to write; docs by default")
    add_chroot(parser)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.pictures) - set(KNOWN))
    if unknown:
        parser.error(f"no picture {', '.join(unknown)}; there are {', '.join(KNOWN)}")
    enter("blender")
    modules = [f"scripts.windowed.pictures.{name}" for name in arguments.pictures]
    with TemporaryDirectory() as made:
        failed = play(modules, arguments.chroot, Path(made))
        if failed:
            kept = shutil.copytree(made, ROOT / "dist/pictures", dirs_exist_ok=True)
            sys.exit(f"Failed: {', '.join(failed)}; what there is of the pictures is in {kept}")
        shutil.copytree(made, arguments.output, dirs_exist_ok=True)
    print(f"Wrote {arguments.output}")


if __name__ == "__main__":
    main()
