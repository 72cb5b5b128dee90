# SPDX-License-Identifier: GPL-3.0-or-later
"""What a target follows is known as Blender moves it."""

from random import Random

import bpy
import pytest

from ik_triangulation.rig.dependencies import Dependencies, Node
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    armature,
    empty,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("seed", range(40))
def test_what_follows_what_is_known_as_blender_moves_it(seed):
    """A random web of parents, constraints and bones: a target that is let through does not move with the chain."""
    random = Random(seed)
    rig = armature(
        "Rig",
        [
            {"name": "Bone 0", "head": (0, 0, 0), "tail": (0, 0, 1)},
            {"name": "Bone 1", "head": (0, 0, 1), "tail": (0, 0.1, 2), "parent": "Bone 0", "connect": True},
            {"name": "free", "head": (1, 0, 0), "tail": (1, 0, 1)},
            {"name": "finger", "head": (0, 0.1, 2), "tail": (0, 0.1, 2.5), "parent": "Bone 1"},
        ],
    )
    things = [empty(f"Empty {i}", location=(i, 1, 0)) for i in range(5)]
    for i, thing in enumerate(things[:-1]):
        other = random.choice([*things[i + 1 :], rig])
        bone = random.choice(["Bone 0", "Bone 1", "free", "finger", ""]) if other == rig else ""
        how = random.choice(["parent", "COPY_LOCATION", "CHILD_OF", "DAMPED_TRACK", "COPY_TRANSFORMS"])
        if how == "parent":
            thing.parent = other
            if bone:
                thing.parent_type, thing.parent_bone = "BONE", bone
        else:
            constraint = thing.constraints.new(how)
            constraint.target, constraint.subtarget = other, bone
    target = things[0]
    bpy.context.view_layer.update()
    before = target.matrix_world.translation.copy()
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.7, 0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    moves = (target.matrix_world.translation - before).length > 1e-6
    limb = Limb.from_tip(rig, "Bone 1", target)
    followed = Dependencies([limb]).follows(Node(target), limb)
    assert followed or not moves
