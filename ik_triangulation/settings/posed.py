# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of a bone's pose and of a target's rotation that is saved with them: no settings, and shown nowhere."""

from typing import Any

from bpy.props import BoolProperty, FloatVectorProperty, StringProperty
from bpy.types import PropertyGroup

from .stop import OVERRIDABLE

_HIDDEN: dict[str, Any] = {"options": {"HIDDEN"}, "override": OVERRIDABLE}


class IKT_PG_posed(PropertyGroup):
    """Rotation channels of a bone before a limb was posed and as they were written last, both in rotation `mode`.

    Of the hips of a body, which `is_moved`, the location as well; and the place at which the target of a limb waits.

    The mode is empty as long as nothing was written. There are no update functions, so that writing has nothing
    evaluated.
    """

    __annotations__ = {
        "mode": StringProperty(name="Mode", description="Rotation mode of the values", **_HIDDEN),
        "before": FloatVectorProperty(
            name="Before", description="Rotation before the limb was posed", size=4, **_HIDDEN
        ),
        "written": FloatVectorProperty(name="Written", description="Rotation as written last", size=4, **_HIDDEN),
        "is_moved": BoolProperty(name="Moved", description="The location was written as well", **_HIDDEN),
        "place_before": FloatVectorProperty(
            name="Place Before", description="Location before the body was posed", size=3, **_HIDDEN
        ),
        "place_written": FloatVectorProperty(
            name="Place Written", description="Location as written last", size=3, **_HIDDEN
        ),
        "waits": BoolProperty(name="Waits", description="The target was made and may not have been moved", **_HIDDEN),
        "waits_at": FloatVectorProperty(
            name="Waits At", description="Matrix of the target as it was made", size=16, **_HIDDEN
        ),
    }


def made_rotation() -> Any:
    """Return the property of an object that was made as the target of a hand: its rotation then; of others zero."""
    return FloatVectorProperty(
        name="Made Rotation",
        description="Rotation, a quaternion, with which the object was made as the target of a hand",
        size=4,
        default=(0.0, 0.0, 0.0, 0.0),
        **_HIDDEN,
    )
