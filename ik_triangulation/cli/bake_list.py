# SPDX-License-Identifier: GPL-3.0-or-later
"""Command bake-list: many shots in one process, from a list of them, each for itself.

Bake many .blend files: this process keeps the list, and a worker, started anew after a crash, bakes one by one. The
worker is the same program with the same options. It gets a shot as a line of JSON on standard input: the file, the
.blend file and the report to write. It answers on standard output, where Blender writes as well, with a word that only
the two know, the exit code and a text. So a file that takes Blender down costs only itself.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
from argparse import SUPPRESS, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any, NoReturn

import bpy

from ..errors import IKError
from ..rig.safe_files import write_new
from .arguments import DONE, FAILED, MISSED, PROGRAM, add_command, add_quiet
from .run import CommandResult, Console, execute, report
from .solving import add_bake_options

_WORDS = {DONE: "reached", MISSED: "missed", FAILED: "failed"}
_WORST = [FAILED, MISSED, DONE]  # exit codes


@dataclass(frozen=True)
class ListedShot:
    """A line of the list: its name, the path with / between folders, and the reason why it cannot be baked, if any."""

    name: str
    reason: str = ""

    def at(self, folder: Path, suffix: str = ".blend") -> Path:
        """Return the file of this shot in a folder, with this suffix."""
        return folder.joinpath(*self.name.split("/")).with_suffix(suffix)


def line_numbers(text: str) -> set[int]:
    """Return the lines that an option names: 3, 1-20 or 1-9:2, several with commas between them."""
    found: set[int] = set()
    for part in text.split(","):
        span = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        first, last, step = (int(number) if number else 0 for number in span.groups()) if span else (0, 0, 0)
        if first < 1 or (span and span[2] and last < first) or (span and span[3] == "0"):
            raise ArgumentTypeError(f"'{text}' names no lines. Write them as 7, 1-20 or 3-5,9.")
        found.update(range(first, max(first, last) + 1, step or 1))
    return found


def shots_of(
    listed: Path, lines: set[int] | None, names: Sequence[str] | None
) -> tuple[Path, list[ListedShot], list[ListedShot]]:
    """Return the folder, its shots to bake in order, and all shots of the list; of each shot once.

    To bake are those on these lines of the list, or of these names, or all. Raises IKError if the list cannot be read.
    """
    if names is not None:
        folder = listed if listed.is_dir() else listed.parent
        shots = list(_shots(enumerate(names, 1), "Shot {}"))
        return folder, shots, shots
    try:
        rows = listed.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IKError(f"The list of shots '{listed}' cannot be read: {reason}.") from error
    every = list(_shots(enumerate(rows, 1), f"Line {{}} of {listed.name}"))
    if lines is None:
        return listed.parent, every, every
    chosen = list(
        _shots(((number, row) for number, row in enumerate(rows, 1) if number in lines), f"Line {{}} of {listed.name}")
    )
    beyond = [number for number in sorted(lines) if number > len(rows)]
    chosen += [
        ListedShot(f"line {n}", f"{listed.name} has {len(rows)} lines, so there is no line {n}.") for n in beyond
    ]
    return listed.parent, chosen, every


def check_output_folder(folder: Path, output: Path, every: Sequence[ListedShot]) -> None:
    """Raise IKError if a shot would be written over a shot of the list."""
    inputs = {os.path.realpath(shot.at(folder)): shot.name for shot in every if not shot.reason}
    for shot in every:
        other = None if shot.reason else inputs.get(os.path.realpath(shot.at(output)))
        if other is not None:
            raise IKError(f"'{shot.name}' would be saved over the shot '{other}'. Choose another folder for --output.")


def _shots(rows: Iterator[tuple[int, str]], where: str) -> Iterator[ListedShot]:
    """Yield the shots of numbered rows. Empty rows, and those that begin with #, name none."""
    seen: dict[str, str] = {}
    for number, row in rows:
        text = row.strip()
        if not text or text.startswith("#"):
            continue
        path = PureWindowsPath(text)  # takes both / and \, whatever this runs on
        name = path.as_posix()
        if path.suffix != ".blend" or path.anchor or ".." in path.parts:
            yield ListedShot(text, f"{where.format(number)} is '{text}'. Name a .blend file in the folder of the list.")
        elif name.casefold() not in seen:
            seen[name.casefold()] = name
            yield ListedShot(name)
        elif seen[name.casefold()] != name:
            clash = f"there is '{seen[name.casefold()]}' as well, which on some disks is the same file. Rename one."
            yield ListedShot(name, f"{where.format(number)} is '{name}': {clash}")


def add_bake_list(commands: Any) -> None:
    """Add bake-list to the subparsers of the command line."""
    command = add_command(commands, "bake-list", "bake the .blend files of a list, all with the same options")
    command.add_argument(
        "list", type=Path, metavar="LIST", help="text file with a .blend file on each line, relative to its folder"
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--lines", type=line_numbers, metavar="LINES", help="only these lines: 7, 1-20 or 3-5,9")
    which.add_argument(
        "--shots", nargs="+", metavar="SHOT", help="only these files; LIST is then their folder, or a file in it"
    )
    command.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for a .blend file and a JSON report of each shot, in the folders of the list",
    )
    command.add_argument("--openjd", action="store_true", help="print progress and status for Open Job Description")
    command.add_argument("--worker", metavar="WORD", help=SUPPRESS)
    add_bake_options(command)
    add_quiet(command, SUPPRESS)
    command.set_defaults(execute=bake_list)


def bake_list(arguments: Namespace, words: Sequence[str], console: Console) -> int:
    """Bake the shots of a list and return the worst of their exit codes; `words` are those of the command line."""
    if arguments.worker:
        return _work(arguments, console)
    try:
        return _bake_all(arguments, words, console)
    except IKError as error:
        console.error(f"IK Triangulation: {error}")
        if arguments.openjd:
            console.put(f"openjd_fail: {error}")
        return FAILED


def _bake_all(arguments: Namespace, words: Sequence[str], console: Console) -> int:
    folder, shots, every = shots_of(arguments.list, arguments.lines, arguments.shots)
    if not shots and not arguments.lines:  # lines may all be comments
        raise IKError(f"'{arguments.list}' names no shots. Write the path of a .blend file on each line.")
    check_output_folder(folder, arguments.output, every)
    codes: list[int] = []
    with _ended_by_signal(), _Worker(words, console) as worker:
        for number, shot in enumerate(shots, 1):
            if arguments.openjd:
                console.put(f"openjd_status: {shot.name}")
            code, text = (FAILED, shot.reason) if shot.reason else _bake(shot, folder, arguments.output, worker)
            codes.append(code)
            about = f"{shot.name}: {_WORDS[code]}{text and ': '}{text}"
            console.say(f"{number} of {len(shots)}: {about}")
            if arguments.openjd:
                console.put(f"openjd_progress: {100 * number / len(shots):.1f}\nopenjd_status: {about}")
                if code == FAILED:
                    console.put(f"openjd_fail: {about}")
    console.say(f"{len(codes)} shots: " + ", ".join(f"{codes.count(code)} {word}" for code, word in _WORDS.items()))
    worst = next((code for code in _WORST if code in codes), DONE)
    return DONE if worst == MISSED and arguments.accept_misses else worst


def _bake(shot: ListedShot, folder: Path, output: Path, worker: _Worker) -> tuple[int, str]:
    """Have a shot baked; return its exit code and what it missed, or why it failed."""
    file, baked, about = shot.at(folder), shot.at(output), shot.at(output, ".json")
    try:
        baked.parent.mkdir(parents=True, exist_ok=True)
        about.unlink(missing_ok=True)  # of a run before
    except OSError as error:
        return FAILED, f"'{error.filename}' cannot be written: {error.strerror}."
    answer = worker.bake(file, baked, about)
    if answer is not None:
        return answer
    message = f"Blender ended with exit code {worker.ended} while it baked '{file}'. The other shots are not affected."
    with suppress(OSError):
        write_new(about, f"{report('bake', file, CommandResult(), message)}\n".encode())
    return FAILED, message


class _Worker:
    """Process that bakes shots, started when the first comes and after each crash."""

    def __init__(self, words: Sequence[str], console: Console):
        self.ended: int | None = None  # exit code of the last one that crashed
        self._word = secrets.token_hex(8)
        self._words = [*worker_start(), *words, "--worker", self._word]
        self._console = console
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._process is None:
            return
        if kind is not None:
            self._process.terminate()
        with suppress(OSError):
            self._process.communicate()  # closes its input, at whose end it leaves
        self._process = None

    def bake(self, file: Path, output: Path, about: Path) -> tuple[int, str] | None:
        """Bake a file; return exit code and text, None if the process ended. Raises IKError if it does not start."""
        if self._process is None:
            self._process = self._started()
        self._send([str(path.absolute()) for path in (file, output, about)])
        return self._answer()

    def _started(self) -> subprocess.Popen[str]:
        folder = Path(__file__).resolve().parents[2]  # of the package, wherever this process found it
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            )
        except OSError as error:
            raise IKError(f"'{self._words[0]}' cannot be started to bake the shots: {error.strerror}.") from error
        process = self._process
        if self._answer() is None:
            raise IKError(f"Blender ended with exit code {self.ended} before it could bake. The log says why.")
        return process

    def _send(self, paths: list[str]) -> None:
        assert self._process
        assert self._process.stdin
        with suppress(OSError):  # it has ended: no answer comes
            self._process.stdin.write(f"{json.dumps(paths)}\n")
            self._process.stdin.flush()

    def _answer(self) -> tuple[int, str] | None:
        """Return the next answer; what Blender writes goes to the log."""
        assert self._process
        assert self._process.stdout
        for line in self._process.stdout:
            before, word, answer = line.partition(self._word)
            if before.strip():
                self._console.say(before.rstrip())
            if word:
                code, text = json.loads(answer)
                return code, text
        self.ended = self._process.wait()
        with suppress(OSError):
            self._process.communicate()
        self._process = None
        return None


def worker_start() -> list[str]:
    """Return the words that start this program again, up to the command line's own."""
    if not bpy.app.binary_path:
        return [sys.executable, "-m", __package__.rpartition(".")[0]]
    words = sys.argv
    for number, word in enumerate(words[:-1]):
        if word in {"-c", "--command"} and words[number + 1] == PROGRAM:
            return [bpy.app.binary_path, *words[1 : number + 2]]
    return [bpy.app.binary_path, "-b", "--command", PROGRAM]  # called by a script


def _work(arguments: Namespace, console: Console) -> int:
    """Bake the shots that come on standard input, until it ends."""

    def answer(code: int, text: str) -> None:
        console.put(f"\n{arguments.worker}{json.dumps([code, text])}")

    saving = {"overwrite": False, "overwrite_newer": False, "discard": False, "make_folders": True}
    answer(DONE, "")
    for line in sys.stdin:
        file, output, about = json.loads(line)
        shot = {"command": "bake", "file": Path(file), "output": Path(output), "json": about, "accept_misses": False}
        code, text = execute(Namespace(**vars(arguments) | saving | shot), console)
        if code == FAILED or bpy.data.libraries:  # what is still open is of no concern to the next shot
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        answer(code, text)
    return DONE


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Leave, and end the worker, when this process is asked to end."""
    before: Callable[..., Any] | int | None = None
    with suppress(ValueError):  # not in the main thread
        before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _leave(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)
