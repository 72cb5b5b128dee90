# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a limb's bones, and of what the tip reaches: object, shape, offset, orientation, side of the bend."""

from __future__ import annotations

from collections.abc import Sequence

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

from ..items import SHAPE_ROWS
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
