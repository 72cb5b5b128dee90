# SPDX-License-Identifier: GPL-3.0-or-later
"""One process at a time changes a file: a lock file beside it says which.

A lock is stale when its process is gone from this machine, or after a day. To take one over, a process first claims it
under a name that only one can have: what the claim is worth is looked at again before it replaces the lock.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from ..errors import IKError
from ..rig.safe_files import discard

PATIENCE = 60.0  # seconds to wait for a lock
_TOO_OLD = 24 * 3600.0  # seconds after which a lock counts for nothing, wherever its process runs
_HALF_MADE = 30.0  # seconds after which one counts for nothing that says nothing, or claims another
_INTERVAL = 0.05
_LONGEST = 255  # bytes in a name on most file systems
_RUNNING = 259  # what Windows gives as the exit code of a process that still runs


class Holder(NamedTuple):
    """The process that holds a lock; `token` tells this lock from all others."""

    pid: int
    host: str
    token: str


@contextmanager
def locked(file: Path, patience: float = PATIENCE, waiting: Callable[[str], object] = lambda _: None) -> Iterator[None]:
    """Hold the lock of a file, which need not be there. Raises IKError if another process holds it for too long.

    `waiting` is told once who does.
    """
    lock, mine = lock_of(file), Holder(os.getpid(), socket.gethostname(), token_hex(8))
    end, told = time.monotonic() + patience, False
    try:
        while not (_create(lock, mine) or _take_over(lock, mine)):
            who = _described(_read(lock))
            if time.monotonic() > end:
                raise IKError(
                    f"'{file}' is being changed by {who}. Run this again when it is done, or remove '{lock}' "
                    "if there is no such process."
                )
            if not told:
                waiting(f"Waiting for {who} to be done with '{file}'")
                told = True
            time.sleep(_INTERVAL)
    except OSError as error:
        raise IKError(f"'{file}' cannot be locked: {error.strerror}. Make room in its folder.") from error
    try:
        yield
    finally:
        if _read(lock) == mine:
            discard(lock)


def lock_of(file: Path) -> Path:
    """The lock file of a file."""
    name = f".{file.name}.lock"
    if len(os.fsencode(name)) + 20 > _LONGEST:  # a claim's name is longer
        name = f".{sha256(os.fsencode(file.name)).hexdigest()[:32]}.lock"
    return file.with_name(name)


def _create(lock: Path, mine: Holder) -> bool:
    """Make the lock, unless there is one."""
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
    """Replace the lock if it is stale."""
    holder = _read(lock)
    if not _is_stale(lock, holder):
        return False
    claim = lock.with_name(f"{lock.name}.{holder.token if holder else 'none'}")
    if not _create(claim, mine):
        if _age(claim) > _HALF_MADE:
            discard(claim)
        return False
    try:
        if _read(lock) != holder or not _is_stale(lock, holder):  # somebody else has been quicker
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
    """Return who holds a lock; None if there is none, or it is half made."""
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
    except OSError:  # somebody else's
        return True
    return True


def _is_running_on_windows(pid: int) -> bool:
    kernel: Any = ctypes.windll.kernel32
    handle = kernel.OpenProcess(0x1000, False, pid)  # no more than to ask for its exit code
    if not handle:
        return bool(ctypes.GetLastError() == 5)  # it is there, but not for us
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return not known or code.value == _RUNNING
