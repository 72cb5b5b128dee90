# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a joint: the rotations that a bone may make, measured from rest in the bone's own axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from ..items import EULER_ORDERS
from .table import Exempt, group, setting


@group(page="joints.html#the-list-of-joints", flags=Exempt("joints are set up in the file, or by --preset"))
class JointSettings:
    """Limits and stiffness of one bone."""

    source: str = setting(
        EnumProperty,
        "Limits",
        "Source of this bone's joint limits",
        items=[
            (
                "AUTO",
                "Automatic",
                "Blender's IK limits and the bone's Limit Rotation constraints in Local Space, the narrower of both",
                3,
            ),
            (
                "BLENDER",
                "Blender's IK Limits",
                "Locks, limits and stiffness from the bone's Inverse Kinematics panel",
                0,
            ),
            ("OWN", "Custom", "The settings below, with more types of joints than Blender has", 1),
            ("CONSTRAINT", "Limit Rotation", "The bone's Limit Rotation constraint, which works in Local Space", 2),
        ],
        default="AUTO",
    )
    kind: str = setting(
        EnumProperty,
        "Joint",
        "Type of the joint",
        items=[
            ("FREE", "Free", "Any rotation, as in a ball joint", 0),
            ("HINGE", "Hinge", "Rotation about one axis", 1),
            ("EULER", "Euler Limits", "Rotation within a range about each axis", 2),
            ("CONE", "Cone", "Swing up to an angle from rest, twist within a range", 3),
            ("LOCKED", "Locked", "No rotation", 4),
        ],
        default="FREE",
    )
    axis: Sequence[float] = setting(
        FloatVectorProperty,
        "Axis",
        "Hinge axis, in the bone's axes at rest",
        default=(1.0, 0.0, 0.0),
        size=3,
        subtype="XYZ",
    )
    use_limits: bool = setting(
        BoolProperty, "Limit", "Limit the hinge angle, or the twist of a cone joint, to a range", default=True
    )
    lower: float = setting(FloatProperty, "From", "Lower limit of the hinge", default=0.0, subtype="ANGLE")
    upper: float = setting(FloatProperty, "To", "Upper limit of the hinge", default=0.8 * pi, subtype="ANGLE")
    minimum: Sequence[float] = setting(
        FloatVectorProperty,
        "Minimum",
        "Lower limit of the angle about each axis; an axis with equal limits is locked there",
        default=(-pi / 2.0,) * 3,
        size=3,
        subtype="EULER",
        unit="ROTATION",
    )
    maximum: Sequence[float] = setting(
        FloatVectorProperty,
        "Maximum",
        "Upper limit of the angle about each axis",
        default=(pi / 2.0,) * 3,
        size=3,
        subtype="EULER",
        unit="ROTATION",
    )
    order: str = setting(
        EnumProperty,
        "Order",
        "Rotation order that the limits refer to",
        items=[
            ("AUTO", "Default", "The bone's rotation mode; YXZ for a quaternion or axis and angle", 0),
            *((order, f"{order} Euler", "", number) for number, order in enumerate(EULER_ORDERS, 1)),
        ],
        default="AUTO",
    )
    swing: float = setting(
        FloatProperty,
        "Swing",
        "Largest angle between the bone and its direction at rest",
        default=pi / 4.0,
        min=0.0,
        max=pi,
        subtype="ANGLE",
    )
    twist_lower: float = setting(
        FloatProperty, "Twist From", "Lower limit of the twist about the bone", default=-pi / 4.0, subtype="ANGLE"
    )
    twist_upper: float = setting(
        FloatProperty, "Twist To", "Upper limit of the twist about the bone", default=pi / 4.0, subtype="ANGLE"
    )
    frame: Sequence[float] = setting(
        FloatVectorProperty,
        "Frame",
        "Rotation from the bone's axes at rest to those of cone and Euler limits. A preset gives limits in the axes of "
        "the limb: Y leads to the next joint, X is the axis of flexion",
        default=(1.0, 0.0, 0.0, 0.0),
        size=4,
        subtype="QUATERNION",
        panel=Exempt("a preset sets it from the limb"),
    )
    stiffness: float = setting(
        FloatProperty,
        "Stiffness",
        "Resistance of the bone to rotation; other bones rotate instead",
        default=0.0,
        min=0.0,
        max=0.99,
        subtype="FACTOR",
    )
    mass: float = setting(
        FloatProperty,
        "Mass",
        "Mass of the bone in relation to its length; Gravity lowers heavy bones first",
        default=1.0,
        min=0.01,
        soft_max=10.0,
        page="posture.html#comfort",
    )
