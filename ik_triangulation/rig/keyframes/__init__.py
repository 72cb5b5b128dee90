# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes of bones and objects, read and written in bulk through the arrays of their F-curves."""

from .arrays import SAME_FRAME, get_keys
from .channelbags import (
    check_action,
    check_curves,
    check_keys,
    check_not_hidden,
    check_unmodified,
    curves_of,
    ensure_channelbag,
    keep_curves,
)
from .reading import GENERATED, ByHand, generated, is_baked, key_frames, keys_beside, made_by_hand, values_before
from .unkeyed import AnimatedValues
from .writing import (
    Channel,
    clamped_slopes,
    interpolation_of,
    remove_generated,
    remove_generated_of,
    replace_keys,
    write_keys,
)

__all__ = [
    "GENERATED",
    "SAME_FRAME",
    "AnimatedValues",
    "ByHand",
    "Channel",
    "check_action",
    "check_curves",
    "check_keys",
    "check_not_hidden",
    "check_unmodified",
    "clamped_slopes",
    "curves_of",
    "ensure_channelbag",
    "generated",
    "get_keys",
    "interpolation_of",
    "is_baked",
    "keep_curves",
    "key_frames",
    "keys_beside",
    "made_by_hand",
    "remove_generated",
    "remove_generated_of",
    "replace_keys",
    "values_before",
    "write_keys",
]
