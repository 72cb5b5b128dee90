# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric Map: an image of what it takes the limb to reach each place around it."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import Context

from ..analyse import map_chain
from ..blender.armature import bones_from_tip
from ..blender.context import active_armature, active_bone, selected_bones
from ..blender.images import show
from ..solvers import SOLVERS
from .base import IKOperator

METRICS = [
    ("iterations", "Iterations", "Steps of the solver: blue is one, red the last attempt, black is not reached"),
    ("error", "Distance", "What is left between tip and target"),
    ("total_angle", "Total Angle", "Sum of all turns on the way there"),
    ("travel", "Travel", "How far the tip moves on the way there"),
    ("turns", "Turns", "Single turns above 5 degrees"),
    ("reached", "Reached", "Whether it is reached"),
]
SCALES = [
    ("HUE", "Hue", "From blue to red, as in the source paper"),
    ("VIOLET_YELLOW", "Violet to Yellow", "As much lighter as the value is greater"),
    ("PLUM_CREAM", "Plum to Cream", "As much lighter as the value is greater"),
]


class POSE_OT_ik_triangulation_map(IKOperator):
    bl_idname = "pose.ik_triangulation_map"
    bl_label = "Metric Map"
    bl_description = "Make an image of what it takes to reach each place round the limb, in the plane it is bent in"

    solver: EnumProperty(
        name="Solver",
        description="The method to map",
        items=[(key, s.label, s.description) for key, s in SOLVERS.items()],
    )
    finish: BoolProperty(name="Finish", description="Polish where the solver alone stops short; takes long")
    metric: EnumProperty(name="Metric", description="What the colours show", items=METRICS)
    scale: EnumProperty(name="Colors", description="Which colours show it", items=SCALES)
    size: IntProperty(name="Size", description="Pixels on each side", default=100, min=8, max=1024)
    iterations: IntProperty(name="Iterations", description="Most steps of the solver", default=20, min=1, soft_max=100)
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance that counts as reached, as a share of the reach",
        default=0.01,
        min=1e-5,
        soft_max=0.1,
        precision=4,
    )

    def act(self, context: Context) -> set[str]:
        wm = context.window_manager
        wm.progress_begin(0.0, 1.0)
        armature, tip = active_armature(context), active_bone(context)
        stored = tip.ik_triangulation
        try:
            if stored.use_selected:
                bones = selected_bones(armature)
            else:
                bones = bones_from_tip(armature, tip.name, stored.chain_count)
            settings = self.size, self.tolerance, self.iterations, self.finish
            made = map_chain(armature, bones, self.solver, *settings, context.view_layer, wm.progress_update)
        finally:
            wm.progress_end()
        image = show(f"Map of {tip.name}", made.image(self.metric, self.scale))
        self.report({"INFO"}, f"Image '{image.name}': {made.coverage:.1f} % of the disc is reached")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_map,))
