# SPDX-License-Identifier: GPL-3.0-or-later
"""Elbows and knees that are straight are bent a little the way they bend, before a body is solved from there.

A straight limb is as near to one bend as to the other, and brings its tip nearer to its root by neither at first.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from mathutils import Quaternion

from ...kinematics import Freedom
from ...kinematics.arrays import Indices, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import cross, dot, exponential, lengths, normalized, product, rotate

_LONG = 0.55  # of a limb: least length of the two links that meet in an elbow or knee
_ALONG = 0.9  # cosine of the angle between an axis and the one about which a joint prefers to bend
_ALIKE = 0.6  # least ratio of their lengths
_BEND, _BENT = 0.2, 0.5  # [rad] to which a straight joint is bent, if it is bent by less than that share
_STRAIGHT = 0.35  # [rad] of bend up to which a reference does not tell where a joint bends to
_INCLINES = 0.2  # of the reach: error of a reference from which on its straight limbs are inclined to bend
_INCLINED = 0.6  # [rad] of bend to which posture inclines a straight joint


@lru_cache(maxsize=32)
def middle_joints(tree: Tree) -> tuple[tuple[int, int], ...]:
    """Return the elbows and knees of a tree, each with the joint after it: where the two long links of a limb meet.

    Those that their limits let bend one way only, or not about the axis that they prefer, are left out.
    """
    found = []
    for tip in tree.tips:
        limb = [j for j in range(len(tree.joints)) if tree.above[j, tip.joint] and tree.above[tip.first, j]]
        links = [tree.joints[j].offset.length for j in limb[1:]]
        for n in range(1, len(limb) - 1):
            before, after = links[n - 1], links[n]
            long = before + after >= _LONG * tip.reach and min(before, after) >= _ALIKE * max(before, after)
            if long and _bends_both_ways(tree.joints[limb[n]].freedom):
                found.append((limb[n], limb[n + 1]))
    return tuple(dict.fromkeys(found))


def _bends_both_ways(freedom: Freedom) -> bool:
    """Tell whether a joint may bend about its preferred axis to both sides."""
    about = [each for each in freedom.coordinates(Quaternion()) if abs(each.axis.dot(freedom.bend_axis)) > _ALONG]
    return any(each.lower - each.value < -_BEND and each.upper - each.value > _BEND for each in about)


def flexed(tree: Tree, states: States, reference: States) -> States:
    """The states with elbows and knees bent as their joints prefer to, where the reference has them straight.

    Straight ones are bent a little, and those that are bent the other way as far as they are.
    """
    joints, own = _joints(tree)
    if not len(joints):
        return states
    bend, given = _bends(tree, states), _bends(tree, reference)
    angle = np.maximum(_BEND, -bend)
    wrong = (bend < _BENT * _BEND) & (np.abs(given) < _STRAIGHT)
    if not wrong.any():
        return states
    turned = _turned(tree, reference, joints, own * angle[:, None])
    angles, balls = states.angles.copy(), states.balls.copy()
    for number, joint in enumerate(joints.tolist()):
        rows = np.flatnonzero(tree.joint_of[: tree.angles] == joint)
        at = np.flatnonzero(wrong[number])
        angles[np.ix_(rows, at)] = turned.angles[np.ix_(rows, at)]
        if joint in tree.balls:
            ball = tree.balls.index(joint)
            balls[ball][:, at] = turned.balls[ball][:, at]
    return States(angles, balls, states.held, states.root, states.place)


def inclination(tree: Tree, value: Numbers) -> Numbers:
    """Share (F) of the bend to which posture inclines, by the squared errors (F) that a reference leaves of goals."""
    return np.clip(np.sqrt(value) / (_INCLINES * tree.size), 0.0, 1.0)


def inclined(tree: Tree, reference: States, share: Numbers) -> States:
    """A reference with its straight elbows and knees bent by a share (F) of the bend to which posture inclines."""
    joints, own = _joints(tree)
    if not len(joints) or not share.any():
        return reference
    straight = np.clip((_STRAIGHT - np.abs(_bends(tree, reference))) / (0.5 * _STRAIGHT), 0.0, 1.0)
    return _turned(tree, reference, joints, own * (_INCLINED * straight * share)[:, None])


def _joints(tree: Tree) -> tuple[Indices, Numbers]:
    """Indices of elbows and knees, and the axes about which they prefer to bend, in their own frames (j, 3, 1)."""
    joints = np.array([middle for middle, _ in middle_joints(tree)], np.intp)
    return joints, np.array([tree.joints[j].freedom.bend_axis[:] for j in joints]).reshape(-1, 3, 1)


def _bends(tree: Tree, states: States) -> Numbers:
    """Bends of elbows and knees (j, F) [rad], negative where they are the other way than the joints prefer."""
    after = np.array([joint for _, joint in middle_joints(tree)], np.intp)
    joints, own = _joints(tree)
    geometry = Geometry(tree, states)
    heads, frames = geometry.heads, geometry.frames[joints][:, :, :3]
    parents = np.array([tree.parents[j] for j in joints], np.intp)
    first, second = heads[joints] - heads[parents], heads[after] - heads[joints]
    axes = rotate(frames, np.broadcast_to(own, (len(joints), 3, len(states))))
    turn = cross(first, second)
    bend = np.arctan2(lengths(turn), dot(first, second))
    return np.where(dot(turn, axes) < 0.0, -bend, bend)


def _turned(tree: Tree, states: States, joints: Indices, turns: Numbers) -> States:
    """The states with joints turned further by rotation vectors (j, 3, F) in their own frames, inside their limits."""
    rotations = tree.rotations(states)
    rotations[joints] = normalized(product(rotations[joints], exponential(turns)))
    moved = tree.posed(rotations, states)
    angles, balls = states.angles.copy(), states.balls.copy()
    rows = np.isin(tree.joint_of[: tree.angles], joints)
    angles[rows] = moved.angles[rows]
    for number, joint in enumerate(tree.balls):
        if joint in joints:
            balls[number] = moved.balls[number]
    return States(angles, balls, states.held, states.root, states.place)
