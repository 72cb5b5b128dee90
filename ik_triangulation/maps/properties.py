# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of maps, saved with the scene; the map operators have the same properties."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import PropertyGroup, Scene

from ..settings import SOLVER_ITEMS, Flag, by_property, group, saved, setting, settings_of

LABELS = {
    "iterations": "Steps",
    "error": "Distance",
    "total_angle": "Total Angle",
    "travel": "Travel",
    "turns": "Turns",
    "reached": "Reached",
}
METRIC_ITEMS = [
    ("iterations", "Steps", "Steps of the solver, from one to the maximum; missed targets are black"),
    ("error", LABELS["error"], "Remaining distance between tip and target"),
    ("total_angle", LABELS["total_angle"], "Sum of all joint rotations"),
    ("travel", LABELS["travel"], "Path length of the tip"),
    ("turns", LABELS["turns"], "Number of rotations above 5 degrees"),
    ("reached", LABELS["reached"], "Reached or missed"),
]
SCALE_ITEMS = [
    ("HUE", "Hue", "From blue to red, as in the source paper"),
    ("VIOLET_YELLOW", "Violet to Yellow", "Lighter colors for larger values"),
    ("PLUM_CREAM", "Plum to Cream", "Lighter colors for larger values"),
]
_PAGE = "compare.html#metric-maps"
_FILE_SIZES = (1, 4096)  # sizes of maps written to files, which may be larger than in a viewport


@group(page=_PAGE)
class MapSettings:
    """Settings of both kinds of map: metric, colors, tolerance."""

    metric: str = setting(
        EnumProperty, "Metric", "Value that the colors show", items=METRIC_ITEMS, default="iterations", flag="--metric"
    )
    scale: str = setting(
        EnumProperty, "Colors", "Color scale of the map", items=SCALE_ITEMS, default="HUE", flag="--scale"
    )
    tolerance: float = setting(
        FloatProperty,
        "Reached Within",
        "Largest distance from the target that counts as reached, as a share of the limb's reach",
        default=0.01,
        min=1e-5,
        soft_max=0.1,
        precision=4,
        flag="--tolerance",
    )


@group(page=_PAGE)
class PlaneMapSettings(MapSettings):
    """Settings of a map in the plane in which the limb is bent."""

    solver: str = setting(
        EnumProperty, "Solver", "Method to map", items=SOLVER_ITEMS, default="TRIANGULATION", flag="--solver"
    )
    finish: bool = setting(
        BoolProperty,
        "Refine Result",
        "Bring the tip closer where the solver alone does not reach the target",
        default=True,
        flag=Flag("--no-finish", "use the solver alone, do not refine its result"),
    )
    contours: int = setting(
        IntProperty,
        "Contour Lines",
        "Number of contour lines between the lowest and the highest value of the colors",
        default=0,
        min=0,
        max=100,
        soft_max=20,
        flag="--contours",
    )
    size: int = setting(
        IntProperty,
        "Size",
        "Width and height of the image in pixels",
        default=100,
        min=8,
        max=1024,
        flag=Flag("--size", range=_FILE_SIZES),
    )
    iterations: int = setting(
        IntProperty,
        "Maximum Steps",
        "Largest number of steps that the solver takes",
        default=20,
        min=1,
        soft_max=100,
        flag="--iterations",
    )


@group(page=_PAGE)
class SpaceMapSettings(MapSettings):
    """Settings of a map of the space around the limb."""

    resolution: int = setting(
        IntProperty,
        "Resolution",
        "Grid points across the limb's reach; twice as many take eight times as long",
        default=16,
        min=2,
        max=128,
        soft_max=48,
        flag=Flag("--resolution", range=_FILE_SIZES),
    )


IN_PLANE, IN_SPACE = tuple(settings_of(PlaneMapSettings)), tuple(settings_of(SpaceMapSettings))


class IKT_PG_map(PropertyGroup):
    """Settings of the maps of this scene."""

    __annotations__ = saved(PlaneMapSettings, SpaceMapSettings)


# The saved settings by the names of their properties, as in settings.TABLE.
MAP_TABLE = {IKT_PG_map: by_property(PlaneMapSettings, SpaceMapSettings)}


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_map,))


def register() -> None:
    _register_classes()
    Scene.ik_triangulation_map = PointerProperty(name="IK Triangulation Map", type=IKT_PG_map)


def unregister() -> None:
    del Scene.ik_triangulation_map
    _unregister_classes()
