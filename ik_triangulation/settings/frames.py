# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the frames of a bake."""

from __future__ import annotations

from bpy.props import BoolProperty, IntProperty

from .table import Exempt, Flag, group, setting

LAST = 1_048_574  # Blender's last frame; its first is as far below zero
FRAMES, DURATIONS = (-LAST, LAST), (0, 2 * LAST)  # for what is typed: properties take any whole number


@group(page="baking.html#bake")
class FrameSettings:
    """The frames to bake."""

    use_scene_range: bool = setting(
        BoolProperty,
        "Scene Range",
        "Bake the frame range of the scene, or its preview range while that is on",
        default=True,
        flag=Exempt("--frame-start and --frame-end override the range"),
    )
    frame_start: int = setting(
        IntProperty, "Start", "First frame to bake", default=1, flag=Flag("--frame-start", range=FRAMES)
    )
    frame_end: int = setting(
        IntProperty, "End", "Last frame to bake", default=250, flag=Flag("--frame-end", range=FRAMES)
    )
    step: int = setting(
        IntProperty,
        "Step",
        "Number of frames from one baked frame to the next",
        default=1,
        min=1,
        soft_max=8,
        flag="--step",
    )
