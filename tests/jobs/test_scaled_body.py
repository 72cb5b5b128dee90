# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with scaled bones is solved as one of that size."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import ChainError, RigError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.edits.spaces import set_space
from ik_triangulation.jobs.follow_rig import follow_rig
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of

from ..bodies import human_rig, set_up_rig, walking_body
from ..rigs import nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12
DOWN = Vector((-0.45, -0.4, -0.8))


def with_root(rig):
    """Give a rig a bone above its hips, as generated rigs have one."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)
    rig.data.edit_bones["spine"].parent = root
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def set_up(scale_it):
    """A rig whose bones are scaled, then set up as a body whose hands are keyed to the shins."""
    rig = with_root(human_rig())
    scale_it(rig)
    bpy.context.view_layer.update()
    return set_up_rig(LAST, DOWN * 1.3, rig)


def shown(rig):
    """World matrices (F, n, 3, 4) of all bones of the body at each frame, without their scale."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        world, bones = rig.matrix_world, (bone for bone in rig.pose.bones if bone.name != "root")
        found.append([np.array((world @ bone.matrix).normalized())[:3] for bone in bones])
    return np.array(found)


def by_root(rig):
    rig.pose.bones["root"].scale = (1.3,) * 3


def by_hips(rig):
    rig.pose.bones["spine"].scale = (1.3,) * 3


def by_object(rig):
    rig.scale = (1.3,) * 3


@pytest.mark.parametrize("scale_it", [by_root, by_hips])
def test_a_character_that_a_bone_scales_is_baked_as_one_that_its_object_scales(scale_it):
    every = []
    for scale in (scale_it, by_object):
        rig = set_up(scale)
        report = bake_body(body_of(rig, "hand.L"), 1, LAST)
        assert report.reached, report.text
        every.append(shown(rig))
    # hips that are scaled themselves rest where they were, so the one character stands lower than the other
    apart = every[0] - every[1]
    apart[..., 3] -= apart[:, :1, :, 3]
    assert np.abs(apart).max() < 2e-3


def big_hands(rig):
    """Bones of a cartoon: scaled on their own, one of which does not hand on what is above it."""
    bones = rig.pose.bones
    bones["forearm.L"].scale, bones["hand.R"].scale = (1.25,) * 3, (1.5,) * 3
    bones["shin.R"].scale, bones["foot.R"].bone.inherit_scale = (0.95,) * 3, "NONE"


def test_bones_scaled_on_their_own_reach_and_stand_where_blender_shows_them():
    rig = set_up(big_hands)
    feet = {name: rig.pose.bones[name].tail.copy() for name in ("foot.L", "foot.R")}
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached, report.text
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        for name in ("hand.L", "hand.R"):
            bone = rig.pose.bones[name]
            assert (rig.matrix_world @ bone.tail - bone.ik_triangulation.target.matrix_world.translation).length < 1e-3
        for name, place in feet.items():
            assert (rig.pose.bones[name].tail - place).length < 1e-3


def test_a_scaled_body_is_posed_and_followed_as_it_is_baked():
    rig = set_up(by_root)
    rig.pose.bones["hand.L"].ik_triangulation.target.animation_data_clear()
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.location += Vector((-0.3, -0.3, -0.2))
    bpy.context.view_layer.update()
    report = solve_body_pose(body_of(rig, "hand.L"), bpy.context.scene)
    assert report.reached, report.text
    live.start(rig, "hand.L")
    target.location.z -= 0.2
    bpy.context.view_layer.update()
    assert (rig.matrix_world @ rig.pose.bones["hand.L"].tail - target.location).length < 1e-3


def test_a_target_in_a_space_on_a_scaled_bone_of_the_body_stays_where_that_begins():
    rig = set_up(by_root)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.animation_data_clear()
    target.location = rig.matrix_world @ rig.pose.bones["hand.L"].tail + Vector((-0.1, -0.1, 0.1))
    bpy.context.view_layer.update()
    set_space(rig, "hand.L", rig, "spine.001", 3, 9)
    report = bake_body(body_of(rig, "hand.R"), 1, LAST)
    assert report.reached, report.text
    places = []
    for frame in (2, 3):
        bpy.context.scene.frame_set(frame)
        places.append(target.matrix_world.translation.copy())
    assert (places[1] - places[0]).length < 0.02


def off_tip(rig, name):
    """How far the target of a limb is from its tip."""
    bone = rig.pose.bones[name]
    return (rig.matrix_world @ bone.tail - bone.ik_triangulation.target.matrix_world.translation).length


def test_targets_that_wait_are_at_the_tips_of_scaled_bones():
    rig = with_root(human_rig())
    by_root(rig)
    bpy.context.view_layer.update()
    set_up_body(rig, relax_arms=False)
    target = rig.pose.bones["hand.R"].ik_triangulation.target
    target.location += Vector((0.1, -0.3, -0.3))
    bpy.context.view_layer.update()
    solve_body_pose(body_of(rig, "hand.R"), bpy.context.scene)
    assert off_tip(rig, "hand.L") < 1e-5
    live.start(rig, "hand.R")
    target.location.z -= 0.2
    bpy.context.view_layer.update()
    assert off_tip(rig, "hand.R") < 1e-3
    assert off_tip(rig, "hand.L") < 1e-5


def test_a_target_on_a_scaled_bone_of_the_body_is_met_in_live():
    rig = set_up(by_root)
    targets = [rig.pose.bones[name].ik_triangulation.target for name in ("hand.L", "hand.R")]
    for target in targets:
        target.animation_data_clear()
    bpy.context.view_layer.update()
    place = Matrix.Translation(rig.matrix_world @ rig.pose.bones["hand.L"].tail + Vector((-0.1, -0.1, 0.1)))
    targets[0].parent, targets[0].parent_type, targets[0].parent_bone = rig, "BONE", "spine.001"
    bpy.context.view_layer.update()
    targets[0].matrix_world = place
    live.start(rig, "hand.R")
    targets[1].location += Vector((0.2, -0.4, -0.4))
    bpy.context.view_layer.update()
    assert max(off_tip(rig, name) for name in ("hand.L", "hand.R")) < 1e-3


@pytest.mark.parametrize("of_source", [False, True])
def test_a_character_that_its_root_scales_is_followed_and_follows_as_one_that_its_object_scales(of_source):
    every = []
    for scale_it in (by_root, by_object):
        bpy.ops.wm.read_homefile(use_empty=True)
        source = with_root(walking_body(LAST))
        bpy.ops.object.mode_set(mode="OBJECT")
        source.location.x = 2.0
        rig = with_root(human_rig())
        scale_it(source if of_source else rig)
        bpy.context.view_layer.update()
        result = follow_rig(rig, source, 1, LAST)
        report = bake_body(body_of(rig, result.tips[0]), 1, LAST)
        assert report.reached, report.text
        every.append(shown(rig))
    assert np.abs(every[0] - every[1]).max() < 1e-4


def test_a_scale_that_changes_is_named():
    rig = set_up(by_root)
    root = rig.pose.bones["root"]
    for frame, size in ((1, 1.3), (LAST, 1.5)):
        root.scale = (size,) * 3
        root.keyframe_insert("scale", frame=frame)
    root.scale = (1.3,) * 3
    bpy.context.scene.frame_set(1)
    with (
        nothing_lost(),
        pytest.raises(RigError, match=r"above the hips 'spine' has another scale at frame \d+ than now"),
    ):
        bake_body(body_of(rig, "hand.L"), 1, LAST)
    root.keyframe_delete("scale", frame=LAST)
    rig.pose.bones["forearm.L"].scale = (1.2,) * 3
    rig.pose.bones["forearm.L"].keyframe_insert("scale", frame=1)
    rig.pose.bones["forearm.L"].scale = (1.3,) * 3
    with nothing_lost(), pytest.raises(ChainError, match=r"'forearm\.L' changes its scale"):
        bake_body(body_of(rig, "hand.L"), 1, LAST)
