# SPDX-License-Identifier: GPL-3.0-or-later
"""Several changes as one: all of them or, if one fails, none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import bpy
from bpy.types import Object

from ..rig.destination import Made
from ..settings.property_groups import keep_settings

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Undo(ExitStack):
    """The undo stack of a transaction: each write to Blender's data announces itself by the callback that undoes it.

    Tests make the write of any number fail here.
    """


@dataclass(frozen=True)
class Transaction:
    """State that bakes share which are done as one: closing `undo` undoes all; `made` are the channelbags made."""

    undo: ExitStack
    made: Made = field(default_factory=dict)

    @staticmethod
    def end(own: ExitStack, within: Transaction | None) -> None:
        """End a bake that cannot fail any more: what closing `own` undoes is left to the larger transaction."""
        done = own.pop_all()
        if within is not None:
            within.undo.push(done)


def all_or_nothing(job: Callable[Concatenate[Object, _P], _R]) -> Callable[Concatenate[Object, _P], _R]:
    """Decorate a job that sets up an armature: whatever it raises, settings and objects are as they were before."""

    @wraps(job)
    def run(armature: Object, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with Undo() as undo:
            keep_objects(undo)
            keep_settings(armature, undo)
            result = job(armature, *args, **kwargs)
            undo.pop_all()
        return result

    return run


def keep_objects(undo: ExitStack) -> None:
    """Have the closing of `undo` remove the objects that were made since."""
    undo.callback(_remove_new, {ob.session_uid for ob in bpy.data.objects})


def _remove_new(known: set[int]) -> None:
    for ob in [ob for ob in bpy.data.objects if ob.session_uid not in known]:
        bpy.data.objects.remove(ob)
