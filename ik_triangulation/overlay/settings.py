# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shall show; saved with the scene and not with the rig, as it is a matter of how one works."""

import bpy
from bpy.props import BoolProperty, PointerProperty
from bpy.types import Context, PropertyGroup, Scene

from .redraw import redraw


def _switched(settings: PropertyGroup, context: Context) -> None:
    # Blender does so by itself for a click, but not for what a script switches.
    redraw()


class IKT_PG_overlay(PropertyGroup):
    """What is drawn over the viewport for the limb that ends in the active bone."""

    show: BoolProperty(
        name="Overlay", description="Show what the active limb can do and where it goes, in viewports", update=_switched
    )
    show_reach: BoolProperty(
        name="Reach",
        description="How far the limb reaches from its root, and how near to it, were all its joints free",
        default=True,
        update=_switched,
    )
    show_joints: BoolProperty(
        name="Joints",
        description="Hinge axes and limits of the joints, with a tick where each stands now",
        default=True,
        update=_switched,
    )
    show_target: BoolProperty(
        name="Target", description="The shape that the target is reached as", default=True, update=_switched
    )
    show_error: BoolProperty(
        name="Distance",
        description="A line from the tip to the nearest place of the target, and whether it is within the tolerance",
        default=True,
        update=_switched,
    )
    show_ghosts: BoolProperty(
        name="Ghosts", description="Poses that are shown before they are applied", default=True, update=_switched
    )


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_overlay,))


def register() -> None:
    _register_classes()
    Scene.ik_triangulation_overlay = PointerProperty(name="IK Triangulation Overlay", type=IKT_PG_overlay)


def unregister() -> None:
    del Scene.ik_triangulation_overlay
    _unregister_classes()
