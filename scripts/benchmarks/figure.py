# SPDX-License-Identifier: GPL-3.0-or-later
"""The body in a recording: its joints without fingers and helpers, and the T-pose that is its rig's rest pose.

Zero angles of a BVH file are seldom a pose of a body, so the rest pose is made as a rigger makes it: the file's poses
that are nearest to a T-pose are turned into one by least rotations, and the rest pose is their mean, with arms and legs
turned about themselves until they bend as those of rigs do.
"""

import re
from typing import NamedTuple

import numpy as np

from .bvh import Recorded

HAND = re.compile(r"hand$|wrist$|hand[._](l|r)$", re.IGNORECASE)
FOOT = re.compile(r"foot$|ankle$|foot[._](l|r)$", re.IGNORECASE)
HEAD = re.compile(r"head$", re.IGNORECASE)
LEFT = re.compile(r"left|(^|[._ ])l([._ ]|$)|^l(hand|foot)", re.IGNORECASE)
TOE = re.compile(r"toe", re.IGNORECASE)
CHOICES = 200  # poses of a file that are tried as rest poses
END = 0.4  # length of a bone of which no joint tells it, of the one before it
UPWARD, ASIDE = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
# Directions to which elbows and knees bend in a T-pose, as those of the CMU database and others do.
BENDS = {"arm": np.array([0.0, -0.9, 0.4]), "leg": np.array([0.0, 1.0, 0.0])}
BENT = 0.15  # mean sine of a bend below which a limb does not tell where it bends to
FORWARD = np.array([0.0, -0.95, -0.3])  # direction of feet
TALL = 1.7  # [m] from the feet to the end of the head


class Figure(NamedTuple):
    """Joints of a body, parents first: names, parents (indices, -1 for none), where bones end in the rest pose.

    lines     indices of the joints from root to tip by limb: "arm 1" (the left one), "leg 1", "spine", "neck" and so on
    rest      places and rotations of the joints in the rest pose
    tails     (n, 3) ends of the bones in the rest pose
    motion    the same joints at each frame
    """

    names: list[str]
    parents: list[int]
    lines: dict[str, list[int]]
    rest: Recorded
    tails: np.ndarray
    motion: Recorded


def figure(joints, motion):
    """Return the body of these joints, in metres and facing -Y at rest. Raises ValueError if it has no such parts."""
    lines = _lines(joints)
    kept = sorted({k for end in (*lines["ends"], *lines["toes"]) for k in _upward(joints, end)})
    number = {k: i for i, k in enumerate(kept)}
    parents = [number.get(joints[k].parent, -1) for k in kept]
    limbs = {name: [number[k] for k in line] for name, line in lines["limbs"].items()}
    part = Recorded(motion.places[:, kept], motion.rotations[:, kept])
    inner = set(lines["limbs"]["spine to head"])
    tails = [_tail(joints, k, {i: i not in inner for i in kept}) for k in kept]
    rest, ends = _rest(part, parents, limbs, tails)
    size = TALL / np.ptp(np.concatenate([rest.places, ends])[:, 2])
    return Figure(
        names=[joints[k].name for k in kept],
        parents=parents,
        lines=limbs,
        rest=Recorded(rest.places * size, rest.rotations),
        tails=ends * size,
        motion=Recorded(part.places * size, part.rotations),
    )


def _lines(joints):
    """Return the joints of each limb, the ends of all lines, and the toes. Raises ValueError for parts not found."""

    def found(pattern, count, what):
        ends = [k for k, joint in enumerate(joints) if pattern.search(joint.name)]
        ends = [k for k in ends if not any(pattern.search(joints[j].name) for j in _upward(joints, k)[1:])]
        if len(ends) != count:
            raise ValueError(f"{len(ends)} joints look like a {what}, not {count}. Give recordings of one body.")
        return sorted(ends, key=lambda k: not LEFT.search(joints[k].name))

    hands, feet, (head,) = found(HAND, 2, "hand"), found(FOOT, 2, "foot"), found(HEAD, 1, "head")
    chest = _common(joints, hands)
    hips = _common(joints, [chest, *feet])
    spine = _upward(joints, chest)[: _upward(joints, chest).index(hips)][::-1]
    neck = _upward(joints, head)[: _upward(joints, head).index(chest)][::-1]
    limbs = {f"arm {i}": _upward(joints, hand)[:3][::-1] for i, hand in enumerate(hands, 1)}
    limbs |= {f"leg {i}": _upward(joints, foot)[:3][::-1] for i, foot in enumerate(feet, 1)}
    limbs |= {"spine": spine, "neck": neck, "spine to head": spine + neck}
    toes = [k for k, joint in enumerate(joints) if joint.parent in feet and TOE.search(joint.name)]
    return {"limbs": limbs, "ends": [*hands, *feet, head], "toes": _first_of_each(joints, toes)}


def _first_of_each(joints, toes):
    return [k for k in toes if not any(joints[j].parent == joints[k].parent for j in toes if j < k)]


def _upward(joints, k):
    """The joint and all above it."""
    line = []
    while k >= 0:
        line.append(k)
        k = joints[k].parent
    return line


def _common(joints, ends):
    """The lowest joint above all of these, or one of them."""
    return next(k for k in _upward(joints, ends[0]) if all(k in _upward(joints, end) for end in ends[1:]))


def _tail(joints, k, kept):
    """Offset (3) in a joint's axes to where its bone ends, or None if nothing tells it.

    That is the next joint of the body apart from it, towards the head rather than to a limb, else the middle of the
    joints that hang on it, such as fingers, else its end site.
    """
    below = [i for i, joint in enumerate(joints) if joint.parent == k]
    inner = sorted((i for i in below if i in kept), key=kept.get)
    for i in inner:
        if _long(joints[i].offset):
            return joints[i].offset
        if (further := _tail(joints, i, kept)) is not None:
            return further
    outer = [joints[i].offset for i in below if _long(joints[i].offset)]
    if outer:
        return np.mean(outer, axis=0)
    ends = [end for i in below if (end := _tail(joints, i, kept)) is not None]
    return ends[0] if ends else joints[k].end if _long(joints[k].end) else None


def _long(offset):
    return offset is not None and np.linalg.norm(offset) > 1e-3


def _rest(part, parents, limbs, tails):
    """Return places and rotations of the T-pose, and the bones' ends in it."""
    wanted, trunk = _directions(limbs), limbs["spine to head"]
    costs, poses = [], []
    for frame in np.linspace(0, len(part.places) - 1, min(CHOICES, len(part.places))).astype(int):
        pose = _upright(part, frame, limbs)
        ends = _ends(pose, parents, tails)
        line, across = ends[trunk[-1]] - pose.places[trunk[0]], pose.places[limbs["arm 1"][0]]
        cost = _between(line, UPWARD) + _between(across - pose.places[limbs["arm 2"][0]], ASIDE)
        costs.append(cost + sum(_between(ends[k] - pose.places[k], to) for k, to in wanted.items()))
        poses.append(_straight(pose, ends, parents, wanted, _least(line, UPWARD)))
    best = [poses[k] for k in np.argsort(costs)[: 1 + len(poses) // 4]]
    u, _, v = np.linalg.svd(np.mean(best, axis=0))  # the mean rotations
    rotations = u @ v
    _bend_rightly(rotations, part, limbs, wanted)
    places = np.zeros((len(parents), 3))
    for k, parent in enumerate(parents):
        if parent >= 0:  # offsets are those of the first frame
            offset = part.rotations[0, parent].T @ (part.places[0, k] - part.places[0, parent])
            places[k] = places[parent] + rotations[parent] @ offset
        else:
            places[k] = part.places[0, k]
    return Recorded(places, rotations), _ends(Recorded(places, rotations), parents, tails)


def _straight(pose, ends, parents, wanted, upright):
    """Rotations (n, 3, 3) of a pose whose trunk is turned upright, and whose limbs then point where they should."""
    moved = []
    for k, parent in enumerate(parents):
        above = moved[parent] if parent >= 0 else upright
        moved.append(_least(above @ (ends[k] - pose.places[k]), wanted[k]) @ above if k in wanted else above)
    return np.array(moved) @ pose.rotations


def _bend_rightly(rotations, part, limbs, wanted):
    """Turn arms and legs of a T-pose about themselves, in place, so that they bend as those of rigs do.

    Least rotations leave that to the poses that they begin with.
    """
    for name, line in limbs.items():
        kind = name.partition(" ")[0]
        if kind not in BENDS:
            continue
        first, second = (np.diff(part.places[:, line], axis=1)[:, k] for k in (0, 1))
        normals = np.cross(first, second) / np.linalg.norm(first[0]) / np.linalg.norm(second[0])
        own = np.einsum("fji,fj->i", part.rotations[:, line[0]], normals) / len(normals)  # in the first bone's axes
        bends, along = rotations[line[0]] @ own, wanted[line[0]]
        to = np.cross(along, BENDS[kind])
        if np.linalg.norm(own) > BENT:
            turn = _about(along, np.arctan2(np.cross(bends, to) @ along, bends @ to))
            for k in line if kind == "arm" else line[:2]:  # feet point ahead already
                rotations[k] = turn @ rotations[k]


def _about(axis, angle):
    """Rotation (3, 3) about a unit axis by an angle [rad]."""
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * across @ across


def _directions(limbs):
    """Direction of each bone of arms and legs in a T-pose that faces -Y."""
    wanted = {}
    for name, line in limbs.items():
        if name.startswith("leg"):
            wanted |= dict.fromkeys(line[:2], -UPWARD) | {line[2]: FORWARD}
        if name.startswith("arm"):
            wanted |= dict.fromkeys(line, ASIDE if name.endswith("1") else -ASIDE)
    return wanted


def _upright(part, frame, limbs):
    """The pose of a frame, turned about Z to face -Y: from hip 2 to hip 1 along X."""
    places, rotations = part.places[frame], part.rotations[frame]
    across = places[limbs["leg 1"][0]] - places[limbs["leg 2"][0]]
    x, y = across[:2] / max(np.linalg.norm(across[:2]), 1e-9)
    turn = np.array([[x, y, 0.0], [-y, x, 0.0], [0.0, 0.0, 1.0]])
    return Recorded(places @ turn.T, turn @ rotations)


def _ends(pose, parents, tails):
    """Ends (n, 3) of the bones in a pose; those of unknown ends go on as the bone before."""
    ends = np.zeros_like(pose.places)
    for k, tail in enumerate(tails):
        if tail is not None:
            ends[k] = pose.places[k] + pose.rotations[k] @ tail
        else:
            ends[k] = pose.places[k] + END * (ends[parents[k]] - pose.places[parents[k]])
    return ends


def _between(a, b):
    """Angle [rad] between two vectors."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _least(a, b):
    """The least rotation (3, 3) from the direction of one vector to that of another."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    x, y, z = np.cross(a, b)
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + across + across @ across / max(1.0 + a @ b, 1e-6)
