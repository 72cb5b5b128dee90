# SPDX-License-Identifier: GPL-3.0-or-later
"""An empty of a body that nobody has touched goes along with its hand, and still counts as untouched."""

from math import inf

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.targets import TargetDrag
from ik_triangulation.rig.targets.untouched import is_waiting

from ..bodies import human_rig
from ..interrupted import FailingWrite
from ..rigs import matrix_close, nothing_lost, select

pytestmark = pytest.mark.usefixtures("empty_scene")

DOWN = Vector((-0.2, -0.4, -0.7))
WAITING = ("hand.R", "head")


@pytest.fixture(params=[2.5, pytest.param(1.0, marks=pytest.mark.long)])
def rig(request):
    rig = human_rig(with_head=True)
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 0.5), (0.0, 0.0, 0.7), (request.param,) * 3
    bpy.context.view_layer.update()
    set_up_body(rig)
    bpy.context.view_layer.objects.active = rig
    select(rig, "hand.L")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
    yield rig
    live.stop_all()


def target_of(rig, tip):
    return rig.pose.bones[tip].ik_triangulation.target


def offsets(rig):
    """The frames (4x4) of the waiting targets in those of their bones, and those bones' tails in world space."""
    bpy.context.view_layer.update()
    bones = [rig.pose.bones[tip] for tip in WAITING]
    return {
        bone.name: (rig.matrix_world @ bone.matrix).inverted() @ target_of(rig, bone.name).matrix_world
        for bone in bones
    }


def lower(rig):
    target_of(rig, "hand.L").location += rig.matrix_world.to_3x3() @ DOWN
    bpy.context.view_layer.update()


def went_along(rig, before):
    """Whether the hand's empty is at the hand, turned as it, and the ball before the face; all of them wait."""
    after = offsets(rig)
    assert all(is_waiting(rig.pose.bones[tip]) for tip in WAITING)
    size = rig.matrix_world.median_scale
    hand = matrix_close(after["hand.R"], before["hand.R"], 1e-4)
    return hand and (after["head"].translation - before["head"].translation).length * size < 1e-3


@pytest.mark.parametrize("press", ["solve", "bake"])
def test_it_is_at_the_hand_after_the_body_was_posed_or_baked(rig, press):
    before, place = offsets(rig), target_of(rig, "hand.R").location.copy()
    lower(rig)
    assert getattr(bpy.ops.pose, f"ik_triangulation_{press}")() == {"FINISHED"}
    assert (target_of(rig, "hand.R").location - place).length > 0.2
    assert went_along(rig, before)
    lower(rig)
    assert getattr(bpy.ops.pose, f"ik_triangulation_{press}")() == {"FINISHED"}
    assert went_along(rig, before)


def test_it_goes_along_while_the_other_hand_is_dragged_and_back_if_that_is_cancelled(rig):
    before = offsets(rig)
    with nothing_lost():
        drag = TargetDrag(rig, "hand.L", bpy.context.scene, bpy.context.view_layer)
        for share in (0.2, 0.6, 1.0):
            drag.move(rig.matrix_world.to_3x3() @ DOWN * share)
            assert went_along(rig, before)
        drag.cancel()
    drag = TargetDrag(rig, "hand.L", bpy.context.scene, bpy.context.view_layer)
    drag.move(rig.matrix_world.to_3x3() @ DOWN)
    drag.finish()
    assert went_along(rig, before)
    assert not is_waiting(rig.pose.bones["hand.L"])


def test_live_takes_it_along_but_not_a_target_that_is_put_back(rig):
    before = offsets(rig)
    live.start(rig, "hand.L", at_once=False)
    home = target_of(rig, "hand.L").location.copy()
    for share in (0.5, 1.0):
        target_of(rig, "hand.L").location = home + rig.matrix_world.to_3x3() @ DOWN * share
        bpy.context.view_layer.update()
        assert went_along(rig, before)
    target_of(rig, "hand.L").location = home
    bpy.context.view_layer.update()
    assert went_along(rig, before)
    assert (target_of(rig, "hand.L").location - home).length == 0.0


def test_one_that_was_moved_or_keyed_stays(rig):
    lower(rig)
    other = target_of(rig, "hand.R")
    other.keyframe_insert("location", frame=1)
    ball = target_of(rig, "head")
    ball.location.x += 0.1
    bpy.context.view_layer.update()
    places = [ob.matrix_basis.copy() for ob in (other, ball)]
    bpy.ops.pose.ik_triangulation_solve()
    assert [ob.matrix_basis for ob in (other, ball)] == places


def test_a_bake_that_fails_moves_none(rig):
    lower(rig)
    with nothing_lost():
        with FailingWrite(inf, at_end=True) as seam, pytest.raises(RuntimeError):
            bpy.ops.pose.ik_triangulation_bake()
        assert seam.failed
        bpy.context.view_layer.update()


def test_a_waiting_target_turned_by_a_matrix_with_rounding_still_waits(rig):
    bone = rig.pose.bones["hand.R"]
    target_of(rig, "hand.R").matrix_basis = target_of(rig, "hand.R").matrix_basis @ Matrix.Rotation(1e-8, 4, "X")
    assert is_waiting(bone)
