# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body with a head: the face turns to the ball, while one hand goes to the floor and the other to a knee."""

from math import degrees

import bpy
from mathutils import Vector

from scripts.windowed.inside import buttons, screen
from scripts.windowed.inside.scene import clear
from scripts.windowed.pictures.look import look_at
from tests.bodies import human_rig
from tests.window.overlay import activate

LAST = 24


def script():
    clear()
    human_rig(with_head=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    yield 1.0
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_body_add")
    _face()
    look_at((0.0, 0.0, 0.95), 2.4, 0.6)
    yield 0.5
    screen.picture("look-set-up")
    head = _rig().pose.bones["head"]
    ball = head.ik_triangulation.target
    ball.location = (0.9, -0.9, 1.9)
    yield from buttons.press("pose.ik_triangulation_solve")
    yield 0.5
    assert _off(head, ball) < 1.0
    assert abs(head.matrix.to_3x3().col[0].z) < 0.1, "the head rolls"
    screen.picture("look-head")
    activate(_rig(), "head")
    yield 0.5
    screen.picture("look-overlay")
    activate(_rig(), "hand.L")
    hand = _rig().pose.bones["hand.L"].ik_triangulation.target
    hand.location = (0.2, -0.4, 0.1)
    knee = _knee()
    _rig().pose.bones["hand.R"].ik_triangulation.target = knee
    yield from buttons.press("pose.ik_triangulation_solve")
    yield 0.5
    assert (_rig().pose.bones["hand.R"].tail - knee.matrix_world.translation).length < 1e-3
    assert _off(head, ball) < 1.0
    screen.picture("look-crouch")


def _off(head, ball):
    """Angle [degrees] from the face to the ball."""
    middle = (head.head + head.tail) / 2.0
    nose = bpy.data.objects["Nose"].matrix_world.translation
    return degrees((nose - middle).angle(ball.location - middle))


def _face():
    """A nose in front of the face, which shows where that looks."""
    rig, head = _rig(), _rig().pose.bones["head"]
    bpy.context.view_layer.update()
    mesh = bpy.data.meshes.new("Nose")
    size, place = 0.03, Vector((0.0, -0.12, (head.head.z + head.tail.z) / 2.0))
    corners = [(-size, 0.06, -size), (size, 0.06, -size), (size, 0.06, size), (-size, 0.06, size), (0.0, -0.06, 0.0)]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)])
    nose = bpy.data.objects.new("Nose", mesh)
    bpy.context.scene.collection.objects.link(nose)
    nose.parent, nose.parent_type, nose.parent_bone = rig, "BONE", "head"
    bpy.context.view_layer.update()
    nose.matrix_world.translation = place + Vector((0.0, (head.head.y + head.tail.y) / 2.0, 0.0))
    nose.show_in_front = True


def _knee():
    knee = bpy.data.objects.new("Knee", None)
    bpy.context.scene.collection.objects.link(knee)
    knee.parent, knee.parent_type, knee.parent_bone = _rig(), "BONE", "shin.R"
    bpy.context.view_layer.update()
    knee.matrix_world.translation = _rig().pose.bones["shin.R"].head + Vector((0.0, -0.1, 0.03))
    bpy.context.view_layer.update()
    return knee


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]
