# SPDX-License-Identifier: GPL-3.0-or-later
"""User interface: operators, panels and the overlay in the viewport."""

from ..registration import register_all

_MODULES = (  # in the order of registration
    "preferences",
    "translation",
    "last_result",
    "overlay.settings",
    "overlay.updates",
    "waiting_targets",
    "overlay.ghost",
    "overlay.handlers",
    "operators",
    "gizmos.groups",
    "panels",
    "menus",
    "manual",
)

register, unregister = register_all(__name__, _MODULES)
