# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that the overlay shows, each read whenever the dependency graph has changed, and shells around their reach.

Shells are computed once for each chain, while Blender is idle, kept, and softly shaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import perf_counter, thread_time
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Bone, Context, Object, PoseBone
from mathutils import Matrix, Vector

from ...cooperative import Job
from ...errors import IKError
from ...goals import Direction, LookAt, Orientation, Target, Transformed
from ...goals.orientation import missing_angle
from ...jobs.shots.frame_solver import Shown
from ...jobs.shots.measure import shown_tip
from ...kinematics import Locked, Pose
from ...kinematics.arrays import Array
from ...maps.shell import Surface, is_free, reach_shell, spheres
from ...rig.armature import Bones, Channels, base_of, bones_in_line, channels_of
from ...rig.by_hand.shown_limb import shown_rotations
from ...rig.checks import check_armature, check_readable
from ...rig.frames.samples import sample
from ...rig.ik_controls import IKControls, shown_offset
from ...rig.limb import Limb, saved_settings
from ...rig.targets.goal import GoalReader
from ...rig.targets.untouched import is_waiting
from ..context import chain_below, control_names, is_in_body
from .updates import redraw

_MOST = 4  # limbs at once

# Without the soft goals that are not drawn: reading them takes time.
_ONLY_REACHING = {"pole_target": None, "effort_weight": 0.0, "rest_weight": 0.0, "obstacles": None}
_BEYOND = 0.6  # of the last bone's length: how far a hand without fingers goes on after it
_FINGERS = 64  # bones after the tip, at most

_CLEAR, _RIM = 0.02, 0.24  # alpha of what faces the viewer, and how much more there is at the outline
_FALL = 3  # power by which that falls off

_SETTLED = 0.3  # [s] a chain whose limits change has to rest for so long before its shell is computed
_SLICE, _PAUSE = 0.02, 0.01  # [s] of work, and between two slices of it
_PLAYING = 0.5  # [s] between two looks whether an animation still plays
_LONGEST = 15.0  # [s] of the processor's time after which a shell is given up
_KEPT = 12  # shells

_shells: dict[tuple, Surface | None] = {}  # the latest last; None where a shell cannot be computed


class ShownLimb(NamedTuple):
    """A limb by its armature and its tip bone, and the name of its bone that is active; empty if none is."""

    armature: Object
    tip: PoseBone
    active: str


def shown_limbs(context: Context) -> list[ShownLimb]:
    """Return the limbs to show, hidden ones as well.

    They are the limb that ends in the active bone; without one those that the bone is part of; otherwise those that
    follow the active object or bone. A limb without a target counts if joints of it were set up.
    """
    ob, name = context.active_object, ""
    if ob is None:
        return []
    if ob.type == "ARMATURE" and ob.pose:
        bone = ob.pose.bones.get(ob.data.bones.active.name) if ob.data.bones.active else None
        if bone is None:
            return []
        own, name = ShownLimb(ob, bone, bone.name), bone.name
        if bone.ik_triangulation.target is not None:
            return [own]
        around = [ShownLimb(ob, tip, name) for tip in _tips(ob) if name in _bones(tip)]
        if around or _is_set_up(bone):
            return around[:_MOST] or [own]
    rigs = (rig for rig in context.view_layer.objects if rig.type == "ARMATURE" and rig.pose)
    return [ShownLimb(rig, tip, "") for rig in rigs for tip in _tips(rig) if _follows(tip, ob, name)][:_MOST]


def _tips(armature: Object) -> Iterator[PoseBone]:
    return (bone for bone in armature.pose.bones if bone.ik_triangulation.target is not None)


def _follows(tip: PoseBone, ob: Object, bone: str) -> bool:
    """Tell whether the target of a limb is an object, or this bone of it."""
    stored = tip.ik_triangulation
    return bool(stored.target == ob) and (not bone or stored.subtarget == bone)


def _is_set_up(tip: PoseBone) -> bool:
    """Tell whether a joint of the limb that would end here has limits of the extension's own."""
    bones = tip.id_data.pose.bones
    return any(bones[name].ik_triangulation_joint.source == "OWN" for name in _bones(tip))


def _bones(tip: PoseBone) -> list[str]:
    with suppress(IKError):
        return chain_below(tip)
    return []


class Aim(NamedTuple):
    """Goal of a limb, and what is missing: the target, its point nearest to the tip (armature space), the rotation.

    `distance` [Blender units, world space] and `angle` [rad], None if the tip is not to be turned, are what is missing.
    A limb with an influence below 1 is not `due`: neither reached nor missed. Nor is one whose target
    `waits` to be moved (rig.targets.untouched), which it does not follow yet.
    """

    target: Target
    nearest: Vector
    turn: Orientation | Direction | LookAt | None
    distance: float
    angle: float | None
    close: bool  # the distance is within the tolerance
    turned: bool  # so is the angle
    due: bool
    waits: bool = False

    @property
    def reached(self) -> bool:
        """True within both tolerances."""
        return self.close and self.turned and not self.waits

    @property
    def missed(self) -> bool:
        """True for a limb that is not reached although it should be."""
        return self.due and not self.reached and not self.waits


class DisplayedLimb(NamedTuple):
    """The limb at the current frame, armature space; `aim` is None for a limb without a target."""

    world: Matrix  # of the armature, 4x4
    pose: Pose
    lengths: list[float]  # of the joints' bones
    locked: list[tuple[Vector, float]]  # head and length of the limb's locked bones
    active: int | None  # number of the joint to show in full
    hand: list[Vector]  # places that texts keep clear of: the ends of the last bone and of those after it
    aim: Aim | None


def displayed_limb(context: Context, armature: Object, bone: PoseBone, active: str = "") -> DisplayedLimb:
    """Return the limb that ends in `bone`; the joint of the bone named `active` is the one to show in full.

    Raises IKError for a limb that cannot be read, or whose bones do not form a chain.
    """
    depsgraph = context.view_layer.depsgraph
    check_armature(armature, context.view_layer)
    stored, solved = bone.ik_triangulation, chain_below(bone)
    line = bones_in_line(armature, solved) if stored.use_selected else solved
    shown = armature.evaluated_get(depsgraph)
    bones = Bones(armature, line, solved)
    held = [name for name, freedom in zip(line, bones.freedoms, strict=True) if isinstance(freedom, Locked)]
    locked = [(bone.head.copy(), bone.length) for bone in (shown.pose.bones[name] for name in held)]
    if stored.target is None or stored.hold:  # a held tip is on its target, and has a pin
        world, aim = shown.matrix_world.copy(), None
        pose = bones.pose(base_of(shown, line[0]), channels_of(shown, line))
    else:
        limb = Limb(armature, tuple(line), frozenset(solved), stored.target, **saved_settings(stored) | _ONLY_REACHING)
        check_readable(limb, context.scene, context.view_layer)
        now = sample(limb, depsgraph, context.scene.frame_current + context.scene.frame_subframe)
        ik = control_names(bone) if stored.keys_on == "IK" else None
        channels = _of_ik(limb, ik.controls, shown, now.rig.channels) if ik else now.rig.channels
        world, pose = now.rig.world, bones.pose(now.rig.base, channels, now.rig.freedoms)
        tip = Shown(pose.tip, pose.tip_rotation)
        if ik:
            at = ik.controls.tip
            tip = shown_tip(shown.pose.bones[at.shown].matrix @ shown_offset(armature, at), limb)
        goal = GoalReader().at(now, pose)
        # A field is shown ahead of the tip, which is where it should be.
        target = Transformed(now.flow, now.rig.into) if now.flow else goal.target
        nearest = tip.tip if now.flow else target.closest(tip.tip)
        distance = (world @ tip.tip - world @ nearest).length
        angle = missing_angle(goal.soft, tip.tip, tip.rotation)
        turn = next((each for each in goal.soft if isinstance(each, Orientation | Direction | LookAt)), None)
        close = distance <= now.limb.tolerance
        turned = angle is None or angle <= now.limb.angle_tolerance
        due, waits = now.limb.influence >= 1.0, is_waiting(bone) and is_in_body(bone)
        aim = Aim(target, nearest, turn, distance, angle, close, turned, due, waits)
    names = [joint.name for joint in pose.chain.joints]
    number = names.index(active) if active in names else None
    lengths = [shown.pose.bones[name].length for name in names]
    return DisplayedLimb(world, pose, lengths, locked, number, _end_points(shown, bone.bone), aim)


def _of_ik(limb: Limb, controls: IKControls, shown: Object, channels: Sequence[Channels]) -> list[Channels]:
    """Return the channels of a limb in the pose that its IK controls have, as evaluated."""
    rotations = shown_rotations(limb, controls, shown)
    return [each._replace(rotation=rotation) for each, rotation in zip(channels, rotations, strict=True)]


def _end_points(shown: Object, tip: Bone) -> list[Vector]:
    """Return the ends of a limb's last bone and of the bones after it, as evaluated."""
    names, last = [tip.name, *(bone.name for bone in _bones_after(tip, _FINGERS))], shown.pose.bones[tip.name]
    ends = [end.copy() for name in names for end in (shown.pose.bones[name].head, shown.pose.bones[name].tail)]
    return [*ends, last.tail + (last.tail - last.head) * _BEYOND]


def _bones_after(bone: Bone, most: int) -> Sequence[Bone]:
    """Return the bones after this one, `most` at the most."""
    found = list(bone.children)
    for each in found:
        if len(found) >= most:
            break
        found += each.children
    return found[:most]


class ShadedSurface:
    """A surface as seen from the `eye`, which is in the surface's space, homogeneous."""

    def __init__(self, surface: Surface, eye: Vector) -> None:
        self._surface = surface
        places, normals = surface.places, surface.normals
        towards = np.array(eye.xyz, np.float32) - places * np.float32(eye.w)
        length = np.sqrt(np.einsum("ni,ni->n", towards, towards))
        self._facing = np.einsum("ni,ni->n", towards, normals) / np.maximum(length, np.float32(1e-12))

    def alphas(self) -> Array:
        """Return the opacity (n) of the vertices."""
        rim = 1.0 - np.abs(self._facing)
        result: Array = _CLEAR + _RIM * rim**_FALL
        return result

    def outline(self) -> Array:
        """Return the lines (k, 3), two places each, along which the surface turns away from the viewer.

        They go through the triangles where the interpolated normal is at a right angle to the line of sight (Hertzmann
        1999), and so are smoother than the triangles' edges.
        """
        triangles = self._surface.triangles
        front = self._facing > 0.0
        one, two, three = (front[triangles[:, i]] for i in range(3))
        mixed = (one != two) | (two != three)
        corners, one, two, three = triangles[mixed], one[mixed], two[mixed], three[mixed]
        odd = np.where(two == three, 0, np.where(one == three, 1, 2))  # the corner that differs from both others
        rows, places = np.arange(len(corners)), self._surface.places
        apex = corners[rows, odd]
        lines = []
        for step in (1, 2):
            other = corners[rows, (odd + step) % 3]
            share = (self._facing[apex] / (self._facing[apex] - self._facing[other]))[:, None]
            lines.append(places[apex] + share * (places[other] - places[apex]))
        result: Array = np.stack(lines, axis=1).reshape(-1, 3).astype(np.float32)
        return result


_pending: list[PendingShell] = []  # the one that is to be computed, if any


class PendingShell:
    """A shell to be computed: of the chain `key`, which was first seen at `since` [s]."""

    def __init__(self, key: tuple, pose: Pose) -> None:
        self.key, self.pose, self.since = key, pose, perf_counter()
        self.job: Job[Surface] | None = None
        self.seconds = 0.0  # of work so far

    def work(self) -> bool:
        """Work for a slice of time; return True when there is nothing left to do."""
        self.job = self.job or reach_shell.steps(self.pose)
        started, begun = perf_counter(), thread_time()
        try:
            while perf_counter() - started < _SLICE:
                next(self.job)
        except StopIteration as finished:
            _keep(self.key, finished.value)
            return True
        except IKError:
            _keep(self.key, None)
            return True
        self.seconds += thread_time() - begun
        if self.seconds > _LONGEST:
            self.job.close()
            _keep(self.key, None)
            return True
        return False


class Shells(NamedTuple):
    """Surfaces around the root of a chain; `limited` if they respect its joint limits."""

    surfaces: tuple[Surface, ...]
    limited: bool


def shells_of(pose: Pose) -> Shells:
    """Return the shells around what a chain reaches, around its root, in the axes of its base.

    Without joint limits they are exact. With limits they are those without, until the others have been computed; of
    bones that are scaled, always.
    """
    if is_free(pose):
        return Shells(spheres(pose), True)
    if not pose.chain.plain:
        return Shells(spheres(pose), False)
    key = _key_of(pose)
    if key in _shells:
        found = _shells[key] = _shells.pop(key)
        return Shells(spheres(pose), False) if found is None else Shells((found,), True)
    if not _pending or _pending[0].key != key:
        _pending[:] = [PendingShell(key, pose)]
        if not bpy.app.timers.is_registered(_work):
            bpy.app.timers.register(_work, first_interval=_SETTLED)
    return Shells(spheres(pose), False)


def forget_shells() -> None:
    """Stop computing, and forget all shells."""
    _pending.clear()
    _shells.clear()
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)


def _work() -> float | None:
    """Work on the wanted shell for a moment; return the seconds until the next one, None when it is done."""
    if not _pending:
        return None
    if any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows):
        return _PLAYING
    (wanted,) = _pending
    if wanted.job is None and perf_counter() - wanted.since < _SETTLED:
        return _SETTLED
    if not wanted.work():
        return _PAUSE
    _pending.clear()
    redraw()
    return None


def _keep(key: tuple, surface: Surface | None) -> None:
    _shells[key] = surface
    while len(_shells) > _KEPT:
        del _shells[next(iter(_shells))]


def _key_of(pose: Pose) -> tuple:
    """Return what the shape of a shell depends on: the chain, apart from where its root is."""
    first, *others = pose.chain.joints
    links = ((joint.offset, joint.rest, joint.freedom) for joint in others)
    return (first.rest, first.freedom, *links, pose.chain.tip)
