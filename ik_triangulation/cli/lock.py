# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock files, so that only one process at a time changes a file.

A lock is stale when its process no longer runs on this machine, or after a day. To take over a stale lock, a process
first creates a claim under a name that only one process can create, and checks the lock again before the claim
replaces it.
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
_TOO_OLD = 24 * 3600.0  # seconds after which any lock is stale
_HALF_MADE = 30.0  # seconds after which an unreadable lock or a claim is stale
_INTERVAL = 0.05
_LONGEST = 255  # bytes in a name on most file systems
_RUNNING = 259  # exit code that Windows reports for a running process


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
