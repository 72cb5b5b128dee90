# SPDX-License-Identifier: GPL-3.0-or-later
"""The axis that looks is found by the way the body faces at rest, however its bones are rolled."""

from math import degrees, radians

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.rig.stance import look_of, outwards_of, side_of, stance_of

from ..bodies import human_rig
from ..rigs import armature, chain_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def turned_rig(turn):
    """The human rig with its rest pose turned (3x3)."""
    rig = human_rig(with_head=True)
    rig.data.transform(turn.to_4x4())
    return rig


@pytest.mark.parametrize(
    "turn", [Matrix.Identity(3), Matrix.Rotation(1.2, 3, "Z"), Matrix.Rotation(radians(90), 3, "X")]
)
def test_a_body_faces_away_from_its_back_whichever_way_it_was_built(turn):
    front, up = stance_of(turned_rig(turn))
    assert degrees(front.angle(turn @ Vector((0, -1, 0)))) < 3.0
    assert degrees(up.angle(turn @ Vector((0, 0, 1)))) < 3.0


@pytest.mark.parametrize("angle", [0.7, 12.0, 77.0])
def test_a_body_that_is_written_askew_in_an_object_turned_back_faces_as_the_one_that_is_not(angle):
    turn = Matrix.Rotation(radians(angle), 3, Vector((0.5, -0.4, 0.8)))
    straight, rig = stance_of(human_rig(with_head=True)), turned_rig(turn)
    rig.matrix_world = turn.inverted().to_4x4()
    front, up = stance_of(rig)
    assert (turn.inverted() @ front - straight.front).length < 1e-4
    assert (turn.inverted() @ up - straight.up).length < 1e-4


def test_a_body_faces_alike_in_an_object_that_leans():
    rig = human_rig(with_head=True)
    straight = stance_of(rig)
    for axis in "XY":
        rig.matrix_world = Matrix.Rotation(radians(15.0), 4, axis)
        assert stance_of(rig) == straight


def test_many_legs_that_spread_stand_on_the_ground():
    specs = [{"name": "spine", "head": Vector((0, 0.2, 0.5)), "tail": Vector((0, 0, 0.5))}]
    for pair, (y, ahead) in enumerate(((0.2, 0.9), (0.1, 0.5), (0.0, 0.1)), 1):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            joints = [(0.1, -0.3 + y, 0.5), (0.5, -0.2 + ahead, 0.9), (0.8, -0.1 + ahead, 0.6), (0.9, ahead, 0.0)]
            above = "spine"
            for part, head, tail in zip(("thigh", "shin", "foot"), joints, joints[1:], strict=False):
                name = f"leg{pair}_{part}.{side}"
                ends = (Vector((sign * x, y, z)) for x, y, z in (head, tail))
                specs.append({"name": name, "parent": above} | dict(zip(("head", "tail"), ends, strict=True)))
                above = name
    front, up = stance_of(armature("Spider", specs))
    assert front.dot(Vector((0, -1, 0))) > 0.99
    assert up.dot(Vector((0, 0, 1))) > 0.99


def test_a_rig_without_legs_and_arms_faces_as_blender_has_it():
    assert stance_of(chain_rig(2)) == (Vector((0, -1, 0)), Vector((0, 0, 1)))


@pytest.mark.parametrize("roll", [0.0, 0.7, 2.0, -3.0])
def test_a_face_looks_ahead_however_its_bone_is_rolled_and_leans(roll):
    rig = human_rig(with_head=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["head"].roll = roll
    bpy.ops.object.mode_set(mode="OBJECT")
    look = look_of(rig, "head")
    rest = rig.data.bones["head"].matrix_local.to_3x3()
    assert degrees((rest @ look.axis).angle(Vector((0, -1, 0)))) < 3.0
    assert degrees((rest @ look.up).angle(Vector((0, 0, 1)))) < 3.0
    assert look.origin.y == pytest.approx(-0.5 * rig.data.bones["head"].length)


def test_an_eye_looks_along_its_bone_and_may_roll():
    specs = [{"name": "eye", "head": Vector((0.03, 0, 1.7)), "tail": Vector((0.035, -0.02, 1.7))}]
    look = look_of(armature("Eyes", specs), "eye")
    assert look.axis == Vector((0, 1, 0))
    assert look.up is None


def test_a_chosen_axis_is_taken_and_an_unknown_one_refused():
    rig = human_rig(with_head=True)
    assert look_of(rig, "head", "-X").axis == Vector((-1, 0, 0))
    assert look_of(rig, "head", "Z").axis == Vector((0, 0, 1))
    assert look_of(rig, "head", "Y").up is None  # it looks up
    with pytest.raises(SettingError, match="'W' is unknown"):
        look_of(rig, "head", "W")


@pytest.mark.parametrize("turn", [Matrix.Identity(3), Matrix.Rotation(1.2, 3, "Z")])
def test_bones_whose_side_no_name_tells_are_on_that_of_the_body_where_they_are(turn):
    rig = turned_rig(turn)
    stance = stance_of(rig)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        arm = [f"{part}.{side}" for part in ("upper_arm", "forearm", "hand")]
        assert side_of(rig, stance, arm) == sign
        told, found = outwards_of(rig, "ARM", arm, side), outwards_of(rig, "ARM", arm)
        assert (told - found).length < 1e-6
        way = rig.data.bones[arm[0]].parent.matrix_local.to_3x3() @ found
        assert way.dot(stance.front) < -0.5
        assert way.dot(turn @ Vector((sign, 0.0, 0.0))) > -1e-3


def test_without_legs_the_trunk_tells_what_is_up_and_the_arms_what_is_ahead():
    specs = [{"name": "spine", "head": (0, 0, 0), "tail": (0.0, 0.2, 0.5)}]
    specs.append({"name": "spine.001", "head": (0.0, 0.2, 0.5), "tail": (0.0, 0.4, 1.0), "parent": "spine"})
    specs.append({"name": "spine.002", "head": (0.0, 0.4, 1.0), "tail": (0.0, 0.6, 1.5), "parent": "spine.001"})
    for side, sign in (("L", 1.0), ("R", -1.0)):
        above = "spine.002"
        for number, part in enumerate(("upper_arm", "forearm", "hand"), 1):
            ends = (sign * 0.3 * number, 0.6, 1.5), (sign * 0.3 * (number + 1), 0.6, 1.5)
            specs.append({"name": f"{part}.{side}", "head": ends[0], "tail": ends[1], "parent": above})
            above = f"{part}.{side}"
    front, up = stance_of(armature("Bust", specs))
    assert (tuple(front), tuple(up)) == (pytest.approx((0.0, -1.0, 0.0)), pytest.approx((0.0, 0.0, 1.0)))
    leaning = [
        each | {end: (x, y + 1.5 * z, z) for end, (x, y, z) in (("head", each["head"]), ("tail", each["tail"]))}
        for each in specs
    ]
    front, up = stance_of(armature("Leaning", leaning))
    assert up.dot(Vector((0.0, 0.95, 0.5)).normalized()) > 0.99
    assert front.dot(up) == pytest.approx(0.0, abs=1e-6)
    assert front.z > 0.5
