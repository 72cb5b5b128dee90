# SPDX-License-Identifier: GPL-3.0-or-later
"""Free arms swing against legs and trunk, which turn with a stride, and hang where something is asked or still."""

from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.api import new_target
from ik_triangulation.jobs.bake import bake_body, rebake_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import Contact, store_contacts

from ...bodies import human_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
CYCLE = 24
UP = np.array([0.0, 0.0, 1.0])


def set_up_rig(swings=True, feet=("foot.L", "foot.R")):
    """A rig that is set up as a body, whose feet follow empties."""
    rig = human_rig()
    bpy.context.view_layer.update()
    set_up_body(rig)
    assert rig.ik_triangulation.swing_arms, "bodies that are set up swing their arms"
    rig.ik_triangulation.swing_arms = swings
    for name in feet:
        stored = rig.pose.bones[name].ik_triangulation
        stored.hold, stored.target = False, new_target(rig, name)
    return rig


def key(rig, name, ways):
    """Key the target of a limb at ways (world space) from where it is, by frame."""
    target = rig.pose.bones[name].ik_triangulation.target
    start = target.location.copy()
    for frame, way in ways.items():
        target.location = start + Vector(way)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def walking_rig(swings=True):
    """A rig that walks on the spot, one cycle that closes."""
    rig = set_up_rig(swings)
    for name, begin in (("foot.L", 0.0), ("foot.R", pi)):
        phases = {frame: begin + 2.0 * pi * (frame - 1) / CYCLE for frame in range(1, CYCLE + 2, 2)}
        key(rig, name, {k: (0.0, 0.25 * np.cos(p), max(0.1 * np.sin(p), 0.0)) for k, p in phases.items()})
    return rig


def baked(rig, last=CYCLE + 1):
    assert bake_body(body_of(rig, "foot.L"), 1, last).reached
    return shown(rig, last)


def shown(rig, last=CYCLE + 1):
    """Matrices (F, 4, 4) of all bones by their names."""
    found = {bone.name: [] for bone in rig.pose.bones}
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        for name, every in found.items():
            every.append(np.array(rig.pose.bones[name].matrix))
    return {name: np.array(every) for name, every in found.items()}


def ahead(motion, bone):
    """Angles [degrees] by which a bone that hangs points ahead (-Y)."""
    way = motion[bone][:, :3, 1]
    return np.degrees(np.arctan2(-way[:, 1], -way[:, 2]))


def off(one, other, bone):
    """Distance of a bone's matrices in two motions, at most."""
    return np.abs(one[bone] - other[bone]).max()


def yaw(motion, bone):
    """Turns [degrees] about the vertical of the line from the right bone to the left one."""
    way = motion[f"{bone}.L"][:, :3, 3] - motion[f"{bone}.R"][:, :3, 3]
    return np.degrees(np.arctan2(way[:, 1], way[:, 0]))


def test_in_a_walk_each_arm_swings_against_its_leg_and_the_feet_stay_as_they_are():
    still = baked(walking_rig(swings=False))
    rig = walking_rig()
    found = baked(rig)
    for side in "LR":
        swing = ahead(found, f"upper_arm.{side}") - ahead(still, f"upper_arm.{side}")
        thigh = ahead(found, f"thigh.{side}")
        assert np.corrcoef(swing, thigh)[0, 1] < -0.8
        assert 0.1 < np.ptp(swing) / np.ptp(thigh) < 0.8
        assert np.abs(np.diff(swing)).max() < 6.0
        assert np.abs(found[f"hand.{side}"][0] - found[f"hand.{side}"][-1]).max() < 1e-3, "a cycle closes"
    for side in "LR":
        feet = [each[f"foot.{side}"] for each in (still, found)]
        ends = [foot[:, :3, 3] + rig.pose.bones[f"foot.{side}"].length * foot[:, :3, 1] for foot in feet]
        assert np.abs(ends[1] - ends[0]).max() < 1e-4
    assert rebake_body(rig, "foot.L").reached
    assert off(found, shown(rig), "hand.L") < 1e-4


def test_in_a_walk_the_pelvis_turns_with_the_leg_ahead_and_the_chest_against_it_unless_the_trunk_is_animated():
    rig = walking_rig()
    found = baked(rig)
    pelvis, chest = yaw(found, "thigh"), yaw(found, "upper_arm")
    left_ahead = found["foot.R"][:, 1, 3] - found["foot.L"][:, 1, 3]
    assert np.corrcoef(-pelvis, left_ahead)[0, 1] > 0.95
    assert np.corrcoef(chest, left_ahead)[0, 1] > 0.95
    assert 3.0 < np.abs(pelvis).max() < 6.0
    assert 1.0 < np.abs(chest).max() < 5.0
    rig = walking_rig()
    bone = rig.pose.bones["spine.001"]
    for frame, share in ((1, 0.0), (CYCLE + 1, 0.1)):
        bone.rotation_quaternion = (1.0, share, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    assert np.abs(yaw(baked(rig), "thigh")).max() < 2.0


def test_arms_hang_where_a_shot_begins_and_ends_at_rest():
    rig = set_up_rig(feet=["foot.R"])
    rest = np.array(rig.pose.bones["hand.L"].matrix)
    kick = {1: (0, 0, 0), 10: (0, 0.3, 0.15), 20: (0, -0.6, 0.4), 40: (0, 0, 0), 72: (0, 0, 0)}
    key(rig, "foot.R", kick)
    found = baked(rig, 72)
    swing = ahead(found, "upper_arm.L") - ahead(found, "upper_arm.L")[0]
    assert swing[18:28].max() > 5.0, "the other arm goes ahead with the kick"
    assert max(np.abs(found["hand.L"][k] - rest).max() for k in (0, -1)) < 1e-4
    assert np.abs(swing[60:]).max() < 1.5


def test_a_free_arm_goes_ahead_while_the_other_one_draws_back_and_back_in_a_throw():
    motions = []
    for swings in (False, True):
        rig = set_up_rig(swings, feet=[])
        key(rig, "hand.R", {1: (0, 0, 0), 14: (-0.1, 0.4, 0.3), 22: (0, -0.6, 0.4), 48: (0, -0.6, 0.4)})
        motions.append(baked(rig, 48))
    still, found = (ahead(each, "upper_arm.L") for each in motions)
    swing = found - still
    assert swing[10:16].max() > 2.0
    assert swing[20:30].min() < -2.0
    assert np.abs(swing).max() <= 25.0
    assert off(*motions, "hand.R") < 1e-6


def test_arms_that_something_is_asked_of_do_not_swing():
    motions = []
    for swings in (False, True):
        rig = walking_rig(swings)
        rig.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=1)
        key(rig, "hand.R", {1: (0.0, 0.0, 0.05)})
        assert ("hand.R" in body_of(rig, "foot.L").may_swing) == swings
        assert "hand.L" not in body_of(rig, "foot.L").may_swing
        motions.append(baked(rig))
    assert max(off(*motions, name) for name in motions[0]) < 1e-6
    rig.pose.bones["foot.L"].ik_triangulation.hold = True
    store_contacts(rig, [Contact("foot.L", 1, CYCLE)])
    assert not body_of(rig, "foot.L").may_swing, "a recorded motion has its own"
