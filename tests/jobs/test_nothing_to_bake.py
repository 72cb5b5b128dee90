# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake of which no target was touched says so and writes nothing; whatever may move the tip is something."""

import bpy
import pytest

from ik_triangulation.cli import main
from ik_triangulation.errors import AnimationError, ChainError
from ik_triangulation.jobs.bake import bake, bake_body, bake_limbs
from ik_triangulation.jobs.pose import verify
from ik_triangulation.jobs.setup import add_limbs, set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.limb import Limb

from ..bodies import human_rig
from ..commands import FAILED
from ..rigs import empty, nothing_lost, select

pytestmark = pytest.mark.usefixtures("empty_scene")

SAYS = "nothing to bake: no target was moved or keyed"


def arm():
    rig = human_rig()
    add_limbs(rig, ["hand.L"])
    return rig


def person():
    rig = human_rig(with_head=True)
    set_up_body(rig)
    bpy.context.view_layer.update()
    return rig


@pytest.mark.parametrize("build", [arm, person])
@pytest.mark.parametrize("press", ["bake", "bake_all"])
def test_the_buttons_say_that_there_is_nothing_to_bake(build, press):
    rig = build()
    select(rig, "hand.L")
    with nothing_lost(), pytest.raises(RuntimeError, match=SAYS):
        getattr(bpy.ops.pose, f"ik_triangulation_{press}")()


def test_python_says_so_too():
    rig = arm()
    with nothing_lost(), pytest.raises(AnimationError, match=r"Move 'hand.L Target', or key it."):
        bake(Limb.of(rig.pose.bones["hand.L"]), 1, 3)
    rig = person()
    with nothing_lost(), pytest.raises(AnimationError, match=SAYS):
        bake_body(body_of(rig, "hand.L"), 1, 3)


def moved(rig, target):
    target.location.z += 0.1


def keyed(rig, target):
    target.keyframe_insert("location", frame=1)


def parented(rig, target):
    target.parent = empty("Carriage")


def posed_by_hand(rig, target):
    rig.pose.bones["upper_arm.L"].rotation_mode = "XYZ"
    rig.pose.bones["upper_arm.L"].rotation_euler.x = 0.4


def animated_by_hand(rig, target):
    rig.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=1)


def carried(rig, target):
    rig.parent = empty("Ship")


def displayed_as_sphere(rig, target):
    target.empty_display_type = "SPHERE"


def an_object_of_the_users(rig, target):
    rig.pose.bones["hand.L"].ik_triangulation.target = empty("Cup", target.location)


@pytest.mark.parametrize(
    "touch",
    [moved, keyed, parented, posed_by_hand, animated_by_hand, carried, displayed_as_sphere, an_object_of_the_users],
)
def test_what_may_move_the_hand_is_something(touch):
    rig = arm()
    touch(rig, rig.pose.bones["hand.L"].ik_triangulation.target)
    bpy.context.view_layer.update()
    assert bake(Limb.of(rig.pose.bones["hand.L"]), 1, 3).keys > 0


def test_one_limb_that_was_touched_is_enough():
    rig = arm()
    add_limbs(rig, ["hand.R"])
    rig.pose.bones["hand.R"].ik_triangulation.target.location.z -= 0.1
    bpy.context.view_layer.update()
    reports = bake_limbs([Limb.of(rig.pose.bones[tip]) for tip in ("hand.L", "hand.R")], 1, 3)
    assert all(report.keys for report in reports)


@pytest.mark.parametrize("touch", ["moved", "contact", "keys"])
def test_a_body_with_a_moved_hand_contacts_or_keys_is_something(touch):
    rig = person()
    if touch == "moved":
        rig.pose.bones["hand.L"].ik_triangulation.target.location.z += 0.1
    elif touch == "contact":
        contact = rig.ik_triangulation.contacts.add()
        contact.tip, contact.frame_start, contact.frame_end = "foot.L", 1, 3
    else:
        rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    assert bake_body(body_of(rig, "hand.L"), 1, 3).keys > 0


def test_the_command_line_fails_in_words_and_changes_no_file(tmp_path, capfd):
    arm()
    file = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert main(["bake", str(file), "--tip", "hand.L", "--output", str(tmp_path / "out.blend")]) == FAILED
    assert SAYS in capfd.readouterr().err
    assert not (tmp_path / "out.blend").exists()


def test_a_limb_whose_target_nobody_has_moved_is_not_verified():
    rig = person()
    with nothing_lost(), pytest.raises(ChainError, match="No target of 'Rig' has been moved"):
        verify(rig, 1, 3)
    rig.pose.bones["hand.L"].ik_triangulation.target.location.z += 0.1
    bpy.context.view_layer.update()
    seen = verify(rig, 1, 3)["hand.L"]
    assert (seen.reached, seen.missed) == (False, [1, 2, 3])
    assert seen.largest_distance == pytest.approx(0.1, abs=1e-5)
