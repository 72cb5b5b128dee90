# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that is opened and saved keeps what belongs to it, and is whole or as it was."""

import os
import shutil
import stat
from errno import EIO, ENAMETOOLONG
from pathlib import Path

import bpy
import pytest

from ik_triangulation.cli import main
from ik_triangulation.cli.blend import note_saved, write_blend

from ..commands import DONE, FAILED, opened
from .files import LIMB, contents, keyed, posix

INPUTS = {
    "a pipe": ("pipe", "is not a regular file"),
    "a folder": (".", "is not a regular file"),
    "too long a name": (300 * "x", "File name too long"),
    "too long a path": (2500 * "x/", "File name too long"),
    "too long a path for Blender": (5 * ("y" * 220 + "/") + "rig.blend", "is too long a path: Blender takes"),
}


@posix
@pytest.mark.parametrize("what", INPUTS)
@pytest.mark.parametrize("words", [["--discard"], ["--overwrite"]], ids=["read", "overwritten"])
def test_what_is_no_file_is_told(what, words, run, rig_file):
    path, message = INPUTS[what]
    path = rig_file.parent / path
    if path.name == "pipe":
        os.mkfifo(path)
    elif path.name == "rig.blend":
        path.parent.mkdir(parents=True)
        shutil.copy(rig_file, path)
    before = contents(rig_file.parent)
    code, _, said = run("bake", path, *LIMB, *words)
    assert code == FAILED
    assert message in said
    assert len(said.splitlines()) == 1
    assert contents(rig_file.parent) == before


@posix
def test_a_file_keeps_its_permissions_its_link_and_its_older_versions(run, rig_file):
    old = rig_file.read_bytes()
    elsewhere = rig_file.parent.parent / "store"
    elsewhere.mkdir()
    real = rig_file.rename(elsewhere / "v1.blend")
    rig_file.symlink_to(real)
    real.chmod(0o640)
    versions = bpy.context.preferences.filepaths.save_version
    assert run("bake", rig_file, *LIMB, "--frame-end", 2, "--overwrite")[0] == DONE
    assert rig_file.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert keyed(rig_file) == {1, 2}
    assert (versions, real.with_name("v1.blend1").read_bytes()) == (1, old)
    assert {path.name for path in elsewhere.iterdir()} == {"v1.blend", "v1.blend1"}


def test_relative_paths_lead_to_the_same_files_from_where_a_file_is_saved(run, rig_file):
    opened(rig_file)
    picture = bpy.data.images.new("Picture", 1, 1)
    picture.source, picture.filepath, picture.use_fake_user = "FILE", "//textures/a.png", True
    bpy.ops.wm.save_mainfile()
    assert run("bake", rig_file, *LIMB, "--overwrite")[0] == DONE
    opened(rig_file)
    assert bpy.data.images["Picture"].filepath == "//textures/a.png"
    (rig_file.parent / "out").mkdir()
    assert run("bake", rig_file, *LIMB, "--output", rig_file.parent / "out/b.blend")[0] == DONE
    opened(rig_file.parent / "out/b.blend")
    assert Path(bpy.path.abspath(bpy.data.images["Picture"].filepath)).resolve() == (rig_file.parent / "textures/a.png")


@pytest.mark.parametrize("compress", [True, False], ids=["compressed", "plain"])
def test_a_file_stays_as_compressed_as_it_was_and_holds_no_temporary_name(compress, run, rig_file):
    opened(rig_file)
    bpy.ops.wm.save_as_mainfile(filepath=str(rig_file), compress=compress)
    assert run("bake", rig_file, *LIMB, "--overwrite")[0] == DONE
    content = rig_file.read_bytes()
    assert content.startswith(b"BLENDER") != compress
    if not compress:
        assert str(rig_file.parent / ".").encode() not in content


def test_a_file_that_was_changed_since_it_was_read_is_left_as_it_is(addon, rig_file, capfd):
    opened(rig_file)
    newer = rig_file.read_bytes() + b" "
    rig_file.write_bytes(newer)
    assert main(["bake", *LIMB, "--overwrite"]) == FAILED
    assert (
        "rig.blend' has changed since it was read, and was not overwritten. Run this again." in capfd.readouterr().err
    )
    assert rig_file.read_bytes() == newer
    assert {path.name for path in rig_file.parent.iterdir()} == {"rig.blend"}
    note_saved()
    assert main(["bake", *LIMB, "--overwrite"]) == DONE
    assert main(["bake", *LIMB, "--frame-end", "3", "--overwrite"]) == DONE, "its own change"


def test_a_file_that_blender_cannot_write_is_told_in_its_words(addon, tmp_path):
    with pytest.raises(OSError, match=r"[Cc]annot") as fault:
        write_blend(tmp_path / "no/folder.blend", remap=False)
    assert fault.value.errno == EIO
    assert not fault.value.strerror.startswith("Error: ")
    assert not fault.value.strerror.endswith(".")
    assert "\n" not in fault.value.strerror
    with pytest.raises(OSError, match="The path is too long: Blender takes 1023 bytes") as fault:
        write_blend(tmp_path / ("x" * 1023), remap=False)
    assert fault.value.errno == ENAMETOOLONG
