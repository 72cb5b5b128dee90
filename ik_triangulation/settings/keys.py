# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of what is keyed: the frames of a bake, the keys that it writes, a reach through one or several stops."""

from __future__ import annotations

from typing import Any

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object, PropertyGroup

from ..motion.timing import TIMINGS
from .table import Exempt, Flag, group, saved, setting

LAST = 1_048_574  # Blender's last frame; its first is as far below zero
FRAMES, DURATIONS = (-LAST, LAST), (0, 2 * LAST)  # for what is typed: properties take any whole number

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}

_PAGE = "reach.html#settings"


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


@group(page="reach.html#stops", flags=Exempt("--stops says it for each stop"))
class StopSettings:
    """A target and the frames at it."""

    target: Object | None = setting(
        PointerProperty, "Target", "Object to reach, or a bone of it", default=None, type=Object
    )
    subtarget: str = setting(StringProperty, "Bone", "Bone of the target; the tip goes to its head", default="")
    frame: int = setting(IntProperty, "Frame", "Frame at which the tip arrives at the target", default=25)
    hold: int = setting(IntProperty, "Hold", "Frames to stay at the target", default=0, min=0, soft_max=100)
    take: str = setting(
        EnumProperty,
        "Prop",
        "Take a prop or let go of it when the tip arrives",
        items=[
            ("NONE", "None", "Nothing is taken", 0),
            ("TAKE", "Take", "The prop follows the tip's bone from this frame on", 1),
            ("GIVE", "Let Go", "The prop stays where it is at this frame", 2),
        ],
        default="NONE",
        page="reach.html#props",
    )
    prop: Object | None = setting(
        PointerProperty,
        "Object",
        "Prop to take or let go of; if empty, the target is taken, and what is held is let go of",
        default=None,
        type=Object,
        page="reach.html#props",
    )


class IKT_PG_stop(PropertyGroup):
    """A target on the way of a reach through several."""

    __annotations__ = saved(StopSettings, override=OVERRIDABLE)


@group(page=_PAGE)
class ReachSettings:
    """The frames, path and speed of a movement, by the names that reach() takes; saved with `reach_` before them."""

    frame_start: int = setting(
        IntProperty,
        "Start",
        "Frame at which the movement starts",
        default=1,
        name="reach_start",
        flag=Flag("--frame-start", range=FRAMES),
    )
    frame_end: int = setting(
        IntProperty,
        "End",
        "Frame at which the tip arrives at the target",
        default=25,
        name="reach_end",
        flag=Flag("--frame-end", range=FRAMES),
    )
    hold: int = setting(
        IntProperty,
        "Hold",
        "Frames to stay at the target",
        default=0,
        name="reach_hold",
        min=0,
        soft_max=100,
        flag=Flag("--hold", range=DURATIONS),
    )
    return_frames: int = setting(
        IntProperty,
        "Return",
        "Frames for the way back to the first pose; 0 for no return",
        default=0,
        name="reach_return",
        min=0,
        soft_max=100,
        flag=Flag("--return", range=DURATIONS),
    )
    path: str = setting(
        EnumProperty,
        "Path",
        "Path of the tip to the target",
        items=[
            ("BOW", "Arc", "The hand moves on a slightly bowed path, as people's hands do; with Natural", 2),
            ("ARC", "Arc of Joints", "The joints rotate from pose to pose, so the tip swings round on an arc", 1),
            ("LINE", "Straight", "The tip moves on a straight line; always solved with Gauss-Newton", 0),
        ],
        default="BOW",
        name="reach_path",
        flag="--path",
    )
    onset: float = setting(
        FloatProperty,
        "Root First",
        "Head start of the joints near the root, on an arc; at 1 the last joint starts when the first has arrived",
        default=0.0,
        name="reach_onset",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        flag="--onset",
    )
    timing: str = setting(
        EnumProperty,
        "Timing",
        "Speed profile of the reach",
        items=[(key, t.label, t.description, n) for n, (key, t) in enumerate(TIMINGS.items())],
        default="MINIMUM_JERK",
        name="reach_timing",
        flag="--timing",
    )
    easing: str = setting(
        EnumProperty,
        "Easing",
        "Slow start, slow end or both",
        items=[
            ("EASE_IN", "Ease In", "Slow at the start", 0),
            ("EASE_OUT", "Ease Out", "Slow at the end", 1),
            ("EASE_IN_OUT", "Ease In and Out", "Slow at both ends", 2),
        ],
        default="EASE_IN_OUT",
        name="reach_easing",
        flag="--easing",
    )
    prop_by: str = setting(
        EnumProperty,
        "Hold Props By",
        "The way a prop that is taken follows the tip",
        items=[
            ("CONSTRAINT", "Constraint", "A Child Of constraint, keyed on and off", 0),
            ("KEYS", "Keys", "Keys of the prop on every frame up to the end of the reach", 1),
        ],
        default="CONSTRAINT",
        name="reach_prop_by",
        flag="--prop-by",
        page="reach.html#props",
    )


@group(page="reach.html#stops", flags=Exempt("--stops lists them"))
class StopListSettings:
    """The list of stops that is saved with a limb."""

    reach_stops: Any = setting(
        CollectionProperty,
        "Stops",
        "Targets to reach one after another, instead of the limb's own target",
        default=None,
        type=IKT_PG_stop,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    reach_stop: int = setting(IntProperty, "Stop", "Active stop in the list", default=0)
