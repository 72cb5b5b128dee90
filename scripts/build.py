# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zip with its manual, validate it with Blender's own tool, check that it holds what ships.

python scripts/build.py [--release] [OUTPUT_DIR]     (dist, when left out) prints the path of the zip

One commit gives one zip, bit for bit: all files carry the date of the commit, in the order of their names. With
--release it is an error if the manifest has no `website`, the changelog no section for the version, or the clone has
changes that are not committed; `index.json` beside the zip makes the folder a repository that Blender installs from.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from environment import enter
from manual import make as make_manual

ROOT = Path(__file__).resolve().parent.parent
BESIDE = {"blender_manifest.toml", "__init__.py", "LICENSE"}
JUNK = re.compile(r"\.|__pycache__$|.*\.(py[co]|blend[1-9])$")


def build(out: Path, release: bool = False) -> Path:
    """The built, valid zip in the folder `out`. Raises RuntimeError where a release lacks something."""
    import tomllib  # here, so that an older Python gets as far as environment.py's advice

    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    if release:
        _require_release(manifest)
    make_manual()
    archive = out.resolve() / f"{manifest['id']}-{manifest['version']}.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    tool, tags = _tool()
    _run([*tool, "build", "--source-dir", str(ROOT), "--output-filepath", str(archive), *tags])
    _pack_again(archive, _date())
    _run([*tool, "validate", *tags, str(archive)])
    _check(archive)
    if release:
        _run([*tool, "server-generate", "--repo-dir", str(archive.parent)])
    return archive


def _require_release(manifest: dict) -> None:
    """Raise RuntimeError with all that a release lacks."""
    lacking = []
    if not manifest.get("website"):
        lacking.append("blender_manifest.toml has no `website`: fill in the address of the manual")
    if not re.search(
        rf"^## {re.escape(manifest['version'])}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    ):
        lacking.append(f"CHANGELOG.md has no section `## {manifest['version']}`: name what is unreleased so")
    if _git("status", "--porcelain").strip():
        lacking.append("there are changes that are not committed: commit them or put them away")
    if lacking:
        raise RuntimeError("; ".join(lacking))


def _git(*words: str, **variables: str) -> str:
    """What git prints, with these variables added to its environment."""
    command = ["git", "-c", "safe.directory=*", *words]  # the clone may belong to somebody else, as on a CI machine
    env = {**os.environ, **variables}
    return subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def _date() -> "tuple[int, ...]":
    """Year, month, day, hour, minute and second [UTC] of SOURCE_DATE_EPOCH, else of the commit, else of 1980, the first
    that a zip can have."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        seconds = int(epoch or _git("log", "-1", "--format=%ct"))
    except (OSError, ValueError, subprocess.CalledProcessError):  # a folder without git
        return 1980, 1, 1, 0, 0, 0
    return tuple(time.gmtime(seconds)[:6])


def _pack_again(archive: Path, date: "tuple[int, ...]") -> None:
    """Write the zip anew such that nothing in it depends on the clock, the disk or who builds."""
    with ZipFile(archive) as file:
        held = {name: file.read(name) for name in file.namelist() if not name.endswith("/")}
    with ZipFile(archive, "w") as file:
        for name in sorted(held):
            info = ZipInfo(name, date)
            info.create_system, info.external_attr, info.compress_type = 3, 0o644 << 16, ZIP_DEFLATED
            file.writestr(info, held[name], compresslevel=9)


def source_archive(out: Path, folder: str = "any-name-main") -> Path:
    """A zip of the source in the folder `out`, as sites make it for *Download ZIP*: of this working tree, in one folder
    of any name. Raises CalledProcessError or OSError where there is no clone or no git."""
    objects = _git("rev-parse", "--path-format=absolute", "--git-path", "objects").strip()
    archive = out.resolve() / f"{folder}.zip"
    with TemporaryDirectory() as own:  # index and objects, so that the repository stays as it is
        aside = {"GIT_INDEX_FILE": f"{own}/index", "GIT_OBJECT_DIRECTORY": own}
        aside["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects
        _git("add", "--all", **aside)
        tree = _git("write-tree", **aside).strip()
        _git("archive", "--format=zip", f"--prefix={folder}/", f"--output={archive}", tree, **aside)
    return archive


def _blender() -> "str | None":
    running = sys.modules["bpy"].app.binary_path if "bpy" in sys.modules else ""  # empty in the Python module
    return running or shutil.which("blender")


def _tool() -> "tuple[list[str], list[str]]":
    """The command that Blender builds extensions with, and its option that names the known tags."""
    blender = _blender()
    if blender:
        return [blender, "--factory-startup", "--command", "extension"], []
    spec = importlib.util.find_spec("bpy")  # looks for it without importing it, which takes seconds
    if spec is None:
        raise FileNotFoundError("no `blender` on PATH and no bpy in this Python")
    (scripts,) = Path(spec.origin).parent.glob("*/scripts")
    tags = scripts / "modules/_bpy_internal/extensions/tags.py"
    return [sys.executable, str(scripts / "addons_core/bl_pkg/cli/blender_ext.py")], ["--valid-tags", str(tags)]


def _run(command: "list[str]") -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"{done.stdout}\n{' '.join(command)} ended with {done.returncode}")


def _check(archive: Path) -> None:
    package = (path.relative_to(ROOT) for path in (ROOT / "ik_triangulation").rglob("*") if path.is_file())
    expected = BESIDE | {path.as_posix() for path in package if not any(map(JUNK.match, path.parts))}
    with ZipFile(archive) as file:
        found = {name for name in file.namelist() if not name.endswith("/")}
    if found != expected:
        raise RuntimeError(f"{archive} lacks {sorted(expected - found)} and should not hold {sorted(found - expected)}")


def main() -> None:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", metavar="OUTPUT_DIR")
    parser.add_argument(
        "--release", action="store_true", help="refuse what is not fit to be released, and list the zip"
    )
    arguments = parser.parse_args()
    enter("manual", *([] if _blender() else ["blender"]))
    try:
        print(build(arguments.folder, arguments.release))
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"No zip: {error}")


if __name__ == "__main__":
    main()
