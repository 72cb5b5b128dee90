# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the manual from docs/ with Sphinx. The same pages are the web manual and ship with the extension.

python scripts/manual.py [FOLDER]     (ik_triangulation/pages, when left out) prints the path of the first page

A link or a picture that leads nowhere is an error. The pages need no server: search works in them as files, too.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from environment import enter

ROOT = Path(__file__).resolve().parent.parent
DOCS, PAGES = ROOT / "docs", ROOT / "ik_triangulation" / "pages"
NEEDLESS = ".buildinfo", "objects.inv", "_static/**/*.map"  # for Sphinx, other manuals, and who debugs the theme


def make(folder: Path = PAGES) -> Path:
    """Write all pages to a folder; returns the path of the first. What is in PAGES before is deleted."""
    if folder == PAGES:
        shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as trees:
        command = [sys.executable, "-m", "sphinx", "-qWE", "--keep-going", "-b", "html", "-d", trees, DOCS, folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"The manual has faults:\n{done.stdout}")
    for pattern in NEEDLESS:
        for file in folder.glob(pattern):
            file.unlink()
    return folder / "index.html"


def main() -> None:
    enter("manual")
    try:
        print(make(*map(Path, sys.argv[1:2])))
    except (OSError, RuntimeError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
