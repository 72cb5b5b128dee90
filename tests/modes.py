# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation modes and pairs as cases of tests: a few in short, all of them with --long."""

from collections.abc import Iterable, Sequence
from itertools import product

import pytest

from .rigs import EULER_MODES, MODES

# Of the orders of Euler angles one that is even and not its own inverse, and one that is odd.
SHORT = {"QUATERNION", "AXIS_ANGLE", "YZX", "YXZ"}


def in_short(modes: Sequence[str]) -> list:
    """Return rotation modes as cases, most of which are tried with --long only."""
    return [mode if mode in SHORT else pytest.param(mode, marks=pytest.mark.long) for mode in modes]


every_mode = pytest.mark.parametrize("mode", in_short(MODES))
every_euler_mode = pytest.mark.parametrize("mode", in_short(EULER_MODES))


def in_turn(first: Iterable, second: Iterable) -> list:
    """Return pairs as cases: each of both in some, taken in turn; every pair with --long only."""
    one, other = list(first), list(second)
    short = {(one[n % len(one)], other[n % len(other)]) for n in range(max(len(one), len(other)))}
    return [pair if pair in short else pytest.param(*pair, marks=pytest.mark.long) for pair in product(one, other)]
