# SPDX-License-Identifier: GPL-3.0-or-later
"""Spaces of a target: objects or bones with which it moves over spans of frames, each by a Child Of constraint.

The influence of the constraint has keyframes without interpolation: 1 from the first frame of the span, 0 after the
last. So Blender shows the target where it acts, also where the extension is not installed, and its own keyframes within
the span are in that space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Constraint, Object, PoseBone, Scene

from ..keyframes import get_keys
from ..keyframes.channelbags import channelbag_of, find_curves
from ..timeline import Clock

_NAME = "Space: "  # and the object or bone: the constraints that are ours
_ON = 0.5


class TargetSpace(NamedTuple):
    """A span of frames in which a target moves with an object, or with one of its bones."""

    object: Object | None
    bone: str
    frame_start: int
    frame_end: int

    @property
    def name(self) -> str:
        """The name of the bone or object."""
        return self.bone or (self.object.name if self.object else "")

    @property
    def changes(self) -> tuple[int, int, int]:
        """The frames at which the channels of a target may step: its first, its last and the one after."""
        return self.frame_start, self.frame_end, self.frame_end + 1


def is_space(constraint: Constraint) -> bool:
    """Tell whether a constraint was made as a space of a target."""
    return bool(constraint.type == "CHILD_OF" and constraint.name.startswith(_NAME) and not constraint.mute)


def space_constraints(owner: Object | PoseBone) -> list[Any]:
    """Return the constraints that are spaces of an object or bone, in their order on it."""
    return [each for each in owner.constraints if is_space(each)]


def new_space(owner: Object | PoseBone, space: Object, bone: str) -> Any:
    """Add a space without effect to an object or bone, and return its constraint."""
    made = owner.constraints.new("CHILD_OF")
    made.name = _NAME + (bone or space.name)
    made.target, made.subtarget = space, bone
    made.show_expanded, made.influence = False, 0.0
    return made


def span_of(constraint: Constraint, scene: Scene) -> tuple[int, int] | None:
    """Return the first and the last frame of a space; None where it has no keyframes, or no effect at any frame."""
    ob = constraint.id_data
    curve = find_curves(channelbag_of(ob), constraint.path_from_id("influence"), 1).get(0)
    if curve is None:
        return None
    times, values = get_keys(curve, ["co"])["co"].T
    on, clock = np.flatnonzero(values > _ON), Clock(scene, ob)
    if not len(on):
        return None
    after = np.flatnonzero((values <= _ON) & (times > times[on[0]]))
    last = clock.frame(float(times[after[0]])) - 1.0 if len(after) else float(scene.frame_end)
    return round(clock.frame(float(times[on[0]]))), round(last)


def spaces_on(owner: Object | PoseBone, scene: Scene) -> Sequence[tuple[Any, TargetSpace]]:
    """Return the constraints of an object or bone that are its spaces, each with the span, in order of time."""
    found = []
    for each in space_constraints(owner):
        span = span_of(each, scene)
        if span is not None:
            found.append((each, TargetSpace(each.target, each.subtarget, *span)))
    return sorted(found, key=lambda pair: pair[1].frame_start)
