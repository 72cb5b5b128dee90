# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension in the real Blender with its window: keys and buttons are pressed there, and data and pictures kept.

python scripts/window.py [SCENARIO ...] [--half FIRST_OR_SECOND] [--only-chroot] [--chroot FOLDER] [--output FOLDER]

A scenario is a file in tests/window; all of them if none is named. On Linux, as root; the first time a Debian with
Blender is made, which takes minutes. Exit codes: 0 all well, 1 a scenario failed, 77 there can be no such Debian here.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from signal import SIGTERM, signal
from tempfile import TemporaryDirectory

from environment import ROOT, enter

CHROOT = ROOT / ".venv" / "debian"
SKIPPED = 77  # as automake has it


def add_chroot(parser):
    """The option that all scripts with a window have."""
    parser.add_argument("--chroot", type=Path, default=CHROOT, help="where the Debian is or is to be made")


def play(modules, chroot, output):
    """Run these modules in a window, and return those that failed. Leaves with 77 where there is no window."""
    from build import build, source_archive
    from windowed.session import Sessions

    make_chroot(chroot)
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as zips:  # another half may run beside this one
        archive, source = build(Path(zips)), source_archive(Path(zips))
        sessions = Sessions(chroot, archive, source, output)
    with sessions:
        return sessions.play(list(modules))


def make_chroot(chroot):
    """Make the Debian if it is not there; leaves with 77 where there can be none."""
    from windowed.debian import UnavailableError, require

    signal(SIGTERM, lambda *_: sys.exit(128 + SIGTERM))  # so that what is half made is taken away
    try:
        require(chroot)
    except UnavailableError as error:
        print(f"{'!' * 79}\nSKIPPED: no window of Blender on this machine\n{error}\n{'!' * 79}", flush=True)
        sys.exit(SKIPPED)


def main():
    known = sorted(path.stem for path in (ROOT / "tests/window").glob("*.py"))
    parser = ArgumentParser(description="The extension in the real Blender with its window.")
    parser.add_argument("scenarios", nargs="*", default=known, metavar="SCENARIO", help=", ".join(known))
    parser.add_argument("--output", type=Path, default=ROOT / "dist/window", help="where the pictures come")
    half = "for two runs at once: first those with a display or a Blender of their own, second those that share one"
    parser.add_argument("--half", choices=("first", "second"), help=half)
    parser.add_argument("--only-chroot", action="store_true", help="make the Debian, and play nothing")
    add_chroot(parser)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.scenarios) - set(known))
    if unknown:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(known)}")
    if arguments.only_chroot:
        make_chroot(arguments.chroot)
        return
    enter("blender", "manual")
    from windowed.session import shares

    modules = [f"tests.window.{name}" for name in arguments.scenarios]
    if arguments.half:  # they take about the same time
        modules = [module for module in modules if shares(module) == (arguments.half == "second")]
    failed = play(modules, arguments.chroot, arguments.output)
    print(f"Pictures: {arguments.output}")
    sys.exit(f"Failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
