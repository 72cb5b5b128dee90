# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend file that was cut off is told from a whole one."""

import bpy
import pytest

from ik_triangulation.cli.blend import is_whole

from ..commands import opened


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
