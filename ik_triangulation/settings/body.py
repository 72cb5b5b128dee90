# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a whole body, saved on its armature: held tips, hips, balance, and the contacts of its feet."""

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
from bpy.types import Context, Object, PropertyGroup

from .keys import OVERRIDABLE
from .table import Exempt, by_property, group, saved, setting


@group(page="contacts.html#correct-the-list", flags=Exempt("--contacts finds them"))
class ContactSettings:
    """A limb, its support, and the first and last frame of the span in which its tip stays at one place."""

    tip: str = setting(StringProperty, "Limb", "Held limb whose tip is planted, by its last bone", default="")
    frame_start: int = setting(IntProperty, "Start", "First frame at which the tip is planted", default=1)
    frame_end: int = setting(IntProperty, "End", "Last frame at which the tip is planted", default=10)
    support: Object | None = setting(
        PointerProperty,
        "On",
        "Object that the tip is in contact with and goes along with; empty to stay at one place in the world",
        default=None,
        type=Object,
    )
    bone: str = setting(
        StringProperty,
        "Bone",
        "Bone of that armature that the tip goes along with: a thigh, the other hand",
        default="",
    )


def _remember(contact: Any, context: Context) -> None:
    """Remember the name of what a contact is on, which Blender forgets with an object that is deleted."""
    contact.support_name = contact.support.name if contact.support else ""


class IKT_PG_contact(PropertyGroup):
    """A span of frames in which the tip of a held limb is planted."""

    __annotations__ = {
        **saved(ContactSettings, override=OVERRIDABLE),
        "support": by_property(ContactSettings)["support"].as_property(update=_remember, override=OVERRIDABLE),
        "support_name": StringProperty(name="Support Name", options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"}),
    }


@group(page="body.html#hips", flags=Exempt("bake --body has flags of its own"))
class BodySettings:
    """The hips of a body, its balance, its floor, its heels, its head and its thickness."""

    hips: str = setting(
        StringProperty,
        "Hips",
        "Bone of the body that may move; empty for the lowest one above all of its limbs that can",
        default="",
    )
    hips_motion: str = setting(
        EnumProperty,
        "Hips Motion",
        "Motion that the hips may make when the body is solved",
        items=[
            ("FREE", "Free", "Move and rotate the hips", 0),
            ("UP_DOWN", "Up and Down", "Move the hips up and down; they keep their animated rotation", 1),
            ("FIXED", "Fixed", "Keep the animation of the hips", 2),
        ],
        default="FREE",
    )
    balance: bool = setting(
        BoolProperty,
        "Balance",
        "Keep the center of mass, an estimate by names and lengths of bones, above the held tips",
        default=True,
        page="body.html#balance",
    )
    floor: bool = setting(
        BoolProperty,
        "Floor",
        "Keep the body above the horizontal plane under the lower held foot; targets below it are missed",
        default=True,
        page="body.html#floor",
    )
    heels: bool = setting(
        BoolProperty,
        "Lift Heels",
        "Lift the heels of feet that are planted at one place where their ankles would bend too far; their toes stay",
        default=True,
        page="body.html#heels",
    )
    look_at_hands: bool = setting(
        BoolProperty,
        "Look at Hands",
        "Turn a head that looks at nothing, and has no keys made by hand, a part of the way to where hands go",
        default=False,
        page="body.html#look-at-hands",
    )
    swing_arms: bool = setting(
        BoolProperty,
        "Swing Arms",
        "Have arms without a target and without keys made by hand swing against what legs and trunk do, as in a walk",
        default=False,
        page="body.html#swing-arms",
    )
    thickness: float = setting(
        FloatProperty,
        "Thickness",
        "Thickness of trunk, head, thighs and arms beside that of people with bones of their lengths; forearms stay "
        "out of these. At 0 arms pass through the body",
        default=1.0,
        min=0.0,
        soft_max=2.0,
        page="body.html#thickness",
    )


@group(page="contacts.html#correct-the-list", flags=Exempt("bake --contacts finds them"))
class ContactListSettings:
    """The contacts of the held limbs of a body, and how they fade."""

    contacts: Any = setting(
        CollectionProperty,
        "Contacts",
        "Spans of frames in which a held tip is planted at one place",
        default=None,
        type=IKT_PG_contact,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    contact: int = setting(IntProperty, "Contact", "Active contact in the list", default=0)
    contact_fade: int = setting(
        IntProperty,
        "Fade",
        "Frames before and after each contact in which the tip goes over from its animation, and back to it",
        default=8,
        min=0,
        soft_max=30,
    )
