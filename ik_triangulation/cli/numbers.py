# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers on the command line: each kind with the range that it makes sense in, and that Blender takes."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from math import isfinite, radians

from ..properties import IKT_PG_limb

_INT = 2**31 - 1
_FLOAT = 3.4028234e38  # the largest number in single precision
_FRAME = 1_048_574  # Blender's last frame; the first is as far below zero
_STOP = re.compile(r"(.+?):(-?\d+)(?::(\d+))?")


def number(text: str) -> float:
    """Any finite number that Blender can hold."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is not a number") from None
    if not isfinite(value):
        raise ArgumentTypeError(f"{text} is not finite")
    if abs(value) > _FLOAT:
        raise ArgumentTypeError(f"{text} is more than Blender can hold, {_FLOAT:.3g}")
    return value


def distance(text: str) -> float:
    """A distance above zero."""
    value = number(text)
    if not value > 0.0:
        raise ArgumentTypeError(f"{text} is not a distance above zero")
    return value


def angle(text: str) -> float:
    """Degrees; returns radians."""
    return radians(number(text))


def weight(text: str) -> float:
    """A weight, zero or more."""
    value = number(text)
    if not value >= 0.0:
        raise ArgumentTypeError(f"{text} is not a weight from 0 up")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = number(text)
    if not 0.0 <= value <= 1.0:
        raise ArgumentTypeError(f"{text} is not from 0 to 1")
    return value


def whole(least: int, most: int, kind: str = "number") -> Callable[[str], int]:
    """Whole numbers of a range."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,100}", text):
            raise ArgumentTypeError(f"'{text:.40}' is not a whole number")
        value = int(text)
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text} is not a {kind} from {least} to {most}")
        return value

    return read


def setting(name: str) -> Callable[[str], int]:
    """Whole numbers that a limb's setting of this name takes."""
    stored = IKT_PG_limb.bl_rna.properties[name]
    return whole(stored.hard_min, stored.hard_max)


frame = whole(-_FRAME, _FRAME, "frame")
frames = whole(0, 2 * _FRAME, "number of frames")
size = whole(1, 4096, "size")
count = whole(1, _INT)


def stop(text: str) -> tuple[str, int, int]:
    """A target with its frame and, after another colon, for how many frames it is held."""
    # The shortest name that leaves numbers: with a hold given, even one that ends in a colon and a number is clear.
    match = _STOP.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(f"'{text}' is no target with a frame, such as Cup:20 or, held for 5 frames, Cup:20:5")
    name, at, hold = match.groups()
    return name, frame(at), frames(hold or "0")
