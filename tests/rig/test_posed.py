# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone remembers its rotation before the extension wrote to it, and what was written."""

from contextlib import ExitStack
from random import Random

import bpy
import pytest

from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.by_hand.keys import (
    is_as_written,
    is_posed_since,
    remember_before,
    remember_written,
    values_before_writing,
    values_in_mode,
)
from ik_triangulation.rig.rotation import rotation_from as rotation_of_values

from ..modes import every_mode
from ..rigs import MODES, chain_rig, random_rotation, rotate, rotation_property

pytestmark = pytest.mark.usefixtures("empty_scene")


def bone_in(mode, seed=1):
    bone = chain_rig(1, mode=mode).pose.bones[0]
    rotate(bone, random_rotation(Random(seed)))
    return bone


def values_of(bone):
    return tuple(getattr(bone, rotation_property(bone)))


@every_mode
def test_what_was_before_and_what_was_written_are_remembered(mode):
    bone = bone_in(mode)
    before, which = values_of(bone), range(len(values_of(bone)))
    assert values_before_writing(bone) == before
    assert not is_as_written(bone, which)
    assert not is_posed_since(bone, which)
    remember_before(bone, before)
    rotate(bone, random_rotation(Random(2)))
    remember_written([bone])
    assert values_before_writing(bone) == before
    assert is_as_written(bone, which)
    rotate(bone, random_rotation(Random(3)))
    assert is_posed_since(bone, which)
    assert not is_as_written(bone, which)


def test_only_the_channels_asked_for_are_compared():
    bone = bone_in("XYZ")
    remember_before(bone, values_of(bone))
    remember_written([bone])
    bone.rotation_euler[1] += 0.1
    assert is_as_written(bone, (0, 2))
    assert is_posed_since(bone, (0, 1))


def test_what_is_remembered_can_be_undone():
    bone = bone_in("QUATERNION")
    with ExitStack() as undo:
        remember_before(bone, values_of(bone), undo)
        remember_written([bone])
    assert bone.ik_triangulation_posed.mode == ""
    assert not is_as_written(bone, range(4))


@every_mode
@pytest.mark.parametrize("other", MODES)
def test_values_are_those_of_the_same_rotation_in_another_mode(mode, other):
    bone = bone_in(mode)
    near = values_of(bone_in(other, 4))
    values = values_in_mode((*values_of(bone), 0.0)[:4], mode, other, near)
    assert len(values) == len(near)
    apart = rotation_angle(rotation_of_values(values_of(bone), mode), rotation_of_values(values, other))
    assert apart < 1e-5


def test_writing_has_nothing_evaluated():
    bone = bone_in("QUATERNION")
    bpy.context.view_layer.update()
    told = []

    def tell(_scene, depsgraph):
        told.extend(update.id.name for update in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(tell)
    try:
        remember_before(bone, values_of(bone))
        remember_written([bone])
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(tell)
    assert told == []
