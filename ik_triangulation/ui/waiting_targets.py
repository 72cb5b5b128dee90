# SPDX-License-Identifier: GPL-3.0-or-later
"""Untouched targets, kept at their tips at every frame that is shown, so that they are at hand when needed.

A constraint or a parent would do that too, but the target could not be dragged any more. Blender evaluates what is
moved here within the frame change, without another update; which targets may wait is searched for anew only when the
setup has changed.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig import checks
from ..rig.targets import untouched
from .overlay.updates import setup_edits


class _Waiting(NamedTuple):
    """Tip bones of an armature whose targets may wait; by names, as an undo replaces objects."""

    name: str
    uid: int
    tips: list[str]


_known: tuple[tuple[int, int], list[_Waiting]] | None = None  # with the state of the scene in which they were found


@persistent  # type: ignore[untyped-decorator]
def _follow(scene: Scene, depsgraph: Depsgraph) -> None:
    """Move the targets that wait to their tips, as they are shown at this frame."""
    if depsgraph.mode != "VIEWPORT" or scene != bpy.context.scene:
        return  # a render, or frames that are read in a temporary scene
    for each in _waiting(scene):
        armature = bpy.data.objects.get((each.name, None))
        if (
            armature is None
            or armature.session_uid != each.uid
            or not checks.is_evaluated(armature, depsgraph.view_layer)
        ):
            continue
        bones, shown = armature.pose.bones, armature.evaluated_get(depsgraph).pose.bones
        tips = [bones[name] for name in each.tips if name in bones and name in shown]
        untouched.take_along(tips, lambda name, shown=shown: shown[name].matrix, ExitStack())


def _waiting(scene: Scene) -> list[_Waiting]:
    global _known
    when = setup_edits(), scene.session_uid
    if _known is None or _known[0] != when:
        found = []
        for ob in scene.objects:
            bones = ob.pose.bones if ob.type == "ARMATURE" and ob.pose and ob.library is None else ()
            tips = [bone.name for bone in bones if bone.ik_triangulation_posed.waits]
            if tips:
                found.append(_Waiting(ob.name, ob.session_uid, tips))
        _known = when, found
    return _known[1]


def register() -> None:
    bpy.app.handlers.frame_change_post.append(_follow)


def unregister() -> None:
    global _known
    bpy.app.handlers.frame_change_post.remove(_follow)
    _known = None
