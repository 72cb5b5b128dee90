# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is set up in one call has hands that reach, feet that are held, limits and balance."""

from math import degrees, pi, radians

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import add_limbs, is_whole_rig, lowest_of, set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.kinematics import Free, Locked, unframed
from ik_triangulation.rig.anatomy.skeleton import RestBone
from ik_triangulation.rig.freedom import freedom_of, store
from ik_triangulation.rig.targets.untouched import is_waiting

from ..bodies import FEET, HANDS, human_rig, tails
from ..characters import character, part_of
from ..rig.anatomy.bodies import bird, quadruped
from ..rigs import armature, chain_rig, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_hands_reach_for_empties_and_feet_are_held():
    rig = human_rig()
    made = set_up_body(rig)
    assert (made.reach, made.held, made.hips) == (HANDS, FEET, "spine")
    for name in HANDS:
        limb = rig.pose.bones[name].ik_triangulation
        assert limb.target.empty_display_type == "ARROWS"
        assert (limb.hold, limb.body_part) == (False, "ARM")
        assert (limb.target.matrix_world.translation - rig.pose.bones[name].tail).length < 1e-5
    for name in FEET:
        limb = rig.pose.bones[name].ik_triangulation
        assert (limb.hold, limb.target, limb.chain_count) == (True, None, 3)
    body = body_of(rig, "hand.L")
    assert (body.held, body.hips, body.balance) == (FEET, "spine", True)
    assert {"spine.001", "shin.R", "hand.L"} <= set(body.bones)


def off_down(rig, bone):
    """The angle [degrees] of a bone as it is posed to straight down."""
    return degrees((rig.pose.bones[bone].tail - rig.pose.bones[bone].head).angle(Vector((0.0, 0.0, -1.0))))


def test_arms_that_the_rest_pose_spreads_hang_relaxed_with_their_hands_beside_the_hips():
    rig = human_rig()
    assert set_up_body(rig).relaxed == HANDS
    for side, sign in (("L", 1.0), ("R", -1.0)):
        upper, lower, hand = (rig.pose.bones[f"{part}.{side}"] for part in ("upper_arm", "forearm", "hand"))
        assert off_down(rig, upper.name) == pytest.approx(10.6, abs=0.2)
        assert off_down(rig, lower.name) < 20.0
        assert hand.head.y < upper.head.y - 0.02  # ahead
        assert 0.18 < sign * hand.head.x < 0.32
        assert degrees(upper.vector.angle(lower.vector)) == pytest.approx(21.0, abs=0.5)


def test_arms_that_were_posed_keyed_or_constrained_stay_as_they_are_and_so_do_all_where_relax_arms_is_off():
    rig = human_rig()
    spread = off_down(rig, "upper_arm.L")
    assert set_up_body(rig, relax_arms=False).relaxed == ()
    assert off_down(rig, "upper_arm.L") == spread

    rig = human_rig("Posed")
    rig.pose.bones["hand.L"].rotation_mode = "XYZ"
    rig.pose.bones["hand.L"].rotation_euler.x = 0.1
    rig.pose.bones["forearm.R"].keyframe_insert("rotation_quaternion")
    assert set_up_body(rig).relaxed == ()

    rig = human_rig("Constrained")
    rig.pose.bones["forearm.R"].constraints.new("DAMPED_TRACK").target = empty("Tracked")
    assert set_up_body(rig).relaxed == ("hand.L",)
    assert off_down(rig, "upper_arm.R") == pytest.approx(spread, abs=1e-3)


def test_arms_hang_within_limits_that_they_have_and_stay_when_a_body_is_set_up_again():
    rig = human_rig()
    bone = rig.pose.bones["upper_arm.L"]
    bone.rotation_mode = "XYZ"
    bone.use_ik_limit_x = bone.use_ik_limit_y = bone.use_ik_limit_z = True
    ends = radians(15.0)
    bone.ik_min_x = bone.ik_min_y = bone.ik_min_z = -ends
    bone.ik_max_x = bone.ik_max_y = bone.ik_max_z = ends
    spread = off_down(rig, bone.name)
    set_up_body(rig)
    assert 8.0 < spread - off_down(rig, bone.name) < 30.0
    assert max(map(abs, bone.rotation_euler)) < ends + 1e-5
    before = [each.matrix_basis.copy() for each in rig.pose.bones]
    assert set_up_body(rig).relaxed == ()
    assert [each.matrix_basis for each in rig.pose.bones] == before


def test_a_head_looks_straight_ahead_at_an_empty_in_front_of_its_face():
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    made = set_up_body(rig)
    assert (made.reach, made.held, made.looking) == (HANDS, FEET, ("head",))
    head = rig.pose.bones["head"]
    limb, middle = head.ik_triangulation, (head.head + head.tail) / 2.0
    assert (limb.orientation, limb.chain_count, limb.body_part, limb.hold) == ("LOOK", 2, "NECK", False)
    assert (limb.target.location - middle - Vector((0.0, -2.0 * head.length, 0.0))).length < 1e-5
    assert not isinstance(freedom_of(head), Free)
    report = solve_body_pose(body_of(rig, "head"))
    assert report.reached
    assert head.matrix_basis.to_quaternion().angle < 1e-3


def test_a_head_that_has_a_target_keeps_it_and_a_selection_without_a_head_has_none():
    rig, cup = human_rig(with_head=True), empty("Cup")
    set_up_body(rig, [*HANDS, *FEET])
    assert rig.pose.bones["head"].ik_triangulation.target is None
    rig.pose.bones["head"].ik_triangulation.target = cup
    assert set_up_body(rig, ["hand.L", "head", *FEET]).looking == ("head",)
    assert rig.pose.bones["head"].ik_triangulation.target == cup


def floor(rig, name, last=24):
    """Key the target of a hand to the floor and back."""
    target = rig.pose.bones[name].ik_triangulation.target
    start = target.location.copy()
    for frame, share in ((1, 0.0), (last // 2, 1.0), (last, 0.0)):
        target.location = start.lerp(Vector((0.15 * (1 if start.x > 0.0 else -1), -0.35, 0.05)), share)
        target.keyframe_insert("location", frame=frame)


def test_a_hand_whose_new_empty_nobody_touches_goes_along_with_the_body():
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig)
    free, elbow = (rig.pose.bones[name] for name in ("hand.R", "forearm.R"))
    before = free.ik_triangulation.target.location.copy()  # its empty goes along with what is shown
    hanging = elbow.matrix_basis.to_quaternion()
    floor(rig, "hand.L")
    report = bake_body(body_of(rig, "hand.L"), 1, 24)
    assert report.reached
    bpy.context.scene.frame_set(12)
    assert (free.tail - before).length > 0.2
    bent = elbow.matrix_basis.to_quaternion().rotation_difference(hanging).angle
    assert bent < 0.25


def test_a_hand_reaches_for_its_empty_once_that_is_keyed_or_moved_or_parented():
    rig = human_rig()
    bpy.context.view_layer.update()
    set_up_body(rig)
    hand = rig.pose.bones["hand.R"]
    target, other = hand.ik_triangulation.target, empty("Other")
    assert is_waiting(hand)
    target.location.x += 0.01
    assert not is_waiting(hand)
    target.location.x -= 0.01
    assert is_waiting(hand)
    target.parent = other
    assert not is_waiting(hand)
    target.parent = None
    target.keyframe_insert("location", frame=1)
    assert not is_waiting(hand)
    hand.ik_triangulation.target, other.location = other, (5.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert not is_waiting(hand)
    body = body_of(rig, "hand.R")
    assert solve_body_pose(body).tips["hand.R"].missed


def test_a_finger_that_is_added_goes_along_with_its_hand_until_its_empty_is_moved():
    rig = human_rig()
    set_up_body(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = rig.data.edit_bones["hand.L"]
    for number in (1, 2, 3):
        bone = rig.data.edit_bones.new(f"f_index.0{number}.L")
        bone.parent, bone.head, bone.tail = above, above.tail, above.tail + Vector((0.03, 0.0, -0.02))
        above = bone
    bpy.ops.object.mode_set(mode="POSE")
    [tip] = add_limbs(rig, ["f_index.03.L"])
    hand, finger = (rig.pose.bones[name].ik_triangulation.target for name in ("hand.L", tip))
    hand.location += Vector((-0.1, -0.3, -0.3))
    bpy.context.view_layer.update()
    report = solve_body_pose(body_of(rig, "hand.L"))
    assert report.reached
    assert report.tips[tip].aim == "FOLLOW"
    bpy.context.view_layer.update()
    assert (finger.matrix_world.translation - rig.pose.bones[tip].tail).length < 1e-5
    hand.matrix_world = Matrix.Translation((0.3, -0.35, 0.01)) @ Matrix.Rotation(-pi / 2.0, 4, "X")  # points down
    bpy.context.view_layer.update()
    assert solve_body_pose(body_of(rig, "hand.L")).reached  # fingers may go through the floor
    bpy.context.view_layer.update()
    assert rig.pose.bones[tip].tail.z < -0.03
    finger.location.z += 0.01
    bpy.context.view_layer.update()
    assert solve_body_pose(body_of(rig, "hand.L")).tips[tip].aim == "REACH"


def test_a_target_and_limits_that_are_there_stay():
    rig, cup = human_rig(), empty("Cup")
    rig.pose.bones["hand.L"].ik_triangulation.target = cup
    store(Locked(), 0.0, rig.pose.bones["shin.L"].ik_triangulation_joint)
    set_up_body(rig)
    assert rig.pose.bones["hand.L"].ik_triangulation.target == cup
    assert isinstance(freedom_of(rig.pose.bones["shin.L"]), Locked)
    assert not isinstance(freedom_of(rig.pose.bones["shin.R"]), Locked)


def test_chosen_bones_are_the_tips_and_stand_for_their_limbs():
    rig = human_rig()
    made = set_up_body(rig, ["forearm.R", "foot.L", "toe.R"])
    assert (made.reach, made.held) == (("hand.R",), FEET)
    assert rig.pose.bones["hand.L"].ik_triangulation.target is None


def test_chosen_bones_of_an_unknown_creature_are_held_where_they_end_near_the_ground():
    rig = human_rig()
    names = {name: f"B{number}" for number, name in enumerate(rig.data.bones.keys())}
    for name, other in names.items():
        rig.data.bones[name].name = other
    made = set_up_body(rig, [names[name] for name in ("hand.L", "foot.L", "toe.R")])
    assert made.reach == (names["hand.L"],)
    assert set(made.held) == {names["foot.L"], names["foot.R"]} or set(made.held) == {names["foot.L"], names["toe.R"]}


def test_what_cannot_be_a_body_is_told_and_nothing_changes():
    rig = chain_rig(4)
    with nothing_lost(), pytest.raises(ChainError, match="Select the tip bones"):
        set_up_body(rig)
    rig = human_rig("Other")
    rig.pose.bones["spine"].lock_location = (False, True, False)
    with nothing_lost(), pytest.raises(ChainError, match="its location is locked"):
        set_up_body(rig)
    assert not bpy.data.objects.get("hand.L Target")


def animal(bones):
    return armature(
        "Animal", [{"name": n, "head": b.head, "tail": b.tail, "parent": b.parent} for n, b in bones.items()]
    )


def test_an_animal_that_stands_on_all_its_feet_has_no_hands():
    rig = animal(quadruped())
    made = set_up_body(rig)
    paws = {f"{leg} foot {side}" for leg in ("hind", "front") for side in "LR"}
    assert (made.reach, set(made.held), made.looking) == ((), paws, ("head",))
    assert made.doubts == ("legs were recognized by shape",)
    assert set(body_of(rig, made.held[0]).held) == paws


def test_the_paws_of_an_animal_stay_while_its_hips_follow_their_keys():
    rig = animal(quadruped())
    made = set_up_body(rig)
    hips = rig.pose.bones[made.hips]
    for frame, height in ((1, 0.0), (6, -0.08), (12, 0.0)):
        hips.location = hips.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, height))
        hips.keyframe_insert("location", frame=frame)
    frames = range(1, 13)
    keyed, paws = tails(rig, made.hips, frames), {name: tails(rig, name, [1])[0] for name in made.held}
    report = bake_body(body_of(rig, made.held[0]), 1, 12)
    assert report.reached
    assert max((a - b).length for a, b in zip(tails(rig, made.hips, frames), keyed, strict=True)) < 1e-3
    assert max((tail - place).length for name, place in paws.items() for tail in tails(rig, name, frames)) < 1e-3


def test_limbs_whose_sides_differ_and_a_missing_head_are_named():
    bones = {name: bone for name, bone in quadruped().items() if not name.startswith(("neck", "head", "ear"))}
    made = set_up_body(animal(bones))
    assert "no head was found" in made.doubts


def test_an_animal_whose_front_legs_are_not_found_says_so():
    bones = {name: bone for name, bone in quadruped().items() if not name.startswith(("front", "scapula"))}
    rig = animal(bones)
    made = set_up_body(rig)
    assert len(made.held) == 2
    assert made.doubts[0] == "only two legs were found, and no arms"
    assert set_up_body(rig, ["hind foot L", "hind foot R", "head"]).doubts == ()


def test_paws_that_are_named_hands_are_held_though_the_hind_legs_crouch():
    middle = {"hips": ((0.5, 0.5), (0.2, 0.5)), "spine": ((0.2, 0.5), (-0.2, 0.5)), "head": ((-0.2, 0.5), (-0.5, 0.6))}
    legs = [
        ("thigh", "hips", (0.4, 0.4), (0.32, 0.25)),
        ("shin", "thigh", (0.32, 0.25), (0.52, 0.1)),
        ("foot", "shin", (0.52, 0.1), (0.46, 0.01)),
        ("upper_arm", "spine", (-0.2, 0.4), (-0.12, 0.25)),
        ("forearm", "upper_arm", (-0.12, 0.25), (-0.15, 0.06)),
        ("hand", "forearm", (-0.15, 0.06), (-0.2, 0.01)),
    ]
    bones, above = {}, None
    for name, (head, tail) in middle.items():
        bones[name], above = RestBone(above, (0.0, *head), (0.0, *tail)), name
    for side, x in (("L", 0.09), ("R", -0.09)):
        for name, parent, head, tail in legs:
            parent = parent if parent in middle else f"{parent}.{side}"
            bones[f"{name}.{side}"] = RestBone(parent, (x, *head), (x, *tail))
    made = set_up_body(animal(bones))
    assert (made.reach, set(made.held)) == ((), {*HANDS, *FEET})


def test_a_bird_stands_on_two_legs_without_a_doubt():
    assert not any("two legs" in doubt for doubt in set_up_body(animal(bird())).doubts)


def test_arms_without_hands_have_the_ranges_of_shoulders_and_elbows_below_their_clavicles():
    limits = []
    for has_hands in (True, False):
        rig = human_rig("Human" if has_hands else "Robot")
        bpy.ops.object.mode_set(mode="EDIT")
        bones = rig.data.edit_bones
        for side, sign in (("L", 1.0), ("R", -1.0)):
            clavicle, arm = bones.new(f"shoulder.{side}"), bones[f"upper_arm.{side}"]
            clavicle.head, clavicle.tail, clavicle.parent = (0.02 * sign, 0.03, 1.4), arm.head, arm.parent
            arm.parent = clavicle
            if not has_hands:
                bones.remove(bones[f"hand.{side}"])
        bpy.ops.object.mode_set(mode="POSE")
        assert set_up_body(rig).reach == tuple(HANDS if has_hands else ("forearm.L", "forearm.R"))
        limits.append([freedom_of(rig.pose.bones[f"{name}.L"]) for name in ("shoulder", "upper_arm", "forearm")])
    for whole, ours in zip(*limits, strict=True):
        assert (type(ours), type(unframed(ours))) == (type(whole), type(unframed(whole)))


def robot():
    """A robot in a T-pose, whose arms have no hands and whose legs no feet."""
    middle = {
        "hips": (None, (0.0, -0.11, 1.44), (0.0, -0.11, 1.59)),
        "spine": ("hips", (0.0, 0.0, 1.34), (0.0, 0.08, 1.66)),
        "spine.001": ("spine", (0.0, 0.08, 1.66), (0.0, 0.08, 2.15)),
        "spine.002": ("spine.001", (0.0, 0.08, 2.15), (0.0, 0.02, 2.73)),
    }
    side = {
        "shoulder": ("spine.002", (0.58, 0.02, 2.44), (0.67, 0.02, 2.44)),
        "upper_arm": ("shoulder", (0.67, 0.02, 2.44), (1.32, -0.02, 2.43)),
        "forearm": ("upper_arm", (1.32, -0.02, 2.43), (2.6, 0.03, 2.45)),
        "thigh": ("hips", (0.63, 0.07, 1.54), (0.63, -0.04, 0.94)),
        "shin": ("thigh", (0.63, -0.04, 0.94), (0.63, 0.08, 0.34)),
    }
    specs = [
        {"name": name, "parent": above, "head": head, "tail": tail} for name, (above, head, tail) in middle.items()
    ]
    for name, (above, *ends) in side.items():
        for end, sign in (("L", 1.0), ("R", -1.0)):
            head, tail = (Vector(place) * Vector((sign, 1.0, 1.0)) for place in ends)
            parent = above if above in middle else f"{above}.{end}"
            specs.append({"name": f"{name}.{end}", "parent": parent, "head": head, "tail": tail})
    return armature("Robot", specs)


def test_an_arm_without_a_hand_bends_its_elbow_to_a_near_place_and_the_chest_stays_upright():
    rig = robot()
    made = set_up_body(rig)
    assert (made.reach, made.held) == (("forearm.L", "forearm.R"), ("shin.L", "shin.R"))
    bone = rig.pose.bones["forearm.L"]
    goal = rig.data.bones["upper_arm.L"].head_local + Vector((0.17, -0.7, 0.17))
    target = bone.ik_triangulation.target
    target.keyframe_insert("location", frame=1)
    target.location = goal
    target.keyframe_insert("location", frame=12)
    bake_body(body_of(rig, "forearm.L"), 1, 12)
    bpy.context.scene.frame_set(12)
    chest = rig.pose.bones["spine.002"]
    turned = chest.matrix.to_quaternion() @ chest.bone.matrix_local.to_quaternion().inverted()
    assert (bone.tail - goal).length < 1e-3
    assert turned.angle < 0.3
    assert bone.y_axis.angle(rig.pose.bones["upper_arm.L"].y_axis) > 2.0


def test_a_spine_whose_rotations_are_locked_stays_locked():
    rig = human_rig()
    for name in ("spine.001", "spine.002"):
        bone = rig.pose.bones[name]
        bone.rotation_mode, bone.lock_rotation = "XYZ", (True, True, True)
    assert set_up_body(rig).held == FEET
    assert isinstance(freedom_of(rig.pose.bones["spine.001"]), Locked)


def test_sides_that_differ_are_told_of_and_limbs_that_hang_on_nothing_common_refused():
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("hand.R", "forearm.R", "upper_arm.R"):
        rig.data.edit_bones.remove(rig.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="POSE")
    assert "the arms of the two sides differ" in set_up_body(rig).doubts
    rig = human_rig("Apart")
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["thigh.L"].parent = None
    bpy.ops.object.mode_set(mode="POSE")
    with nothing_lost(), pytest.raises(ChainError, match=r"'hand\.L' and 'foot\.L' hang on no common bone"):
        set_up_body(rig, ["hand.L", "foot.L"])


def test_the_lowest_bones_are_tips_and_most_bones_are_a_whole_rig_but_fingers_are_not():
    rig = human_rig()
    assert lowest_of(rig, ["spine", "hand.L", "forearm.L", "upper_arm.R", "shin.R"]) == [
        "hand.L",
        "upper_arm.R",
        "shin.R",
    ]
    every = [bone.name for bone in rig.pose.bones]
    assert is_whole_rig(rig, every)
    assert not is_whole_rig(rig, ["hand.L", "forearm.L", "hand.R"])
    assert not is_whole_rig(rig, ["upper_arm.L", "forearm.L", "hand.L"])
    hands = character("Mixamo")
    tips = [part_of(hands, "Mixamo", f"{name}3").name for name in ("thumb", "index", "middle", "ring", "little")]
    tips += [name.replace("Left", "Right") if "Left" in name else name.replace("Right", "Left") for name in tips]
    assert len(lowest_of(hands, tips)) == 10
    assert not is_whole_rig(hands, tips)
    assert is_whole_rig(hands, [*tips, "mixamorig:Head"])


def test_bones_between_the_chosen_ones_have_to_be_chosen_as_well():
    rig = human_rig()
    with nothing_lost(), pytest.raises(ChainError, match=r"'forearm\.L' is not selected, but lies between"):
        add_limbs(rig, ["upper_arm.L", "hand.L"])
