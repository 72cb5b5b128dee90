# SPDX-License-Identifier: GPL-3.0-or-later
"""While nobody else changes the rig a live limb reads only its targets; any other change is seen at the next move."""

from math import radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.live import character as live_character
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.live.motion import StillRig
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import selected_limb
from ik_triangulation.ui.last_result import latest

from ...rigs import chain_rig, configure, empty
from ..dragging import PLACE, TIP, apart, begin, rotations, standard, update

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


def limb_of(rig):
    return live._live[rig.session_uid, TIP]


def still(**settings):
    """A live limb that has been moved twice, and so knows that its rig is still."""
    rig, target = begin(**settings)
    for _ in range(2):
        target.location = PLACE
        update()
        target.location = PLACE + Vector((0.05, 0.0, 0.0))
        update()
    assert limb_of(rig).still is not None
    return rig, target


def move(target):
    target.location = PLACE + Vector((0.1, -0.1, 0.1))
    update()


def test_only_the_target_is_read_and_it_follows_as_before(monkeypatch):
    rig, target = still()
    monkeypatch.setattr(live_character.LiveLimb, "_refresh", None)
    for step in range(5):
        target.location = PLACE + Vector((0.0, 0.0, 0.05 * step))
        update()
        assert apart(rig, target) < 1e-4


def limit(rig, target):
    joint = rig.pose.bones["Bone 2"].ik_triangulation_joint
    joint.source, joint.kind, joint.axis = "OWN", "HINGE", (1.0, 0.0, 0.0)
    joint.lower, joint.upper = radians(-10.0), radians(10.0)


def blenders_limit(rig, target):
    bone = rig.pose.bones["Bone 2"]
    bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
    bone.ik_min_x, bone.ik_max_x = radians(-10.0), radians(10.0)


def constraint(rig, target):
    rig.pose.bones["Bone 2"].ik_triangulation_joint.source = "CONSTRAINT"
    limits = rig.pose.bones["Bone 2"].constraints.new("LIMIT_ROTATION")
    limits.owner_space = "LOCAL"
    limits.use_limit_x = limits.use_limit_y = limits.use_limit_z = True
    limits.min_x, limits.max_x = radians(-10.0), radians(10.0)


@pytest.mark.parametrize("change", [limit, blenders_limit, constraint])
def test_limits_that_change_are_kept_at_once(change):
    rig, target = still()
    change(rig, target)
    move(target)
    turned = rig.pose.bones["Bone 2"].rotation_quaternion
    assert rotation_angle(turned, Quaternion()) < radians(10.01)
    assert live.problem(rig, TIP) == ""


def test_a_limit_that_widens_again_is_seen_too():
    rig, target = still()
    limit(rig, target)
    move(target)
    rig.pose.bones["Bone 2"].ik_triangulation_joint.kind = "FREE"
    target.location = PLACE
    update()
    assert apart(rig, target) < 1e-4


def moved(rig, target):
    rig.location = (0.1, 0.0, 0.1)


def parent_turned(rig, target):
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.98, 0.2, 0.0, 0.0)


def bone_turned(rig, target):
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.9, 0.3, 0.0, 0.1)


def bone_turned_untold(rig, target):
    values = [value for bone in rig.pose.bones for value in bone.rotation_quaternion]
    values[9] += 0.2
    rig.pose.bones.foreach_set("rotation_quaternion", values)


def bone_scaled(rig, target):
    rig.pose.bones["Bone 2"].scale = (1.2, 1.2, 1.2)


def mode_changed(rig, target):
    rig.pose.bones["Bone 2"].rotation_mode = "ZYX"


def renamed(rig, target):
    rig.pose.bones["Bone 2"].name = "Elbow"


def shorter(rig, target):
    rig.pose.bones[TIP].ik_triangulation.chain_count = 2


def other_solver(rig, target):
    rig.pose.bones[TIP].ik_triangulation.solver = "GAUSS_NEWTON"


def parented(rig, target):
    target.parent = empty("Parent", (0.1, 0.0, 0.0))


def another_target(rig, target):
    rig.pose.bones[TIP].ik_triangulation.target = empty("Another", PLACE + Vector((0.0, 0.1, 0.0)))


@pytest.mark.parametrize(
    "change",
    [
        moved,
        parent_turned,
        bone_turned,
        bone_turned_untold,
        bone_scaled,
        mode_changed,
        renamed,
        shorter,
        other_solver,
        parented,
        another_target,
    ],
    ids=lambda change: change.__name__,
)
def test_whatever_somebody_else_changes_it_reaches_with_the_next_move(change):
    rig, target = still()
    change(rig, target)
    move(target)
    assert live.problem(rig, TIP) == ""
    assert apart(rig, rig.pose.bones[TIP].ik_triangulation.target) < 1e-3


def test_a_driven_bone_and_a_selection_are_read_at_every_move():
    rig, _ = standard()
    limb = selected_limb(rig.pose.bones[TIP])
    assert StillRig.suits(limb)
    rig.pose.bones["Bone 0"].driver_add("location", 0)
    assert StillRig.suits(selected_limb(rig.pose.bones[TIP]))
    rig.pose.bones["Bone 2"].driver_add("location", 0)
    assert not StillRig.suits(selected_limb(rig.pose.bones[TIP]))
    rig.animation_data_clear()
    for name, value in (("influence", 0.5), ("start_from", "REST")):
        setattr(rig.pose.bones[TIP].ik_triangulation, name, value)
        assert not StillRig.suits(selected_limb(rig.pose.bones[TIP]))
        rig.pose.bones[TIP].ik_triangulation.property_unset(name)
    rig.keyframe_insert(f'pose.bones["{TIP}"].ik_triangulation.influence', frame=1)
    assert not StillRig.suits(selected_limb(rig.pose.bones[TIP]))


def test_a_target_that_is_deleted_is_said_and_does_no_harm():
    rig, target = still()
    bpy.data.objects.remove(target)
    update()
    assert live.problem(rig, TIP).startswith("No target is set")
    other = empty("Other", PLACE)
    rig.pose.bones[TIP].ik_triangulation.target = other
    update()
    other.location.x += 0.1
    update()
    assert live.problem(rig, TIP) == ""
    assert apart(rig, other) < 1e-4


def test_a_target_that_is_deleted_before_the_pose_is_told_of_does_no_harm():
    rig, target = still()
    move(target)
    bpy.data.objects.remove(target)
    live._measure()
    live.stop(rig, TIP)
    assert not live.is_live(rig, TIP)


def test_a_hidden_target_is_said():
    rig, target = still()
    target.hide_viewport = True
    update()
    assert "is disabled in this view layer" in live.problem(rig, TIP)


def test_a_shape_that_changes_is_followed():
    rig, target = still()
    target.empty_display_type, target.empty_display_size = "SPHERE", 0.3
    update()
    move(target)
    assert apart(rig, target) == pytest.approx(0.3, abs=1e-3)


def test_a_pole_that_moves_bends_the_limb():
    rig, target = standard(pole_target=empty("Pole", (2.0, 0.0, 1.0)))
    bpy.ops.pose.ik_triangulation_live()
    pole = bpy.data.objects["Pole"]
    for _ in range(2):
        move(target)
        target.location = PLACE
        update()
    assert limb_of(rig).still is not None
    before = rotations(rig)
    pole.location = (-2.0, 0.0, 1.0)
    update()
    assert rotations(rig) != before
    assert apart(rig, target) < 1e-4


def test_two_limbs_of_one_rig_are_live_together():
    rig, target = chain_rig(4), empty("Target")
    low = empty("Low")
    configure(rig, "Bone 1", target=low, chain_count=2, tolerance=1e-4)
    configure(rig, TIP, target=target, chain_count=2, tolerance=1e-4)
    target.location, low.location = (0.4, 0.4, 2.6), (0.2, 0.1, 1.8)
    update()
    for tip in ("Bone 1", TIP):
        bpy.ops.pose.ik_triangulation_live(tip=tip)
    for step in range(6):
        low.location.x += 0.05
        target.location.y += 0.04
        update()
        target.update_tag()  # Blender tells nobody that a live limb has moved the root of another
        update()
        assert apart(rig, target) < 1e-4, step


def test_what_is_told_of_a_drag_is_what_is_shown():
    rig, target = still()
    target.location = (0.0, 0.0, 30.0)
    update()
    live._measure()
    assert not latest(rig, TIP).reached
    assert latest(rig, TIP).report.worst.error == pytest.approx(apart(rig, target), rel=1e-4)
    target.location = PLACE
    update()
    live.stop(rig, TIP)
    assert latest(rig, TIP).reached
