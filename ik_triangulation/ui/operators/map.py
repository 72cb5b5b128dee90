# SPDX-License-Identifier: GPL-3.0-or-later
"""Map and Reach in Space: what it takes the limb to reach each place round it, shown where these places are."""

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.types import Context, Operator

from ...cooperative import Job
from ...maps.in_scene import Mapped, map_in_scene, volume_in_scene
from ...maps.properties import IN_PLANE, IN_SPACE, PlaneMapSettings, SpaceMapSettings
from ...settings import given
from ..context import active_armature, active_bone, active_chain
from .job import JobOperator

_MAPPING = "Mapping", "Map cancelled, nothing was changed"  # doing and stopped of a JobOperator


def _settings(operator: Operator, context: Context, names: Sequence[str]) -> dict[str, Any]:
    """Values of these properties of the operator; those not given are the scene's."""
    saved = context.scene.ik_triangulation_map
    for name in names:  # they then show where the operator can be adjusted
        if not operator.properties.is_property_set(name):
            setattr(operator, name, getattr(saved, name))
    return {name: getattr(operator, name) for name in names}


class POSE_OT_ik_triangulation_map(JobOperator):
    bl_idname = "pose.ik_triangulation_map"
    bl_label = "Map"
    bl_description = "Show what it takes to reach each place round the limb as an image in the plane it is bent in"

    __annotations__ = given(PlaneMapSettings)

    doing, stopped = _MAPPING
    parts = "rows"

    def job(self, context: Context, seconds: float) -> Job[Mapped]:
        where = {"scene": context.scene, "view_layer": context.view_layer}
        given = _settings(self, context, IN_PLANE)
        return map_in_scene.steps(active_armature(context), active_chain(context), **given, **where)

    def tell(self, context: Context, result: Mapped) -> set[str]:
        image = result.shown.data
        self.report({"INFO"}, f"Image '{image.name}': {result.made.coverage:.1f} % of the disc is reached")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_map_volume(JobOperator):
    bl_idname = "pose.ik_triangulation_map_volume"
    bl_label = "Map Volume"
    bl_description = "Mark all places that the limb reaches within its limits, colored by what it takes to get there"

    __annotations__ = given(SpaceMapSettings)

    doing, stopped = _MAPPING
    parts = "places"

    def job(self, context: Context, seconds: float) -> Job[Mapped]:
        stored = active_bone(context).ik_triangulation
        limb = {name: getattr(stored, name) for name in ("solver", "iterations", "seed")}
        where = {"scene": context.scene, "view_layer": context.view_layer}
        given = _settings(self, context, IN_SPACE)
        return volume_in_scene.steps(active_armature(context), active_chain(context), **limb, **given, **where)

    def tell(self, context: Context, result: Mapped) -> set[str]:
        space, made = context.space_data, result.made
        if space is not None and space.type == "VIEW_3D":
            space.shading.color_type = "VERTEX"  # else the colours are not seen
        places = f"{len(made.places)} of {made.targets} places"
        self.report({"INFO"}, f"'{result.shown.name}': {places} are reached ({made.coverage:.1f} %)")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_map, POSE_OT_ik_triangulation_map_volume)
)
