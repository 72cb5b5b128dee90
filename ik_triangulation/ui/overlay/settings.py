# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the overlay. They are saved with the scene, not with the rig, as they are the user's preference."""

import bpy
from bpy.props import BoolProperty, PointerProperty
from bpy.types import Context, PropertyGroup, Scene

from .redraw import redraw


def _switched(settings: PropertyGroup, context: Context) -> None:
    # Blender redraws after a click, but not after a script changes the property.
    redraw()


class IKT_PG_overlay(PropertyGroup):
    """Overlay settings: the parts of the active limb that are drawn in viewports."""

    show: BoolProperty(
        name="Overlay",
        description="Show the reach, joint limits and target of the active limb in viewports",
        update=_switched,
    )
    show_reach: BoolProperty(
        name="Reach",
        description="Largest and smallest distance from its root that the limb could reach without joint limits",
        default=True,
        update=_switched,
    )
    show_joints: BoolProperty(
        name="Joints",
        description="Hinge axes and limits of the joints, with a tick at each current angle",
        default=True,
        update=_switched,
    )
    show_target: BoolProperty(name="Target", description="Shape of the target", default=True, update=_switched)
    show_error: BoolProperty(
        name="Distance",
        description="Line from the tip to the nearest point of the target, green within the tolerance and red outside",
        default=True,
        update=_switched,
    )
    show_ghosts: BoolProperty(
        name="Ghosts", description="Poses shown before they are applied", default=True, update=_switched
    )


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_overlay,))


def register() -> None:
    _register_classes()
    Scene.ik_triangulation_overlay = PointerProperty(name="IK Triangulation Overlay", type=IKT_PG_overlay)


def unregister() -> None:
    del Scene.ik_triangulation_overlay
    _unregister_classes()
