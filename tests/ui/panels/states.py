# SPDX-License-Identifier: GPL-3.0-or-later
"""States that the panels are drawn in."""

from importlib import import_module
from pkgutil import iter_modules

import bpy

from ik_triangulation.ui import panels
from ik_triangulation.ui.panels.layout import SidebarPanel
from ik_triangulation.ui.panels.limbs import VIEW3D_PT_ik_triangulation_result

from ...layouts import drawn
from ...rigs import chain_rig, configure, empty

MODULES = [import_module(f"ik_triangulation.ui.panels.{module.name}") for module in iter_modules(panels.__path__)]


FOUND = [cls for module in MODULES for name, cls in vars(module).items() if name.startswith("VIEW3D_PT_")]


PANELS = [cls for cls in dict.fromkeys(FOUND) if issubclass(cls, (SidebarPanel, VIEW3D_PT_ik_triangulation_result))]


def panel(name):
    """The panel of that name, "" for the main one."""
    return next(cls for cls in PANELS if cls.__name__ == f"VIEW3D_PT_ik_triangulation{name}")


MAIN, ONLY_RESULT = panel(""), panel("_result")


def shown():
    """What all panels draw that are there."""
    found = {panel: drawn(panel) for panel in PANELS}
    return {panel: lines for panel, lines in found.items() if lines is not None}


def standard(**settings):
    rig, target = chain_rig(4), empty()
    bone = configure(rig, "Bone 3", target=target, chain_count=3, **settings)
    return rig, target, bone.ik_triangulation


def solved():
    rig, _, _ = standard()
    bone = rig.pose.bones["Bone 2"]
    bone.use_ik_limit_x, bone.ik_max_x, bone.ik_min_x = True, 0.1, -0.1
    bpy.ops.pose.ik_triangulation_solve()


def out_of_reach():
    _, target, _ = standard()
    target.location = (0.0, 0.0, 99.0)
    bpy.ops.pose.ik_triangulation_solve()


def turned_solve():
    standard(orientation="FULL")
    bpy.ops.pose.ik_triangulation_solve()


def baked():
    standard(effort_weight=0.5)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=4)


def solved_and_target_deleted():
    solved()
    bpy.data.objects.remove(bpy.data.objects["Target"])
