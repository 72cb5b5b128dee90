# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the arrays over frames, poses, samples or pixels, and the blocks in which they are worked through."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Columns = Any  # a selection of the last axis: indices, mask or slice

_TOGETHER = 60_000  # joints times frames whose intermediate arrays are held in memory together


def blocks(count: int, joints: int) -> Iterator[slice]:
    """Yield slices that cover so many frames one after the other, shorter ones for more joints."""
    size = max(1, _TOGETHER // joints)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))
