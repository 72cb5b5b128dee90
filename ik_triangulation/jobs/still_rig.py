# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig that nobody but a live limb changes: only what the limb follows is read anew, and solved from its last pose."""

from __future__ import annotations

from bpy.types import ID, Action, Depsgraph, Object, Scene

from ..kinematics import Pose
from ..rig.armature import base_of
from ..rig.frames.sampling import Sample, goals_at
from ..rig.goal import GoalReader
from ..rig.limb import Limb
from ..solvers.natural import trailing
from ..solvers.solve import solve_goal
from .frame_solver import NATURAL, SolvedFrame, solver_settings


class StillRig:
    """Settings, bones and pose of a live limb as they were when it was last posed."""

    def __init__(self, limb: Limb, solved: SolvedFrame, begin: Pose) -> None:
        self.limb, self.pose, self._goal = limb, solved.pose, solved.goal
        self._reference = begin if limb.solver == NATURAL else None
        self._rig, self._settings, self._goals = solved.now.rig, solver_settings(limb), GoalReader()

    @staticmethod
    def suits(limb: Limb) -> bool:
        """Tell whether everybody who changes the rig or the settings of this limb can be noticed.

        Drivers and animated settings change with anything, the selection without a trace; and where the solution is not
        what is shown, or not where the next one starts, the rig has to be read anew.
        """
        stored = limb.armature.pose.bones[limb.tip].ik_triangulation
        if limb.influence != 1.0 or limb.start_from == "REST" or stored.use_selected:
            return False
        animation = limb.armature.animation_data
        if animation is None:
            return True
        bones = tuple(limb.armature.pose.bones[name].path_from_id() for name in limb.bones)
        driven = any(curve.data_path.startswith(bones) for curve in animation.drivers)
        return not (driven or limb.followed or limb.with_moving_limits)

    def sample(self, armature: Object, depsgraph: Depsgraph, frame: float, touched: set[ID]) -> Sample | None:
        """Return what the depsgraph shows now; None if somebody may have changed more than what the limb follows.

        A live limb's own pose touches the armature but not its data; all other changes of bones and of settings do.
        """
        limb, rig = self.limb, self._rig
        if armature.data in touched or any(isinstance(each, (Scene, Action)) for each in touched):
            return None
        try:
            shown = armature.evaluated_get(depsgraph)
            if shown.matrix_world != rig.world or base_of(shown, limb.bones[0]) != rig.base:
                return None
            if any(bone and bone not in target.pose.bones for target, bone in limb.targets):
                return None
            return Sample(frame, rig, limb, *goals_at(limb, depsgraph, frame))
        except ReferenceError:  # a target was removed
            return None

    def solve(self, now: Sample) -> SolvedFrame:
        """Solve the sample from the last pose on, or from the reference.

        Raises TargetError for a shape that the target does not have.
        """
        begin = self._reference or self.pose
        goal = self._goals.at(now, begin)
        solution = solve_goal(begin, goal, self._settings, follow=True)
        if self._reference:
            pose = trailing(self._reference, goal, self._settings.form, self.pose, self._goal, solution.pose)
            if pose is not solution.pose:
                error = (pose.tip - goal.target.closest(pose.tip)).length
                solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
        self.pose, self._goal = solution.pose, goal
        return SolvedFrame(now, goal, solution, solution.pose)
