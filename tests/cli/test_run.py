# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a command: words, misses, faults and being stopped."""

import errno
import json
import os
import sys
from argparse import Namespace
from io import StringIO
from pathlib import Path

import pytest

from ik_triangulation.cli.run import Console, Run

from ..commands import DONE, FAILED, MISSED, started, told

LIMB = ["--tip", "Bone 3"]


def test_a_fault_of_ours_is_in_the_report_too_and_leaves_the_file(run, rig_file, monkeypatch):
    before = rig_file.read_bytes()
    monkeypatch.setattr("ik_triangulation.cli.solving.result_of", lambda *_, **more: 1 / 0)
    code, out, said = run("bake", rig_file, *LIMB, "--overwrite", "--json")
    assert code == FAILED
    assert told(out)["error"] == "Internal error (ZeroDivisionError: division by zero). No file was changed."
    assert "Traceback" in said
    assert rig_file.read_bytes() == before


def test_misses_are_accepted_when_told_to(run, rig_file):
    words = "bake", rig_file, *LIMB, "--target", "Far", "--frame-end", "2", "--discard"
    assert run(*words)[0] == MISSED
    code, _, said = run(*words, "--accept-misses")
    assert code == DONE
    assert "Reached 0 of 2 frames" in said
    assert run("compare", rig_file, *LIMB, "--target", "Far", "--solvers", "ccd", "--accept-misses")[0] == DONE
    assert run("bake", rig_file, "--tip", "hand", "--discard", "--accept-misses")[0] == FAILED


@pytest.mark.parametrize("words", [["-q", "bake"], ["bake", "-q"], ["bake", "--quiet"]], ids=" ".join)
def test_quiet_says_only_errors(words, run, rig_file):
    code, _, said = run(*words, rig_file, *LIMB, "--target", "Far", "--frame-end", "2", "--discard")
    assert (code, said) == (MISSED, "")
    code, _, said = run(*words, rig_file, "--tip", "hand", "--discard")
    assert (code, len(said.splitlines())) == (FAILED, 1)


def test_a_run_that_is_stopped_leaves_the_file_and_nothing_else(rig_file):
    before = rig_file.read_bytes()
    (rig_file.parent / ".rig.blend.lock").write_text(
        json.dumps({"pid": os.getpid(), "host": os.uname().nodename, "token": "x"})
    )
    with started("bake", rig_file, *LIMB, "--overwrite") as process:
        while "Waiting for process" not in process.stderr.readline():
            assert process.poll() is None
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert rig_file.read_bytes() == before
    assert {path.name for path in rig_file.parent.iterdir()} == {"rig.blend", ".rig.blend.lock"}


class Closed:
    """A stream that cannot be written, for the reason given."""

    def __init__(self, path, reason):
        self.descriptor, self.reason = os.open(path, os.O_CREAT | os.O_WRONLY), reason

    def fileno(self):
        return self.descriptor

    def write(self, text):
        raise self.reason

    def flush(self):
        pass


def is_nowhere(stream):
    """Whether all that is written to a stream from now on goes nowhere."""
    nowhere = os.fstat(stream.fileno()).st_rdev == Path(os.devnull).stat().st_rdev
    os.close(stream.fileno())
    return nowhere


def open_files():
    """How many files are open in this process."""

    def is_open(descriptor):
        try:
            return bool(os.fstat(descriptor))
        except OSError:
            return False

    return sum(map(is_open, range(256)))


def test_a_result_that_nobody_reads_is_no_fault_and_one_that_cannot_be_written_is(tmp_path):
    before, read_no_more = open_files(), Closed(tmp_path / "read", BrokenPipeError())
    Console(read_no_more).put("a result")
    assert is_nowhere(read_no_more)
    full = Closed(tmp_path / "full", OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match="No space left on device: 'Standard output'") as fault:
        Console(full).put("a result")
    assert fault.value.errno == errno.ENOSPC
    assert is_nowhere(full)
    assert open_files() == before


@pytest.mark.parametrize("reason", [BrokenPipeError(), OSError(), ValueError("closed file"), None])
def test_messages_that_cannot_be_written_are_no_fault(monkeypatch, reason, tmp_path):
    stream = reason and Closed(tmp_path / "said", reason)
    monkeypatch.setattr(sys, "stderr", stream)
    console = Console(StringIO())
    console.say("a message")
    console.error("an error")
    assert stream is None or is_nowhere(stream) == isinstance(reason, BrokenPipeError)


class Terminal(StringIO):
    def isatty(self):
        return True


def test_frames_are_counted_on_one_line_of_a_terminal_and_nowhere_else(monkeypatch):
    def shown(stream, of, quiet=False):
        monkeypatch.setattr(sys, "stderr", stream)
        progress = Run(Namespace(file=None), Console(StringIO(), quiet)).progress()
        for done in range(1, of + 1) if progress else ():
            progress(done, of)
        return stream and stream.getvalue()

    assert shown(Terminal(), 3) == "\r1 of 3 frames\r2 of 3 frames\r3 of 3 frames\n"
    each = [*range(2, 251, 2)]  # 1 % of the frames are 2, so a line is written 125 times
    assert shown(Terminal(), 250) == "".join(f"\r{done} of 250 frames" for done in each) + "\n"
    assert shown(Terminal(), 251).endswith("\r250 of 251 frames\r251 of 251 frames\n")
    assert shown(Terminal(), 3, quiet=True) == shown(StringIO(), 3) == ""
    assert shown(None, 3) is None


def test_a_report_of_a_failure_goes_where_it_was_asked_for_or_nowhere(tmp_path, addon):
    for where in (None, "-", str(tmp_path / "report.json")):
        out = StringIO()
        arguments = Namespace(file=None, command="solve", json=where, output=None)
        Run(arguments, Console(out)).report_failure("Why it failed")
        text = out.getvalue() if where == "-" else Path(where).read_text() if where else ""
        assert bool(out.getvalue()) == (where == "-")
        if where:
            found = json.loads(text)
            assert (found["error"], found["file"], found["reached"]) == ("Why it failed", None, False)
