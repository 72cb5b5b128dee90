# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of angles, anywhere on the circle and of any width."""

from math import inf, isnan, pi, tau

from ..errors import FreedomError


def clamp_to_range(angle: float, lower: float, upper: float) -> float:
    """Move `angle` [rad] by whole turns into the range; else return the end of the range nearest on the circle."""
    if lower <= angle <= upper:
        return angle
    if lower == -inf or upper == inf:
        # One-sided: whole turns always lead inside.
        return lower + (angle - lower) % tau if upper == inf else upper - (upper - angle) % tau
    above = lower + (angle - lower) % tau
    if above <= upper:
        return above
    return upper if above - upper <= lower - (above - tau) else lower


def finite(lower: float, upper: float) -> tuple[float, float]:
    """A range of at most a full turn that contains the same directions."""
    if lower == -inf:
        return (-pi, pi) if upper == inf else (upper - tau, upper)
    return lower, min(upper, lower + tau)


def check_limits(name: str, lower: float, upper: float) -> None:
    """Raise FreedomError for a range that is inverted or has NaN as an end."""
    if isnan(lower) or isnan(upper):
        raise FreedomError(f"{name} is not a number. Give it angles.")
    if lower > upper:
        raise FreedomError(f"{name} is inverted ({lower:.4g} to {upper:.4g} rad). Swap lower and upper.")
