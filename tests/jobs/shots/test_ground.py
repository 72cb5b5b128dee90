# SPDX-License-Identifier: GPL-3.0-or-later
"""Held feet stand on a mesh: they do not slide in their contacts, and go over the ground between them."""

from itertools import pairwise
from math import degrees, pi, sin

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.find_contacts import find_contacts
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.contacts import Ground, mesh_under, read_ground
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.motion.contacts import Planted
from ik_triangulation.rig.targets.surface import ShownMesh

from ...bodies import FEET, human_rig, tails, walking_body
from ...rigs import empty, key_location, nothing_lost
from ...terrains import terrain

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

LAST, SOLE = 48, 0.02
UP = Vector((0.0, 0.0, 1.0))


def uneven(x, y):
    return 0.15 * sin(3.0 * y) + 0.2 * x


def standing(rig, mesh, **settings):
    """The rig of a whole body, set up, with both feet held on a mesh."""
    set_up_body(rig)
    for foot in FEET:
        stored = rig.pose.bones[foot].ik_triangulation
        stored.target, stored.shape, stored.surface_offset = mesh, "SURFACE", SOLE
        for name, value in settings.items():
            setattr(stored, name, value)
    return rig


def above(mesh, places, frames):
    """Distances of places from the mesh right below them, as Blender shows it at the frames."""
    found = []
    for frame, place in zip(frames, places, strict=True):
        bpy.context.scene.frame_set(frame)
        touch = ShownMesh(mesh, bpy.context.view_layer.depsgraph).along(place, UP)
        found.append((place - touch.place).dot(touch.normal))
    return np.array(found)


def walked(mesh, **settings):
    """Bake a walk whose feet slide onto a mesh; the rig, its body and the places of its feet."""
    rig = standing(walking_body(LAST, slide=0.05), mesh, **settings)
    find_contacts(rig, 1, LAST, list(FEET))
    body = body_of(rig, FEET[0])
    assert len(body.contacts) >= 3
    assert bake_body(body, 1, LAST).reached
    return rig, body, {foot: tails(rig, foot, range(1, LAST + 1)) for foot in FEET}


def contact_frames(body, foot):
    return [range(each.frame_start, each.frame_end + 1) for each in body.contacts if each.tip == foot]


def test_a_body_walks_over_uneven_ground_without_sliding_and_through_nothing():
    mesh = terrain(uneven, faces=50, size=5.0, smooth=True)
    rig, body, places = walked(mesh)
    for foot in FEET:
        for frames in contact_frames(body, foot):
            there = [places[foot][frame - 1] for frame in frames]
            assert max((place - there[0]).length for place in there) < 1e-3, "the foot slides"
            assert above(mesh, there, frames) == pytest.approx(SOLE, abs=1e-3)
        every = above(mesh, places[foot], range(1, LAST + 1))
        assert every.min() > 0.7 * SOLE, "the foot goes through the ground"
        assert every.max() > 0.1, "the foot is not lifted any more"
    heights = [place.z for place in tails(rig, "spine", range(1, LAST + 1))]
    assert max(abs(a - b) for a, b in pairwise(heights)) < 0.04, "the hips jump"


def test_feet_go_with_ground_that_rises_and_is_deformed():
    mesh = terrain(uneven, size=5.0, faces=60)
    key_location(mesh, (1, LAST), lambda frame: (0.0, 0.0, 0.002 * frame))
    wave = mesh.modifiers.new("Wave", "WAVE")
    wave.height, wave.width = 0.05, 1.5
    _, body, places = walked(mesh)
    for foot in FEET:
        for frames in contact_frames(body, foot):
            there = [places[foot][frame - 1] for frame in frames]
            assert max((place - there[0]).xy.length for place in there) < 0.2 * SOLE  # as the normal turns
            assert above(mesh, there, frames) == pytest.approx(SOLE, abs=1e-3)


def test_feet_that_match_the_ground_are_tilted_in_their_contacts():
    mesh = terrain(lambda x, y: 0.3 * x - 0.2 * y, faces=40, size=5.0)
    normal = Vector((-0.3, 0.2, 1.0)).normalized()
    rig, body, _ = walked(mesh, orientation="FULL")
    baked = {}
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        baked[frame] = {foot: rig.pose.bones[foot].matrix.to_quaternion() for foot in FEET}
    flat = walking_body(LAST, slide=0.05)
    for foot in FEET:
        for frames in contact_frames(body, foot):
            for frame in frames:
                bpy.context.scene.frame_set(frame)
                turn = baked[frame][foot] @ flat.pose.bones[foot].matrix.to_quaternion().inverted()
                assert degrees((turn @ UP).angle(normal)) < 0.6


def test_without_contacts_feet_are_on_the_ground_at_every_frame():
    mesh = terrain(lambda x, y: 0.1 + 0.2 * x, faces=40, size=5.0)
    rig = standing(human_rig(), mesh)
    assert bake_body(body_of(rig, FEET[0]), 1, 5).reached
    for foot in FEET:
        assert above(mesh, tails(rig, foot, (1, 3, 5)), (1, 3, 5)) == pytest.approx(SOLE, abs=1e-3)


def test_a_pose_stands_on_the_ground_as_well():
    mesh = terrain(lambda x, y: 0.1 + 0.2 * x, faces=40, size=5.0)
    rig = standing(human_rig(), mesh)
    assert solve_body_pose(body_of(rig, FEET[0])).reached
    bpy.context.view_layer.update()
    for foot in FEET:
        place = rig.matrix_world @ rig.pose.bones[foot].tail
        touch = ShownMesh(mesh, bpy.context.view_layer.depsgraph).along(place, UP)
        assert (place - touch.place).dot(touch.normal) == pytest.approx(SOLE, abs=1e-3)
    assert rig.pose.bones["spine"].head.z == pytest.approx(1.0 + 0.1, abs=0.05)


def test_an_armature_that_is_moved_turned_and_scaled_stands_there_too():
    mesh = terrain(lambda x, y: 0.2 * x + 0.3 * y, faces=40, size=8.0)
    rig = standing(human_rig(), mesh, orientation="FULL")
    rig.location, rig.rotation_euler, rig.scale = (0.4, -0.3, 0.05), (0.0, 0.0, 1.1), (1.3, 1.3, 1.3)
    bpy.context.view_layer.update()
    before = {foot: (rig.matrix_world @ rig.pose.bones[foot].matrix).to_quaternion() for foot in FEET}
    assert solve_body_pose(body_of(rig, FEET[0])).reached
    bpy.context.view_layer.update()
    for foot in FEET:
        place = rig.matrix_world @ rig.pose.bones[foot].tail
        touch = ShownMesh(mesh, bpy.context.view_layer.depsgraph).along(place, UP)
        assert (place - touch.place).dot(touch.normal) == pytest.approx(SOLE, abs=2e-3)
        turn = (rig.matrix_world @ rig.pose.bones[foot].matrix).to_quaternion() @ before[foot].inverted()
        assert degrees((turn @ UP).angle(touch.normal)) < 0.6


def test_ways_between_contacts_go_over_smoothly():
    ground = Ground(np.array([1.0, 2.0, 8.0]), np.array([[0, 0, 0], [0, 0, 0], [0.0, 1.0, 3.0]]), np.zeros((3, 3)))
    ways, _ = ground.at(np.array([0.0, 1.0, 1.5, 2.0, 5.0, 8.0, 9.0]))
    assert ways[2] == pytest.approx([0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 3.0])
    assert ground.at(np.array([2.1]))[0][2, 0] - 1.0 < 0.01


def test_a_foot_in_the_air_is_raised_over_what_is_in_its_way():
    mesh = terrain(lambda x, y: 0.3 if abs(y) < 0.1 else 0.0, faces=40, size=3.0)
    rig = standing(human_rig(), mesh)
    frames = np.arange(1.0, 12.0)
    places = np.array([[0.0, 0.5 - 0.1 * (frame - 1.0), 0.1 * sin(pi * (frame - 1.0) / 10.0)] for frame in frames]).T
    spans = [Planted.of((-3.0, 1.0), places[:, :1]), Planted.of((11.0, 15.0), places[:, -1:])]
    limb = mesh_under(body_of(rig, FEET[0]), FEET[0])
    ground = finished(read_ground(limb, bpy.context.scene, frames, places, spans))
    ways, _ = ground.at(frames)
    assert (places + ways)[2, 5] > 0.3 + SOLE
    assert ways[2, [0, -1]] == pytest.approx(SOLE, abs=1e-4)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda mesh: empty("Nothing"), "'Nothing' is no mesh and has no surface"),
        (lambda mesh: mesh.data.clear_geometry() or mesh, "shows no faces"),
    ],
    ids=["an empty", "no faces"],
)
def test_what_has_no_surface_to_stand_on_is_refused_with_a_remedy(spoil, message):
    rig = standing(human_rig(), spoil(terrain(faces=4)))
    with nothing_lost(), pytest.raises(TargetError, match=message):
        bake_body(body_of(rig, FEET[0]), 1, 5)
