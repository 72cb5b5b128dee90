# SPDX-License-Identifier: GPL-3.0-or-later
"""Register several modules as one, all of them or none, and load the others only when they are used."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any


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


class _LazyModule:
    """A module that is loaded when something of it is asked for; nothing of it is in Python's list of modules before.

    Python's own LazyLoader puts it there at once, and whoever looks through that list, as Blender does for its warnings
    about extensions, loads modules while the list is gone through.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]  # what looks into it wants the module's
        return vars(import_module(self._name))

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(import_module(self._name), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self._name), name)


def lazy_modules(package: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package: `from package import module` runs the module's code at its first use.

    Blender loads whatever registers something at each start, and of what is behind that most sessions use little.
    Importing names of a module loads it as ever.
    """

    def load(name: str) -> Any:
        full = f"{package}.{name}"
        if name.startswith("__") or find_spec(full) is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return _LazyModule(full)

    return load
