# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of the benchmarks can be believed: they are checked apart from the package, and peers keep the limits."""

from argparse import ArgumentParser
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Chain, Joint, Locked, Pose
from ik_triangulation.kinematics.rotation import rotation_angle
from scripts.benchmarks import arms, bake, forward, paths, ranges, scenes
from scripts.benchmarks.arm_table import ARMS
from scripts.benchmarks.families import FAMILIES

from ..chains import RANDOM, random_rotation

COUNT = 40


def arguments_of(benchmark, *words):
    """A benchmark's arguments as its command line reads them."""
    parser = ArgumentParser()
    benchmark.add_arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize("family", FAMILIES)
def test_tips_in_double_precision_are_those_of_the_package(family):
    (task,) = ranges.family_tasks(family, COUNT, 1)
    chain, random = task.start.chain, Random(family)
    base = Matrix.Translation((0.3, -0.2, 0.7)) @ random_rotation(random).to_matrix().to_4x4()
    poses = [Pose(chain, base, [joint.freedom.random(random) for joint in chain.joints]) for _ in range(COUNT)]
    rotations = np.array([[rotation[:] for rotation in pose.rotations] for pose in poses], float)
    found, _ = forward.tips(chain, base, rotations)
    assert np.abs(found - np.array([pose.tip[:] for pose in poses])).max() < 1e-5 * chain.reach


@pytest.mark.parametrize("family", FAMILIES)
def test_targets_of_the_families_are_reached_by_poses_that_the_package_allows(family):
    chain = ranges.family_tasks(family, 1, 1)[0].start.chain
    random = np.random.default_rng(7)
    for joint in chain.joints:
        rotations = forward.at_ends(joint.freedom, COUNT, random)
        rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
        away = [rotation_angle(joint.freedom.nearest(Quaternion(each)), Quaternion(each)) for each in rotations]
        assert max(away) < 2e-5
        assert forward.outside(joint.freedom, rotations).max() < 1e-9


@pytest.mark.parametrize("kind", RANDOM, ids=lambda kind: kind.__name__)
def test_rotations_count_as_outside_by_at_least_what_the_package_says(kind):
    random = Random(kind.__name__)
    moving = [freedom for freedom in (RANDOM[kind](random) for _ in range(COUNT)) if freedom.moves]
    assert len(moving) == COUNT or kind is Locked
    for freedom in moving:
        allowed = np.array([freedom.random(random)[:] for _ in range(4)], float)
        assert forward.outside(freedom, allowed).max() < 1e-5
        anywhere = [random_rotation(random) for _ in range(4)]
        away = np.array([rotation_angle(freedom.nearest(each), each) for each in anywhere])
        found = forward.outside(freedom, np.array([each[:] for each in anywhere], float))
        assert (found > away - 1e-4).all()
        assert ((found < 1e-5) == (away < 1e-5)).all()


def test_an_answer_that_misses_or_leaves_the_limits_is_counted():
    (task,) = ranges.family_tasks("one-sided ranges", 4, 1)
    tolerance = 1e-3 * task.start.chain.reach
    right = ranges.one_by_one(task, "GAUSS_NEWTON", tolerance)
    counts = ranges.judge(task, right, tolerance)
    assert (counts.targets, counts.reached, counts.wrong, counts.outside) == (4, 4, 0, 0)
    turned = right.rotations.copy()
    turned[1, 0] = 0.0, 0.0, 1.0, 0.0
    counts = ranges.judge(task, right._replace(rotations=turned), tolerance)
    assert (counts.reached, counts.wrong, counts.outside) == (3, 1, 1)


def test_arms_are_as_long_as_their_makers_say():
    at_zero = {
        name: forward.tips(arms.start_of(arm).chain, np.eye(4), arms.rotations_of(arm, np.zeros((1, len(arm.joints)))))
        for name, arm in ARMS.items()
    }
    assert at_zero["Franka Emika Panda"][0][0] == pytest.approx([0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.2104])
    assert at_zero["Universal Robots UR5"][0][0] == pytest.approx([0.81725, 0.19145, -0.005491], abs=1e-6)
    assert {len(arm.joints) for arm in ARMS.values()} == {6, 7}


@pytest.mark.parametrize("name", ["PR2", "Universal Robots UR10"])
def test_poses_of_an_arm_are_reached_and_judged_apart_from_the_package(name):
    start = arms.start_of(ARMS[name])
    poses = arms.random_poses(name, ARMS[name], start.chain, 3)
    found = arms.one_by_one(start, poses, "GAUSS_NEWTON")
    reached, wrong, outside = arms.judge(start.chain, poses, found)
    assert reached.all()
    assert not wrong.any()
    assert not outside.any()
    turned = found.rotations.copy()
    turned[:, -1] = forward.product(forward.quaternion((1.0, 0.0, 0.0), np.full(3, 0.02)), turned[:, -1])
    assert arms.judge(start.chain, poses, found._replace(rotations=turned))[1].all()


@pytest.mark.usefixtures("empty_scene")
@pytest.mark.parametrize(
    "ranges_of_bones", [[scenes.ROUND], scenes.MIXED, scenes.HINGES], ids=["round", "mixed", "hinges"]
)
def test_blenders_own_bake_is_held_by_the_limits_of_the_scene(ranges_of_bones):
    scene = scenes.limited(ranges_of_bones)(5, 30)
    bpy.context.view_layer.update()
    bake.bake_blender(scene, 30)
    assert bake.quality(scene, 30, blender=True).outside < 0.01
    scene.bones[2].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 2.6)
    assert scenes.outside_in_blender(scene.bones[2], scene.bones[2].rotation_quaternion) > 8.0


@pytest.mark.usefixtures("empty_scene")
def test_the_limb_below_a_moving_root_is_the_chain_alone():
    scene = scenes.moving_root(5, 20, others=20)
    assert [bone.name for bone in scene.bones] == [f"bone_{i:02}" for i in range(5)]
    assert len(scene.ob.pose.bones) == 26
    bpy.context.scene.frame_set(1)
    before = scene.ob.pose.bones["root"].tail.copy()
    bpy.context.scene.frame_set(15)
    assert (scene.ob.pose.bones["root"].tail - before).length > 0.1


def test_the_rows_of_the_bake_benchmark_are_a_table(capsys, long):
    names = ["free", *(["limits", "root", "mesh"] if long else []), "scale"]
    count = len(names) - 1  # the last one is of one rig alone
    bake.run(arguments_of(bake, "--rounds", "1", "--sizes", "5x12", "--rigs", "1", "--rows", *names))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    beside = lines[: 2 + count]
    assert {line.count("|") for line in beside} == {beside[0].count("|")}
    reached = [line.split("|")[8].strip() for line in beside[2:]]
    assert reached == ["12"] * count
    assert [line.split("|")[3].strip() for line in lines[-4:]] == ["40 of 40"] * 4


def test_two_versions_can_be_compared_path_by_path(tmp_path, capsys):
    words = "--chains", "5 bones", "--paths", "near-axis", "--solvers", "GAUSS_NEWTON"
    figures = str(tmp_path / "figures.json")
    paths.run(arguments_of(paths, *words, "--json", figures))
    paths.run(arguments_of(paths, *words, "--beside", figures))
    out = capsys.readouterr().out
    assert "Beside 1 rows of the other version: 0 frames that it reached are lost" in out


def test_scale_of_a_joint_is_passed_on():
    head, tip, size = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.5, 0.0)), Vector((2.0, 2.0, 2.0))
    free = RANDOM[next(iter(RANDOM))](Random(1))
    joints = [Joint("a", Vector(), Quaternion(), free, scale=size), Joint("b", head, Quaternion(), free)]
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (1, 2, 1))
    assert forward.tips(Chain(tuple(joints), tip), np.eye(4), rotations)[0][0] == pytest.approx([0.0, 3.0, 0.0])
