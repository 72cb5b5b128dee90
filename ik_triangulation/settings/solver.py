# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the solver and of posture: method, tolerances, calm motion, comfort, obstacles."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi, radians

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import Collection

from ..items import SOLVER_ROWS, WHOLE_SOLVERS
from .table import Flag, group, setting

_FOR_ANIMATORS = ("NATURAL", "CIRCULAR", "TWO_BONE")


def _items(names: Iterable[str]) -> list[tuple[str, str, str, int]]:
    rows = [(name, SOLVER_ROWS[name]) for name in names]
    return [(name, row.label, row.description, row.number) for name, row in rows]


# In the menu the published methods are under a heading of their own.
SOLVER_ITEMS = [
    *_items(_FOR_ANIMATORS),
    ("", "Published Methods", "", 0),
    *_items(name for name in SOLVER_ROWS if name not in _FOR_ANIMATORS),
]


@group(page="solvers.html#choose-a-solver")
class MethodSettings:
    """The method that rotates the bones, and when it ends."""

    solver: str = setting(
        EnumProperty,
        "Solver",
        "Method that rotates the bones",
        items=SOLVER_ITEMS,
        default="NATURAL",
        flag="--solver",
        preset=True,
    )
    tolerance: float = setting(
        FloatProperty,
        "Reached Within",
        "Largest distance from the target that counts as reached",
        default=1e-3,
        min=1e-6,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
        page="goals.html#reached",
        flag="--tolerance",
        per_frame=True,
    )
    angle_tolerance: float = setting(
        FloatProperty,
        "Angle Within",
        "Largest difference from the wanted orientation that counts as reached",
        default=radians(1.0),
        min=0.0,
        max=pi,
        soft_max=radians(30.0),
        subtype="ANGLE",
        page="goals.html#reached",
        flag="--angle-tolerance",
        per_frame=True,
    )
    iterations: int = setting(
        IntProperty,
        "Maximum Steps",
        "Largest number of steps that the solver takes per frame",
        default=100,
        min=1,
        soft_max=1000,
        page="solvers.html#refine-result",
        flag="--iterations",
        preset=True,
    )
    finish: bool = setting(
        BoolProperty,
        "Refine Result",
        "Bring the tip closer where the solver alone stops short of the target; Natural always does",
        default=True,
        page="solvers.html#refine-result",
        flag=Flag("--no-finish", "use a published method alone, do not refine its result"),
        preset=True,
    )
    seed: int = setting(
        IntProperty,
        "Variation",
        "Another number tries other poses where the first search does not reach the target",
        default=0,
        min=0,
        page="solvers.html#refine-result",
        flag="--seed",
    )

    @property
    def refines(self) -> bool:
        """True if results are refined: by choice with a published method, always with one that solves a whole goal."""
        return self.finish or self.solver in WHOLE_SOLVERS


_COMFORT, _OBSTACLES = "posture.html#comfort", "posture.html#obstacles"
_PUBLISHED = "solvers.html#options-of-the-published-methods"


@group(page="posture.html#the-pose-you-made-by-hand")
class PostureSettings:
    """The use of the freedom that goals and limits leave, at each frame and over all frames."""

    smoothing: float = setting(
        FloatProperty,
        "Smoothing",
        "Smooth the joint rotations of a bake over time; the tip stays at its target",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        page="posture.html#smoothing",
        flag="--smoothing",
        preset=True,
    )
    soft_edge: bool = setting(
        BoolProperty,
        "Soft Edge",
        "Straighten and bend over some frames where the target is out of reach, which then is missed by a little more; "
        "frames within reach are met all the same",
        default=True,
        page="posture.html#soft-edge",
        flag=Flag("--no-soft-edge", "straighten a limb at once where its target is out of reach"),
        preset=True,
    )
    effort_weight: float = setting(
        FloatProperty,
        "Gravity",
        "Let the limb hang: the strength with which its own weight pulls elbow or knee down",
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
        "Keep Pose",
        "Importance of staying near the pose chosen below",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        page=_COMFORT,
        flag=Flag("--rest-weight", "importance of staying near the pose that --rest-pose names"),
        per_frame=True,
        preset=True,
    )
    rest_pose: str = setting(
        EnumProperty,
        "Pose to Keep",
        "Pose that the joints stay near",
        items=[
            ("REST", "Rest Pose", "The armature's rest pose", 0),
            ("START", "Current Pose", "The limb's pose when it is solved, or at the first frame of a bake", 1),
        ],
        default="REST",
        page=_COMFORT,
        flag="--rest-pose",
        per_frame=True,
    )
    obstacles: Collection | None = setting(
        PointerProperty,
        "Obstacles",
        "Collection of objects that the limb avoids: meshes by their bounding boxes, empties by their display type",
        default=None,
        type=Collection,
        page=_OBSTACLES,
        flag=Flag(
            "--obstacles",
            "collection of objects that the limb avoids, '' for none",
            more={"metavar": "COLLECTION"},
        ),
    )
    obstacle_margin: float = setting(
        FloatProperty,
        "Clearance",
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
        "Importance of avoiding the obstacles compared with the other preferences",
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
        "Pose from which each frame is solved; published methods only",
        items=[
            (
                "PREVIOUS",
                "Previous Frame",
                "The solution of the previous frame; the first frame starts from its own pose",
                0,
            ),
            ("ANIMATED", "Animated Pose", "The limb's keyed pose at that frame", 1),
            ("REST", "Rest Pose", "The armature's rest pose; frames do not depend on each other", 2),
        ],
        default="PREVIOUS",
        page=_PUBLISHED,
        flag="--start-from",
        preset=True,
    )
    smooth: bool = setting(
        BoolProperty,
        "Remove Jumps",
        "Solve anew the frames of a bake around which joints jump; others stay as solved; needs Refine Result",
        default=True,
        page=_PUBLISHED,
        flag=Flag("--no-smooth", "do not remove joint jumps"),
        preset=True,
    )
