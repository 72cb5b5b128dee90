# SPDX-License-Identifier: GPL-3.0-or-later
"""Kind, limits and angle of a joint as short texts for a list."""

from math import degrees, isinf

from ...kinematics import Cone, EulerLimits, Freedom, Hinge, Locked, unframed


def kind_text(freedom: Freedom) -> str:
    """Return the kind of joint, with the axis of a hinge if it is one of the bone's own axes."""
    freedom = unframed(freedom)
    if isinstance(freedom, Locked) or not freedom.moves:
        return "Locked"
    if isinstance(freedom, Hinge):
        along = [sign + axis for i, axis in enumerate("XYZ") for sign in _sign(freedom.axis[i])]
        return f"Hinge {along[0]}" if along else "Hinge"
    return "Euler" if isinstance(freedom, EulerLimits) else "Cone" if isinstance(freedom, Cone) else "Free"


def range_text(freedom: Freedom) -> str:
    """Return the limits of the joint; empty if there are none."""
    freedom = unframed(freedom)
    if isinstance(freedom, Hinge):
        return _range(freedom.lower, freedom.upper)
    if isinstance(freedom, Cone):
        twist = _range(freedom.twist_lower, freedom.twist_upper)
        return f"to {angle_text(freedom.swing)}" + (f", twist {twist}" if twist else "")
    if isinstance(freedom, EulerLimits):
        ranges = zip("XYZ", freedom.lower, freedom.upper, strict=True)
        return ", ".join(f"{axis} {_range(*ends)}" for axis, *ends in ranges if _range(*ends))
    return ""


def angle_text(angle: float) -> str:
    """Return an angle [rad] in whole degrees."""
    return f"{round(degrees(angle)) + 0}°"


def _sign(part: float) -> list[str]:
    """Return the sign of a unit vector's component of length one, as a list; empty for other components."""
    return [] if abs(part) < 1.0 - 1e-6 else ["" if part > 0.0 else "-"]


def _range(lower: float, upper: float) -> str:
    if isinf(lower) and isinf(upper):
        return ""
    ends = ("any" if isinf(end) else angle_text(end) for end in (lower, upper))
    return " to ".join(ends)
