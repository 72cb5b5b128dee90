# SPDX-License-Identifier: GPL-3.0-or-later
"""Every table and figure of the source papers, done again: writes papers.md and papers/*.png.

python scripts/papers.py [FOLDER] [--quick] [--numbers]

FOLDER is docs by default. The exit code is 1 if something that is to hold does not.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path

from environment import ROOT, enter


def main():
    parser = ArgumentParser(description="Every table and figure of the source papers, done again.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs", help="where to write; docs by default")
    parser.add_argument("--quick", action="store_true", help="few targets and small maps, in seconds")
    parser.add_argument("--numbers", action="store_true", help="without the pictures, which need matplotlib")
    arguments = parser.parse_args()
    enter("blender" if arguments.numbers else "demo")
    import bpy  # noqa: F401  # first: mathutils is not found before it
    from reproduce.document import write

    claims = write(arguments.folder, arguments.quick, not arguments.numbers)
    for claim in claims:
        print(f"{'holds' if claim.holds else 'FAILS'}  {claim.text}")
    print(f"Wrote {arguments.folder / 'papers.md'}")
    sys.exit(0 if all(claim.holds for claim in claims) else 1)


if __name__ == "__main__":
    main()
