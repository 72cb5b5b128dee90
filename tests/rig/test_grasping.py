# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands of any character are known by their fingers, and settle where they hold an object best."""

from math import degrees

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.rig.grasping.hand import GraspingHand
from ik_triangulation.rig.grasping.opening import Stage, open_rotations
from ik_triangulation.rig.grasping.surface import HeldSurface

from ..characters import KINDS, character, part_of
from ..jobs.test_grasp import rod
from ..rigs import place

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_holds_a_rod_in_its_palm(kind):
    rig = character(kind)
    bpy.context.view_layer.update()
    hand = GraspingHand(rig, part_of(rig, kind, "hand").name)
    assert [row.joints[0].name for row in hand.rows] == [
        part_of(rig, kind, f"{finger}1").name for finger in ("index", "middle", "ring", "little")
    ]
    surface = HeldSurface(rod(hand, 0.022), bpy.context.evaluated_depsgraph_get())
    way, closed = hand.settle(surface)
    assert (way @ hand.wrist - hand.wrist).length <= 0.035
    assert degrees(way.to_quaternion().angle) <= 15.1
    assert sum(finger.touches > 0 for finger in closed.fingers) >= 3
    assert degrees(closed.opposition) >= 100.0
    assert closed.penetration <= 0.001
    # The hand opens until nothing is in the way, while it stays where it is, and comes along the way that it goes.
    there, coming = Matrix.Identity(4), Matrix.Translation(-0.03 * (way.to_quaternion() @ hand.palm))
    stages = [Stage(0.0, coming), Stage(0.5, there), Stage(1.0, there)]
    held = hand.moved(way)
    opened, is_clear = open_rotations(held, closed, surface, stages, [finger.rotations for finger in closed.all])
    assert is_clear
    assert [len(each) for each in opened] == [len(finger.rotations) for finger in closed.all]
    for turns, finger in zip(opened[:4], closed.fingers, strict=True):
        bends = [sum(turn.angle for turn in each) for each in (turns, finger.rotations)]
        assert bends[0] <= bends[1] + 1e-6


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_what_is_inside_is_told_at_sharp_edges_too(size):
    """A long prism: across, it is a triangle with acute corners."""
    across = np.array(((0.0, 0.0), (3.0, 0.0), (2.8, 0.4)))
    places = [(x, *corner) for x in (-9.0, 9.0) for corner in across]
    mesh = bpy.data.meshes.new("Wedge")
    mesh.from_pydata(
        (size * np.array(places)).tolist(), [], [(1, 4, 3, 0), (2, 5, 4, 1), (0, 3, 5, 2), (0, 2, 1), (3, 4, 5)]
    )
    surface = HeldSurface(place(bpy.data.objects.new("Wedge", mesh)), bpy.context.evaluated_depsgraph_get())
    into = np.linalg.inv(np.vstack((across.T, np.ones(3))))  # barycentric coordinates
    random, inside = np.random.default_rng(1), 0
    for x, y, z in random.uniform((-1.0, -0.5, -0.3), (1.0, 3.5, 0.6), (300, 3)):
        within = (into @ (y, z, 1.0)).min() > 0.0
        inside += within
        assert (surface.distance(size * Vector((x, y, z))) < 0.0) == within, (x, y, z)
    assert inside > 20
