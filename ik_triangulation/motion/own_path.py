# SPDX-License-Identifier: GPL-3.0-or-later
"""The path that a published method makes by itself: every frame is its own, from the one before.

Frames that it misses are tried in other ways, as a target that can be reached is to be reached, and the frames around
jumps are solved anew; all others stay as the method has them.
"""

from __future__ import annotations

import numpy as np

from ..cooperative import Work
from ..kinematics.batch.tree import joined
from .knots import KnotMethod
from .repair import mend_windows
from .tracking import Tracked, Tracking, meet_missed


def own_path(tracking: Tracking, method: KnotMethod, seed: int = 0) -> Work[Tracked]:
    """Solve all frames by the method, each from the one before; `mended` has those that are not its own in the end."""
    count = len(tracking.frames)
    inner = np.arange(1, count - (tracking.last is not None))
    rotations, steps = yield from method.follow_all(inner, tracking.frames)
    found = [tracking.first, tracking.tree.posed(rotations, tracking.frames.take(inner))]
    path = Tracked(tracking, joined(found if tracking.last is None else [*found, tracking.last]))
    path.steps[inner] = steps
    own = path.states.copy()
    missed = inner[~path.met[inner]]
    if len(missed) and tracking.tree.angles:  # without limits the method has come as near as can be
        yield from meet_missed(tracking, path, missed, method, seed)
    yield from mend_windows(tracking, path, method, seed)
    path.mended = (own.angles != path.states.angles).any(0) | (own.balls != path.states.balls).any((0, 1))
    return path
