# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the numbers a goal is made of; each raises an error whose message names the number and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot, isfinite

from mathutils import Vector

from ..errors import SettingError, TargetError

MOST_WEIGHT = 1e6
_LARGEST = 1e18  # coordinates and radii whose squares single precision still holds


def set_fields(record: object, **values: object) -> None:
    """Give fields of a frozen dataclass their checked values."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def checked_location(name: str, location: Sequence[float]) -> Vector:
    """Return `location` as a frozen vector. Raises TargetError for a coordinate that is not finite or beyond 1e18."""
    checked = Vector(location).freeze()
    if not all(abs(x) <= _LARGEST for x in checked):
        raise TargetError(f"{name} {tuple(checked)} is not finite or beyond {_LARGEST:g}. Give it three usual numbers.")
    return checked


def checked_direction(name: str, direction: Sequence[float]) -> Vector:
    """Return `direction` as a frozen unit vector. Raises TargetError for one without length."""
    unit = unit_vector(checked_location(name, direction))
    if unit is None:
        raise TargetError(f"{name} {tuple(direction)} has no direction. Give it a length other than zero.")
    return unit.freeze()


def checked_radius(name: str, radius: float) -> float:
    """Return `radius` [Blender units]. Raises TargetError unless it is finite and positive."""
    if not 0.0 < radius <= _LARGEST:
        raise TargetError(f"{name} {radius} is not a distance. Give it a finite length above zero.")
    return float(radius)


def unit_vector(vector: Vector) -> Vector | None:
    """Unit vector along `vector`, however short that is; None if it has no length."""
    length = hypot(*vector)
    return Vector([x / length for x in vector]) if length else None


def check_finite(name: str, numbers: Iterable[float]) -> None:
    """Raise SettingError unless all numbers are finite."""
    if not all(map(isfinite, numbers)):
        raise SettingError(f"{name} is not finite. Check the object it comes from.")


def check_weight(name: str, weight: float) -> None:
    """Raise SettingError for a weight below 0, or so large that no other residual counts in double precision."""
    if not 0.0 <= weight <= MOST_WEIGHT:
        raise SettingError(f"{name} weight {weight} is not valid. Give it a number from 0 to {MOST_WEIGHT:g}.")
