# SPDX-License-Identifier: GPL-3.0-or-later
"""Knowledge of a limb that its chain does not hold."""

from __future__ import annotations

from typing import NamedTuple

from mathutils import Vector


class LimbForm(NamedTuple):
    """A limb as a part of a body.

    With `has_end` the last of three joints is a hand or foot, which turns as the target says, and keeps its rotation
    where that says nothing.
    `flexion` is the direction to which the elbow or knee goes where the limb is straight, in the axes of the root's
    parent; None: that of the limb's bend at rest.
    """

    has_end: bool = False
    flexion: Vector | None = None


PLAIN_LIMB = LimbForm()
