# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of whole limbs: joint limits and solver settings, stored in files.

Built-in presets are in the folder `ik_triangulation` here, which is registered as one of Blender's preset folders.
"""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase

from ..errors import SettingError
from ..registration import lazy_modules

__getattr__ = lazy_modules(__name__)

SUBDIR = "ik_triangulation"  # of Blender's preset folders
SUFFIX = ".json"
_HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """Return the names of all presets, the user's own and the built-in ones."""
    return sorted({path.stem for folder in _folders() for path in folder.glob(f"*{SUFFIX}")})


def find_preset(name: str) -> Path:
    """Return the file of the preset with this name or display name, the user's own first.

    Raises SettingError if there is none.
    """
    stem = AddPresetBase.as_filename(name)
    for folder in _folders():
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            if path.stem in {name, stem} or shown_as(path.name) == name:
                return path
    known = ", ".join(repr(shown_as(f"{stem}{SUFFIX}")) for stem in names())
    raise SettingError(f"Preset '{name}' is not there. Choose one of {known}.")


def shown_as(name: str) -> str:
    """Return the name that Blender's list displays for a preset or its file."""
    return str(bpy.path.display_name(name, title_case=False))


def built_in(path: Path | str) -> bool:
    """Tell whether a preset is built in, and cannot be removed."""
    return (_HERE / SUBDIR) in Path(path).resolve().parents


def _folders() -> list[Path]:
    return [Path(folder) for folder in bpy.utils.preset_paths(SUBDIR)]


def register() -> None:
    bpy.utils.register_preset_path(str(_HERE.parent))


def unregister() -> None:
    bpy.utils.unregister_preset_path(str(_HERE.parent))
