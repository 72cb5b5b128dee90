# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks measure is what they say: recorded motion solved again, and a mesh that the chain deforms."""

from math import radians, sin

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

from scripts.benchmarks import amc, bake, mocap

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


SKELETON = """:bonedata
  begin
     name lowerback
     direction 0 1 0
     length 2
     axis 0 0 0 XYZ
    dof rx
  end
  begin
     name thorax
     direction 0 1 0
     length 3
     axis 0 0 90 XYZ
    dof rz rx
  end
:hierarchy
  begin
    root lowerback
    lowerback thorax
  end
"""
POSES = "1\nroot 1 10 0 0 90 0\nlowerback 90\nthorax 0 0\n2\nroot 1 10 0 0 0 0\nlowerback 0\nthorax 0 90\n"


def test_acclaim_recordings_have_their_joints_where_the_files_say(tmp_path):
    (tmp_path / "someone.asf").write_text(SKELETON)
    (tmp_path / "someone_walks.amc").write_text(POSES)
    joints, recorded = amc.read(tmp_path / "someone_walks.amc")
    assert [(joint.name, joint.parent) for joint in joints] == [("Hips", -1), ("LowerBack", 0), ("Spine1", 1)]
    # A file has Y up and faces Z; here Z is up. In the first pose the root has turned to X, in which the back falls.
    assert recorded.places[:, 1] == pytest.approx(np.array([(1.0, 0.0, 10.0)] * 2))
    assert recorded.places[:, 2] == pytest.approx(np.array([(3.0, 0.0, 10.0), (1.0, 0.0, 12.0)]), abs=1e-9)
    # The last joint turns about its own X, which at rest is the file's Y.
    ends = recorded.places[:, 2] + (recorded.rotations[:, 2] @ joints[2].end)
    assert ends == pytest.approx(np.array([(6.0, 0.0, 10.0), (1.0, 0.0, 15.0)]), abs=1e-9)
