# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender with its window, run once for each script, with the extension installed from its zip and no network."""

import ast
import shutil
import subprocess
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from threading import Timer
from time import perf_counter

from .debian import command_in

ROOT = Path(__file__).resolve().parent.parent.parent
SIZE = (1600, 1200)  # pixels of the display, and of the window that fills it; a script can have a SIZE of its own
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

    def play(self, module: str) -> bool:
        """Run a script, a module of this checkout, with its lines on the terminal; whether it went well."""
        print(f"--- {module}", flush=True)
        started, spent = perf_counter(), _processor()
        code, lines = self._blender(module)
        # A panel that fails as it is drawn, or a callback, says so and nothing else happens.
        well = code == 0 and not any("Traceback (most recent call last)" in line for line in lines)
        ending = "ok" if well else f"FAILED with exit code {code}"
        took = f"{perf_counter() - started:.0f} s, {_processor() - spent:.0f} s of processor"
        print(f"--- {module}: {ending}, {took}", flush=True)
        return well

    def _blender(self, module: str) -> tuple[int, list[str]]:
        own = self._home / module  # settings and files of this run
        for name in ("user", "run", "out"):
            (own / name).mkdir(parents=True)
        width, height = map(str, _size(module))
        settings = {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": "/tmp",  # the same for all: compiled shaders are kept there
            "BLENDER_USER_RESOURCES": f"/tmp/{module}/user",
            "XDG_RUNTIME_DIR": f"/tmp/{module}/run",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = ["env", "-i", *(f"{name}={value}" for name, value in settings.items())]
        command += ["xvfb-run", "-a", "-s", f"-screen 0 {width}x{height}x24", "blender", "--factory-startup"]
        command += ["--enable-event-simulate", "--gpu-backend", "opengl", "--window-geometry", "0", "0", width, height]
        command += ["--python-exit-code", "1", "--python", INSIDE, "--", module, f"/tmp/{module}/out", str(SECONDS)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        lines = []
        entered = command_in(self._debian, self._home, *command)
        with subprocess.Popen(entered, **pipes, text=True, errors="replace") as blender:
            limit = Timer(SECONDS + 30, blender.kill)  # Blender itself stops before
            limit.start()
            try:
                for line in blender.stdout:
                    if not line.startswith(NO_DEVICES):
                        lines.append(line)
                        print(f"  {line}", end="", flush=True)
            except BaseException:
                blender.kill()
                raise
            finally:
                limit.cancel()
        shutil.copytree(own / "out", self._output, dirs_exist_ok=True)
        return blender.returncode, lines


def _processor() -> float:
    """Return the seconds that all processes which have ended took of the processors, with what they started."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _size(module: str) -> tuple[int, int]:
    """Return the size of the display that a script asks for: it can be imported only inside of Blender."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "SIZE":
            return ast.literal_eval(node.value)
    return SIZE
