# SPDX-License-Identifier: GPL-3.0-or-later
"""PNG files hold the bytes of an image exactly, and writing one leaves nothing in Blender's data."""

import bpy
import numpy as np
import pytest

from ik_triangulation.maps.metric_map import write_png


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (40, 70)])
def test_blender_reads_the_bytes_that_were_written(tmp_path, size):
    pixels = np.random.default_rng(2).integers(0, 256, (*size, 4), dtype=np.uint8)
    path, before = tmp_path / "picture.png", list(bpy.data.images)
    write_png(path, pixels)
    assert list(bpy.data.images) == before
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    image = bpy.data.images.load(str(path))
    try:
        assert tuple(image.size) == size[::-1]
        assert image.depth == 32
        read = np.array(image.pixels).reshape(*size, 4)[::-1]  # Blender's rows begin at the bottom
    finally:
        bpy.data.images.remove(image)
    assert np.rint(255.0 * read).astype(int).tolist() == pixels.tolist()


@pytest.mark.parametrize("view_transform", ["AgX", "Standard", "Raw"])
def test_the_view_transform_of_the_scene_does_not_change_the_bytes(tmp_path, view_transform, empty_scene):
    pixels = np.arange(256, dtype=np.uint8).repeat(4).reshape(16, 16, 4)
    write_png(tmp_path / "plain.png", pixels)
    bpy.context.scene.view_settings.view_transform = view_transform
    bpy.context.scene.view_settings.exposure = 2.0
    write_png(tmp_path / "viewed.png", pixels)
    assert (tmp_path / "viewed.png").read_bytes() == (tmp_path / "plain.png").read_bytes()
