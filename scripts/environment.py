# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environment of the scripts, under the checkout, with pyproject.toml's dependency groups.

    from environment import enter
    enter("test")                             # what follows runs in .venv/py3.13 with the group `test` installed

    python scripts/environment.py test lint   # the same set-up by hand: prints the path of that Python

With IK_TRIANGULATION_BLENDER=5.1 they run with that version of Blender, in an environment of its own.
With IK_TRIANGULATION_NO_VENV=1 scripts run in the Python they are started with, which must have the packages.
This file needs only the standard library. It and the scripts that import it are written such that Python 3.6 can read
them far enough to say which one is wanted.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# By their Python, the one that is taken without being asked for first.
BLENDERS = {(3, 13): ("5.2", "5.1", "5.3"), (3, 11): ("4.5", "5.0")}


def enter(*groups: str) -> None:
    """Return where these groups are installed and `ik_triangulation` can be imported. From anywhere else, run the
    calling script there with the same arguments and leave with its exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line, which says why
    if os.environ.get("IK_TRIANGULATION_NO_VENV") == "1":
        _require_blender()
        if sys.version_info < min(BLENDERS):  # it may be another, newer one, with a bpy of its own
            refuse()
        absent = [name for name in map(_name, requirements(*groups)) if not _installed(name)]
        if absent:
            sys.exit(f"IK_TRIANGULATION_NO_VENV=1 is set, but {sys.executable} lacks: {', '.join(sorted(set(absent)))}")
    else:
        try:
            python = prepare(*groups)
            if not _running_in(_home()):
                code = subprocess.call([str(python), *sys.orig_argv[1:]])
                sys.exit(code if code >= 0 else 128 - code)  # below zero: the signal that ended it, said as shells do
        except KeyboardInterrupt:
            sys.exit(130)
    sys.path.insert(0, str(ROOT))


def prepare(*groups: str) -> Path:
    """The environment's Python, made and filled first where that is still to do."""
    if sys.version_info[:2] not in BLENDERS:
        refuse()
    _require_blender()
    home, needed = _home(), requirements(*groups)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # The stamp lists what was installed to the end. It is gone while pip works: after an interruption all is made anew.
    stamp = home / "installed.txt"
    whole = stamp.exists() and python.exists()
    installed = stamp.read_text(encoding="utf-8").splitlines() if whole else []
    if set(needed) <= set(installed):
        return python
    if not (whole or _running_in(home)):
        _create(home)
    stamp.unlink(missing_ok=True)
    _announce([_name(requirement) for requirement in needed if requirement not in installed])
    if not _install(python, needed):
        if whole:  # pip downloads everything before it changes anything, and takes back what it cannot finish
            stamp.write_text("\n".join(installed), encoding="utf-8")
        sys.exit("Installing failed; pip's lines above say why. Nothing is lost: run the same command again.")
    current = set(requirements(*_groups()))  # forget requirements that have changed since: their packages may have too
    stamp.write_text("\n".join(sorted({*needed, *installed} & current)), encoding="utf-8")
    return python


def refuse() -> None:
    """Leave, and say which Python is wanted."""
    version, command = "{}.{}".format(*sys.version_info), subprocess.list2cmdline(sys.argv)
    sys.exit(
        f"This is Python {version}, and Blender as a Python module needs Python 3.13 (Blender 5.2) or 3.11 (4.5).\n"
        f"Install one of them (python.org, pyenv, your package manager) and run this again with it, for example\n"
        f"  python3.13 {command}\n"
        f"  py -3.13 {command}     (Windows)"
    )


def requirements(*groups: str) -> "list[str]":
    """The requirements of these groups and of the groups they include."""
    table, found = _groups(), []
    for group in groups:
        for entry in table[group]:
            found += requirements(entry["include-group"]) if isinstance(entry, dict) else [_of_version(entry)]
    return list(dict.fromkeys(found))


def _of_version(requirement: str) -> str:
    """The requirement, of the Blender that is asked for if it is one of Blender."""
    asked = os.environ.get("IK_TRIANGULATION_BLENDER")
    return "bpy==" + asked + ".*" if asked and _name(requirement) == "bpy" else requirement


def _require_blender() -> None:
    """Leave if this Python is not that of the Blender that is asked for, and say which one is."""
    asked, running = os.environ.get("IK_TRIANGULATION_BLENDER"), sys.version_info[:2]
    if not asked or asked in BLENDERS.get(running, ()):
        return
    for version, blenders in BLENDERS.items():
        if asked in blenders:
            sys.exit("Blender {} needs Python {}.{}: run this again with it".format(asked, *version))
    known = sorted(name for blenders in BLENDERS.values() for name in blenders)
    sys.exit("Blender {} is none of those that the tests know: {}".format(asked, ", ".join(known)))


def _groups() -> dict:
    import tomllib  # no older than Python 3.11

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]


def _home() -> Path:
    asked, name = os.environ.get("IK_TRIANGULATION_BLENDER"), "py{}.{}".format(*sys.version_info)
    usual = not asked or asked == BLENDERS[sys.version_info[:2]][0]
    return ROOT / ".venv" / (name if usual else name + "-blender" + asked)


def _running_in(home: Path) -> bool:
    return home.exists() and home.samefile(sys.prefix)


def _name(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0]


def _installed(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution  # no older than Python 3.8

    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return find_spec(name) is not None if name.isidentifier() else False  # a bpy of one's own build


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _create(home: Path) -> None:
    if not (find_spec("venv") and find_spec("ensurepip")):
        version = "{}.{}".format(*sys.version_info)
        sys.exit(
            f"Python at {sys.executable} came without its modules venv and ensurepip, which set up the environment.\n"
            f"Install them (Debian, Ubuntu: apt install python{version}-venv) or use a Python from python.org or pyenv."
        )
    _say(f"Making a virtual environment in {home}")
    if subprocess.call([sys.executable, "-m", "venv", "--clear", str(home)], stdout=2):
        sys.exit(f"Making the virtual environment failed; the lines above say why. It would have been in {home}")


def _announce(names: "list[str]") -> None:
    _say(f"Installing {', '.join(dict.fromkeys(names))}")
    if "bpy" in names:
        blender = os.environ.get("IK_TRIANGULATION_BLENDER") or BLENDERS[sys.version_info[:2]][0]
        _say(f"(bpy is Blender {blender}: about 400 MB to download the first time)")


def _install(python: Path, needed: "list[str]") -> bool:
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    command = [*pip, "install", "--no-input", "--no-compile", *needed]  # of Blender's scripts few are ever imported
    if sys.stderr.isatty():  # someone looks on: pip's own progress bars
        return subprocess.call(command, stdout=2) == 0
    # A log: what arrives, and what pip said where it fails.
    lines = []
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    with subprocess.Popen([*command, "--progress-bar", "off"], **pipes) as pip:
        for line in map(str.strip, pip.stdout):
            lines.append(line)
            if line.startswith(("Downloading", "Using cached", "Installing")):
                _say(f"  {line:.100}")
    if pip.returncode:
        _say("\n".join(f"{line:.300}" for line in lines[-20:]))
    return pip.returncode == 0


if __name__ == "__main__":
    print(prepare(*sys.argv[1:] or ["test"]))
