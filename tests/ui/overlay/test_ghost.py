# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts are shown until they are cleared, and never outlive the data they were made for."""

import bpy
import numpy as np
import pytest

from ik_triangulation.ui.overlay.ghost import clear_ghosts, ghosts, show_ghost

from ...rigs import chain_rig, nothing_lost
from .viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

POINTS = [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 1.0)]


def shown():
    with viewport() as context:
        return list(ghosts(context))


def test_a_ghost_stays_until_it_is_cleared():
    rig = chain_rig()
    assert shown() == []
    with nothing_lost():
        show_ghost(rig, POINTS)
    (ghost,) = shown()
    assert np.isin(POINTS, ghost.edges).all()
    clear_ghosts()
    assert shown() == []
    clear_ghosts()


def test_another_ghost_of_the_same_name_takes_its_place():
    rig = chain_rig()
    show_ghost(rig, POINTS, "CCD")
    show_ghost(rig, POINTS[:2], name="CCD")
    (ghost,) = shown()
    assert len(ghost.edges) == 24
    show_ghost(rig, POINTS, name="FABRIK")
    assert len(shown()) == 2


def test_ghosts_are_cleared_one_armature_at_a_time():
    first, second = chain_rig(2, "First"), chain_rig(2, "Second")
    show_ghost(first, POINTS)
    show_ghost(second, POINTS)
    clear_ghosts(second)
    (ghost,) = shown()
    assert ghost.armature == first.name


def test_a_ghost_is_seen_only_where_its_armature_is():
    rig = chain_rig()
    show_ghost(rig, POINTS)
    rig.hide_set(True)
    assert shown() == []
    rig.hide_set(False)
    assert len(shown()) == 1
    bpy.data.objects.remove(rig)
    assert shown() == []


def test_undo_and_redo_take_ghosts_away():
    bpy.ops.ed.undo_push(message="Before")
    show_ghost(chain_rig(), POINTS)
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()
    assert shown() == []
    bpy.ops.ed.redo()
    rig = bpy.data.objects["Rig"]
    show_ghost(rig, POINTS)
    assert len(shown()) == 1
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    assert shown() == []


def test_another_file_takes_ghosts_away(tmp_path):
    rig = chain_rig()
    path = str(tmp_path / "ghost.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    show_ghost(rig, POINTS)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Rig"].session_uid
    assert shown() == []


def test_disabling_takes_ghosts_away(addon):
    show_ghost(chain_rig(), POINTS)
    addon.unregister()
    addon.register()
    assert shown() == []
