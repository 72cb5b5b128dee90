# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages of the manual for Blender's *Online Manual* menu entry. The pages ship with the extension."""

from pathlib import Path

import bpy

from ..maps.properties import MAP_TABLE
from ..settings import TABLE

PAGES = Path(__file__).resolve().parents[1] / "pages"

# Blender uses the first pattern that matches; it looks up these names in lower case.
_TYPE, _OPERATOR = "bpy.types.", "bpy.ops.pose.ik_triangulation_"
_SETTINGS = tuple(
    (f"{_TYPE}{kind.__name__}.{name}".lower(), row.page)
    for kind, rows in (TABLE | MAP_TABLE).items()
    for name, row in rows.items()
)
MAPPING = (
    *_SETTINGS,
    (_TYPE + "ikt_pg_lists.joint*", "sidebar.html#joints"),
    (_TYPE + "ikt_pg_duel*", "sidebar.html#solver-duel"),
    (_TYPE + "ikt_pg_overlay*", "sidebar.html#overlay"),
    (_TYPE + "ikt_pg_*", "sidebar.html#limbs"),
    ("bpy.ops.wm.ik_triangulation_*", "baking.html"),
    (_OPERATOR + "stop*", "baking.html#reach"),
    (_OPERATOR + "solve*", "first_bake.html"),
    (_OPERATOR + "live*", "sidebar.html#live"),
    (_OPERATOR + "duel*", "sidebar.html#solver-duel"),
    (_OPERATOR + "map*", "solvers.html#metric-maps"),
    (_OPERATOR + "show_reach", "solvers.html#what-a-limb-reaches"),
    (_OPERATOR + "joint*", "joints.html"),
    (_OPERATOR + "preset*", "joints.html"),
    (_OPERATOR + "offset*", "goals.html"),
    (_OPERATOR + "reach*", "baking.html#reach"),
    (_OPERATOR + "*bake*", "baking.html"),
    (_OPERATOR + "follow*", "baking.html#rigs-with-ik-and-fk"),
    (_OPERATOR + "generated*", "baking.html#keys"),
    (_OPERATOR + "limb*", "sidebar.html#limbs"),
    (_OPERATOR + "target*", "sidebar.html#limbs"),
)


def address(page: str = "first_bake.html") -> str:
    """Return the URL of a page."""
    return f"{PAGES.as_uri()}/{page}"


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the URL prefix and the (pattern, page) pairs, as bpy.utils.register_manual_map() expects them."""
    return address(""), MAPPING


def register() -> None:
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
