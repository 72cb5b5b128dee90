# SPDX-License-Identifier: GPL-3.0-or-later
"""What else moves a limb: what does nothing is not looked at frame by frame."""

import re

import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.dependencies import Influence, influences, may_interfere

from ..jobs.interfering import LAST, copied, faded_in, limb, moving
from ..rigs import curves_of, push_down

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_constraint_that_fades_in_is_told_from_the_frame_on_at_which_it_does():
    rig, target = moving()
    faded_in(rig)
    report = bake(limb(rig, target), 1, LAST)
    assert [result.reached for result in report.frames] == [True] * 5 + [False] * (LAST - 5)
    assert any("'Copy Rotation' on 'Bone 1' moves the tip" in warning for warning in report.warnings)


def muted(rig):
    copied(rig).mute = True


def without_influence(rig):
    copied(rig).influence = 0.0


@pytest.mark.parametrize("idle", [muted, without_influence, lambda rig: None])
def test_what_does_nothing_is_not_looked_at_frame_by_frame(idle):
    rig, target = moving()
    idle(rig)
    arm = limb(rig, target)
    assert not may_interfere(arm)
    report = bake(arm, 1, LAST)
    assert report.all_reached
    assert not report.warnings


def test_all_that_may_move_a_bone_is_named_once_with_constraints_first():
    rig, target = moving()
    arm = limb(rig, target)
    assert list(influences(arm)) == []
    rig.pose.bones["Bone 0"].keyframe_insert("rotation_quaternion", frame=1)
    rig.pose.bones["Bone 1"].driver_add("rotation_quaternion", 2)
    assert list(influences(arm)) == [("DRIVER", "Bone 1", "rotation_quaternion")]
    copied(rig)
    for curve in curves_of(rig)[:2]:
        curve.modifiers.new("NOISE")
    animation = rig.animation_data
    animation.action_blend_type, animation.action_influence = "ADD", 0.5
    name = animation.action.name
    expected = [
        ("CONSTRAINT", "Bone 1", "Copy Rotation"),
        ("DRIVER", "Bone 1", "rotation_quaternion"),
        ("MODIFIER", "Bone 0", ""),
        ("INFLUENCE", "", name),
        ("BLENDING", "", name),
    ]
    assert list(influences(arm)) == expected
    animation.action_blend_type, animation.action_influence = "REPLACE", 1.0
    assert list(influences(arm)) == expected[:3]
    push_down(rig)
    assert list(influences(arm))[-1] == ("NLA", "", rig.name)
    assert may_interfere(arm)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("CONSTRAINT", "Constraint 'x' on 'Hand' moves the tip of 'Tip' 2 cm away from the solution at frame 3. Mute"),
        ("DRIVER", "The driver on x of 'Hand' moves the tip of 'Tip' 2 cm away from the solution at frame 3. Mute or"),
        ("MODIFIER", "An F-Curve modifier of 'Hand' moves the tip of 'Tip' 2 cm away from the solution at frame 3."),
        ("INFLUENCE", "Action 'x' has an influence below 1, which moves the tip of 'Tip' 2 cm away .*Set it to 1"),
        ("BLENDING", "Action 'x' is blended with what is below it, which moves the tip of 'Tip' 2 cm .*to Replace"),
        ("LAYER", "rounds small turns of the layer of 'x': the tip of 'Tip' is 2 cm away .*Bake into an action"),
        ("NLA", "The NLA of 'x' moves the tip of 'Tip' 2 cm away from the solution at frame 3. Mute its strips"),
    ],
)
def test_what_moves_a_tip_is_told_with_the_remedy(kind, text):
    assert re.search(text, Influence(kind, "Hand", "x").moves("Tip", "2 cm", " at frame 3"))
