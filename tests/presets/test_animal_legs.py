# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs of animals bend one way: knees ahead and hocks behind, elbows behind and wrists ahead, however they are made."""

from itertools import pairwise
from math import degrees, radians

import numpy as np
import pytest
from mathutils import Euler, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.kinematics.rotation import about
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset, preset_of
from ik_triangulation.rig.anatomy.limbs import LEG, rest_body
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb

from ..rewritten import WAYS, off_their_limbs, shown, with_noise
from ..rig.anatomy.bodies import QUADRUPED, animal_of
from ..rigs import armature

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")

LEGS = {  # x, then y and z of each joint and of the end
    "bent": {
        "hind": [(0.5, 0.57), (0.42, 0.38), (0.57, 0.2), (0.54, 0.06), (0.48, 0.01)],
        "front": [(-0.22, 0.48), (-0.14, 0.3), (-0.16, 0.15), (-0.16, 0.05), (-0.22, 0.01)],
    },
    "straight": {
        "hind": [(0.5, 0.57), (0.5, 0.38), (0.5, 0.2), (0.5, 0.06), (0.44, 0.01)],
        "front": [(-0.22, 0.57), (-0.22, 0.38), (-0.22, 0.2), (-0.22, 0.06), (-0.28, 0.01)],
    },
}
BONES = ("upper", "lower", "cannon", "foot")


def four_legged(rest, name="Animal"):
    """An animal whose legs have four bones each."""
    left = []
    for leg, above in (("hind", "hips"), ("front", "spine 2")):
        places = [(0.09, *place) for place in LEGS[rest][leg]]
        for bone, (head, tail) in zip(BONES, pairwise(places), strict=True):
            left.append((f"{leg} leg {bone}", above, head, tail))
            above = f"{leg} leg {bone}"
    bones = animal_of(QUADRUPED, left)
    return armature(name, [{"name": n, "head": b.head, "tail": b.tail, "parent": b.parent} for n, b in bones.items()])


def of_leg(leg, side="L"):
    return [f"{leg} leg {bone} {side}" for bone in BONES]


def reaches(rig, bone, axis):
    """Degrees from the straight limb to which a joint bends about an axis of the world, least and most."""
    joint, rest = rig.pose.bones[bone], (rig.matrix_world @ rig.data.bones[bone].matrix_local).to_quaternion()
    before = rig.data.bones[bone].parent
    links = [(rig.matrix_world.to_3x3() @ (each.tail_local - each.head_local)) for each in (before, joint.bone)]
    bent = degrees(links[0].cross(links[1]).dot(axis) / (links[0].length * links[1].length))
    freedom = freedom_of(joint)
    allowed = [
        angle for angle in range(-170, 171, 2) if freedom.allows(rest.conjugated() @ about(axis, radians(angle)) @ rest)
    ]
    return min(allowed) + bent, max(allowed) + bent


@pytest.mark.parametrize("way", ["as it is", "any rolls", "Y up in centimetres", "facing X"])
@pytest.mark.parametrize("rest", LEGS)
def test_the_joints_of_a_leg_bend_one_way_and_each_against_the_one_before(rest, way):
    rig = four_legged(rest)
    WAYS[way](rig)
    preset = read_preset(find_preset("Animal Leg"))
    for leg, ahead in (("hind", 1.0), ("front", -1.0)):
        for side in "LR":
            bones = of_leg(leg, side)
            apply_preset(rig, bones, preset)
            for bone, sense in zip(bones[1:3], (ahead, -ahead), strict=True):
                least, most = sorted(sense * angle for angle in reaches(rig, bone, Vector((1.0, 0.0, 0.0))))
                assert -25.0 < least < 0.0, (bone, least)
                assert most > 120.0, (bone, most)


def test_a_front_leg_of_three_bones_has_its_elbow_behind_as_well():
    rig = four_legged("straight")
    for leg, sense in (("hind", 1.0), ("front", -1.0)):
        apply_preset(rig, of_leg(leg)[:3], read_preset(find_preset("Human Leg")))
        least, most = sorted(sense * angle for angle in reaches(rig, f"{leg} leg lower L", Vector((1.0, 0.0, 0.0))))
        assert least > -10.0
        assert most > 140.0


def test_a_hock_that_is_kept_as_a_preset_is_the_same_on_the_other_side():
    rig = four_legged("bent")
    apply_preset(rig, of_leg("hind"), read_preset(find_preset("Animal Leg")))
    kept = preset_of(rig, of_leg("hind"), "Mine")
    apply_preset(rig, of_leg("hind", "R"), kept)
    for bone in ("lower", "cannon"):
        left, right = (reaches(rig, f"hind leg {bone} {side}", Vector((1.0, 0.0, 0.0))) for side in "LR")
        assert left == pytest.approx(right, abs=2.1)


def walked(rig, leg):
    """A foot that goes through places on both sides of its rest, with its own turns; its bones, world space."""
    add_limbs(rig, of_leg(leg)[-1:])
    limb = Limb.of(rig.pose.bones[of_leg(leg)[-1]])
    target, start = limb.target, limb.target.matrix_world.copy()
    target.rotation_mode = "QUATERNION"
    for frame, (off, turn) in enumerate(
        (((0, 0, 0), 0.0), ((0.01, -0.1, 0.09), 0.2), ((-0.01, 0.03, 0.12), -0.2), ((0, 0.1, 0.06), 0.2))
    ):
        target.location = start.translation + Vector(off)
        target.rotation_quaternion = Euler((turn, 0.0, 0.0)).to_quaternion() @ start.to_quaternion()
        for channel in ("location", "rotation_quaternion"):
            target.keyframe_insert(channel, frame=1 + 5 * frame)
    assert bake(limb, 1, 16).all_reached
    heads, turns = shown(rig, range(1, 17, 3))
    of = [n for n, bone in enumerate(rig.pose.bones) if bone.name in of_leg(leg)]
    return heads[:, of], turns[:, of]


@pytest.mark.parametrize("leg", ["hind", "front"])
@pytest.mark.usefixtures("addon")
def test_a_leg_that_is_straight_at_rest_is_baked_alike_however_it_is_written_and_bends_as_it_should(leg):
    wanted = walked(four_legged("straight"), leg)
    heads = wanted[0]
    for joint, sense in ((1, 1.0), (2, -1.0)):
        before, after = heads[:, joint] - heads[:, joint - 1], heads[:, joint + 1] - heads[:, joint]
        bends = np.arctan2(np.cross(before, after)[:, 0], (before * after).sum(1))
        bends = np.degrees(bends) * sense * (1.0 if leg == "hind" else -1.0)
        assert bends.min() > -15.5, "hardly to the other side"
        assert bends.max() > 15.0, "it bends"
    assert np.abs(heads[:, 1:3, 0] - 0.09).max() < 0.01, "where it goes"
    rig = four_legged("straight", "Another")
    off_their_limbs(rig, of_leg(leg)[:3])
    for way in ("any rolls", "Y up in centimetres"):
        WAYS[way](rig)
    for found, before in zip(walked(rig, leg), wanted, strict=True):
        assert np.abs(found - before).max() < 1e-3


@pytest.mark.parametrize("leg", ["hind", "front"])
@pytest.mark.usefixtures("addon")
def test_rounding_of_a_leg_that_is_straight_at_rest_does_not_decide_how_it_bends(leg):
    wanted = walked(four_legged("straight"), leg)
    for seed in (2, 3):
        rig = four_legged("straight", f"Rounded {seed}")
        with_noise(rig, seed=seed)
        for found, before, size in zip(walked(rig, leg), wanted, (0.5, 1.0), strict=True):
            assert np.abs(found - before).max() < 1e-3 * size


def test_a_front_leg_of_five_parts_keeps_them_all():
    front = [(-0.32, 0.53), (-0.24, 0.45), (-0.23, 0.25), (-0.21, 0.105), (-0.23, 0.045), (-0.24, 0.01), (-0.27, 0.008)]
    hind = [(0.5, 0.54), (0.44, 0.42), (0.58, 0.25), (0.58, 0.08), (0.56, 0.04), (0.56, 0.01), (0.53, 0.008)]
    left = []
    for leg, above, places in (("front", "spine 2", front), ("hind", "hips", hind)):
        for number, (head, tail) in enumerate(pairwise((0.09, *place) for place in places)):
            left.append((f"{leg} leg {number}", above, head, tail))
            above = f"{leg} leg {number}"
    bones = animal_of(QUADRUPED, left)
    rig = armature("Horse", [{"name": n, "head": b.head, "tail": b.tail, "parent": b.parent} for n, b in bones.items()])
    limbs = rest_body(rig).limbs(LEG)
    assert [limb.bones[:4] for limb in limbs] == [
        tuple(f"{leg} leg {number} {side}" for number in range(4)) for leg in ("hind", "front") for side in "LR"
    ]
    for limb, fetlock in zip(limbs, (0, 0, 1, 1), strict=True):  # the pastern of the hind leg is as low as a foot
        joints = apply_preset(rig, limb.bones, read_preset(find_preset(limb.preset))).joints
        assert list(joints.values()) == ["hip", "knee", "hock", *["fetlock"] * fetlock, "paw"]


@pytest.mark.parametrize("down", [False, True])
def test_a_tail_bends_more_to_the_sides_than_up_and_down_whatever_its_rolls(down):
    ends = [(0.5, 0.6), *((0.5, 0.6 - 0.1 * n) if down else (0.5 + 0.1 * n, 0.6) for n in (1, 2, 3))]
    tail = [(f"tail {n}", f"tail {n - 1}" if n > 1 else "hips", *ways) for n, ways in enumerate(pairwise(ends), 1)]
    bones = animal_of([*QUADRUPED[:5], *tail], [])
    rig = armature("Cat", [{"name": n, "head": b.head, "tail": b.tail, "parent": b.parent} for n, b in bones.items()])
    WAYS["any rolls"](rig)
    apply_preset(rig, [name for name, *_ in tail], read_preset(find_preset("Tail")))
    aside = Vector((0.0, 1.0, 0.0) if down else (0.0, 0.0, 1.0))
    for axis, most in ((Vector((1.0, 0.0, 0.0)), 25.0), (aside, 30.0)):
        assert reaches(rig, "tail 2", axis) == pytest.approx((-most, most), abs=2.1)
