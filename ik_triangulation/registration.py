# SPDX-License-Identifier: GPL-3.0-or-later
"""Register several modules as one, all of them or none, and load the others only when they are used."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType


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


def lazy_modules(package: str) -> Callable[[str], ModuleType]:
    """Return a `__getattr__` for a package: `from package import module` runs the module's code at its first use.

    Blender loads whatever registers something at each start, and of what is behind that most sessions use little.
    Importing names of a module loads it as ever.
    """

    def load(name: str) -> ModuleType:
        full = f"{package}.{name}"
        spec = None if name.startswith("__") else find_spec(full)
        if spec is None or spec.loader is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[full] = module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(sys.modules[package], name, module)
        return module

    return load
