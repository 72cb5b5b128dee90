# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that wait: those of a body that was set up, until somebody moves or keys them.

A hand whose empty nobody has touched follows the body with its own animation, as if it had no target.
"""

from __future__ import annotations

import numpy as np
from bpy.types import Object, PoseBone

_SAME = 1e-6  # difference of matrices that is rounding, relative to their largest number


def let_wait(bone: PoseBone) -> None:
    """Let the target of the limb that ends in a bone wait until it leaves the place where it is."""
    posed = bone.ik_triangulation_posed
    posed.waits, posed.waits_at = True, _place(bone.ik_triangulation.target)


def is_waiting(bone: PoseBone) -> bool:
    """Tell whether nobody has moved, keyed, parented or constrained the target of this limb since it waits."""
    posed, target = bone.ik_triangulation_posed, bone.ik_triangulation.target
    if not posed.waits or target is None or bone.ik_triangulation.subtarget:
        return False
    animation = target.animation_data
    animated = animation and (animation.action or len(animation.drivers) or len(animation.nla_tracks))
    if animated or target.parent or len(target.constraints):
        return False
    now, then = np.array(_place(target)), np.array(posed.waits_at)
    return bool(np.abs(now - then).max() <= _SAME * max(1.0, np.abs(then).max()))


def _place(target: Object) -> list[float]:
    """Numbers of the target's own matrix, row by row."""
    return [number for row in target.matrix_basis for number in row]
