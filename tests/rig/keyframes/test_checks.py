# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that could not be written, or would not be played, are refused before anything is written."""

import bpy
import pytest

from ik_triangulation.errors import AnimationError
from ik_triangulation.rig.keyframes.channelbags import check_curves, check_keys, check_unmodified, is_stuck

from ...rigs import chain_rig, curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def keyed(*props):
    """A rig with keys on properties of its bone."""
    rig = chain_rig(1)
    for prop in props or ("rotation_quaternion",):
        rig.pose.bones["Bone 0"].keyframe_insert(prop, frame=1)
    return rig


def lock(curve):
    curve.lock = True


def mute(curve):
    curve.mute = True


def sample(curve):
    curve.convert_to_samples(1, 10)


def lock_group(curve):
    curve.group.lock = True


STUCK = [lock, mute, sample, lock_group]


@pytest.mark.parametrize("stick", STUCK)
def test_curves_that_would_not_be_played_are_refused(stick):
    rig = keyed()
    curve = curves_of(rig)[0]
    assert not is_stuck(curve)
    stick(curve)
    assert is_stuck(curve)
    with nothing_lost(), pytest.raises(AnimationError, match=r"'Bone 0' are locked, muted or sampled. Unlock them"):
        check_keys(rig, ["Bone 0"])
    with pytest.raises(AnimationError, match="of influence is locked"):
        check_curves([curve], "influence")


def test_a_rig_without_animation_can_be_keyed():
    assert check_keys(chain_rig(1), ["Bone 0"]) == []
    assert check_keys(keyed(), ["Bone 0"]) == []


def test_keys_on_another_kind_of_rotation_are_warned_of():
    rig = keyed("rotation_quaternion", "rotation_euler")
    (warning,) = check_keys(rig, ["Bone 0"])
    assert warning == "Bone 'Bone 0' has keys on rotation_euler but uses QUATERNION."


def test_a_slot_that_moves_others_too_is_refused_but_for_a_new_action():
    rig, other = keyed(), chain_rig(1, name="Other")
    animation = other.animation_data_create()
    animation.action, animation.action_slot = rig.animation_data.action, rig.animation_data.action_slot
    with pytest.raises(AnimationError, match=r"also drives 'Other'. Give 'Rig' a slot of its own"):
        check_keys(rig, ["Bone 0"])
    assert check_keys(rig, ["Bone 0"], "NEW_ACTION") == []


def test_an_action_that_would_hide_the_nla_track_is_refused():
    rig = keyed()
    with pytest.raises(AnimationError, match=r"hides a new NLA track\. Push the action down"):
        check_keys(rig, ["Bone 0"], "NLA_TRACK")
    for curve in curves_of(rig):
        curve.mute = True
    assert check_keys(rig, ["Bone 0"], "NLA_TRACK") == []


def test_an_action_without_a_slot_of_ours_is_refused():
    rig = chain_rig(1)
    action = bpy.data.actions.new("Shared")
    action.slots.new("OBJECT", "Someone")
    rig.animation_data_create().action = action
    rig.animation_data.action_slot = None
    with pytest.raises(AnimationError, match=r"Action 'Shared' has no slot assigned to 'Rig'. Assign one"):
        check_keys(rig, ["Bone 0"])


def test_curves_with_modifiers_are_refused_by_the_name_of_what_they_move():
    curves = curves_of(keyed())
    check_unmodified(curves, "the hips")
    curves[2].modifiers.new("NOISE")
    with pytest.raises(AnimationError, match="F-Curves of the hips have modifiers"):
        check_unmodified(curves, "the hips")
