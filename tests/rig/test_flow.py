# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields as they are followed: the vectors are those by which Blender itself moves particles."""

import re
from math import inf, pi, radians
from random import Random

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.errors import SettingError, TargetError
from ik_triangulation.rig.frames.body_frames import FlowInReach
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.surface import FieldBehind, Streamline, field_of, flow_of

from ..rigs import chain_rig, empty, place, random_vector

pytestmark = pytest.mark.usefixtures("empty_scene")

STEP = 0.01  # of time, by which forces are integrated
STRENGTH = 0.7
# A kind and shape of force field with other settings than the default.
FIELDS = [
    ("FORCE", "POINT", {}),
    ("FORCE", "LINE", {"falloff_power": 1.0}),
    ("FORCE", "PLANE", {"z_direction": "POSITIVE"}),
    ("FORCE", "POINT", {"falloff_power": 2.0, "use_min_distance": True, "distance_min": 0.2}),
    ("FORCE", "POINT", {"use_max_distance": True, "distance_max": 1.0, "strength": -1.3}),
    ("FORCE", "POINT", {"use_gravity_falloff": True}),
    ("FORCE", "SURFACE", {"falloff_power": 1.0}),
    ("WIND", "POINT", {}),
    ("WIND", "POINT", {"falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 1.5}),
    ("WIND", "POINT", {"falloff_type": "CONE", "radial_falloff": 0.5, "use_radial_min": True, "radial_min": 20.0}),
    ("VORTEX", "POINT", {}),
    ("HARMONIC", "POINT", {"rest_length": 0.4, "harmonic_damping": 0.0}),
    ("TURBULENCE", "POINT", {"size": 0.8}),
    ("TURBULENCE", "POINT", {"size": 0.6, "use_global_coords": True}),
]


def with_field(ob, kind, shape="POINT", **settings):
    """Give an object a force field."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.forcefield_toggle()
    ob.field.type = kind
    if kind != "GUIDE":
        ob.field.shape = shape
    ob.field.noise = ob.field.flow = 0.0
    for name, value in settings.items():
        setattr(ob.field, name, value)
    return ob


def particle(location, fields, number):
    """An object that emits one particle there, which only the objects of that collection move."""
    mesh = bpy.data.meshes.new(f"Emitter {number}")
    mesh.from_pydata([location], [], [])
    emitter = place(bpy.data.objects.new(mesh.name, mesh))
    emitter.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = emitter.particle_systems[0].settings
    settings.emit_from, settings.count, settings.frame_start, settings.frame_end = "VERT", 1, 1, 1
    settings.normal_factor, settings.integrator, settings.timestep, settings.lifetime = 0.0, "EULER", STEP, 100
    settings.effector_weights.gravity, settings.effector_weights.collection = 0.0, fields
    return emitter


def test_the_vector_at_a_place_is_that_by_which_blender_moves_a_particle():
    random, cases = Random(7), []
    for number, (kind, shape, more) in enumerate(FIELDS):
        alone = bpy.data.collections.new(f"Fields {number}")
        if shape == "SURFACE":
            bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.4)
            ob = bpy.context.object
        else:
            ob = empty(f"Field {number}")
        ob.matrix_world = Matrix.LocRotScale(random_vector(random) * 0.3, Euler(random_vector(random)), None)
        bpy.context.view_layer.update()
        with_field(ob, kind, shape, **{"strength": STRENGTH, **more})
        alone.objects.link(ob)
        cases += [(ob, particle(random_vector(random), alone, 4 * number + k)) for k in range(4)]
    scene, seen = bpy.context.scene, {}
    for frame in (1, 2):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for ob, emitter in cases:
            moved = emitter.evaluated_get(depsgraph).particle_systems[0].particles[0]
            seen.setdefault((ob, emitter), []).append((moved.location.copy(), moved.velocity.copy()))
    felt = 0
    for (ob, emitter), ((at, before), (_, after)) in seen.items():
        force, vector = (after - before) / STEP, field_of(ob, depsgraph)(at)
        if ob.field.type == "VORTEX":  # Blender's grows with the distance
            vector *= (at - ob.matrix_world.translation).length
        felt += force.length > 1e-3
        assert (force - vector).length < 2e-4, (ob.field.type, ob.field.shape, emitter.name)
    assert felt > 0.7 * len(seen)


@pytest.mark.parametrize("kind", ["BEZIER", "POLY", "NURBS"])
def test_a_curve_guides_along_its_first_spline(kind):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new(kind)
    if kind == "BEZIER":
        spline.bezier_points.add(2)
        for point, x in zip(spline.bezier_points, (0.0, 1.0, 2.0), strict=True):
            point.co = (x, 0.0, 0.0)
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        spline.points.add(2)
        for point, x in zip(spline.points, (0.0, 1.0, 2.0), strict=True):
            point.co = (x, 0.0, 0.0, 1.0)
        if kind == "NURBS":
            spline.use_endpoint_u = True
    ob = place(bpy.data.objects.new("Path", curve))
    ob.rotation_euler.z = pi / 2.0
    with_field(ob, "GUIDE", guide_minimum=0.2)
    bpy.context.view_layer.update()
    guide = field_of(ob, bpy.context.evaluated_depsgraph_get())
    assert guide(Vector((0.1, 0.5, 0.0)))[:] == pytest.approx((0.0, 1.0, 0.0), abs=1e-5)
    assert guide(Vector((0.5, 0.5, 0.0))).x < -0.1
    assert guide(Vector((0.0, 2.5, 0.0)))[:] == (0.0, 0.0, 0.0)
    spline.use_cyclic_u = kind == "POLY"
    bpy.context.view_layer.update()
    assert field_of(ob, bpy.context.evaluated_depsgraph_get()).is_closed == (kind == "POLY")
    curve.bevel_depth = 0.1
    bpy.context.view_layer.update()
    with pytest.raises(TargetError, match=r"Curve 'Path' has faces.*Bevel and Extrude to 0"):
        field_of(ob, bpy.context.evaluated_depsgraph_get())


def limb_of(target, **settings):
    return Limb.from_tip(chain_rig(3), "Bone 2", target, shape="FLOW", **settings)


def test_a_step_is_the_way_of_one_frame_in_the_scene():
    target, render = with_field(empty(), "WIND"), bpy.context.scene.render
    target.rotation_euler = 0.9, 0.4, 0.0
    way = target.rotation_euler.to_matrix().col[2]
    limb = limb_of(target, flow_speed=0.6)
    for render.fps, render.fps_base, step in ((24, 1.0, 0.025), (30, 1.0, 0.02), (60, 2.0, 0.02)):
        bpy.context.view_layer.update()
        flow = flow_of(limb, bpy.context.evaluated_depsgraph_get())
        assert flow.step == pytest.approx(step)
        line = Streamline(Vector((1.0, 2.0, 3.0)), 1.0)
        assert (line.go(flow, 1.0).translation - Vector((1.0, 2.0, 3.0))).length == 0.0
        for frame, steps in ((2.0, 1), (5.0, 4), (5.5, 4.5)):
            there = line.go(flow, frame)
            assert (there.translation - Vector((1.0, 2.0, 3.0)) - steps * step * way).length < 1e-6
            assert there.col[2].to_3d().angle(way) < radians(0.1)


def test_a_target_that_is_no_field_to_follow_is_told_with_the_remedy():
    target = empty("Cup")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    with pytest.raises(TargetError, match=r"'Cup' has no force field to follow. Give it one of the type Force, Wind"):
        field_of(target, depsgraph)
    with_field(target, "MAGNET")
    with pytest.raises(TargetError, match="'Cup' has no force field to follow"):
        field_of(target, bpy.context.evaluated_depsgraph_get())
    bare = place(bpy.data.objects.new("Bare", bpy.data.meshes.new("Bare")))
    for shape, text in (("SURFACE", "'Bare' shows no faces"), ("POINTS", "the shape Every Point. Choose Point, Line")):
        with_field(bare, "FORCE")
        bare.field.shape = shape
        bpy.context.view_layer.update()
        with pytest.raises(TargetError, match=text):
            field_of(bare, bpy.context.evaluated_depsgraph_get())
        bare.field.type = "NONE"
    target.field.type = "FORCE"
    for speed in (0.0, -1.0, inf):
        with pytest.raises(SettingError, match=r"Tip Speed .* is no speed"):
            flow_of(limb_of(target, flow_speed=speed), bpy.context.evaluated_depsgraph_get())


def depsgraph():
    bpy.context.view_layer.update()
    return bpy.context.evaluated_depsgraph_get()


def test_a_field_behind_a_tip_leads_it_on_from_where_it_is_shown():
    target = with_field(empty(), "WIND")
    flow = flow_of(limb_of(target, flow_speed=0.48), depsgraph())
    behind, way = FieldBehind(), Vector((0.0, 0.0, flow.step))
    first = Vector((1.0, 2.0, 3.0))
    assert behind.go(flow, 1.0, first).translation == first
    shown = Vector((1.5, 2.0, 3.0))
    assert (behind.go(flow, 2.0, shown).translation - first - way).length < 1e-6
    assert (behind.go(flow, 4.0, Vector()).translation - shown - 2.0 * way).length < 1e-6


def test_a_tip_on_a_flow_goes_no_further_than_its_limb_reaches():
    target = with_field(empty(), "WIND")
    limb = limb_of(target, flow_speed=24.0)
    graph = depsgraph()
    flow, bones = flow_of(limb, graph), limb.armature.pose.bones
    line, tip = FlowInReach(limb), bones["Bone 2"].tail.copy()
    reach = sum(bone.length for bone in bones)
    assert (line.go(flow, 1.0, graph).translation - tip).length < 1e-6
    beyond = tip + Vector((0.0, 0.0, flow.step))
    assert (line.go(flow, 2.0, graph).translation - beyond).length < 1e-5
    again = beyond.normalized() * reach + Vector((0.0, 0.0, flow.step))
    assert beyond.length > reach
    assert (line.go(flow, 3.0, graph).translation - again).length < 1e-5
    inside = with_field(empty("Back"), "WIND")
    inside.rotation_euler.x = pi
    flow = flow_of(limb_of(inside, flow_speed=12.0), depsgraph())
    back = again.normalized() * reach - Vector((0.0, 0.0, flow.step))
    assert (line.go(flow, 4.0, graph).translation - back).length < 1e-5
    assert (line.go(flow, 5.0, graph).translation - back + Vector((0.0, 0.0, flow.step))).length < 1e-5


def test_what_guides_nothing_is_told_with_the_remedy():
    dot = bpy.data.curves.new("Dot", "CURVE")
    dot.splines.new("POLY")  # of one point
    for ob, text in (
        (empty("Nail"), "'Nail' is no curve and guides nothing. Choose a curve"),
        (place(bpy.data.objects.new("Dot", dot)), "'Dot' has no length. Give it two"),
    ):
        with_field(ob, "GUIDE")
        with pytest.raises(TargetError, match=re.escape(text)):
            field_of(ob, depsgraph())
