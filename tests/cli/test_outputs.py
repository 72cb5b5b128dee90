# SPDX-License-Identifier: GPL-3.0-or-later
"""No run of the command line loses a file: not on a full disk, not two at once, not whatever it is told to write.

With IK_TRIANGULATION_ROUNDS=50 the runs on a full disk and two at once are done that often.
"""

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import bpy
import pytest

from ik_triangulation.cli import main
from ik_triangulation.cli.outputs import check_outputs, keep_versions, outputs_of, written
from ik_triangulation.errors import IKError
from ik_triangulation.presets import SUFFIX

from ..commands import DONE, FAILED, command, opened, told
from .files import LIMB, ROUNDS, contents, keyed, posix

try:
    import resource
except ModuleNotFoundError:  # on Windows
    resource = None


@pytest.fixture
def nothing_changes(rig_file):
    """Check at the end that the folder of the file holds just what it held."""
    before = contents(rig_file.parent)
    yield
    assert contents(rig_file.parent) == before


# Outputs that would destroy something. FILE is the input, and stands in the folder HERE.
CLASHES = {
    "a report onto the input": ("solve", "--discard", "--json", "FILE"),
    "a report onto the input to be overwritten": ("solve", "--overwrite", "--json", "FILE"),
    "a report onto the output": ("bake", "--output", "HERE/out.blend", "--json", "HERE/out.blend"),
    "a report onto the output by another path": ("bake", "--output", "HERE/a/../out", "--json", "HERE/out"),
    "the output onto the input by another path": ("bake", "--output", "HERE/a/../rig.blend"),
    "the output onto a link to the input": ("bake", "--output", "HERE/link.blend"),
    "a report onto a link to the input": ("solve", "--discard", "--json", "HERE/link.blend"),
    "a report onto another name of the input": ("solve", "--discard", "--json", "HERE/same.blend"),
    "a report onto a link to nothing that is the output": ("bake", "--output", "HERE/x", "--json", "HERE/to-x"),
    "a report onto the preset": ("solve", "--discard", "--preset", "HERE/mine.json", "--json", "HERE/mine.json"),
    "a picture onto the input": ("map", "--png", "FILE"),
    "numbers onto the input": ("map", "--npy", "FILE"),
    "places onto the input": ("map", "--volume", "FILE"),
    "a picture onto the numbers": ("map", "--png", "HERE/map", "--npy", "HERE/map"),
    "a report onto a picture": ("map", "--png", "HERE/map", "--json", "HERE/map"),
}
UNWRITABLE = {
    "a folder": ("HERE/a", "Is a directory"),
    "a folder that is not there": ("HERE/no/report", "No such file or directory"),
    "a folder that is a file": ("FILE/report", "Not a directory"),
    "a pipe": ("HERE/pipe", "It is no regular file"),
    "a device": ("/dev/null", "It is no regular file"),
    "too long a name": ("HERE/" + 300 * "x", "File name too long"),
    "too long a path": (2500 * "x/" + "y", "File name too long"),
}


@pytest.fixture
def place(rig_file):
    """Fill in FILE and HERE, a folder with links, a pipe and a preset."""
    here = rig_file.parent
    (here / "a").mkdir()
    (here / "link.blend").symlink_to(rig_file)
    (here / "to-x").symlink_to(here / "x")
    os.link(rig_file, here / "same.blend")
    os.mkfifo(here / "pipe")
    assert SUFFIX == ".json"
    shutil.copy(next(Path(main.__code__.co_filename).parents[1].glob("presets/*/Finger.json")), here / "mine.json")
    return lambda words: [str(word).replace("FILE", str(rig_file)).replace("HERE", str(here)) for word in words]


@posix
@pytest.mark.parametrize("what", CLASHES)
def test_an_output_that_is_an_input_or_another_output_is_refused_before_anything_is_read(what, run, place, rig_file):
    before = contents(rig_file.parent)
    name, *words = place(CLASHES[what])
    code, out, said = run(name, rig_file, *LIMB, *words)
    assert code == FAILED
    assert "Read blend" not in out + said
    assert [line for line in said.splitlines() if "Choose another" in line] == said.splitlines()
    assert contents(rig_file.parent) == before


@posix
@pytest.mark.parametrize("flag", ["--json", "--output"])
@pytest.mark.parametrize("what", UNWRITABLE)
def test_an_output_that_cannot_be_written_is_told_before_anything_is_read(what, flag, run, place, rig_file):
    before = contents(rig_file.parent)
    path, reason = UNWRITABLE[what]
    words = place(["--overwrite", flag, path] if flag == "--json" else [flag, path])
    code, out, said = run("bake", rig_file, *LIMB, *words)
    assert code == FAILED
    assert "Read blend" not in out + said
    assert f"cannot be written: {reason}." in said
    assert len(said.splitlines()) == 1
    assert contents(rig_file.parent) == before


@posix
def test_an_output_onto_a_file_that_the_input_links_is_refused(run, rig_file):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    library = rig_file.with_name("library.blend")
    bpy.data.libraries.write(str(library), {bpy.data.worlds.new("Sky")})
    opened(rig_file)
    with bpy.data.libraries.load(str(library), link=True) as (there, here):
        here.worlds = there.worlds
    bpy.context.scene.world = here.worlds[0]
    bpy.ops.wm.save_mainfile()
    before = contents(rig_file.parent)
    code, _, said = run("bake", rig_file, *LIMB, "--overwrite", "--json", library)
    assert code == FAILED
    assert "library.blend' is linked by the input" in said
    assert contents(rig_file.parent) == before


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root on Linux can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("words", [["--overwrite"], ["--output", "DISK/out.blend"]], ids=["overwrite", "output"])
def test_a_full_disk_is_told_and_the_old_file_stays(words, run, rig_file, small_disk):
    codes = []
    for number in range(ROUNDS):
        opened(rig_file)
        file, filler = small_disk / "rig.blend", small_disk / "filler"
        for path in small_disk.iterdir():
            path.unlink()
        bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True, compress=bool(number % 2))
        before = file.read_bytes()
        free = shutil.disk_usage(small_disk).free
        room = min(len(before), free) * number // (ROUNDS + 1) // 4096 * 4096
        filler.write_bytes(bytes(max(0, free - room)))
        words_here = [word.replace("DISK", str(small_disk)) for word in words]
        report = [] if number % 3 else ["--json", small_disk / "report.json"]
        code, _, said = run("bake", file, *LIMB, *words_here, *report)
        codes.append(code)
        assert code == FAILED, said
        assert "cannot be written" in said or "cannot be locked" in said
        assert file.read_bytes() == before
        left = {path.name for path in small_disk.iterdir()}
        assert left <= {"rig.blend", "filler", "report.json"}
    print(f"Full disk: {len(codes)} runs, exit codes {sorted(set(codes))}")


@posix
def test_a_file_that_may_not_grow_any_more_is_told_and_the_old_one_stays(run, rig_file, nothing_changes):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))
    try:
        code, out, said = run("bake", rig_file, *LIMB, "--overwrite", "--json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == FAILED, said
    assert "cannot be written" in told(out)["error"]


def test_a_report_that_nobody_reads_to_its_end_is_no_fault(rig_file):
    read, write = os.pipe()
    os.close(read)
    done = command("bake", rig_file, *LIMB, "--overwrite", "--json", stdout=write)
    os.close(write)
    assert done.returncode == DONE, done.stderr
    assert "Traceback" not in done.stderr
    assert keyed(rig_file) == {1, 2, 3, 4, 5, 6}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_report_that_cannot_be_written_to_standard_output_leaves_the_file(rig_file, nothing_changes):
    with Path("/dev/full").open("w") as full:
        done = command("bake", rig_file, *LIMB, "--overwrite", "--json", stdout=full)
    assert done.returncode == FAILED
    assert "'Standard output' cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_folders_of_outputs_are_made_if_wanted(run, rig_file, tmp_path):
    out, report = tmp_path / "a/b/out.blend", tmp_path / "c/d/report.json"
    words = ["bake", rig_file, *LIMB, "--output", out, "--json", report]
    code, _, said = run(*words)
    assert code == FAILED
    assert f"'{out}' cannot be written: No such file or directory." in said
    assert not (tmp_path / "a").exists()
    code, _, said = run(*words, "--make-folders")
    assert code == DONE, said
    assert out.is_file()
    assert json.loads(report.read_text())["reached"] is True
    code, _, said = run("bake", rig_file, *LIMB, "--output", out / "file/x.blend", "--make-folders")
    assert code == FAILED
    assert "cannot be written: Not a directory" in said or "cannot be written: File exists" in said


def test_a_failure_is_reported_in_a_folder_that_is_made(run, rig_file, tmp_path):
    report = tmp_path / "new/report.json"
    code, _, _ = run("bake", rig_file, "--tip", "hand", "--discard", "--json", report, "--make-folders")
    assert code == FAILED
    made = json.loads(report.read_text())
    assert (made["reached"], made["tips"], made["missed"]) == (False, [], [])
    assert made["error"]


@pytest.mark.parametrize(
    ("count", "there", "kept"),
    [
        (0, {}, {}),
        (1, {}, {1: "old"}),
        (1, {1: "older"}, {1: "old"}),
        (3, {1: "a", 2: "b", 3: "c"}, {1: "old", 2: "a", 3: "b"}),
        (3, {2: "b"}, {1: "old", 3: "b"}),
    ],
)
def test_as_many_older_versions_are_kept_as_blender_keeps(count, there, kept, tmp_path):
    file, old = tmp_path / "shot.blend", tmp_path / "old"
    old.write_text("old")
    for number, text in there.items():
        Path(f"{file}{number}").write_text(text)
    keep_versions(file, old, count)
    assert {int(path.name[-1]): path.read_text() for path in tmp_path.glob("shot.blend?")} == kept
    assert old.exists() == (count == 0)


def test_files_are_written_together_or_not_at_all(tmp_path):
    one, two, gone = tmp_path / "one", tmp_path / "two", tmp_path / "no/folder"
    two.write_text("before")

    def text_of(path):
        path.write_text("now")

    def refuse():
        raise IKError("Not now.")

    for files, check, message in (
        ({one: text_of, two: text_of}, refuse, r"Not now\."),
        ({one: text_of, gone: text_of}, refuse, "cannot be written: No such file or directory"),
    ):
        with pytest.raises(IKError, match=message), written(files, check):
            pass
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"two": "before"}
    with written({one: text_of, two: text_of}, lambda: None) as kept:
        assert {path.name for path in kept} == {"two"}
        assert kept[two.resolve()].read_text() == "before"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "now", "two": "now"}


def test_outputs_are_those_that_name_a_file(addon, tmp_path):
    assert outputs_of(Namespace(output=None, json="-", png=tmp_path / "map.png")) == {"--png": tmp_path / "map.png"}
    assert outputs_of(Namespace(json="report.json")) == {"--json": Path("report.json")}
    nothing = Namespace(file=None, json="-", overwrite=False)
    check_outputs(nothing)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with pytest.raises(IKError, match="There is no file to overwrite"):
        check_outputs(Namespace(file=None, json=None, overwrite=True))
    with pytest.raises(IKError, match=r"x{50}\.\.\.y{90}' cannot be written"):
        check_outputs(Namespace(file=None, json="/no/" + 150 * "x" + 150 * "y"))


@posix
def test_on_a_disk_that_ignores_case_names_that_differ_by_it_are_one_file(addon, tmp_path):
    folder, given = tmp_path / "Shots", {"file": None, "overwrite": False}
    folder.mkdir()
    both = Namespace(output=folder / "one", json=str(folder / "ONE"), **given)
    check_outputs(both)
    (tmp_path / "sHOTS").symlink_to(folder)  # as such a disk has every folder by any case
    with pytest.raises(IKError, match="--output and --json are the same file"):
        check_outputs(both)
    check_outputs(Namespace(output=folder / "one", json=str(folder / "other"), **given))
