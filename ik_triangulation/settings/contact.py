# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a contact: a span of frames in which a held foot is planted."""

from __future__ import annotations

from bpy.props import IntProperty, StringProperty
from bpy.types import PropertyGroup

from .stop import OVERRIDABLE
from .table import Exempt, group, saved, setting


@group(page="contacts.html#correct-the-list", flags=Exempt("--contacts finds them"))
class ContactSettings:
    """A limb, and the first and last frame of the span in which its tip stays at one place."""

    tip: str = setting(StringProperty, "Limb", "Held limb whose tip is planted, by its last bone", default="")
    frame_start: int = setting(IntProperty, "Start", "First frame at which the tip is planted", default=1)
    frame_end: int = setting(IntProperty, "End", "Last frame at which the tip is planted", default=10)


class IKT_PG_contact(PropertyGroup):
    """A span of frames in which the tip of a held limb is planted."""

    __annotations__ = saved(ContactSettings, override=OVERRIDABLE)
