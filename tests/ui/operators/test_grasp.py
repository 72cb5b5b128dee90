# SPDX-License-Identifier: GPL-3.0-or-later
"""The button Grasp finds the object: the selected one, by name, or says that there is none."""

import bpy
import pytest

from ...characters import character, part_of
from ...jobs.test_grasp import hand_of, rod
from ...rigs import all_keys, nothing_lost, select

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def test_the_selected_mesh_is_grasped_and_the_fingers_are_keyed():
    rig = character("Mixamo")
    hand = hand_of(rig, "Mixamo")
    held = rod(hand)
    select(rig, part_of(rig, "Mixamo", "index2").name)
    with nothing_lost(), pytest.raises(RuntimeError, match="There is nothing to hold"):
        bpy.ops.pose.ik_triangulation_grasp()
    held.select_set(True)
    assert bpy.ops.pose.ik_triangulation_grasp() == {"FINISHED"}
    keyed = {path.split('"')[1] for path, _ in all_keys(rig)}
    assert len(keyed) == 15
    held.select_set(False)
    assert bpy.ops.pose.ik_triangulation_grasp(prop=held.name, key=False) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="is no object of this scene"):
        bpy.ops.pose.ik_triangulation_grasp(prop="Cup")
