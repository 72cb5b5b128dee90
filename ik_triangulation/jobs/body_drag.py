# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that follows a target while it is dragged."""

from __future__ import annotations

from contextlib import ExitStack

from bpy.types import Scene, ViewLayer

from ..cooperative import finished
from ..errors import IKError
from ..goals.batch.of_bodies import body_tasks, hold_tasks
from ..kinematics.batch import States
from ..rig.body import RigBody
from ..rig.frames.body_samples import body_now
from ..rig.posed import keep_location, keep_pose
from ..solvers.body.following import BodyFollower
from .body_bake import BodyProblem
from .body_pose import check_body, write_body_pose

_STEPS, _SETTLING = 3, 20  # of the follower: at each move at most, and at the end of the drag


class BodyDrag:
    """A body that is posed anew at each step of a drag; `problem` is the error that keeps it from following.

    The first pose is solved as any, those after it follow from the one before, so that each takes little time also
    where the target is out of reach.
    """

    def __init__(self, rig: RigBody, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> None:
        """Closing `undo` poses the body as it is now. Raises an IKError that names the culprit."""
        check_body(rig, scene, view_layer, key=False)
        self._rig, self._scene, self._view_layer, self.problem = rig, scene, view_layer, ""
        self._body: BodyProblem | None = None
        self._states: States | None = None
        keep_pose(rig.pose_bones, undo)
        keep_location(rig.armature.pose.bones[rig.hips], undo)

    def follow(self, key: bool = False) -> None:
        """Pose the body as the targets are now; with `key` let it settle, and key it."""
        self.problem = ""
        try:
            if key:
                check_body(self._rig, self._scene, self._view_layer, key)
            states, problem = self._solved(_SETTLING if key else _STEPS)
            with ExitStack() as undo:
                write_body_pose(self._rig, problem, states, key, self._scene, self._view_layer, undo)
                undo.pop_all()
        except IKError as error:
            self.problem = str(error)

    def _solved(self, steps: int) -> tuple[States, BodyProblem]:
        scene, depsgraph = self._scene, self._view_layer.depsgraph
        samples = body_now(self._rig, depsgraph, scene.frame_current + scene.frame_subframe, scene)
        if self._body is None or self._states is None:
            self._body = problem = BodyProblem(self._rig, samples)
            self._states, _ = finished(problem.path(scene))
            held = hold_tasks(problem.body, self._rig.held, problem.held_frames)
            self._follower = BodyFollower(problem.body.tree, problem.reference, held, problem.steady)
            return self._states, problem
        problem = self._body
        angle = min(limb.angle_tolerance for limb in self._rig.limbs)
        goals = body_tasks(problem.body, samples.goals, angle)
        for _ in range(steps):
            self._states, _ = self._follower.moved(self._states, goals)
        return self._states, problem
