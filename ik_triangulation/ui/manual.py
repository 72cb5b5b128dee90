# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual: a button that opens it, and the page for each *Online Manual* entry of Blender's menus."""

import bpy
from bpy.types import Context, Operator

from ..maps.properties import MAP_TABLE
from ..settings import TABLE
from .manual_files import prepare

WEB = ""  # address of the manual on the web, ending in "/", once it has one; until then its files are opened

# Blender uses the first pattern that matches; it looks up these names in lower case.
_TYPE, _OPERATOR = "bpy.types.", "bpy.ops.pose.ik_triangulation_"
_SETTINGS = tuple(
    (f"{_TYPE}{kind.__name__}.{name}".lower(), row.page)
    for kind, rows in (TABLE | MAP_TABLE).items()
    for name, row in rows.items()
)
MAPPING = (
    *_SETTINGS,
    (_TYPE + "ikt_pg_lists.joint*", "joints.html#the-list-of-joints"),
    (_TYPE + "ikt_pg_duel*", "compare.html#compare-solvers"),
    (_TYPE + "ikt_pg_overlay*", "pose.html#overlay"),
    (_TYPE + "ikt_pg_*", "pose.html#add-a-limb"),
    (_OPERATOR + "stop*", "reach.html#stops"),
    (_OPERATOR + "solve*", "pose.html#solve-once"),
    (_OPERATOR + "live*", "pose.html#live"),
    (_OPERATOR + "duel*", "compare.html#compare-solvers"),
    (_OPERATOR + "map*", "compare.html#metric-maps"),
    (_OPERATOR + "show_reach", "compare.html#show-reach"),
    (_OPERATOR + "joint*", "joints.html#tools"),
    (_OPERATOR + "preset*", "joints.html#presets"),
    (_OPERATOR + "offset*", "goals.html#keep-offset"),
    (_OPERATOR + "reach*", "reach.html#settings"),
    (_OPERATOR + "bake_all*", "several_limbs.html#bake-all"),
    (_OPERATOR + "rebake*", "baking.html#bake-again"),
    (_OPERATOR + "*bake*", "baking.html#bake"),
    (_OPERATOR + "follow*", "rigs.html#the-switch"),
    (_OPERATOR + "generated*", "baking.html#delete-generated-keys"),
    (_OPERATOR + "body*", "body.html#set-up-a-body"),
    (_OPERATOR + "contacts_find", "contacts.html#find-contacts"),
    (_OPERATOR + "contact*", "contacts.html#correct-the-list"),
    (_OPERATOR + "limb*", "pose.html#add-a-limb"),
    (_OPERATOR + "target_move", "pose.html#drag-the-target"),
    (_OPERATOR + "target_rotate", "pose.html#drag-the-target"),
    (_OPERATOR + "target*", "pose.html#add-a-limb"),
    ("bpy.ops.wm.ik_triangulation_*", ""),
)


def urls() -> dict[str, str]:
    """Return the URL of each link of MAPPING, and that of the start page for "". Writes the files that they need.

    The result is empty if the manual is not there. Raises OSError if the files cannot be written.
    """
    links = {link for _, link in MAPPING}
    return {link: WEB + link for link in ("", *links)} if WEB else prepare(tuple(sorted(links)))


def address() -> str:
    """Return the URL of the manual's start page; empty if the manual is not there. Raises OSError as urls() does."""
    return urls().get("", "")


def manual_map() -> tuple[str, list[tuple[str, str]]]:
    """Return a URL prefix and (pattern, rest of the URL) pairs, as bpy.utils.register_manual_map() expects them."""
    found = urls()
    return "", [(pattern, found[link]) for pattern, link in MAPPING if link in found]


class WM_OT_ik_triangulation_manual(Operator):
    bl_idname = "wm.ik_triangulation_manual"
    bl_label = "IK Triangulation Manual"
    bl_description = "Open the manual in the web browser"

    def execute(self, context: Context) -> set[str]:
        try:
            url = address()
        except OSError as error:
            self.report({"ERROR"}, f"IK Triangulation: The manual cannot be prepared: {error}")
            return {"CANCELLED"}
        if not url:
            self.report({"ERROR"}, "IK Triangulation: This installation has no manual. Install the extension's zip.")
            return {"CANCELLED"}
        return bpy.ops.wm.url_open(url=url)


def register() -> None:
    bpy.utils.register_class(WM_OT_ik_triangulation_manual)
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
    bpy.utils.unregister_class(WM_OT_ik_triangulation_manual)
