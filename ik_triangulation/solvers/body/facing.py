# SPDX-License-Identifier: GPL-3.0-or-later
"""The part that pelvis and spine take in a look: what lies far aside or behind turns the whole body a little.

In large shifts of gaze the head makes most of the way, and the trunk a share of what is beyond the comfortable range of
the neck (Land 2004, "The coordination of rotations of the eyes, head and trunk in saccadic turns produced in natural
situations"; Hollands, Ziavra and Bronstein 2004 "A new paradigm to investigate the roles of head and eye movements in
the coordination of whole-body movements").
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import numpy as np

from ...goals.orientation import LookTask
from ...goals.task import Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import cross, dot, lengths, normalized, rotate

_NECK = radians(40.0)  # angle about the vertical up to which the head turns alone
_SHARE = 0.5  # of the angle beyond that, which pelvis and spine make
_STEEP, _LEVEL = 0.3, 0.6  # share of a line that is level: below the first it tells no side, above the second it does


def turn_for_looks(geometry: Geometry, up: Numbers, tasks: Sequence[Task]) -> Numbers:
    """Return the turn (F) [rad] about `up` (3, F) that pelvis and spine make for what heads look at, in their poses.

    Positive turns are to the left. Of several looks the first one counts.
    """
    look = next((task for task in tasks if isinstance(task, LookTask) and task.up is not None), None)
    count = len(geometry.states)
    if look is None:
        return np.zeros(count)
    now = rotate(geometry.tip_rotation(look.tip), np.broadcast_to(look.axis, (3, count)))
    to = normalized(np.broadcast_to(look.point, (3, count)) - look.eye(geometry))
    flat = [way - dot(way, up) * up for way in (now, to)]
    angle = np.unwrap(np.arctan2(dot(cross(*flat), up), dot(*flat)))
    level = np.minimum(*map(lengths, flat))
    share = _SHARE * np.clip((level - _STEEP) / (_LEVEL - _STEEP), 0.0, 1.0)
    turn: Numbers = np.sign(angle) * np.maximum(np.abs(angle) - _NECK, 0.0) * share
    return turn
