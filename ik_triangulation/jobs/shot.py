# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a limb solved together, as arrays; a solved frame is made of them only where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion

from ..cooperative import Work
from ..goals.batch import AlongTask, OrientTask, Task
from ..goals.batch.from_goals import point_task, tasks_of
from ..kinematics import Pose
from ..kinematics.arrays import Indices, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..motion.jumps import Jump, reason, turned
from ..motion.knots import KnotMethod
from ..motion.mending import track_without_jumps
from ..motion.tracking import Shot
from ..motion.turns import FEW_TURNS, leaps_of, standing_out, turns_along, ways_of
from ..rig.armature import Bones
from ..rig.frames.sampling import Sample
from ..rig.goal import GoalReader
from ..rig.limb import Limb
from ..solvers import Solution
from .frame_solver import SolvedFrame, at_frame, shown_pose, solver_settings


class SolvedShot(Sequence[SolvedFrame]):
    """Solved frames of one chain.

    `rotations` (n, 4, F) are those of its joints, `errors` (3, F) the vectors from tip to target, armature space, and
    `angles` (F) [rad] the deviations from the orientation asked for, None if there is none.
    """
