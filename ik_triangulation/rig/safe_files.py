# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic file writing: files are written beside their destination, synced to the disk, then moved over it.

A file is complete or absent, and the file that it replaces stays unchanged until then, and if anything fails.
All functions raise OSError, which names the destination.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

Write = Callable[[Path], object]  # writes a file that does not exist yet


class Staged(NamedTuple):
    """A file that is written and synced, but not yet moved to its destination."""

    temporary: Path
    destination: Path


class Stamp(NamedTuple):
    """File attributes that change when another program writes the file."""

    size: int
    modified: int
    inode: int
    device: int


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the stamp of a file, or None."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)


def real_destination(path: Path | str) -> Path:
    """Return the path that a file is written to, behind all links. Raises OSError if there can be no such file."""
    try:
        real = Path(os.path.realpath(path))
        found = _status(real)
        if found:
            _check_replaceable(real, found.st_mode)
        if not real.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if not os.access(real.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _with_path(error, path) from error
    except ValueError as error:  # a zero byte in it
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path)) from error
    return real


def stage_file(path: Path | str, write: Write, suffix: str = ".tmp") -> Staged:
    """Have `write` make a file of a unique name beside `path`, with the permissions of the file there, and sync it."""
    destination = real_destination(path)
    temporary = unique_beside(destination, suffix)
    try:
        write(temporary)
        _keep_permissions(destination, temporary)
        sync(temporary)
    except BaseException as error:
        discard(temporary)
        if isinstance(error, OSError):
            raise _with_path(error, path) from error
        raise
    return Staged(temporary, destination)


@contextmanager
def replacing(files: Sequence[Staged]) -> Iterator[dict[Path, Path]]:
    """Move files to their destinations, all or none; yields the previous file of each destination under another name.

    If the body fails, all destinations are restored. The previous files are removed at the end.
    """
    kept: dict[Path, Path] = {}
    with ExitStack() as undo, ExitStack() as clean:
        for temporary, _ in files:
            clean.callback(discard, temporary)
        for temporary, destination in files:
            try:
                if destination.exists():
                    kept[destination] = _keep_second_name(destination)
                    clean.callback(discard, kept[destination])
                    undo.callback(kept[destination].replace, destination)
                    temporary.replace(destination)
                else:
                    temporary.replace(destination)
                    undo.callback(discard, destination)
                sync(destination.parent)
            except OSError as error:
                undo.close()
                raise _with_path(error, destination) from error
        try:
            yield kept
        except BaseException:
            undo.close()
            raise
        undo.pop_all()


def write_file(path: Path | str, content: bytes) -> None:
    """Write a file, or replace it."""
    with replacing([stage_file(path, lambda temporary: write_new(temporary, content))]):
        pass


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet."""
    with path.open("xb") as file:
        file.write(content)


def unique_beside(path: Path, suffix: str) -> Path:
    """Return an unused path in the same folder; its name is short, and hidden on Unix."""
    return path.parent / f".{token_hex(6)}{suffix}"


def discard(path: Path) -> None:
    """Remove a file if it exists and can be removed."""
    with suppress(OSError):
        path.unlink()


def sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk now."""
    if path.is_dir():
        with suppress(OSError):  # not every system and file system can
            _sync(os.open(path, os.O_RDONLY))
    else:
        _sync(os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0)))


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _check_replaceable(real: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "It is no regular file")
    if not os.access(real, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _keep_permissions(destination: Path, temporary: Path) -> None:
    owner = _status(destination)
    if owner is None:
        return
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only root can give files away
            os.chown(temporary, owner.st_uid, owner.st_gid)
    temporary.chmod(stat.S_IMODE(owner.st_mode))


def _keep_second_name(destination: Path) -> Path:
    """Keep a file under a second name, as a hard link where the file system supports that."""
    kept = unique_beside(destination, ".old")
    try:
        os.link(destination, kept)
    except OSError:
        try:
            shutil.copy2(destination, kept)
        except BaseException:
            discard(kept)
            raise
    return kept


def _with_path(error: OSError, path: Path | str) -> OSError:
    """Return the same error with the path of the file that the user knows."""
    return type(error)(error.errno, error.strerror or str(error), str(path))
