# SPDX-License-Identifier: GPL-3.0-or-later
"""Workspace of a chain without limits, from the lengths of its links alone."""

from itertools import accumulate


def reaches(lengths: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    """Least and greatest distance that unlimited links `i` and after can span, for each `i`, and a last (0, 0).

    Links of total length S whose longest is l span everything from max(0, 2 l - S) to S.
    """
    total = tuple(accumulate(reversed(lengths), initial=0.0))
    longest = tuple(accumulate(reversed(lengths), max, initial=0.0))
    return tuple((max(0.0, 2.0 * most - span), span) for most, span in zip(longest, total, strict=True))[::-1]
