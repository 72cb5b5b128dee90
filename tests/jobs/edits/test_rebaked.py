# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake after a pull agrees with it, of a limb and of a body, and a bake after a retime."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs.edits.edit import BakedPoses, pull
from ik_triangulation.jobs.edits.retime import retime

from ...bodies import set_up_rig
from ...rigs import select

pytestmark = pytest.mark.usefixtures("addon")
LAST, AT, FALLOFF, WITHIN = 40, 20, 12, 1.0  # frames, and degrees


def baked(whole):
    """The left hand that reaches to the shin and back, alone or with the body."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = set_up_rig(LAST)
    if not whole:
        for bone in rig.pose.bones:
            if bone.name != "hand.L":
                bone.ik_triangulation.target, bone.ik_triangulation.hold = None, False
    select(rig, "hand.L", active="hand.L")
    bake()
    return rig


def bake():
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST) == {"FINISHED"}


def poses(rig):
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append([bone.matrix_basis.to_quaternion() for bone in rig.pose.bones])
    return found


def apart(some, others, frames):
    """The largest turn of a joint between two animations at frames [degrees]."""
    pairs = [pair for k in frames for pair in zip(some[k - 1], others[k - 1], strict=True)]
    turns = [2.0 * np.arcsin(min(1.0, np.linalg.norm(a.rotation_difference(b)[1:]))) for a, b in pairs]
    return np.degrees(max(turns))


@pytest.mark.parametrize(("whole", "edit"), [(False, "pull"), (False, "retime"), (True, "pull")])
def test_a_bake_afterwards_agrees(whole, edit):
    rig = baked(whole)
    before = poses(rig)
    if edit == "pull":
        pull(rig, "hand.L", AT, (0.05, -0.1, 0.1), FALLOFF)
    else:
        retime(rig, "hand.L", AT, 4, FALLOFF)
    edited = poses(rig)
    bake()
    again = poses(rig)
    inside = range(AT - FALLOFF, AT + FALLOFF + 1)
    outside = [frame for frame in range(1, LAST + 1) if frame not in inside]
    assert apart(before, edited, outside) < 0.01
    assert apart(before, edited, inside) > 5.0
    most = 2.5 if whole else WITHIN  # trunk and legs begin with the move of the hand, before the pull does
    assert apart(edited, again, range(AT - FALLOFF // 2, AT + FALLOFF // 2 + 1)) < most
    # What a bake of a body changes outside, a pull may not: near its ends it does not agree better than that.
    assert apart(edited, again, inside) < most + apart(before, again, outside)


def test_poses_between_frames_are_between_those_of_the_frames():
    turns = np.array([Quaternion((0, 0, 1), angle)[:] for angle in (0.0, 0.4)]).T
    poses_of = BakedPoses([1, 2], ["Bone"], np.stack((turns[:, 0], -turns[:, 1]), 1)[None], np.array([[0.0, 1.0]] * 3))
    middle = poses_of.at([1.5, 3.0])
    assert Quaternion(middle.rotations[0, :, 0]).angle == pytest.approx(0.2, abs=1e-6)
    assert middle.locations[0].tolist() == [0.5, 1.0]
    alone = BakedPoses([1], ["Bone"], turns[None, :, :1]).at([1.0, 2.0])
    assert alone.rotations[0, 0].tolist() == [1.0, 1.0], "held"
    assert alone.locations is None
