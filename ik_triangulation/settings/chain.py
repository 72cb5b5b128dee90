# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a limb's bones and of the object that it reaches for."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty
from bpy.types import Object

from .table import Exempt, group, setting


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
