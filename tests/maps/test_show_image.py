# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of maps: right way up, replaced, kept in the file, and never painted over one of the user."""

import bpy
import numpy as np
import pytest

from ik_triangulation.maps.metric_map import show_image

from ..mapped import pixels

pytestmark = pytest.mark.usefixtures("empty_scene")


def colours(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def test_an_image_has_the_top_row_of_the_array_at_its_top():
    array = colours(3, 5)
    image = show_image("Picture", array)
    assert tuple(image.size) == (5, 3)
    assert np.array_equal(pixels(image)[::-1], array)
    assert image.packed_file is not None


def test_an_image_is_replaced_whatever_its_size_and_users_see_the_new_one():
    image = show_image("Picture", colours(4, 4))
    texture = bpy.data.textures.new("Texture", "IMAGE")
    texture.image = image
    for number, (height, width) in enumerate([(4, 4), (4, 4), (6, 3), (2, 2)], 1):
        array = colours(height, width, number)
        assert show_image("Picture", array) == image
        assert tuple(image.size) == (width, height)
        assert np.array_equal(pixels(image)[::-1], array)
    assert [image.name for image in bpy.data.images] == ["Picture"]
    assert texture.image == image


def test_an_image_stays_in_the_file(tmp_path):
    array = colours(5, 4)
    show_image("Picture", colours(8, 8)).use_fake_user = True
    show_image("Picture", array)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    image = bpy.data.images["Picture"]
    assert tuple(image.size) == (4, 5)
    opaque = array[..., 3:] == 255
    assert np.array_equal(np.where(opaque, pixels(image)[::-1], 0), np.where(opaque, array, 0))
    assert show_image("Picture", array) == image


def test_an_image_that_was_read_from_a_file_is_not_painted_over(tmp_path):
    drawn = bpy.data.images.new("Drawn", 4, 4)
    drawn.filepath_raw, drawn.file_format = str(tmp_path / "drawn.png"), "PNG"
    drawn.save()
    own = bpy.data.images.load(str(tmp_path / "drawn.png"))
    own.name = "Map of Bone 2"
    before = pixels(own)
    made = show_image("Map of Bone 2", colours(4, 4))
    assert made != own
    assert made.name == "Map of Bone 2.001"
    assert np.array_equal(pixels(own), before)
