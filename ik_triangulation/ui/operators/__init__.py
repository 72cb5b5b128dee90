# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: each reads the context, calls one plain function of `jobs` or `maps`, and reports the outcome."""

from ...registration import register_all

_MODULES = (
    "base",
    "limbs",
    "contacts",
    "target",
    "target_drag",
    "edit",
    "bake",
    "map",
)

register, unregister = register_all(__name__, _MODULES)
