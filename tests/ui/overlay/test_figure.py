# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of a limb is true: arcs end where joints do, shapes lie on the target."""

from itertools import pairwise
from math import inf, pi
from random import Random

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import (
    Box,
    Cylinder,
    Field,
    Flow,
    Line,
    Plane,
    Point,
    Ray,
    Ring,
    Segment,
    Sphere,
    Transformed,
)
from ik_triangulation.items import EULER_ORDERS
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked, Pose
from ik_triangulation.ui.overlay.figure import add_joint, add_locks, add_target, is_point
from ik_triangulation.ui.overlay.sketch import Role, Sketch

from ...chains import mixed, random_base, random_chain, random_direction, random_limits, random_pose, straight

EYE = Vector((3.0, -50.0, 20.0, 1.0))
X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))
DIAL = 0.5  # radius of a joint's arcs as a share of its bone


def joints(pose):
    """The marks of joints whose bones are as long as their links."""
    sketch = Sketch()
    for i, length in enumerate(pose.lengths):
        add_joint(sketch, pose, i, length)
    add_locks(sketch, pose, pose.lengths, EYE)
    return sketch


def ends(arc):
    """The first and the last place of an arc."""
    strokes = Sketch([arc._replace(apex=None)]).strokes()[0]
    return [Vector(strokes.places[i].tolist()) for i in (0, -1)]


def dial(pose, i, rotation):
    """The place on the bone of joint `i` at which its arcs are, with this rotation."""
    turned = Pose(pose.chain, pose.base, [*pose.rotations[:i], rotation, *pose.rotations[i + 1 :]])
    return turned.head(i) + turned.frame(i) @ Y * (pose.lengths[i] * DIAL)


def ticks(sketch, *roles):
    return [line for line in sketch.lines if line.role in roles]


@pytest.mark.parametrize("seed", range(10))
def test_a_hinge_s_arc_ends_where_its_bone_does(seed):
    random = Random(seed)
    axis, lower = random_direction(random), random.uniform(-3.0, 1.0)
    while axis.cross(Y).length < 0.25:  # its bone would twist about it
        axis = random_direction(random)
    hinge = Hinge(axis, lower, lower + random.uniform(0.1, 3.0))
    chain = random_chain(seed, 2, 3.0, [Free(), hinge])
    pose = random_pose(chain, random, random_base(random))
    pose.project()
    sketch = joints(pose)
    (arc,) = sketch.arcs
    for place, angle in zip(ends(arc), (hinge.lower, hinge.upper), strict=True):
        assert (place - dial(pose, 1, Quaternion(axis, angle))).length < 1e-4
    axes = [line for line in sketch.lines if line.role != Role.NOW]
    assert all((line.end - line.start).cross(pose.socket(1) @ axis).length < 1e-4 for line in axes)
    (tick,) = ticks(sketch, Role.NOW)
    now = dial(pose, 1, pose.rotations[1])
    assert abs((tick.start - now).length + (tick.end - now).length - (tick.start - tick.end).length) < 1e-5


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_arcs_end_at_the_limits_of_each_axis(order):
    random = Random(7)
    limits = random_limits(random, order)
    pose = straight((2.0,), [limits]).rest_pose()
    pose.rotations[0] = limits.random(random)
    pose = Pose(pose.chain, pose.base, pose.rotations)
    sketch = joints(pose)
    assert [arc.role for arc in sketch.arcs] == [Role.X, Role.Y, Role.Z]
    coordinates = limits.coordinates(pose.rotations[0])
    checked = 0
    for i, arc in enumerate(sketch.arcs):
        if arc.apex != pose.head(0):  # it twists: shown along the bone
            continue
        checked += 1
        for place, bound in zip(ends(arc), (coordinates[i].lower, coordinates[i].upper), strict=True):
            values = [coordinate.value for coordinate in coordinates]
            values[i] = bound
            assert (place - dial(pose, 0, limits.at(pose.rotations[0], values))).length < 1e-4
    assert checked >= 2


def test_a_twist_is_shown_round_the_bone():
    limits = EulerLimits("YXZ", (-0.5, -0.7, 0.0), (0.5, 0.9, 0.0))
    sketch = joints(straight((1.0,), [limits]).rest_pose())
    bend, twist = sketch.arcs
    assert (bend.role, twist.role) == (Role.X, Role.Y)
    assert bend.apex == Vector()
    assert twist.apex.normalized() == Y
    assert abs(twist.upper - twist.lower - 1.6) < 1e-6
    assert len(ticks(sketch, Role.NOW)) == 2


def test_a_cone_s_circle_is_where_the_bone_swings_to():
    cone = Cone(0.8, -0.3, 0.4)
    pose = straight((2.0,), [cone]).rest_pose()
    circle, twist = joints(pose).arcs
    assert (circle.role, twist.role) == (Role.LIMIT, Role.Y)
    for place in Sketch([circle._replace(apex=None)]).strokes()[0].places.tolist():
        assert abs(Vector(place).angle(Y) - 0.8) < 1e-5
        assert abs(Vector(place).length - 2.0 * DIAL) < 1e-5


def test_a_bone_outside_its_limits_is_marked():
    pose = straight((1.0,), [Hinge(X, 0.0, 1.0)]).rest_pose()
    outside = Pose(pose.chain, pose.base, [Quaternion(X, -0.5)])
    sketch = joints(outside)
    (tick,) = ticks(sketch, Role.MISSED)
    assert not ticks(sketch, Role.NOW)
    assert tick.end.angle(dial(outside, 0, outside.rotations[0])) < 1e-3
    assert ends(sketch.arcs[0])[0].angle(Y) < 1e-3  # the arc stays where the limits are


def test_a_hinge_without_limits_goes_round():
    (arc,) = joints(straight((1.0,), [Hinge(X)]).rest_pose()).arcs
    assert arc.role == Role.X
    assert arc.upper - arc.lower == pytest.approx(2.0 * pi)


def test_an_oblique_hinge_has_a_colour_of_its_own():
    (arc,) = joints(straight((1.0,), [Hinge(Vector((1.0, 0.0, 1.0)), 0.0, 1.0)]).rest_pose()).arcs
    assert arc.role == Role.LIMIT


def test_axes_without_limits_are_not_shown():
    limits = EulerLimits("XYZ", (-inf, -0.5, -inf), (inf, 0.5, inf))
    assert [arc.role for arc in joints(straight((1.0,), [limits]).rest_pose()).arcs] == [Role.Y]


def test_a_free_joint_shows_nothing():
    sketch = joints(straight((1.0, 1.0)).rest_pose())
    assert (sketch.arcs, sketch.lines) == ([], [])


@pytest.mark.parametrize("freedom", [Locked(), Hinge(X, 0.5, 0.5), Cone(0.0, 0.1, 0.1)])
def test_a_joint_that_cannot_turn_has_a_small_square(freedom):
    sketch = joints(straight((2.0, 1.0), [freedom, Free()]).rest_pose())
    assert sketch.arcs == []
    assert [line.role for line in sketch.lines] == [Role.LOCKED] * 4
    assert all(line.start.length < 0.1 for line in sketch.lines)


@pytest.mark.parametrize("seed", range(20))
def test_every_kind_of_joint_can_be_drawn(seed):
    random = Random(seed)
    chain = mixed(seed, 6, 100.0)
    strokes = joints(random_pose(chain, random, random_base(random))).strokes()
    assert all(abs(number) < 1e3 for stroke in strokes for row in stroke.places.tolist() for number in row)


SHAPES = [
    Plane(Vector((0.1, 0.2, 0.3)), Z),
    Line(Vector((0.1, 0.2, 0.3)), Z),
    Ray(Vector((0.1, 0.2, 0.3)), Z),
    Segment(Vector(), Z),
    Sphere(Vector(), 0.7),
    Cylinder(Vector(), Y, 0.4),
    Ring(Vector(), Y, 0.8),
    Box(Matrix.Scale(0.5, 4)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 0.5, 1.5)], ids=["alike", "unequal"])
def test_a_target_s_shape_lies_on_the_target(shape, scale):
    random = Random(3)
    into = random_base(random) @ Matrix.Diagonal((*scale, 1.0))
    for target in (shape, Transformed(shape, into)):
        sketch = Sketch()
        add_target(sketch, target, Vector((0.4, 1.1, -0.6)), 2.0, EYE)
        places = [Vector(place) for place in sketch.strokes()[0].places.tolist()]
        assert places
        back = Matrix.Identity(4) if target is shape else into.inverted()
        assert all((shape.closest(back @ place) - back @ place).length < 2e-4 for place in places)
        assert max((place - target.closest(place)).length for place in places) < 1e-3


@pytest.mark.parametrize("shape", [Plane(Vector(), Z), Line(Vector(), Z), Ray(Vector(), Z), Cylinder(Vector(), Z, 0.1)])
def test_what_has_no_end_fades_out_where_the_limb_is(shape):
    target, tip = Transformed(shape, Matrix.Scale(100.0, 4)), Vector((0.0, 0.0, 5.0))
    sketch = Sketch()
    add_target(sketch, target, tip, 2.0, EYE)
    outlines, _ = sketch.strokes()
    assert 0.0 in outlines.alphas.tolist()
    near = target.closest(tip)
    radius = 10.0 if isinstance(shape, Cylinder) else 0.0
    for place, alpha in zip(outlines.places.tolist(), outlines.alphas.tolist(), strict=True):
        if alpha < 1.0:
            assert (Vector(place) - near).length < 2.0 + 2.0 * radius


def test_a_point_is_a_small_circle():
    sketch = Sketch()
    add_target(sketch, Point(X), Vector(), 2.0, EYE)
    (arc,) = sketch.arcs
    assert arc.centre == X
    assert arc.x.length == pytest.approx(0.06)


def test_a_field_has_no_shape():
    sketch = Sketch()
    add_target(sketch, Transformed(Field(lambda point: -point), Matrix.Identity(4)), X, 2.0, EYE)
    assert (sketch.arcs, sketch.lines) == ([], [])


def test_points_are_told_from_other_shapes():
    assert is_point(Point(X))
    assert not is_point(Sphere(X, 1.0))
    assert not is_point(Transformed(Box(Matrix.Identity(4)), Matrix.Identity(4)))


def test_a_flow_is_the_path_that_the_tip_will_take_and_fades_out():
    sketch, tip, reach = Sketch(), Vector((1.0, 0.0, 0.5)), 2.0
    add_target(sketch, Flow(lambda place: Vector((-place.y, place.x, 0.0)).normalized(), 7.0), tip, reach, EYE)
    assert sketch.lines[0].start == tip
    assert all(one.end == other.start for one, other in pairwise(sketch.lines))
    length = sum((line.end - line.start).length for line in sketch.lines)
    assert length == pytest.approx(1.5 * reach, rel=1e-3), "as long for any speed"
    alphas = [line[3:] for line in sketch.lines]
    assert alphas[0][0] == 1.0
    assert alphas[-1][1] == 0.0
    assert all(one[1] == other[0] and one[0] > one[1] for one, other in pairwise(alphas))
    angle = sketch.lines[-1].end.xy.angle_signed(tip.xy)
    assert angle == pytest.approx(3.0, abs=0.05), "round the axis, at a distance of 1"
