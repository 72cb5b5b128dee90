# SPDX-License-Identifier: GPL-3.0-or-later
"""Shots of a limb: solved together they say of every frame what Blender shows, and what cannot be is left alone."""

import bpy
import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.target_shapes import TARGET_SHAPES
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.shots.frame_solver import follow
from ik_triangulation.jobs.shots.limb_problem import LimbProblem
from ik_triangulation.jobs.shots.natural_shot import solve_naturally
from ik_triangulation.jobs.shots.shot import frames_of, solve_together
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.solvers.solve import SOLVERS

from ...rigs import chain_rig, curves_of, empty
from ..moving import limb, moving

FRAMES = range(1, 41)


def nothing_to_keep(goal):
    return None


def read(the_limb, frames=FRAMES):
    scene = bpy.context.scene
    bpy.context.view_layer.update()
    reader = FrameReader(the_limb, scene, bpy.context.view_layer, frames)
    return Bones(the_limb.armature, the_limb.bones, the_limb.solved), finished(reader.read())


def solved(the_limb, frames=FRAMES):
    return finished(solve_together(the_limb, *read(the_limb, frames), bpy.context.scene, nothing_to_keep))


@pytest.mark.parametrize("settings", [{}, {"orientation": "FULL"}, {"orientation": "DIRECTION"}, {"shape": "SPHERE"}])
def test_the_arrays_agree_with_the_frames_that_are_made_of_them(settings):
    rig, target = moving(4)
    if "orientation" in settings:
        target.rotation_euler = 0.3, 0.2, 0.4
    shot = solved(limb(rig, target, **settings))
    assert list(frames_of(shot)) == list(FRAMES)
    for k, each in enumerate(shot):
        world = each.now.rig.world
        place = world @ each.pose.tip
        assert shot.distances[k] == pytest.approx(
            (world @ each.goal.target.closest(each.pose.tip) - place).length, abs=1e-5
        )
        if shot.angles is not None:
            assert shot.angles[k] == pytest.approx(each.goal.soft[0].missing(each.pose), abs=1e-3)
        assert np.allclose([rotation[:] for rotation in each.pose.rotations], shot.rotations[:, :, k], atol=1e-6)


def test_every_frame_that_frame_by_frame_reaches_is_reached(long):
    for seed in range(6 if long else 3):
        rig, target = moving(3 + seed % 3)
        the_limb = limb(rig, target, seed=seed)
        bones, samples = read(the_limb)
        one_by_one = [each.solution.reached for each in follow(the_limb, bones, samples)]
        together = solved(the_limb).distances <= the_limb.tolerance
        assert (together | ~np.array(one_by_one)).all()


def test_the_cost_of_a_frame_counts_from_the_frame_before():
    rig, target = moving(4)
    shot = solved(limb(rig, target))
    for k in (1, 17, 39):
        pairs = zip(shot[k - 1].pose.rotations, shot[k].pose.rotations, strict=True)
        assert shot[k].solution.cost.total_angle == pytest.approx(
            sum(rotation_angle(*pair) for pair in pairs), abs=1e-5
        )


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "CCD", "finish": False},
        {"smooth": False},
        {"start_from": "REST"},
        {"rest_weight": 0.1},
        {"effort_weight": 0.1},
    ],
    ids=str,
)
def test_what_has_to_be_solved_frame_by_frame_is_no_shot(settings):
    rig, target = moving(3)
    refusal = solved(limb(rig, target, **settings))
    assert refusal.reason
    assert refusal.chosen == bool({"finish", "smooth", "start_from"} & set(settings))


SOFT = {
    "place alone": {},
    "orientation": {"orientation": "FULL"},
    "direction": {"orientation": "DIRECTION"},
    "look": {"orientation": "LOOK"},
    "pole": {"pole_target": "pole"},
    "effort": {"effort_weight": 0.1},
    "rest": {"rest_weight": 0.1},
    "obstacles": {"obstacles": "obstacles"},
}


def refusals(chosen, soft, limited):
    """The reasons why limbs with these settings cannot be solved together, by the shape of the target."""
    rig, target = moving(3)
    target.scale = 1.0, 1.4, 0.7
    if limited:
        bone = rig.pose.bones[1]
        bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
        bone.ik_min_x, bone.ik_max_x = -0.5, 2.0
    settings = dict(SOFT[soft])
    if soft == "pole":
        settings["pole_target"] = empty(location=(0.0, -2.0, 1.0))
    if soft == "obstacles":
        settings["obstacles"] = bpy.data.collections.new("Obstacles")
        ball = empty("Ball", (2.0, 0.0, 1.0))
        ball.empty_display_type = "SPHERE"
        settings["obstacles"].objects.link(ball)
    found = {}
    for shape in TARGET_SHAPES:
        the_limb = limb(rig, target, shape=shape, **settings, **chosen)
        refusal = LimbProblem(the_limb, *read(the_limb, range(1, 6))).refusal
        if refusal is not None:
            found[shape] = refusal.reason
    return found


@pytest.mark.parametrize("limited", [False, True], ids=["free", "limited"])
@pytest.mark.parametrize("soft", SOFT)
def test_every_shape_is_solved_at_all_frames_at_once_with_every_soft_goal(soft, limited):
    found = {str(chosen): refusals(chosen, soft, limited) for chosen in ({"solver": "NATURAL"}, {"solver": "CCD"})}
    assert not any(found.values()), (
        f"Bakes would go frame by frame, which takes many times as long: {found}. Give the shape or soft goal its form "
        "on arrays, in goals/batch."
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_method_solves_all_frames_at_once(solver):
    rig, target = moving(2)
    report = bake(limb(rig, target, solver=solver), 1, 4)
    assert not [warning for warning in report.warnings if "frame by frame" in warning]
    the_limb = limb(rig, target, solver=solver, effort_weight=0.1)
    told = [warning for warning in bake(the_limb, 1, 8).warnings if "frame by frame" in warning]
    assert bool(told) == (solver != "NATURAL")  # the published methods weigh comfort one frame after the other


def test_a_bone_with_keyed_scale_is_no_shot():
    rig, target = moving(3)
    bone = rig.pose.bones[1]
    for frame, scale in ((1, 1.0), (40, 1.4)):
        bone.scale = scale, 1.0, 1.0
        bone.keyframe_insert("scale", frame=frame)
    the_limb = limb(rig, target)
    assert "scales" in LimbProblem(the_limb, *read(the_limb)).refusal.reason
    assert bake(the_limb, 1, 40).all_reached


def test_a_range_of_two_frames_is_no_shot():
    rig, target = moving(3)
    assert solved(limb(rig, target), range(1, 3)).chosen


def test_jumps_of_the_target_are_told_with_their_reason():
    rig = chain_rig(4)
    target = empty(location=(1.0, 0.5, 2.0))
    for frame, place in ((1, (1.0, 0.5, 2.0)), (20, (1.0, 0.5, 2.0)), (21, (-1.5, -0.5, 1.0)), (40, (-1.5, -0.5, 1.0))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    shot = solved(limb(rig, target))
    (jump,) = shot.jumps()
    assert frames_of(shot)[jump.turned.at] == 21
    assert jump.reason == "the target jumps"


def test_an_animated_influence_blends_each_frame_from_the_animated_pose():
    rig, target = moving(3)
    the_limb = limb(rig, target, influence=0.5)
    shot = solved(the_limb)
    assert not shot.is_written
    blended, reached = shot[20].pose, shot[20].solution.pose
    assert (blended.tip - reached.tip).length > 0.01


def test_each_frame_tells_the_steps_that_it_took():
    rig, target = moving(4)
    the_limb = limb(rig, target)
    steps = [each.solution.iterations for each in solved(the_limb)]
    assert steps[0] == next(follow(the_limb, *read(the_limb, FRAMES[:3]))).solution.iterations
    assert sum(steps[1:]) > 0
    assert max(steps[1:]) <= 60


def test_distances_of_an_unevenly_scaled_rig_are_those_in_the_world():
    rig, target = moving(4)
    rig.scale = (0.5, 1.0, 2.0)
    for curve in curves_of(target):
        for key in curve.keyframe_points:
            key.co.y += 3.0
    the_limb = limb(rig, target)
    shot = finished(solve_naturally(the_limb, *read(the_limb, range(1, 5)), bpy.context.scene))
    places = [each.now.rig.world @ each.goal.target.closest(each.pose.tip) for each in shot]
    wanted = [(each.now.rig.world @ each.pose.tip - place).length for each, place in zip(shot, places, strict=True)]
    assert min(wanted) > 0.5
    assert shot.distances == pytest.approx(np.array(wanted), rel=1e-4)
