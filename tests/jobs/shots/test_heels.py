# SPDX-License-Identifier: GPL-3.0-or-later
"""Planted feet lift their heels where ankles would bend too far: about the ball, and the toes stay.

Toes of feet that are led bend up on the floor.
"""

from dataclasses import replace
from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.api import new_target
from ik_triangulation.cooperative import finished
from ik_triangulation.goals.support import HeelTask
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import BodyProblem, body_of
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import compose, cross
from ik_triangulation.rig.frames.body_samples import read_body
from ik_triangulation.rig.keyframes import is_baked

from ...bodies import FEET, human_rig, set_up_rig, tails
from ...goals.test_task import derivatives, rows_of
from ...rewritten import t_pose_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
LEG, LAST, EXACT = 0.95, 12, 1e-3
MOST = radians(28.0)  # of an ankle
TOES = ("toe.L", "toe.R")


def squatting_rig(way, heels=True):
    """A rig that is set up as a body, whose hips go this way."""
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig)
    rig.ik_triangulation.heels = heels
    key_hips(rig, way)
    bpy.context.scene.frame_set(1)
    return rig


def key_hips(rig, way):
    bone = rig.pose.bones["spine"]
    for frame, share in ((1, 0.0), (LAST, 1.0)):
        bone.location = bone.bone.matrix_local.to_3x3().inverted() @ Vector(way) * share
        bone.keyframe_insert("location", frame=frame)


def matrices(rig, names):
    return {name: np.array(rig.pose.bones[name].matrix) for name in names}


def ankle(rig, side="L"):
    """Angle [rad] by which an ankle is bent from rest as shown now."""
    foot, shin = (rig.pose.bones[f"{name}.{side}"] for name in ("foot", "shin"))
    rest = (shin.bone.head_local - shin.bone.tail_local).angle(foot.bone.tail_local - foot.bone.head_local)
    return rest - (shin.head - shin.tail).angle(foot.tail - foot.head)


def test_in_a_squat_the_heels_lift_about_the_balls_and_the_toes_stay():
    rig = squatting_rig((0.0, 0.0, -0.45))
    balls, toes, heights = (
        {n: tails(rig, n, [1])[0] for n in FEET},
        matrices(rig, TOES),
        rig.pose.bones["foot.L"].head.z,
    )
    hips = tails(rig, "spine", range(1, LAST + 1))
    report = bake_body(body_of(rig, "foot.L"), 1, LAST)
    assert report.reached
    assert np.allclose(tails(rig, "spine", range(1, LAST + 1)), hips, atol=EXACT), "hips keep their keys"
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert max((rig.pose.bones[name].tail - balls[name]).length for name in FEET) < EXACT * LEG
        assert all(np.allclose(now, toes[name], atol=EXACT) for name, now in matrices(rig, TOES).items())
        assert ankle(rig) < MOST
    assert rig.pose.bones["foot.L"].head.z > heights + 0.02


@pytest.mark.parametrize("share", [0.5, 1.5])
def test_heels_lift_about_where_the_toes_begin_wherever_an_import_has_the_tails_of_feet(share):
    rig = human_rig(with_head=True)
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        foot, toe = (rig.data.edit_bones[f"{name}.{side}"] for name in ("foot", "toe"))
        toe.use_connect = False
        foot.tail = foot.head.lerp(foot.tail, share)
    bpy.ops.object.mode_set(mode="POSE")
    set_up_body(rig)
    key_hips(rig, (0.0, 0.0, -0.45))
    toes, height = matrices(rig, TOES), rig.pose.bones["foot.L"].head.z
    assert bake_body(body_of(rig, "foot.L"), 1, LAST).reached
    bpy.context.scene.frame_set(LAST)
    assert all(np.allclose(now, toes[name], atol=EXACT) for name, now in matrices(rig, TOES).items())
    assert rig.pose.bones["foot.L"].head.z > height + 0.02


def test_toes_of_the_foot_that_is_left_behind_bend_up_on_the_floor_and_no_more():
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig)
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold = False
        rig.pose.bones[name].ik_triangulation.target = new_target(rig, name)
    bpy.context.view_layer.update()
    for name, keys in (("foot.L", ((1, 0.0, 0.0), (LAST, 0.6, 0.0))), ("foot.R", ((LAST, 0.0, 0.0), (22, 0.5, 0.35)))):
        target = rig.pose.bones[name].ik_triangulation.target
        start = target.location.copy()
        for frame, ahead, high in keys:
            target.location = start + Vector((0.0, -ahead, high))
            target.keyframe_insert("location", frame=frame)
    level = {name: tails(rig, name, [1])[0].z for name in TOES}
    assert bake_body(body_of(rig, "foot.L"), 1, 22).reached
    places = {name: tails(rig, name, range(1, 23)) for name in TOES}
    assert min(place.z - level[name] for name, each in places.items() for place in each) > -EXACT
    assert is_baked(rig, ["toe.R"])
    bpy.context.scene.frame_set(LAST)
    behind = rig.pose.bones["toe.R"].matrix_basis.to_quaternion().angle
    assert behind > radians(10.0)
    assert places["toe.R"][LAST - 1].z == pytest.approx(level["toe.R"], abs=EXACT)
    bpy.context.scene.frame_set(22)
    assert rig.pose.bones["toe.R"].matrix_basis.to_quaternion().angle == pytest.approx(0.0, abs=1e-3), "in the air"


def test_feet_in_line_with_their_shins_have_no_heels_to_lift():
    rig = t_pose_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for side in "LR":
        bones.remove(bones[f"toe.{side}"])
        bones[f"foot.{side}"].tail = bones[f"foot.{side}"].head - Vector((0.0, 0.0, 0.05))
    bpy.ops.object.mode_set(mode="POSE")
    set_up_body(rig)
    key_hips(rig, (0.0, 0.0, -0.2))
    feet = {name: tails(rig, name, [1])[0] for name in FEET}
    assert bake_body(body_of(rig, "foot.L"), 1, LAST).reached
    assert max((tails(rig, name, [LAST])[0] - place).length for name, place in feet.items()) < EXACT


def test_knees_that_bend_deeply_go_apart_and_straight_ones_stay_above_their_feet():
    rig = squatting_rig((0.0, 0.0, -0.5))
    wide = rig.pose.bones["shin.L"].head.x
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    assert rig.pose.bones["shin.L"].head.x == pytest.approx(wide, abs=0.01)
    bpy.context.scene.frame_set(LAST)
    left, right = (rig.pose.bones[f"shin.{side}"].head for side in "LR")
    assert left.x > wide + 0.08
    assert left.x == pytest.approx(-right.x, abs=0.01)


def test_ankles_that_bend_little_keep_the_feet_flat_and_toes_without_keys():
    rig = squatting_rig((0.0, 0.05, -0.04))
    before = matrices(rig, FEET)
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    bpy.context.scene.frame_set(LAST)
    assert all(np.allclose(now, before[name], atol=EXACT * LEG) for name, now in matrices(rig, FEET).items())
    assert not is_baked(rig, TOES)


def test_without_lift_heels_the_feet_stay_flat():
    rig = squatting_rig((0.0, 0.0, -0.45), heels=False)
    before = matrices(rig, FEET)
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    bpy.context.scene.frame_set(LAST)
    assert all(np.allclose(now, before[name], atol=2.0 * EXACT) for name, now in matrices(rig, FEET).items())


def test_a_bake_with_flat_feet_again_puts_the_toes_back():
    rig = squatting_rig((0.0, 0.0, -0.45))
    before = matrices(rig, TOES)
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    assert is_baked(rig, TOES)
    key_hips(rig, (0.0, 0.0, 0.0))
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    bpy.context.scene.frame_set(LAST)
    assert all(np.allclose(now, before[name], atol=EXACT) for name, now in matrices(rig, TOES).items())


def test_a_pose_lifts_heels_as_a_bake_does():
    rig = squatting_rig((0.0, 0.0, -0.45))
    bpy.context.scene.frame_set(LAST)
    assert solve_body_pose(body_of(rig, "foot.L")).reached
    assert ankle(rig) < MOST
    posed = matrices(rig, (*FEET, *TOES))
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    bpy.context.scene.frame_set(LAST)
    assert all(np.allclose(now, posed[name], atol=5.0 * EXACT) for name, now in matrices(rig, posed).items())


def test_the_rows_of_a_heel_are_the_derivatives_of_its_errors():
    rig = body_of(set_up_rig(), "foot.L")
    problem = BodyProblem(rig, finished(read_body(rig, bpy.context.scene, [12])))
    tree, (number, heel) = problem.body.tree, next(enumerate(problem.heels.values()))
    states = problem.reference
    geometry = Geometry(tree, states)
    assert heel.lift(geometry.heads)[0].max() == 0.0
    leaning = heel._replace(upright=heel.upright - 0.5 * cross(heel.across, heel.upright))
    assert 0.1 < leaning.lift(geometry.heads)[1].max() < 1.0, "it begins to lift"
    lifted = leaning.turned(np.eye(3)[..., None], geometry.heads)
    task = [each for each in problem.tasks if isinstance(each, HeelTask)][number]
    flat = compose(lifted.swapaxes(0, 1), geometry.tip_rotation(task.tip))
    task = HeelTask(task=replace(task.task, rotation=flat), heel=leaning)
    assert np.allclose(rows_of(task, geometry)[0], derivatives(task, tree, states), atol=1e-4)
