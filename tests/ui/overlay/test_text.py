# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts are drawn with their signs, where they are switched on."""

import bpy
import gpu
import pytest
from mathutils import Matrix

from ik_triangulation.ui.overlay.draw import draw_texts

from ...rigs import evaluated_tip
from .seen import draw_sidebar, layers, settings, show_sidebar, standard, texts
from .viewport import pixels, viewport

pytestmark = pytest.mark.usefixtures("empty_scene")
with_gpu = pytest.mark.skipif(not hasattr(gpu, "init"), reason="this Blender draws nothing without a window")


def words():
    return [" ".join((row.sign, row.text)) for rows in texts() for row in rows]


@pytest.fixture(autouse=True)
def _fold_again(empty_scene):
    yield
    draw_sidebar(unfolded=False)
    show_sidebar(False)


def test_angles_are_there_while_the_panel_of_the_joints_is_open_beside_the_viewport():
    standard()
    assert len(words()) == 1
    draw_sidebar()
    assert len(words()) == 4
    show_sidebar(False)
    assert len(words()) == 1
    draw_sidebar()
    draw_sidebar(unfolded=False)
    assert len(words()) == 1


def test_there_are_a_distance_and_the_angles_of_the_active_joint():
    rig, target = standard()
    target.empty_display_type, target.location = "PLAIN_AXES", evaluated_tip(rig, "Bone 3")
    draw_sidebar()
    first, *others = words()
    assert first == "reached Reached"
    assert [other[0] for other in others] == ["X", "Y", "Z"]


def test_each_has_its_switch():
    standard()
    draw_sidebar()
    settings().show_error = False
    assert [text[0] for text in words()] == ["X", "Y", "Z"]
    settings().show_error, settings().show_joints = True, False
    (distance,) = words()
    assert distance.startswith("missed ")
    settings().show = False
    assert words() == []


@with_gpu
def test_texts_are_drawn_unless_overlays_are_off():
    standard()
    draw_sidebar()
    layers()
    assert pixels(in_pixels).max() > 0.5
    with viewport() as context:
        context.space_data.overlay.show_overlays = False
    assert pixels(in_pixels).max() == 0.0


def in_pixels():
    """Draw the texts as in a viewport: one unit is a pixel of its region."""
    region = bpy.context.region
    gpu.matrix.load_matrix(Matrix.Identity(4))
    scale = Matrix.Diagonal((2.0 / region.width, 2.0 / region.height, 1.0, 1.0))
    gpu.matrix.load_projection_matrix(Matrix.Translation((-1.0, -1.0, 0.0)) @ scale)
    draw_texts()


def test_texts_end_with_the_extension(addon):
    standard()
    addon.unregister()
    addon.register()
    assert bpy.context.scene.ik_triangulation_overlay.show
    assert texts()
