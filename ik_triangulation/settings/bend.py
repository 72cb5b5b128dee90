# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the tip's orientation and of the side to which the limb bends."""

from __future__ import annotations

from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty
from bpy.types import Object

from .table import Flag, group, setting


@group(page="goals.html#orientation")
class BendSettings:
    """Orientation and pole: preferences that use the freedom which reaching and the joint limits leave."""

    orientation: str = setting(
        EnumProperty,
        "Orientation",
        "Orientation of the tip, as far as reaching and the joint limits allow it",
        items=[
            (
                "AUTO",
                "As Displayed",
                "As the target if that is a bone or an empty displayed as arrows, "
                "along it if displayed as a single arrow, otherwise free",
                0,
            ),
            ("NONE", "Any", "Free", 1),
            ("DIRECTION", "Direction", "Pointing along the target's Z axis, or along its bone", 2),
            ("FULL", "Full", "The same orientation as the target", 3),
        ],
        default="AUTO",
        flag="--orientation",
        per_frame=True,
    )
    orient_weight: float = setting(
        FloatProperty,
        "Weight",
        "Importance of the orientation relative to the other preferences",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        flag="--orient-weight",
        per_frame=True,
    )
    pole_target: Object | None = setting(
        PointerProperty,
        "Pole",
        "Object that the limb bends towards",
        default=None,
        type=Object,
        page="goals.html#pole",
        flag=Flag("--pole-target", "object that the limb bends towards, '' for none"),
    )
    pole_subtarget: str = setting(
        StringProperty,
        "Bone",
        "Bone of the pole target whose head is used",
        default="",
        page="goals.html#pole",
        flag="--pole-subtarget",
    )
    pole_angle: float = setting(
        FloatProperty,
        "Pole Angle",
        "Angle between the bend and the direction to the pole",
        default=0.0,
        subtype="ANGLE",
        page="goals.html#pole",
        flag="--pole-angle",
        per_frame=True,
    )
    pole_weight: float = setting(
        FloatProperty,
        "Weight",
        "Importance of the pole relative to the other preferences",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        page="goals.html#pole",
        flag="--pole-weight",
        per_frame=True,
    )
