# SPDX-License-Identifier: GPL-3.0-or-later
"""Transfer of a motion between the FK and the IK controls of limbs: what is shown stays, and the other side shows it.

Each side is moved by what is missing between the limb that was shown and the one that the rig shows now, so that
whatever a rig has in between is taken as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix

from ..cooperative import Job, Work, cooperative, relay
from ..errors import RigError, SettingError
from ..kinematics import Free
from ..kinematics.arrays import Array
from ..kinematics.rotation import orientation, rotation_angle
from ..motion.pole_path import Bend, bend_sides
from ..rig.by_hand.shown_limb import stretches_of
from ..rig.checks import check_armature, check_frames
from ..rig.controls import limbs_with_ik, moved_with
from ..rig.frames.reader import FrameReader
from ..rig.freedom import keyed
from ..rig.ik_controls import IKControls
from ..rig.keyframes import Channel, check_keys, curves_of, write_keys
from ..rig.keyframes.reading import key_frames
from ..rig.limb import Limb
from ..rig.rotation import channel, run_of
from ..rig.timeline import Clock
from ..rig.units import degrees_text, distance_text, scale_of
from .shots.control_motion import ControlMotion, LimbPlaces, frame_shown
from .shots.controls import set_switch, show_side
from .shots.keys import values_before_start
from .shots.writing import Undo

_SIDES = ("IK", "FK")
_KEYS = ("SOURCE", "ALL")
_ROUNDS = 12
_CLOSE = 2e-5  # of the reach, and [rad]: differences that are not corrected
_LEAST_CHANGE = 1e-6  # of location and scale channels that are keyed
_STRAIGHT = 1e-5  # of the reach: height of an elbow that tells no side
_SAME_LENGTH = 1e-4  # share of a length by which rounding explains a difference
_AWAY = 2e-3  # of the reach: deviation between keys that is told
_PARTS = 5


class Transferred(NamedTuple):
    """A limb after a transfer: its number of keys, and how far the character deviates from what it showed before.

    `distance` is that of elbow, knee, hand or foot at the keys [Blender units], `angle` that of hand or foot [rad],
    and `between` the largest distance at the frames between the keys.
    """

    tip: str
    keys: int
    frames: int
    distance: float
    angle: float
    between: float


@dataclass(frozen=True)
class Transfer:
    """The outcome of a transfer `to` one side, limb by limb, with its warnings."""

    to: str
    limbs: tuple[Transferred, ...]
    warnings: tuple[str, ...]

    @property
    def keys(self) -> int:
        """Number of keys that were written."""
        return sum(each.keys for each in self.limbs)


@cooperative
def transfer(
    armature: Object,
    to: str,
    frame_start: int,
    frame_end: int,
    keys: str = "SOURCE",
    bones: Collection[str] = (),
    or_all: bool = False,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Transfer]:
    """Key the controls of one side, "IK" or "FK", so that the character shows what it shows now, and switch to it.

    The limbs are those that `bones` belong to, by any of their controls; without any, and with `or_all` also if they
    belong to none, all limbs that have IK controls. With `keys` "SOURCE" there are keys where the other side has them,
    and at the first frame; with "ALL" on every frame.
    Raises an IKError that names the culprit; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    if to not in _SIDES or keys not in _KEYS:
        wrong, known = (f"Side '{to}'", _SIDES) if to not in _SIDES else (f"Keys '{keys}'", _KEYS)
        raise SettingError(f"{wrong} is unknown. Choose one of {', '.join(known)}.")
    check_frames(frame_start, frame_end, 1)
    view_layer.update()
    check_armature(armature, view_layer)
    chosen, clock = _limbs_of(armature, bones, or_all), Clock(scene, armature)
    times = [_key_frames(*each, to, keys, frame_start, frame_end, clock) for each in chosen]
    for limb, controls in chosen:
        check_keys(armature, controls.keyed if to == "IK" else limb.in_order)
    every = sorted({*range(frame_start, frame_end + 1), *(frame for some in times for frame in some)})
    reader = FrameReader(chosen[0][0], scene, view_layer, every)
    yield 0, _PARTS
    before = yield from relay(
        reader.evaluate(every, lambda depsgraph, _: {each[0].tip: _seen(depsgraph, *each) for each in chosen}),
        (0, _PARTS),
    )
    sides = [
        _side_of(to, limb, controls, {frame: before[frame][limb.tip] for frame in frames})
        for (limb, controls), frames in zip(chosen, times, strict=True)
    ]
    with Undo() as undo:
        for (limb, controls), frames in zip(chosen, times, strict=True):
            some = FrameReader(limb, scene, view_layer, frames)
            side = controls if to == "IK" else controls.own_side
            ends = frame_start, frame_end
            yield from relay(show_side(side, ends, some, None, undo, "KEYFRAME"), (1, _PARTS))
            if to == "IK" and _has_lengths_of_rest(limb, [before[frame][limb.tip].places for frame in frames]):
                for switch in stretches_of(armature, controls):
                    set_switch(switch, 0.0, *ends, True, scene, view_layer, undo)
        some = sorted({frame for frames in times for frame in frames})
        counts = yield from relay(_fit(sides, some, reader, frame_start, frame_end, clock, undo), (2, _PARTS))
        after = yield from relay(
            reader.evaluate(every, lambda depsgraph, _: {each[0].tip: _seen(depsgraph, *each) for each in chosen}),
            (4, _PARTS),
        )
        undo.pop_all()
    measured = [
        _measured(limb, count, frames, *({f: rows[limb.tip] for f, rows in found.items()} for found in (before, after)))
        for (limb, _), frames, count in zip(chosen, times, counts, strict=True)
    ]
    yield _PARTS, _PARTS
    return Transfer(to, tuple(measured), tuple(_warnings(chosen, measured, scene)))


def _limbs_of(armature: Object, bones: Collection[str], or_all: bool) -> list[tuple[Limb, IKControls]]:
    """Return the limbs that bones belong to. Raises RigError if there are none."""
    known = limbs_with_ik(armature)
    if not bones:
        return known
    found = []
    for limb, controls in known:
        names = {*limb.bones, *moved_with(limb, controls)}
        names |= {name for each in controls.showing for name in each}
        if names & set(bones):
            found.append((limb, controls))
    if not found and or_all:
        return known
    if not found:
        tips = ", ".join(f"'{limb.tip}'" for limb, _ in known)
        raise RigError(f"None of the selected bones belongs to a limb with IK controls. Select one of {tips}.")
    return found


def _key_frames(
    limb: Limb, controls: IKControls, to: str, keys: str, first: int, last: int, clock: Clock
) -> list[float]:
    """Return the frames to key: the first one, and those where the other side has keys, or all of them."""
    if keys == "ALL":
        return [float(frame) for frame in range(first, last + 1)]
    names = limb.in_order if to == "IK" else moved_with(limb, controls)
    ends = clock.time(first), clock.time(last)
    times = {time for name in names for time in key_frames(limb.armature, name, *ends)}
    return sorted({round(clock.frame(time), 4) for time in times} | {float(first)})


class _Seen(NamedTuple):
    """A limb as shown: the frames (4x4, armature space) of its bones from root to tip, and its places for IK."""

    frames: Mapping[str, Matrix]
    places: LimbPlaces


def _seen(depsgraph: Depsgraph, limb: Limb, controls: IKControls) -> _Seen:
    armature = limb.armature.evaluated_get(depsgraph)
    frames = {each.bone: frame_shown(armature, each) for each in controls.showing}
    return _Seen(frames, LimbPlaces.shown(armature, controls, limb))


def _side_of(to: str, limb: Limb, controls: IKControls, seen: Mapping[float, _Seen]) -> _IKSide | FKMotion:
    if to == "FK":
        return FKMotion(limb, controls, {frame: each.frames for frame, each in seen.items()})
    return _IKSide(limb, controls, {frame: each.places for frame, each in seen.items()})


class _IKSide(ControlMotion):
    """Motion of IK controls that makes up for stretch, and keeps the elbow of nearly straight limbs where it is."""

    def __init__(self, limb: Limb, controls: IKControls, wanted: Mapping[float, LimbPlaces]) -> None:
        super().__init__(limb, controls, wanted, _reach(limb), keeps_stretch=False)

    def _sides_of(self, hinges: Array) -> Array:
        heights = np.linalg.norm(self.bend.offsets, axis=1)[:, None]
        exact = self.bend.offsets / np.maximum(heights, 1e-30)
        return np.where(heights > _STRAIGHT * self.reach, exact, bend_sides(self.bend, hinges))

    def _shares(self, there: Bend) -> Array:
        heights = [np.linalg.norm(each.offsets, axis=1) for each in (self.bend, there)]
        return (np.minimum(*heights) > _STRAIGHT * self.reach).astype(float)

    @property
    def is_close(self) -> bool:
        """Whether nothing is left to correct."""
        return all(max(each.tip, each.turn, each.elbow) <= _CLOSE for each in self.missing)


class FKMotion:
    """Channels of the bones of a limb at some frames with which the rig shows it as `wanted`; see() corrects them.

    `wanted` has for each frame the frames (4x4, armature space) of the bones by their names.
    """

    def __init__(self, limb: Limb, controls: IKControls, wanted: Mapping[float, Mapping[str, Matrix]]) -> None:
        self.limb, self.controls, self.frames = limb, controls, list(wanted)
        self._wanted, self._aims = wanted, {frame: dict(frames) for frame, frames in wanted.items()}
        self._names = [name for name in limb.bones if name in next(iter(wanted.values()))]
        self.reach = _reach(limb)
        self._basis: dict[float, dict[str, Matrix]] = {}
        self._off: dict[float, float] = {}
        self._shown: dict[float, dict[str, Matrix]] = {}

    def see(self, depsgraph: Depsgraph, frame: float) -> None:
        """Measure a frame, evaluated."""
        armature, wanted = self.limb.armature.evaluated_get(depsgraph), self._wanted[frame]
        shown = {each.bone: frame_shown(armature, each) for each in self.controls.showing}
        self._shown[frame] = shown
        self._off[frame] = max(_apart(shown[name], wanted[name], self.reach) for name in self._names)
        self._basis[frame] = self._channels_for(armature, self._aims[frame])

    def _channels_for(self, armature: Object, aims: Mapping[str, Matrix]) -> dict[str, Matrix]:
        """Return matrix_basis (4x4) of each bone that brings all of them to frames in armature space."""
        found, bones = dict[str, Matrix](), armature.pose.bones
        carried: dict[str, Matrix] = {}  # where bones will be: those of the limb and what hangs on them
        for name in self._names:
            bone, above = bones[name], bones[name].parent
            into = {"matrix_local": bone.bone.matrix_local}
            if above is not None:
                there = _carried(above, carried)
                into |= {"parent_matrix": there, "parent_matrix_local": above.bone.matrix_local}
            if any(not each.mute and each.influence for each in bone.constraints) and above is not None:
                there = above.matrix @ there.inverted_safe() @ aims[name]
                basis = bone.matrix_basis @ bone.matrix.inverted_safe() @ there
            else:
                basis = bone.bone.convert_local_to_pose(aims[name], invert=True, **into)
            found[name], carried[name] = basis, aims[name]
        return found

    def correct(self) -> None:
        """Move the aims by what is missing between what is shown and what is wanted."""
        for frame, aims in self._aims.items():
            for name in self._names:
                shown, wanted, aim = self._shown[frame][name], self._wanted[frame][name], aims[name]
                turn = orientation(wanted.to_3x3()) @ orientation(shown.to_3x3()).conjugated()
                here, there = shown.to_scale(), wanted.to_scale()
                sized = Matrix.Diagonal([there[i] / here[i] if here[i] else 1.0 for i in range(3)])
                moved = Matrix.Translation(aim.translation + wanted.translation - shown.translation)
                aims[name] = moved @ (turn.to_matrix() @ aim.to_3x3() @ sized).to_4x4()

    @property
    def is_close(self) -> bool:
        """Whether nothing is left to correct."""
        return max(self._off.values()) <= _CLOSE

    def channels(self, clock: Clock, first: float) -> list[Channel]:
        """Return the channels to key, which run on from the values before `first` (time in the action)."""
        armature, runs = self.limb.armature, list[Channel]()
        animated = {curve.data_path for curve in curves_of(armature)}
        for name in self._names:
            bone, found = armature.pose.bones[name], [self._basis[frame][name] for frame in self.frames]
            turns = np.array([orientation(each.to_3x3()) for each in found], float)
            values = run_of(turns, bone.rotation_mode, Free(), values_before_start(armature, name, first))
            runs.append(Channel(name, bone.path_from_id(channel(bone)[0]), values, keyed(bone)))
            if not bone.bone.use_connect or bone.parent is None:
                places = np.array([each.to_translation() for each in found])
                runs += _moved(bone, "location", bone.lock_location, places, animated)
            scales = np.array([each.to_scale() for each in found])
            runs += _moved(bone, "scale", bone.lock_scale, scales, animated)
        return [run for run in runs if run.indices]


def _has_lengths_of_rest(limb: Limb, shown: Sequence[LimbPlaces]) -> bool:
    """Tell whether the upper and lower part of a limb are as long at all frames as at rest."""
    rests, parts = limb.armature.data.bones, limb.in_order
    rest = [rests[parts[0]].head_local, rests[parts[1]].head_local]
    rest.append(rests[parts[2]].head_local if len(parts) > 2 else rests[parts[1]].tail_local)
    lengths = [(b - a).length for a, b in pairwise(rest)]
    found = np.array([[(b - a).length for a, b in pairwise(each.bend)] for each in shown])
    return bool(np.abs(found / np.array(lengths) - 1.0).max() <= _SAME_LENGTH)


def _carried(bone: PoseBone, moved: Mapping[str, Matrix]) -> Matrix:
    """Return the frame (4x4) of a bone once bones above it have moved to these frames."""
    for above in (bone, *bone.parent_recursive):
        if above.name in moved:
            return moved[above.name] @ above.matrix.inverted_safe() @ bone.matrix
    return bone.matrix.copy()


def _moved(bone: PoseBone, prop: str, locks: Sequence[bool], values: np.ndarray, animated: set[str]) -> list[Channel]:
    """Return the channels of a location or scale, if it is keyed already or is to differ from the present one."""
    path, free = bone.path_from_id(prop), [index for index in range(3) if not locks[index]]
    same = np.abs(values - np.array(getattr(bone, prop))).max() <= _LEAST_CHANGE
    return [] if same and path not in animated else [Channel(bone.name, path, values.astype(np.float32), free)]


def _fit(
    sides: Sequence[_IKSide | FKMotion],
    frames: Sequence[float],
    reader: FrameReader,
    first: float,
    last: float,
    clock: Clock,
    undo: ExitStack,
) -> Work[list[int]]:
    """Key the sides at their frames until they show what they are to show; return the number of keys of each."""
    armature, counts = reader.limb.armature, [0] * len(sides)

    def see(depsgraph: Depsgraph, frame: float) -> None:
        for side in sides:
            if frame in side.frames:
                side.see(depsgraph, frame)

    yield from reader.evaluate(frames, see)
    ends = clock.time(first), clock.time(last)
    for remaining in reversed(range(_ROUNDS)):
        runs = [side.channels(clock, ends[0]) for side in sides]
        with Undo() as attempt:
            for n, (side, some) in enumerate(zip(sides, runs, strict=True)):
                times = [clock.time(frame) for frame in side.frames]
                how = (reader.view_layer, attempt, "AUTO")
                counts[n] = yield from write_keys(armature, some, times, *ends, *how)
            yield from reader.evaluate(frames, see)
            if not remaining or all(side.is_close for side in sides):
                undo.push(attempt.pop_all())
                break
        for side in sides:
            side.correct()
    for some in runs:
        _show(armature, some, reader.scene, clock, undo)
    return counts


def _show(armature: Object, runs: Sequence[Channel], scene: Scene, clock: Clock, undo: ExitStack) -> None:
    """Pose the bones by their curves, which Blender would only do at the next change of frame."""
    time = clock.time(scene.frame_current + scene.frame_subframe)
    curves = {(curve.data_path, curve.array_index): curve for curve in curves_of(armature)}
    for run in runs:
        bone, prop = armature.pose.bones[run.bone], run.path.rpartition(".")[2]
        values = list(getattr(bone, prop))
        undo.callback(setattr, bone, prop, tuple(values))
        for index in run.indices:
            values[index] = curves[run.path, index].evaluate(time)
        setattr(bone, prop, values)


def _reach(limb: Limb) -> float:
    """Return the length of a limb at rest, armature space."""
    bones = [limb.armature.data.bones[name] for name in limb.bones]
    ends = [*(bone.head_local for bone in bones), bones[-1].tail_local]
    return float(sum((b - a).length for a, b in pairwise(ends)))


def _apart(shown: Matrix, wanted: Matrix, reach: float) -> float:
    """Return the greatest difference of two frames: of place [of the reach], rotation [rad] and scale."""
    turned = rotation_angle(orientation(shown.to_3x3()), orientation(wanted.to_3x3()))
    sizes = shown.to_scale() - wanted.to_scale()
    sized = max(abs(sizes[i]) for i in range(3))
    return max((shown.translation - wanted.translation).length / reach, turned, sized)


def _measured(
    limb: Limb,
    keys: int,
    frames: Sequence[float],
    before: Mapping[float, _Seen],
    after: Mapping[float, _Seen],
) -> Transferred:
    """Return how far the limb that is shown deviates from what it was, at the keys and between them."""
    scale, at = scale_of(limb.armature), set(frames)

    def off(frame: float) -> float:
        there, here = before[frame].places, after[frame].places
        ends = zip((there.tail, *there.bend), (here.tail, *here.bend), strict=True)
        return max((one - other).length for one, other in ends) * scale

    turned = (rotation_angle(before[f].places.rotation, after[f].places.rotation) for f in at)
    between = max((off(frame) for frame in before if frame not in at), default=0.0)
    return Transferred(limb.tip, keys, len(at), max(map(off, at)), max(turned), between)


def _warnings(chosen: Sequence[tuple[Limb, IKControls]], measured: Sequence[Transferred], scene: Scene) -> list[str]:
    """Return what is not as it was: a limb that cannot be shown, and keys that are too few."""
    found, sparse = [], list[Transferred]()
    for (limb, controls), each in zip(chosen, measured, strict=True):
        far = _AWAY * _reach(limb) * scale_of(limb.armature)
        if each.distance > far / 4.0 or each.angle > _AWAY:
            why = "" if controls.pole else ", as it has no pole"
            found.append(
                f"'{each.tip}' is off by up to {distance_text(each.distance, scene)} and {degrees_text(each.angle)} at "
                f"its keys{why}. Look at locked channels and constraints of its controls."
            )
        elif each.between > far:
            sparse.append(each)
    if sparse:
        worst = max(sparse, key=lambda each: each.between)
        found.append(
            f"Between the keys '{worst.tip}' is up to {distance_text(worst.between, scene)} away from what it showed. "
            "Choose Every Frame for Keys if that matters."
        )
    return found
