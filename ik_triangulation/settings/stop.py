# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a stop: a target on the way of a reach through several."""

from __future__ import annotations

from bpy.props import EnumProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Object, PropertyGroup

from .table import Exempt, group, saved, setting

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


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
