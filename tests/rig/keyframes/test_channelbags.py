# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever of action, slot, layer, strip and channelbag is missing is made, and taken back where a bake fails."""

from contextlib import ExitStack

import bpy
import pytest

from ik_triangulation.rig.keyframes.channelbags import channelbag_of, curves_of, ensure_channelbag, join_group

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


def test_a_group_is_made_once_and_taken_back():
    rig = chain_rig(1)
    bag, undo = ensure_channelbag(rig, ExitStack()), ExitStack()
    for index in range(2):
        join_group(bag, bag.fcurves.new("location", index=index), "Bone 0", undo)
    assert [group.name for group in bag.groups] == ["Bone 0"]
    assert {curve.group.name for curve in bag.fcurves} == {"Bone 0"}
    undo.close()
    assert len(bag.groups) == 0
