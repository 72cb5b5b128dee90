# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb whose target is animated shows at every frame what a bake keys there."""

from math import degrees, tau

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.shots import natural_shot
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, configure, curves_of, empty, evaluated_tip, key_location
from ..waving import body, wave

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
FRAMES = range(1, 61)


@pytest.fixture(autouse=True)
def ends():
    yield
    live.stop_all()


def pose_at(rig, bones, frame):
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    return [rig.pose.bones[name].rotation_quaternion.copy() for name in bones]


def largest_difference(rig, tip, bones):
    """Angle [degrees] between Live and the bake, at the worst of all frames."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.context.scene.frame_set(FRAMES[0])
    live.start(rig, tip)
    seen = [pose_at(rig, bones, frame) for frame in FRAMES]
    live.stop(rig, tip)
    bake(Limb.of(rig.pose.bones[tip]), FRAMES[0], FRAMES[-1])
    baked = [pose_at(rig, bones, frame) for frame in FRAMES]
    return degrees(
        max(
            rotation_angle(a, b)
            for one, other in zip(seen, baked, strict=True)
            for a, b in zip(one, other, strict=True)
        )
    )


@pytest.mark.parametrize("lap", [tau, 0.8 * tau], ids=["a lap", "a way"])
def test_an_arm_is_live_as_it_is_baked(lap):
    rig = body()
    tip, _ = wave(rig, lap=lap)
    assert largest_difference(rig, tip.name, ["upper_arm.L", "forearm.L", "hand.L"]) < 0.5


def test_a_chain_of_many_bones_is_live_as_it_is_baked():
    rig = chain_rig(5)
    places = {1: (0.3, 0.6, 4.2), 20: (0.8, 1.0, 3.6), 40: (-0.4, 1.2, 3.5), 60: (0.1, 0.8, 4.0)}
    target = key_location(empty(), places, places.__getitem__)
    configure(rig, "Bone 4", target=target, chain_count=5)
    assert largest_difference(rig, "Bone 4", [bone.name for bone in rig.pose.bones]) < 0.5


def test_a_target_that_is_dragged_off_its_animation_is_followed():
    rig = body()
    tip, target = wave(rig)
    bpy.context.scene.frame_end = 60
    bpy.context.scene.frame_set(20)
    live.start(rig, tip.name)
    target.location.z += 0.03
    bpy.context.view_layer.update()
    assert (evaluated_tip(rig, tip.name) - target.location).length < 1e-3


def test_outside_its_range_a_limb_is_live_all_the_same():
    rig = body()
    tip, target = wave(rig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 10, 40
    live.start(rig, tip.name)
    for frame in (3, 9, 10, 41, 55):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        assert (evaluated_tip(rig, tip.name) - target.matrix_world.translation).length < 1e-3


def played(rig, tip, frames, ahead=True):
    """Place of the tip at these frames, with as much solved ahead between them as there is."""
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        places.append(evaluated_tip(rig, tip))
        while ahead and live.solve_upcoming() is not None:
            pass
    return places


def test_frames_that_were_solved_with_an_earlier_one_or_ahead_are_not_solved_again(monkeypatch):
    rig = body()
    tip, _ = wave(rig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 120
    solved, own = [], natural_shot.solve_naturally
    monkeypatch.setattr(natural_shot, "solve_naturally", lambda *of, **more: solved.append(1) or own(*of, **more))
    bpy.context.scene.frame_set(1)
    live.start(rig, tip.name, at_once=False)
    first = played(rig, tip.name, range(1, 60))
    assert len(solved) == 3
    assert played(rig, tip.name, range(1, 60))[1:] == first[1:]
    assert len(solved) == 3


def test_while_time_goes_back_the_frames_before_are_solved_ahead(monkeypatch):
    rig = body()
    tip, _ = wave(rig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 120
    solved, own = [], natural_shot.solve_naturally
    monkeypatch.setattr(natural_shot, "solve_naturally", lambda *of, **more: solved.append(1) or own(*of, **more))
    bpy.context.scene.frame_set(62)
    live.start(rig, tip.name, at_once=False)
    played(rig, tip.name, range(61, 56, -1))
    count = len(solved)
    played(rig, tip.name, range(56, 40, -1), ahead=False)
    assert len(solved) == count


def test_a_key_that_is_moved_is_followed_at_once_and_at_the_frames_after_it():
    rig = body()
    tip, target = wave(rig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 60
    live.start(rig, tip.name)
    played(rig, tip.name, range(1, 20))
    for curve in curves_of(target):
        for key in curve.keyframe_points:
            key.co.y += 0.01
    curve.id_data.update_tag()
    bpy.context.view_layer.update()
    for frame in range(19, 30):
        played(rig, tip.name, [frame])
        assert (evaluated_tip(rig, tip.name) - target.matrix_world.translation).length < 1e-3
