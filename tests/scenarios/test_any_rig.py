# SPDX-License-Identifier: GPL-3.0-or-later
"""A character moves alike in the world however it is written: rolls, axes, units, bones off their limbs, rounding."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.jobs.bake import bake, bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.setup import add_limbs, set_up_body
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.stored_body import stored_body

from ..bodies import human_rig
from ..rewritten import WAYS, shown, t_pose_rig
from ..rigs import curves_of

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

FIGURES = {"bent": human_rig, "straight": t_pose_rig}
LIMBS = {"hand.L": "upper_arm.L", "foot.L": "thigh.L"}
GOALS = {  # frame: share of the limb's length, direction of the tip off that at rest, turn of the tip
    1: (1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    12: (0.7, (0.2, -0.6, 0.3), (0.3, 0.2, -0.1)),
    24: (0.6, (-0.3, -0.5, -0.5), (-0.2, 0.1, 0.3)),
    36: (0.8, (0.3, 0.3, -0.4), (0.0, 0.3, 0.2)),
}
LEAST = {"body": 1.5e-2}  # of the limb; 1e-3 for all other jobs
_kept = {}


def moved(rig, tip):
    """A limb, whose empty is keyed along the same way and with the same turns, world space."""
    add_limbs(rig, [tip])
    target = rig.pose.bones[tip].ik_triangulation.target
    root = rig.matrix_world @ rig.data.bones[LIMBS[tip]].head_local
    place, turn = target.matrix_world.translation.copy(), target.matrix_world.to_quaternion()
    target.rotation_mode = "QUATERNION"
    for frame, (share, off, angles) in GOALS.items():
        along = (place - root).normalized() + Vector(off)
        target.location = root + along.normalized() * ((place - root).length * share)
        # A hand turns as the arm goes, so that it can follow calmly; a foot stays level.
        swing = (place - root).rotation_difference(along) if tip == "hand.L" else Quaternion()
        target.rotation_quaternion = Euler(angles).to_quaternion() @ swing @ turn
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(target):  # whose handles would depend on how the bone is rolled
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    bpy.context.scene.frame_set(1)
    return Limb.of(rig.pose.bones[tip])


def baked_limb(tip):
    def bake_it(rig):
        assert bake(moved(rig, tip), 1, 36).worst_error < 1e-4  # the hand of a straight arm may trail its rotation
        return shown(rig, range(1, 37, 5))

    return bake_it


def baked_body(rig):
    made = set_up_body(rig)
    for name in made.reach:
        target, side = rig.pose.bones[name].ik_triangulation.target, 1.0 if name.endswith("L") else -1.0
        start = target.matrix_world.translation.copy()
        for frame, share in ((1, 0.0), (8, 1.0), (16, 0.3)):
            target.location = start.lerp(Vector((0.2 * side, -0.45, 0.25)), share)
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    report = bake_body(stored_body(rig, made.reach[0]), 1, 16)
    assert report.reached
    return shown(rig, range(1, 17, 3))


def reached(rig):
    limb = moved(rig, "hand.L")
    assert reach(limb, 1, 12).all_reached
    return shown(rig, range(1, 13, 2))


def followed(rig):
    moved(rig, "hand.L")
    bpy.context.view_layer.objects.active = rig
    live.start(rig, "hand.L")
    found = shown(rig, range(1, 37, 5))
    live.stop_all()
    return found


JOBS = {
    "arm": baked_limb("hand.L"),
    "leg": baked_limb("foot.L"),
    "body": baked_body,
    "reach": reached,
    "live": followed,
}
FEW = ("any rolls", "Y up in centimetres", "bones off their limbs")
CASES = [("straight", job, way) for job in ("arm", "leg", "body") for way in WAYS if way != "as it is"]
CASES += [("bent", job, way) for job in ("arm", "leg", "body") for way in FEW]
CASES += [("straight", job, way) for job in ("reach", "live") for way in FEW]
# Every way, figure and job, each way by one job.
SHORT = [("straight", ("arm", "leg", "body")[n % 3], way) for n, way in enumerate(WAYS) if way != "as it is"]
SHORT += [("bent", job, way) for job, way in zip(("arm", "leg", "body"), FEW, strict=True)]
SHORT += [("straight", "reach", FEW[0]), ("straight", "live", FEW[2])]
SHORT += [("straight", "arm", "rounded")]  # a flat valley: what is not converged there is decided by rounding
CASES = [case if case in SHORT else pytest.param(*case, marks=pytest.mark.long) for case in CASES]


@pytest.mark.parametrize(("figure", "job", "way"), CASES)
def test_a_job_gives_the_same_in_the_world(figure, job, way):
    least = LEAST.get(job, 1e-3)
    if (figure, job) not in _kept:
        rig = FIGURES[figure]("As it is")
        _kept[figure, job] = JOBS[job](rig)
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = FIGURES[figure]()
    WAYS[way](rig)
    heads, turns = JOBS[job](rig)
    before, turned = _kept[figure, job]
    assert np.linalg.norm(heads - before, axis=-1).max() < 0.8 * least  # m, of a limb
    assert np.abs(turns - turned).max() < 2.0 * least
    assert np.abs(turns[-1] - turns[0]).max() > 0.1, "it moved"


def test_elbows_and_knees_of_a_body_stay_near_the_planes_of_their_hinges():
    rig = t_pose_rig()
    heads, turns = baked_body(rig)
    place = {bone.name: number for number, bone in enumerate(rig.pose.bones)}
    for upper, lower, end, hinge in (("upper_arm", "forearm", "hand", 2), ("thigh", "shin", "foot", 0)):
        for side in "LR":
            first, second, third = (place[f"{name}.{side}"] for name in (upper, lower, end))
            way = heads[:, third] - heads[:, second]
            off = (turns[:, first, :, hinge] * way).sum(1) / np.linalg.norm(way, axis=1)
            assert np.degrees(np.abs(np.arcsin(off))).max() < 15.5
