# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of solved frames as keys and poses, of limbs, bodies and IK controls: all of it can be undone until the end.

Writing of keys and poses as one transaction: the same for limbs, bodies and IK controls. Keys made by hand that are
replaced are kept in the action, and so is the pose before. Closing the undo stack restores everything, also if the work
is closed before its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import bpy
import numpy as np
from bpy.types import ActionChannelbag, Depsgraph, Object, PoseBone, Scene, ViewLayer

from ...cooperative import Work, finished
from ...rig.body import RigBody
from ...rig.by_hand.keys import (
    location_channel,
    place_before_bake,
    remember_location,
    remember_place,
    remember_written,
)
from ...rig.by_hand.reference import Boned, hold_reference
from ...rig.frames.reader import Evaluator
from ...rig.freedom import keyed
from ...rig.keyframes import GENERATED, AnimatedValues, Channel, replace_keys, write_keys
from ...rig.keyframes.reading import before_bake, keep_replaced
from ...rig.layers import Destination, Made, difference, without_effect
from ...rig.limb import Limb
from ...rig.rotation import PROPERTIES, channel
from ...rig.timeline import Clock
from ...settings.property_groups import keep_settings

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Undo(ExitStack):
    """The undo stack of a transaction: each write to Blender's data announces itself by the callback that undoes it.

    Tests make the write of any number fail here.
    """


@dataclass(frozen=True)
class Transaction:
    """State that bakes share which are done as one: closing `undo` undoes all; `made` are the channelbags made."""

    undo: ExitStack
    made: Made = field(default_factory=dict)

    @staticmethod
    def end(own: ExitStack, within: Transaction | None) -> None:
        """End a bake that cannot fail any more: what closing `own` undoes is left to the larger transaction."""
        done = own.pop_all()
        if within is not None:
            within.undo.push(done)


def all_or_nothing(job: Callable[Concatenate[Object, _P], _R]) -> Callable[Concatenate[Object, _P], _R]:
    """Decorate a job that sets up an armature: whatever it raises, settings and objects are as they were before."""

    @wraps(job)
    def run(armature: Object, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with Undo() as undo:
            keep_objects(undo)
            keep_settings(armature, undo)
            result = job(armature, *args, **kwargs)
            undo.pop_all()
        return result

    return run


def keep_objects(undo: ExitStack) -> None:
    """Have the closing of `undo` remove the objects that were made since, with their data and collections."""
    undo.callback(_remove_new, {each.session_uid for some in _made() for each in some})


def _made() -> Sequence[Any]:
    """Return the lists of what a set-up makes, users first."""
    return bpy.data.objects, bpy.data.collections, bpy.data.armatures, bpy.data.meshes


def _remove_new(known: set[int]) -> None:
    for some in _made():
        for each in [each for each in some if each.session_uid not in known]:
            some.remove(each)


class Keys(NamedTuple):
    """Keys to write: channels with their `times` (in the action) and interpolation; a `full` bake has so many.

    `at` are the indices of the frames that have keys. `deviation` is the largest distance of a limb's tip from the full
    bake by key reduction [Blender units, world space]. Of a body, `outside` is the largest distance of the centre of
    mass from its support between the keys, where that was measured, and `allowed` has the distances by which fewer keys
    may move the tips that reach, by their names [Blender units, armature space].
    """

    runs: Sequence[Channel]
    times: Sequence[float]
    interpolation: str
    full: int
    at: Sequence[int] = ()
    deviation: float = 0.0
    outside: float | None = None
    allowed: Mapping[str, float] = {}

    def full_keys(self, written: int, reduce: bool) -> int:
        """Return the number of keys in a full bake, by the number `written`; all of these if no keys were dropped."""
        return max(self.full, written) if reduce else written


class Writing(NamedTuple):
    """Keys to write for the bones of a `rig` between two frames, the `ends`, to a destination of a `kind`.

    With `keep`, keys made by hand stay.
    """

    rig: Boned
    keys: Keys
    ends: tuple[float, float]
    destination: Destination
    kind: str = "ACTION"
    keep: bool = False


def write_together(
    parts: Sequence[Writing], undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[list[int]]:
    """Replace the keys of all parts between their ends, and pose the present frame; return the number of keys of each.

    Blender evaluates all of them once, as it copies the whole action for that. Values without keyframes stay as
    `view_layer` shows them.
    """
    written: dict[Object, list[Channel]] = {}
    for part in parts:
        written.setdefault(part.rig.armature, []).extend(part.keys.runs)
    saved = {armature: AnimatedValues(armature, [run.path for run in runs]) for armature, runs in written.items()}
    for values in saved.values():
        undo.callback(values.update_and_restore, view_layer)
    counts = list[int]()
    for part in parts:
        if part.kind == "LAYER":
            part = yield from _as_difference(part, scene, view_layer, undo)
        counts += [(yield from _replace(part, scene, undo))]
    view_layer.update()
    for armature, values in saved.items():
        values.restore([(run.path, index) for run in written[armature] for index in run.indices])
    yield
    for part in parts:
        remember_written(_bones(part.rig))
        remember_place(part.rig.armature.pose.bones[name] for name in {run.bone for run in part.keys.runs})
    return counts


def write_pose(
    rig: Boned, runs: Sequence[Channel], frame: float, key: bool, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> int:
    """Pose bones as in the first row of these channels, and with `key` key them; return the number of keys."""
    armature, time = rig.armature, Clock(scene, rig.armature).time(frame)
    bones = _bones(rig)
    hold_reference(bones, scene, undo)
    keys = finished(write_keys(armature, runs, [time], time, time, view_layer, undo)) if key else 0
    for run in runs:
        bone, prop = _property(armature, run)
        values = run.values[0].tolist()
        if prop not in PROPERTIES:
            values = [values[i] if i in run.indices else old for i, old in enumerate(getattr(bone, prop))]
        _put(bone, prop, values, undo)
    remember_written(bones)
    return keys


def key_present_pose(
    bones: Sequence[PoseBone], scene: Scene, view_layer: ViewLayer, hips: PoseBone | None = None
) -> int:
    """Key rotations of bones, and the location of `hips`, as posed at the present frame; return the number of keys."""
    armature = bones[0].id_data
    time = Clock(scene, armature).time(scene.frame_current + scene.frame_subframe)
    runs = []
    for bone in bones:
        prop, _ = channel(bone)
        values = np.array([tuple(getattr(bone, prop))], np.float32)
        runs.append(Channel(bone.name, bone.path_from_id(prop), values, keyed(bone)))
    if hips is not None:
        runs.append(location_channel(armature, hips.name, np.array(hips.location)[:, None]))
    with Undo() as undo:
        keys = finished(write_keys(armature, runs, [time], time, time, view_layer, undo))
        undo.pop_all()
    return keys


def _replace(part: Writing, scene: Scene, undo: ExitStack) -> Work[int]:
    """Replace the keys of a part, and evaluate nothing; return their number."""
    rig, keys, armature = part.rig, part.keys, part.rig.armature
    first, last = map(Clock(scene, armature).time, part.ends)
    by_hand = hold_reference(_bones(rig), scene, undo)
    bag = part.destination.bag(part.kind, armature, undo)
    for run in keys.runs:
        bone, prop = _property(armature, run)
        mode, before = "", by_hand.get(run.bone, ())
        if prop in PROPERTIES:
            mode = bone.rotation_mode
        else:
            before = _before(bone, prop, run.path, bag)
        keep_replaced(bag, run.path, before, () if part.keep else run.indices, (first, last), undo, mode)
        if prop == "location":
            remember_location(bone, before, undo)
    how = {"kind": GENERATED, "keep": part.keep}
    return (yield from replace_keys(bag, keys.runs, keys.times, first, last, undo, keys.interpolation, **how))


def _as_difference(part: Writing, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[Writing]:
    """Return a part whose keys make, on its layer, what it has as values, from what Blender shows below the layer.

    Where nothing below animates a channel, the layer is combined with the channel's default, whatever is posed. So it
    is evaluated with keys that have no effect.
    """
    armature, keys = part.rig.armature, part.keys
    bag, clock = part.destination.bag(part.kind, armature, undo), Clock(scene, armature)
    first, last = map(clock.time, part.ends)
    without = [without_effect(run) for run in keys.runs]
    yield from replace_keys(bag, without, [first], first, last, undo, kind=GENERATED)
    where = [_property(armature, run) for run in keys.runs]

    def look(depsgraph: Depsgraph, _: float) -> list[tuple[float, ...]]:
        bones = armature.evaluated_get(depsgraph).pose.bones
        return [tuple(getattr(bones[bone.name], prop)) for bone, prop in where]

    frames = [clock.frame(time) for time in keys.times]
    evaluator = Evaluator(cast("Limb | RigBody", part.rig), scene, view_layer, frames)
    seen = yield from evaluator.evaluate(frames, look)
    runs = []
    for number, run in enumerate(keys.runs):
        runs.append(difference(run, np.array([seen[frame][number] for frame in frames], np.float64)))
    return part._replace(keys=keys._replace(runs=runs))


def _before(bone: PoseBone, prop: str, path: str, bag: ActionChannelbag) -> tuple[float, ...]:
    """Return the location or scale that a bone had before any bake."""
    if prop == "location":
        return place_before_bake(bone.id_data, bone.name, bag)
    return before_bake(bag, path, tuple(getattr(bone, prop)))


def _put(bone: PoseBone, prop: str, values: Sequence[float], undo: ExitStack) -> None:
    """Set the channels of a property of a bone if they differ; closing `undo` restores them."""
    before = tuple(getattr(bone, prop))
    if before != tuple(values):  # Blender evaluates the rig again for what is set, changed or not
        undo.callback(setattr, bone, prop, before)
        setattr(bone, prop, values)


def show_first(armature: Object, runs: Sequence[Channel]) -> None:
    """Give bones the values of the first frame of channels; what is not among their indices stays as it is."""
    for run in runs:
        bone, prop = _property(armature, run)
        values = list(getattr(bone, prop))
        for index in run.indices:
            values[index] = float(run.values[0, index])
        setattr(bone, prop, values)


def _property(armature: Object, run: Channel) -> tuple[PoseBone, str]:
    return armature.pose.bones[run.bone], run.path.rpartition(".")[2]


def _bones(rig: Boned) -> list[PoseBone]:
    return [rig.armature.pose.bones[name] for name in rig.bones]


_KEPT = "Keys made by hand were kept"


def kept_text(count: int) -> str:
    """Return the note that keys made by hand were kept at so many frames."""
    return (
        "Keys made by hand were kept at 1 frame." if count == 1 else f"Keys made by hand were kept at {count} frames."
    )


def is_note(warning: str) -> bool:
    """Tell whether a warning of a report says what was kept, as it was meant to be, and no trouble."""
    return warning.startswith(_KEPT)
