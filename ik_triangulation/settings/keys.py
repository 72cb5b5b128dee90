# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the frames of a bake and of the keys that it writes."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .table import Exempt, Flag, group, setting

LAST = 1_048_574  # Blender's last frame; its first is as far below zero
FRAMES, DURATIONS = (-LAST, LAST), (0, 2 * LAST)  # for what is typed: properties take any whole number


@group(page="baking.html#bake")
class FrameSettings:
    """The frames to bake."""

    use_scene_range: bool = setting(
        BoolProperty,
        "Scene Range",
        "Bake the frame range of the scene, or the preview range while that is on",
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
        "Frames from one baked frame to the next; 1 bakes every frame",
        default=1,
        min=1,
        soft_max=8,
        flag="--step",
    )


@group(page="baking.html#keys")
class KeySettings:
    """The frames that get keys, their interpolation and destination."""

    reduce: bool = setting(
        BoolProperty,
        "Reduce Keys",
        "Keep only the keys that the motion needs, and fit their handles",
        default=False,
        page="baking.html#reduce-keys",
        flag=Flag("--no-reduce", "keep every key"),
        panel=Exempt("the choice Keys below Bake sets it"),
    )
    reduce_tolerance: float = setting(
        FloatProperty,
        "Keep Tip Within",
        "Largest distance that the tip may move when keys are removed; 0 for 0.5 % of the limb's reach, of a held tip "
        "for 0.1 %",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
        page="baking.html#reduce-keys",
        flag=Flag(
            "--reduce",
            "remove keys as long as the tip stays within this distance of the full bake, in Blender units "
            "(default: 0.5 % of the limb's reach)",
            more={"nargs": "?", "const": 0.0, "metavar": "DISTANCE"},
        ),
    )
    only_target_keys: bool = setting(
        BoolProperty,
        "Only at Target's Keys",
        "Key the limb only at frames where the target has a key",
        default=False,
        flag="--only-target-keys",
        panel=Exempt("the choice Keys below Bake sets it"),
    )
    destination: str = setting(
        EnumProperty,
        "Write To",
        "Destination of the baked keys; the previous animation is always kept",
        items=[
            ("ACTION", "Active Action", "Write into the active action, only inside the frame range", 0),
            ("NEW_ACTION", "New Action", "Write into a copy of the active action, and use the copy", 1),
            ("NLA_TRACK", "NLA Track", "Write into an action of its own, on a new NLA track above the others", 2),
            (
                "LAYER",
                "Layer",
                "Write the difference from the present animation onto an additive NLA track with an influence to key; "
                "the animation below stays as it is",
                3,
            ),
        ],
        default="ACTION",
        flag="--destination",
    )
    keys_on: str = setting(
        EnumProperty,
        "Keys On",
        "Controls of a generated rig that get the keys",
        items=[
            ("FK", "FK Controls", "Key the rotations of the limb's bones", 0),
            ("FK_SWITCH", "FK Controls and Switch", "Also set and key the property that makes the character follow", 1),
            ("IK", "IK Controls", "Key the IK control and its pole, and the properties by which they are followed", 2),
        ],
        default="FK",
        page="rigs.html#ik-controls",
        flag="--keys-on",
    )
    mark_misses: bool = setting(
        BoolProperty,
        "Mark Missed Frames",
        "Put markers on the timeline at baked frames where the target is not reached",
        default=False,
        page="baking.html#the-report",
        flag="--mark-misses",
    )
    interpolation: str = setting(
        EnumProperty,
        "Interpolation",
        "Interpolation from each baked key to the next",
        items=[
            ("AUTO", "Automatic", "Linear if every frame is baked, otherwise Bézier", 0),
            ("LINEAR", "Linear", "Straight to the next key", 1),
            ("BEZIER", "Bézier", "Smoothly to the next key", 2),
            ("CONSTANT", "Constant", "Hold until the next key; with a step of 2, animation on twos", 3),
        ],
        default="AUTO",
        flag="--interpolation",
    )
