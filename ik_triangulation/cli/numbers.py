# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of numbers on the command line, with the ranges that make sense and that Blender can store."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from math import inf, isfinite
from typing import TypeVar

from ..settings.keys import DURATIONS, FRAMES

N = TypeVar("N", int, float)

_FLOAT = 3.4028234e38  # the largest number in single precision
_STOP = re.compile(r"(.+?):(-?\d+)(?::(\d+))?(?::(take|give))?")


def number(text: str) -> float:
    """Read a finite number that Blender can store."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is not a number") from None
    if not isfinite(value):
        raise ArgumentTypeError(f"{text} is not finite")
    if abs(value) > _FLOAT:
        raise ArgumentTypeError(f"{text} is more than Blender can store, {_FLOAT:.3g}")
    return value


def whole(text: str) -> int:
    """Read a whole number."""
    if not re.fullmatch(r"[+-]?[0-9]{1,100}", text):
        raise ArgumentTypeError(f"'{text:.40}' is not a whole number")
    return int(text)


def within(read: Callable[[str], N], least: float, most: float, kind: str = "number") -> Callable[[str], N]:
    """Return a reader of numbers in a range; messages name their `kind`."""

    def checked(text: str) -> N:
        value = read(text)
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text} is not a {kind} {_range(least, most)}")
        return value

    return checked


def _range(least: float, most: float) -> str:
    if most == inf:
        return f"from {_plain(least)} up"
    return f"up to {_plain(most)}" if least == -inf else f"from {_plain(least)} to {_plain(most)}"


def _plain(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


frame = within(whole, *FRAMES, "frame")
frames = within(whole, *DURATIONS, "number of frames")


def reach_stop(text: str) -> tuple[str, int, int, str]:
    """Read a stop: target, frame, the number of frames it is held and what is done with a prop, after a colon each."""
    # The shortest name that leaves numbers: with a hold given, even a name that ends in a colon and a number is clear.
    match = _STOP.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(
            f"'{text}' is not a target with a frame, such as Cup:20 or, held for 5 frames, Cup:20:5, or Cup:20:take"
        )
    name, at, hold, take = match.groups()
    return name, frame(at), frames(hold or "0"), (take or "none").upper()
