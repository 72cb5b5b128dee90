# SPDX-License-Identifier: GPL-3.0-or-later
"""Save and restore values that are not keyed; evaluating an animation discards them."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import bpy
from bpy.types import ID, Scene

from ..nla import keyed_curves

_CUSTOM_PROPERTY = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]')
_PLACE = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")

Show = Callable[[], None]


def values_shown(owner: ID, paths: Iterable[str]) -> list[Show]:
    """Return calls that set these properties of a data-block to their present values; invalid paths are left out."""
    calls: list[Show] = []
    for path in dict.fromkeys(paths):
        with suppress(ValueError):  # keys of something that is no longer there
            calls.append(partial(set_value, owner, path, _plain(owner.path_resolve(path))))
    return calls


def scene_shown(scene: Scene) -> list[Show]:
    """Return calls that restore, at the same frame, the state of the scene as it is shown now.

    That is every keyed property in the file, the transforms of the scene's objects and their bones, and the camera.
    """
    calls = [call for owner in _animated() for call in values_shown(owner, _paths(owner))]
    for ob in scene.objects:
        bones = ob.pose.bones if ob.pose else ()
        calls += values_shown(ob, (*_PLACE, *(bone.path_from_id(path) for bone in bones for path in _PLACE)))
    return [*calls, *values_shown(scene, ["camera"])]


def set_value(owner: ID, path: str, value: Any) -> None:
    """Set a property if its value differs, unless it or its owner has been removed."""
    with suppress(ReferenceError, ValueError):
        if _plain(owner.path_resolve(path)) == value:
            return
        place, name, custom = parts_of(owner, path)
        if custom:
            place[name] = value
        else:
            setattr(place, name, value)


def parts_of(owner: ID, path: str) -> tuple[Any, str, bool]:
    """Return the holder of the property at a path, the property's name, and whether it is a custom property.

    Raises ValueError for a path that is not valid.
    """
    custom = _CUSTOM_PROPERTY.fullmatch(path)
    holder, name = custom.groups() if custom else path.rpartition(".")[::2]
    place = owner.path_resolve(holder) if holder else owner
    return place, bpy.utils.unescape_identifier(name) if custom else name, bool(custom)


def _plain(value: Any) -> Any:
    """Return a copy of a value that does not change with its property."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str | set) else value


def _animated() -> Iterator[ID]:
    """Yield each data-block and node tree of the file that has animation data."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            for block in getattr(bpy.data, prop.identifier):
                for owner in (block, getattr(block, "node_tree", None)):
                    if getattr(owner, "animation_data", None):
                        yield owner


def _paths(owner: ID) -> Iterator[str]:
    """Yield the paths of all properties that its action or the NLA has keys for."""
    return (curve.data_path for curve in keyed_curves(owner.animation_data))
