# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's settings of metric maps, which their operators take as well."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import PropertyGroup, Scene

from .maps.legend import LABELS
from .solvers import SOLVERS

METRICS = [
    (
        "iterations",
        "Iterations",
        "Steps of the solver: the first color is one, the last the most; black is a miss",
    ),
    ("error", LABELS["error"], "What is left between tip and target"),
    ("total_angle", LABELS["total_angle"], "Sum of all turns on the way there"),
    ("travel", LABELS["travel"], "How far the tip moves on the way there"),
    ("turns", LABELS["turns"], "Single turns above 5 degrees"),
    ("reached", LABELS["reached"], "Whether it is reached"),
]
SCALES = [
    ("HUE", "Hue", "From blue to red, as in the source paper"),
    ("VIOLET_YELLOW", "Violet to Yellow", "As much lighter as the value is greater"),
    ("PLUM_CREAM", "Plum to Cream", "As much lighter as the value is greater"),
]


class Shown:
    """What maps of both kinds show, and how."""

    metric: EnumProperty(name="Metric", description="What the colors show", items=METRICS)
    scale: EnumProperty(name="Colors", description="Which colors show it", items=SCALES)
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance that counts as reached, as a share of the reach",
        default=0.01,
        min=1e-5,
        soft_max=0.1,
        precision=4,
    )


class InPlane(Shown):
    """A map in the plane in which the limb is bent."""

    solver: EnumProperty(
        name="Solver",
        description="The method to map",
        items=[(key, s.label, s.description, s.number) for key, s in SOLVERS.items()],
    )
    finish: BoolProperty(name="Finish", description="Polish where the solver alone stops short; takes long")
    size: IntProperty(name="Size", description="Pixels on each side", default=100, min=8, max=1024)
    iterations: IntProperty(name="Iterations", description="Most steps of the solver", default=20, min=1, soft_max=100)


class InSpace(Shown):
    """A map of all places round the limb."""

    resolution: IntProperty(
        name="Resolution",
        description="Places across all that the limb could reach if it had no limits; twice as many take eight times "
        "as long",
        default=16,
        min=2,
        max=128,
        soft_max=48,
    )


SHOWN = tuple(Shown.__annotations__)
IN_PLANE = (*SHOWN, *InPlane.__annotations__)
IN_SPACE = (*SHOWN, *InSpace.__annotations__)


class IKT_PG_map(InPlane, InSpace, PropertyGroup):
    """How to map what limbs reach."""


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_map,))


def register() -> None:
    _register_classes()
    Scene.ik_triangulation_map = PointerProperty(name="IK Triangulation Map", type=IKT_PG_map)


def unregister() -> None:
    del Scene.ik_triangulation_map
    _unregister_classes()
