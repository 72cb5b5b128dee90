# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that follows a target while it is dragged."""

from __future__ import annotations

from contextlib import ExitStack

from bpy.types import Scene, ViewLayer

from ..errors import IKError
from ..rig.body import RigBody
from ..rig.posed import keep_location, keep_pose
from .body_pose import solve_body_pose


class BodyDrag:
    """A body that is posed anew at each step of a drag; `problem` is the error that keeps it from following."""

    def __init__(self, rig: RigBody, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> None:
        """Closing `undo` poses the body as it is now."""
        self._rig, self._where, self.problem = rig, (scene, view_layer), ""
        keep_pose(rig.pose_bones, undo)
        keep_location(rig.armature.pose.bones[rig.hips], undo)

    def follow(self, key: bool = False) -> None:
        """Pose the body as the targets are now, and with `key` key it."""
        self.problem = ""
        try:
            solve_body_pose(self._rig, *self._where, key=key)
        except IKError as error:
            self.problem = str(error)
