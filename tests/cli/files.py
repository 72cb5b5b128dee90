# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in a folder, and keys in a file."""

import os

import pytest

from ..commands import opened
from ..rigs import curves_of, key_frames

ROUNDS = int(os.environ.get("IK_TRIANGULATION_ROUNDS", "2"))


LIMB = ["--tip", "Bone 3"]


def keyed(path):
    return {frame for curve in curves_of(opened(path)) for frame in key_frames(curve)}


posix = pytest.mark.skipif(os.name == "nt", reason="links, pipes and permissions as on Unix")


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else os.fspath(path) for path in folder.rglob("*")
    }
