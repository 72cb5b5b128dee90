# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a reach: one movement to the target, or through several stops."""

from __future__ import annotations

from typing import Any

from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Object, PropertyGroup

from ..motion.timing import TIMINGS
from .keys import DURATIONS, FRAMES
from .table import Exempt, Flag, group, saved, setting

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}

_PAGE = "reach.html#settings"


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
