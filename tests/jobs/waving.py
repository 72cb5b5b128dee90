# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with an arm whose empty is keyed along a lap, for the tests of natural poses."""

from math import cos, sin, tau

from mathutils import Quaternion, Vector

from ik_triangulation.jobs.setup import add_limbs

from ..rigs import armature


def body(side="L"):
    """A chest with an arm that hangs a little bent, of a character that looks along -Y."""
    x = 1.0 if side == "L" else -1.0
    heads = [(0.2, 0.0, 1.5), (0.3, 0.04, 1.2), (0.4, 0.0, 0.95), (0.42, -0.02, 0.8)]
    places = [Vector((x * head[0], *head[1:])) for head in heads]
    names = [f"upper_arm.{side}", f"forearm.{side}", f"hand.{side}"]
    specs = [{"name": "chest", "head": (0.0, 0.0, 1.2), "tail": (0.0, 0.0, 1.5), "parent": None}]
    for i, name in enumerate(names):
        parent = names[i - 1] if i else "chest"
        specs.append({"name": name, "head": places[i], "tail": places[i + 1], "parent": parent, "connect": i > 0})
    return armature("Body", specs)


def wave(rig, side="L", frames=range(1, 61), lap=tau):
    """`+` on the hand, and its empty keyed along a lap that begins where the hand is."""
    (tip,) = add_limbs(rig, [f"hand.{side}"])
    target, x = rig.pose.bones[tip].ik_triangulation.target, 1.0 if side == "L" else -1.0
    target.rotation_mode = "QUATERNION"
    place, turned = target.matrix_world.to_translation(), target.matrix_world.to_quaternion()
    for frame in frames:
        t = lap * (frame - frames[0]) / (frames[-1] - frames[0])
        target.location = place + Vector((-0.04 * x * (1.0 - cos(t)), -0.1 * (1.0 - cos(t)), 0.1 * sin(0.5 * t) ** 2))
        target.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), -0.3 * (1.0 - cos(t))) @ turned
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    return rig.pose.bones[tip], target
