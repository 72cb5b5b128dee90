# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of one character as those of another: the same for the same proportions, within the legs' reach for others."""

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.rig.retargeting import FACE, HIPS, Figure, Retargeting

from ..characters import character, part_of, pose_part
from ..rigs import chain_rig

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
PARTS = {HIPS: "hips", FACE: "head", "hand.L": "hand", "foot.L": "foot"}


def posed(kind, raised=0.0):
    """A character with a turned trunk, a bent arm and a lifted leg, as a figure with what it shows."""
    rig = character(kind, "Source")
    for part, axis, turn in (
        ("hips", (0, 0, 1), 0.3),
        ("spine", (1, 0, 0), 0.3),
        ("upper_arm", (0, 1, 0), -0.5),
        ("thigh", (1, 0, 0), -0.7),
        ("shin", (1, 0, 0), 0.9),
    ):
        pose_part(part_of(rig, kind, part), Quaternion(axis, turn))
    hips = part_of(rig, kind, "hips")
    hips.location = hips.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, raised))
    bpy.context.view_layer.update()
    figure = Figure(rig)
    return figure, figure.see(bpy.context.evaluated_depsgraph_get())


@pytest.mark.parametrize("kind", ["Rigify metarig", "Mixamo", "Unreal", "VRoid"])
def test_the_same_character_has_the_same_places_and_turns(kind):
    source, shown = posed(kind)
    target = Figure(character(kind, "Target"))
    frames = Retargeting(source, target).frames([shown], {"foot.L": [], "foot.R": []}, 0.0)
    for name, part in PARTS.items():
        wanted = source.armature.matrix_world @ part_of(source.armature, kind, part).matrix
        (found,) = frames[name]
        assert (found.translation - wanted.translation).length < 1e-5
        assert found.to_quaternion().rotation_difference(wanted.normalized().to_quaternion()).angle < 1e-3


def test_the_base_of_a_figure_is_below_the_middle_of_its_hips_at_its_ankles():
    figure = Figure(character("Mixamo", "Target", 0.7))
    hips, feet = ([figure.at_rest(f"{part}.{side}") for side in "LR"] for part in ("thigh", "foot"))
    assert (hips[0] + hips[1]).xy.length < 1e-4
    assert abs(feet[0].z + feet[1].z) < 1e-4


def test_hands_that_are_far_apart_are_where_their_own_arms_take_them():
    """The arms of Unreal's rest pose hang by 55 degrees: the palms are nearer than two arms and farther than one."""
    source, target = Figure(character("Unreal", "Source")), Figure(character("Unreal", "Target", 1.0, 1.3))
    shown = source.see(bpy.context.evaluated_depsgraph_get())
    frames = Retargeting(source, target).frames([shown], {"foot.L": [], "foot.R": []}, 0.0)
    for hand in ("hand.L", "hand.R"):
        there = target.base.inverted() @ frames[hand][0].translation
        assert (there - target.at_rest(hand)).length < 1e-4


def test_hips_stay_within_the_reach_of_the_legs():
    source, shown = posed("Rigify metarig", raised=0.2)
    target = Figure(character("Mixamo", "Target", 0.7))
    feet = {end: [] for end in ("foot.L", "foot.R")}
    frames = Retargeting(source, target).frames([shown] * 3, feet, 0.0)
    into = target.base.inverted()
    way = target.at_rest("thigh.R") - target.at_rest(HIPS)
    turned = shown[HIPS].turn @ way
    thigh = into @ frames[HIPS][1].translation + turned
    assert (thigh - into @ frames["foot.R"][1].translation).length < target.length("foot.R") * 1.0001


def test_a_character_without_arms_is_refused_by_name():

    with pytest.raises(ChainError, match="has no two arms"):
        Figure(chain_rig(3))
