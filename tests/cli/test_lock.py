# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time replaces a file; the lock of a run that is gone is taken over."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ik_triangulation.cli.outputs import lock_of, locked
from ik_triangulation.errors import IKError

from ..commands import DONE, started
from .files import LIMB, ROUNDS, keyed


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
        "import sys, time; from pathlib import Path; import bpy; from ik_triangulation.cli.outputs import locked\n"
        "file, count = map(Path, sys.argv[1:])\n"
        "print('ready', flush=True); input()\n"
        "for _ in range(20):\n"
        "    with locked(file):\n"
        "        value = int(count.read_text()); time.sleep(0.002); count.write_text(str(value + 1))\n"
    )
    run = [sys.executable, "-c", script, str(rig_file), str(count)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(run, cwd=Path(__file__).resolve().parents[2], **pipes) as other:
        while other.stdout.readline() != "ready\n":
            assert other.poll() is None
        other.stdin.write("go\n")
        other.stdin.flush()
        for _ in range(20):
            with locked(rig_file):
                value = int(count.read_text())
                time.sleep(0.002)
                count.write_text(str(value + 1))
    assert other.returncode == 0
    assert count.read_text() == "40"


def test_a_run_that_has_waited_for_another_one_keeps_the_keys_of_that(run, rig_file, tmp_path):
    done = tmp_path / "done.blend"
    assert run("bake", rig_file, *LIMB, "--frame-start", 1, "--frame-end", 3, "--output", done)[0] == DONE
    with locked(rig_file):
        process = started("bake", rig_file, *LIMB, "--frame-start", 11, "--frame-end", 13, "--overwrite")
        while "Waiting for process" not in process.stderr.readline():
            assert process.poll() is None
        shutil.copy(done, rig_file)
    with process:
        said = process.communicate(timeout=120)[1]
    assert process.returncode == DONE, said
    assert {1, 2, 3, 11, 12, 13} <= keyed(rig_file)
    assert not [path for path in rig_file.parent.iterdir() if path.name[0] == "."]


@pytest.mark.long
def test_two_runs_at_once_on_one_file_both_have_their_keys_in_it(rig_file):
    whole = rig_file.read_bytes()
    codes = []
    for _ in range(ROUNDS - 1):  # one by default: each starts two processes
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


def test_the_lock_stands_beside_the_file_under_a_name_that_the_disk_takes(tmp_path):
    assert lock_of(tmp_path / "shot.blend") == tmp_path / ".shot.blend.lock"
    names = {"x" * length: lock_of(tmp_path / ("x" * length)).name for length in (227, 230, 231, 250)}
    assert [len(name) for name in names.values()] == [233, 38, 38, 38]
    assert len(set(names.values())) == 4, "each file has its own"
    for name in names:
        with locked(tmp_path / name):
            assert lock_of(tmp_path / name).exists()


def test_what_is_half_made_is_taken_over_after_half_a_minute(rig_file):
    lock, gone = lock_of(rig_file), {"pid": 2**22 + 1, "host": socket.gethostname(), "token": "x"}
    claim = lock.with_name(f"{lock.name}.x")

    def aged(path, text, seconds):
        path.write_text(text)
        os.utime(path, (time.time() - seconds,) * 2)

    for seconds, free in ((20, False), (40, True)):
        aged(lock, "{", seconds)
        if free:
            with locked(rig_file, 0.0):
                pass
            continue
        with pytest.raises(IKError, match="is being changed by another process"), locked(rig_file, 0.0):
            pass
        lock.unlink()
    for seconds, free in ((20, False), (40, True)):  # a process that was taking over when it ended
        aged(claim, "{", seconds)
        aged(lock, json.dumps(gone), 0)
        if free:
            with locked(rig_file, 0.2):
                assert json.loads(lock.read_text())["pid"] == os.getpid()
            continue
        with pytest.raises(IKError, match=f"is being changed by process {gone['pid']} on"), locked(rig_file, 0.0):
            pass
        claim.unlink()
    assert list(rig_file.parent.iterdir()) == [rig_file]


def test_a_lock_that_another_one_holds_by_the_end_is_left_to_it(rig_file):
    with locked(rig_file):
        lock_of(rig_file).write_text(json.dumps({"pid": 1, "host": "elsewhere", "token": "theirs"}))
    assert lock_of(rig_file).exists()
    told = []
    with pytest.raises(IKError, match="process 1 on elsewhere"), locked(rig_file, 0.12, told.append):
        pass
    assert told == [f"Waiting for process 1 on elsewhere to finish with '{rig_file}'"]
