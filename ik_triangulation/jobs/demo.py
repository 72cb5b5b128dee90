# SPDX-License-Identifier: GPL-3.0-or-later
"""The reach demo: a figure set up as a body, whose hand has keys to a ball and back, ready to be baked."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Collection, Object, Scene, ViewLayer
from mathutils import Vector

from ..errors import RigError
from ..rig.scene_objects import ball_at, human_figure, shown_collections
from ..settings import check_registered
from .setup import set_up_body
from .shots.writing import Undo, keep_objects

HAND = "hand.L"
_RADIUS = 0.11  # [m] of the ball
_BALL = (0.28, -0.42, _RADIUS)  # [m] where it lies
_ON_BALL = (0.28, -0.42, 2.0 * _RADIUS + 0.01)
_AT_BALL = 25, 35  # frames after the first one, between which the hand rests on it
_LAST = 59


class Demo(NamedTuple):
    """The figure and the ball that were added, and the frames of the motion."""

    armature: Object
    ball: Object
    frames: tuple[int, int]


def add_demo(collection: Collection, place: Vector, scene: Scene, view_layer: ViewLayer) -> Demo:
    """Add a figure at a place (world space, on the floor) whose left hand has keys to a ball and back.

    It is set up as a body, active and in Pose Mode, with that hand's bone active: Bake does the rest. The caller is in
    Object Mode. Raises RigError where new objects would not be seen; whatever it raises, nothing has changed.
    """
    check_registered()
    if collection not in shown_collections(view_layer.layer_collection):
        raise RigError(f"Collection '{collection.name}' is hidden. Show it, or make another one active.")
    with Undo() as undo:
        keep_objects(undo)
        armature = human_figure("Reach Demo", collection)
        armature.location = place
        view_layer.update()
        set_up_body(armature)
        first = scene.frame_start
        for bone in armature.pose.bones:
            limb = bone.ik_triangulation
            if limb.target is not None or limb.hold:
                limb.use_scene_range, limb.frame_start, limb.frame_end = False, first, first + _LAST
        target = armature.pose.bones[HAND].ik_triangulation.target
        start, there = target.location.copy(), place + Vector(_ON_BALL)
        for frame, where in ((0, start), (_AT_BALL[0], there), (_AT_BALL[1], there), (_LAST, start)):
            target.location = where
            target.keyframe_insert("location", frame=first + frame)
        ball = ball_at(place + Vector(_BALL), _RADIUS, collection)
        scene.frame_set(scene.frame_current)
        undo.pop_all()
    return Demo(armature, ball, (first, first + _LAST))
