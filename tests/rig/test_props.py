# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that give a prop its place, and the constraints that hold it."""

from contextlib import ExitStack
from random import Random

import bpy
import pytest
from mathutils import Matrix

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import AnimationError, TargetError
from ik_triangulation.rig.dependencies import Dependencies
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.props import (
    KeyedPart,
    PropKeys,
    check_prop,
    holds_on,
    is_holding,
    muted,
    values_at_places,
    values_of,
)

from ..modes import every_mode
from ..rigs import chain_rig, curves_of, empty, key_location, matrix_close, nothing_lost, random_rotation, random_vector

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
        assert not is_holding(hold, 1, scene)  # without keys, by what it is set to
        hold.influence = 0.5
        assert is_holding(hold, 1, scene)
        finished(keys.key_hold(hold, {4: 0.0, 5: 1.0, 9: 0.0}, 9))
        assert [is_holding(hold, frame, scene) for frame in (1, 4, 5, 8, 9, 20)] == [
            False,
            False,
            True,
            True,
            False,
            False,
        ]


def check(prop, limb):
    bpy.context.view_layer.update()
    check_prop(prop, limb, (1, 20), bpy.context.scene, bpy.context.view_layer, Dependencies())


def hidden(prop, rig):
    prop.hide_viewport = True


def on_the_chain(prop, rig):
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "Bone 1"


def above_the_armature(prop, rig):
    rig.parent = prop


def moved_by_physics(prop, rig):
    prop.data = bpy.data.meshes.new("Cup")
    bpy.context.view_layer.objects.active = prop
    bpy.ops.rigidbody.object_add(type="ACTIVE")


def constrained(prop, rig):
    prop.constraints.new("LIMIT_LOCATION")


def driven(prop, rig):
    prop.driver_add("location", 1)


def driven_in_turn(prop, rig):
    prop.rotation_mode = "QUATERNION"
    prop.driver_add("rotation_quaternion", 1)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (hidden, TargetError, "Prop 'Cup' is disabled in this view layer"),
        (on_the_chain, TargetError, "Prop 'Cup' follows chain bone 'Bone 1' already"),
        (above_the_armature, TargetError, "'Rig' itself follows prop 'Cup'"),
        (moved_by_physics, TargetError, "is moved by rigid body physics"),
        (constrained, TargetError, "Constraint 'Limit Location' moves prop 'Cup' as well. Mute it"),
        (driven, AnimationError, "location of prop 'Cup' is driven. Remove"),
        (driven_in_turn, AnimationError, "rotation_quaternion of prop 'Cup' is driven"),
    ],
)
def test_what_a_limb_cannot_hold_is_told_with_the_remedy(change, error, text):
    rig = chain_rig(3)
    prop = bpy.data.objects.new("Cup", bpy.data.meshes.new("Cup"))
    bpy.context.scene.collection.objects.link(prop)
    limb = Limb.from_tip(rig, "Bone 2", empty("Target"))
    check(prop, limb)
    change(prop, rig)
    with pytest.raises(error, match=text):
        check(prop, limb)


def test_the_armature_is_no_prop_and_what_does_not_count_is_no_matter():
    rig, prop = chain_rig(3), empty("Cup")
    limb = Limb.from_tip(rig, "Bone 2", empty("Target"))
    with pytest.raises(TargetError, match="Prop 'Rig' is the armature itself"):
        check(rig, limb)
    prop.constraints.new("LIMIT_LOCATION").mute = True
    prop.constraints.new("LIMIT_SCALE").influence = 0.0
    with ExitStack() as undo:
        hold = PropKeys(prop, bpy.context.scene, bpy.context.view_layer, undo).new_hold(limb)
        with muted([hold]):
            check(prop, limb)
        hold.influence = 1.0
        with pytest.raises(TargetError, match="Prop 'Cup' follows chain bone 'Bone 2' already"):
            check(prop, limb)
    prop.driver_add("color", 1)
    check(prop, limb)


def test_keys_of_a_prop_are_told_by_their_frame_and_shown_as_they_are_keyed():
    rig, prop = chain_rig(3), empty("Cup")
    limb = Limb.from_tip(rig, "Bone 2", empty("Target"))
    scene, layer = bpy.context.scene, bpy.context.view_layer
    scene.frame_set(5)
    with ExitStack() as undo:
        keys = PropKeys(prop, scene, layer, undo)
        assert keys.last_before(5) is None
        key_location(prop, [2, 4, 9], point=lambda frame: (0.1 * frame, 0.0, 0.0))
        curves_of(prop)[0].keyframe_points.insert(4.5, 1.0)
        assert [keys.last_before(frame) for frame in (2, 3, 5, 9, 10)] == [None, 2, 4, 4, 9]
        hold = keys.new_hold(limb)
        inverse = Matrix.Translation((1.0, 2.0, 3.0))
        keys.take_by(hold, inverse)
        assert hold.inverse_matrix == inverse
        finished(keys.key_hold(hold, {4: 0.0, 5: 1.0}, 9))
        values = (
            ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6), (1.0, 2.0, 1.0)),
            ((0.1, 0.2, 0.7), (0.4, 0.5, 0.8), (1.0, 3.0, 1.0)),
        )
        finished(keys.key_values(KeyedPart((3, 7), values, "LINEAR"), 9))
        prop.location, hold.influence = (9.0, 9.0, 9.0), 0.5
        keys.show()
        assert hold.influence == 1.0
        assert prop.location[:] == pytest.approx((0.1, 0.2, 0.5))
        assert prop.rotation_euler[:] == pytest.approx((0.4, 0.5, 0.7))
        assert prop.scale[:] == pytest.approx((1.0, 2.5, 1.0))
        times = {curve.data_path: [key.co[0] for key in curve.keyframe_points] for curve in curves_of(prop)}
        assert times["location"] == [2.0, 3.0, 7.0]


def test_a_hold_and_its_inverse_are_as_they_were_once_all_is_undone():
    rig, prop = chain_rig(3), empty("Cup")
    limb = Limb.from_tip(rig, "Bone 2", prop)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    with ExitStack() as kept:
        keys = PropKeys(prop, scene, layer, kept)
        hold = keys.new_hold(limb)
        assert (hold.type, hold.target, hold.subtarget) == ("CHILD_OF", rig, "Bone 2")
        assert (hold.influence, hold.show_expanded) == (0.0, False)
        first = Matrix.Translation((1.0, 2.0, 3.0))
        keys.take_by(hold, first)
        with ExitStack() as undo:
            PropKeys(prop, scene, layer, undo).take_by(hold, Matrix.Translation((4.0, 5.0, 6.0)))
            assert hold.inverse_matrix.translation[:] == (4.0, 5.0, 6.0)
        assert matrix_close(hold.inverse_matrix, first, 1e-6)
    assert not len(prop.constraints)


def test_the_last_key_before_a_frame_is_that_of_any_channel_of_the_place_rounded_down():
    prop = empty("Cup")
    for path, frame in (("location", 2.5), ("scale", 4.75), ("rotation_euler", 9.0), ("hide_viewport", 6.0)):
        prop.keyframe_insert(path, frame=frame)
    with ExitStack() as undo:
        keys = PropKeys(prop, bpy.context.scene, bpy.context.view_layer, undo)
        assert [keys.last_before(frame) for frame in (2, 3, 5, 9, 10)] == [None, 2, 4, 4, 9]
