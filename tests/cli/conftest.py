# SPDX-License-Identifier: GPL-3.0-or-later
"""A file for the command line to work on, and the command line in this process: starting Blender takes a second."""

from io import StringIO
from subprocess import CompletedProcess

import bpy
import pytest

from ik_triangulation.cli import main

from .. import commands
from ..commands import save_rig


@pytest.fixture
def rig_file(empty_scene, tmp_path):
    folder = tmp_path / "shot"
    folder.mkdir()
    return save_rig(empty_scene, folder / "rig.blend")


@pytest.fixture
def run(empty_file, rig_file, capfd):
    """Run the command line with FILE for the file of the rig; exit code, standard output and standard error."""

    def here(*words):
        bpy.ops.wm.read_homefile(filepath=empty_file)
        capfd.readouterr()
        code = main([str(rig_file if word == "FILE" else word) for word in words])
        return code, *capfd.readouterr()

    return here


@pytest.fixture
def command(empty_file, capfd, pytestconfig):
    """Run the command line on saved files: in this process, or with --long in one of its own as users do.

    Tests of test_envelope, test_outputs, test_lock and test_run start processes always.
    """
    if pytestconfig.option.long:
        return commands.command

    def here(*words):
        bpy.ops.wm.read_homefile(filepath=empty_file)
        capfd.readouterr()
        out = StringIO()
        code = main([str(word) for word in words], out)
        return CompletedProcess(words, code, out.getvalue(), capfd.readouterr().err)

    return here
