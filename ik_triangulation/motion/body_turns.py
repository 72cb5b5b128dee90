# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of a body's joints from frame to frame, and how far the largest stands out."""

from __future__ import annotations

import numpy as np

from ..kinematics.arrays import Numbers
from ..kinematics.batch import States, Tree
from ..kinematics.batch.algebra import lengths

_AROUND = 5  # frames on either side that make a median local
_CALM = 0.01  # [rad] turn beside which no other one stands out


def largest_turns(tree: Tree, states: States) -> Numbers:
    """Largest turn of any joint [rad] from each frame to the next (F - 1)."""
    rotations = tree.rotations(states)
    sine = 0.5 * np.minimum(
        lengths(rotations[..., 1:] - rotations[..., :-1]), lengths(rotations[..., 1:] + rotations[..., :-1])
    )
    turns: Numbers = 4.0 * np.arcsin(np.minimum(sine, 1.0)).max(0)  # exact for small turns too
    return turns


def unsteadiness(tree: Tree, states: States) -> float:
    """The largest turn from frame to frame beside the median of those around it; 0.0 where all is calm."""
    if len(states) < 3:
        return 0.0
    turns = largest_turns(tree, states)
    half = min(_AROUND, len(turns) - 1)
    around = np.pad(turns, half, mode="reflect")
    window = np.lib.stride_tricks.sliding_window_view(around, 2 * half + 1)
    return float((turns / np.maximum(np.median(window, 1), _CALM)).max())
