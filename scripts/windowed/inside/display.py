# SPDX-License-Identifier: GPL-3.0-or-later
"""What the display shows, asked from the X server itself: a program for each picture takes longer than its drawing."""

from ctypes import CDLL, POINTER, Structure, c_char_p, c_int, c_uint, c_ulong, c_void_p, string_at
from functools import cache

import numpy as np

ALL_PLANES, Z_PIXMAP = c_ulong(-1), 2


class _Image(Structure):
    """The beginning of Xlib's XImage."""

    _fields_ = (
        *((name, c_int) for name in ("width", "height", "xoffset", "format")),
        ("data", c_void_p),
        *((name, c_int) for name in ("byte_order", "unit", "bit_order", "pad", "depth", "bytes_per_line")),
    )


def shown(left: int, top: int, width: int, height: int) -> np.ndarray:
    """Return a part of the display, in pixels from its upper left corner: rows from the top, columns, RGB."""
    x, display, root = _connection()
    image = x.XGetImage(display, root, left, top, width, height, ALL_PLANES, Z_PIXMAP)
    if not image:
        raise RuntimeError(f"The display has no picture of {width} x {height} pixels at {left}, {top}")
    data, line = image.contents.data, image.contents.bytes_per_line
    rows = np.frombuffer(string_at(data, line * height), np.uint8).reshape(height, line)
    x.XFree(data)
    x.XFree(image)
    return np.ascontiguousarray(rows[:, : 4 * width].reshape(height, width, 4)[..., 2::-1])  # as BGR and a rest


@cache
def _connection() -> tuple[CDLL, c_void_p, c_ulong]:
    """Xlib, a connection to the display, and the window that is all of it."""
    x = CDLL("libX11.so.6")
    x.XOpenDisplay.restype, x.XOpenDisplay.argtypes = c_void_p, [c_char_p]
    x.XDefaultRootWindow.restype, x.XDefaultRootWindow.argtypes = c_ulong, [c_void_p]
    x.XGetImage.restype = POINTER(_Image)
    x.XGetImage.argtypes = [c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_ulong, c_int]
    x.XFree.argtypes = [c_void_p]
    display = x.XOpenDisplay(None)
    if not display:
        raise RuntimeError("There is no connection to the display")
    return x, display, x.XDefaultRootWindow(display)
