# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of every shape for the tests of shapes and of their transforms."""

from math import pi

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import (
    Box,
    Cylinder,
    Line,
    Plane,
    Point,
    Ray,
    Ring,
    Segment,
    SolidCylinder,
    SolidSphere,
    Sphere,
    Transformed,
)

from ..chains import random_base, random_direction, random_rotation

FAR = 10.0  # how far of what is endless is looked through
X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))


def random_across(random, axis):
    return random_direction(random).cross(axis).normalized()


def plane_through(place, random):
    normal = random_direction(random)
    return Plane(place + random_across(random, normal), normal * random.uniform(0.1, 10.0))


def line_through(place, random):
    direction = random_direction(random)
    return Line(place + direction * random.uniform(-2.0, 2.0), direction * random.uniform(0.1, 10.0))


def ray_through(place, random):
    direction = random_direction(random)
    return Ray(place - direction * random.uniform(0.0, 2.0), direction * random.uniform(0.1, 10.0))


def segment_through(place, random):
    direction = random_direction(random)
    return Segment(place - direction * random.uniform(0.0, 2.0), place + direction * random.uniform(0.1, 2.0))


def sphere_through(place, random):
    radius = random.uniform(0.1, 2.0)
    return Sphere(place + random_direction(random) * radius, radius)


def cylinder_through(place, random):
    axis, radius = random_direction(random), random.uniform(0.1, 2.0)
    location = place + random_across(random, axis) * radius + axis * random.uniform(-2.0, 2.0)
    return Cylinder(location, axis * random.uniform(0.1, 10.0), radius)


def solid_sphere_through(place, random):
    sphere = sphere_through(place, random)
    return SolidSphere(sphere.centre, sphere.radius)


def solid_cylinder_through(place, random):
    cylinder = cylinder_through(place, random)
    return SolidCylinder(cylinder.location, cylinder.axis, cylinder.radius)


def ring_through(place, random):
    normal, radius = random_direction(random), random.uniform(0.1, 2.0)
    return Ring(place + random_across(random, normal) * radius, normal * random.uniform(0.1, 10.0), radius)


def box_through(place, random):
    """A side of the box goes through the place; the box may be mirrored."""
    sizes = [random.choice((-1.0, 1.0)) * random.uniform(0.1, 2.0) for _ in "xyz"]
    side = Matrix.Translation((1.0, random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)))
    rotation = random_rotation(random).to_matrix().to_4x4()
    return Box(Matrix.Translation(place) @ rotation @ Matrix.Diagonal((*sizes, 1.0)) @ side)


def moved(build, place, random, scale):
    """A target in a space of that scale which goes through the place in this one."""
    into = random_base(random) @ Matrix.Diagonal((*scale, 1.0)) @ random_rotation(random).to_matrix().to_4x4()
    return Transformed(build(into.inverted() @ place, random), into)


SHAPES = {
    Point: lambda place, random: Point(place),
    Plane: plane_through,
    Line: line_through,
    Ray: ray_through,
    Segment: segment_through,
    Sphere: sphere_through,
    SolidSphere: solid_sphere_through,
    Cylinder: cylinder_through,
    SolidCylinder: solid_cylinder_through,
    Ring: ring_through,
    Box: box_through,
}
every_shape = pytest.mark.parametrize("build", SHAPES.values(), ids=[kind.__name__ for kind in SHAPES])


def frame_about(axis):
    """A unit vector along `axis` and two orthogonal to it, in double precision."""
    along = np.array(axis, dtype=float)
    along /= np.linalg.norm(along)
    across = np.cross(along, np.eye(3)[np.argmin(abs(along))])
    across /= np.linalg.norm(across)
    return along, across, np.cross(along, across)


def circle(axis, turns):
    """Twice round, so that every direction has neighbours on both sides."""
    _, u, v = frame_about(axis)
    return np.cos(4.0 * pi * turns) * u + np.sin(4.0 * pi * turns) * v


def places(target, share):
    """Places of the target, of a solid one on its surface, for rows of `share`: three numbers from 0 to 1 each."""
    a, b, c = (share[:, [i]] for i in range(3))
    both_ways = FAR * (2.0 * a - 1.0)
    match target:
        case Point():
            return np.array(target.location) + 0.0 * share
        case Plane():
            _, u, v = frame_about(target.normal)
            return np.array(target.location) + both_ways * u + FAR * (2.0 * b - 1.0) * v
        case Line():
            return np.array(target.location) + both_ways * frame_about(target.direction)[0]
        case Ray():
            return np.array(target.location) + FAR * a * frame_about(target.direction)[0]
        case Segment():
            return np.array(target.start) * (1.0 - a) + np.array(target.end) * a
        case Sphere():
            height = np.cos(pi * a)
            return np.array(target.centre) + target.radius * (height * Z + np.sin(pi * a) * circle(Z, b))
        case Cylinder():
            height = both_ways * frame_about(target.axis)[0]
            return np.array(target.location) + height + target.radius * circle(target.axis, b)
        case Ring():
            return np.array(target.centre) + target.radius * circle(target.normal, a)
        case Box():
            frame = np.array(target.frame.copy())
            return frame[:3, 3] + (2.0 * np.hstack((a, b, c)) - 1.0) @ frame[:3, :3].T
        case Transformed():
            into = np.array(target.into.copy())
            return into[:3, 3] + places(target.target, share) @ into[:3, :3].T


def is_inside(target, point):
    """Whether a point is inside a solid sphere or cylinder, in whatever space."""
    if isinstance(target, Transformed):
        return is_inside(target.target, np.array(target.into.copy().inverted() @ Vector(point)))
    match target:
        case SolidSphere():
            return np.linalg.norm(np.array(point) - target.centre) < target.radius
        case SolidCylinder():
            return (
                np.linalg.norm(np.cross(np.array(point) - target.location, frame_about(target.axis)[0])) < target.radius
            )
    return False


def looked_for(target, point, farthest=False):
    """Least (or greatest) distance from `point` to the target: of places all over it, then round the best ones."""
    if not farthest and is_inside(target, point):
        return 0.0
    draw = np.random.default_rng(1)
    share, width = draw.uniform(0.0, 1.0, (1000, 3)), 0.5
    for _ in range(16):
        distances = np.linalg.norm(places(target, share) - np.array(point), axis=1)
        best = share[np.argsort(-distances if farthest else distances)[:30]]
        share = np.clip(best[:, None] + width * draw.uniform(-1.0, 1.0, (30, 20, 3)), 0.0, 1.0).reshape(-1, 3)
        share, width = np.vstack((best, share)), 0.5 * width
    return distances.max() if farthest else distances.min()
