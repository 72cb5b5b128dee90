# SPDX-License-Identifier: GPL-3.0-or-later
"""Markers on the timeline that are replaced by newer ones of the same name."""

from collections.abc import Iterable
from contextlib import ExitStack

from bpy.types import Scene, TimelineMarker


def mark(scene: Scene, name: str, frames: Iterable[float], first: float, last: float, undo: ExitStack) -> None:
    """Put a marker of that name at each of the frames; those of that name from `first` to `last` go.

    Closing `undo` puts back those and takes away these.
    """
    markers = scene.timeline_markers
    for marker in [m for m in markers if m.name == name and first <= m.frame <= last]:
        undo.callback(_add, scene, name, marker.frame, marker.select)
        markers.remove(marker)
    for frame in dict.fromkeys(round(frame) for frame in frames):
        undo.callback(markers.remove, _add(scene, name, frame, False))


def _add(scene: Scene, name: str, frame: int, select: bool) -> TimelineMarker:
    marker = scene.timeline_markers.new(name, frame=frame)
    marker.select = select
    return marker
