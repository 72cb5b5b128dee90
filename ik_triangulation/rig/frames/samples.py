# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples: the rig and its target at a frame, and sequences of them with arrays of all that moves.

They are read without stepping the user's scene. A temporary scene that holds only the armature and the target makes
Blender evaluate just their dependencies: exact, with parents, constraints and drivers, and at the same cost however
heavy the user's scene is. The user's current frame and poses that are not keyed stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import floor, inf, isfinite
from time import perf_counter
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ...cooperative import Work
from ...errors import RigError, TargetError
from ...goals.flow import Flow
from ...kinematics import Freedom, Locked
from ...kinematics.arrays import Array
from ...kinematics.rotation import orientation
from ..armature import LARGEST, SQUARE, Channels, base_of, channels_of, is_flat
from ..body import RigBody
from ..checks import broken_drivers
from ..freedom import freedom_of, locked_axes
from ..limb import Limb
from ..targets.made import hangs_at_most_on
from ..targets.surface import Looks, Streamline, Volume, flow_of, looks_of, surface_frame, volume_of
from .curve_values import column_lengths, to_matrix

Handler = Callable[..., None]
_STAYS = 1e-5  # difference of two matrices that rounding explains
_PACKAGE = __package__.removesuffix(".rig.frames")  # another name once it is installed


class Rig(NamedTuple):
    """The part of an armature's state at a frame that a limb depends on."""

    world: Matrix  # of the armature, 4x4
    into: Matrix  # from world to armature space, 4x4
    stretch: float  # the most that world space stretches armature space
    base: Matrix  # of the chain root's parent, 4x4, armature space
    channels: list[Channels]  # of the chain's bones
    freedoms: dict[str, Freedom]  # of bones whose limits change from frame to frame


def tip_scale(rig: Rig) -> float:
    """Return the scale of lengths at the tip of a limb in its armature's space."""
    scale = rig.base.to_scale().y
    for channels in rig.channels:
        scale *= channels.scale.y
    return abs(float(scale))


class Sample(NamedTuple):
    """The rig and its target at one frame; samples between which the rig does not move share it as one object.

    `limb` has the settings of that frame, by which the frame is solved and judged. `target` is the matrix of the target
    (4x4), of the place on its surface, or of the place one step along its `flow`, `looks` its display and force field,
    `pole` the location of the pole target if there is one, `obstacles` the volumes to avoid; world space.
    """

    frame: float
    rig: Rig
    limb: Limb
    target: Matrix
    looks: Looks
    pole: Vector | None = None
    obstacles: Sequence[Volume] = ()
    flow: Flow | None = None


def sample(limb: Limb, depsgraph: Depsgraph, frame: float) -> Sample:
    """Read the dependency graph as it is. Raises TargetError or RigError for a target or rig without valid position."""
    armature = limb.armature.evaluated_get(depsgraph)
    world = armature.matrix_world.copy()
    base = base_of(armature, limb.bones[0])
    if not isfinite(sum(map(sum, (*world, *base)))):
        raise RigError(
            f"'{armature.name}' has an invalid position at frame {frame:g} (NaN or infinite). "
            "Check its drivers and keys."
        )
    if is_flat(world):
        raise RigError(f"'{armature.name}' (or a parent) has zero scale at frame {frame:g}. Give it a non-zero scale.")
    rig = rig_at(world, base, channels_of(armature, limb.bones), varying_freedoms(limb, armature))
    now = limb.at(armature)
    return Sample(frame, rig, now, *goals_at(limb, depsgraph, frame, now))


def rig_at(world: Matrix, base: Matrix, channels: list[Channels], freedoms: dict[str, Freedom]) -> Rig:
    """Return the state of a rig at a frame."""
    return Rig(world, world.inverted(), max(abs(scale) for scale in world.to_scale()), base, channels, freedoms)


def varying_freedoms(limb: Limb, armature: Object) -> dict[str, Freedom]:
    """Return the limits, on an evaluated armature, of bones whose limits are animated or that keep locked channels."""
    bones = (armature.pose.bones[name] for name in limb.in_order)
    varying = (bone for bone in bones if any(locked_axes(bone)) or bone.name in limb.with_moving_limits)
    return {bone.name: freedom_of(bone) for bone in varying}


def goals_at(
    limb: Limb, depsgraph: Depsgraph, frame: float, now: Limb | None = None
) -> tuple[Matrix, Looks, Vector | None, list[Volume], Flow | None]:
    """Return matrix and looks of the target, location of the pole target, volumes of the obstacles, and the flow.

    All is in world space; pole target and flow are None without one.

    `now` is the limb with its settings at the frame, if they are animated. Raises TargetError if one of them has no
    valid position, or no surface if that is to be reached.
    """
    target = _valid(frame_of(limb.target, limb.subtarget, depsgraph), f"Target '{limb.target_name}'", frame)
    if (now or limb).on_surface:
        target = surface_frame(now or limb, depsgraph)
    flow = flow_of(now or limb, depsgraph) if (now or limb).follows_flow else None
    if flow:
        target = Streamline(tip_location(limb, depsgraph), frame - 1.0).go(flow, frame)
    pole = None
    if limb.pole_target is not None:
        name = f"Pole target '{limb.pole_target.name}'"
        pole = _valid(frame_of(limb.pole_target, limb.pole_subtarget, depsgraph), name, frame).to_translation()
    places = [(ob, _valid(frame_of(ob, "", depsgraph), f"Obstacle '{ob.name}'", frame)) for ob in limb.obstacle_objects]
    obstacles = [volume_of(ob, place, depsgraph) for ob, place in places]
    return target, looks_of(limb.target, limb.subtarget, depsgraph), pole, obstacles, flow


def _valid(matrix: Matrix, name: str, frame: float) -> Matrix:
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = matrix
    if not isfinite(a + b + c + d + e + f + g + h + i + x + y + z):
        raise TargetError(
            f"{name} has an invalid position at frame {frame:g} (NaN or infinite). Check its drivers and keys."
        )
    if not max(abs(number) for number in (a, b, c, x, d, e, f, y, g, h, i, z)) < LARGEST:
        raise TargetError(f"{name} is scaled or moved beyond {LARGEST:g} at frame {frame:g}. Give it usual numbers.")
    return matrix


def frame_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Matrix:
    """Return the world matrix of an object or of one of its bones (4x4)."""
    evaluated = ob.evaluated_get(depsgraph)
    if bone:
        return evaluated.matrix_world @ evaluated.pose.bones[bone].matrix
    return evaluated.matrix_world.copy()


def may_hang(target: Object, bone: str, armature: Object) -> bool:
    """Tell whether bones of an armature may move a target: by a parent, a constraint, a driver or as one of them."""
    animation = target.animation_data
    drivers = animation is not None and len(animation.drivers) > 0
    return bool(bone or not hangs_at_most_on(armature, target) or len(target.constraints) or drivers)


def is_elsewhere(before: Matrix, now: Matrix) -> bool:
    """Tell whether a target with these world matrices (4x4) has moved by more than rounding explains."""
    apart = max(abs(before[row][column] - now[row][column]) for row in range(4) for column in range(4))
    return apart > _STAYS * max(1.0, before.translation.length)


def offset_of(limb: Limb, depsgraph: Depsgraph) -> tuple[Vector, Quaternion]:
    """Return location and rotation of the tip in the target's space, as evaluated.

    Raises TargetError for a flat target, RigError for a tip that is scaled flat.
    """
    on_surface = limb.on_surface
    if on_surface:
        target = surface_frame(replace(limb, use_offset=False), depsgraph)
    else:
        target = frame_of(limb.target, limb.subtarget, depsgraph)
    if is_flat(target):
        raise TargetError(f"Target '{limb.target_name}' is scaled flat, nothing has a place in it. Give it a scale.")
    tip = frame_of(limb.armature, limb.tip, depsgraph)
    if is_flat(tip):
        raise RigError(
            f"Bone '{limb.tip}' or one above it is scaled to zero, it has no rotation to keep. Give it a scale."
        )
    turned, goal = (orientation(frame.to_3x3()) for frame in (tip, target))
    return target.inverted() @ tip_location(limb, depsgraph), goal.conjugated() @ turned


def tip_location(limb: Limb, depsgraph: Depsgraph) -> Vector:
    """Return the tail of the chain's last bone as Blender evaluates it, world space."""
    armature = limb.armature.evaluated_get(depsgraph)
    return armature.matrix_world @ armature.pose.bones[limb.tip].tail


@contextmanager
def temporary_scene(limb: Limb | RigBody, scene: Scene) -> Iterator[Scene]:
    """Create a scene with only the armature, its targets and the time settings of `scene`; it is removed afterwards.

    Handlers of other add-ons are not called for its frames: they would change the user's scene.
    """
    own = bpy.data.scenes.new("IK Triangulation")
    try:
        for name in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(own.render, name, getattr(scene.render, name))
        own.frame_start, own.frame_end = scene.frame_start, scene.frame_end
        own.unit_settings.scale_length = scene.unit_settings.scale_length
        carrying = [ob for ob, _ in limb.supports] if isinstance(limb, RigBody) else []
        targets = [target for target, _ in limb.targets]
        for ob in dict.fromkeys((limb.armature, *targets, *limb.obstacle_objects, *carrying)):
            own.collection.objects.link(ob)
        with silenced(lambda handler: True):
            yield own
    finally:
        bpy.data.scenes.remove(own)


@contextmanager
def silenced(which: Callable[[Handler], bool]) -> Iterator[None]:
    """Suspend such frame change handlers."""
    lists = [(calls, list(calls)) for calls in _frame_handlers()]
    for calls, before in lists:
        calls[:] = [handler for handler in before if not which(handler)]
    try:
        yield
    finally:
        for calls, before in lists:
            calls[:] = before


def is_own(handler: Handler) -> bool:
    """Tell whether a handler is the extension's own: live limbs follow the frame."""
    return str(getattr(handler, "__module__", "")).startswith(_PACKAGE)


def others_follow_frame() -> bool:
    """Tell whether other add-ons have frame change handlers."""
    return not all(is_own(handler) for calls in _frame_handlers() for handler in calls)


def _frame_handlers() -> tuple[list[Handler], ...]:
    return bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post


def read_in_parts(
    limb: Limb, scene: Scene, frames: Sequence[float], seconds: float, still: bool, broken: list[str]
) -> Work[list[Sample]]:
    """Read the samples for `seconds` at a time, each time in a temporary scene, and yield without one.

    If creating that scene and reading its first frame take longer, reading goes on for as long again. In a rig that
    is `still` only the targets are read at all frames. Drivers that do not run at one of the frames are added to
    `broken`, in the words of broken_drivers().
    """
    read: list[Sample] = []
    while len(read) < len(frames):
        began, until = perf_counter(), inf
        with temporary_scene(limb, scene) as staged:
            for frame in frames[len(read) :]:
                depsgraph = go_to(staged, frame)
                if still and read:
                    read.append(Sample(frame, read[0].rig, read[0].limb, *goals_at(limb, depsgraph, frame)))
                else:
                    read.append(sample(limb, depsgraph, frame))
                done = perf_counter()
                if until == inf:
                    until = done + max(seconds, done - began)
                if done > until:
                    break
            broken += broken_drivers(limb, staged.view_layers[0].depsgraph)
        yield
    return read


def go_to(staged: Scene, frame: float, view_layer: ViewLayer | None = None) -> Depsgraph:
    """Evaluate a view layer of a scene, by default the first, at a frame, whole or not."""
    whole = floor(frame)
    staged.frame_set(whole, subframe=frame - whole)
    return (view_layer or staged.view_layers[0]).depsgraph


class SampledMotion(NamedTuple):
    """Matrices of the armature and the target (world space) and of the chain root's parent (armature space).

    Each is (4, 4, frames), or (4, 4, 1) if it does not move; `poles` (3, frames or 1) are locations of the pole target,
    world space. `still` is True if nothing else changes; the scale of the bases may.
    """

    worlds: Array
    bases: Array
    targets: Array
    poles: Array | None
    still: bool = True


class Samples(Sequence[Sample]):
    """The samples at some `frames`, made when they are needed, and arrays of all that moves.

    The arrays have the frames last, or one for all where nothing moves.
    """

    def __init__(
        self, frames: Sequence[float], first: Sample, make: Callable[[int], Sample], motion: Callable[[], SampledMotion]
    ) -> None:
        self.frames, self.first = frames, first
        self._make, self._read_motion = make, motion

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: Any) -> Any:
        indices = range(len(self.frames))[index]
        if isinstance(indices, range):
            return [self[i] for i in indices]
        return self._make(indices) if indices else self.first

    @property
    def worlds(self) -> Array:
        """Matrices of the armature (4, 4, frames or 1), world space."""
        return self._motion.worlds

    @property
    def bases(self) -> Array:
        """Matrices of the chain root's parent (4, 4, frames or 1), armature space."""
        return self._motion.bases

    @property
    def targets(self) -> Array:
        """Matrices of the target (4, 4, frames or 1), world space."""
        return self._motion.targets

    @property
    def poles(self) -> Array | None:
        """Locations of the pole target (3, frames or 1), world space; None without one."""
        return self._motion.poles

    @cached_property
    def steady(self) -> bool:
        """True if nothing but these arrays differs from frame to frame, so that one chain serves all frames.

        The same are the settings, the looks, the limits, the scale of the bases, and all channels of the bones but the
        rotations of those that are solved; there are no obstacles.
        """
        return self._motion.still and (self.bases.shape[2] == 1 or _one_scale(self.bases))

    @cached_property
    def _motion(self) -> SampledMotion:
        return self._read_motion()


def keyed_samples(frames: Sequence[float], first: Sample, motion: SampledMotion) -> Samples:
    """Return samples that differ from the first only by a motion that was read from F-curves.

    Samples between which the rig does not move share it as one object.
    """
    worlds, bases, targets, poles, _ = motion
    moves = worlds.shape[2] > 1 or bases.shape[2] > 1

    def make(index: int) -> Sample:
        rig = first.rig
        if moves:
            rig = rig_at(to_matrix(worlds, index), to_matrix(bases, index), rig.channels, rig.freedoms)
        pole = None if poles is None else Vector(poles[:, index if poles.shape[1] > 1 else 0])
        return Sample(frames[index], rig, first.limb, to_matrix(targets, index), first.looks, pole)

    return Samples(frames, first, make, lambda: motion)


def evaluated_samples(read: Sequence[Sample]) -> Samples:
    """Return samples that were read one by one from the dependency graph."""
    return Samples([now.frame for now in read], read[0], read.__getitem__, lambda: _motion_of(read))


def _motion_of(read: Sequence[Sample]) -> SampledMotion:
    first = read[0]
    poles = None
    if first.pole is not None:
        poles = _first_if_still(np.array([now.pole[:] for now in read if now.pole is not None]).T)
    worlds, bases = (
        _stacked(matrices) for matrices in zip(*((now.rig.world, now.rig.base) for now in read), strict=True)
    )
    return SampledMotion(worlds, bases, _stacked([now.target for now in read]), poles, _is_still(read))


def _is_still(read: Sequence[Sample]) -> bool:
    """Tell whether the samples differ only in matrices and in rotations of solved bones."""
    first = read[0]
    limbs = {id(now.limb): now.limb for now in read}.values()
    if any(now.obstacles or now.looks != first.looks for now in read) or any(limb != first.limb for limb in limbs):
        return False
    rigs = {id(now.rig): now.rig for now in read}.values()
    bones = first.limb.armature.pose.bones
    held = [
        name not in first.limb.solved or isinstance(first.rig.freedoms.get(name) or freedom_of(bones[name]), Locked)
        for name in first.limb.bones
    ]
    kept = _kept(first.rig.channels, held)
    return all(rig.freedoms == first.rig.freedoms and _kept(rig.channels, held) == kept for rig in rigs)


def _kept(channels: Sequence[Channels], held: Sequence[bool]) -> list[tuple[float, ...]]:
    """Return the channels that a chain is made of: all but the rotations of bones that are not held."""
    return [
        (*location, *scale, *(rotation if still else ()))
        for (location, rotation, scale), still in zip(channels, held, strict=True)
    ]


def _stacked(matrices: Sequence[Matrix]) -> Array:
    """Return matrices as an array (4, 4, frames), or (4, 4, 1) if all are the same."""
    numbers: chain[float] = chain.from_iterable(chain.from_iterable(matrices))
    return _first_if_still(np.fromiter(numbers, np.float64, 16 * len(matrices)).reshape(-1, 4, 4).transpose(1, 2, 0))


def _first_if_still(array: Array) -> Array:
    """Return the first frame of an array, if all frames are alike; otherwise all."""
    alike = array == array[..., :1]
    return np.ascontiguousarray(array[..., :1] if alike.all() else array)


def _one_scale(bases: Array) -> bool:
    """Tell whether the bases of all frames have one uniform scale, without shear and mirroring."""
    lengths = column_lengths(bases)
    size = lengths[0, 0]
    rows = bases[:3, :3]
    square = np.einsum("ijf,ikf->jkf", rows, rows) / (size * size or 1.0) - np.eye(3)[:, :, None]
    determinants = np.linalg.det(rows.transpose(2, 0, 1))
    return bool(size > 0.0 and np.abs(square).max() < 2.0 * SQUARE and determinants.min() > 0.0)
