# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender with its window, which runs scripts one after the other, with the extension from its zip and no network."""

import ast
import shutil
import subprocess
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory, mkdtemp
from threading import Timer
from time import perf_counter

from .debian import command_in

ROOT = Path(__file__).resolve().parent.parent.parent
# Pixels of the display, and of the window that fills it: drawn in software, each of them costs. A script can have a
# SIZE of its own, and with ALONE = True a Blender of its own.
SIZE = (960, 720)
SECONDS = 480  # a script that takes longer hangs, also on a machine with much else to do
NO_DEVICES = ("Warning: eglQuery", "libEGL", "ALSA", "AL lib")  # how lines begin about what no chroot has
INSIDE = "/tmp/checkout/scripts/windowed/inside/play.py"
CACHES = shutil.ignore_patterns("__pycache__", "*.pyc")


class Sessions:
    """Blenders in one Debian, one after the other; as a context, it takes away what they need at its end."""

    def __init__(self, debian: Path, archive: Path, source: Path, output: Path) -> None:
        """`source` is a zip of the source; `output` is the folder that what the scripts write comes into."""
        self._debian, self._output = debian, output
        self._tmp = TemporaryDirectory(prefix="ik_triangulation-window-")
        self._home = Path(self._tmp.name)
        for name in ("scripts", "tests"):  # not the package: it has to come from the zip
            shutil.copytree(ROOT / name, self._home / "checkout" / name, ignore=CACHES)
        shutil.copy(archive, self._home / "extension.zip")
        shutil.copy(source, self._home / "source.zip")

    def __enter__(self) -> "Sessions":
        return self

    def __exit__(self, *raised: object) -> None:
        self._tmp.cleanup()

    def play(self, modules: list[str]) -> list[str]:
        """Run scripts, modules of this checkout, with their lines on the terminal; returns those that failed.

        As many as can be share a Blender; after one that fails the rest get a new one.
        """
        failed, groups = [], {}
        for module in modules:
            alike = _constant(module, "SIZE", SIZE), _constant(module, "ALONE") and module
            groups.setdefault(alike, []).append(module)
        for (size, _), waiting in groups.items():
            while waiting:
                waiting, ended = self._blender(waiting, size)
                failed += ended
        return failed

    def _blender(self, modules: list[str], size: tuple[int, int]) -> tuple[list[str], list[str]]:
        """Run scripts in a Blender of their own until one fails; those that are left to run, and those that failed."""
        own = Path(mkdtemp(dir=self._home))  # settings and files of this run
        for name in ("user", "run", "out"):
            (own / name).mkdir(parents=True)
        width, height = map(str, size)
        settings = {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": "/tmp",  # the same for all: compiled shaders are kept there
            "BLENDER_USER_RESOURCES": f"/tmp/{own.name}/user",
            "XDG_RUNTIME_DIR": f"/tmp/{own.name}/run",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = ["env", "-i", *(f"{name}={value}" for name, value in settings.items())]
        command += ["xvfb-run", "-a", "-s", f"-screen 0 {width}x{height}x24", "blender", "--factory-startup"]
        command += ["--enable-event-simulate", "--gpu-backend", "opengl", "--window-geometry", "0", "0", width, height]
        command += ["--python-exit-code", "1", "--python", INSIDE, "--", f"/tmp/{own.name}/out", str(SECONDS), *modules]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        started, spent = perf_counter(), _processor()
        waiting, failed, told = list(modules), [], False
        entered = command_in(self._debian, self._home, *command)
        with subprocess.Popen(entered, **pipes, text=True, errors="replace") as blender:
            limit = Timer(len(modules) * SECONDS + 30, blender.kill)  # Blender itself stops before
            limit.start()
            try:
                for line in blender.stdout:
                    said, module, took, *_ = *line.rstrip().split(maxsplit=2), "", "", ""
                    if said == "BEGIN":
                        print(f"--- {module}", flush=True)
                        told = False
                    elif said == "END":
                        # A panel that fails as it is drawn, or a callback, says so and nothing else happens.
                        failed += [module] if told else []
                        print(f"--- {module}: {'FAILED, see above' if told else 'ok'}, {took}", flush=True)
                        waiting.remove(module)
                    elif not line.startswith(NO_DEVICES):
                        told = told or "Traceback (most recent call last)" in line
                        print(f"  {line}", end="", flush=True)
            except BaseException:
                blender.kill()
                raise
            finally:
                limit.cancel()
        shutil.copytree(own / "out", self._output, dirs_exist_ok=True)
        code = blender.returncode
        crash = self._home / "blender.crash.txt"  # what Blender was doing, with the lines of Python
        if crash.exists():
            print(crash.read_text("utf-8", errors="replace"), flush=True)
            crash.unlink()
        if waiting:
            failed.append(waiting.pop(0))
            print(f"--- {failed[-1]}: FAILED with exit code {code}", flush=True)
        elif code:
            failed.append(f"the end of Blender after {modules[-1]} with exit code {code}")
        print(f"--- {perf_counter() - started:.0f} s, {_processor() - spent:.0f} s of processor", flush=True)
        return waiting, failed


def shares(module: str) -> bool:
    """Return True for a script that can be run in the Blender of others, as most can, on the usual display."""
    return not _constant(module, "ALONE") and _constant(module, "SIZE", SIZE) == SIZE


def _processor() -> float:
    """Return the seconds that all processes which have ended took of the processors, with what they started."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _constant(module: str, name: str, default: object = None) -> object:
    """Return a constant of a script: it can be imported only inside of Blender."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return ast.literal_eval(node.value)
    return default
