# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the keys that a bake writes."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .table import Flag, group, setting


@group(page="baking.html#keys")
class KeySettings:
    """The frames that get keys, their interpolation and destination."""

    reduce: bool = setting(
        BoolProperty,
        "Reduce Keys",
        "Remove keys that are not needed, and fit the handles of the others",
        default=False,
        page="baking.html#reduce-keys",
        flag=Flag("--no-reduce", "keep every key"),
    )
    reduce_tolerance: float = setting(
        FloatProperty,
        "Tip Within",
        "Largest distance of the tip from the full bake; 0 for half a percent of the limb's reach",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
        page="baking.html#reduce-keys",
        flag=Flag(
            "--reduce",
            "remove keys as long as the tip stays within this distance of the full bake, in Blender units "
            "(default: half a percent of the limb's reach)",
            more={"nargs": "?", "const": 0.0, "metavar": "DISTANCE"},
        ),
    )
    only_target_keys: bool = setting(
        BoolProperty,
        "Target's Keys",
        "Key the limb only at frames at which the target has a key",
        default=False,
        flag="--only-target-keys",
    )
    destination: str = setting(
        EnumProperty,
        "Write To",
        "Destination of the baked keys; the previous animation is always kept",
        items=[
            ("ACTION", "Active Action", "Merged into the active action, inside the range only", 0),
            ("NEW_ACTION", "New Action", "Merged into a copy of the active action, which replaces it", 1),
            ("NLA_TRACK", "NLA Track", "A separate action on a new NLA track above the others", 2),
        ],
        default="ACTION",
        flag="--destination",
    )
    mark_misses: bool = setting(
        BoolProperty,
        "Mark Misses",
        "Put markers on the timeline at baked frames that miss the target",
        default=False,
        page="baking.html#the-report",
        flag="--mark-misses",
    )
    interpolation: str = setting(
        EnumProperty,
        "Interpolation",
        "Interpolation from each baked key to the next",
        items=[
            ("AUTO", "Automatic", "Linear where every frame is baked, otherwise Bézier", 0),
            ("LINEAR", "Linear", "Straight to the next key", 1),
            ("BEZIER", "Bézier", "Smoothly to the next key", 2),
            ("CONSTANT", "Constant", "Unchanged until the next key: with a step of 2, animation on twos", 3),
        ],
        default="AUTO",
        flag="--interpolation",
    )
