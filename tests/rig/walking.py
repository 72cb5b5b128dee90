# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg that walks on flat ground."""

from math import pi, sin

from mathutils import Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.limb import Limb

from ..rigs import armature, empty, key_location

STRIDE, STEP = 0.6, 12  # Blender units and frames for which the foot stays, and then swings


def walking_leg(frames=48):
    """A leg of a character that walks along Y on flat ground: planted for a step, swung forward in the next one."""
    rig = armature(
        "Walker",
        [
            {"name": "hips", "head": (0.0, 0.0, 1.0), "tail": (0.0, 0.0, 1.1), "parent": None},
            {"name": "thigh.L", "head": (0.1, 0.0, 0.95), "tail": (0.1, 0.03, 0.5), "parent": "hips"},
            {"name": "shin.L", "head": (0.1, 0.03, 0.5), "tail": (0.1, 0.0, 0.1), "parent": "thigh.L", "connect": True},
            {"name": "foot.L", "head": (0.1, 0.0, 0.1), "tail": (0.1, 0.12, 0.0), "parent": "shin.L", "connect": True},
        ],
    )
    key_location(rig, range(1, frames + 1), lambda frame: Vector((0.0, STRIDE * (frame - 1) / STEP / 2.0 - 0.6, -0.1)))
    ground = key_location(empty("Step"), range(1, frames + 1), _step)
    bake(Limb.from_tip(rig, "foot.L", ground, 3), 1, frames)
    return rig


def planted(frame):
    """Whether the foot is planted at a frame and at the one before."""
    return (frame - 1) % (2 * STEP) in range(1, STEP)


def _step(frame):
    lap, phase = divmod(frame - 1, 2 * STEP)
    swing = max(0.0, (phase - STEP + 1) / (STEP + 1))
    return Vector((0.1, STRIDE * (lap + swing) - 0.35, 0.2 * sin(pi * swing)))
