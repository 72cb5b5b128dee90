# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes onto the IK controls of a limb, and the switches such as IK_FK by which the deform bones follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix

from ...cooperative import Work, finished
from ...errors import AnimationError, RigError
from ...rig.by_hand.keys import located_by_hand, location_path
from ...rig.by_hand.shown_limb import Switch, controls_or_none, find_switch
from ...rig.checks import check_armature, check_frames
from ...rig.controls import Links, ik_controls_of
from ...rig.frames.curve_values import values_at
from ...rig.frames.reader import FrameReader
from ...rig.ik_controls import IKControls, OwnSide, shown_offset
from ...rig.keyframes import (
    GENERATED,
    ByHand,
    Channel,
    check_curves,
    check_keys,
    curves_of,
    ensure_channelbag,
    interpolation_of,
    made_by_hand,
    replace_keys,
    write_keys,
)
from ...rig.keyframes.reading import before_bake, keep_replaced
from ...rig.layers import Destination
from ...rig.limb import Limb
from ...rig.rotation import PROPERTIES, channel
from ...rig.timeline import Clock
from ...rig.units import distance_text
from .control_motion import ControlMotion, Discrepancy, LimbPlaces
from .keys import LimbBake, WrittenKeys, check_layer, poses_of, write_bakes
from .measure import EvaluatedLimb, Watch, astray, remedy_of, shown_tip
from .report import Remedy
from .writing import Keys, Undo, write_together

_MOST = 8  # properties that are set one after the other
_RUNS = 8  # of frames over which properties keep their values: those that are looked at, of more

_ROUNDS = 8  # of correction: one does for controls that carry the limb rigidly
_TIP, _TURN, _ELBOW = 2e-5, 1e-4, 4e-3  # of the reach, [rad], of the reach: differences that are not corrected
_WARNED = 0.01  # of the reach: distance of the elbow from the solved one that is told


class Track(NamedTuple):
    """An object and the channelbag on its new NLA track."""

    owner: Object
    bag: ActionChannelbag

    @staticmethod
    def of(destination: Destination, kind: str, owner: Object, undo: ExitStack) -> Track | None:
        """Return the track of a bake's destination; None if that is of another kind. A new action is made as well."""
        bag = destination.bag(kind, owner, undo)
        return Track(owner, bag) if kind == "NLA_TRACK" else None


def let_follow(
    limb: Limb,
    frame_start: float,
    frame_end: float,
    key: bool = True,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> list[Remedy]:
    """Set the properties that make all bones that are meant to follow the limb do so; return what was set.

    With `key` they have that value from `frame_start` to `frame_end`: keys there are replaced by a constant one at the
    start, and frames before that stay as they are. After the end a property that had keys has its old value again; one
    that had none keeps the new one. Properties with keys are keyed in any case. Raises an IKError that names the
    culprit; then nothing has changed.
    """
    return let_watched_follow(limb.armature, lambda: [Watch(limb)], (frame_start, frame_end), key, scene, view_layer)


def let_watched_follow(
    armature: Object,
    watches: Callable[[], Iterable[Watch]],
    ends: tuple[float, float],
    key: bool,
    scene: Scene | None,
    view_layer: ViewLayer | None,
) -> list[Remedy]:
    """Do what let_follow() does for the bones that several `watches` see, one after the other."""
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_armature(armature, view_layer)
    with Undo() as undo:
        frames = frames_between(*ends)
        done = [each for watch in watches() for each in set_switches(watch, frames, key, scene, view_layer, undo)]
        undo.pop_all()
    return done


def set_switches(
    watch: Watch,
    frames: Sequence[float],
    key: bool,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
    track: Track | None = None,
) -> list[Remedy]:
    """Do what let_follow() does for the bones that are watched; closing `undo` restores everything.

    Properties without keys get theirs in an NLA `track`, if one is given.
    """
    reader, done = FrameReader(watch.limb, scene, view_layer, frames), list[Remedy]()
    for _ in range(_MOST):
        worst = _worst(watch, finished(watch.look_at(reader, frames)))
        if worst is None:
            break
        follower, frame = worst
        found = watch.switch(follower, frame, scene)
        if found is None:
            raise RigError(
                f"'{follower}' does not follow '{watch.limb.tip}' at frame {frame:g}, and no single property of its "
                "constraints changes that. Mute what moves it."
            )
        done.append(remedy_of(*found, frame, scene))
        set_switch(*found, frames[0], frames[-1], key, scene, view_layer, undo, track)
    return done


def frames_between(first: float, last: float) -> Sequence[float]:
    """Return both ends, and the whole frames between them. Raises SettingError as check_frames() does."""
    check_frames(int(first), int(last), 1)
    return list(dict.fromkeys([first, *range(int(first) + 1, int(last) + 1), last]))


def amid_switches(armature: Object, frames: Sequence[float], scene: Scene) -> list[int]:
    """Return the number of the middle one of the frames of each run over which all keyed properties keep their values.

    Of many runs a few ones.
    """
    clock = Clock(scene, armature)
    curves = [each for each in curves_of(armature) if each.data_path.endswith('"]') and not each.is_empty]
    values = values_at(curves, np.array([clock.time(frame) for frame in frames]))
    ends = [0, *(np.flatnonzero((np.diff(values) != 0.0).any(0)) + 1).tolist(), len(frames)]
    amid = [(start + end - 1) // 2 for start, end in pairwise(ends)]
    return [amid[at] for at in np.linspace(0, len(amid) - 1, min(len(amid), _RUNS)).round().astype(int).tolist()]


def _worst(watch: Watch, seen: dict[float, EvaluatedLimb]) -> tuple[str, float] | None:
    """Return the follower farthest from the limb's tip and its frame; None if all follow."""
    far = [
        (apart, name, frame)
        for frame, here in seen.items()
        for name in watch.followers
        if (apart := astray(watch.limb, here, name)) is not None
    ]
    return max(far)[1:] if far else None


def set_switch(
    switch: Switch,
    value: float,
    first: float,
    last: float,
    key: bool,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
    track: Track | None = None,
    kind: str = "KEYFRAME",
) -> None:
    """Set a property, and key it over a range with keys of a `kind`; closing `undo` restores it.

    One without keys gets its key in an NLA `track`, if that is given and is of its data-block.
    """
    if track is not None and switch.owner == track.owner and not switch.curves:
        _key_in_track(switch, value, switch.time(first, scene), track.bag, undo)
    elif key or switch.curves:
        _key(switch, value, first, last, scene, view_layer, undo, kind)
    switch.show(value, scene, undo)
    view_layer.update()


def _key(
    switch: Switch,
    value: float,
    first: float,
    last: float,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
    kind: str,
) -> None:
    check_keys(switch.owner, ())
    check_curves(switch.curves, f"'{switch.name}' of '{switch.holder}'")
    keys = {first: value}
    if switch.curves or first > scene.frame_start:
        keys[first - 1] = switch.at(first - 1, scene)
    if switch.curves:
        keys[last + 1] = switch.at(last + 1, scene)
    frames = sorted(keys)
    run = Channel(switch.holder, switch.path, np.array([[keys[frame]] for frame in frames], np.float32), (0,))
    times = [switch.time(frame, scene) for frame in (*frames, max(*frames, last))]
    ends = times[0], times[-1]
    if kind == GENERATED:
        bag = ensure_channelbag(switch.owner, undo)
        before = before_bake(bag, switch.path, (float(switch.now),))
        keep_replaced(bag, switch.path, before, (0,), ends, undo)
    how = {"interpolation": "CONSTANT", "kind": kind}
    finished(write_keys(switch.owner, [run], times[:-1], *ends, view_layer, undo, **how))


def _key_in_track(switch: Switch, value: float, time: float, bag: ActionChannelbag, undo: ExitStack) -> None:
    """Key a property from a `time` on, to the end of its NLA track."""
    run = Channel(switch.holder, switch.path, np.array([[value]], np.float32), (0,))
    finished(replace_keys(bag, [run], [time], time, time, undo, "CONSTANT"))


class ControlWatch(Watch):
    """The bones by which a limb is measured whose IK controls are keyed: the one that shows its tip counts as that."""

    def __init__(self, limb: Limb, known: dict[int, Links | None] | None = None) -> None:
        super().__init__(limb, known)
        controls = ik_controls_of(limb)
        self._shown, self._offset = controls.tip.shown, shown_offset(limb.armature, controls.tip)
        self._control = controls.control
        self.closely = True

    def look(self, depsgraph: Depsgraph) -> EvaluatedLimb:
        """Return the tip as it is shown and its followers, as evaluated now."""
        seen = super().look(depsgraph)
        frame: Matrix = self.limb.armature.evaluated_get(depsgraph).pose.bones[self._shown].matrix @ self._offset
        return seen._replace(tip=shown_tip(frame, self.limb))

    def explain(self, apart: float, where: str, scene: Scene) -> str:
        """Say that the tip is not where it was solved."""
        return (
            f"'{self._shown}' is {distance_text(apart, scene)} away from the solution{where}: '{self._control}' cannot "
            "carry it there. Look at its locked channels and its constraints."
        )


@dataclass(frozen=True)
class ControlBones:
    """The bones whose rotations a bake onto IK controls keys, as those of a limb."""

    armature: Object
    bones: Sequence[str]

    @classmethod
    def of(cls, armature: Object, runs: Sequence[Channel]) -> ControlBones:
        """Return those of these channels."""
        turned = [run.bone for run in runs if run.path.rpartition(".")[2] in PROPERTIES]
        return cls(armature, list(dict.fromkeys(turned)))


def watch_of(limb: Limb, known: dict[int, Links | None] | None = None) -> Watch:
    """Return the bones by which a bake of a limb is measured. Raises RigError if it has no IK controls to key."""
    return ControlWatch(limb, known) if limb.keys_on == "IK" else Watch(limb, known)


def keyed_bones(limb: Limb) -> Sequence[str]:
    """Return the names of the bones that a bake of a limb keys. Raises RigError if it has no IK controls to key."""
    return ik_controls_of(limb).keyed if limb.keys_on == "IK" else limb.in_order


def check_keyed(limb: Limb) -> list[str]:
    """Raise the IKError for bones of a limb that cannot be keyed; return warnings."""
    names = keyed_bones(limb)
    warnings = [*check_layer(limb, limb.armature), *check_keys(limb.armature, names, limb.destination)]
    if limb.keys_on != "IK":
        return warnings
    animation = limb.armature.animation_data
    for name in names:
        bone = limb.armature.pose.bones[name]
        paths = location_path(limb.armature, name), bone.path_from_id(channel(bone)[0])
        if any(curve.data_path in paths for curve in (animation.drivers if animation else ())):
            raise AnimationError(f"'{name}' is driven. Remove its drivers, or choose FK controls for Keys On.")
        curves = [curve for curve in curves_of(limb.armature) if curve.data_path == paths[0]]
        if limb.destination != "NLA_TRACK":
            check_curves(curves, f"the location of '{name}'")
    return warnings


def kept_by_hand(limb: Limb, first: float, last: float) -> Mapping[str, ByHand]:
    """Return the keys that somebody made of the bones that a bake keys, between two times of the action, by bone."""
    names = keyed_bones(limb)
    found = made_by_hand(limb.armature, names, first, last)
    for name in names if limb.keys_on == "IK" else ():
        for time in located_by_hand(limb.armature, name, first, last):
            found.setdefault(name, {}).setdefault(time, {})
    return found


def write_by_settings(
    bakes: Sequence[LimbBake], undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[list[WrittenKeys]]:
    """Write the solved frames of limbs to the controls that their settings name, as write_bakes() does."""
    where = {"scene": scene, "view_layer": view_layer}
    of_bones = [bake for bake in bakes if bake.limb.keys_on != "IK"]
    written = dict(zip(map(id, of_bones), (yield from write_bakes(of_bones, undo, **where)), strict=True))
    for bake in bakes:
        if bake.limb.keys_on == "IK":
            written[id(bake)] = yield from write_onto_controls(bake, undo, **where)
        elif bake.limb.keys_on == "FK_SWITCH":
            yield from _follow_after(bake, undo, scene, view_layer)
    return [written[id(bake)] for bake in bakes]


class OntoControls(NamedTuple):
    """A limb to write onto its IK controls: where it is to be at each frame, and its `reach`, in armature space.

    Key reduction keeps the poses of the targets of the limbs `posed`.
    """

    bake: LimbBake
    controls: IKControls
    places: Mapping[float, LimbPlaces]
    reach: float
    posed: Sequence[Limb]


def write_onto_controls(bake: LimbBake, undo: ExitStack, *, scene: Scene, view_layer: ViewLayer) -> Work[WrittenKeys]:
    """Key the IK controls of a limb so that they show its solved frames, and the properties that have them followed.

    Closing `undo` restores everything, also if the work is closed before its end.
    """
    limb, controls = bake.limb, ik_controls_of(bake.limb)
    places = {each.now.frame: LimbPlaces.of(each, controls, limb) for each in bake.solved}
    part = OntoControls(bake, controls, places, bake.solved[0].pose.chain.reach, [limb])
    (written,) = yield from write_places([part], undo, scene=scene, view_layer=view_layer)
    return written


def write_places(
    parts: Sequence[OntoControls], undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[list[WrittenKeys]]:
    """Do what write_onto_controls() does for limbs of one armature that are baked with the same settings of keys."""
    bake, frames = parts[0].bake, list(parts[0].places)
    limb, ends, kept = bake.limb, bake.ends, any(part.bake.kept for part in parts)
    clock, reader = Clock(scene, limb.armature), FrameReader(limb, scene, view_layer, frames)
    track = Track.of(bake.destination, limb.destination, limb.armature, undo)
    for part in parts:
        yield from show_side(part.controls, ends, FrameReader(part.bake.limb, scene, view_layer, frames), track, undo)
    motions = [ControlMotion(part.bake.limb, part.controls, part.places, part.reach) for part in parts]

    def see(depsgraph: Depsgraph, frame: float) -> None:
        for motion in motions:
            motion.see(depsgraph, frame)

    yield from reader.evaluate(frames, see)
    interpolation = interpolation_of(frames, *ends, limb.interpolation)
    times, first = clock.times(frames), clock.time(ends[0])
    for remaining in reversed(range(_ROUNDS if not kept else 2)):
        runs = [motion.channels(clock, first) for motion in motions]
        full = [len(times) * sum(len(run.indices) for run in some) for some in runs]
        with Undo() as attempt:
            writings = [
                part.bake.writing(Keys(some, times, interpolation, count), ControlBones.of(limb.armature, some))
                for part, some, count in zip(parts, runs, full, strict=True)
            ]
            counts = yield from write_together(writings, attempt, scene=scene, view_layer=view_layer)
            yield from reader.evaluate(frames, see)
            if not remaining or all(_is_close(motion.missing) for motion in motions):
                undo.push(attempt.pop_all())
                break
        for motion in motions:
            motion.correct()
    written = []
    for part, motion, some, count, most, writing in zip(parts, motions, runs, counts, full, writings, strict=True):
        warnings = () if kept else _of_elbow(motion, part.controls, scene)
        at, deviation = range(len(frames)), 0.0
        if limb.reduce and len(times) > 2 and not kept:
            poses = poses_of(part.posed, frames, scene)
            at, fewer, deviation = yield from motion.reduced(some, times, interpolation == "LINEAR", poses)
            keys = Keys(fewer, [times[k] for k in at], interpolation, most)
            writing = writing._replace(keys=keys)
            (count,) = yield from write_together([writing], undo, scene=scene, view_layer=view_layer)
        written.append(WrittenKeys(count, most, at, deviation, warnings))
    return written


def show_side(
    side: IKControls | OwnSide,
    ends: tuple[float, float],
    reader: FrameReader,
    track: Track | None,
    undo: ExitStack,
    kind: str = GENERATED,
) -> Work[None]:
    """Set and key, with keys of a `kind`, the properties by which the character follows a side.

    Raises RigError if they do not do that.
    """
    limb, scene, view_layer, armature = reader.limb, reader.scene, reader.view_layer, reader.limb.armature
    what = "IK controls" if isinstance(side, IKControls) else "FK controls"
    for _ in range(_MOST):
        seen = yield from reader.evaluate(
            reader.frames, lambda depsgraph, _: side.astray(armature.evaluated_get(depsgraph))
        )
        frame = next((frame for frame, name in seen.items() if name), None)
        if frame is None:
            return
        name = seen[frame]
        found = find_switch(
            limb,
            [name],
            lambda depsgraph, name=name: side.follows(name, armature.evaluated_get(depsgraph)),
            frame,
            scene,
        )
        if found is None:
            raise RigError(
                f"'{name}' does not follow the {what} at frame {frame:g}, and no single property of its "
                "constraints changes that. Mute what moves it."
            )
        set_switch(*found, *ends, True, scene, view_layer, undo, track, kind=kind)
    raise RigError(f"The character does not follow the {what} of '{limb.tip}'. Choose another button of Keys On.")


def let_show(
    limb: Limb, ends: tuple[float, float], track: Track | None, undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[bool]:
    """Set and key the properties by which the character follows a limb's own bones, also where IK is at their place.

    Returns whether there are IK controls, and so such properties.
    """
    controls = controls_or_none(limb, of_end=True)
    if controls is None:
        return False
    reader = FrameReader(limb, scene, view_layer, frames_between(*ends))
    yield from show_side(controls.own_side, ends, reader, track, undo)
    return True


def _follow_after(bake: LimbBake, undo: ExitStack, scene: Scene, view_layer: ViewLayer) -> Work[None]:
    """Set and key the properties by which the character follows a limb that is written."""
    limb = bake.limb
    track = Track.of(bake.destination, limb.destination, limb.armature, undo)
    if not (yield from let_show(limb, bake.ends, track, undo, scene=scene, view_layer=view_layer)):
        set_switches(Watch(limb), frames_between(*bake.ends), True, scene, view_layer, undo, track)


def _is_close(missing: Sequence[Discrepancy]) -> bool:
    return all(each.tip <= _TIP and each.turn <= _TURN and each.elbow <= _ELBOW for each in missing)


def _of_elbow(motion: ControlMotion, controls: IKControls, scene: Scene) -> list[str]:
    """Return a warning that names the elbow and the frame where it is farthest from the solution, if that is far."""
    rows = zip(motion.missing, motion.let_off.tolist(), motion.frames, strict=True)
    far = [(each.elbow + let_off, frame) for each, let_off, frame in rows]
    worst, frame = max(far)
    count = sum(off > _WARNED for off, _ in far)
    if not count:
        return []
    why = f"'{controls.pole}' turns it elsewhere" if controls.pole else "there is no pole to turn it"
    return [
        f"'{controls.shown_by(controls.lower)}' is {distance_text(worst * motion.reach, scene)} away from the solution "
        f"at frame {frame:g}, and too far at {count} of {len(far)} frames: {why}."
    ]
