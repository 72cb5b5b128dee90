# SPDX-License-Identifier: GPL-3.0-or-later
"""User interface: operators, panels and the overlay in the viewport."""

from importlib import import_module

_MODULES = (  # in the order of registration
    "translation",
    "modal_job",
    "last_result",
    "overlay.settings",
    "overlay.updates",
    "overlay.ghost",
    "overlay.shells",
    "overlay.draw",
    "overlay.text",
    "comparison",
    "operators",
    "gizmos.switch",
    "gizmos.target",
    "panels",
    "menus",
    "manual",
)


_registered: list[str] = []


def register() -> None:
    try:
        for name in _MODULES:
            import_module(f".{name}", __package__).register()
            _registered.append(name)
    except BaseException:
        unregister()
        raise


def unregister() -> None:
    while _registered:
        import_module(f".{_registered.pop()}", __package__).unregister()
