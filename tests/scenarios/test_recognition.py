# SPDX-License-Identifier: GPL-3.0-or-later
"""+ on every bone of Rigify's human metarig, with its names and with names that tell nothing."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.removal import remove_limb
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.rig.limb import Limb

from ..rigs import key_location

FINGERS = ("f_index", "f_middle", "f_ring", "f_pinky", "thumb")
# Kind of a limb, its bones, and the other bones that stand for it; of both sides where there is a point at the end.
LIMBS = [
    ("SPINE", ["spine.001", "spine.002", "spine.003"], ["spine"]),
    ("NECK", ["spine.004", "spine.005", "spine.006"], []),
    ("LEG", ["thigh.", "shin.", "foot."], ["toe.", "heel.02."]),
    (
        "ARM",
        ["upper_arm.", "forearm.", "hand."],
        ["shoulder.", *(f"palm.0{n}." for n in range(1, 5)), *(f"{each}.0{n}." for each in FINGERS for n in (1, 2))],
    ),
]


@pytest.fixture
def rig(rigify_file, addon):
    """The human metarig, in Pose Mode."""
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file("metarig")))
    rig = bpy.data.objects["metarig"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def expected():
    """Kind and bones of the limb that each bone stands for."""
    found = {}
    for kind, bones, others in LIMBS:
        for side in "LR" if bones[0].endswith(".") else [""]:
            found |= {name + side: (kind, [bone + side for bone in bones]) for name in (*bones, *others)}
    for finger in FINGERS:
        for side in "LR":
            bones = [f"{finger}.0{number}.{side}" for number in (1, 2, 3)]
            found[bones[-1]] = ("FINGER", bones)
    return found


def added(rig, name):
    """Kind and bones of the limb that + makes of a bone; it is removed again."""
    (tip,) = add_limbs(rig, [name])
    limb, kind = Limb.of(rig.pose.bones[tip]), rig.pose.bones[tip].ik_triangulation.body_part
    bpy.data.objects.remove(limb.target)
    remove_limb(rig, tip)
    return kind, list(limb.bones)


def test_every_bone_stands_for_the_limb_that_an_animator_expects(rig, long):
    wanted = expected()
    assert set(wanted) <= {bone.name for bone in rig.data.bones}
    names = [bone.name for bone in rig.data.bones]
    told = {name: added(rig, name) for name in names[:: 1 if long else 3]}
    wanted = {name: limb for name, limb in wanted.items() if name in told}
    assert {kind for kind, _ in wanted.values()} == {"SPINE", "NECK", "LEG", "ARM", "FINGER"}
    assert {name: told[name] for name in wanted} == wanted
    assert {kind for name, (kind, _) in told.items() if name not in wanted} == {"NONE"}, "the face, breasts and pelvis"


def test_names_that_tell_nothing_change_nothing(rig, long):
    wanted, names = expected(), {}
    if not long:  # one bone of each limb
        wanted = {bones[-1]: (kind, bones) for kind, bones in wanted.values()}
    for number, bone in enumerate(rig.data.bones):
        names[bone.name], bone.name = f"Bone.{number:03}", f"Bone.{number:03}"
    told = {name: added(rig, names[name]) for name in wanted}
    assert told == {name: (kind, [names[bone] for bone in bones]) for name, (kind, bones) in wanted.items()}


def test_a_hand_follows_an_empty_that_is_only_added_and_keyed(rig):
    (tip,) = add_limbs(rig, ["palm.01.L"])
    limb = Limb.of(rig.pose.bones[tip])
    start = limb.target.location.copy()
    towards = rig.matrix_world @ rig.pose.bones["spine.003"].head - start
    key_location(limb.target, (1, 20), lambda frame: start + towards * 0.2 * (frame / 20))
    report = bake(limb, 1, 20)
    assert report.all_reached, report.worst
