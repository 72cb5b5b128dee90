# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole a limb bends towards, and other objects it depends on: each is refused by name where it cannot be used."""

from math import nan, radians

import bpy
import pytest

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb

from ..rigs import chain_rig, nothing_lost
from .standing import ANGLE, TOLERANCE, bend_off, limb, solved, standing_empty, standing_rig, world_of

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("angle", [0.0, 1.2, -2.0])
@pytest.mark.parametrize("how", ["plain", "turned", "scaled", "parented", "mirrored"])
def test_the_limb_bends_towards_its_pole(how, angle):
    """In a mirrored armature the pole angle turns the other way, as everything does."""
    rig = standing_rig(how)
    target = standing_empty(rig)
    pole = standing_empty(rig, at=(-2.0, 3.0, 0.5), name="Pole")
    result, tip = solved(rig, target, pole_target=pole, pole_angle=angle)
    assert result.reached
    assert (tip - target.matrix_world.translation).length < TOLERANCE
    assert bend_off(rig, pole.matrix_world.translation, -angle if how == "mirrored" else angle) < radians(0.5)


def test_a_bone_can_be_the_pole_also_one_of_the_same_rig():
    rig, other = standing_rig(), chain_rig(2, name="Other")
    other.location = (2.0, -3.0, 0.5)
    target = standing_empty(rig)
    result, _ = solved(rig, target, pole_target=other, pole_subtarget="Bone 1")
    assert result.reached
    assert bend_off(rig, world_of(other, "Bone 1").translation) < radians(0.5)
    target.location = (0.4, 0.9, 1.9)
    report = solve_pose(Limb.from_tip(rig, "Bone 2", target, 2, pole_target=rig, pole_subtarget="Bone 0"))
    assert report.all_reached
    assert bend_off(rig, world_of(rig, "Bone 0").translation, root=1) < radians(0.5)


def test_orientation_and_pole_are_met_together_where_there_is_room():
    rig = standing_rig(bones=4)
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    pole = standing_empty(rig, at=(-2.0, 3.0, 0.5), name="Pole")
    result, _ = solved(rig, target, orientation="DIRECTION", pole_target=pole)
    assert result.reached
    assert result.angle < ANGLE
    assert bend_off(rig, pole.matrix_world.translation) < radians(0.5)


def by_parent(rig, pole):
    pole.parent, pole.parent_type, pole.parent_bone = rig, "BONE", "Bone 1"


def by_constraint(rig, pole):
    constraint = pole.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = rig, "Bone 2"


def unlinked(rig, pole):
    bpy.context.scene.collection.objects.unlink(pole)


POLES = {
    "parented to the chain": (by_parent, "Pole target 'Pole' follows chain bone 'Bone 1'; .* bent towards. Unparent"),
    "constrained to the chain": (by_constraint, "Pole target 'Pole' follows chain bone 'Bone 2'"),
    "disabled": (lambda rig, pole: setattr(pole, "hide_viewport", True), "Pole target 'Pole' is disabled in this view"),
    "not in the scene": (unlinked, "Pole target 'Pole' is not in this scene. Choose another pole target"),
    "nowhere": (lambda rig, pole: setattr(pole, "location", (nan, 0.0, 0.0)), "Pole target 'Pole' has an invalid pos"),
}


@pytest.mark.parametrize("what", POLES)
def test_a_pole_that_cannot_be_bent_towards_is_refused_by_name(what):
    break_it, message = POLES[what]
    rig = standing_rig()
    target, pole = standing_empty(rig), standing_empty(rig, at=(-2.0, 3.0, 0.5), name="Pole")
    break_it(rig, pole)
    for call in (solve_pose, lambda limb: bake(limb, 1, 3)):
        with nothing_lost(), pytest.raises(TargetError, match=message):
            call(limb(rig, target, pole_target=pole))


def test_a_pole_bone_that_is_not_there_or_no_bone_is_refused():
    rig, other = standing_rig(), chain_rig(1, name="Other")
    target = standing_empty(rig)
    with nothing_lost(), pytest.raises(TargetError, match="Bone 'gone' is not in pole target 'Other'"):
        solve_pose(limb(rig, target, pole_target=other, pole_subtarget="gone"))
    with nothing_lost(), pytest.raises(TargetError, match="Bone 'gone' is not in pole target 'Target'"):
        solve_pose(limb(rig, target, pole_target=target, pole_subtarget="gone"))
    with nothing_lost(), pytest.raises(TargetError, match="Pole target 'Rig' is the armature itself"):
        solve_pose(limb(rig, target, pole_target=rig))
    with nothing_lost(), pytest.raises(TargetError, match="Pole target 'Rig: Bone 1' follows chain bone 'Bone 1'"):
        solve_pose(limb(rig, target, pole_target=rig, pole_subtarget="Bone 1"))


def test_the_same_object_may_be_target_and_pole():
    rig = standing_rig()
    target = standing_empty(rig)
    result, _ = solved(rig, target, pole_target=target)  # it lies on the line from root to tip: it says nothing
    assert result.reached
