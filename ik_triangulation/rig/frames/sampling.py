# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples: the rig and its target at a frame, read without stepping the user's scene.

A temporary scene that holds only the armature and the target makes Blender evaluate just their dependencies: exact,
with parents, constraints and drivers, and at the same cost however heavy the user's scene is. The user's current frame
and poses that are not keyed stay as they are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import floor, inf, isfinite
from time import perf_counter
from typing import NamedTuple

import bpy
from bpy.types import Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ...cooperative import Work
from ...errors import RigError, TargetError
from ...kinematics import Freedom
from ...kinematics.rotation import orientation
from ..armature import LARGEST, Channels, base_of, channels_of, is_flat
from ..body import RigBody
from ..drivers import broken_drivers
from ..freedom import freedom_of, locked_axes
from ..limb import Limb
from ..looks import Looks, Volume, looks_of, volume_of
from ..surface import surface_frame

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


class Sample(NamedTuple):
    """The rig and its target at one frame; samples between which the rig does not move share it as one object.

    `limb` has the settings of that frame, by which the frame is solved and judged. `target` is the matrix of the target
    (4x4), or of the place on its surface, `looks` its display and force field, `pole` the location of the pole target
    if there is one, `obstacles` the volumes to avoid; world space.
    """

    frame: float
    rig: Rig
    limb: Limb
    target: Matrix
    looks: Looks
    pole: Vector | None = None
    obstacles: Sequence[Volume] = ()


def sample(limb: Limb, depsgraph: Depsgraph, frame: float) -> Sample:
    """Read the dependency graph as it is. Raises TargetError or RigError for a target or rig without valid position."""
    armature = limb.armature.evaluated_get(depsgraph)
    world = armature.matrix_world.copy()
    base = base_of(armature, limb.bones[0])
    if not all(isfinite(number) for matrix in (world, base) for row in matrix for number in row):
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
) -> tuple[Matrix, Looks, Vector | None, list[Volume]]:
    """Return matrix and looks of the target, location of the pole target, volumes of the obstacles; world space.

    `now` is the limb with its settings at the frame, if they are animated. Raises TargetError if one of them has no
    valid position, or no surface if that is to be reached.
    """
    target = _valid(frame_of(limb.target, limb.subtarget, depsgraph), f"Target '{limb.target_name}'", frame)
    if (now or limb).on_surface:
        target = surface_frame(now or limb, depsgraph)
    pole = None
    if limb.pole_target is not None:
        name = f"Pole target '{limb.pole_target.name}'"
        pole = _valid(frame_of(limb.pole_target, limb.pole_subtarget, depsgraph), name, frame).to_translation()
    places = [(ob, _valid(frame_of(ob, "", depsgraph), f"Obstacle '{ob.name}'", frame)) for ob in limb.obstacle_objects]
    obstacles = [volume_of(ob, place, depsgraph) for ob, place in places]
    return target, looks_of(limb.target, limb.subtarget, depsgraph), pole, obstacles


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


def may_hang(target: Object, bone: str) -> bool:
    """Tell whether anything but its own keys may move a target: a parent, a constraint, a driver or its armature."""
    animation = target.animation_data
    drivers = animation is not None and len(animation.drivers) > 0
    return bool(bone or target.parent or len(target.constraints) or drivers)


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
        for ob in dict.fromkeys((limb.armature, *(target for target, _ in limb.targets), *limb.obstacle_objects)):
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
    """Read the samples for `seconds` at a time, each time in a temporary scene; it gives way without that.

    If creating that scene and reading its first frame take longer, reading goes on for as long again. In a rig that
    stands `still` only the targets are read at all frames. Drivers that do not run at one of the frames are added to
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
