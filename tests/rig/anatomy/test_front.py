# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in front of a body and what is up: each sign of it decides where no other does."""

from itertools import pairwise

import numpy as np
import pytest

from ik_triangulation.rig.anatomy.limb_guess import assign_limbs
from ik_triangulation.rig.anatomy.skeleton import RestBone, Skeleton

from .bodies import moved, spider

UP = (0.0, 0.0, 1.0)


def body(bend=0.0, foot=((0.0, 0.0),), arms=(), second=None, trunk=0.0, high=1.0):
    """A body that is level or upright, as points from the side: its knees and elbows ahead or behind by `bend`.

    Feet and what hangs on them end at the places `foot` (y, z). With a `second` pair of legs that far ahead.
    """
    bones = {"base": RestBone(None, (0.0, 0.0, high), (0.0, 0.05 * trunk, high + 0.2))}
    chest = (0.0, trunk, high + 0.4 * (trunk == 0.0))
    bones["trunk"] = RestBone("base", (0.0, 0.05 * trunk, high + 0.2), chest)
    lines = {"leg": ("base", [(0.1, 0.0, high), (0.1, bend, 0.55), (0.1, 0.0, 0.06), *((0.1, y, z) for y, z in foot)])}
    if second is not None:
        y = second
        lines["fore"] = ("trunk", [(0.1, y, high), (0.1, y, 0.55), (0.1, y, 0.06), (0.1, y, 0.0)])
    if arms:
        lines["arm"] = ("trunk", [(0.1, *chest[1:]), *arms])
    for name, (above, places) in lines.items():
        for side, sign in (("L", 1.0), ("R", -1.0)):
            parent = above
            for number, (head, tail) in enumerate(pairwise(places)):
                ends = [(sign * x, y, z) for x, y, z in (head, tail)]
                bones[f"{name} {number} {side}"] = RestBone(parent, *ends)
                parent = f"{name} {number} {side}"
    unsaid = {name: f"Bone.{number:03}" for number, name in enumerate(bones)}
    return {unsaid[n]: RestBone(unsaid.get(b.parent), b.head, b.tail) for n, b in bones.items()}, unsaid


def front_of(bones, hint):
    return tuple(assign_limbs(Skeleton(bones), np.array(UP), np.array(hint)).front)


# Signs that say -Y, of bodies whose other parts say nothing.
SIGNS = {
    "feet": {"foot": ((-0.1, 0.0),)},
    "toes of feet that stand": {"foot": ((0.0, 0.0), (-0.15, 0.0))},
    "knees": {"bend": -0.25},
    "elbows": {"arms": ((0.3, 0.35, 1.3), (0.5, 0.0, 1.2), (0.6, -0.05, 1.15))},
    "the trunk from legs without bends": {"trunk": -0.8, "second": -0.8},
}


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_of_what_is_in_front_goes_before_the_direction_of_convention(sign):
    bones, _ = body(**SIGNS[sign])
    for hint in ((0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)):
        assert front_of(bones, hint) == pytest.approx((0.0, -1.0, 0.0), abs=1e-6)
    turned = moved(bones, lambda p: (-p[0], -p[1], p[2]))
    assert front_of(turned, (0.0, -1.0, 0.0)) == pytest.approx((0.0, 1.0, 0.0), abs=1e-6)


def test_without_a_sign_a_body_looks_where_characters_do_in_its_plane_of_symmetry():
    bones, _ = body()
    for hint, front in (
        ((0.0, -1.0, 0.0), -1.0),
        ((0.0, 1.0, 0.0), 1.0),
        ((0.9, -0.1, 0.2), -1.0),
        ((0.9, 0.1, 0.2), 1.0),
    ):
        assert front_of(bones, hint) == pytest.approx((0.0, front, 0.0), abs=1e-6)
    across = front_of(bones, (1.0, 0.0, 0.0))
    assert np.abs(across) == pytest.approx((0.0, 1.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("swapped", [False, True])
def test_names_of_sides_go_before_all_other_signs(swapped):
    bones, unsaid = body(foot=((-0.1, 0.0),), bend=-0.1)
    ends = dict(zip("LR", "RL" if swapped else "LR", strict=True))
    sided = {new: f"{new[5:]}.{ends[old[-1]]}" for old, new in unsaid.items() if old[-2:] in {" L", " R"}}
    named = {sided.get(n, n): RestBone(sided.get(b.parent, b.parent), b.head, b.tail) for n, b in bones.items()}
    assert front_of(named, (0.0, 1.0, 0.0)) == pytest.approx((0.0, 1.0 if swapped else -1.0, 0.0), abs=1e-6)
    found = assign_limbs(Skeleton(named), np.array(UP), np.array((0.0, 1.0, 0.0)))
    names = Skeleton(named).names
    for guess, on_left in zip(found.limbs, found.on_left, strict=True):
        assert {names[bone][-1] for bone in guess.bones} == {"L" if on_left else "R"}
        assert {names[bone][-1] for bone in guess.images} == {"R" if on_left else "L"}


def test_legs_that_spread_tell_nothing_of_what_is_in_front():
    names = {name: f"Bone.{number:03}" for number, name in enumerate(spider(3))}
    bones = {names[n]: RestBone(names.get(b.parent), b.head, b.tail) for n, b in spider(3).items()}
    for y in (-1.0, 1.0):
        assert front_of(bones, (0.0, y, 0.0)) == pytest.approx((0.0, y, 0.0), abs=0.2)


@pytest.mark.parametrize("hint", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0)])
def test_legs_tell_what_is_up_where_nothing_stands_on_the_ground_of_the_convention(hint):
    bones, _ = body(foot=((-0.1, 0.0),), bend=-0.05)
    found = assign_limbs(Skeleton(bones), np.array(hint), np.array((0.0, -1.0, 0.0)))
    assert found.up == pytest.approx(UP, abs=0.15)


def test_of_several_pairs_of_a_kind_the_hindmost_and_lowest_is_first():
    bones, unsaid = body(trunk=-0.8, second=-0.8)
    old = {new: name for name, new in unsaid.items()}
    for hint in (-1.0, 1.0):
        found = assign_limbs(Skeleton(bones), np.array(UP), np.array((0.0, hint, 0.0)))
        names = Skeleton(bones).names
        assert [old[names[guess.bones[0]]].split()[0] for guess in found.limbs] == ["leg", "fore"]
