# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are replaced whole and all together, or stay as they were."""

import errno
import os
from contextlib import contextmanager

import numpy as np
import pytest

from ik_triangulation.errors import SettingError
from ik_triangulation.kinematics import Free
from ik_triangulation.maps.metric_map import write_npy, write_png
from ik_triangulation.presets.file import Preset, PresetJoint, write_preset
from ik_triangulation.rig.safe_files import (
    real_destination,
    replacing,
    stage_file,
    stamp_of,
    write_file,
    write_new,
)


def staged(path, content):
    return stage_file(path, lambda temporary: write_new(temporary, content))


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_file_that_cannot_be_replaced_leaves_those_before_it_as_they_were(tmp_path):
    old, new, last = (tmp_path / name for name in ("old", "new", "last"))
    old.write_bytes(b"old")
    files = [staged(path, b"new") for path in (old, new, last)]
    last.mkdir()  # meanwhile
    with pytest.raises(IsADirectoryError, match="last"), replacing(files):
        pass
    assert old.read_bytes() == b"old"
    assert names(tmp_path) == {"old", "last"}


def test_what_fails_after_the_replacing_takes_it_back(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"old")

    def stop_after_replacing():
        with replacing([staged(old, b"1"), staged(new, b"2")]) as kept:
            assert (old.read_bytes(), new.read_bytes(), kept[old].read_bytes()) == (b"1", b"2", b"old")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_after_replacing()
    assert old.read_bytes() == b"old"
    assert names(tmp_path) == {"old"}


def test_a_writer_that_fails_half_way_leaves_nothing_behind(tmp_path):
    (tmp_path / "old").write_bytes(b"old")

    def fail(temporary):
        temporary.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(temporary))

    with pytest.raises(OSError, match=r"No space left on device: '.*/old'"):
        stage_file(tmp_path / "old", fail)
    assert (names(tmp_path), (tmp_path / "old").read_bytes()) == ({"old"}, b"old")


@pytest.mark.skipif(os.name == "nt", reason="permissions and links as on Unix")
def test_a_new_file_has_the_usual_permissions_and_an_old_one_its_own(tmp_path):
    usual, new, old = tmp_path / "usual", tmp_path / "new", tmp_path / "old"
    usual.write_bytes(b"")
    old.write_bytes(b"")
    old.chmod(0o604)
    (tmp_path / "link").symlink_to(old)
    write_file(new, b"new")
    write_file(tmp_path / "link", b"new")
    assert new.stat().st_mode == usual.stat().st_mode
    assert (old.stat().st_mode & 0o777, old.read_bytes()) == (0o604, b"new")
    assert (tmp_path / "link").is_symlink()


WRITERS = {
    "a picture": lambda path: write_png(path, np.zeros((1, 1, 4), np.uint8)),
    "numbers": lambda path: write_npy(path, np.zeros(1)),
    "a preset": lambda path: write_preset(Preset("Mine", [PresetJoint("a", Free())]), path),
}


@contextmanager
def no_file_may_grow():
    """As on a full disk, without one; only round the call that is tried, as pytest may write to a file itself."""
    resource = pytest.importorskip("resource")  # on Unix
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("what", WRITERS)
def test_pictures_numbers_and_presets_that_cannot_be_written_leave_the_old_file(what, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises((OSError, SettingError), match="File too large"), no_file_may_grow():
        WRITERS[what](path)
    assert (names(tmp_path), path.read_bytes()) == ({"file"}, b"old")


@pytest.mark.parametrize("what", WRITERS)
def test_pictures_numbers_and_presets_replace_the_old_file(what, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    WRITERS[what](path)
    assert names(tmp_path) == {"file"}
    assert path.read_bytes() != b"old"


def test_where_no_file_can_be_is_told_by_the_path_that_was_given(tmp_path):
    for path, kind, text in (
        (tmp_path / "nowhere" / "file", FileNotFoundError, os.strerror(errno.ENOENT)),
        (tmp_path, IsADirectoryError, os.strerror(errno.EISDIR)),
        ("a\0b", OSError, os.strerror(errno.EINVAL)),
    ):
        with pytest.raises(kind, match=text) as told:
            real_destination(path)
        assert told.value.filename == str(path)
    assert real_destination(tmp_path / "new") == (tmp_path / "new").resolve()


@pytest.mark.skipif(os.name == "nt", reason="pipes and permissions as on Unix")
def test_what_is_no_regular_file_or_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "old").write_bytes(b"")
    with pytest.raises(OSError, match="It is no regular file"):
        real_destination(tmp_path / "pipe")
    for kept in (tmp_path / "old", tmp_path):  # root may write all, so the system is not asked
        monkeypatch.setattr(os, "access", lambda path, _, kept=kept: path != kept.resolve())
        with pytest.raises(PermissionError):
            real_destination(tmp_path / "old")


def test_a_file_is_stamped_anew_when_it_is_written(tmp_path):
    path = tmp_path / "file"
    assert stamp_of(path) is None
    path.write_bytes(b"old")
    stamp, found = stamp_of(path), path.stat()
    assert stamp == (3, found.st_mtime_ns, found.st_ino, found.st_dev)
    write_file(path, b"new")
    assert stamp_of(path) != stamp


def test_where_there_are_no_links_the_old_file_is_copied(tmp_path, monkeypatch):
    def without_links(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", without_links)
    old = tmp_path / "old"
    old.write_bytes(b"old")
    with replacing([staged(old, b"new")]) as kept:
        assert (old.read_bytes(), kept[old].read_bytes()) == (b"new", b"old")
    assert names(tmp_path) == {"old"}


def test_an_interruption_while_writing_leaves_nothing_behind(tmp_path):
    def stop(temporary):
        temporary.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage_file(tmp_path / "new", stop)
    assert names(tmp_path) == set()
