# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of what the tip reaches: the shape of the target, offset and influence."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty

from ..goals.target_shapes import TARGET_SHAPES
from .table import Exempt, group, setting

_SET_OFFSET = Exempt("the operator Set Offset stores it")


@group(page="goals.html#shapes")
class GoalSettings:
    """The point, line, surface or volume that the tip goes to."""

    subtarget: str = setting(
        StringProperty,
        "Bone",
        "Bone of the target; the tip goes to its head",
        default="",
        page="pose.html#target-and-chain",
        flag="--subtarget",
    )
    shape: str = setting(
        EnumProperty,
        "Shape",
        "Shape of the target; the tip goes to its nearest point",
        items=[
            (
                "AUTO",
                "Automatic",
                "Use the empty's display type: circle, sphere, cube, cone or image; of a mesh the surface; otherwise a "
                "point",
                0,
            ),
            *((name, row.label, row.description, row.number) for name, row in TARGET_SHAPES.items()),
            ("FIELD", "Force Field", "The point, line or plane that the object's force field pulls towards", 10),
            ("SURFACE", "Surface", "The place of a mesh, with its modifiers, nearest to where the tip is animated", 11),
        ],
        default="AUTO",
        flag="--shape",
        per_frame=True,
    )
    surface_offset: float = setting(
        FloatProperty,
        "Clear of Surface",
        "Distance of the tip from the surface, along its normal",
        default=0.0,
        subtype="DISTANCE",
        page="goals.html#surface",
        flag="--surface-offset",
        per_frame=True,
    )
    use_offset: bool = setting(
        BoolProperty,
        "Keep Offset",
        "Keep the tip at the offset from the target that was stored with Set Offset",
        default=False,
        page="goals.html#keep-offset",
        flag=Exempt("an offset is stored in the file"),
        per_frame=True,
    )
    offset_location: Sequence[float] = setting(
        FloatVectorProperty,
        "Offset",
        "Position of the tip in the target's space",
        default=(0.0, 0.0, 0.0),
        subtype="TRANSLATION",
        page="goals.html#keep-offset",
        flag=_SET_OFFSET,
        panel=_SET_OFFSET,
        per_frame=True,
    )
    offset_rotation: Sequence[float] = setting(
        FloatVectorProperty,
        "Rotation",
        "Rotation of the tip in the target's space",
        default=(1.0, 0.0, 0.0, 0.0),
        size=4,
        subtype="QUATERNION",
        page="goals.html#keep-offset",
        flag=_SET_OFFSET,
        panel=_SET_OFFSET,
        per_frame=True,
    )
    influence: float = setting(
        FloatProperty,
        "Influence",
        "Blend from the animated pose (0) to the solved pose (1)",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        page="goals.html#influence",
        flag="--influence",
        per_frame=True,
    )
