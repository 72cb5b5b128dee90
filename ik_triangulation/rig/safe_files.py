# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files so that none is ever lost: beside their destination, synced to the disk, then moved over it.

A file is whole or not there at all, and what it replaces stays as it was until that moment, and if anything fails.
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

Write = Callable[[Path], object]  # writes a file that is not there yet


class Staged(NamedTuple):
    """A file that is written and synced, but not yet at its destination."""

    temporary: Path
    destination: Path


class Stamp(NamedTuple):
    """What changes when somebody else writes a file."""

    size: int
    modified: int
    inode: int
    device: int


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the stamp of a file; None if there is none."""
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
        raise _about(error, path) from error
    except ValueError as error:  # a zero byte in it
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path)) from error
    return real


def stage_file(path: Path | str, write: Write, suffix: str = ".tmp") -> Staged:
    """Have `write` make a file of a unique name beside `path`, with the permissions of what is there, and sync it."""
    destination = real_destination(path)
    temporary = unique_beside(destination, suffix)
    try:
        write(temporary)
        _keep_permissions(destination, temporary)
        sync(temporary)
    except BaseException as error:
        discard(temporary)
        if isinstance(error, OSError):
            raise _about(error, path) from error
        raise
    return Staged(temporary, destination)


@contextmanager
def replacing(files: Sequence[Staged]) -> Iterator[dict[Path, Path]]:
    """Move files to their destinations, all or none; yields what each destination held before, as another file.

    If the body fails, all destinations are as they were before. What they held is removed at the end.
    """
    kept: dict[Path, Path] = {}
    with ExitStack() as undo, ExitStack() as clean:
        for temporary, _ in files:
            clean.callback(discard, temporary)
        for temporary, destination in files:
            try:
                if destination.exists():
                    kept[destination] = _keep(destination)
                    clean.callback(discard, kept[destination])
                    undo.callback(kept[destination].replace, destination)
                    temporary.replace(destination)
                else:
                    temporary.replace(destination)
                    undo.callback(discard, destination)
                sync(destination.parent)
            except OSError as error:
                undo.close()
                raise _about(error, destination) from error
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
    """Write a file that must not be there yet."""
    with path.open("xb") as file:
        file.write(content)


def unique_beside(path: Path, suffix: str) -> Path:
    """Return a path in the same folder that no file has; its name is short, and hidden on Unix."""
    return path.parent / f".{token_hex(6)}{suffix}"


def discard(path: Path) -> None:
    """Remove a file if it is there and can be removed."""
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


def _keep(destination: Path) -> Path:
    """Keep what is in a file under a second name, as a link where the file system has them."""
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


def _about(error: OSError, path: Path | str) -> OSError:
    """Return the same error, of the file that the user knows."""
    return type(error)(error.errno, error.strerror or str(error), str(path))
