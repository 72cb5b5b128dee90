# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and reports that whole jobs leave are those that are kept (tests/kept.py): times, values, handles and kinds."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.jobs.bake import bake, bake_body
from ik_triangulation.jobs.edits.breakdown import breakdown
from ik_triangulation.jobs.edits.edit import pull
from ik_triangulation.jobs.edits.mirror import mirror_motion
from ik_triangulation.jobs.edits.retime import retime
from ik_triangulation.jobs.edits.spaces import set_space
from ik_triangulation.jobs.find_contacts import find_contacts
from ik_triangulation.jobs.follow_rig import follow_rig
from ik_triangulation.jobs.grasp import grasp
from ik_triangulation.jobs.reach import Stop, reach_through
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.targets import target_from_animation
from ik_triangulation.jobs.transfer import transfer
from ik_triangulation.rig.body import Contact, store_contacts
from ik_triangulation.rig.limb import Limb

from ..bodies import FEET, SMALL, followed_rig, human_rig, set_up_rig, sliding_rig, walking_body
from ..characters import character, part_of
from ..ik_rigs import ARM
from ..kept import check
from ..rigs import chain_rig, curves_of, empty, key_location, rotate
from .moving import limb
from .reaching import posed
from .test_grasp import hand_of, rod
from .test_transfer import key_ik, switched_arm

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
WITHIN = {"times": 0, "kinds": 0, "values": 2e-3, "handles": 1e-2, "said": 2e-3, "counts": 0}
KINDS = "interpolation", "type", "handle_left_type", "handle_right_type"


def keys(*objects, more=()):
    """What is kept of the keys of objects: of all the times and kinds, and some of the values and handles."""
    times, kinds, values, handles = [], [], [], []
    for ob in objects:
        for curve in sorted(curves_of(ob), key=lambda curve: (curve.data_path, curve.array_index)):
            points = [*curve.keyframe_points]
            codes = {name: points[0].bl_rna.properties[name].enum_items for name in KINDS} if points else {}
            seen = [tuple(codes[name][getattr(point, name)].value for name in KINDS) for point in points]
            runs = [k for k in range(len(seen)) if k == 0 or seen[k] != seen[k - 1]]
            steps = np.round(np.diff([0.0, *(point.co.x for point in points)]), 3)
            times += [len(points), curve.array_index, *(1000 * each for each in dict.fromkeys(steps.tolist()))]
            kinds += [each for k in runs for each in (k, *seen[k])] + [len(curve.modifiers), curve.mute]
            some = points[:: max(1, len(points) // 4)]
            values += [point.co.y for point in some]
            handles += [x for point in some[:2] for x in (*point.handle_left, *point.handle_right)]
    return {"times": times, "kinds": kinds, "values": values, "handles": handles, **dict(more)}


def told(report):
    """What is kept of a report: the errors of each tip, what it counts, and how many warnings it has."""
    tips = report.tips.values()
    return {
        "said": [each.error for each in tips],
        "counts": [report.keys, len(report.warnings), *(len(each.missed) for each in tips)],
    }


def nudged(nudge):
    """Move all empties and their keys a little: by what single precision notices."""
    for ob in bpy.data.objects:
        if ob.type == "EMPTY" and nudge:
            ob.location += Vector((1e3 * nudge,) * 3)
            for curve in curves_of(ob):
                for point in curve.keyframe_points if curve.data_path == "location" else ():
                    point.co_ui.y += 1e3 * nudge


def arm(**settings):
    """A chain that was posed by hand, with keys of its own at one joint, and a target that goes round it."""
    rig, target = chain_rig(3), key_location(empty(), range(1, 41, 3))
    rig.pose.bones["Bone 1"].rotation_mode = "ZXY"
    rotate(rig.pose.bones["Bone 0"], Quaternion((1.0, 0.2, -0.3), 0.4))
    for frame, turn in ((1, 0.1), (7, 0.5), (13, -0.2)):
        rotate(rig.pose.bones["Bone 2"], Quaternion((0.2, 1.0, 0.4), turn))
        rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=frame)
    return limb(rig, target, **settings)


def fading_limb(nudge):
    """A bake with an influence that fades, a soft edge, on every other frame, beside keys made by hand."""
    found = arm(smoothing=0.5, interpolation="LINEAR")
    rig = found.armature
    stored = rig.pose.bones["Bone 2"].ik_triangulation
    for frame, share in ((3, 1.0), (9, 0.2), (12, 1.0)):
        stored.influence = share
        rig.keyframe_insert('pose.bones["Bone 2"].ik_triangulation.influence', frame=frame)
    nudged(nudge)
    report = bake(found, 2, 13, step=2)
    return keys(rig, more=told(report))


def turned_limb(nudge):
    """A bake of a limb that turns as its target does, with a pole, fewer keys, and another one over a part of it."""
    rig = followed_rig(24)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    for frame, turn in ((1, 0.0), (24, 0.9)):
        target.rotation_euler = (turn, 0.3 * turn, -turn)
        target.keyframe_insert("rotation_euler", frame=frame)
    pole = empty("Pole", (1.0, 2.0, 1.0))
    how = {"orientation": "FULL", "pole_target": pole, "reduce": True, "reduce_tolerance": 0.02}
    nudged(nudge)
    bake(Limb.from_tip(rig, "hand.L", target, 3, **how), 1, 24)
    report = bake(Limb.from_tip(rig, "hand.L", target, 3, orientation="NONE", destination="NEW_ACTION"), 8, 14)
    return keys(rig, more=told(report))


def edited_limb(nudge):
    """A baked arm that is pulled at a frame, comes later around another one, and is mirrored."""
    rig = followed_rig(24)
    nudged(nudge)
    bake(Limb.from_tip(rig, "hand.L", rig.pose.bones["hand.L"].ik_triangulation.target, 3), 1, 24)
    pulled = pull(rig, "hand.L", 9, (0.03, -0.05, 0.08), 6)
    found = keys(rig)
    moved = retime(rig, "hand.L", 12, 3, 8)
    mirror_motion(rig, ["hand.L"], 4.0)
    after = keys(rig, *(ob for ob in bpy.data.objects if ob.type == "EMPTY"))
    reports = told(pulled), told(moved)
    return {name: [*found[name], *after[name]] for name in found} | {
        name: [*reports[0][name], *reports[1][name]] for name in reports[0]
    }


def whole_body(nudge):
    """A body whose hands go down with fewer keys, and a foot of which is in contact for some frames."""
    rig = set_up_rig(12, SMALL)
    store_contacts(rig, [Contact("foot.L", 3, 8)])
    rig.pose.bones["hand.L"].ik_triangulation.reduce = True
    nudged(nudge)
    report = bake_body(body_of(rig, "hand.L"), 1, 12)
    return keys(rig, more=told(report))


def through_stops(nudge):
    """A reach that takes a cup, stays, puts it down elsewhere and goes back."""
    rig, cup = posed()
    cup.rotation_euler = (0.3, -0.8, 1.2)
    stops = [Stop(cup, 12, 3, take="TAKE"), Stop(empty("Table", (-1.2, 1.4, 1.0)), 30, 2, take="GIVE")]
    nudged(nudge)
    report = reach_through(limb(rig, cup), stops, 1, return_frames=8, path="ARC", onset=0.4, prop_by="KEYS")
    return keys(rig, cup, more=told(report))


def in_a_space(nudge):
    """A target that a table carries for some frames."""
    rig = followed_rig(24)
    target, table = rig.pose.bones["hand.L"].ik_triangulation.target, empty("Table", (0.5, -0.5, 1.0))
    for frame, turn in ((1, 0.0), (24, 1.0)):
        table.location.x, table.rotation_euler = 0.5 + 0.3 * turn, (0.0, 0.2 * turn, turn)
        table.keyframe_insert("location", frame=frame)
        table.keyframe_insert("rotation_euler", frame=frame)
    nudged(nudge)
    set_space(rig, "hand.L", table, "", 8, 15)
    return keys(target)


def onto_controls(nudge):
    """Keys of IK controls given to FK controls, and back on every frame."""
    rig = switched_arm()
    key_ik(rig)
    first = transfer(rig, "FK", 1, 12)
    found = keys(rig)
    back = transfer(rig, "IK", 1, 12, "ALL")
    again = keys(rig)
    counts = [each for done in (first, back) for one in done.limbs for each in (one.keys, one.frames)]
    assert f"{ARM[0]}.fk" in rig.pose.bones
    return {name: [*found[name], *again[name]] for name in found} | {"counts": counts}


def contacts_found(nudge):
    """Contacts of feet that slide, and of one that makes a step."""
    rig = sliding_rig(48)
    found = find_contacts(rig, 1, 48)
    stored = rig.pose.bones
    return {
        "counts": [[each.tip == FEET[0], each.frame_start, each.frame_end] for each in found],
        "said": [stored[foot].ik_triangulation.influence for foot in FEET],
    }


def grasped(nudge):
    """A rod in a hand, its fingers keyed."""
    rig = character("Mixamo")
    hand = hand_of(rig, "Mixamo")
    held = rod(hand, 0.022)
    held.location.z += 1e3 * nudge
    bpy.context.view_layer.update()
    done = grasp(rig, part_of(rig, "Mixamo", "hand").name, held)
    return keys(rig, more={"said": [done.shift]})


def following(nudge):
    """Another character that follows one that walks."""
    source = walking_body(12)
    bpy.context.scene.frame_end = 12
    rig = character("Mixamo", "Other", 1.3, 0.8)
    rig.matrix_world = Matrix.Translation((2.0, 1.0, 0.0)) @ Matrix.Rotation(0.6, 4, "Z") @ rig.matrix_world
    bpy.context.view_layer.update()
    result = follow_rig(rig, source, 1, 12)
    targets = [rig.pose.bones[tip].ik_triangulation.target for tip in result.tips]
    some = sorted({target for target in targets if target is not None}, key=lambda ob: ob.name)
    said = [result.scale, *(each for contact in result.contacts for each in (contact.frame_start, contact.frame_end))]
    return keys(*some, more={"said": said})


def from_animation(nudge):
    """Targets keyed where an animated arm goes."""
    rig = human_rig()
    for frame, turn in ((1, 0.0), (7, 0.6), (13, -0.2)):
        for bone, axis in (("upper_arm.L", (0.3, 1.0, 0.2)), ("forearm.L", (1.0, 0.0, 0.3))):
            rotate(rig.pose.bones[bone], Quaternion(axis, turn))
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    target = empty()
    target.empty_display_type = "ARROWS"
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target, stored.chain_count = target, 3
    target_from_animation([Limb.of(rig.pose.bones["hand.L"])], 1, 13, only_keys=True)
    return keys(target)


def between_poses(nudge):
    """A pose between two keyed ones of a body, keyed."""
    rig = set_up_rig(12, SMALL)
    turns = {"thigh.L": (-1.0, 0.0, 0.0), "shin.L": (1.0, 0.0, 0.0), "upper_arm.L": (0.0, 1.0, 0.3)}
    for frame, turn in ((1, 0.0), (11, 0.7)):
        for bone, axis in turns.items():
            rotate(rig.pose.bones[bone], Quaternion(axis, turn))
        rig.pose.bones["spine"].location = Vector((0.1, -0.3, 0.0)) * turn
        for bone in rig.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        rig.pose.bones["spine"].keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(6)
    breakdown(rig, 0.4, key=True)
    return keys(rig)


CASES = {
    "limb, fading": fading_limb,
    "limb, turned": turned_limb,
    "limb, edited": edited_limb,
    "body": whole_body,
    "reach": through_stops,
    "space": in_a_space,
    "transfer": onto_controls,
    "contacts": contacts_found,
    "grasp": grasped,
    "following": following,
    "target from animation": from_animation,
    "breakdown": between_poses,
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_job_leaves_is_as_it_is_kept(case, renew):
    def fresh(nudge):
        if nudge:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        return CASES[case](nudge)

    check("shots", case, fresh, WITHIN, renew)
