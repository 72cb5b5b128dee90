# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's acts look like a body's motion, from + or Set Up Body and Bake alone."""

import bpy
import numpy as np
import pytest
from demo import bake_all, make_scene
from stage import film

from scripts.benchmarks import postures, scenes

# That ends are where their empties are is judged by `demo.py --quick` as well.
pytestmark = [pytest.mark.slow, pytest.mark.long]

ENDS = {
    "Reach": ("hand.L",),
    "Wipe": ("hand.L", "hand.R"),
    "Lift": ("foot.L", "hand.L", "hand.R"),
    "Crouch": ("hand.L", "hand.R"),
}
FOLDED = 60.0  # degrees that a hand or foot swings
TURN = 12.0  # degrees in a frame; the cup goes half a metre in a second


@pytest.fixture(scope="module")
def played():
    """The actors, their limbs and bakes, and the local rotations (F, 4) of bones by act and name."""
    with scenes.extension():
        scenes.empty_file()
        actors = make_scene()
        done = bake_all(actors)
        limbs = [limb for each in done for limb in each.limbs]
        skins = [skin for actor in actors.values() for skin in actor.rig.children]
        _hide(skins, True)  # what is hidden is not evaluated
        rotations = _rotations(limbs)
        yield actors, limbs, done, rotations


def test_every_end_is_where_its_empty_is_and_turned_like_it(played):
    _, limbs, done, _ = played
    assert len(limbs) == 14
    for each in done:
        assert each.reached, (each.limbs[0].armature.name, each.limbs[0].tip)
        assert not each.report.warnings


def test_nothing_is_set_but_what_plus_sets(played):
    _, limbs, *_ = played
    for limb in limbs:
        stored = limb.armature.pose.bones[limb.tip].ik_triangulation
        assert not stored.is_property_set("solver")
        assert stored.body_part != "NONE"


@pytest.mark.parametrize(("act", "tip"), [(act, tip) for act, tips in ENDS.items() for tip in tips])
def test_elbows_and_knees_bend_their_way_and_no_wrist_folds(played, act, tip):
    actors, limbs, _, rotations = played
    rig = actors[act].rig
    (limb,) = (each for each in limbs if (each.armature, each.tip) == (rig, tip))
    arm = limb.bones[-3:]  # of a body the trunk comes before it
    frames = postures.frames_of(rig, arm, limb.target, range(1, 121, 3))
    assert min(frame.bend for frame in frames) > -postures.BACK
    assert max(frame.off for frame in frames) < postures.SIDEWAYS
    _, x, _, z = rotations[act, tip].T
    assert np.degrees(2.0 * np.arcsin(np.hypot(x, z).max())) < FOLDED


@pytest.mark.parametrize("act", ENDS)
def test_no_bone_jumps_and_the_lap_closes(played, act):
    *_, rotations = played
    for (own, name), found in rotations.items():
        if own == act:
            cosines = np.abs(np.sum(found * np.roll(found, -1, axis=0), axis=1))
            turns = np.degrees(2.0 * np.arccos(np.minimum(1.0, cosines)))  # at last from the last frame to the first
            assert turns.max() < TURN, name
            assert turns[-1] < max(3.0, turns[:-1].max()), name


def test_skins_move_with_their_bones(played):
    actors, *_ = played
    scene = bpy.context.scene
    for actor in actors.values():
        (shirt,) = (each for each in actor.rig.children if each.name.startswith("Shirt"))
        _hide([shirt], False)
        shapes = []
        for frame in (1, 28):
            scene.frame_set(frame)
            posed = shirt.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            places = np.empty(3 * len(posed.vertices))
            posed.vertices.foreach_get("co", places)
            shapes.append(places)
        assert 0.05 < np.abs(shapes[1] - shapes[0]).max() < 1.5
        assert all(vertex.groups for vertex in shirt.data.vertices)


def test_all_acts_are_seen():
    assert set(film.VIEWS) == set(film.SHOWN) == set(ENDS)


def _hide(skins, hidden):
    for skin in skins:
        skin.hide_viewport = hidden


def _rotations(limbs):
    scene, found = bpy.context.scene, {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for limb in limbs:
            for name in limb.bones:
                rig, bone = limb.armature, limb.armature.pose.bones[name]
                local = rig.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
                found.setdefault((rig.name, name), []).append(local.to_quaternion())
    return {key: np.array(each) for key, each in found.items()}
