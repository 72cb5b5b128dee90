# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the overlay. They are saved with the scene, not with the rig, as they are the user's preference."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty
from bpy.types import Context, Object, PropertyGroup, Scene

from .updates import redraw


def _switched(settings: PropertyGroup, context: Context) -> None:
    # Blender redraws after a click, but not after a script changes the property.
    redraw()


class IKT_PG_overlay(PropertyGroup):
    """Overlay settings: the parts of the active limb that are drawn in viewports."""

    show: BoolProperty(
        name="Overlay",
        description="Show the reach, the active joint and the distance from the target of the active limb in viewports",
        default=True,
        update=_switched,
    )
    show_reach: BoolProperty(
        name="Reach",
        description="Shell around everything that the limb reaches, clearer where the target is out of reach",
        default=True,
        update=_switched,
    )
    show_joints: BoolProperty(
        name="Joints",
        description="Axes and limits of the active joint, with its angles while the panel Joints is open; the "
        "other joints are dots, in orange at a limit",
        default=True,
        update=_switched,
    )
    show_target: BoolProperty(
        name="Target",
        description="Shape of the target, and the orientation that the limb is to take until it has it",
        default=True,
        update=_switched,
    )
    show_error: BoolProperty(
        name="Distance",
        description="Distance from the target in words, with a line to it until it is reached",
        default=True,
        update=_switched,
    )
    show_body: BoolProperty(
        name="Body",
        description="Held tips as pins, the area that they support, and the center of mass above it: a cross on the "
        "floor where it is outside",
        default=True,
        update=_switched,
    )
    show_ghosts: BoolProperty(
        name="Previews", description="Poses shown before they are applied", default=True, update=_switched
    )


class IKT_PG_trail(PropertyGroup):
    """Settings of the trail: the path of the active tip over the shot."""

    show: BoolProperty(
        name="Trail",
        description="Show the path of the active hand, foot or head over the shot: a dot for each frame, a larger one "
        "for each keyframe. Drag a dot to pull the tip there",
        update=_switched,
    )
    space: EnumProperty(
        name="In Frame Of",
        description="Frame of reference in which the path is drawn",
        items=[
            ("WORLD", "World", "Path through the scene", 0),
            ("HIPS", "Hips", "Path as seen from the character's hips", 1),
            ("OBJECT", "Object", "Path as seen from another object, such as a prop that is carried", 2),
        ],
        default="WORLD",
        update=_switched,
    )
    object: PointerProperty(
        name="Object", description="Object from which the trail is seen", type=Object, update=_switched
    )


class IKT_PG_ghosts(PropertyGroup):
    """Settings of the ghosts: the character at other frames of the shot."""

    show: BoolProperty(
        name="Ghosts",
        description="Show the character at other frames as translucent bones, in the colors of Blender's motion paths",
        update=_switched,
    )
    kind: EnumProperty(
        name="Ghosts At",
        description="Frames at which the character is shown",
        items=[
            ("FRAMES", "Frames", "Frames before and after the current one", 0),
            ("KEYS", "Keys", "Poses keyed before and after the current frame", 1),
            ("BEFORE", "Before Change", "The current frame as it was before the last bake, pull or drag", 2),
        ],
        default="FRAMES",
        update=_switched,
    )
    count: IntProperty(
        name="Count",
        description="Ghosts before and after the current frame",
        default=3,
        min=1,
        max=20,
        update=_switched,
    )
    step: IntProperty(
        name="Step", description="Frames from one ghost to the next", default=4, min=1, soft_max=25, update=_switched
    )


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (IKT_PG_overlay, IKT_PG_trail, IKT_PG_ghosts)
)


def register() -> None:
    _register_classes()
    Scene.ik_triangulation_overlay = PointerProperty(name="IK Triangulation Overlay", type=IKT_PG_overlay)
    Scene.ik_triangulation_trail = PointerProperty(name="IK Triangulation Trail", type=IKT_PG_trail)
    Scene.ik_triangulation_ghosts = PointerProperty(name="IK Triangulation Ghosts", type=IKT_PG_ghosts)


def unregister() -> None:
    del Scene.ik_triangulation_ghosts
    del Scene.ik_triangulation_trail
    del Scene.ik_triangulation_overlay
    _unregister_classes()
