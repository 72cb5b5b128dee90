# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are recognised by shape where names tell nothing; what has no arms and legs is not taken for a body."""

from dataclasses import replace

import pytest

from ik_triangulation.rig.anatomy.limbs import RestBody
from ik_triangulation.rig.anatomy.shape import parts_by_shape
from ik_triangulation.rig.anatomy.skeleton import RestBone

from .bodies import person, renamed

LIMBS = {
    "ARM": ("upper arm", "forearm", "hand"),
    "LEG": ("thigh", "shin", "foot"),
    "SPINE": ("spine 1", "spine 2", "spine 3"),
    "NECK": ("neck", "head"),
    "TAIL": ("tail 1", "tail 2", "tail 3"),
}
CHOSEN = {
    "ARM": ["clavicle", "upper arm", "forearm", "hand", "index 0", "middle 1"],
    "LEG": ["thigh", "shin", "foot", "toe"],
    "SPINE": ["hips", "spine 1", "spine 2", "spine 3"],
    "NECK": ["neck", "head"],
    "TAIL": ["tail 1", "tail 2", "tail 3"],
}


@pytest.mark.parametrize("scale", [1.0, 100.0, 0.01])
def test_every_bone_of_a_body_stands_for_its_limb_whatever_the_names_and_the_size(scale):
    bones, names = renamed(person(scale))
    body = RestBody(bones)
    for kind, chosen in CHOSEN.items():
        for side in ("L", "R") if kind in {"ARM", "LEG"} else ("",):
            expected = tuple(names[f"{name} {side}".strip()] for name in LIMBS[kind])
            for name in chosen:
                limb = body.limb_with(names[f"{name} {side}".strip()])
                assert (limb.kind.name, limb.side, limb.bones) == (kind, side, expected), name


def test_the_last_bone_of_a_finger_stands_for_the_finger():
    bones, names = renamed(person())
    limb = RestBody(bones).limb_with(names["middle 2 R"])
    assert (limb.kind.name, limb.side) == ("FINGER", "R")
    assert limb.bones == tuple(names[f"middle {number} R"] for number in range(3))


def test_ears_are_neither_arms_nor_legs():
    bones, names = renamed(person())
    assert not any(
        names[f"ear{number} {side}"] in parts_by_shape(bones) for side in "LR" for number in ("", " 2", " 3")
    )


def test_a_bone_in_the_middle_that_begins_where_its_parent_does_is_no_head_on_a_neck():
    bones, names = renamed(person())
    head, neck = names["head"], names["neck"]
    assert parts_by_shape(bones)[neck].part == "neck"
    bones[head] = replace(bones[head], head=bones[neck].head)
    parts = parts_by_shape(bones)
    assert (parts[neck].part, head in parts) == ("head", False)


def test_arms_that_hang_down_are_no_legs():
    bones, names = renamed(person())
    places = {"upper arm": (1.45, 1.2), "forearm": (1.2, 0.95), "hand": (0.95, 0.85)}
    for name, (upper, lower) in places.items():
        for side, x in (("L", 0.15), ("R", -0.15)):
            old = bones[names[f"{name} {side}"]]
            bones[names[f"{name} {side}"]] = replace(old, head=(x, 0.0, upper), tail=(x, 0.0, lower))
    for name in [name for name in names if name.startswith(("index", "middle"))]:
        del bones[names[name]]
    assert RestBody(bones).limb_with(names["forearm L"]).kind.name == "ARM"


def test_names_go_first_where_they_tell_of_limbs():
    bones = person()
    named = {"upper arm L": "arm.L", "forearm L": "forearm.L", "hand L": "hand.L"}
    bones = {named.get(n, n): replace(b, parent=named.get(b.parent, b.parent)) for n, b in bones.items()}
    body = RestBody(bones)
    assert body.limb_with("hand.L").bones == ("arm.L", "forearm.L", "hand.L")


@pytest.mark.parametrize("what", ["chain", "lopsided", "short", "nothing"])
def test_what_is_no_body_is_not_recognised(what):
    line = [((0.0, 0.0, n), (0.0, 0.0, n + 1.0)) for n in range(6)]
    bones = {f"Bone {n}": RestBone(f"Bone {n - 1}" if n else None, *ends) for n, ends in enumerate(line)}
    if what == "lopsided":
        bones |= branch("Bone 5", 1.0, 1.0)
    elif what == "short":
        bones |= branch("Bone 5", 1.0, 0.1) | branch("Bone 5", -1.0, 0.1)
    elif what == "nothing":
        bones = {}
    assert parts_by_shape(bones) == {}
    assert all(RestBody(bones).limb_with(name) is None for name in bones)


def branch(parent, side, length):
    """Three bones to one side of a bone."""
    found = {}
    for number in range(3):
        x = side * length * number
        found[f"{parent} {side} {number}"] = RestBone(parent, (x, 0.0, 5.0), (x + side * length, 0.0, 5.0))
        parent = f"{parent} {side} {number}"
    return found
