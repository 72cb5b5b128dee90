# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a newer Blender are warned of, and replaced only when told to."""

import re

import bpy
import pytest

from ..commands import DONE, FAILED


@pytest.fixture
def newer_file(rig_file):
    """The rig's file as if the next Blender had saved it: that is one number in its header."""
    bpy.ops.wm.save_as_mainfile(filepath=str(rig_file), compress=False)
    content = rig_file.read_bytes()
    own = re.match(rb"BLENDER[-0-9]*v(\d+)", content)
    newer = b"%0*d" % (len(own[1]), int(own[1]) + 1)
    rig_file.write_bytes(content[: own.start(1)] + newer + content[own.end(1) :])
    return rig_file


SAVED_BY = r"The file was saved by Blender \d+\.\d+, and this is Blender \d+\.\d+: what it does not know"


def test_a_file_of_a_newer_blender_is_not_overwritten_unless_told_to(run, newer_file):
    before = newer_file.read_bytes()
    code, _, said = run("bake", "FILE", "--tip", "Bone 3", "--overwrite")
    assert code == FAILED
    assert re.search(
        f"IK Triangulation: {SAVED_BY} would be lost. Save to --output FILE, or say --overwrite-newer", said
    )
    assert newer_file.read_bytes() == before
    code, _, said = run("bake", "FILE", "--tip", "Bone 3", "--overwrite", "--overwrite-newer")
    assert code == DONE
    assert re.search(f"Warning: {SAVED_BY}", said)
    assert newer_file.read_bytes() != before


@pytest.mark.parametrize(
    "words", [["solve", "FILE", "--tip", "Bone 3", "--discard"], ["compare", "FILE", "--tip", "Bone 3"]]
)
def test_a_file_of_a_newer_blender_is_warned_of(words, run, newer_file):
    _, _, said = run(*words)
    assert re.search(f"Warning: {SAVED_BY} of it may be missing. Use Blender", said)


def test_a_file_of_a_newer_blender_is_saved_elsewhere(run, newer_file, tmp_path):
    before = newer_file.read_bytes()
    assert run("bake", "FILE", "--tip", "Bone 3", "--output", tmp_path / "out.blend")[0] == DONE
    assert newer_file.read_bytes() == before
    assert run("bake", tmp_path / "out.blend", "--tip", "Bone 3", "--overwrite")[0] == DONE
    assert "newer" not in run("solve", tmp_path / "out.blend", "--tip", "Bone 3", "--discard")[2]
