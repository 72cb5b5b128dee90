# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the arrays over frames, poses, samples or pixels, their blocks, averages in time, and eased shares."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Columns = Any  # a selection of the last axis: indices, mask or slice

# Sums of products without NumPy's looks for other kinds of arrays and a better order, which take as long as a sum over
# few poses.
_plain = getattr(np.einsum, "__wrapped__", np.einsum)
einsum: Callable[..., Array] = getattr(_plain, "__globals__", {}).get("c_einsum", _plain)

_TOGETHER = 60_000  # joints times frames whose intermediate arrays are held in memory together


def blocks(count: int, joints: int) -> Iterator[slice]:
    """Yield slices that cover `count` frames in turn, shorter ones for more joints."""
    size = max(1, _TOGETHER // joints)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def averaged_in_time(values: Numbers, times: int) -> Numbers:
    """Return values (F, ...) averaged `times` times with those before and after them."""
    for _ in range(times):
        around = np.concatenate((values[:1], values, values[-1:]))
        values = 0.25 * around[:-2] + 0.5 * values + 0.25 * around[2:]
    return values


def smoothstep(share: Numbers) -> Numbers:
    """Return shares clipped from 0 to 1, and eased there so that they begin and end level."""
    share = np.clip(share, 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)
