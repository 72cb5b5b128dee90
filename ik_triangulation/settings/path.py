# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a bake's path: how each frame relates to those around it."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .table import Flag, group, setting


@group(page="baking.html#smoothness")
class PathSettings:
    """The pose to start each frame from, jump removal and smoothing."""

    start_from: str = setting(
        EnumProperty,
        "Start From",
        "Pose from which each frame is solved",
        items=[
            ("PREVIOUS", "Frame Before", "The solution of the frame before; the first starts from its own pose", 0),
            ("ANIMATED", "Animated Pose", "The limb's keyed pose at that frame", 1),
            ("REST", "Rest Pose", "The armature's rest pose, so that a frame does not depend on others", 2),
        ],
        default="PREVIOUS",
        flag="--start-from",
        preset=True,
    )
    smooth: bool = setting(
        BoolProperty,
        "No Jumps",
        "Solve all frames of a bake together, so that joints do not jump where it can be avoided; needs Finish",
        default=True,
        flag=Flag("--no-smooth", "do not remove joint jumps"),
        preset=True,
    )
    smoothing: float = setting(
        FloatProperty,
        "Smoothing",
        "Strength of smoothing the joint rotations of a bake, within the tolerance; needs Finish",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        flag="--smoothing",
        preset=True,
    )
