# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingers close towards the palm: square to them and to the row of their knuckles, which begins at the thumb."""

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.rig.anatomy.hands import closing_direction, hand_of, palm_of
from ik_triangulation.rig.anatomy.limbs import RestBody
from ik_triangulation.rig.anatomy.skeleton import RestBone

NAMED = ("thumb", "index", "middle", "ring", "pinky")
NUMBERED = tuple(f"finger{number}" for number in range(1, 6))
FOUR = ("thumb", "index", "middle", "ring")
FROM_ZERO = tuple(f"finger{number}" for number in range(4))


def hand(names, side, turn):
    """A hand whose palm is down and whose fingers point to its side, turned; the first finger is the thumb."""
    bones = {f"hand.{side}": RestBone(None, (0, 0, 0), tuple(turn @ Vector((0.1, 0, 0))))}
    sign = 1.0 if side == "L" else -1.0
    for number, name in enumerate(names):
        thumb = name == names[0] and len(names) > 3
        along = Vector((0.02, -0.02, -0.003)) if thumb else Vector((0.03, 0, 0))
        head = Vector((0.02 if thumb else 0.1, 0.02 * number - 0.05, 0.0))
        above = f"hand.{side}"
        for joint in (1, 2, 3):
            ends = [tuple(turn @ Vector((sign * v.x, v.y, v.z))) for v in (head, head + along)]
            bone = f"{name}-{joint}.{side}"
            bones[bone] = RestBone(above, *ends)
            head, above = head + along, bone
    return RestBody(bones)


@pytest.mark.parametrize("names", [NAMED, NUMBERED, FOUR, FROM_ZERO])
@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("angle", [0.0, 1.3, -2.5])
def test_fingers_close_towards_the_palm_wherever_it_faces(names, side, angle):
    turn = Quaternion((0.3, 0.8, -0.2), angle)
    body, palm = hand(names, side, turn), turn @ Vector((0.0, 0.0, -1.0))
    assert closing_direction(body, f"{names[2]}-3.{side}").dot(palm) > 0.999
    thumb = closing_direction(body, f"{names[0]}-3.{side}")
    assert thumb.dot(palm) > 0.6
    assert thumb.dot(turn @ Vector((0.0, 1.0, 0.0))) > 0.6, "across the palm"


@pytest.mark.parametrize("names", [("index",), ("finger2", "finger3", "finger4")])
def test_a_hand_whose_fingers_do_not_tell_its_palm_gives_no_direction(names):
    assert closing_direction(hand(names, "L", Quaternion()), f"{names[0]}-3.L") is None
    assert closing_direction(hand(names, "L", Quaternion()), "hand.L") is None


def test_without_a_thumb_the_order_of_their_names_tells_the_row_of_the_knuckles():
    for side in "LR":
        bones = {name: bone for name, bone in hand(NAMED[:4], side, Quaternion()).bones.items() if "thumb" not in name}
        body = RestBody(bones)
        assert palm_of(body, f"ring-2.{side}").dot(Vector((0.0, 0.0, -1.0))) > 0.999
        assert palm_of(body, f"hand.{side}") is None
        assert closing_direction(body, f"index-1.{side}") == palm_of(body, f"index-1.{side}")
        found = hand_of(body, f"hand.{side}")
        assert [finger.name for finger in found.fingers] == ["index", "middle", "ring"]
        assert found.thumb is None
        assert found.along.dot(Vector((1.0 if side == "L" else -1.0, 0.0, 0.0))) > 0.999
        assert found.row.dot(Vector((0.0, 1.0, 0.0))) > 0.999
        assert hand_of(body, f"ring-2.{side}") is None


def test_a_copy_of_a_hand_at_its_place_has_its_fingers_and_a_hand_elsewhere_has_not():
    bones = dict(hand(NAMED, "L", Quaternion()).bones)
    own = bones["hand.L"]
    for head, has_fingers in (((0.001, 0.0, 0.0), True), ((0.5, 0.0, 0.0), False)):
        bones["hand_fk.L"] = RestBone(None, head, tuple(Vector(head) + Vector(own.tail)))
        found = hand_of(RestBody(bones), "hand_fk.L")
        assert (found is not None) is has_fingers
    assert [len(finger.bones) for finger in hand_of(RestBody(bones), "hand.L").fingers] == [3] * 4
