# SPDX-License-Identifier: GPL-3.0-or-later
"""Register several modules as one: all of them, or none."""

from collections.abc import Callable, Sequence
from importlib import import_module


def register_all(package: str, names: Sequence[str]) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return register() and unregister() for modules of a package, each loaded when it is first registered.

    Blender's own factory of this kind loads all modules anew each time, so that classes and functions are there
    twice: what somebody else has imported is then no longer what runs.
    """
    registered: list[str] = []

    def register() -> None:
        try:
            for name in names:
                import_module(f".{name}", package).register()
                registered.append(name)
        except BaseException:
            unregister()
            raise

    def unregister() -> None:
        while registered:
            import_module(f".{registered.pop()}", package).unregister()

    return register, unregister
