# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels in the tab IK of the sidebar: they draw settings and compute nothing."""

from ...registration import register_all

# The main panel, `limbs`, contains those after it, which appear in it in this order; Advanced the last three.
_MODULES = (
    "lists",
    "limbs",
    "goal",
    "keys",
    "advanced",
)

register, unregister = register_all(__name__, _MODULES)
