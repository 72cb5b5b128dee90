# SPDX-License-Identifier: GPL-3.0-or-later
"""IK Triangulation: inverse kinematics that leaves rotation keys on the artist's own bones.

The names of `api` are here as well, each loaded when it is asked for, and `__version__`. The kinematic core and the
solvers need only mathutils and numpy, everything else needs bpy.
"""

from typing import Any

from .registration import register_all

_ROOMS = ("settings", "presets", "maps", "jobs", "ui", "cli")  # those that register something, in this order
_register, unregister = register_all(__name__, _ROOMS)


def register() -> None:
    """Register everything, or nothing: raises RuntimeError where another copy is registered."""
    other = _other_copy()
    if other:
        raise RuntimeError(f"Another copy of IK Triangulation is enabled, {other}: disable it to enable this one.")
    _register()


def _other_copy() -> str:
    """Return name and folder of the copy that is registered; empty if there is none."""
    import sys
    from pathlib import Path

    import bpy

    if not hasattr(bpy.types.PoseBone, "ik_triangulation"):
        return ""
    operator = getattr(bpy.types, "POSE_OT_ik_triangulation_bake", None)
    name = operator.__module__.partition(".ui.")[0] if operator else "of unknown name"
    file = getattr(sys.modules.get(name), "__file__", None)
    return f"'{name}' in '{Path(file).parent}'" if file else f"'{name}'"


def _version() -> str:
    """Return the version, from the extension's manifest or, of a pip package, from its metadata."""
    from pathlib import Path

    manifest = Path(__file__).resolve().parents[1] / "blender_manifest.toml"
    if not manifest.is_file():
        from importlib import metadata

        return metadata.version("ik-triangulation")
    import tomllib

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
