# SPDX-License-Identifier: GPL-3.0-or-later
"""Timeline markers that replace older ones of the same name."""

from collections.abc import Iterable
from contextlib import ExitStack

from bpy.types import Scene, TimelineMarker


def mark(scene: Scene, name: str, frames: Iterable[float], first: float, last: float, undo: ExitStack) -> None:
    """Add a marker of that name at each of the frames; older ones of that name from `first` to `last` are removed.

    Closing `undo` reverts this.
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
