# SPDX-License-Identifier: GPL-3.0-or-later
"""Which page of the manual Blender's *Online Manual* opens for what. The pages ship with the extension."""

from pathlib import Path

import bpy

PAGES = Path(__file__).parent / "pages"

# The first pattern that fits counts; Blender knows things by these names, in small letters.
_LIMB, _OPERATOR = "bpy.types.ikt_pg_limb.", "bpy.ops.pose.ik_triangulation_"
MAPPING = (
    *(
        (_LIMB + name, "sidebar.html#limbs")
        for name in ("target", "subtarget", "chain_count", "use_selected", "enabled")
    ),
    *(
        (_LIMB + name, "solvers.html")
        for name in ("solver", "tolerance", "angle_tolerance", "iterations", "finish", "seed")
    ),
    (_LIMB + "reach_*", "baking.html#reach"),
    *((_LIMB + name, "baking.html#smoothness") for name in ("start_from", "smooth*")),
    *(
        (_LIMB + name, "baking.html#keys")
        for name in ("destination", "interpolation", "only_target_keys", "mark_misses", "reduce*")
    ),
    *((_LIMB + name, "baking.html") for name in ("use_scene_range", "frame_*", "step")),
    (_LIMB + "*", "goals.html"),
    ("bpy.types.ikt_pg_stop*", "baking.html#reach"),
    (_OPERATOR + "stop*", "baking.html#reach"),
    ("bpy.types.ikt_pg_joint*", "joints.html"),
    ("bpy.types.ikt_pg_lists.joint*", "sidebar.html#joints"),
    ("bpy.types.ikt_pg_map*", "solvers.html#metric-maps"),
    ("bpy.types.ikt_pg_duel*", "sidebar.html#solver-duel"),
    ("bpy.types.ikt_pg_overlay*", "sidebar.html#overlay"),
    ("bpy.types.ikt_pg_*", "sidebar.html"),
    (_OPERATOR + "solve*", "first_bake.html"),
    (_OPERATOR + "live*", "sidebar.html#live"),
    (_OPERATOR + "duel*", "sidebar.html#solver-duel"),
    (_OPERATOR + "map*", "solvers.html#metric-maps"),
    (_OPERATOR + "joint*", "joints.html"),
    (_OPERATOR + "preset*", "joints.html"),
    (_OPERATOR + "offset*", "goals.html"),
    (_OPERATOR + "reach*", "baking.html#reach"),
    (_OPERATOR + "*bake*", "baking.html"),
    (_OPERATOR + "follow*", "baking.html#rigs-with-ik-and-fk"),
    (_OPERATOR + "generated*", "baking.html#keys"),
    (_OPERATOR + "*", "sidebar.html#limbs"),
)


def address(page: str = "first_bake.html") -> str:
    """Where a browser finds a page."""
    return f"{PAGES.as_uri()}/{page}"


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The start of all addresses, and what follows it for which name; as bpy.utils.register_manual_map() wants it."""
    return address(""), MAPPING


def register() -> None:
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
