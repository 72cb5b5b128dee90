# SPDX-License-Identifier: GPL-3.0-or-later
"""Props, objects that a limb holds for some frames: the constraint by which it does, and keys of their transforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np
from bpy.types import Constraint, Object, Scene, ViewLayer
from mathutils import Matrix

from ...cooperative import Work
from ...errors import AnimationError, TargetError
from ...kinematics import Free
from ..checks import is_evaluated
from ..dependencies import Dependencies, Node
from ..keyframes import GENERATED, AnimatedValues, Channel, check_curves, check_keys, ensure_channelbag, replace_keys
from ..keyframes.channelbags import channelbag_of, find_curves
from ..keyframes.unkeyed import values_shown
from ..limb import Limb
from ..rotation import PROPERTIES, rotation_from, values_for
from ..timeline import Clock, check_nla

_NAME = "Held by "  # and the tip bone: the constraints that are ours
_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
_GROUP = "Object Transforms"
PropValues = tuple[tuple[float, ...], ...]  # location, rotation in the prop's mode, scale


def holds_on(prop: Object, limb: Limb | None = None) -> list[Constraint]:
    """Return the constraints by which limbs, or this one, hold a prop at some frames; muted ones do not count."""
    found = [c for c in prop.constraints if c.type == "CHILD_OF" and c.name.startswith(_NAME) and not c.mute]
    return [c for c in found if limb is None or (c.target == limb.armature and c.subtarget == limb.tip)]


def is_holding(hold: Constraint, frame: float, scene: Scene) -> bool:
    """Tell whether a hold holds its prop at a frame."""
    prop = hold.id_data
    curve = find_curves(channelbag_of(prop), hold.path_from_id("influence"), 1).get(0)
    keyed = curve is not None and len(curve.keyframe_points)
    return bool((curve.evaluate(Clock(scene, prop).time(frame)) if keyed else hold.influence) > 0.0)


@contextmanager
def muted(constraints: Iterable[Constraint]) -> Iterator[None]:
    """Mute constraints for a while."""
    some = [constraint for constraint in constraints if not constraint.mute]
    for constraint in some:
        constraint.mute = True
    try:
        yield
    finally:
        for constraint in some:
            constraint.mute = False


def check_prop(
    prop: Object, limb: Limb, frames: tuple[int, int], scene: Scene, view_layer: ViewLayer, known: Dependencies
) -> None:
    """Raise the IKError that explains why a limb cannot hold this prop; its own holds have to be muted before."""
    name = prop.name
    if prop == limb.armature:
        raise TargetError(f"Prop '{name}' is the armature itself. Choose another object.")
    if prop.library is not None:
        raise TargetError(f"Prop '{name}' is linked. Create a library override first.")
    if scene not in prop.users_scene or not is_evaluated(prop, view_layer):
        raise TargetError(f"Prop '{name}' is disabled in this view layer or not in this scene. Enable it in viewports.")
    followed = known.follows(Node(prop), limb)
    if followed:
        raise TargetError(f"Prop '{name}' follows chain bone '{followed}' already. Unparent it or mute its constraint.")
    if any(node.object == prop for node in known.movers(Node(limb.armature, limb.tip))):
        raise TargetError(f"'{limb.armature.name}' itself follows prop '{name}'. Choose another prop.")
    if prop.rigid_body and prop.rigid_body.type == "ACTIVE":
        raise TargetError(f"Prop '{name}' is moved by rigid body physics. Make it passive, or bake it to keyframes.")
    ours = holds_on(prop)
    for constraint in prop.constraints:
        if not (constraint.mute or constraint in ours or constraint.influence == 0.0):
            raise TargetError(f"Constraint '{constraint.name}' moves prop '{name}' as well. Mute it.")
    for curve in known.drivers_on(Node(prop)):
        if curve.data_path in {"location", "scale", *PROPERTIES}:
            raise AnimationError(f"{curve.data_path} of prop '{name}' is driven. Remove the driver.")
    check_keys(prop, ())
    check_nla(prop, scene, *frames)
    for path in _paths(prop):
        check_curves(list(find_curves(channelbag_of(prop), path).values()), f"'{path}' of prop '{name}'")


def values_of(prop: Object) -> PropValues:
    """Return the present values of a prop, or those of an evaluated one."""
    return tuple(tuple(getattr(prop, path)) for path in _paths(prop))


def values_at_places(prop: Object, places: Sequence[Matrix], previous: PropValues) -> list[PropValues]:
    """Return the values for these transforms (4x4, relative to the prop's parent), each next to the one before."""
    before, found = values_of(prop), []
    try:
        for place in places:
            prop.matrix_basis = place  # so that Blender counts delta transforms in
            location, rotation, scale = values_of(prop)
            mode = prop.rotation_mode
            rotation = tuple(values_for(rotation_from(rotation, mode), mode, Free(), previous[1]))
            previous = location, rotation, scale
            found.append(previous)
    finally:
        _set(prop, before)
    return found


class KeyedPart(NamedTuple):
    """Values of a prop at some frames, and the interpolation of their keys."""

    frames: Sequence[int]
    values: Sequence[PropValues]
    interpolation: str


class PropKeys:
    """Writer of a prop's keys; closing `undo` restores everything."""

    def __init__(self, prop: Object, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> None:
        self._prop, self._view_layer, self._undo = prop, view_layer, undo
        self._scene, self._clock = scene, Clock(scene, prop)
        undo.callback(AnimatedValues(prop, _paths(prop)).update_and_restore, view_layer)
        ours = {*_paths(prop), *(hold.path_from_id("influence") for hold in holds_on(prop))}
        bag = channelbag_of(prop)
        self._others = values_shown(prop, {curve.data_path for curve in bag.fcurves} - ours if bag else ())

    def last_before(self, frame: int) -> int | None:
        """Return the frame of the last key of its transform before another frame, rounded down; None without one."""
        curves = [c for path in _paths(self._prop) for c in find_curves(channelbag_of(self._prop), path).values()]
        keys = [self._clock.frame(point.co[0]) for curve in curves for point in curve.keyframe_points]
        return max((int(key // 1) for key in keys if key < frame), default=None)

    def new_hold(self, limb: Limb) -> Constraint:
        """Add a constraint by which the limb can hold the prop."""
        hold = self._prop.constraints.new("CHILD_OF")
        self._undo.callback(self._prop.constraints.remove, hold)
        hold.name = f"{_NAME}{limb.tip}"
        hold.target, hold.subtarget = limb.armature, limb.tip
        hold.show_expanded = False
        hold.influence = 0.0
        return hold

    def take_by(self, hold: Constraint, inverse: Matrix) -> None:
        """Set the inverse matrix (4x4) with which the hold does not move the prop where it is taken."""
        self._undo.callback(setattr, hold, "inverse_matrix", hold.inverse_matrix.copy())
        hold.inverse_matrix = inverse

    def key_hold(self, hold: Constraint, influences: dict[int, float], last: int) -> Work[None]:
        """Key a hold's influence, without interpolation, in place of keys that it has from the first frame to `last`.

        A new hold is to be keyed where it does not hold yet, too.
        """
        values = np.array(list(influences.values()), np.float32)[:, None]
        yield from self._replace([(hold.path_from_id("influence"), values)], list(influences), "CONSTANT", last)

    def key_values(self, part: KeyedPart, last: int) -> Work[None]:
        """Key values in place of the keys from the first of their frames to `last`."""
        channels = [
            (path, np.array([values[i] for values in part.values], np.float32))
            for i, path in enumerate(_paths(self._prop))
        ]
        yield from self._replace(channels, part.frames, part.interpolation, last)

    def show(self) -> None:
        """Let Blender show the prop as keyed at the present frame; what else is animated stays as it was posed."""
        time = self._clock.time(self._scene.frame_current + self._scene.frame_subframe)
        self._view_layer.update()
        holds = [hold.path_from_id("influence") for hold in holds_on(self._prop)]
        for path in (*_paths(self._prop), *holds):
            for index, curve in find_curves(channelbag_of(self._prop), path).items():
                if path in holds:
                    self._prop.path_resolve(path.rpartition(".")[0]).influence = curve.evaluate(time)
                else:
                    getattr(self._prop, path)[index] = curve.evaluate(time)
        for restore in self._others:
            restore()
        self._view_layer.update()

    def _replace(
        self, channels: Sequence[tuple[str, np.ndarray]], frames: Sequence[int], interpolation: str, last: int
    ) -> Work[None]:
        bag = ensure_channelbag(self._prop, self._undo)
        made = [Channel(_GROUP, path, values, range(values.shape[1])) for path, values in channels]
        times = [self._clock.time(frame) for frame in frames]
        ends = times[0], self._clock.time(max(last, frames[-1]))
        yield from replace_keys(bag, made, times, *ends, self._undo, interpolation, kind=GENERATED)


def _paths(prop: Object) -> tuple[str, str, str]:
    return "location", _ROTATIONS.get(prop.rotation_mode, "rotation_euler"), "scale"


def _set(prop: Object, values: PropValues) -> None:
    for path, some in zip(_paths(prop), values, strict=True):
        setattr(prop, path, some)
