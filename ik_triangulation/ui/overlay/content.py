# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of animations: what moves objects and bones by keyframes and poses, as bytes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from bpy.types import Context, Object, PoseBone

from ...rig import keyframes


def frames_in_view(context: Context, most: int) -> range:
    """Return the frames of the scene's (preview) range; of a long one so many around the present frame.

    They stay the same while the frame changes by less than a quarter of them.
    """
    scene = context.scene
    first, last = scene.frame_start, scene.frame_end
    if scene.use_preview_range:
        first, last = scene.frame_preview_start, scene.frame_preview_end
    if last - first >= most:
        part = most // 4
        first = min(max(first, scene.frame_current // part * part - most // 2), last - most + 1)
        last = first + most - 1
    return range(first, max(first, last) + 1)


def content_of(objects: Iterable[Object | None], armature: Object, bones: Iterable[PoseBone]) -> bytes:
    """Return what moves these objects, and bones of the armature, in a form that can be compared."""
    parts = list[bytes]()
    for ob in sorted({*objects} - {None}, key=lambda each: each.session_uid):
        curves = list(keyframes.curves_of(ob))
        for curve in curves:
            keys = keyframes.get_keys(curve, ["co", "handle_left", "handle_right"])
            parts += [curve.data_path.encode(), *(column.tobytes() for column in keys.values())]
        if not curves:
            parts.append(np.array(ob.matrix_world).tobytes())
    keyed = {curve.data_path.partition("]")[0] for curve in keyframes.curves_of(armature)}
    for each in bones:
        if each.path_from_id().partition("]")[0] not in keyed:
            parts.append(np.array(each.matrix_basis).tobytes())
    return b"".join(parts)


def is_playing(context: Context) -> bool:
    """Tell whether a window plays the animation."""
    return any(window.screen.is_animation_playing for window in context.window_manager.windows)
