# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the overlay about a body: a held tip that slips, a center of mass that is outside; and their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from bpy.types import Scene
from mathutils import Vector

from ...rig.units import distance_text
from .active_body import DisplayedBody
from .labels import Anchors, Row
from .shapes import Role

_NONE = np.empty((0, 4))


class BodyNote(NamedTuple):
    """A line of text about a place of the body, with the places that it keeps clear of."""

    row: Row
    anchors: Anchors


def body_notes(seen: DisplayedBody, scene: Scene) -> Iterator[BodyNote]:
    """Yield a note for each held tip that slips, and one for a center of mass that is outside."""
    for held in seen.held:
        if held.slips:
            row = Row(Role.AT_LIMIT, "missed", f"{held.name} slips {distance_text(held.slip, scene)}")
            yield BodyNote(row, _at([held.place, held.tip]))
    balance = seen.balance
    if balance is not None and balance.outside:
        text = f"Center of mass {distance_text(balance.outside, scene)} outside the feet"
        yield BodyNote(Row(Role.OUTSIDE, "missed", text), _at([balance.below, balance.nearest]))


def _at(places: Sequence[Vector]) -> Anchors:
    around = np.array([(*place, 1.0) for place in places])
    return Anchors(around, _NONE, _NONE, _NONE)
