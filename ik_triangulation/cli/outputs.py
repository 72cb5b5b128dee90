# SPDX-License-Identifier: GPL-3.0-or-later
"""Output files of a command: all are written at its end, or none, and by one process at a time.

Lock files, so that only one process at a time changes a file. A lock is stale when its process no longer runs on this
machine, or after a day. To take over a stale lock, a process first creates a claim under a name that only one process
can create, and checks the lock again before the claim replaces it.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import bpy

from ..errors import IKError
from ..presets import SUFFIX
from ..rig.safe_files import Staged, Write, discard, real_destination, replacing, stage_file

PATIENCE = 60.0  # seconds to wait for a lock
_TOO_OLD = 24 * 3600.0  # seconds after which any lock is stale
_HALF_MADE = 30.0  # seconds after which an unreadable lock or a claim is stale
_INTERVAL = 0.05
_LONGEST = 255  # bytes in a name on most file systems
_RUNNING = 259  # exit code that Windows reports for a running process

_FLAGS = "output", "json", "png", "npy", "volume"  # each names a file to write
STDOUT = "-"


class Holder(NamedTuple):
    """Process that holds a lock; `token` is unique to the lock."""

    pid: int
    host: str
    token: str


@contextmanager
def locked(file: Path, patience: float = PATIENCE, waiting: Callable[[str], object] = lambda _: None) -> Iterator[None]:
    """Hold the lock of a file, which need not exist. Raises IKError if another process holds it for too long.

    `waiting` is called once with a message if another process holds it.
    """
    lock, mine = lock_of(file), Holder(os.getpid(), socket.gethostname(), token_hex(8))
    end, told = time.monotonic() + patience, False
    try:
        while not (_create(lock, mine) or _take_over(lock, mine)):
            who = _described(_read(lock))
            if time.monotonic() > end:
                raise IKError(
                    f"'{file}' is being changed by {who}. Run this again when it has finished, or remove '{lock}' "
                    "if there is no such process."
                )
            if not told:
                waiting(f"Waiting for {who} to finish with '{file}'")
                told = True
            time.sleep(_INTERVAL)
    except OSError as error:
        raise IKError(
            f"'{file}' cannot be locked: {error.strerror}. Make its folder writable, or free disk space."
        ) from error
    try:
        yield
    finally:
        if _read(lock) == mine:
            discard(lock)


def lock_of(file: Path) -> Path:
    """Return the path of a file's lock file."""
    name = f".{file.name}.lock"
    if len(os.fsencode(name)) + 20 > _LONGEST:  # a claim's name is longer
        name = f".{sha256(os.fsencode(file.name)).hexdigest()[:32]}.lock"
    return file.with_name(name)


def _create(lock: Path, mine: Holder) -> bool:
    """Create the lock; return False if it exists."""
    try:
        file = lock.open("x", encoding="utf-8")
    except FileExistsError:
        return False
    try:
        with file:
            json.dump(mine._asdict(), file)
    except OSError:  # the disk is full
        discard(lock)
        raise
    return True


def _take_over(lock: Path, mine: Holder) -> bool:
    """Replace the lock if it is stale; return True if it is held now."""
    holder = _read(lock)
    if not _is_stale(lock, holder):
        return False
    claim = lock.with_name(f"{lock.name}.{holder.token if holder else 'none'}")
    if not _create(claim, mine):
        if _age(claim) > _HALF_MADE:
            discard(claim)
        return False
    try:
        if _read(lock) != holder or not _is_stale(lock, holder):  # another process has taken it over
            return False
        claim.replace(lock)
        return True
    finally:
        discard(claim)


def _is_stale(lock: Path, holder: Holder | None) -> bool:
    age = _age(lock)
    if holder is None:
        return age > _HALF_MADE
    return age > _TOO_OLD or (holder.host == socket.gethostname() and not _is_running(holder.pid))


def _read(lock: Path) -> Holder | None:
    """Return the holder of a lock; None if there is no lock, or it is incomplete."""
    with suppress(OSError, ValueError, TypeError, LookupError):
        values: Any = json.loads(lock.read_text(encoding="utf-8"))
        return Holder(int(values["pid"]), str(values["host"]), str(values["token"]))
    return None


def _described(holder: Holder | None) -> str:
    return f"process {holder.pid} on {holder.host}" if holder else "another process"


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return _is_running_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user
        return True
    return True


def _is_running_on_windows(pid: int) -> bool:
    kernel: Any = ctypes.windll.kernel32
    handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
    if not handle:
        return bool(ctypes.GetLastError() == 5)  # access denied: it exists
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return not known or code.value == _RUNNING


def outputs_of(arguments: Namespace) -> dict[str, Path]:
    """Return the output files by their flags, without an overwritten input."""
    given = {f"--{name}": getattr(arguments, name, None) for name in _FLAGS}
    return {flag: Path(value) for flag, value in given.items() if value is not None and str(value) != STDOUT}


def check_outputs(arguments: Namespace) -> None:
    """Raise IKError if an output is an input or another output, or cannot be written.

    Nothing is read or changed, but with --make-folders folders that are missing are made.
    """
    for flag, path in outputs_of(arguments).items():
        if getattr(arguments, "make_folders", False):
            _make_folder(path)
        check_output(flag, arguments)
    if getattr(arguments, "overwrite", False):
        source = _source(arguments)
        if source is None:
            raise IKError("There is no file to overwrite. Name an input file, or use --output FILE.")
        _real(source)


def check_output(flag: str, arguments: Namespace) -> None:
    """Check one output as check_outputs() does."""
    outputs = outputs_of(arguments)
    path = outputs[flag]
    real = _real(path)
    source = _source(arguments)
    if source and _same(real, source):
        remedy = ", or use --overwrite" if flag == "--output" else ""
        raise IKError(f"{flag} '{path}' is the input. Choose another file{remedy}.")
    preset = getattr(arguments, "preset", None) or ""
    if preset.endswith(SUFFIX) and _same(real, Path(preset)):
        raise IKError(f"{flag} '{path}' is the preset that is read. Choose another file.")
    if any(_same(real, Path(bpy.path.abspath(library.filepath))) for library in bpy.data.libraries):
        raise IKError(f"{flag} '{path}' is linked by the input. Choose another file.")
    for other, its in outputs.items():
        if other != flag and _same(real, its):
            raise IKError(f"{flag} and {other} are the same file '{path}'. Choose another one for one of them.")


@contextmanager
def written(files: Mapping[Path, Write], check: Callable[[], object]) -> Iterator[dict[Path, Path]]:
    """Write files, all or none; yields the files that hold the previous contents, by resolved path.

    `check` is called when all are written but none is at its destination yet. Raises IKError if one cannot be written.
    """
    staged: list[Staged] = []
    try:
        for path, write in files.items():
            suffix = ".blend" if path.suffix == ".blend" else ".tmp"
            staged.append(stage_file(path, write, suffix))
        check()
    except BaseException as error:
        for each in staged:
            discard(each.temporary)
        if isinstance(error, OSError):
            raise _cannot(error) from error
        raise
    try:
        with replacing(staged) as kept:
            yield kept
    except OSError as error:
        raise _cannot(error) from error


def keep_versions(file: Path, old: Path, count: int) -> None:
    """Keep the previous versions of a .blend file as .blend1 and so on up to `count`, as Blender does."""
    names = [Path(f"{file}{number}") for number in range(1, count + 1)]
    with suppress(OSError):  # the file itself is saved even if there is no room for its versions
        for newer, older in reversed(list(pairwise(names))):
            if newer.exists():
                newer.replace(older)
        if names:
            old.replace(names[0])


def _source(arguments: Namespace) -> Path | None:
    """Return the file that is or will be open."""
    return arguments.file or (Path(bpy.data.filepath) if bpy.data.filepath else None)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(error) from error


def _real(path: Path) -> Path:
    try:
        return real_destination(path)
    except OSError as error:
        raise _cannot(error) from error


def _cannot(error: OSError) -> IKError:
    name = str(error.filename)
    shown = name if len(name) <= 200 else f"{name[:100]}...{name[-90:]}"
    return IKError(f"'{shown}' cannot be written: {error.strerror}.")


def _same(real: Path, other: Path) -> bool:
    """Return True if two paths, the first without links, are one file, whether it exists or not."""
    with suppress(OSError, ValueError):
        theirs = Path(os.path.realpath(other))
        if real == theirs or (real.exists() and theirs.exists() and real.samefile(theirs)):
            return True
        alike = real.name.casefold() == theirs.name.casefold() and real.parent.samefile(theirs.parent)
        return alike and (real.name == theirs.name or _ignores_case(real.parent))
    return False


def _ignores_case(folder: Path) -> bool:
    """Return True if the file system ignores case, as far as the folder's own name shows it."""
    swapped = folder.with_name(folder.name.swapcase()) if folder.name else folder
    return swapped != folder and swapped.exists() and swapped.samefile(folder)
