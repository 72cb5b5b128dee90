# SPDX-License-Identifier: GPL-3.0-or-later
"""An exception that nobody expects, at any call of our code, changes nothing, or the job is done and says so."""

import random
from collections.abc import Callable

import bpy
import pytest

from ik_triangulation.jobs.bake import BodyBake, bake, bake_bodies, delete_generated, rebake_body
from ik_triangulation.jobs.joint_tools import copy_to_own
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.reach import Stop, body_stop, reach_through, reach_with_body
from ik_triangulation.jobs.shots.keys import body_settings
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.targets import target_from_animation
from ik_triangulation.rig.limb import Limb

from ..bodies import human_rig, set_up_rig, sliding_rig
from ..interrupted import KINDS, calls_of, everything, interrupted
from ..rigs import chain_rig, configure, empty, key_location, select

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

LAST = 4  # frames
ALL = 9, 4  # points anywhere, and near the end
FEW = 1, 1
NEAR = 12  # of the last calls


def the_limb():
    rig, target = chain_rig(3), key_location(empty(), (1, LAST))
    configure(rig, "Bone 2", target=target, chain_count=3)
    return rig, Limb.from_tip(rig, "Bone 2", target)


def limb_bake():
    _, limb = the_limb()
    return lambda: bake(limb, 1, LAST)


def the_body():
    rig = set_up_rig(LAST, (-0.1, -0.1, -0.15))
    return rig, body_of(rig, "hand.L")


def body_bake():
    _, body = the_body()
    return lambda: bake_bodies([BodyBake(body, (1, LAST, 1), body_settings(body))])


def baked_body():
    rig, body = the_body()
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=2)
    bake_bodies([BodyBake(body, (1, LAST, 1), body_settings(body))])
    return rig, body


def body_bake_again():
    rig, _ = baked_body()
    return lambda: rebake_body(rig, "hand.L")


def deleting_of_keys():
    rig, body = baked_body()
    select(rig, "hand.L")
    return lambda: delete_generated(rig, body.bones)


def deleting_of_keys_by_the_operator():
    rig, _ = baked_body()
    posed(rig, "hand.L")
    return bpy.ops.pose.ik_triangulation_generated_delete


def body_pose():
    rig, body = the_body()
    rig.pose.bones["hand.L"].ik_triangulation.target.location.z -= 0.1
    bpy.context.view_layer.update()
    return lambda: solve_body_pose(body, key=True)


def body_reach():
    _, body = the_body()
    stop = body_stop(body, "hand.L", LAST, 0)
    return lambda: reach_with_body(body, [stop], 1, tip="hand.L")


def set_up_of_a_body():
    posed(human_rig(with_head=True))
    return bpy.ops.pose.ik_triangulation_body_add


def adding_of_limbs():
    rig = human_rig()
    posed(rig, "hand.L", "foot.R")
    return bpy.ops.pose.ik_triangulation_limb_add


def finding_of_contacts():
    rig = sliding_rig(12)
    bpy.context.scene.frame_end = 12
    posed(rig, "foot.L")
    return bpy.ops.pose.ik_triangulation_contacts_find


def prop(by):
    _, limb = the_limb()
    cup = empty("Cup", (0.8, 0.5, 1.2))
    stops = [Stop(cup, 3, 0, take="TAKE"), Stop(limb.target, 6, 0)]
    return lambda: reach_through(limb, stops, 1, prop_by=by)


def target_of_animation():
    rig, limb = the_limb()
    for frame in (1, LAST):
        rig.pose.bones["Bone 1"].rotation_quaternion = (1.0, 0.1 * frame, 0.0, 0.0)
        rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=frame)
    return lambda: target_from_animation([limb], 1, LAST)


def own_limits():
    rig, limb = the_limb()
    return lambda: copy_to_own(rig, limb.bones)


def posed(rig, *names):
    """Have the rig active in Pose Mode with these bones selected."""
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, *(names or [rig.pose.bones[0].name]))


JOBS: dict[str, Callable[[], Callable[[], object]]] = {
    "bake of a limb": limb_bake,
    "bake of a body": body_bake,
    "bake of a body again": body_bake_again,
    "delete generated keys": deleting_of_keys,
    "delete generated keys, operator": deleting_of_keys_by_the_operator,
    "set up body": set_up_of_a_body,
    "add limb": adding_of_limbs,
    "find contacts": finding_of_contacts,
    "prop by a constraint": lambda: prop("CONSTRAINT"),
    "prop by keys": lambda: prop("KEYS"),
    "pose of a body with keys": body_pose,
    "reach of a body": body_reach,
    "target from animation": target_of_animation,
    "joint tool": own_limits,
}


def fresh(build):
    """The job in a new file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    job = build()
    bpy.context.view_layer.update()
    return job


def changed_by(build, points, seed):
    """Run the job with an exception at points anywhere and near its end; return what was changed though it failed."""
    fresh(build)()  # what is kept for the session is made once
    count, found, fired = calls_of(fresh(build)), [], 0
    draw = random.Random(seed)
    anywhere, near = points
    numbers = [draw.randint(1, count) for _ in range(anywhere)]
    numbers += [count - back for back in draw.sample(range(min(NEAR, count)), near)]
    job = fresh(build)
    before = everything()
    for turn, number in enumerate(numbers):
        injection, done = interrupted(job, number, KINDS[turn % len(KINDS)])
        fired += injection.fired
        after = before if done else everything()
        if done or after != before:
            different = sorted(name for name in before | after if before.get(name) != after.get(name))
            if different:
                found.append((injection.where, injection.kind.__name__, number, count, different[:5]))
            job = fresh(build)
            before = everything()
    assert fired >= anywhere, "the job makes fewer calls than it did"
    return found


# Keys are deleted by the operator as by the call, a body is baked again as it was baked, a prop is held by keys too.
IN_SHORT = [
    what for what in JOBS if what not in {"delete generated keys", "bake of a body again", "prop by a constraint"}
]


@pytest.mark.parametrize("what", IN_SHORT)
def test_an_unexpected_exception_changes_nothing_or_comes_when_all_is_done(what):
    assert changed_by(JOBS[what], FEW, 1) == []


@pytest.mark.long
@pytest.mark.parametrize("what", JOBS)
def test_unexpected_exceptions_at_many_points_change_nothing(what):
    assert changed_by(JOBS[what], ALL, 2) == []
