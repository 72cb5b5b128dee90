# SPDX-License-Identifier: GPL-3.0-or-later
"""IK Triangulation: inverse kinematics that leaves rotation keys on the artist's own bones.

The names of `api` are here as well, each loaded when it is asked for, and `__version__`. The kinematic core and the
solvers need only mathutils and numpy, everything else needs bpy.
"""

from typing import Any

_ROOMS = ("settings", "presets", "maps", "jobs", "ui", "cli")  # those that register something, in this order


def register() -> None:
    from importlib import import_module

    for name in _ROOMS:
        import_module(f".{name}", __package__).register()


def unregister() -> None:
    from importlib import import_module

    for name in reversed(_ROOMS):
        import_module(f".{name}", __package__).unregister()


def _version() -> str:
    """Return the version, from the extension's manifest or, of a pip package, from its metadata."""
    import tomllib
    from importlib import metadata
    from pathlib import Path

    manifest = Path(__file__).resolve().parents[1] / "blender_manifest.toml"
    if not manifest.is_file():
        return metadata.version("ik-triangulation")
    return str(tomllib.loads(manifest.read_text(encoding="utf-8"))["version"])


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return _version()
    api = import_module(".api", __package__)  # "from . import api" would ask here for it
    if name != "__all__" and name not in api.__all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(api, name)


def __dir__() -> list[str]:
    from . import api

    return sorted({*globals(), *api.__all__})
