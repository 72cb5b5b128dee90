# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: each reads the context, calls one plain function of `jobs` or `maps`, and reports the outcome."""

from ...registration import register_all

_MODULES = (
    "run_again",
    "solve",
    "limbs",
    "body",
    "contacts",
    "target",
    "target_drag",
    "target_from_animation",
    "live",
    "bake",
    "generated",
    "following",
    "reach",
    "offset",
    "joints",
    "presets",
    "map",
    "comparison",
)

register, unregister = register_all(__name__, _MODULES)
