# SPDX-License-Identifier: GPL-3.0-or-later
"""Save and restore values that are not keyed; evaluating an animation discards them.

Saving and restoring of animated values of an object, which may differ from their keyframes. Bones are read in bulk: a
rig has hundreds of channels, of which few or none differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Object, Scene, ViewLayer

from ..timeline import keyed_curves
from .channelbags import curves_of

_CUSTOM_PROPERTY = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]')
_PLACE = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")

Show = Callable[[], None]

_WIDTHS = {"location": 3, "rotation_quaternion": 4, "rotation_axis_angle": 4, "rotation_euler": 3, "scale": 3}
_BONE = re.compile(rf'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.({"|".join(_WIDTHS)})')


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


class AnimatedValues:
    """The present values of properties of a data-block, those with F-curves and those at `paths`."""

    def __init__(self, ob: Object, paths: Sequence[str]) -> None:
        self._object = ob
        bones: dict[str, set[str]] = {}
        others = []
        for path in dict.fromkeys((*paths, *(curve.data_path for curve in curves_of(ob)))):
            place = _bone_of(path) if getattr(ob, "pose", None) else None
            if place:
                bones.setdefault(place[1], set()).add(place[0])
            else:
                others.append(path)
        self._others: list[Show] = values_shown(ob, others)
        names = ob.pose.bones.keys() if bones else []
        self._bones = {
            prop: (np.array([name in some for name in names]), self._read(prop)) for prop, some in bones.items()
        }

    def update_and_restore(self, view_layer: ViewLayer, besides: Collection[tuple[str, int]] = ()) -> None:
        """Let Blender evaluate the changed action, as it would at the next opportunity, and restore() the values."""
        view_layer.update()
        self.restore(besides)

    def show_keyed(self, paths: Sequence[str], view_layer: ViewLayer) -> None:
        """Let Blender evaluate the changed action; properties at `paths` stay as keyed, the others are restored."""
        view_layer.update()
        keyed = values_shown(self._object, paths)
        self.restore()
        for show in keyed:
            show()

    def restore(self, besides: Collection[tuple[str, int]] = ()) -> None:
        """Restore the values after Blender has evaluated the changed action.

        Channels of bones in `besides`, by path and array index, keep what the evaluation shows. What is right already
        is not set, as that would have Blender evaluate the object again.
        """
        for restore in self._others:
            restore()
        with suppress(ReferenceError):
            bones = self._object.pose.bones if self._bones else ()
            rows = {name: row for row, name in enumerate(bones.keys())} if self._bones else {}
            for prop, (ours, before) in self._bones.items():
                now, wanted = self._read(prop), before.copy()
                if now.shape != before.shape:
                    continue  # bones were added or removed since
                for path, index in besides:
                    place = _bone_of(path)
                    if place and place[1] == prop and place[0] in rows:
                        wanted[rows[place[0]], index] = now[rows[place[0]], index]
                for row in np.flatnonzero(ours & (now != wanted).any(1)).tolist():
                    setattr(bones[row], prop, wanted[row].tolist())

    def _read(self, prop: str) -> np.ndarray[Any, Any]:
        """Return the values of a property, a row for each bone."""
        values: np.ndarray[Any, Any] = np.empty(len(self._object.pose.bones) * _WIDTHS[prop], np.float32)
        self._object.pose.bones.foreach_get(prop, values)
        return values.reshape(-1, _WIDTHS[prop])


@lru_cache(maxsize=10_000)
def _bone_of(path: str) -> tuple[str, str] | None:
    """Return bone and property of a path; None if it is no transform of a bone."""
    found = _BONE.fullmatch(path)
    return (bpy.utils.unescape_identifier(found[1]), found[2]) if found else None
