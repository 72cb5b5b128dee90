# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in parts, so that between any two of them others get their turn, or it is given up."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Work = Generator[None, None, T]  # stops between two parts; returns what was found


def finished(work: Work[T]) -> T:
    """Do all the work at once."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
