# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the manual from docs/ with Sphinx. The same pages are the web manual and ship with the extension.

python scripts/manual.py [FOLDER]     (ik_triangulation/pages, when left out) prints the path of the first page

A link or a picture that leads nowhere is an error. The pages need no server: search works in them as files, too. Pages
that ship leave the films and the figures of the papers to the web, so that the zip stays small, and have no script of
the theme, which is minified: extensions ship source. The theme's switches that need it are not there either.
"""

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from environment import enter

ROOT = Path(__file__).resolve().parent.parent
DOCS, PAGES = ROOT / "docs", ROOT / "ik_triangulation" / "pages"
NEEDLESS = ".buildinfo", "objects.inv", "_static/**/*.map"  # for Sphinx, other manuals, and who debugs the theme
MINIFIED = ("_static/scripts/*",)  # docs/conf.py takes out what loads them
SWITCH = re.compile(r'\s*<div class="theme-toggle-container.*?</div>', re.DOTALL)
ICON = re.compile(r'\s*<symbol id="svg-(?:sun|moon|pencil|eye).*?</symbol>', re.DOTALL)
STEMMERS = "base-stemmer.js", "english-stemmer.js"  # of the search, in _static, not minified


def make(folder: Path = PAGES, shipped: bool = False) -> Path:
    """Write all pages to a folder; returns the path of the first. What is in PAGES before is deleted; PAGES ship.

    PAGES change places with the new ones at the end: two runs of the tests may make them at once.
    """
    if folder == PAGES:
        (ROOT / "dist").mkdir(exist_ok=True)  # nothing collects files there
        with TemporaryDirectory(dir=ROOT / "dist", prefix="pages-") as aside:
            new, old = Path(aside, "new"), Path(aside, "old")
            make(new, shipped=True)
            with suppress(FileNotFoundError):
                PAGES.rename(old)
            with suppress(OSError):  # another run was quicker, with the same pages
                new.rename(PAGES)
        return PAGES / "index.html"
    with TemporaryDirectory() as trees:
        command = [sys.executable, "-m", "sphinx", "-qWE", "--keep-going", "-b", "html", "-d", trees]
        command += [*(["-t", "shipped"] if shipped else []), DOCS, folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"The manual has faults:\n{done.stdout}")
    for pattern in (*NEEDLESS, *(MINIFIED if shipped else ())):
        for file in folder.glob(pattern):
            file.unlink()
    if shipped:
        _read_stemmers(folder / "_static")
        for page in folder.glob("*.html"):
            page.write_text(ICON.sub("", SWITCH.sub("", page.read_text(encoding="utf-8"))), encoding="utf-8")
    return folder / "index.html"


def _read_stemmers(static: Path) -> None:
    """Put the stemmers' source into language_data.js, where Sphinx has them minified. Raises RuntimeError where it
    has not what is looked for."""
    data = static / "language_data.js"
    words, found, rest = data.read_text(encoding="utf-8").partition("BaseStemmer=function")
    last = "window.Stemmer = EnglishStemmer;"
    if not found or last not in rest:
        raise RuntimeError(f"{data} is not as Sphinx wrote it before: see whether its stemmers are still minified")
    sources = [static / name for name in STEMMERS]
    data.write_text("\n".join([words, *(each.read_text(encoding="utf-8") for each in sources), last, ""]), "utf-8")
    for each in sources:
        each.unlink()


def main() -> None:
    enter("manual")
    try:
        print(make(*map(Path, sys.argv[1:2])))
    except (OSError, RuntimeError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
