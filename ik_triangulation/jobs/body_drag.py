# SPDX-License-Identifier: GPL-3.0-or-later
"""A drag of any bone without a set-up: the body is recognised for the time of the drag, and nothing of it is stored.

What touches the ground is pinned where it is. The pose that is shown is the reference, so that drags add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import numpy as np
from bpy.types import Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix, Vector

from ..errors import ChainError, IKError
from ..goals import Anywhere, Goal
from ..goals.from_goals import point_task
from ..goals.task import Level
from ..kinematics.arrays import Numbers
from ..rig.anatomy.limbs import ARM, LEG, Anatomy
from ..rig.armature import base_of, channels_of, find_bone
from ..rig.body import RigBody
from ..rig.controls import Controls
from ..rig.frames.body_samples import BodySamples, unscaled_base
from ..rig.freedom import can_turn
from ..rig.keyframes import check_keys
from ..rig.limb import Limb, select_only
from ..rig.rotation import channel
from ..rig.targets.motion import insert_keys
from ..settings.property_groups import keep_settings
from .live.motion import BodyMotion
from .setup import set_up_body
from .shots.keys import body_channels
from .shots.problem import body_of
from .shots.writing import Undo, keep_objects, show_first

_TOUCHES = 0.05  # of the height at rest: how far above the lowest hand or foot others touch the ground
_NEAR = 1e-4  # of the height: how near to the mouse the bone has to come
_MOST = 4  # bones of a chain that is not recognised
_SAME = 1e-6  # change of a channel that is rounding


class BodyDrag:
    """A drag of the tail of a bone at the present frame, with the rest of the body, until it is done or cancelled."""

    def __init__(self, armature: Object, bone: str, scene: Scene, view_layer: ViewLayer) -> None:
        """Raises an IKError that names the culprit; then nothing has changed."""
        view_layer.update()
        self._armature, self._scene, self._view_layer = armature, scene, view_layer
        self.bone = _dragged(armature, find_bone(armature, bone).name)
        with recognised(armature) as found:  # for the joints' limits as well, which are read here
            rig = _body_around(armature, self.bone, found, view_layer)
            self._motion = BodyMotion(rig, samples_as_shown(rig, scene, view_layer), scene)
            if not len(self._motion.problem.body.tree.joint_of):
                raise ChainError(f"'{self.bone}' and the bones above it cannot turn. Unlock one, or drag another bone.")
            self._motion.take(self._motion.problem.reference, ())
        view_layer.update()
        self._rig, self.problem = rig, ""
        self.pinned = rig.held
        self._before = {(each.name, prop): tuple(getattr(each, prop)) for each, prop in self._channels()}
        self.frame = Matrix.Translation(armature.matrix_world @ armature.pose.bones[self.bone].tail)
        self._into = np.linalg.inv(np.array(armature.matrix_world.to_3x3()))
        self._from = np.array(armature.pose.bones[self.bone].tail)

    def move(self, by: Vector) -> None:
        """Move the bone's tail from where it was by a vector, world space, and pose the body."""
        body = self._motion.problem.body
        place = self._from + self._into @ np.array(by)
        task = point_task(place[:, None], np.array([_NEAR * body.tree.size]))
        self._motion.follow([replace(task, tip=body.number_of[self.bone], level=Level.REACH)])
        self._show()

    def finish(self) -> str:
        """End the drag, and with Auto Keying on key the bones that turned; return what went wrong, or an empty text."""
        if self._motion.rest():
            self._show()
        select_only(self._armature, [self.bone])
        if not self._scene.tool_settings.use_keyframe_insert_auto:
            return self.problem
        turned = [(bone, prop) for bone, prop in self._channels() if self._has_changed(bone, prop)]
        try:
            check_keys(self._armature, list(dict.fromkeys(bone.name for bone, _ in turned)))
            for bone, prop in turned:
                insert_keys(bone, prop, self._scene, always=True)
        except IKError as error:
            return str(error)
        return self.problem

    def cancel(self) -> None:
        """Restore the pose before the drag."""
        for (name, prop), values in self._before.items():
            setattr(self._armature.pose.bones[name], prop, values)
        self._view_layer.update()

    def _show(self) -> None:
        states = self._motion.states
        assert states is not None
        show_first(self._armature, body_channels(self._motion.problem, states))
        self._view_layer.update()

    def _channels(self) -> list[tuple[PoseBone, str]]:
        """Return the bones with the property that a drag may change."""
        found = [(bone, channel(bone)[0]) for bone in self._rig.pose_bones]
        hips = [] if self._rig.hips_motion == "FIXED" else [(self._armature.pose.bones[self._rig.hips], "location")]
        return [*hips, *found]

    def _has_changed(self, bone: PoseBone, prop: str) -> bool:
        before = self._before[bone.name, prop]
        return max(abs(a - b) for a, b in zip(before, getattr(bone, prop), strict=True)) > _SAME


def samples_as_shown(rig: RigBody, scene: Scene, view_layer: ViewLayer) -> BodySamples:
    """Return a body as it is shown now, by which its pinned tips are held, without goals."""
    evaluated = rig.armature.evaluated_get(view_layer.depsgraph)
    channels = channels_of(evaluated, rig.bones)
    base = unscaled_base(rig, base_of(evaluated, rig.hips), scene.frame_current)
    located = next(each for name, each in zip(rig.bones, channels, strict=True) if name == rig.hips).location
    return BodySamples(
        [float(scene.frame_current)],
        np.array(evaluated.matrix_world)[..., None],
        np.array(base)[..., None],
        channels,
        np.array([each.rotation[:] for each in channels], float)[..., None],
        np.array(located, float)[:, None],
        {limb.tip: [Goal(Anywhere())] for limb in rig.limbs},
        {tip: np.ones(1) for tip in rig.tips},
    )


@contextmanager
def recognised(armature: Object) -> Iterator[RigBody | None]:
    """Give the body of an armature, set up where that is not done yet, and take the set-up back; None without one."""
    with Undo() as undo:
        keep_objects(undo)
        keep_settings(armature, undo)
        found: RigBody | None = None
        with suppress(ChainError):
            made = set_up_body(armature, relax_arms=False)
            found = body_of(armature, (*made.reach, *made.held)[0])
        yield found


def _dragged(armature: Object, name: str) -> str:
    """Return the bone whose tail is dragged: of a forearm or shin, which ends in the hand or foot, that one."""
    controls = Controls(armature)
    bone, limb = controls.control(name), Anatomy(armature, controls).limb_with(name)
    if limb is not None and limb.kind in (ARM, LEG) and len(limb.bones) > 2 and bone == limb.bones[-2]:
        return limb.bones[-1]
    return bone


def _body_around(armature: Object, bone: str, found: RigBody | None, view_layer: ViewLayer) -> RigBody:
    """Return the body whose bone is dragged, with what touches the ground held; else the chain that ends in the bone.

    Raises ChainError for a bone that cannot be dragged.
    """
    anatomy, bones = Anatomy(armature, Controls(armature)), armature.pose.bones
    line = [bone, *(above.name for above in bones[bone].parent_recursive)]
    if found is None or found.hips not in line:
        return _chain(armature, line)
    ends = [limb.bones[-1] for limb in anatomy.limbs(ARM)]
    able = [tip for tip in dict.fromkeys((*found.held, *ends)) if found.hips in found.line(tip) and tip not in line]
    held = _on_the_ground(armature, able, view_layer)
    free = [tip for tip in ends if tip in able and tip not in held]
    limb = anatomy.limb_with(bone)
    own = {name for name in (limb.bones if limb else line[:1]) if name in line} | {bone}
    return replace(
        found,
        limbs=tuple(Limb.from_tip(armature, tip, armature) for tip in (bone, *free)),
        held=held,
        planted=(),
        contacts=(),
        free_heads=(),
        may_swing=(),
        solved=found.solved | own,
    )


def _chain(armature: Object, line: list[str]) -> RigBody:
    """Return the chain of up to four bones that can turn and end in the first bone of a line towards the root."""
    bones, chain = armature.pose.bones, list[str]()
    for name in line:
        if can_turn(bones[name]):
            chain.append(name)
        if len(chain) == _MOST or (chain and bones[name].parent and len(bones[name].parent.children) > 1):
            break
    if not chain:
        raise ChainError(f"'{line[0]}' cannot turn, nor can what it hangs on. Unlock its rotation.")
    limb = Limb.from_tip(armature, line[0], armature, 1 + line.index(chain[-1]))
    return RigBody(armature, (limb,), (), chain[-1], "FIXED", False, frozenset(chain))


def _on_the_ground(armature: Object, tips: list[str], view_layer: ViewLayer) -> tuple[str, ...]:
    """Return those of the tips that are as low as the lowest of them is now, world space."""
    if not tips:
        return ()
    evaluated = armature.evaluated_get(view_layer.depsgraph)
    world, heights = evaluated.matrix_world, dict[str, float]()
    for tip in tips:
        bone = evaluated.pose.bones[tip]
        ends = [bone.head, bone.tail, *(each.tail for each in bone.children)]
        heights[tip] = min((world @ end).z for end in ends)
    rest: Numbers = np.array([(world @ bone.tail_local).z for bone in armature.data.bones], float)
    low = min(heights.values()) + _TOUCHES * float(np.ptp(rest))
    return tuple(tip for tip in tips if heights[tip] <= low)
