# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of other people's characters with poses that are true: joints turned within human ranges.

A file is a skeleton as JSON, as scripts/benchmarks/skeletons.py reads it, with `roll` of each bone and the world axes
`left`, `forward` and `up` of the character besides. All vectors here are in armature space.
"""

import json
from itertools import pairwise
from math import radians
from random import Random
from typing import NamedTuple

import numpy as np

# Ranges [degrees]: the upper bone's direction as elevation ahead and to the side from hanging down, twist, bend.
RANGES = {"arm": ((-15, 100), (5, 85), (-25, 25), (15, 120)), "leg": ((-15, 80), (-5, 30), (-20, 20), (15, 110))}
END = 20  # degrees that a hand or foot turns about any axis
POSES, BETWEEN = 6, 6  # poses of a path after rest, frames from one to the next
LEVEL = 0.7  # cosine of the angle of a leg at rest to what is up
BENT, AGREES = 8.0, 60.0  # degrees of a bend at rest that tells the hinge, and of its axis off that of anatomy
CURL = (60.0, 80.0, 45.0)  # degrees of the joints of a finger in a fist


class Limb(NamedTuple):
    """An arm or leg: names of all bones from upper to end, of the hinge's and of the end; its side; hinge (3,)."""

    part: str
    side: str
    bones: list
    hinge: str
    end: str
    axis: np.ndarray


class Pose(NamedTuple):
    """True rotations off rest (3, 3) of upper part, lower part and end, and the matrix (4, 4) of the end's tail."""

    upper: np.ndarray
    lower: np.ndarray
    tip: np.ndarray
    wrist: np.ndarray


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def build(data):
    """Make the armature of a skeleton in an empty scene."""
    import bpy
    from mathutils import Matrix

    ob = bpy.data.objects.new(data["name"], bpy.data.armatures.new(data["name"]))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    edit = ob.data.edit_bones
    for row in data["bones"]:
        bone = edit.new(row["name"])
        bone.head, bone.tail, bone.roll = row["head"], row["tail"], row["roll"]
        bone.use_inherit_rotation = row.get("inherit_rotation", True)
        bone.inherit_scale = row.get("inherit_scale", "FULL")
        bone.use_local_location = row.get("local_location", True)
    for row in data["bones"]:
        if row["parent"] is not None:
            edit[row["name"]].parent = edit[row["parent"]]
            edit[row["name"]].use_connect = row.get("connected", False)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.matrix_world = Matrix(data["object"])
    bpy.context.view_layer.update()
    return ob


def axes_of(data):
    """Return left, front and up of the character (3, 3), a row each: those of its file, unless its legs lie across."""
    into = np.linalg.inv(np.array(data["object"])[:3, :3])
    left, front, up = (unit(into @ np.array(data[name], dtype=float)) for name in ("left", "forward", "up"))
    heads = {row["name"]: np.array(row["head"]) for row in data["bones"]}
    legs = [limb["bones"] for limb in data["limbs"] if limb["part"] == "leg" and len(limb["bones"]) > 2]
    if data["kind"] == "human" and legs:
        upright = unit(sum(heads[bones[0]] - heads[bones[-1]] for bones in legs))
        if upright @ up < LEVEL:
            up, front = upright, np.cross(left, upright)
    front = unit(front - up * (front @ up))
    side = np.cross(up, front)
    return np.array([side if side @ left > 0.0 else -side, front, up])


def unit(v):
    return np.asarray(v) / np.linalg.norm(v)


def head(ob, name):
    return np.array(ob.data.bones[name].head_local)


def tail(ob, name):
    return np.array(ob.data.bones[name].tail_local)


def turn(axis, angle):
    """Return the rotation (3, 3) about an axis by an angle [degrees]."""
    from mathutils import Matrix, Vector

    return np.array(Matrix.Rotation(radians(angle), 3, Vector(axis)))


def between(first, second):
    """Return the shortest rotation (3, 3) from a direction to another."""
    from mathutils import Vector

    return np.array(Vector(first).rotation_difference(Vector(second)).to_matrix())


def angle(rotation):
    """Return the angle [degrees] of a rotation (3, 3)."""
    return np.degrees(np.arccos(np.clip((np.trace(rotation) - 1.0) / 2.0, -1.0, 1.0)))


def limbs_of(ob, data):
    """Return the true arms and legs of a human that have an elbow or knee and an end."""
    _, front, up = axes_of(data)
    found = []
    for row in data["limbs"]:
        if row["part"] not in RANGES or row.get("extra") or not row.get("hinge") or not row.get("end"):
            continue
        upper, hinge, end = row["bones"][0], row["hinge"], row["end"]
        first, second = head(ob, hinge) - head(ob, upper), head(ob, end) - head(ob, hinge)
        towards = front if row["part"] == "arm" else -front
        wanted = np.cross(first, towards)
        wanted = unit(wanted if np.linalg.norm(wanted) > 0.3 * np.linalg.norm(first) else np.cross(first, up))
        bent = np.cross(first, second)
        bend = np.degrees(np.arctan2(np.linalg.norm(bent), first @ second))
        told = bend > BENT and np.degrees(np.arccos(unit(bent) @ wanted)) < AGREES
        found.append(Limb(row["part"], row["side"], row["bones"], hinge, end, unit(bent) if told else wanted))
    return found


def path_of(ob, data, limb, seed):
    """Return the Pose of each frame of a path from rest through random poses."""
    random, axes = Random(f"{seed} {limb.part} {limb.side}"), axes_of(data)
    left, front, up = axes
    side = left if limb.side == "L" else -left
    points = [head(ob, name) for name in (limb.bones[0], limb.hinge, limb.end)]
    first, second, third = points[1] - points[0], points[2] - points[1], tail(ob, limb.end) - points[2]
    rest = ob.data.bones[limb.end].matrix_local.to_3x3().normalized()
    ahead, aside, twist, bends = RANGES[limb.part]

    def numbers():
        f, s = (np.radians(random.uniform(*each)) for each in (ahead, aside))
        to = np.sin(s) * side + np.cos(s) * (np.sin(f) * front - np.cos(f) * up)
        ends = [random.uniform(-END, END) for _ in range(3)]
        swing = between(first, to)
        return np.array([*exponential(swing), random.uniform(*twist), random.uniform(*bends), *ends])

    now = np.degrees(np.arctan2(limb.axis @ np.cross(first, second), first @ second))
    keys = [np.zeros(8)] + [numbers() for _ in range(POSES)]
    keys = [keys[0], *(key - np.array([0, 0, 0, 0, now, 0, 0, 0]) for key in keys[1:])]
    found = [a + (b - a) * step / BETWEEN for a, b in pairwise(keys) for step in range(BETWEEN)] + keys[-1:]
    poses = []
    for each in found:
        size = np.linalg.norm(each[:3])
        swing = turn(each[:3] / max(size, 1e-12), np.degrees(size)) if size > 0.0 else np.eye(3)
        upper = swing @ turn(unit(first), each[3])
        lower = upper @ turn(limb.axis, each[4])
        end = lower @ turn(axes[0], each[5]) @ turn(axes[1], each[6]) @ turn(axes[2], each[7])
        wrist = np.eye(4)
        wrist[:3, :3], wrist[:3, 3] = end @ np.array(rest), points[0] + upper @ first + lower @ second
        tip = wrist.copy()
        tip[:3, 3] += end @ third
        poses.append(Pose(upper, lower, tip, wrist))
    return poses


def palm_of(ob, data, side):
    """Return what of a hand is towards its palm and the bones of its fingers without the thumb; None without fingers.

    The palm is square to the fingers and to the row of their knuckles from the first to the last.
    """
    rows = [row for row in data["limbs"] if row["part"] == "finger" and row["side"] == side]
    fingers = [row["bones"] for row in rows if "thumb" not in row.get("name", "") and len(row["bones"]) > 1]
    if len(fingers) < 2:
        return None
    knuckles = [head(ob, bones[0]) for bones in fingers]
    along = unit(sum(head(ob, bones[-1]) - at for bones, at in zip(fingers, knuckles, strict=True)))
    row = knuckles[-1] - knuckles[0]
    palm = np.cross(row, along) if side == "L" else np.cross(along, row)
    return unit(palm), fingers


def curled(ob, bones, palm):
    """Return where the tail of a finger's last bone is once it is closed towards the palm, and the axis about which."""
    axis = unit(np.cross(head(ob, bones[-1]) - head(ob, bones[0]), palm))
    places = [head(ob, name) for name in bones] + [tail(ob, bones[-1])]
    rotation, at = np.eye(3), places[0]
    for number, link in enumerate(np.diff(places, axis=0)):
        rotation = rotation @ turn(axis, CURL[min(number, len(CURL) - 1)])
        at = at + rotation @ link
    return at, axis


def closed_by(ob, bones, axis):
    """Return the shown turn of each joint of a finger after the first about an axis, off rest [degrees]."""
    turned = [np.array(ob.pose.bones[name].matrix.to_3x3().normalized()) for name in bones]
    rest = [np.array(ob.data.bones[name].matrix_local.to_3x3().normalized()) for name in bones]
    off = [now @ before.T for now, before in zip(turned, rest, strict=True)]
    own = [before.T @ after for before, after in pairwise(off)]
    return [np.degrees(axis @ exponential(each)) for each in own]


def exponential(rotation):
    """Return the rotation vector [rad] of a rotation (3, 3)."""
    from mathutils import Matrix

    return np.array(Matrix(rotation).to_quaternion().to_exponential_map())
