# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's settings of metric maps, which their operators take as well."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import PropertyGroup, Scene

from ..settings import SOLVER_ITEMS, Flag, by_property, group, saved, setting, settings_of
from .legend import LABELS

METRIC_ITEMS = [
    ("iterations", "Iterations", "Solver iterations: the first color is one, the last the maximum; black is a miss"),
    ("error", LABELS["error"], "Remaining distance between tip and target"),
    ("total_angle", LABELS["total_angle"], "Sum of all rotations on the way there"),
    ("travel", LABELS["travel"], "Distance that the tip travels on the way there"),
    ("turns", LABELS["turns"], "Number of rotations above 5 degrees"),
    ("reached", LABELS["reached"], "Reached or missed"),
]
SCALE_ITEMS = [
    ("HUE", "Hue", "From blue to red, as in the source paper"),
    ("VIOLET_YELLOW", "Violet to Yellow", "Lighter for greater values"),
    ("PLUM_CREAM", "Plum to Cream", "Lighter for greater values"),
]
PAGE = "solvers.html#metric-maps"
FILE = (1, 4096)  # sizes of maps that are written to files, which take more than a viewport does


@group(page=PAGE)
class MapSettings:
    """The value that maps of both kinds show, and its colors."""

    metric: str = setting(
        EnumProperty, "Metric", "Value that the colors show", items=METRIC_ITEMS, default="iterations", flag="--metric"
    )
    scale: str = setting(
        EnumProperty, "Colors", "Color scale of the map", items=SCALE_ITEMS, default="HUE", flag="--scale"
    )
    tolerance: float = setting(
        FloatProperty,
        "Tolerance",
        "Largest distance from the target that counts as reached, as a share of the limb's reach",
        default=0.01,
        min=1e-5,
        soft_max=0.1,
        precision=4,
        flag="--tolerance",
    )


@group(page=PAGE)
class PlaneMapSettings(MapSettings):
    """A map in the plane in which the limb is bent."""

    solver: str = setting(
        EnumProperty, "Solver", "Method to map", items=SOLVER_ITEMS, default="TRIANGULATION", flag="--solver"
    )
    finish: bool = setting(
        BoolProperty,
        "Finish",
        "Refine the solution where the solver alone stops short of the target; takes long",
        default=False,
        flag="--finish",
    )
    size: int = setting(
        IntProperty,
        "Size",
        "Width and height of the image in pixels",
        default=100,
        min=8,
        max=1024,
        flag=Flag("--size", range=FILE),
    )
    iterations: int = setting(
        IntProperty,
        "Iterations",
        "Maximum number of solver iterations",
        default=20,
        min=1,
        soft_max=100,
        flag="--iterations",
    )


@group(page=PAGE)
class SpaceMapSettings(MapSettings):
    """A map of the whole space around the limb."""

    resolution: int = setting(
        IntProperty,
        "Resolution",
        "Grid points across all that the limb could reach without limits; twice as many take eight times as long",
        default=16,
        min=2,
        max=128,
        soft_max=48,
        flag=Flag("--resolution", range=FILE),
    )


IN_PLANE, IN_SPACE = tuple(settings_of(PlaneMapSettings)), tuple(settings_of(SpaceMapSettings))


class IKT_PG_map(PropertyGroup):
    """Settings of the maps of this scene."""

    __annotations__ = saved(PlaneMapSettings, SpaceMapSettings)


# The settings that the property group saves, by the names of its properties; as in `settings`.
MAP_TABLE = {IKT_PG_map: by_property(PlaneMapSettings, SpaceMapSettings)}


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_map,))


def register() -> None:
    _register_classes()
    Scene.ik_triangulation_map = PointerProperty(name="IK Triangulation Map", type=IKT_PG_map)


def unregister() -> None:
    del Scene.ik_triangulation_map
    _unregister_classes()
