# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between frames of the timeline and times of an action: time remapping and NLA tweak mode."""

from math import isfinite

from bpy.types import Object, Scene


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

    def frame(self, time: float) -> float:
        """Return the frame of the timeline."""
        if self._tweaked:
            time = self._tweaked.nla_tweak_strip_time_to_scene(time)
        return time / self._remapped
