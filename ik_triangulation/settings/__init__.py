# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are saved with the rig."""

from .property_groups import (
    EASING_ITEMS,
    PATH_ITEMS,
    TIMING_ITEMS,
    IKT_PG_joint,
    IKT_PG_limb,
    choices,
    register,
    unregister,
)

__all__ = [
    "EASING_ITEMS",
    "PATH_ITEMS",
    "TIMING_ITEMS",
    "IKT_PG_joint",
    "IKT_PG_limb",
    "choices",
    "register",
    "unregister",
]
