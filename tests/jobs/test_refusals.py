# SPDX-License-Identifier: GPL-3.0-or-later
"""What jobs refuse is told in one line, with the culprit and the remedy, before anything has changed."""

from dataclasses import replace
from math import inf, nan

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, SettingError, TargetError
from ik_triangulation.jobs.edits.edited_part import Pull
from ik_triangulation.jobs.edits.mirror import mirror_motion
from ik_triangulation.jobs.edits.retime import Retime
from ik_triangulation.jobs.edits.spaces import remove_space, set_space
from ik_triangulation.jobs.find_contacts import named_meshes
from ik_triangulation.jobs.joint_tools import copy_to_own
from ik_triangulation.jobs.props import HeldProp, StopOfProp, held_props
from ik_triangulation.jobs.reach import body_stop, own_stop, reach_with_body
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.jobs.shots.problem import body_of

from ..bodies import human_rig, set_up_rig
from ..rigs import chain_rig, configure, empty, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_body_takes_no_props_on_its_reach_and_its_tips_count_whole():
    rig = set_up_rig(24)
    body = body_of(rig, "hand.L")
    stop = own_stop(body.limbs[0], 25)
    with nothing_lost(), pytest.raises(SettingError, match=r"'hand\.L' is part of a body, whose reach takes no props"):
        reach_with_body(body, [stop._replace(take="TAKE")], 1)
    with nothing_lost(), pytest.raises(ChainError, match=r"Nothing of the body reaches for anything. Set the target"):
        reach_with_body(replace(body, limbs=(), held=("hand.L", "foot.L")), [stop], 1)
    rig.pose.bones["hand.R"].ik_triangulation.influence = 0.5
    body = body_of(rig, "hand.L")
    with nothing_lost(), pytest.raises(SettingError, match=r"'hand\.R' has an influence below 1.* Set it to 1"):
        reach_with_body(body, [body_stop(body, "hand.L", 25)], 1)


def test_props_are_taken_and_let_go_in_an_order_that_makes_sense():
    cup, pen = empty("Cup"), empty("Pen")

    def props(*rows):
        return held_props([StopOfProp(*row) for row in rows], "CONSTRAINT")

    take, give = (1, cup, "", None, "TAKE"), (9, cup, "", None, "GIVE")
    assert props(take, give) == [HeldProp(cup, 1, 9)]
    assert props(take, (5, cup, "", pen, "TAKE"), (9, cup, "", pen, "GIVE")) == [
        HeldProp(cup, 1, None),
        HeldProp(pen, 5, 9),
    ]
    assert props(take, give, (12, cup, "", None, "TAKE"), (15, cup, "", None, "NONE")) == [
        HeldProp(cup, 1, 9),
        HeldProp(cup, 12, None),
    ]
    for rows, text in (
        (((1, cup, "", None, "DROP"),), "Prop action 'DROP' is unknown"),
        (((1, cup, "Handle", None, "TAKE"),), "The stop at frame 1 goes to a bone. Choose the prop"),
        ((take, take), "'Cup' is taken at frame 1 again"),
        ((give,), "The stop at frame 9 lets go of a prop not held"),
        ((take, (9, cup, "", pen, "GIVE")), "The stop at frame 9 lets go of 'Pen' not held"),
        ((take, (5, cup, "", pen, "TAKE"), give), "Several props are held at frame 9"),
    ):
        with pytest.raises(SettingError, match=text):
            props(*rows)
    with pytest.raises(SettingError, match=r"Props by 'GLUE' is unknown"):
        held_props([], "GLUE")


def test_offsets_that_are_no_numbers_are_refused():
    for bad in (nan, inf):
        with pytest.raises(SettingError, match=r"The offset is no valid number of frames"):
            Retime(1.0, 5, "SMOOTH", bad)
        for settings in ({"offset": Vector((0.0, bad, 0.0))}, {"turn": Vector((bad, 0.0, 0.0))}):
            with pytest.raises(SettingError, match=r"The offset is no valid vector. Give it three numbers"):
                Pull(1.0, 5, "SMOOTH", **settings)


def test_nothing_selected_is_told_by_what_to_select():
    rig = human_rig()
    for job, text in (
        (lambda: add_limbs(rig, []), "Select the bones of the limb, or the one at its end"),
        (lambda: copy_to_own(rig, []), "No bones are selected. Select the bones to set up"),
        (lambda: mirror_motion(rig, []), "No limbs are selected. Select the hand or foot to mirror"),
    ):
        with nothing_lost(), pytest.raises(ChainError, match=text):
            job()


def test_bones_and_targets_without_a_mirror_image_are_named():
    rig = chain_rig(3, names=["Hip", "Arm.L", "Hand.L"])
    configure(rig, "Hand.L", target=empty())
    with nothing_lost(), pytest.raises(ChainError, match=r"'Hand\.L' has no partner: 'Rig' has no bone 'Hand\.R'"):
        mirror_motion(rig, ["Hand.L"])
    human = human_rig("Human")
    with nothing_lost(), pytest.raises(ChainError, match=r"'hand\.L' ends no limb, and nor does its partner"):
        mirror_motion(human, ["hand.L"])
    target = empty("Loose")
    stored = human.pose.bones["hand.L"].ik_triangulation
    stored.target, stored.chain_count = target, 3
    target.delta_location.x = 0.1
    with nothing_lost(), pytest.raises(TargetError, match=r"Target 'Loose' has delta transforms. Use Object > Apply"):
        mirror_motion(human, ["hand.L"])
    target.delta_location.x = 0.0
    key_location(human, [1, 9])
    with nothing_lost(), pytest.raises(TargetError, match=r"'Human' is animated as an object. Parent 'Loose' to it"):
        mirror_motion(human, ["hand.L"])


def test_spaces_meshes_and_props_that_are_not_there_are_named():
    rig, target = chain_rig(3), empty()
    configure(rig, "Bone 2", target=target)
    with nothing_lost(), pytest.raises(SettingError, match=r"The target of 'Bone 2' is in no space at frame 5"):
        remove_space(rig, "Bone 2", 5)
    target.delta_rotation_euler.z = 0.2
    with nothing_lost(), pytest.raises(TargetError, match=r"Target 'Target' has delta transforms"):
        set_space(rig, "Bone 2", 1, rig, "Bone 0")
    scene = bpy.context.scene
    assert named_meshes(["Target"], scene) == [target]
    with pytest.raises(TargetError, match=r"'Wall' is not in this scene. Name a mesh"):
        named_meshes(["Target", "Wall"], scene)
