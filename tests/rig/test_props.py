# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that give a prop its place, and the constraints that hold it."""

from contextlib import ExitStack
from random import Random

import bpy
import pytest
from mathutils import Matrix

from ik_triangulation.cooperative import finished
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.props import PropKeys, holds_on, is_holding, muted, values_at_places, values_of

from ..modes import every_mode
from ..rigs import chain_rig, empty, matrix_close, nothing_lost, random_rotation, random_vector

pytestmark = pytest.mark.usefixtures("empty_scene")


@every_mode
def test_values_give_the_place_with_delta_transforms_and_leave_the_prop_as_it_is(mode):
    random = Random(5)
    prop = empty("Cup", (1.0, 2.0, 3.0))
    prop.rotation_mode = mode
    prop.delta_location, prop.delta_scale = (0.1, 0.2, 0.3), (2.0, 2.0, 2.0)
    places = [Matrix.LocRotScale(random_vector(random), random_rotation(random), None) for _ in range(20)]
    with nothing_lost():
        found = values_at_places(prop, places, values_of(prop))
    for place, (location, rotation, scale) in zip(places, found, strict=True):
        prop.location, prop.scale = location, scale
        path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
        setattr(prop, path, rotation)
        assert matrix_close(prop.matrix_basis, place, 1e-5)


def test_a_hold_is_that_of_its_limb_and_does_not_count_while_it_is_muted():
    rig, prop = chain_rig(3), empty("Cup")
    limb, other = (Limb.from_tip(rig, tip, prop) for tip in ("Bone 2", "Bone 1"))
    scene, layer = bpy.context.scene, bpy.context.view_layer
    with nothing_lost(), ExitStack() as undo:
        keys = PropKeys(prop, scene, layer, undo)
        hold = keys.new_hold(limb)
        assert hold.name == "Held by Bone 2"
        assert holds_on(prop) == holds_on(prop, limb) == [hold]
        assert holds_on(prop, other) == []
        with muted([hold]):
            assert holds_on(prop) == []
        finished(keys.key_hold(hold, {4: 0.0, 5: 1.0, 9: 0.0}, 9))
        assert [is_holding(hold, frame, scene) for frame in (1, 4, 5, 8, 9, 20)] == [
            False,
            False,
            True,
            True,
            False,
            False,
        ]
