# SPDX-License-Identifier: GPL-3.0-or-later
"""Target to Tip: targets go to where their tips are shown, all or none, and are keyed where that is asked for."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.errors import IKError, SettingError, TargetError
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.jobs.targets import target_to_tip
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.untouched import is_as_made, is_waiting, let_wait, made_rotation_of

from ..bodies import human_rig
from ..rigs import chain_rig, configure, curves_of, empty, evaluated_tip, key_frames, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def bent(rig):
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion((0.3, 0.5, 0.8), 0.3 + 0.2 * number)
    bpy.context.view_layer.update()
    return rig


def limb_of(rig, tip, target, **settings):
    configure(rig, tip, target=target, **({"chain_count": 0} | settings))
    return Limb.of(rig.pose.bones[tip])


def away(limb):
    bpy.context.view_layer.update()
    place = limb.target.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.translation
    return (place - evaluated_tip(limb.armature, limb.tip)).length


def test_targets_go_to_their_tips_with_parents_and_delta_transforms_and_nothing_else_changes():
    rig, other = bent(chain_rig(3)), bent(chain_rig(3, name="Other"))
    first, second = empty("First"), empty("Second")
    first.parent, first.parent.location = empty("Parent"), (0.3, 0.2, 0.1)
    second.delta_location = 0.1, 0.2, 0.3
    turns = [ob.rotation_euler.copy() for ob in (first, second)]
    limbs = [limb_of(rig, "Bone 2", first), limb_of(other, "Bone 2", second)]
    assert target_to_tip(limbs) == ["First", "Second"]
    assert max(map(away, limbs)) < 1e-5
    assert [ob.rotation_euler for ob in (first, second)] == turns
    assert not curves_of(first)


def test_a_target_whose_orientation_is_read_turns_with_its_tip():
    rig, target = bent(chain_rig(3)), empty()
    limb = limb_of(rig, "Bone 2", target, orientation="FULL")
    target_to_tip([limb])
    bpy.context.view_layer.update()
    shown = (rig.matrix_world @ rig.pose.bones["Bone 2"].matrix).to_quaternion()
    assert shown.rotation_difference(target.matrix_world.to_quaternion()).angle % 6.283185 < 1e-3


def test_keys_are_put_on_the_frame_beside_those_that_are_there():
    rig, target = bent(chain_rig(3)), key_location(empty(), [1, 9])
    limb = limb_of(rig, "Bone 2", target)
    bpy.context.scene.frame_set(5)
    target_to_tip([limb], key=True)
    times = {curve.data_path: key_frames(curve) for curve in curves_of(target)}
    assert times == {"location": [1.0, 5.0, 9.0], "rotation_euler": [5.0]}
    bpy.context.scene.frame_set(1)
    assert away(limb) > 0.1
    bpy.context.scene.frame_set(5)
    assert away(limb) < 1e-5


def test_an_empty_made_for_a_hand_turns_along_and_requests_no_rotation_still():
    rig = human_rig()
    add_limbs(rig, ["hand.L"])
    bone = rig.pose.bones["hand.L"]
    limb, target = Limb.of(bone), bone.ik_triangulation.target
    assert is_as_made(target)
    bent(rig)
    before = made_rotation_of(target)
    target_to_tip([limb])
    assert is_as_made(target)
    assert made_rotation_of(target) != before
    assert away(limb) < 1e-5
    let_wait(bone)
    rig.pose.bones["upper_arm.L"].rotation_quaternion = Quaternion((0.1, 0.9, 0.2), 0.5)
    assert is_waiting(bone)
    target_to_tip([limb])
    assert is_waiting(bone)
    target_to_tip([limb], key=True)
    assert not is_waiting(bone)
    assert {curve.data_path for curve in curves_of(target)} == {"location"}


def test_limbs_that_share_a_target_or_cannot_move_theirs_are_refused_and_nothing_changes():
    rig, other, target, held = bent(chain_rig(3)), bent(chain_rig(3, name="Other")), empty(), empty("Held")
    limbs = [limb_of(rig, "Bone 2", target), limb_of(other, "Bone 1", target)]
    with nothing_lost(), pytest.raises(TargetError, match="'Target' is the target of 'Bone 2' and 'Bone 1'"):
        target_to_tip(limbs)
    with pytest.raises(SettingError, match="There is no limb with a target"):
        target_to_tip([])
    held.constraints.new("LIMIT_LOCATION").use_max_x = True
    limbs[1] = limb_of(other, "Bone 2", held)
    for key in (False, True):
        with nothing_lost(), pytest.raises(IKError, match=r"'Held' does not go where it is keyed, .* off at frame 1"):
            target_to_tip(limbs, key=key)
    held.constraints[0].mute = True
    target_to_tip(limbs)
    assert max(map(away, limbs)) < 1e-5
