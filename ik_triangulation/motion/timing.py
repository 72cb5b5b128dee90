# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed profiles of a movement: the share of the path done as a function of the share of the time, both from 0 to 1.

Sources: minimum jerk is Flash and Hogan 1985, "The coordination of arm movements", the solution for a movement from
rest to rest: s = 10 t^3 - 15 t^4 + 6 t^5. The others are the easings of Blender's keys. Its Back, Bounce and Elastic
are omitted: they overshoot or reverse, and a hand that reaches does neither.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sin, sqrt
from typing import NamedTuple

from ..errors import SettingError

Profile = Callable[[float], float]

_LEAST = 2.0**-10  # Blender's offset, so that the exponential begins at 0


class Timing(NamedTuple):
    """A speed profile: `curve` at the start; with `eased` it may also be applied at the end, or at both."""

    label: str
    description: str
    curve: Profile
    eased: bool = True


def _minimum_jerk(time: float) -> float:
    return time**3 * (10.0 - 15.0 * time + 6.0 * time**2)


TIMINGS = {
    "MINIMUM_JERK": Timing("Human", "Minimum jerk, as a hand goes from rest to rest", _minimum_jerk, eased=False),
    "LINEAR": Timing("Linear", "At one speed, without easing", lambda t: t, eased=False),
    "SINE": Timing("Sinusoidal", "Hardly eased", lambda t: 1.0 - sin(pi / 2.0 * (1.0 - t))),
    "QUAD": Timing("Quadratic", "Eased by the second power of time", lambda t: t**2),
    "CUBIC": Timing("Cubic", "Eased by the third power of time", lambda t: t**3),
    "QUART": Timing("Quartic", "Eased by the fourth power of time", lambda t: t**4),
    "QUINT": Timing("Quintic", "Eased by the fifth power of time", lambda t: t**5),
    "EXPO": Timing(
        "Exponential", "Doubling its speed", lambda t: (2.0 ** (10.0 * (t - 1.0)) - _LEAST) / (1.0 - _LEAST)
    ),
    "CIRC": Timing("Circular", "Along a quarter of a circle", lambda t: 1.0 - sqrt(max(1.0 - t**2, 0.0))),
}
EASINGS = ("EASE_IN", "EASE_OUT", "EASE_IN_OUT")


def profile(timing: str = "MINIMUM_JERK", easing: str = "EASE_IN_OUT") -> Profile:
    """Return the share of the path as a function of the share of the time, clamped to 0..1 outside of it.

    `easing` selects the slow end of a timing of Blender's: its start, its end, or both. Raises SettingError for an
    unknown name.
    """
    if timing not in TIMINGS:
        raise SettingError(f"Timing '{timing}' is unknown. Choose one of {', '.join(TIMINGS)}.")
    if easing not in EASINGS:
        raise SettingError(f"Easing '{easing}' is unknown. Choose one of {', '.join(EASINGS)}.")
    curve = TIMINGS[timing].curve
    if TIMINGS[timing].eased:
        curve = _eased(curve, easing)
    return lambda time: min(max(curve(min(max(time, 0.0), 1.0)), 0.0), 1.0)


def _eased(curve: Profile, easing: str) -> Profile:
    if easing == "EASE_IN":
        return curve
    if easing == "EASE_OUT":
        return lambda t: 1.0 - curve(1.0 - t)
    return lambda t: curve(2.0 * t) / 2.0 if t < 0.5 else 1.0 - curve(2.0 - 2.0 * t) / 2.0


def window(time: float, joint: int, joints: int, onset: float) -> float:
    """Time of one joint in a movement whose joints start one after the other, at a share of the total time.

    `joint` is counted from the root. With `onset` 0 all joints move at once. With 1 each has half of the time, and the
    last begins when the first arrives; values between overlap. The result is below 0 before the joint's time and above
    1 after it.
    """
    if joints < 2:
        return time
    begin = onset / 2.0 * joint / (joints - 1)
    return (time - begin) / (1.0 - onset / 2.0)
