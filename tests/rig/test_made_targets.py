# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties that were made as targets: which they are, and which of them go with their limb."""

import bpy
import pytest

from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.rig.targets.made import is_made, made_targets, remove_unused

from ..rigs import chain_rig, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def made_limb():
    rig = chain_rig(3)
    add_limbs(rig, ["Bone 2"])
    return rig, rig.pose.bones["Bone 2"].ik_triangulation


@pytest.mark.parametrize("use", ["limb", "pole", "stop", "constraint", "child"])
def test_an_empty_that_something_uses_stays(use):
    rig, limb = made_limb()
    target, other = limb.target, rig.pose.bones["Bone 1"]
    assert made_targets(rig) == [target]
    if use != "limb":
        limb.target = None
    if use == "pole":
        other.ik_triangulation.pole_target = target
    elif use == "stop":
        other.ik_triangulation.reach_stops.add().target = target
    elif use == "constraint":
        other.constraints.new("TRACK_TO").target = target
    elif use == "child":
        empty("Child").parent = target
    assert not remove_unused(target, rig)
    assert target.name in bpy.data.objects


def test_an_empty_that_nothing_uses_goes_with_its_collection():
    rig, limb = made_limb()
    target, limb.target = limb.target, None
    assert remove_unused(target, rig)
    assert list(bpy.data.objects) == [rig]
    assert not [each for each in bpy.data.collections if "Targets" in each.name]


def test_an_object_of_the_users_own_is_never_removed_also_in_that_collection():
    rig, limb = made_limb()
    mine = empty("Mine")
    limb.target.users_collection[0].objects.link(mine)
    assert not is_made(mine)
    assert not remove_unused(mine, rig)
