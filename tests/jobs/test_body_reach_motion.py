# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of a body between two poses: held tips stay at each, shares of the way follow the timing and the onset."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.reach import style_of
from ik_triangulation.jobs.reach_motion import BodyReachMotion, BodyVisit
from ik_triangulation.jobs.shots.problem import BodyProblem, body_of
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.rig.frames.body_samples import read_body
from ik_triangulation.solvers.natural.posture import Posture

from ..bodies import FEET, HANDS, set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = range(1, 26)


def solved(way=(-0.2, -0.3, -0.45), back=0, frames=FRAMES, **style):
    rig = set_up_rig()
    for name, sign in zip(HANDS, (1.0, -1.0), strict=True):
        target = rig.pose.bones[name].ik_triangulation.target
        target.animation_data_clear()
        target.location += Vector(way) * Vector((sign, 1.0, 1.0))
    for name in style.get("stiff", ()):
        rig.ik_triangulation.hips_motion = "FIXED"
        rig.pose.bones[name].lock_rotation = (True, True, True)
        rig.pose.bones[name].lock_rotation_w = rig.pose.bones[name].lock_rotations_4d = True
    body = body_of(rig, "hand.L")
    samples = finished(read_body(body, bpy.context.scene, frames))
    problem = BodyProblem(body, samples)
    last = frames[-1] - back
    how = style_of(*(style.get(name, given) for name, given in _USUAL.items()))
    motion = BodyReachMotion(problem, [BodyVisit(last, last, samples.goals)], how, bpy.context.scene)
    return problem, motion, finished(motion.solved(back))


_USUAL = {"timing": "MINIMUM_JERK", "easing": "EASE_IN_OUT", "path": "ARC", "onset": 0.0}


def places(problem, states, name):
    return Geometry(problem.body.tree, states).tip(problem.body.number_of[name])


@pytest.mark.parametrize("style", [{}, {"onset": 1.0}, {"path": "LINE"}, {"timing": "LINEAR"}, {"path": "BOW"}])
def test_held_tips_stay_and_no_frame_leaps(style):
    problem, _, states = solved(**style)
    for name in FEET:
        place = places(problem, states, name)
        assert np.abs(place - place[:, :1]).max() < 1e-4
    turns = np.abs(np.diff(Posture(problem.body.tree, states.take([0])).offsets(states), axis=1)).max()
    assert np.degrees(turns) < 25.0


def test_with_an_onset_the_hips_are_ahead_of_the_hands():
    shares = []
    for onset in (0.0, 1.0):
        problem, _, states = solved(onset=onset)
        height = Geometry(problem.body.tree, states).heads[0, 2]
        shares.append((height[8] - height[0]) / (height[-1] - height[0]))
    assert shares[1] > shares[0] + 0.2


def test_on_the_way_back_it_is_again_where_it_was():
    _, _, states = solved(back=10)
    assert np.abs(states.angles[:, 0] - states.angles[:, -1]).max() < 1e-9
    assert np.abs(states.place[:, 0] - states.place[:, -1]).max() < 1e-9


def test_lines_that_cannot_be_followed_are_told():
    _, motion, _ = solved(path="LINE")
    assert not motion.warnings
    stiff = ("spine.001", "spine.002", "forearm.L", "hand.L", "forearm.R", "hand.R")
    _, motion, _ = solved(path="LINE", stiff=stiff)  # tips can only move on spheres about the shoulders
    assert motion.warnings[0].startswith("The body cannot follow the straight lines at ")


def test_along_a_bowed_path_the_trunk_begins_before_the_hands():
    problem, _, states = solved(path="BOW")
    tree = problem.body.tree
    geometry, rotations = Geometry(tree, states), tree.rotations(states)
    number = problem.body.number_of["hand.L"]
    wrist, shoulder = tree.tips[number].joint, int(tree.parents[tree.tips[number].first])
    seen = np.einsum("ijf,if->jf", geometry.frames[shoulder][:, :3], geometry.heads[wrist] - geometry.heads[shoulder])
    way = seen - seen[:, :1]
    chord = way[:, -1] / np.linalg.norm(way[:, -1])
    along = chord @ way
    bow = np.linalg.norm(way - np.outer(chord, along), axis=0).max() / along[-1]
    assert 0.08 < bow < 0.2
    assert np.linalg.norm(np.diff(seen), axis=0).sum() < 1.25 * along[-1]
    spine = next(i for i, joint in enumerate(tree.joints) if joint.name == "spine.001")
    turned = np.arccos(np.clip(np.abs((rotations[spine, :, :1] * rotations[spine]).sum(0)), 0.0, 1.0))
    begun = [int(np.argmax(each >= 0.1 * each[-1])) for each in (turned, along)]
    assert begun[0] <= begun[1]


def test_a_bowed_path_is_the_same_at_twice_the_frames_a_second():
    found = []
    for fps, frames in ((30, range(1, 26)), (60, range(1, 50))):
        bpy.context.scene.render.fps = fps
        problem, _, states = solved(path="BOW", frames=frames)
        wrist = problem.body.tree.tips[problem.body.number_of["hand.L"]].joint
        found.append(Geometry(problem.body.tree, states).heads[problem.body.tree.parents[wrist]])
    assert np.abs(found[0] - found[1][:, ::2]).max() < 1e-6
