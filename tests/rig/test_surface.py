# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape Surface: the tip is on the mesh as Blender shows it, turned against it if asked for, and slides nowhere."""

import json
from itertools import pairwise
from math import radians
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.jobs.bake import bake, bake_body, rebake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.shots.contacts import mesh_under
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.surface import ShownMesh, _shaded, surface_frame, surface_state
from ik_triangulation.settings.edition import EDITION, keep_previous_defaults

from ..bodies import FEET, human_rig
from ..rigs import (
    armature,
    chain_rig,
    configure,
    empty,
    evaluated_tip,
    key_location,
    nothing_lost,
    place,
    random_vector,
    rotate,
)
from ..terrains import off, terrain
from .standing import angle_between, world_of
from .walking import planted, walking_leg

pytestmark = pytest.mark.usefixtures("empty_scene")

TOLERANCE = 1e-3
Z = Vector((0.0, 0.0, 1.0))


def graph():
    bpy.context.view_layer.update()
    return bpy.context.view_layer.depsgraph


def onto(rig, mesh, **settings):
    return Limb.from_tip(rig, rig.pose.bones[-1].name, mesh, 3, shape="SURFACE", **settings)


def tip_of(rig):
    return evaluated_tip(rig, rig.pose.bones[-1].name)


def key_random_poses(rig, frames, seed=1):
    random = Random(seed)
    for frame in frames:
        for bone in rig.pose.bones:
            rotate(bone, Quaternion((1.0, *random_vector(random, -0.8, 0.8))).normalized())
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def test_a_tip_in_a_thousand_random_poses_is_brought_onto_a_mesh_of_ten_thousand_faces(long):
    rig, mesh = chain_rig(3), terrain(size=6.0)
    mesh.location.z = 0.8
    assert len(mesh.data.polygons) == 10_000
    last = 1000 if long else 50
    frames = range(1, last + 1)
    key_random_poses(rig, frames)
    assert bake(onto(rig, mesh), 1, last).all_reached
    for frame in frames[::10]:  # each is told as reached; these are looked up in a tree of our own
        bpy.context.scene.frame_set(frame)
        assert off(mesh, tip_of(rig)) < TOLERANCE


def test_a_mesh_that_moves_and_is_deformed_is_reached_as_it_is_at_each_frame():
    rig, mesh = chain_rig(3), terrain(faces=40)
    wave = mesh.modifiers.new("Wave", "WAVE")
    wave.height, wave.width = 0.4, 1.2
    key_location(mesh, (1, 40), lambda frame: (0.0, 0.0, 0.6 + 0.02 * frame))
    report = bake(onto(rig, mesh), 1, 40)
    assert report.all_reached
    assert report.warnings == []
    heights = []
    for frame in range(1, 41):
        bpy.context.scene.frame_set(frame)
        assert off(mesh, tip_of(rig)) < TOLERANCE
        heights.append(tip_of(rig).z)
    assert max(heights) - min(heights) > 0.5


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.5, 0.7, 1.1), (-1.0, 1.0, 1.0)], ids=str)
def test_the_nearest_place_and_its_normal_are_those_in_world_space(scale):
    mesh = terrain(faces=20)
    mesh.location, mesh.rotation_euler, mesh.scale = (0.3, 0.2, 0.1), (0.4, -0.3, 0.8), scale
    surface, random = ShownMesh(mesh, graph()), Random(2)
    out = mesh.matrix_world.to_3x3()
    for _ in range(60):
        point = random_vector(random, -1.0, 1.0)
        place, normal = surface.nearest(point)
        assert off(mesh, place) < 1e-5
        assert (place - point).length == pytest.approx(off(mesh, point), abs=1e-5)
        assert normal.length == pytest.approx(1.0, abs=1e-6)
        assert normal.dot(out @ Z) > 0.0, "the normal points to the other side"


def test_normals_are_smooth_where_the_mesh_is_shaded_so():
    sides = {}
    for smooth in (False, True):
        surface = ShownMesh(terrain(faces=16, smooth=smooth), graph())
        turns = [surface.nearest(Vector((0.001 * n, 0.1, 0.3))).normal for n in range(500)]
        sides[smooth] = max(angle_between(a, b) for a, b in pairwise(turns))
    assert sides[False] > radians(5.0)
    assert sides[True] < radians(0.2)


def test_the_normal_of_a_smooth_face_is_that_of_its_corners_and_of_any_other_that_of_the_face():
    mesh, up = terrain(faces=4, smooth=True).data, Vector((0.6, 0.0, 0.8))
    polygon = mesh.polygons[5]
    corners = [mesh.vertices[index] for index in polygon.vertices]
    for corner in corners:
        assert (_shaded(mesh, 5, corner.co, up) - corner.normal).length < 1e-5
    middle = sum((corner.normal for corner in corners), Vector()).normalized()
    assert (
        _shaded(mesh, 5, sum((corner.co for corner in corners), Vector()) / 4, up).normalized() - middle
    ).length < 0.02
    reach = max((corner.co - polygon.center).length for corner in corners)
    assert _shaded(mesh, 5, polygon.center + Vector((1.2 * reach, 0.0, 0.0)), up) == up, "another face"
    assert _shaded(mesh, 16, polygon.center, up) == up, "a face that is not there"
    polygon.use_smooth = False
    assert _shaded(mesh, 5, polygon.center, up) == up


@pytest.mark.parametrize("clear", [0.25, -0.1])
def test_the_tip_stays_clear_of_the_surface_along_its_normal(clear):
    rig, mesh = chain_rig(3), terrain(lambda x, y: 1.5)
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 1.2)
    assert solve_pose(onto(rig, mesh, surface_offset=clear)).all_reached
    assert tip_of(rig).z == pytest.approx(1.5 + clear, abs=TOLERANCE)


def test_a_foot_that_matches_the_ground_keeps_its_heading_and_stands_on_its_sole():
    rig, mesh = walking_leg(), terrain(lambda x, y: 0.3 * x - 0.2 * y, smooth=True)
    rig.pose.bones["foot.L"].ik_triangulation.body_part = "LEG"
    bpy.context.scene.frame_set(6)
    before = world_of(rig, "foot.L").to_quaternion()
    frame = surface_frame(onto(rig, mesh, orientation="FULL"), graph())
    normal = Vector((-0.3, 0.2, 1.0)).normalized()
    rest = rig.data.bones["foot.L"].matrix_local.to_quaternion()
    sole = rest.inverted() @ -Z
    assert angle_between(frame.to_quaternion() @ sole, -normal) < 1e-3
    turned = frame.to_quaternion() @ before.inverted()
    assert turned.angle == pytest.approx(angle_between(before @ sole, -normal), abs=1e-3), "more than tilted"
    assert bake(onto(rig, mesh, orientation="FULL"), 1, 48).all_reached


def test_a_tip_that_stands_on_the_surface_already_is_not_turned():
    rod = {"name": "Rod", "head": (0.0, 0.0, 0.0), "tail": (0.0, 0.0, 1.0)}
    rig, mesh = armature("Rig", [rod]), terrain(lambda x, y: 1.5)
    frame = surface_frame(Limb.from_tip(rig, "Rod", mesh, 1, shape="SURFACE", orientation="FULL"), graph())
    assert rotation_angle(world_of(rig, "Rod").to_quaternion(), frame.to_quaternion()) < 1e-3


def test_a_palm_is_laid_onto_a_table():
    specs, names = [], ("chest", "upper_arm.L", "forearm.L", "hand.L")
    places = [(0.0, 0.0, 1.0), (0.2, 0.0, 1.4), (0.5, 0.0, 1.4), (0.8, 0.02, 1.4), (0.95, 0.02, 1.4)]
    for above, name, head, tail in zip((None, *names), names, places, places[1:], strict=False):
        specs.append({"name": name, "head": head, "tail": tail, "parent": above})
    rig = armature("Body", specs)
    mesh = terrain(lambda x, y: 1.0)
    rotate(rig.pose.bones["upper_arm.L"], Quaternion((0.8, 0.3, 0.5, -0.2)).normalized())
    assert solve_pose(onto(rig, mesh, orientation="FULL")).all_reached
    palm = rig.data.bones["hand.L"].matrix_local.to_quaternion().inverted() @ -Z
    assert angle_between(world_of(rig, "hand.L").to_quaternion() @ palm, -Z) < radians(1.0)


def test_a_foot_walks_on_uneven_ground_without_sliding():
    rig, mesh = walking_leg(), terrain(faces=40)
    assert bake(onto(rig, mesh), 1, 48).all_reached
    places = {}
    for frame in range(1, 49):
        bpy.context.scene.frame_set(frame)
        places[frame] = tip_of(rig)
        assert off(mesh, places[frame]) < TOLERANCE
    slid = [(places[frame] - places[frame - 1]).length for frame in range(2, 49) if planted(frame)]
    assert max(slid) < TOLERANCE
    assert max((places[frame] - places[frame - 1]).length for frame in range(2, 49)) > 0.03


def test_another_place_is_taken_if_the_nearest_one_is_out_of_reach():
    rig, mesh = chain_rig(3), terrain(lambda x, y: 2.8, size=20.0)  # right under the tip, were it not stretched aside
    rotate(rig.pose.bones["Bone 0"], Quaternion((1.0, 0.0, 0.0), -0.7))
    assert solve_pose(onto(rig, mesh)).all_reached
    assert off(mesh, tip_of(rig)) < TOLERANCE


def test_the_feet_of_a_body_stand_on_uneven_ground_together():
    rig, mesh = human_rig(), terrain(lambda x, y: 0.8 * x + 0.3 * y, size=2.0)
    feet = [Limb.from_tip(rig, foot, mesh, 3, shape="SURFACE", surface_offset=0.02) for foot in FEET]
    report = bake_body(RigBody(rig, tuple(feet), ()), 1, 6)
    assert report.reached
    for frame in (1, 6):
        bpy.context.scene.frame_set(frame)
        for foot in FEET:
            assert off(mesh, evaluated_tip(rig, foot)) == pytest.approx(0.02, abs=TOLERANCE)


def test_a_reach_ends_on_the_surface():
    rig, mesh = chain_rig(3), terrain(lambda x, y: 1.5)
    reach(onto(rig, mesh), 1, 12)
    bpy.context.scene.frame_set(13)
    assert off(mesh, tip_of(rig)) < TOLERANCE
    bpy.context.scene.frame_set(1)
    assert off(mesh, tip_of(rig)) > 1.0


def test_baking_again_changes_no_place():
    rig, mesh = walking_leg(), terrain()
    shown = []
    for _ in range(2):
        bake(onto(rig, mesh, surface_offset=0.05), 1, 48)
        bpy.context.scene.frame_set(20)
        shown.append(tip_of(rig))
    assert (shown[0] - shown[1]).length < TOLERANCE


def test_an_offset_is_kept_from_the_place_on_the_surface():
    rig, mesh = chain_rig(3), terrain(lambda x, y: 1.5)
    configure(rig, "Bone 2", target=mesh, shape="SURFACE", use_offset=True, offset_location=(0.2, 0.0, 0.3))
    before = tip_of(rig)
    assert solve_pose(Limb.of(rig.pose.bones["Bone 2"])).all_reached
    assert (tip_of(rig) - Vector((before.x, before.y, 1.8))).length < 2e-3
    bpy.ops.pose.ik_triangulation_offset_set()
    stored = rig.pose.bones["Bone 2"].ik_triangulation
    assert tuple(stored.offset_location) == pytest.approx((0.0, 0.0, 0.3), abs=2e-3)


@pytest.mark.parametrize("orientation", ["AUTO", "FULL"])
def test_an_offset_is_not_added_once_more_by_each_bake(orientation):
    rig, mesh = walking_leg(), terrain(lambda x, y: 0.1 * x)
    twist = Quaternion((0.0, 0.0, 1.0), 0.2)
    offset = {"use_offset": True, "offset_location": (0.02, 0.01, 0.05), "offset_rotation": twist[:]}
    shown = []
    for _ in range(3):
        bake(onto(rig, mesh, orientation=orientation, **offset), 1, 24)
        bpy.context.scene.frame_set(6)
        shown.append(world_of(rig, "foot.L") @ Vector((0.0, rig.data.bones["foot.L"].length, 0.0)))
        shown.append(world_of(rig, "foot.L").to_quaternion() @ Vector((1.0, 0.0, 0.0)))
    assert (shown[4] - shown[2]).length < TOLERANCE
    assert orientation == "AUTO" or angle_between(shown[5], shown[3]) < radians(1.0)


def no_mesh(mesh):
    return empty("Terrain")


def no_faces(mesh):
    mesh.data.clear_geometry()
    return mesh


def flat(mesh):
    mesh.scale.z = 0.0
    return mesh


def own_skin(mesh):
    mesh.modifiers.new("Armature", "ARMATURE").object = bpy.data.objects["Rig"]
    return mesh


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (no_mesh, "Target 'Terrain.*' is no mesh and has no surface. Choose a mesh, or another shape"),
        (no_faces, "Target 'Terrain' shows no faces. Give it some"),
        (flat, "Target 'Terrain' is scaled flat, its surface has no sides. Give it a scale"),
        (own_skin, "Target 'Terrain' follows chain bone 'Bone"),
    ],
)
def test_what_has_no_surface_to_reach_is_refused_with_a_remedy(spoil, message):
    rig = chain_rig(3)
    target = spoil(terrain(faces=4))
    bpy.context.view_layer.update()
    for call in (solve_pose, lambda limb: bake(limb, 1, 5)):
        with nothing_lost(), pytest.raises(TargetError, match=message):
            call(onto(rig, target))


def test_a_mesh_that_is_simulated_is_stepped_in_the_users_scene():
    rig, mesh = chain_rig(3), terrain(lambda x, y: 1.5, faces=4)
    mesh.modifiers.new("Cloth", "CLOTH")
    report = bake(onto(rig, mesh), 1, 3)
    assert any("is deformed by a simulation" in warning for warning in report.warnings)


def test_the_state_of_a_surface_changes_with_its_shape_and_its_place():
    mesh = terrain(faces=4)
    states = [surface_state(mesh, graph())]
    assert surface_state(mesh, graph()) == states[0]
    mesh.location.x += 0.1
    states.append(surface_state(mesh, graph()))
    mesh.data.vertices[0].co.z += 0.1
    mesh.data.update()
    states.append(surface_state(mesh, graph()))
    assert len(set(states)) == 3
    assert states[2][0] == states[1][0] == Matrix.Translation((0.1, 0.0, 0.0))


def test_a_live_limb_follows_a_mesh_and_then_rests(addon):
    rig, mesh = chain_rig(3), terrain()
    mesh.location.z = 1.5
    configure(rig, "Bone 2", target=mesh, shape="SURFACE")
    graph()
    bpy.ops.pose.ik_triangulation_live()
    try:
        for step in range(10):
            mesh.location.z = 1.5 - 0.05 * step
            graph()
            graph()
            assert off(mesh, tip_of(rig)) < TOLERANCE
            rested = [bone.rotation_quaternion[:] for bone in rig.pose.bones]
            for _ in range(3):
                rig.update_tag()
                graph()
            assert [bone.rotation_quaternion[:] for bone in rig.pose.bones] == rested
    finally:
        live.stop_all()


def test_automatic_means_the_surface_of_a_mesh():
    rig, mesh = chain_rig(3), terrain(size=6.0)
    mesh.location.z = 0.8
    key_random_poses(rig, (1, 10))
    bpy.context.scene.frame_set(5)
    solve_pose(Limb.from_tip(rig, "Bone 2", mesh, 3))
    assert off(mesh, tip_of(rig)) < TOLERANCE
    assert (tip_of(rig) - mesh.location).length > 0.5


@pytest.mark.parametrize("kind", ["without faces", "with a force field", "of an old file", "baked of old"])
def test_automatic_means_the_origin(kind):
    rig, mesh = chain_rig(3), terrain(size=6.0)
    mesh.location = (0.6, 0.5, 1.2)
    bone = configure(rig, "Bone 2", target=mesh, chain_count=3)
    rig.ik_triangulation.edition = EDITION
    if kind == "without faces":
        bone.ik_triangulation.target = mesh = bpy.data.objects.new("Place", bpy.data.meshes.new("Place"))
        bpy.context.scene.collection.objects.link(mesh)
        mesh.location = (0.6, 0.5, 1.2)
    elif kind == "with a force field":
        with bpy.context.temp_override(object=mesh, active_object=mesh):
            bpy.ops.object.forcefield_toggle()
        mesh.field.type, mesh.field.shape = "FORCE", "POINT"
    elif kind == "of an old file":
        rig.ik_triangulation.edition = 0
        bone.ik_triangulation.shape = "AUTO"  # chosen, so that Blender has stored it
        keep_previous_defaults(bpy.data.objects)
        assert bone.ik_triangulation.shape == "POINT"
    else:
        bake(Limb.of(bone), 1, 2)
        action = rig.animation_data.action
        assert '\\"shape\\": \\"SURFACE\\"' in json.dumps(action["ik_triangulation"])
        action["ik_triangulation"] = action["ik_triangulation"].replace('"SURFACE"', '"AUTO"')
        assert rebake(rig, "Bone 2").target == mesh.name
    if kind != "baked of old":
        solve_pose(Limb.of(bone))
    bpy.context.view_layer.update()
    assert (tip_of(rig) - mesh.location).length < TOLERANCE


def test_a_foot_stands_on_the_mesh_that_it_is_given():
    rig, mesh = human_rig(), terrain(size=6.0)
    rig.pose.bones["foot.L"].ik_triangulation.hold = True
    rig.pose.bones["foot.L"].ik_triangulation.target = mesh
    assert mesh_under(RigBody(rig, (), ("foot.L",)), "foot.L").target == mesh


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.5, 0.7, -1.2)], ids=str)
def test_straight_above_or_below_the_nearest_place_of_a_mesh_is_found(scale):
    mesh = terrain(height=lambda x, y: 0.5 * x, faces=4)
    mesh.location, mesh.rotation_euler, mesh.scale = (0.1, -0.2, 0.3), (0.2, 0.1, 0.7), scale
    surface, into, up = ShownMesh(mesh, graph()), mesh.matrix_world.inverted(), Vector((0.1, 0.2, 1.0)).normalized()
    side = (into.transposed().to_3x3() @ Vector((-0.5, 0.0, 1.0))).normalized()  # square to its plane, world space
    for point in (Vector((0.2, 0.1, 1.0)), Vector((-0.3, 0.2, -1.5)), Vector((0.0, 0.0, 0.31))):
        place, normal = surface.along(point, up)
        x, _, z = into @ place
        assert z == pytest.approx(0.5 * x, abs=1e-5)
        assert (place - point).cross(up).length < 1e-5
        assert abs(normal.dot(side)) == pytest.approx(1.0, abs=1e-5)
        assert normal.length == pytest.approx(1.0, abs=1e-6)
    assert surface.along(Vector((9.0, 0.0, 0.0)), up) is None


@pytest.mark.parametrize(("height", "found"), [(0.4, 0.0), (0.6, 1.0), (-3.0, 0.0), (7.0, 1.0)])
def test_of_places_above_and_below_the_nearer_one_is_taken(height, found):
    corners = [(x, y, z) for z in (0.0, 1.0) for x, y in ((-1.0, -1.0), (1.0, -1.0), (0.0, 1.0))]
    mesh = bpy.data.meshes.new("Floors")
    mesh.from_pydata(corners, [], [(0, 1, 2), (3, 4, 5)])
    surface = ShownMesh(place(bpy.data.objects.new("Floors", mesh)), graph())
    touch = surface.along(Vector((0.1, -0.2, height)), Z)
    assert tuple(touch.place) == pytest.approx((0.1, -0.2, found), abs=1e-6)
