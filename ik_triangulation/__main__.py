# SPDX-License-Identifier: GPL-3.0-or-later
"""ik-triangulation, or python -m ik_triangulation: the command line on the bpy module."""

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn, TextIO

from . import __version__


def own_output(quiet: bool) -> TextIO:
    """Take standard output away from everything else in this process, and return it as a file.

    Blender and its add-ons write there as they like, Blender from the moment it is imported. It goes to standard error,
    or nowhere if `quiet`.
    """
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        ours = os.dup(1)
    except OSError:  # it is closed
        ours = nowhere
    try:
        os.dup2(nowhere if quiet else 2, 1)
    except OSError:
        os.dup2(nowhere, 1)
    return os.fdopen(ours, "w", encoding=encoding, errors="backslashreplace")


def run() -> NoReturn:
    """Run the command line and leave Python with its exit code."""
    if sys.argv[1:] == ["--version"]:  # as the command line says it, but without Blender
        print(f"IK Triangulation {__version__}")
        sys.exit()
    out = own_output(quiet=not {"-q", "--quiet"}.isdisjoint(sys.argv[1:]))
    # Systems of equations are small here. The BLAS of Blender 4.5's module shares even those out among threads, which
    # takes it 5 times as long, and 100 times where the processor is busy. It is read when numpy loads, with bpy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import bpy  # noqa: F401  # mathutils and the rest are there only after it
    except ModuleNotFoundError:
        sys.exit(
            "IK Triangulation needs Blender as a module, which is made for some versions of Python: 3.13 (Blender 5.2) "
            "and 3.11 (4.5). With one of them: pip install 'ik-triangulation[bpy]'"
        )
    from . import register, unregister
    from .cli import main

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what is half made is taken away
    register()
    try:
        code = main(sys.argv[1:], out)
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        unregister()
    for stream in (out, sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # nobody listens any more
            stream.flush()
    os._exit(code)  # Blender 4.5 as a module can hang when it ends


if __name__ == "__main__":
    run()
