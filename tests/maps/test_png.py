# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures are written as Blender reads them."""

import bpy
import numpy as np
import pytest

from ik_triangulation.maps.png import write_png


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("size", [(1, 1), (5, 3), (40, 70)])
def test_blender_reads_the_bytes_that_were_written(tmp_path, channels, size):
    rows, columns = size
    pixels = np.random.default_rng(2).integers(0, 256, (rows, columns, channels), dtype=np.uint8)
    if channels == 4:
        pixels[..., 3] = 255  # Blender may not keep the colour of what is transparent
    path = tmp_path / "picture.png"
    write_png(path, pixels)
    image = bpy.data.images.load(str(path))
    try:
        assert tuple(image.size) == (columns, rows)
        read = np.array(image.pixels).reshape(rows, columns, 4)[::-1]  # Blender's rows begin at the bottom
    finally:
        bpy.data.images.remove(image)
    assert np.rint(255.0 * read[..., :channels]).astype(int).tolist() == pixels.tolist()
