# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of recorded motion solved again reads recordings as they are, and measures what it says."""

from argparse import ArgumentParser
from math import cos, pi, sin

import bpy
import numpy as np
import pytest

from scripts.benchmarks import bvh, figure, likeness, natural, recordings, scenes, solving_again

from .bodies import write_body

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = 30
ARMS = ["LeftArm", "LeftForeArm", "LeftHand"], ["RightArm", "RightForeArm", "RightHand"]


@pytest.fixture
def body(tmp_path):
    return write_body(tmp_path / "swing.bvh", LAST)


@pytest.fixture
def recording(body):
    with scenes.extension():
        scenes.empty_file()
        yield recordings.load(body, LAST)


def about_z(angles):
    """Local rotations (F, 1, 3, 3) of one joint about Z by angles [degrees]."""
    return bvh.about("Z", np.radians(angles))[:, None]


def test_joints_are_where_blenders_own_importer_has_them(body):
    joints, values, seconds = bvh.read(body)
    assert seconds == pytest.approx(1 / 30, abs=1e-6)
    assert values.shape == (LAST + 1, 3 + 3 * len(joints))
    moved = bvh.motion(joints, values)
    bpy.ops.import_anim.bvh(filepath=str(body), rotate_mode="QUATERNION", frame_start=1)
    ob = bpy.context.object
    for frame in (1, 2, 17, LAST + 1):
        bpy.context.scene.frame_set(frame)
        for joint, place in zip(joints, moved.places[frame - 1], strict=True):
            assert np.allclose(ob.matrix_world @ ob.pose.bones[joint.name].head, place, atol=2e-3)


def test_a_file_that_is_no_recording_is_refused_by_name(tmp_path):
    file = tmp_path / "letter.bvh"
    file.write_text("Dear all", encoding="utf-8")
    with pytest.raises(ValueError, match=r"letter\.bvh is no BVH file"):
        bvh.read(file)


def test_a_missing_folder_tells_where_recordings_are_had(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.*mocap\.cs\.cmu\.edu"):
        recordings.files_in(tmp_path / "nowhere")


def test_a_recording_of_no_body_is_refused(tmp_path):
    file = write_body(tmp_path / "worm.bvh", 3, joints=(("Hips", None, (0, 0, 0), (0, 1, 0)),))
    joints, values, _ = bvh.read(file)
    with pytest.raises(ValueError, match="0 joints look like a hand, not 2"):
        figure.figure(joints, bvh.motion(joints, values))


def test_the_rest_pose_is_a_t_pose_without_fingers(body):
    joints, values, _ = bvh.read(body)
    found = figure.figure(joints, bvh.motion(joints, values[1:]))
    assert "LeftThumb" not in found.names
    assert "LeftToe" in found.names
    assert [found.names[k] for k in found.lines["arm 1"]] == ARMS[0]
    assert [found.names[k] for k in found.lines["spine to head"]] == ["Spine", "Chest", "Neck", "Head"]
    pointing = found.tails - found.rest.places
    pointing /= np.linalg.norm(pointing, axis=1, keepdims=True)
    wanted = {"arm 1": (1, 0, 0), "arm 2": (-1, 0, 0), "leg 1": (0, 0, -1), "leg 2": (0, 0, -1)}
    for limb, direction in wanted.items():
        assert np.allclose(pointing[found.lines[limb][:2]], direction, atol=1e-3)
    assert found.rest.places[found.lines["leg 1"][0], 0] > 0.0
    assert np.ptp(np.concatenate([found.rest.places, found.tails])[:, 2]) == pytest.approx(figure.TALL)


def test_elbows_bend_ahead_and_up_and_knees_back_of_the_rest_pose(recording):
    for limb, to in (("arm 1", (0.0, -0.9, 0.4)), ("arm 2", (0.0, -0.9, 0.4)), ("leg 1", (0.0, 1.0, 0.0))):
        bones = recording.limbs[limb]
        rest = np.array(recording.ob.data.bones[bones[0]].matrix_local.to_3x3())
        upper, lower = recording.of(bones)[:, 1, :3, :3], recording.of(bones)[:, 2, :3, 1]
        bends = rest @ np.einsum("fji,fj->i", upper, lower)  # as if the first bone were at rest
        bends -= rest[:, 1] * (bends @ rest[:, 1])
        assert np.allclose(bends / np.linalg.norm(bends), np.array(to) / np.linalg.norm(to), atol=0.05)


def test_the_rig_plays_the_recording(recording, body):
    joints, values, _ = bvh.read(body)
    found = figure.figure(joints, bvh.motion(joints, values[1:]))
    bones = recording.ob.data.bones.keys()
    for k, name in enumerate(found.names):
        seen = recording.matrices[:, bones.index(name), :3, 3]
        assert np.abs(seen - found.motion.places[:, k]).max() < 1e-4
    assert list(recording.limbs)[:2] == ["arm 1", "arm 2"]


def test_a_pop_stands_out_from_its_neighbours_and_from_the_recording():
    steady = about_z(2.0 * np.arange(40.0))
    popped = about_z(2.0 * np.arange(40.0) + 9.0 * (np.arange(40) >= 20))
    assert likeness.pops(likeness.turns(steady), likeness.turns(steady)) == 0
    assert likeness.pops(likeness.turns(popped), likeness.turns(steady)) == 1
    assert likeness.pops(likeness.turns(popped), likeness.turns(popped)) == 0
    assert likeness.pops(likeness.turns(about_z(0.2 * (np.arange(40.0) >= 20))), likeness.turns(steady)) == 0


def test_the_jerk_of_a_steady_turn_is_nothing_and_grows_with_the_cube_of_its_frequency():
    frames = np.arange(200.0)
    assert likeness.jerk(about_z(5.0 * frames)) == pytest.approx(0.0, abs=1e-3)
    slow, fast = (likeness.jerk(about_z(20.0 * np.sin(rate * frames))) for rate in (0.1, 0.2))
    assert fast / slow == pytest.approx(8.0, rel=0.05)


def test_angles_and_places_are_those_of_the_bones():
    def arm(bend):
        matrices = np.tile(np.eye(4), (3, 3, 1, 1))
        matrices[:, 2, :3, 3] = 0.0, 1.0, 0.0
        matrices[:, 2, :2, :2] = (cos(bend), -sin(bend)), (sin(bend), cos(bend))
        return matrices

    rests = np.tile(np.eye(4), (2, 1, 1))
    rests[1, 1, 3] = 1.0
    found = likeness.likeness(arm(pi / 2), arm(0.0), rests, np.ones(2))
    assert found.angles.reshape(3, 2).tolist() == [pytest.approx([0.0, 90.0])] * 3
    assert found.places == pytest.approx([0.0] * 3)
    assert found.ends == pytest.approx([90.0] * 3)
    assert found.tips == pytest.approx([2**0.5 / 2] * 3)
    both = likeness.pooled([found, found])
    assert len(both.angles) == 12
    assert both.pops == 0


@pytest.mark.parametrize(
    "name",
    [
        "hand",
        "spine",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("place", "rest", "keyed", "neck-rest")),
    ],
)
def test_what_is_solved_again_reaches_where_the_recording_was(recording, name):
    case = natural.CASES[name]
    objects, actions = set(bpy.data.objects), set(bpy.data.actions)
    methods = [method for method in natural.METHODS if solving_again.has_peer(case, method)]
    assert len(methods) >= 2
    for method in methods:
        found, _, notes = solving_again.solve_again(recording, case, method)
        assert len(found) == (4 if case.limbs == solving_again.ENDS else 1)
        assert not notes
        for like in found.values():
            assert like.tips.max() < 0.01
            assert like.places.max() < 1.0
            if not case.place:
                assert like.ends.max() < 1.0
    assert (set(bpy.data.objects), set(bpy.data.actions)) == (objects, actions)
    assert np.abs(recordings.watch(recording.ob, recording.frames) - recording.matrices).max() < 1e-5


def test_keys_are_given_every_24_frames_and_blenders_ik_starts_from_them(recording):
    found, _, _ = solving_again.solve_again(recording, natural.CASES["keyed"], solving_again.BLENDER)
    for like in found.values():
        angles = like.angles.reshape(LAST, 3)
        assert angles[[0, 24]].max() < 0.5
        assert angles[12].max() > 0.5


def test_recorded_joints_outside_the_ranges_of_plus_are_told(recording):
    assert solving_again.outside_ranges(recording, "arm 1").max() < 1.0
    far = recording.matrices.copy()
    names = recording.ob.data.bones.keys()
    elbow = names.index("LeftForeArm")
    far[:, elbow, :3, :3] = far[:, elbow, :3, :3] @ bvh.about("Y", np.radians([120.0]))[0]
    assert solving_again.outside_ranges(recording._replace(matrices=far), "arm 1")[:, 1].min() > 45.0


def test_the_table_has_a_line_for_each_case_and_method(body, capsys, tmp_path):
    parser = ArgumentParser()
    natural.add_arguments(parser)
    json = tmp_path / "figures.json"
    natural.run(parser.parse_args([str(body.parent), "--rows", "hand", "spine", "--frames", "8", "--json", str(json)]))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][1:]
    assert [line.split(" | ")[1] for line in lines] == [*natural.METHODS, *natural.METHODS[:2]]
    assert '"clip": "swing"' in json.read_text(encoding="utf-8")
