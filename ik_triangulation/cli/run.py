# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a command: check, open, work, write everything or nothing, report as text and as one JSON object."""

from __future__ import annotations

import json
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, TextIO

import bpy
from bpy.types import Scene

from .. import __version__
from ..errors import IKError
from ..jobs.shots.report import TipReport, missed_frames_of
from ..rig.safe_files import Write, write_new
from .arguments import DONE, FAILED, MISSED, scene_of
from .blend import check_input, check_newer, check_unchanged, note_saved, open_file, write_blend
from .outputs import STDOUT, check_output, check_outputs, keep_versions, locked, written

SCHEMA = 2


class Console:
    """Writer of results to `out` and of messages to standard error; of errors only if `quiet`."""

    def __init__(self, out: TextIO, quiet: bool = False):
        self.out = out
        self.quiet = quiet

    def put(self, text: str) -> None:
        """Write a result. A closed pipe, as by `head`, is not an error; raises OSError for other failures."""
        try:
            print(text, file=self.out, flush=True)
        except BrokenPipeError:
            _to_nowhere(self.out.fileno())
        except OSError as error:
            _to_nowhere(self.out.fileno())  # or closing it would raise again
            raise OSError(error.errno, error.strerror, "Standard output") from error

    def say(self, text: str, end: str = "\n") -> None:
        """Write a message, unless quiet."""
        if not self.quiet:
            self.error(text, end)

    def error(self, text: str, end: str = "\n") -> None:
        """Write an error."""
        if sys.stderr is None:  # closed
            return
        try:
            print(text, end=end, file=sys.stderr, flush=True)
        except BrokenPipeError:
            _to_nowhere(sys.stderr.fileno())
        except (OSError, ValueError):
            return


def _to_nowhere(descriptor: int) -> None:
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        if nowhere != descriptor:
            os.close(nowhere)


@dataclass
class CommandResult:
    """Result of a command.

    `limbs` and `parts` are entries of its report, and so are the `tips` of these limbs and of bodies. `text` is for
    standard output, `lines` are for standard error, and `files` are written besides the .blend file.
    """

    limbs: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[str, Any] = field(default_factory=dict)
    tips: list[TipReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    text: str = ""
    files: dict[Path, Write] = field(default_factory=dict)
    reached: bool = True


def report(command: str, file: Path | None, result: CommandResult, error: str | None = None) -> str:
    """Return the report of a run as JSON."""
    values = {
        "schema": SCHEMA,
        "version": __version__,
        "command": command,
        "file": None if file is None else str(file),
        "reached": error is None and result.reached,
        "missed": missed_frames_of(result.tips),
        "tips": [tip.to_dict() for tip in result.tips],
        "limbs": result.limbs,
        **result.parts,
        "warnings": result.warnings,
        "error": error,
    }
    try:
        return json.dumps(values, indent=2, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_plain(values), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: infinity and NaN become null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def execute(arguments: Namespace, console: Console) -> tuple[int, str]:
    """Run a command; return its exit code, and the error of a failure or the tips of a miss."""
    run = Run(arguments, console)
    try:
        result = run()
    except IKError as error:
        message = str(error)
    except Exception as error:  # a bug; the report says so as well
        console.error(traceback.format_exc())
        message = f"Internal error ({type(error).__name__}: {error}). No file was changed."
    else:
        missed = ", ".join(f"{tip.tip} at {len(tip.missed)} frames" for tip in result.tips if not tip.reached)
        return DONE if result.reached or arguments.accept_misses else MISSED, missed
    console.error(f"IK Triangulation: {message}")
    with suppress(IKError, OSError):  # the report itself cannot be written
        run.report_failure(message)
    return FAILED, message


class Run:
    """Run of a command: the steps that are the same for every command."""

    def __init__(self, arguments: Namespace, console: Console):
        self.arguments = arguments
        self.console = console
        self.source: Path | None = arguments.file  # the input file
        self._warnings: list[str] = []  # about that file

    def __call__(self) -> CommandResult:
        """Run the command. Raises IKError, and then no file has changed."""
        if self.arguments.file:
            check_input(self.arguments.file)
        check_outputs(self.arguments)
        with ExitStack() as held:
            if self._overwrite:
                # Held from before reading until replacing: otherwise another run's changes could be lost.
                file = Path(os.path.realpath(self.arguments.file or bpy.data.filepath))
                held.enter_context(locked(file, waiting=self.console.say))
            result: CommandResult = self.arguments.run(self.arguments, self)
            result.warnings[:0] = self._warnings
            result.lines[:0] = [f"Warning: {warning}" for warning in self._warnings]
            self._write(result)
        self._print_result(result)
        return result

    def open(self) -> Scene:
        """Open the file and return the scene to work in."""
        self.source = open_file(self.arguments.file)
        check_outputs(self.arguments)  # again: now the file's linked libraries are known
        self._warnings = check_newer(self.arguments)
        return scene_of(self.arguments.scene)

    def progress(self) -> Callable[[int, int], None] | None:
        """Return a function that shows the frames done on a line of the terminal; None if there is no terminal."""
        if self.console.quiet or sys.stderr is None or not sys.stderr.isatty():
            return None

        def show(done: int, of: int) -> None:
            if done % max(1, of // 100) == 0 or done == of:
                self.console.say(f"\r{done} of {of} frames", end="\n" if done == of else "")

        return show

    def report_failure(self, error: str) -> None:
        """Write the error to the report, if one was requested."""
        text = report(self.arguments.command, self.source, CommandResult(), error)
        if self.arguments.json == STDOUT:
            self.console.put(text)
        elif self.arguments.json:
            check_output("--json", self.arguments)
            with written({Path(self.arguments.json): _new(text)}, lambda: None):
                pass

    @property
    def _overwrite(self) -> bool:
        return bool(getattr(self.arguments, "overwrite", False))

    @property
    def _destination(self) -> Path | None:
        """Path that the .blend file is saved to; None if it is not saved."""
        return self.source if self._overwrite else getattr(self.arguments, "output", None)

    def _write(self, result: CommandResult) -> None:
        """Write all files, and the report or result to standard output: if one cannot be written, none is."""
        destination, where = self._destination, self.arguments.json
        text = report(self.arguments.command, self.source, result) if where else ""
        files = {} if destination is None else {destination: self._write_blend}
        files |= result.files
        if where and where != STDOUT:
            files[Path(where)] = _new(text)
        with written(files, self._check_source) as kept:
            if where == STDOUT:
                self.console.put(text)
            elif result.text:
                self.console.put(result.text)
            if destination:
                self._done(Path(os.path.realpath(destination)), kept)

    def _write_blend(self, path: Path) -> None:
        # With --overwrite the copy replaces the input, so its relative paths stay valid.
        write_blend(path, remap=not self._overwrite)

    def _check_source(self) -> None:
        if self._overwrite and self.source:
            check_unchanged(self.source)

    def _done(self, real: Path, kept: dict[Path, Path]) -> None:
        if self._overwrite:
            note_saved()
        if real in kept:
            keep_versions(real, kept[real], bpy.context.preferences.filepaths.save_version)

    def _print_result(self, result: CommandResult) -> None:
        if self._destination:
            self.console.say(f"Saved {self._destination}")
        for line in result.lines:
            self.console.say(line)


def _new(text: str) -> Write:
    return lambda path: write_new(path, f"{text}\n".encode())
