# SPDX-License-Identifier: GPL-3.0-or-later
"""The window: operators, panels, the overlay in the viewport, and the words they use."""

from importlib import import_module

_PARTS = ("modal_job", "last_result", "overlay", "comparison", "operators", "panels", "manual")


def register() -> None:
    for part in _PARTS:
        import_module(f".{part}", __package__).register()


def unregister() -> None:
    for part in reversed(_PARTS):
        import_module(f".{part}", __package__).unregister()
