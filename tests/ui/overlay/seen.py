# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay draws of a limb."""

import bpy
import numpy as np

from ik_triangulation.ui.overlay import draw
from ik_triangulation.ui.overlay.sketch import palette
from ik_triangulation.ui.panels.goal import VIEW3D_PT_ik_triangulation_joint
from ik_triangulation.ui.panels.layout import note_unfolded

from ...rigs import chain_rig, configure, empty
from .viewport import viewport


def settings():
    return bpy.context.scene.ik_triangulation_overlay


def standard(**chosen):
    """A limb of three bones with limits of every kind on a rig of four, and a sphere to reach."""
    rig, target = chain_rig(4), empty()
    target.empty_display_type, target.empty_display_size = "SPHERE", 0.2
    configure(rig, "Bone 3", target=target, chain_count=3, **chosen)
    for number, kind in enumerate(("CONE", "HINGE", "EULER"), 1):
        joint = rig.pose.bones[f"Bone {number}"].ik_triangulation_joint
        joint.source, joint.kind = "OWN", kind
    settings().show = True
    bpy.context.view_layer.update()
    return rig, target


def layers():
    bpy.context.view_layer.update()  # as Blender does before it draws
    with viewport() as context:
        return list(draw.layers(context))


def read_to_the_end(shown, ask):
    """Ask a module of the overlay for what it reads in slices of time, let its timer run to its end, and ask again."""
    with viewport() as context:
        ask(context)
        while shown._read_on() is not None:
            pass
        return ask(context)


def shells():
    bpy.context.view_layer.update()
    with viewport() as context:
        return list(draw.shells(context))


def show_sidebar(shown=True):
    """Open the sidebar beside the viewport, or close it."""
    with viewport() as context:
        space = context.space_data
    space.show_region_ui = shown  # with a context of its own it could not be closed again


def draw_sidebar(unfolded=True):
    """Ask the panel of the joints and draw it as Blender does with a sidebar; folded it is only asked."""
    show_sidebar()
    with viewport() as context:
        (sidebar,) = (region for region in context.area.regions if region.type == "UI")
        with bpy.context.temp_override(region=sidebar):
            VIEW3D_PT_ik_triangulation_joint.poll(bpy.context)
            if unfolded:
                note_unfolded(bpy.context)


def texts():
    """The texts of the limbs that were drawn last, as lists of rows."""
    layers()
    with viewport() as context:
        return [block.rows for block in draw.texts(context)]


def drawn():
    """How many vertices are drawn."""
    shaded = sum(len(mesh[0]) for shell in shells() for mesh, _ in shell.meshes)
    return shaded + sum(len(places) for layer in layers() for places, _ in layer[1:])


def colours():
    return {tuple(np.round(colour[:3], 3)) for layer in layers() for _, rows in layer[1:] for colour in rows}


def colour_of(role):
    return tuple(np.round(palette(bpy.context.preferences.themes[0]).outlines[role, :3], 3))


def disabled(rig, target):
    rig.hide_viewport = True
