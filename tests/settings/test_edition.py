# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of an earlier edition keep the defaults that they relied on; what is set up now has the new ones.

`edition_0.blend` was saved by the version before editions, with Blender 4.5. It has three armatures of `human_rig`:
"Body" by Set Up Body with keyed hands, "Arm" with Add Limb on hand.L and foot.R and a Limit Rotation on shin.R, and
"Plain".
"""

from pathlib import Path

import bpy
import pytest

from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.settings import edition
from ik_triangulation.settings.edition import EDITION, PreviousDefault, PreviousDefaults, keep_previous_defaults

from ..bodies import human_rig
from ..rigs import empty

pytestmark = pytest.mark.usefixtures("empty_scene")
FILE = Path(__file__).resolve().parent.parent / "data" / "edition_0.blend"
# Defaults that have changed in a pretended way: each value differs from the default of today.
PRETENDED = PreviousDefaults(
    body=(PreviousDefault(1, "balance", False), PreviousDefault(1, "contact_fade", 3)),
    limb=(PreviousDefault(1, "iterations", 55),),
    joint=(PreviousDefault(1, "upper", 1.5, lambda bone: len(bone.constraints) > 0),),
)


@pytest.fixture
def pretended(monkeypatch):
    monkeypatch.setattr(edition, "PREVIOUS", PRETENDED)


def test_an_old_file_gets_previous_defaults_written_out_and_what_was_set_stays(pretended):
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    body, arm = bpy.data.objects["Body"], bpy.data.objects["Arm"]
    assert (body.ik_triangulation.balance, arm.ik_triangulation.balance) == (True, False), "Set Up Body had set it"
    assert (body.ik_triangulation.contact_fade, arm.ik_triangulation.contact_fade) == (3, 3)
    assert arm.pose.bones["hand.L"].ik_triangulation.iterations == 55
    assert not arm.pose.bones["hand.R"].ik_triangulation.is_property_set("iterations"), "no limb ends there"
    assert arm.pose.bones["shin.R"].ik_triangulation_joint.upper == 1.5
    assert not arm.pose.bones["shin.L"].ik_triangulation_joint.is_property_set("upper")
    assert body.ik_triangulation.edition == arm.ik_triangulation.edition == EDITION


def test_an_armature_without_limbs_stays_untouched(pretended):
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    plain = bpy.data.objects["Plain"]
    assert not plain.ik_triangulation.is_property_set("edition")
    assert not plain.ik_triangulation.is_property_set("contact_fade")
    add_limbs(plain, ["hand.L"])
    assert plain.ik_triangulation.edition == EDITION
    assert not plain.pose.bones["hand.L"].ik_triangulation.is_property_set("iterations"), "a new limb, so new defaults"


@pytest.mark.parametrize("link", [False, True])
def test_old_armatures_that_are_appended_or_linked_are_migrated(pretended, link):
    mine = human_rig("Mine")
    mine.pose.bones["hand.L"].ik_triangulation.target = empty()
    with bpy.data.libraries.load(str(FILE), link=link) as (_, into):
        into.objects = ["Arm"]
    assert into.objects[0].pose.bones["hand.L"].ik_triangulation.iterations == 55
    assert not mine.pose.bones["hand.L"].ik_triangulation.is_property_set("iterations"), "made in this session"


def test_what_a_script_set_up_is_stamped_when_it_is_saved(pretended, tmp_path):
    rig = human_rig()
    rig.pose.bones["hand.L"].ik_triangulation.target = empty()
    path = str(tmp_path / "new.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    assert rig.ik_triangulation.edition == EDITION
    assert not rig.pose.bones["hand.L"].ik_triangulation.is_property_set("iterations")


def test_migrating_twice_changes_nothing_more(pretended):
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    stored = bpy.data.objects["Arm"].pose.bones["hand.L"].ik_triangulation
    stored.property_unset("iterations")
    keep_previous_defaults(bpy.data.objects)
    assert not stored.is_property_set("iterations"), "the user resets a setting to its new default"


def test_every_previous_default_is_of_a_property_and_differs_from_its_default():
    bone, groups = human_rig().pose.bones["hand.L"], edition.PREVIOUS
    stored = {
        "body": bone.id_data.ik_triangulation,
        "limb": bone.ik_triangulation,
        "joint": bone.ik_triangulation_joint,
    }
    rows = [(stored[kind], row) for kind in stored for row in getattr(groups, kind)]
    assert [row.name for group, row in rows if getattr(group, row.name) == row.value] == []
    assert all(0 < row.edition <= EDITION for _, row in rows)


def test_held_feet_of_an_old_file_stay_where_the_animation_has_them():
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    tips = bpy.data.objects["Body"].pose.bones
    assert [tips[name].ik_triangulation.hold_where for name in ("foot.L", "foot.R")] == ["ANIMATION"] * 2
    assert not tips["hand.L"].ik_triangulation.is_property_set("hold_where"), "it is not held"
    assert body_of(bpy.data.objects["Body"], "foot.L").planted == ()


def test_joints_with_a_limit_rotation_constraint_keep_to_the_ik_panel_in_earlier_files():
    rig = human_rig()
    arm, other = rig.pose.bones["forearm.L"], rig.pose.bones["forearm.R"]
    arm.constraints.new("LIMIT_ROTATION")
    rig.pose.bones["hand.L"].ik_triangulation.target = bpy.data.objects.new("Target", None)
    rig.ik_triangulation.edition = 0
    keep_previous_defaults([rig])
    assert (arm.ik_triangulation_joint.source, other.ik_triangulation_joint.source) == ("BLENDER", "AUTO")
    assert not other.ik_triangulation_joint.is_property_set("source")


def test_limbs_of_an_old_file_keep_the_hard_edge_of_their_reach():
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    tips = bpy.data.objects["Arm"].pose.bones
    assert not tips["hand.L"].ik_triangulation.soft_edge
    rig = human_rig("New")
    add_limbs(rig, ["hand.L"])
    assert rig.pose.bones["hand.L"].ik_triangulation.soft_edge
