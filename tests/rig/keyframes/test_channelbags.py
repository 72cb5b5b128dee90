# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever of action, slot, layer, strip and channelbag is missing is made, and taken back where a bake fails."""

from contextlib import ExitStack

import bpy
import pytest

from ik_triangulation.rig.keyframes.channelbags import (
    channelbag_of,
    curves_of,
    ensure_channelbag,
    find_curves,
    keep_curves,
    new_curve,
)

from ...rigs import chain_rig, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def nothing(rig):
    pass


def animation_data(rig):
    rig.animation_data_create()


def empty_action(rig):
    rig.animation_data_create().action = bpy.data.actions.new("Mine")


def slot(rig):
    empty_action(rig)
    rig.animation_data.action_slot = rig.animation_data.action.slots.new("OBJECT", "Rig")


def layer(rig):
    slot(rig)
    rig.animation_data.action.layers.new("Layer")


def keys(rig):
    rig.keyframe_insert("location", frame=1)


BUILT = [nothing, animation_data, empty_action, slot, layer, keys]


@pytest.mark.parametrize("build", BUILT)
def test_what_is_missing_is_made(build):
    rig = chain_rig(1)
    build(rig)
    bag = ensure_channelbag(rig, ExitStack())
    assert bag == channelbag_of(rig)
    assert len(curves_of(rig)) == (3 if build is keys else 0)


@pytest.mark.parametrize("build", BUILT)
def test_what_was_made_is_taken_back(build):
    rig = chain_rig(1)
    build(rig)
    with nothing_lost():
        undo = ExitStack()
        ensure_channelbag(rig, undo)
        undo.close()


def test_nothing_is_made_twice():
    rig = chain_rig(1)
    assert ensure_channelbag(rig, ExitStack()) == ensure_channelbag(rig, ExitStack())
    assert (len(bpy.data.actions), len(rig.animation_data.action.slots)) == (1, 1)


def test_a_group_is_made_once_and_taken_back_with_its_curves():
    rig = chain_rig(1)
    bag, undo = ensure_channelbag(rig, ExitStack()), ExitStack()
    for index in range(2):
        new_curve(bag, "location", index, "Bone 0", undo)
    assert [group.name for group in bag.groups] == ["Bone 0"]
    assert {curve.group.name for curve in bag.fcurves} == {"Bone 0"}
    undo.close()
    assert len(bag.groups) == len(bag.fcurves) == 0


def test_a_group_that_was_there_is_joined_and_stays():
    rig = chain_rig(1)
    keys(rig)
    bag, undo = channelbag_of(rig), ExitStack()
    groups = [group.name for group in bag.groups]
    new_curve(bag, 'pose.bones["Bone 0"].location', 0, groups[0], undo)
    assert [group.name for group in bag.groups] == groups
    undo.close()
    assert [group.name for group in bag.groups] == groups


def test_curves_are_found_by_their_property():
    rig = chain_rig(1)
    assert find_curves(channelbag_of(rig), "location") == {}
    bag = ensure_channelbag(rig, ExitStack())
    made = {index: bag.fcurves.new("location", index=index) for index in (0, 2)}
    bag.fcurves.new("scale", index=1)
    assert find_curves(bag, "location") == made
    assert find_curves(bag, "location", 2) == {0: made[0]}


def test_kept_curves_come_back_with_their_keys_and_without_those_made_since():
    rig = chain_rig(2)
    bone, other = rig.pose.bones
    bone.keyframe_insert("location", index=0, frame=1, group="Mine")
    with nothing_lost(), ExitStack() as undo:
        keep_curves(rig, undo)
        bone.location = (1.0, 2.0, 3.0)
        bone.keyframe_insert("location", frame=1, group="Mine")
        bone.keyframe_insert("location", frame=9, group="Mine")
        other.keyframe_insert("location", frame=3, group="Other")
        curve = next(each for each in curves_of(rig) if each.data_path == bone.path_from_id("location"))
        assert len(curve.keyframe_points) == 2
        bone.location = (0.0, 0.0, 0.0)
    (curve,) = curves_of(rig)
    assert [tuple(point.co) for point in curve.keyframe_points] == [(1.0, 0.0)]
    assert [group.name for group in channelbag_of(rig).groups] == ["Mine"]
