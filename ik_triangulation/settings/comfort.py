# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a comfortable pose: low effort, nearness to a known pose, obstacles."""

from __future__ import annotations

from bpy.props import EnumProperty, FloatProperty, PointerProperty
from bpy.types import Collection

from .table import Flag, group, setting


@group(page="goals.html#comfort")
class ComfortSettings:
    """Preferences about the pose of the whole limb."""

    effort_weight: float = setting(
        FloatProperty,
        "Low Effort",
        "Importance of keeping the limb's center of gravity low",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        flag="--effort-weight",
        per_frame=True,
        preset=True,
    )
    rest_weight: float = setting(
        FloatProperty,
        "Comfort",
        "Importance of keeping the joints near the pose chosen below",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        flag=Flag("--rest-weight", "importance of keeping the joints near the pose that --rest-pose chooses"),
        per_frame=True,
        preset=True,
    )
    rest_pose: str = setting(
        EnumProperty,
        "Near",
        "Pose for the joints to stay near",
        items=[
            ("REST", "Rest Pose", "The armature's rest pose", 0),
            ("START", "Present Pose", "The limb's pose when it is solved, or at the first frame of a bake", 1),
        ],
        default="REST",
        flag="--rest-pose",
        per_frame=True,
    )
    obstacles: Collection | None = setting(
        PointerProperty,
        "Obstacles",
        "Collection of objects for the limb to avoid: meshes by their bounding boxes, empties as displayed",
        default=None,
        type=Collection,
        flag=Flag(
            "--obstacles",
            "collection of objects for the limb to avoid, '' for none",
            more={"metavar": "COLLECTION"},
        ),
    )
    obstacle_margin: float = setting(
        FloatProperty,
        "Margin",
        "Distance to keep from the obstacles",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        subtype="DISTANCE",
        flag="--obstacle-margin",
        per_frame=True,
    )
    obstacle_weight: float = setting(
        FloatProperty,
        "Weight",
        "Importance of avoiding the obstacles relative to the other preferences",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        flag="--obstacle-weight",
        per_frame=True,
    )
