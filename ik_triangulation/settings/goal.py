# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a limb's bones and joints, and of what the tip reaches: object, shape, orientation, side of the bend.

Rotations that a bone may make are measured from rest in the bone's own axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object

from ..items import EULER_ORDERS, SHAPE_ROWS
from .table import Exempt, Flag, group, setting


@group(page="pose.html#target-and-chain")
class ChainSettings:
    """The bones of a limb and its target."""

    enabled: bool = setting(
        BoolProperty,
        "In Bake All",
        "Include this limb when all limbs are baked",
        default=True,
        flag=Exempt("--all bakes the enabled limbs, --tip names any"),
    )
    target: Object | None = setting(
        PointerProperty,
        "Target",
        "Object that the tip of the limb reaches for",
        default=None,
        type=Object,
        flag="--target",
    )
    chain_count: int = setting(
        IntProperty,
        "Chain Length",
        "Number of bones in the limb, counted up from its tip; 0 for all up to the root",
        default=3,
        min=0,
        soft_max=32,
        flag="--chain-length",
    )
    body_part: str = setting(
        EnumProperty,
        "Part of the Body",
        "Part of a body that the limb was recognized as when it was added",
        items=[
            ("NONE", "Limb", "Not recognized", 0),
            ("ARM", "Human Arm", "Upper arm and forearm, with or without the hand", 1),
            ("LEG", "Human Leg", "Thigh and shin, with or without the foot", 2),
            ("FINGER", "Finger", "Bones of a finger or thumb", 3),
            ("SPINE", "Spine", "Bones from the hips to the chest", 4),
            ("NECK", "Neck and Head", "Bones from the chest to the head", 5),
            ("TAIL", "Tail", "Bones of a tail", 6),
            ("WING", "Wing", "Bones of a wing", 7),
            ("FIN", "Fin", "Bones of a fin", 8),
        ],
        default="NONE",
        flag=Exempt("+ recognizes it"),
        panel=Exempt("the list of limbs shows it"),
    )
    hold: bool = setting(
        BoolProperty,
        "Hold in Place",
        "Keep the tip in place, position and rotation, while the hips move and other limbs of the body reach",
        default=False,
        page="body.html#held-tips",
        flag=Exempt("--hold of bake names the tips"),
    )
    hold_where: str = setting(
        EnumProperty,
        "Hold Where",
        "Place at which a held tip stays",
        items=[
            ("AUTO", "Automatic", "At one place as long as nothing animates the limb, otherwise as animated", 0),
            ("PLACE", "At One Place", "Place and rotation of the scene's first frame, for the whole shot", 1),
            ("ANIMATION", "As Animated", "Place and rotation that the animation has at each frame", 2),
        ],
        default="AUTO",
        page="body.html#held-tips",
        flag=Exempt("the file says it of each tip that --hold names"),
    )
    use_selected: bool = setting(
        BoolProperty,
        "Only Selected Bones",
        "Rotate only the selected bones of the limb; the bones between them keep their pose",
        default=False,
        flag=Exempt("--bones names the bones"),
    )


_SET_OFFSET = Exempt("the operator Set Offset stores it")

LOOK_AXES = "X", "-X", "Y", "-Y", "Z", "-Z"


@group(page="goals.html#shapes")
class GoalSettings:
    """The point, line, surface or volume that the tip goes to."""

    subtarget: str = setting(
        StringProperty,
        "Bone",
        "Bone of the target; the tip goes to its head, or is placed as this bone with Match",
        default="",
        page="pose.html#target-and-chain",
        flag="--subtarget",
    )
    match: str = setting(
        EnumProperty,
        "Match",
        "Part of the limb that goes to the head of the target's bone",
        items=[
            (
                "AUTO",
                "Automatic",
                "Match the last bone with one that corresponds to it, its control or the same part of another "
                "character, head to head and turned alike; any other bone is a target for the tip",
                0,
            ),
            ("TIP", "Tip to Target", "Bring the end of the limb to the head of the bone", 1),
            ("BONE", "Bone to Bone", "Bring the last bone's head to the head of the bone, and turn it alike", 2),
        ],
        default="AUTO",
        page="goals.html#match",
        flag="--match",
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
            *((name, row.label, row.description, row.number) for name, row in SHAPE_ROWS.items()),
            ("FIELD", "Force Field", "The point, line or plane that the object's force field pulls towards", 10),
            ("SURFACE", "Surface", "The place of a mesh, with its modifiers, nearest to where the tip is animated", 11),
            (
                "FLOW",
                "Flow",
                "Nowhere in particular: the tip goes along the object's force field, from where it is at the first "
                "frame, at its own speed",
                14,
            ),
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
    flow_speed: float = setting(
        FloatProperty,
        "Tip Speed",
        "Speed at which the tip follows a force field of full strength, in Blender units a second",
        default=0.5,
        min=1e-4,
        soft_max=10.0,
        unit="VELOCITY",
        page="goals.html#flow",
        flag="--flow-speed",
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


@group(page="goals.html#orientation")
class BendSettings:
    """Orientation and pole: preferences that use the freedom which reaching and the joint limits leave."""

    orientation: str = setting(
        EnumProperty,
        "Orientation",
        "Rotation of the tip, as far as the joint limits allow while the target is reached",
        items=[
            (
                "AUTO",
                "Automatic",
                "Match a target that is a bone or an empty displayed as arrows, "
                "point along an empty displayed as a single arrow; otherwise free. The empty of a hand counts once "
                "it is turned: a hand whose target is only moved stays natural to its forearm",
                0,
            ),
            ("NONE", "Free", "Any rotation of the tip", 1),
            ("DIRECTION", "Point Along Z", "Point along the target's Z axis, or along its bone", 2),
            ("FULL", "Match Target", "Rotate with the target", 3),
            ("LOOK", "Look At", "Turn towards the target instead of reaching it, as a head or an eye does", 4),
        ],
        default="AUTO",
        flag="--orientation",
        per_frame=True,
    )
    look_axis: str = setting(
        EnumProperty,
        "Looks Along",
        "Axis of the last bone that points at the target with Look At",
        items=[
            ("AUTO", "Automatic", "The bone if it points forwards at rest, as an eye; else what faces forwards", 0),
            *((axis, axis, f"The bone's {axis} axis", number) for number, axis in enumerate(LOOK_AXES, 1)),
        ],
        default="AUTO",
        page="goals.html#look-at",
        flag=Flag("--look-axis", "axis of the last bone that points at the target with --orientation LOOK, as in =-Z"),
    )
    orient_weight: float = setting(
        FloatProperty,
        "Weight",
        "Importance of the orientation compared with the other preferences; where limits keep a hand or foot from "
        "turning calmly with its target, more weight turns it more closely",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        flag="--orient-weight",
        per_frame=True,
    )
    pole_target: Object | None = setting(
        PointerProperty,
        "Pole Target",
        "Object that the elbow or knee points at",
        default=None,
        type=Object,
        page="goals.html#pole",
        flag=Flag("--pole-target", "object that the elbow or knee points at, '' for none"),
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
        "Angle by which the elbow or knee is turned away from the pole target",
        default=0.0,
        subtype="ANGLE",
        page="goals.html#pole",
        flag="--pole-angle",
        per_frame=True,
    )
    pole_weight: float = setting(
        FloatProperty,
        "Weight",
        "Importance of the pole target compared with the other preferences",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        page="goals.html#pole",
        flag="--pole-weight",
        per_frame=True,
    )


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
