# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb's target moved or turned by hand, with the limb following as if it were live, until that is done or cancelled.

The limb, or its body, is live meanwhile, if it is not so anyway, so that a drag in Pose Mode solves as one of the
object does.
"""

from __future__ import annotations

from contextlib import ExitStack

from bpy.types import Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ..errors import IKError
from ..kinematics.rotation import orientation
from ..rig.checks import check_readable
from ..rig.frames.sampling import frame_of
from ..rig.limb import Limb
from ..rig.looks import looks_of
from ..rig.selection import selected_limb
from ..rig.soft_goals import orientation_of
from ..rig.target_handle import TargetHandle
from . import live


class TargetDrag:
    """A drag of the target of the limb that ends in `tip`; each move and turn starts from where the target was."""

    def __init__(self, armature: Object, tip: str, scene: Scene, view_layer: ViewLayer) -> None:
        """Raises an IKError that names the culprit; then nothing has changed."""
        limb = selected_limb(armature.pose.bones[tip])
        view_layer.update()
        check_readable(limb, scene, view_layer)
        self._handle = TargetHandle(limb.target, limb.subtarget, view_layer.depsgraph)
        self._onto_hand = _turn_onto_hand(limb, view_layer.depsgraph)
        self._armature, self._tip, self._scene, self._view_layer = armature, tip, scene, view_layer
        self._undo = ExitStack()
        self._is_ours = not live.is_live(armature, tip)
        if self._is_ours:
            live.start(armature, tip, at_once=False)
        live.keep_poses(self._undo)

    @property
    def frame(self) -> Matrix:
        """Frame of the target before the drag, 4x4, world space."""
        return self._handle.frame

    @property
    def problem(self) -> str:
        """The error that keeps the limb from following now; empty if there is none."""
        return live.problem(self._armature, self._tip)

    def move(self, by: Vector) -> None:
        """Move the target by a vector, world space, and solve the limb or its body."""
        self._handle.move(by)
        self._view_layer.update()

    def turn(self, by: Quaternion) -> None:
        """Turn the target about its own origin by a rotation, world space, and solve the limb or its body.

        A target that was not turned since it was made for a hand begins with the hand's rotation, which does not jump.
        """
        self._handle.turn(by @ self._onto_hand)
        self._view_layer.update()

    def finish(self) -> str:
        """End the drag, and with Auto Keying on key target and limb; return what went wrong, or an empty string."""
        problem = self.problem
        live.rest_now()
        if self._scene.tool_settings.use_keyframe_insert_auto:
            try:
                self._handle.key(self._scene)
            except IKError as error:
                problem = str(error)
            live.key_now()
            problem = problem or self.problem
        if self._is_ours:
            live.stop(self._armature, self._tip)
        return problem

    def cancel(self) -> None:
        """Give back target and poses as they were before the drag."""
        self._handle.restore()
        self._undo.close()
        if self._is_ours:
            live.stop(self._armature, self._tip)
        self._view_layer.update()


def _turn_onto_hand(limb: Limb, depsgraph: Depsgraph) -> Quaternion:
    """Return the turn, world space, that brings a target that was not turned so far onto the hand; of others none."""
    looks = looks_of(limb.target, limb.subtarget, depsgraph)
    if not looks.as_made or orientation_of(limb, looks._replace(as_made=False)) != "FULL":
        return Quaternion()
    hand, target = (
        orientation(frame_of(*of, depsgraph).to_3x3())
        for of in ((limb.armature, limb.tip), (limb.target, limb.subtarget))
    )
    offset = Quaternion(limb.offset_rotation) if limb.use_offset else Quaternion()
    return hand @ offset.conjugated() @ target.conjugated()
