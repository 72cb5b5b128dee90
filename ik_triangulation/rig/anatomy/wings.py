# SPDX-License-Identifier: GPL-3.0-or-later
"""Wings by their shape: what an arm of an animal is whose trunk lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .skeleton import BranchLine, Skeleton

_FEATHER, _FEATHERED, _HAND = 0.15, 2, 0.5  # of an arm or wing: feathers, bones that bear some, largest hand
_LEAST = 0.75  # of the distance from hip to foot: extent of a wing without feathers
_LEVEL = 0.7  # sine of the slope of a trunk that lies


def flies(
    skeleton: Skeleton, up: np.ndarray, line: BranchLine, on: int, legs: Sequence[tuple[int, Sequence[int]]]
) -> bool:
    """Tell whether a line of bones on the bone `on` of a level trunk is a wing: feathered, or long without a hand.

    `legs` are those of the animal, each with the bone on which it is. Feathers branch off along a wing, fingers at its
    end.
    """
    heads, extents = skeleton.heads, skeleton.extents
    depth = {bone: place for place, bone in enumerate([on, *skeleton.above(on)])}
    hips = min((bearing for bearing, _ in legs), key=lambda bone: depth.get(bone, len(heads)))
    trunk = heads[on] - heads[hips]
    if abs(trunk @ up) > _LEVEL * np.linalg.norm(trunk):
        return False
    beside = [
        max((extents[each] for each in skeleton.children[bone] if each not in line.bones), default=0.0)
        for bone in line.bones[:-2]
    ]
    whole = extents[line.bones[0]]
    leg = max(float(np.linalg.norm(heads[bones[-1]] - heads[bones[0]])) for _, bones in legs)
    has_hand = line.ends_in_branches and extents[line.bones[-1]] < _HAND * whole
    feathers = sum(each > _FEATHER * whole for each in beside)
    return bool(feathers >= _FEATHERED or (whole > _LEAST * leg and not has_hand))
