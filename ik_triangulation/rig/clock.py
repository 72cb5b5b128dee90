# SPDX-License-Identifier: GPL-3.0-or-later
"""When a frame of the timeline is in the time of an action: time remapping and NLA tweak mode come between them."""

from math import isfinite

from bpy.types import Object, Scene


def evaluated_time(scene: Scene, frame: float) -> float:
    """The time at which Blender evaluates a frame of the timeline."""
    return frame * scene.render.frame_map_old / scene.render.frame_map_new


def is_tweaked(ob: Object) -> bool:
    """Whether the object's active action is seen through a strip of the NLA; with that off it is seen as it is."""
    animation = ob.animation_data
    return bool(animation and animation.use_tweak_mode and animation.use_nla)


class Clock:
    """From the frames of a scene's timeline to the times that the keys of an object's active action have, and back."""

    def __init__(self, scene: Scene, ob: Object) -> None:
        self._remapped = evaluated_time(scene, 1.0)
        self._tweaked = ob.animation_data if is_tweaked(ob) else None

    def time(self, frame: float) -> float:
        """The time in the action."""
        time = frame * self._remapped
        if self._tweaked and isfinite(time):
            return float(self._tweaked.nla_tweak_strip_time_to_scene(time, invert=True))
        return time

    def frame(self, time: float) -> float:
        """The frame of the timeline."""
        if self._tweaked:
            time = self._tweaked.nla_tweak_strip_time_to_scene(time)
        return time / self._remapped
