# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties such as IK_FK, set and keyed so that deform bones follow a limb over a range of frames."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, Object, Scene, ViewLayer

from ..cooperative import finished
from ..errors import RigError
from ..rig.checks import check_armature, check_frames
from ..rig.destination import Destination
from ..rig.frames.reader import FrameReader
from ..rig.keyframes import (
    GENERATED,
    Channel,
    check_curves,
    check_keys,
    ensure_channelbag,
    replace_keys,
    write_keys,
)
from ..rig.keyframes.replaced import before_bake, keep_replaced
from ..rig.limb import Limb
from ..rig.switches import Switch
from .measure import EvaluatedLimb, Watch, astray, remedy_of
from .report import Remedy
from .transaction import Undo

_MOST = 8  # properties that are set one after the other


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
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_armature(limb.armature, view_layer)
    frames = frames_between(frame_start, frame_end)
    with Undo() as undo:
        done = set_switches(Watch(limb), frames, key, scene, view_layer, undo)
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
    undo.callback(switch.set, switch.now)
    switch.set(switch.at(scene.frame_current + scene.frame_subframe, scene) if switch.curves else value)
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
