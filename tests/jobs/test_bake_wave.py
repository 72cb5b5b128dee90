# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that do not depend on each other are solved, written and evaluated together, and lost together if one fails."""

import bpy
import pytest

from ik_triangulation.jobs import bake_wave
from ik_triangulation.jobs.bake import bake, bake_limbs
from ik_triangulation.rig.limb import Limb

from ..rigs import chain_rig, empty, evaluated_tip, key_location, nothing_lost, rows

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = 12


def on_rigs(count, depending=False):
    """Limbs of three bones on one rig each, or with `depending` each with its root on the one before."""
    rigs = [chain_rig(3, name=f"Rig {n}") for n in range(count)]
    limbs = []
    for n, rig in enumerate(rigs):
        target = key_location(empty(f"Target {n}"), range(1, FRAMES + 10, 3))
        limbs.append(Limb.from_tip(rig, "Bone 2", target))
        if depending and n:
            rig.parent, rig.parent_type, rig.parent_bone = rigs[n - 1], "BONE", "Bone 2"
    bpy.context.view_layer.update()
    return limbs


def waves_of(limbs, monkeypatch):
    """The number of limbs in each wave of a bake, and its reports."""
    sizes, together = [], bake_wave.write_by_settings

    def counted(bakes, *more, **options):
        sizes.append(len(bakes))
        return together(bakes, *more, **options)

    monkeypatch.setattr(bake_wave, "write_by_settings", counted)
    reports = bake_limbs(limbs, 1, FRAMES)
    return sizes, reports


def test_limbs_that_do_not_depend_on_each_other_are_written_together(monkeypatch):
    sizes, reports = waves_of(on_rigs(3), monkeypatch)
    assert sizes == [3]
    assert all(report.all_reached and not report.warnings for report in reports)


def test_a_limb_on_another_one_reads_what_that_one_has_written(monkeypatch):
    limbs = on_rigs(3, depending=True)
    sizes, reports = waves_of(limbs, monkeypatch)
    assert sizes == [1, 1, 1]
    for frame in (1, 5, FRAMES):
        bpy.context.scene.frame_set(frame)
        for limb, report in zip(limbs, reports, strict=True):
            away = (evaluated_tip(limb.armature, "Bone 2") - limb.target.matrix_world.translation).length
            assert away == pytest.approx(report.frames[frame - 1].error, abs=1e-4)


def test_together_each_limb_gets_the_keys_that_it_gets_alone():
    limbs = on_rigs(3)
    bake_limbs(limbs, 1, FRAMES)
    together = [rows(limb.armature, "Bone 0") for limb in limbs]
    for limb, keys in zip(limbs, together, strict=True):
        limb.armature.animation_data_clear()
        for bone in limb.armature.pose.bones:
            bone.rotation_quaternion = 1.0, 0.0, 0.0, 0.0
        bake(limb, 1, FRAMES)
        assert rows(limb.armature, "Bone 0").tolist() == keys.tolist()


@pytest.mark.parametrize("step", ["solve_naturally", "record_bake", "measure_frames", "report_of"])
@pytest.mark.parametrize("which", [0, 2])
def test_if_one_of_several_fails_none_is_written(step, which, monkeypatch):
    limbs = on_rigs(3)
    limbs[1].armature.pose.bones["Bone 0"].rotation_quaternion = 0.6, 0.0, 0.8, 0.0  # posed, not keyed
    original, calls = getattr(bake_wave, step), [0]

    def broken(*args, **options):
        calls[0] += 1
        if calls[0] == which + 1:
            raise ZeroDivisionError
        return original(*args, **options)

    monkeypatch.setattr(bake_wave, step, broken)
    with nothing_lost(), pytest.raises(ZeroDivisionError):
        bake_limbs(limbs, 1, FRAMES)


def test_closed_at_any_part_nothing_is_written(long):
    limbs = on_rigs(3)
    parts = sum(1 for _ in bake_limbs.steps(limbs, 1, FRAMES))
    for limb in limbs:
        limb.armature.animation_data_clear()
    for part in range(1, parts, 1 if long else 7):
        with nothing_lost():
            job = bake_limbs.steps(limbs, 1, FRAMES)
            for _ in range(part):
                next(job)
            job.close()


def test_progress_counts_up_to_all_frames_of_all_limbs():
    told = []
    bake_limbs(on_rigs(3), 1, FRAMES, progress=lambda done, of: told.append((done, of)))
    assert told == sorted(told)
    assert told[-1] == (3 * FRAMES, 3 * FRAMES)


def test_a_pose_without_keys_stays_and_seconds_are_shared():
    limbs = on_rigs(2)
    other = chain_rig(1, name="Other").pose.bones[0]
    other.rotation_quaternion = 0.6, 0.0, 0.8, 0.0
    bone = limbs[0].armature.pose.bones["Bone 0"]
    bone.location = 0.1, 0.2, 0.3
    bone.keyframe_insert("location", frame=1)
    bone.location = 0.4, 0.5, 0.6
    reports = bake_limbs(limbs, 1, FRAMES)
    assert tuple(other.rotation_quaternion) == pytest.approx((0.6, 0.0, 0.8, 0.0))
    assert tuple(bone.location) == pytest.approx((0.4, 0.5, 0.6))
    assert all(report.seconds > 0.0 for report in reports)
