# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of posture: calm motion, comfort and obstacles, and for the published methods the way through the frames."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty
from bpy.types import Collection

from .table import Flag, group, setting

_COMFORT, _OBSTACLES = "posture.html#comfort", "posture.html#obstacles"
_PUBLISHED = "solvers.html#options-of-the-published-methods"


@group(page="posture.html#the-pose-you-made-by-hand")
class PostureSettings:
    """The use of the freedom that goals and limits leave, at each frame and over all frames."""

    smoothing: float = setting(
        FloatProperty,
        "Smoothing",
        "Strength of smoothing the joint rotations of a bake, within the tolerance",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        page="posture.html#smoothing",
        flag="--smoothing",
        preset=True,
    )
    effort_weight: float = setting(
        FloatProperty,
        "Low Effort",
        "Importance of keeping the limb's center of gravity low",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        page=_COMFORT,
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
        page=_COMFORT,
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
        page=_COMFORT,
        flag="--rest-pose",
        per_frame=True,
    )
    obstacles: Collection | None = setting(
        PointerProperty,
        "Obstacles",
        "Collection of objects for the limb to avoid: meshes by their bounding boxes, empties as displayed",
        default=None,
        type=Collection,
        page=_OBSTACLES,
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
        page=_OBSTACLES,
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
        page=_OBSTACLES,
        flag="--obstacle-weight",
        per_frame=True,
    )
    start_from: str = setting(
        EnumProperty,
        "Start From",
        "Pose from which a published method solves each frame; Natural has no use for it",
        items=[
            ("PREVIOUS", "Frame Before", "The solution of the frame before; the first starts from its own pose", 0),
            ("ANIMATED", "Animated Pose", "The limb's keyed pose at that frame", 1),
            ("REST", "Rest Pose", "The armature's rest pose, so that a frame does not depend on others", 2),
        ],
        default="PREVIOUS",
        page=_PUBLISHED,
        flag="--start-from",
        preset=True,
    )
    smooth: bool = setting(
        BoolProperty,
        "No Jumps",
        "Solve all frames of a bake together, as Natural always does, so that joints do not jump; needs Finish",
        default=True,
        page=_PUBLISHED,
        flag=Flag("--no-smooth", "do not remove joint jumps"),
        preset=True,
    )
