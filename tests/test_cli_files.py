# SPDX-License-Identifier: GPL-3.0-or-later
"""No run of the command line loses a file: not on a full disk, not two at once, not whatever it is told to write.

With IK_TRIANGULATION_ROUNDS=50 the runs on a full disk and two at once are done that often.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from ik_triangulation.cli import main
from ik_triangulation.cli.blend import note_saved
from ik_triangulation.cli.blend_check import is_whole
from ik_triangulation.cli.lock import lock_of, locked
from ik_triangulation.errors import IKError
from ik_triangulation.presets import SUFFIX

from .commands import DONE, FAILED, command, opened, save_rig, started
from .rigs import curves_of, key_frames

try:
    import resource
except ModuleNotFoundError:  # on Windows
    resource = None

ROUNDS = int(os.environ.get("IK_TRIANGULATION_ROUNDS", "2"))
LIMB = ["--tip", "Bone 3"]
posix = pytest.mark.skipif(os.name == "nt", reason="links, pipes and permissions as on Unix")


@pytest.fixture
def rig_file(empty_scene, tmp_path):
    folder = tmp_path / "shot"
    folder.mkdir()
    return save_rig(empty_scene, folder / "rig.blend")


@pytest.fixture
def run(addon, rig_file, capfd):
    """Run the command line here; exit code, standard output and standard error."""

    def here(*words):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        capfd.readouterr()
        code = main([str(word) for word in words])
        return code, *capfd.readouterr()

    return here


@pytest.fixture
def nothing_changes(rig_file):
    """Check at the end that the folder of the file holds just what it held."""
    before = contents(rig_file.parent)
    yield
    assert contents(rig_file.parent) == before


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else os.fspath(path) for path in folder.rglob("*")
    }


def keyed(path):
    return {frame for curve in curves_of(opened(path)) for frame in key_frames(curve)}


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


@pytest.mark.parametrize("compress", [True, False], ids=["compressed", "plain"])
def test_a_file_that_was_cut_off_anywhere_is_not_whole(compress, rig_file):
    opened(rig_file)
    bpy.ops.wm.save_as_mainfile(filepath=str(rig_file), compress=compress)
    assert is_whole(rig_file)
    content = rig_file.read_bytes()
    part = rig_file.with_name("part.blend")
    for size in {*range(0, len(content), len(content) // 50), len(content) - 1, len(content) - 9, 3, 8, 13}:
        part.write_bytes(content[:size])
        assert not is_whole(part), size
    part.write_bytes(content + b"\0")
    assert not is_whole(part)
    hole = len(content) // 2
    part.write_bytes(content[:hole] + content[hole + 4096 :])
    assert not is_whole(part)


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


def test_a_lock_whose_process_is_gone_or_that_is_old_is_taken_over_and_another_is_waited_for(rig_file):
    lock = lock_of(rig_file)
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    with locked(rig_file):
        mine = json.loads(lock.read_text())
        for lasting in (mine, mine | {"host": "elsewhere"}, {}):
            lock.write_text(json.dumps(lasting))
            with pytest.raises(IKError, match=r"rig\.blend' is being changed by .*process"), locked(rig_file, 0.1):
                pass
            assert lock.exists()
    stale = {"a process that is gone": (mine | {"pid": ended.pid}, 0), "an old lock": (mine, 25), "nothing": ({}, 1)}
    for what, (holder, hours) in stale.items():
        lock.write_text(json.dumps(holder))
        then = time.time() - hours * 3600
        os.utime(lock, (then, then))
        with locked(rig_file, 0.1):
            assert json.loads(lock.read_text())["pid"] == os.getpid(), what
        assert list(rig_file.parent.iterdir()) == [rig_file]


def test_a_lock_has_one_holder_at_a_time_however_many_want_to_take_over_a_stale_one(rig_file):
    lock_of(rig_file).write_text(json.dumps({"pid": 2**22 + 1, "host": "", "token": "x"}))
    then = time.time() - 25 * 3600
    os.utime(lock_of(rig_file), (then, then))
    count = rig_file.with_name("count")
    count.write_text("0")
    script = (
        "import sys, time; from pathlib import Path; import bpy; from ik_triangulation.cli.lock import locked\n"
        "file, count = map(Path, sys.argv[1:])\n"
        "for _ in range(20):\n"
        "    with locked(file):\n"
        "        value = int(count.read_text()); time.sleep(0.002); count.write_text(str(value + 1))\n"
    )
    run = [sys.executable, "-c", script, str(rig_file), str(count)]
    both = [subprocess.Popen(run, cwd=Path(__file__).parent.parent) for _ in range(2)]
    assert [each.wait(120) for each in both] == [0, 0]
    assert count.read_text() == "40"


def test_two_runs_at_once_on_one_file_both_have_their_keys_in_it(rig_file):
    whole = rig_file.read_bytes()
    codes = []
    for _ in range(ROUNDS):
        rig_file.write_bytes(whole)
        ranges = (1, 3), (11, 13)
        both = [
            started("bake", rig_file, *LIMB, "--frame-start", first, "--frame-end", last, "--overwrite")
            for first, last in ranges
        ]
        said = [each.communicate(timeout=120)[1] for each in both]
        codes.append(tuple(each.returncode for each in both))
        found = keyed(rig_file)
        for code, (first, last), text in zip(codes[-1], ranges, said, strict=True):
            assert code == DONE, text
            assert set(range(first, last + 1)) <= found
        assert not [path for path in rig_file.parent.iterdir() if path.name[0] == "."]
    print(f"Two at once: {len(codes)} rounds, exit codes {sorted(set(codes))}")


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
def test_a_file_that_may_not_grow_any_more_is_told_and_the_old_one_stays(rig_file, nothing_changes):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = command("bake", rig_file, *LIMB, "--overwrite", "--json", preexec_fn=limit)
    assert done.returncode == FAILED, done.stderr
    assert "cannot be written" in json.loads(done.stdout)["error"]


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
