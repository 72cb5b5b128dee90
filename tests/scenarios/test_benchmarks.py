# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks measure is what they say: recorded motion solved again, and a mesh that the chain deforms."""

from math import radians, sin

import bpy
import pytest
from mathutils import Euler, Vector

from scripts.benchmarks import bake, mocap

from ..rigs import armature

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 20
ARM = ["LeftArm", "LeftForeArm"]


@pytest.fixture
def recording(tmp_path):
    """A BVH file of a body that turns while its elbow bends and stretches and its shoulder swings."""
    joints = [Vector(place) for place in ((0, 0, 1), (0, 0, 1.5), (0.3, 0, 1.5), (0.58, 0.02, 1.5), (0.66, 0.02, 1.5))]
    names = ["Hips", "LeftArm", "LeftForeArm", "LeftHand"]
    rig = armature(
        "Body",
        [
            {"name": name, "head": head, "tail": tail, "parent": parent, "connect": parent is not None}
            for name, head, tail, parent in zip(names, joints, joints[1:], [None, *names], strict=False)
        ],
    )
    for frame in range(1, LAST + 1):
        turns = {
            "Hips": (0.0, 0.02 * frame, 0.0),
            "LeftArm": (0.3 * sin(0.3 * frame), 0.0, 0.4 * sin(0.2 * frame)),
            "LeftForeArm": (radians(50.0 + 30.0 * sin(0.4 * frame)), 0.0, 0.0),
        }
        for name, turn in turns.items():
            rig.pose.bones[name].rotation_quaternion = Euler(turn).to_quaternion()
            rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    path = tmp_path / "motion.bvh"
    bpy.ops.export_anim.bvh(filepath=str(path), frame_start=1, frame_end=LAST)
    return path


def test_a_limb_is_the_two_bones_before_a_hand(recording):
    rig = mocap.load(recording)
    assert mocap.limbs_of(rig) == [ARM]
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}
    assert bpy.context.scene.frame_end == LAST


def test_recorded_motion_is_reached_and_with_learned_joints_found_again(recording):
    rows = {(row.joints, row.solver): row for row in mocap.rows(recording, 1, LAST, ["TRIANGULATION"])}
    assert set(rows) == {("free", "TRIANGULATION"), ("free", mocap.BLENDER), ("learned", "TRIANGULATION")}
    for row in rows.values():
        assert row.limb == "LeftArm + LeftForeArm"
        assert len(row.errors) == len(row.angles) == LAST
        assert row.angles[0] == pytest.approx([0.0, 0.0], abs=1e-3)
    assert max(rows["free", "TRIANGULATION"].errors) < mocap.TOLERANCE
    assert max(rows["free", mocap.BLENDER].errors) < 0.01
    mean = {key: sum(map(sum, row.angles)) / LAST for key, row in rows.items()}
    assert 0.0 < mean["learned", "TRIANGULATION"] < mean["free", "TRIANGULATION"]
    assert mean["free", mocap.BLENDER] > 0.01  # it starts from one pose as well, and not from the recorded ones


def test_the_rest_of_the_body_moves_as_recorded(recording):
    rig = mocap.load(recording)
    before = mocap.watch(rig, ["Hips"], range(1, LAST + 1))
    mocap.forget(rig, ARM, mocap.watch(rig, ARM, [1]).rotations[0])
    assert mocap.watch(rig, ["Hips"], range(1, LAST + 1)) == before
    still = mocap.watch(rig, ARM, range(1, LAST + 1)).rotations
    assert all((a - b).magnitude < 1e-6 for a, b in zip(still[0], still[-1], strict=True))


def test_the_skin_has_the_vertices_asked_for_and_follows_the_chain():
    rig = bake.make_chain(5)
    skin = bake.make_skin(rig, 1000)
    assert len(skin.data.vertices) == 1000

    def places():
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return [vertex.co.copy() for vertex in skin.evaluated_get(depsgraph).data.vertices]

    before = places()
    rig.pose.bones[-1].rotation_quaternion = Euler((1.0, 0.0, 0.0)).to_quaternion()
    bpy.context.view_layer.update()
    moved = [(a - b).length for a, b in zip(before, places(), strict=True)]
    assert max(moved[:500]) < 1e-4
    assert max(moved[-40:]) > 1.0
