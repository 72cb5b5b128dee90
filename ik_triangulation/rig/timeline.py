# SPDX-License-Identifier: GPL-3.0-or-later
"""The timeline: its markers, NLA strips, and the times of an action by time remapping and strips."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from math import isfinite

import numpy as np
from bpy.types import ID, Action, ActionSlot, AnimData, FCurve, NlaStrip, Object, Scene, TimelineMarker

from ..errors import AnimationError
from ..kinematics.arrays import Array, Mask

_SAME_TIME = 1e-3  # frames


def scene_range(scene: Scene, preview: bool | None = None) -> tuple[int, int]:
    """Return the first and the last frame of a scene, or of its `preview` range: by default if that is in use."""
    if scene.use_preview_range if preview is None else preview:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def frames_from(frame_start: int, frame_end: int, step: float) -> Sequence[float]:
    """Return the frames of a bake; they are whole numbers if the step is."""
    if step == int(step):
        return range(frame_start, frame_end + 1, int(step))
    count = int((frame_end - frame_start) / step + 1e-6) + 1
    return [frame_start + number * step for number in range(count)]


def evaluated_time(scene: Scene, frame: float) -> float:
    """Return the time at which Blender evaluates a frame of the timeline."""
    return frame * scene.render.frame_map_old / scene.render.frame_map_new


def is_tweaked(ob: Object) -> bool:
    """Tell whether the object's active action is evaluated through an NLA strip, in tweak mode with the NLA enabled."""
    animation = ob.animation_data
    return bool(animation and animation.use_tweak_mode and animation.use_nla)


class Clock:
    """Conversion from frames of a scene's timeline to times of the keyframes in an object's active action, and back."""

    def __init__(self, scene: Scene, ob: Object) -> None:
        self._remapped = evaluated_time(scene, 1.0)
        self._tweaked = ob.animation_data if is_tweaked(ob) else None

    def time(self, frame: float) -> float:
        """Return the time in the action."""
        time = frame * self._remapped
        if self._tweaked and isfinite(time):
            return float(self._tweaked.nla_tweak_strip_time_to_scene(time, invert=True))
        return time

    def times(self, frames: Iterable[float]) -> list[float]:
        """Return the times of many frames."""
        remapped = self._remapped
        return [*map(self.time, frames)] if self._tweaked else [frame * remapped for frame in frames]

    def frame(self, time: float) -> float:
        """Return the frame of the timeline."""
        if self._tweaked:
            time = self._tweaked.nla_tweak_strip_time_to_scene(time)
        return time / self._remapped


def strips_of(animation: AnimData, *, muted: bool = True) -> Iterator[NlaStrip]:
    """Yield all strips, including those inside meta strips, and the `muted` ones if they are wanted."""
    waiting = [strip for track in animation.nla_tracks if muted or not track.mute for strip in track.strips]
    while waiting:
        strip = waiting.pop()
        if muted or not strip.mute:
            yield strip
            waiting += strip.strips


def actions_of(animation: AnimData) -> list[tuple[Action | None, ActionSlot | None]]:
    """Return the active action and those of the NLA, with their slots."""
    strips = strips_of(animation)
    return [(animation.action, animation.action_slot), *((strip.action, strip.action_slot) for strip in strips)]


def keyed_curves(animation: AnimData) -> Iterator[FCurve]:
    """Yield all F-curves of the active action and of the NLA."""
    for action, slot in actions_of(animation):
        yield from curves_in(action, slot)


def moving_curves(owner: ID) -> Iterator[FCurve]:
    """Yield the F-curves and drivers of a data-block that are not muted."""
    animation = owner.animation_data
    if animation is None:
        return
    yield from (curve for curve in animation.drivers if not curve.mute)
    yield from (curve for curve in keyed_curves(animation) if not curve.mute)


def curves_in(action: Action | None, slot: ActionSlot | None) -> Iterator[FCurve]:
    """Yield the F-curves that an action has for a slot."""
    if action and slot:
        bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)
        yield from (curve for bag in bags if bag for curve in bag.fcurves)


def layered_strips(ob: Object) -> list[NlaStrip]:
    """Return the strips of actions that replace what is below them, the topmost and latest last.

    Strips that are mixed in, and those inside meta strips, are left out; in tweak mode there are none.
    """
    animation = ob.animation_data
    if animation is None or not animation.use_nla or animation.use_tweak_mode:
        return []
    tracks = [track for track in animation.nla_tracks if not track.mute]
    tracks = [track for track in tracks if track.is_solo] or tracks
    strips = [strip for track in tracks for strip in track.strips]
    strips = [strip for strip in strips if strip.action and strip.action_slot and not strip.mute]
    return [strip for strip in strips if strip.blend_type == "REPLACE"]


def strip_times(strip: NlaStrip, times: Array) -> tuple[Array, Mask]:
    """Return the times of a strip's action at evaluated times, and a mask of those when it is played or held."""
    first, last = strip.action_frame_start, strip.action_frame_end
    elapsed = (np.clip(times, strip.frame_start, strip.frame_end) - strip.frame_start) / strip.scale
    length = max(last - first, _SAME_TIME)
    turns = np.floor(elapsed / length + _SAME_TIME / length)
    if strip.repeat == round(strip.repeat):
        turns = np.minimum(turns, strip.repeat - 1.0)  # only the last repetition ends with the action's last frame
    elapsed = elapsed - turns * length
    played = np.ones(len(times), bool)
    if strip.extrapolation != "HOLD":
        played &= times >= strip.frame_start
    if strip.extrapolation == "NOTHING":
        played &= times <= strip.frame_end
    return (last - elapsed if strip.use_reverse else first + elapsed), played


def check_nla(ob: Object, scene: Scene, first: float, last: float, destination: str = "ACTION") -> None:
    """Raise AnimationError if the NLA changes or hides the keys of the destination at these frames."""
    animation = ob.animation_data
    if animation is None:
        return
    if not animation.use_nla:
        if destination in {"NLA_TRACK", "LAYER"}:
            raise AnimationError(
                f"The NLA of '{ob.name}' is switched off: a new track would not show. Switch it on, or write to the "
                "active action."
            )
        return
    tweaked = is_tweaked(ob)
    for track in animation.nla_tracks:
        if track.is_solo and not (tweaked and track.active):
            raise AnimationError(
                f"NLA track '{track.name}' of '{ob.name}' is solo: what is keyed elsewhere would not show. "
                "Turn its star off."
            )
    if tweaked:
        _check_tweaked(ob, scene, first, last)


def _check_tweaked(ob: Object, scene: Scene, first: float, last: float) -> None:
    strip = _tweaked(ob.animation_data)
    leave = "Leave tweak mode first."
    if strip is None:
        raise AnimationError(f"'{ob.name}' is in NLA tweak mode on a strip that is not known. {leave}")
    name = f"Strip '{strip.name}', in which '{ob.name}' is tweaked,"
    muted = strip.mute or any(track.mute for track in ob.animation_data.nla_tracks if track.active)
    blended = strip.blend_in or strip.blend_out or strip.use_animated_influence
    for hinders, why in (
        (muted, "is muted"),
        (strip.blend_type != "REPLACE", "is blended with what is below it"),
        (blended, "is blended in or out"),
        (strip.use_reverse, "runs backwards"),
        (strip.use_animated_time, "has a time of its own"),
        (len(strip.modifiers), "has modifiers"),
    ):
        if hinders:
            raise AnimationError(f"{name} {why}. Change that, or {leave.lower()}")
    start, end = _shown(strip)
    if evaluated_time(scene, first) < start - _SAME_TIME or evaluated_time(scene, last) > end + _SAME_TIME:
        begin, stop = (time / evaluated_time(scene, 1.0) for time in (start, end))
        raise AnimationError(
            f"{name} shows its action from frame {begin:g} to {stop:g} only. Keep to that range, or {leave.lower()}"
        )


def _tweaked(animation: AnimData) -> NlaStrip | None:
    """Return the strip in tweak mode; if several use the active action, the one whose ends map to its own times."""
    seen = animation.action, animation.action_slot
    strips = [strip for strip in strips_of(animation) if (strip.action, strip.action_slot) == seen]
    for strip in strips if len(strips) > 1 else ():
        ends = [animation.nla_tweak_strip_time_to_scene(t) for t in (strip.action_frame_start, strip.action_frame_end)]
        if all(abs(a - b) < _SAME_TIME for a, b in zip(sorted(ends), _shown(strip), strict=True)):
            return strip
    return strips[0] if len(strips) == 1 else None


def _shown(strip: NlaStrip) -> tuple[float, float]:
    """Return the start and end of the first repetition of a strip's action [evaluated time]."""
    return strip.frame_start, strip.frame_start + (strip.action_frame_end - strip.action_frame_start) * strip.scale


def mark(scene: Scene, name: str, frames: Iterable[float], first: float, last: float, undo: ExitStack) -> None:
    """Add a marker of a name at each of the frames, in place of its older ones from `first` to `last`.

    Closing `undo` reverts this.
    """
    markers = scene.timeline_markers
    for marker in [m for m in markers if m.name == name and first <= m.frame <= last]:
        undo.callback(_add, scene, name, marker.frame, marker.select)
        markers.remove(marker)
    for frame in dict.fromkeys(round(frame) for frame in frames):
        undo.callback(markers.remove, _add(scene, name, frame, False))


def _add(scene: Scene, name: str, frame: int, select: bool) -> TimelineMarker:
    marker = scene.timeline_markers.new(name, frame=frame)
    marker.select = select
    return marker


def fps_of(scene: Scene, frames: Sequence[float]) -> float:
    """Return how many of these frames there are in a second, at most all of the scene."""
    fps = scene.render.fps / scene.render.fps_base
    return float(fps / max(1.0, (frames[-1] - frames[0]) / (len(frames) - 1)) if len(frames) > 1 else fps)
