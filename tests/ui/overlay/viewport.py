# SPDX-License-Identifier: GPL-3.0-or-later
"""A viewport without a window: its context, and what is drawn over it."""

from contextlib import contextmanager

import bpy
import gpu
import numpy as np

SIZE = 400, 300  # pixels


@contextmanager
def viewport():
    """The context of a viewport."""
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(area=area, region=region):
        yield bpy.context


def pixels(drawing):
    """What `drawing` draws over an empty viewport: rows of red, green, blue and alpha in 0..1. Blender 5.2 only.

    It has to leave blending and depth as it found them, for whatever Blender draws next.
    """
    gpu.init()
    screen = gpu.types.GPUOffScreen(*SIZE)
    try:
        with viewport() as context, screen.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.state.active_framebuffer_get().clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
            gpu.matrix.load_matrix(context.region_data.view_matrix)
            gpu.matrix.load_projection_matrix(context.region_data.window_matrix)
            gpu.state.blend_set("NONE")
            gpu.state.depth_test_set("NONE")
            gpu.state.depth_mask_set(False)
            before = _state()
            drawing()
            assert _state() == before
            buffer = gpu.state.active_framebuffer_get().read_color(0, 0, *SIZE, 4, 0, "FLOAT")
        buffer.dimensions = SIZE[0] * SIZE[1] * 4
        return np.array(buffer, dtype=np.float32).reshape(-1, 4)
    finally:
        screen.free()


def _state():
    return gpu.state.blend_get(), gpu.state.depth_test_get(), gpu.state.depth_mask_get()
