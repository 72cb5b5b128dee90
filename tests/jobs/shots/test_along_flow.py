# SPDX-License-Identifier: GPL-3.0-or-later
"""A tip that follows a force field: round a vortex at its speed by every method, and along what blocks it."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

from ik_triangulation.cli import main
from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake, bake_body, rebake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_body_pose, solve_pose, verify
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.rotation import rotation_of
from ik_triangulation.solvers import SOLVERS

from ...bodies import FEET, human_rig
from ...commands import DONE, FAILED, only_limb, opened
from ...rigs import chain_rig, configure, empty, evaluated_tip, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP, LAST, FPS = "Bone 3", 48, 24
SPEED, RADIUS = 1.2, 0.5


def field(kind, at, turn=(0.0, 0.0, 0.0), **settings):
    """An empty with a force field."""
    target = empty("Field", at)
    target.rotation_euler = turn
    bpy.context.view_layer.objects.active = target
    bpy.ops.object.forcefield_toggle()
    target.field.type = kind
    for name, value in settings.items():
        setattr(target.field, name, value)
    bpy.context.view_layer.update()
    return target


def arm(bend=0.4, limit=None):
    """A chain of four bent bones, in the middle of its reach."""
    rig = chain_rig(4)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Euler((bend, 0.0, 0.1)).to_quaternion()
        for axis in "xyz" if limit else "":
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", -radians(limit))
            setattr(bone, f"ik_max_{axis}", radians(limit))
    bpy.context.view_layer.update()
    return rig


def vortex(rig, **more):
    """A vortex beside the tip, about an axis aslant."""
    turn = Euler((0.3, 0.2, 0.0))
    aside = turn.to_matrix() @ Vector((-RADIUS, 0.0, 0.3))
    return field("VORTEX", evaluated_tip(rig, TIP) + aside, turn, **more)


def limb_of(rig, target, **settings):
    return Limb.from_tip(rig, TIP, target, 4, **{"shape": "FLOW", "flow_speed": SPEED, **settings})


def tips(rig, last=LAST, tip=TIP):
    """The tip at each frame, as Blender shows it (rows)."""
    found = []
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        found.append(evaluated_tip(rig, tip))
    return np.array(found)


def about(places, target):
    """Radii of places about the Z axis of an object, and their heights along it."""
    turned = np.array(target.matrix_world.inverted().to_3x3()) @ (places - np.array(target.matrix_world.translation)).T
    return np.hypot(turned[0], turned[1]), turned[2]


def speeds(places):
    return np.linalg.norm(np.diff(places, axis=0), axis=1) * FPS


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"TWO_BONE"}))
def test_by_every_method_the_tip_goes_round_a_vortex_at_its_speed(solver):
    rig = arm()
    target = vortex(rig)
    report = bake(limb_of(rig, target, solver=solver), 1, LAST)
    places = tips(rig)
    radii, heights = about(places, target)
    assert report.reached, report.text
    assert radii == pytest.approx(RADIUS, rel=5e-3)
    assert np.ptp(heights) < 5e-3 * RADIUS
    assert speeds(places) == pytest.approx(SPEED, rel=0.02)
    assert speeds(places).mean() == pytest.approx(SPEED, rel=3e-3)


@pytest.mark.parametrize("solver", ["NATURAL", "GRADIENT", "CCD", "TRIANGULATION"])
@pytest.mark.parametrize("limit", [None, 35.0])
def test_what_blocks_the_tip_is_slid_along_and_told(solver, limit):
    rig = arm(limit=limit)
    report = bake(limb_of(rig, field("WIND", (0.0, 0.0, 0.0), (0.3, 1.2, 0.0)), solver=solver), 1, 72)
    missed = [int(frame) for frame in report.missed]
    assert missed == list(range(missed[0], 73))
    assert 20 < missed[0] < 50
    assert any("The field leads out of reach or limits at" in text for text in report.warnings)
    places = tips(rig, 72)
    before = missed[0] - 2
    assert speeds(places)[: before - 1] == pytest.approx(SPEED, rel=0.02)
    after = speeds(places)[before:]
    assert (after < SPEED).all()
    assert after[:10].min() > 0.3 * SPEED
    wind = np.array(Euler((0.3, 1.2, 0.0)).to_matrix().col[2])
    assert (np.diff(places @ wind) > -1e-3).all()
    far = np.linalg.norm(places - np.array(rig.matrix_world @ rig.pose.bones["Bone 0"].head), axis=1)
    if limit is None:
        assert far[before + 2 :] == pytest.approx(4.0, abs=5e-3)
    else:
        assert all(freedom_of(bone).allows(rotation_of(bone)) for bone in rig.pose.bones)


def test_a_rig_that_moves_leaves_the_tip_to_the_field():
    rig = arm()
    target = vortex(rig)
    for frame, x in ((1, 0.0), (LAST, -0.4)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    assert not bake(limb_of(rig, target), 1, LAST).missed
    radii, _ = about(tips(rig), target)
    assert radii == pytest.approx(RADIUS, rel=2e-3)


def test_a_field_may_hang_on_something():
    rig = arm()
    target = vortex(rig)
    carrier = empty("Carrier", (0.0, 0.0, 0.0))
    target.parent = carrier
    carrier.location.z = 0.5
    carrier.keyframe_insert("location", frame=LAST)
    carrier.location.z = 0.0
    carrier.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(1)
    assert not bake(limb_of(rig, target), 1, LAST).missed
    assert speeds(tips(rig)) == pytest.approx(SPEED, rel=5e-3)


def test_the_field_counts_as_it_is_at_each_frame():
    rig = arm()
    target = vortex(rig)
    limb = limb_of(rig, target)
    target.field.strength = 1.0
    target.field.keyframe_insert("strength", frame=1)
    target.field.keyframe_insert("strength", frame=12)
    target.field.strength = 0.0
    target.field.keyframe_insert("strength", frame=24)
    bpy.context.scene.frame_set(1)
    assert not bake(limb, 1, LAST).missed
    seen = speeds(tips(rig))
    assert seen[:10] == pytest.approx(SPEED, rel=3e-3)
    assert (np.diff(seen[11:22]) < 0.0).all()
    assert seen[24:].max() < 1e-3


def test_a_tip_points_along_the_way_if_asked_to():
    rig = arm(bend=1.0)
    target = vortex(rig)
    bake(limb_of(rig, target, orientation="DIRECTION"), 1, LAST)
    angles = []
    for frame in range(2, LAST):
        bpy.context.scene.frame_set(frame)
        bone = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[TIP]
        arm_now = np.array(bone.tail) - np.array(target.matrix_world.translation)
        along = np.cross(np.array(target.matrix_world.col[2])[:3], arm_now)
        angles.append((bone.tail - bone.head).angle(Vector(along)))
    assert max(angles) < radians(8.0)  # half a step of the way round, and the tolerance


def test_a_method_left_to_itself_follows_as_far_as_it_comes_and_says_so():
    rig = arm()
    target = vortex(rig)
    report = bake(limb_of(rig, target, solver="GRADIENT", finish=False, iterations=1), 1, LAST)
    assert len(report.missed) > LAST // 2
    assert any("the method alone does not go as far as the field leads" in text for text in report.warnings)
    seen = speeds(tips(rig))
    assert 0.2 * SPEED < seen.mean() < 0.9 * SPEED
    assert seen.max() < 1.2 * SPEED


def test_it_is_baked_again_as_it_was():
    rig = arm()
    configure(rig, TIP, target=vortex(rig), chain_count=4, shape="FLOW", flow_speed=SPEED)
    bake(Limb.of(rig.pose.bones[TIP]), 1, LAST)
    before = tips(rig)
    bpy.context.scene.frame_set(1)
    assert not rebake(rig, TIP).missed
    assert np.abs(tips(rig) - before).max() < 1e-4


def test_what_is_shown_is_verified_from_frame_to_frame():
    rig = arm()
    target = vortex(rig)
    configure(rig, TIP, target=target, chain_count=4, shape="FLOW", flow_speed=SPEED)
    bake(Limb.of(rig.pose.bones[TIP]), 1, LAST)
    assert verify(rig, 1, LAST)[TIP].reached
    target.field.strength = -1.0
    seen = verify(rig, 1, LAST)[TIP]
    assert len(seen.missed) == LAST - 1
    assert seen.largest_distance == pytest.approx(2.0 * SPEED / FPS, rel=0.01)


def test_a_pose_is_one_step_and_live_one_step_for_each_frame(addon):
    rig = arm()
    target = vortex(rig)
    configure(rig, TIP, target=target, chain_count=4, shape="FLOW", flow_speed=SPEED)
    places = [evaluated_tip(rig, TIP)]
    for _ in range(3):
        assert solve_pose(Limb.of(rig.pose.bones[TIP])).reached
        places.append(evaluated_tip(rig, TIP))
    live.start(rig, TIP, at_once=False)
    try:
        for frame in (2, 3, 4):
            bpy.context.scene.frame_set(frame)
            for _ in range(3):  # what is only drawn again makes no step
                bpy.context.view_layer.update()
                bpy.context.evaluated_depsgraph_get()
            places.append(evaluated_tip(rig, TIP))
    finally:
        live.stop_all()
    assert speeds(np.array(places)) == pytest.approx(SPEED, rel=3e-3)
    assert about(np.array(places), target)[0] == pytest.approx(RADIUS, rel=3e-3)


def test_the_hand_of_a_body_follows_while_its_feet_stay():
    rig = human_rig()
    before = {name: rig.pose.bones[name].tail.copy() for name in FEET}
    hand = evaluated_tip(rig, "hand.L")
    target = field("VORTEX", hand + Vector((-0.15, -0.1, 0.0)), (radians(90.0), 0.0, 0.0))
    limb = Limb.from_tip(rig, "hand.L", target, shape="FLOW", flow_speed=0.5)
    body = RigBody(rig, (limb,), FEET, balance=True)
    report = bake_body(body, 1, 24)
    assert not report.missed, report.text
    places = tips(rig, 24, "hand.L")
    assert about(places, target)[0] == pytest.approx(0.15, abs=2e-3)
    assert speeds(places) == pytest.approx(0.5, rel=0.02)
    assert all((rig.pose.bones[name].tail - place).length < 2e-3 for name, place in before.items())
    bpy.context.scene.frame_set(1)
    solve_body_pose(body)
    assert (evaluated_tip(rig, "hand.L") - hand).length == pytest.approx(0.5 / FPS, rel=0.02)


def test_a_flow_is_no_place_to_reach_for():
    rig = arm()
    limb = limb_of(rig, vortex(rig))
    with nothing_lost(), pytest.raises(TargetError, match="'Bone 3' follows the field of 'Field', which is no place"):
        reach(limb, 1, 20)


def test_a_target_without_a_field_loses_nothing():
    limb = limb_of(arm(), empty("Cup"))
    with nothing_lost(), pytest.raises(TargetError, match="'Cup' has no force field to follow"):
        bake(limb, 1, LAST)


def test_the_command_line_follows_a_field(tmp_path, addon, capfd):
    rig = arm()
    vortex(rig)
    empty("Cup")
    path, baked = tmp_path / "arm.blend", tmp_path / "baked.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    words = ["bake", path, "--tip", TIP, "--chain-length", 4, "--target", "Field", "--shape", "flow"]
    words += ["--flow-speed", SPEED, "--frame-start", 1, "--frame-end", LAST]
    capfd.readouterr()
    assert main([*map(str, words), "--output", str(baked), "--json"]) == DONE
    assert only_limb(capfd.readouterr().out)["reached"] == LAST
    found = opened(baked)
    assert about(tips(found), bpy.data.objects["Field"])[0] == pytest.approx(RADIUS, rel=2e-3)
    assert main([*map(str, words), "--target", "Cup", "--discard"]) == FAILED
    assert "'Cup' has no force field to follow" in capfd.readouterr().err
