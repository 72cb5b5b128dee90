# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body as it is solved: their stiffness, and the flexing of arms, legs and trunk.

Compliance of a body's joints by their part in it: limbs give before the trunk, and hips move before they turn. A body
that reaches for the floor may bend its back over straight knees or squat; both are optima of some weights. With these
the way of people is the cheaper one: knees bend forward, hips go down, the trunk leans a part of the way. A shoulder
and an elbow go through wide ranges all day, clavicles, neck and ankles through narrow ones: arms that give as little as
these pull the trunk along with the hands. Chosen by recorded motion and the poses of a humanoid that reaches to the
floor, to its knees, ahead and up; checked on other recordings. Source: none.

Elbows and knees that are straight are bent a little the way they bend, before a body is solved from there. A straight
limb is as near to one bend as to the other, and brings its tip nearer to its root by neither at first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from mathutils import Quaternion, Vector

from ...goals.orientation import AlongTask, LookTask, OrientTask
from ...goals.task import Task
from ...kinematics import Cone, EulerLimits, Framed, Free, Freedom, unframed
from ...kinematics.arrays import Indices, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import cross, dot, exponential, lengths, normalized, product, rotate
from ...kinematics.body_anatomy import ARM_PARTS, Part, TwoPartLimb, joints_between
from ...kinematics.framed import allowed_flexion, hinge_axis

_ROOT_MOVE = 3.0
_COMPLIANCE = {
    Part.HIPS: 0.05,
    Part.TRUNK: 0.225,
    Part.GIRDLE: 0.45,
    Part.SIMPLE: 0.45,
    Part.UPPER_ARM: 6.0,
    Part.FOREARM: 6.0,
    Part.HAND: 2.25,
    Part.THIGH: 3.0,
    Part.SHIN: 1.5,
    Part.FOOT: 0.75,
}

# Shares of compliance in a reach: of legs that stand, of those that crouch, and of the way of the hips aside.
_FIRM, _CROUCHED, _ASIDE = 0.05, 0.3, 0.02
_PART = 0.2  # amount from which on legs crouch, and an arm does not reach alone
_PELVIS = 0.02  # compliance of joints between the hips and a thigh, which in people and animals are one bone
_OFF_HINGE = 0.05  # share of compliance of an elbow or knee off the hinge that its limits give it
_ALONG = 0.9  # cosine of the angle between an axis and the one about which a joint prefers to bend
_AS_WANTED = 0.5  # cosine of the angle between that axis and the one that anatomy wants
_OF_HANDS = 0.1  # weight of hands in the motion of a body, which circle a still one, where others show its turn
_BEND, _BENT = 0.2, 0.5  # [rad] to which a straight joint is bent, if it is bent by less than that share
_BACK = 0.01  # [rad] of range from which on a joint may bend the wrong way, if only by what a preset leaves it
_STRAIGHT = 0.35  # [rad] of bend up to which a reference does not tell where a joint bends to
_INCLINES = 0.2  # of the reach: error of a reference from which on its straight limbs are inclined to bend
LEFT_STRAIGHT = 0.1  # of that error, up to which a straight limb is left straight
_INCLINED = 1.0  # [rad] of bend to which posture inclines a straight joint at most


def two_part_limbs(tree: Tree) -> tuple[TwoPartLimb, ...]:
    """Return the arms and legs of a tree."""
    return tree.anatomy.limbs


def spine_and_neck(tree: Tree, thighs: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the joints of the spine, those of the trunk between the thighs and tips, and those of neck and head."""
    parts, ends = parts_of_body(tree), [tip.joint for tip in tree.tips]
    trunk = np.array([part == Part.TRUNK for part in parts]) & tree.above[:, ends].any(1)
    spine = np.flatnonzero(trunk & ~tree.above[:, thighs].any(1)).tolist()
    return spine, [joint for joint, part in enumerate(parts) if part == Part.SIMPLE]


def wrist_of(geometry: Geometry, limb: TwoPartLimb) -> Numbers:
    """Return where the lower part of a limb ends (3, F), such as its wrist or ankle: the tip of one without an end."""
    return geometry.heads[limb.end] if limb.has_end else geometry.tip(_tip_of(geometry.tree, limb))


def length_of(tree: Tree, limb: TwoPartLimb) -> float:
    """Return the length of both parts of a limb [Blender units]."""
    lower = tree.joints[limb.end].offset if limb.has_end else tree.tips[_tip_of(tree, limb)].place
    return tree.joints[limb.middle].offset.length + lower.length


def _tip_of(tree: Tree, limb: TwoPartLimb) -> int:
    """Return the number of the first tip to which a limb leads."""
    return next(number for number, tip in enumerate(tree.tips) if tree.above[limb.middle, tip.joint])


def parts_of_body(tree: Tree) -> tuple[Part, ...]:
    """Return the part to which each joint belongs."""
    return tree.anatomy.parts


@lru_cache(maxsize=32)
def flexion_axes(tree: Tree) -> Numbers:
    """Return the unit axes about which elbows and knees flex (l, 3), one for each limb, in their own rest frames.

    They are those of the anatomy, as near as the joints' limits allow. Without one it is the axis of a hinge, or X.
    """
    wanted = wanted_flexion(tree)
    freedoms = [tree.joints[limb.middle].freedom for limb in tree.anatomy.limbs]
    found = [allowed_flexion(each, Vector(axis))[:] for each, axis in zip(freedoms, wanted, strict=True)]
    return np.array(found, float).reshape(-1, 3)


def wanted_flexion(tree: Tree) -> Numbers:
    """Return the same axes (l, 3) without regard to the joints' limits."""
    anatomy = tree.anatomy
    axes = [
        tree.joints[limb.middle].freedom.bend_axis[:] if axis is None else axis[:]
        for limb, axis in zip(anatomy.limbs, anatomy.flexion, strict=True)
    ]
    return np.array(axes, float).reshape(-1, 3)


@lru_cache(maxsize=32)
def body_compliance(tree: Tree) -> Numbers:
    """Compliance (k, 1) of all columns: that of the joints' stiffness, times that of their part in the body."""
    if not tree.moves_root and len(tree.tips) < 2:
        return tree.compliance
    parts = parts_of_body(tree)
    share = np.array([_COMPLIANCE[part] for part in parts])
    trunk, thighs = ([j for j, part in enumerate(parts) if part == each] for each in (Part.TRUNK, Part.THIGH))
    of_pelvis = tree.above[:, thighs].any(1) & ~tree.above[trunk].any(0)
    share[[j for j, part in enumerate(parts) if part == Part.GIRDLE and of_pelvis[j]]] = _PELVIS
    if not tree.moves_root:
        share[0] = _COMPLIANCE[Part.TRUNK]
    move = np.full(len(tree.root_ways), _ROOT_MOVE)
    compliance: Numbers = tree.compliance * np.concatenate((share[tree.joint_of] * _on_hinges(tree), move))[:, None]
    return compliance


def firm(tree: Tree, compliance: Numbers, amounts: Numbers, left: Numbers) -> Numbers:
    """Return the compliance (k, 1) with that of legs, and of the way of the hips to the `left` (3), lessened.

    For a reach a body turns, leans and crouches by `amounts` (4, F), of which the last one is the crouch. What is left
    is for its arm and trunk: knees would bend for so much of it, as they are easy to bend, and where the arm alone does
    it, the hips would go aside. Legs that crouch are less firm; were they free, hips would go far ahead on lifted heels
    for a hand on the floor, in some frames and not in those beside.
    """
    parts, turning = parts_of_body(tree), len(tree.joint_of)
    stands, alone = (max(1.0 - most / _PART, 0.0) for most in (amounts[-1].max(), np.abs(amounts).max()))
    shares = np.ones(len(compliance))
    legs = np.array([part in (Part.THIGH, Part.SHIN) for part in parts])
    shares[:turning][legs[tree.joint_of]] = _CROUCHED * (_FIRM / _CROUCHED) ** stands
    shares[turning:] = _ASIDE ** (alone * (tree.root_ways @ left) ** 2)
    return compliance * shares[:, None]


def _on_hinges(tree: Tree) -> Numbers:
    """Shares of compliance (c) of the columns that rotate: less for an elbow or knee that bends off its hinge.

    Those whose limits bend one way have a hinge. The upper part turns it to the bend instead.
    """
    shares = np.ones(len(tree.joint_of))
    for limb in tree.anatomy.limbs:
        freedom = tree.joints[limb.middle].freedom
        hinge, own = hinge_axis(freedom), unframed(freedom)
        if hinge is None or not isinstance(own, EulerLimits):
            continue
        way, turn = Vector(), Quaternion()
        tip = None if limb.has_end else tree.tips[_tip_of(tree, limb)]
        for j in joints_between(tree.above, limb.middle, limb.end if tip is None else tip.joint):
            way, turn = way + turn @ tree.joints[j].offset, turn @ tree.joints[j].rest
        way = way if tip is None else way + turn @ tip.place
        across = hinge.cross(way).normalized()
        frame = freedom.frame if isinstance(freedom, Framed) else Quaternion()
        for row, axis in zip(np.flatnonzero(tree.joint_of == limb.middle), own.axes, strict=True):
            along = across.dot(frame @ Vector([float(n == axis) for n in range(3)]))
            shares[row] = 1.0 - (1.0 - _OFF_HINGE) * along**2
    return shares


@lru_cache(maxsize=32)
def bending_limbs(tree: Tree) -> tuple[TwoPartLimb, ...]:
    """Return the limbs of a tree whose elbow or knee may bend both ways about the axis that it prefers."""
    return tuple(two_part_limbs(tree)[number] for number in _both_ways(tree))


@lru_cache(maxsize=32)
def _both_ways(tree: Tree) -> tuple[int, ...]:
    """Numbers of these limbs among all of the tree."""
    axes = flexion_axes(tree)
    as_wanted = (axes * wanted_flexion(tree)).sum(1) > _AS_WANTED
    return tuple(
        number
        for number, limb in enumerate(two_part_limbs(tree))
        if as_wanted[number] and _bends_both_ways(tree.joints[limb.middle].freedom, axes[number])
    )


def _bends_both_ways(freedom: Freedom, axis: Numbers) -> bool:
    """Tell whether a joint may bend about an axis to both sides."""
    own = unframed(freedom)
    if isinstance(own, Cone):
        return own.swing > _BEND
    if isinstance(own, Free):
        return True
    ranges = [
        (each.value - each.lower, each.upper - each.value)
        for each in freedom.coordinates(Quaternion())
        if abs(each.axis.dot(Vector(axis))) > _ALONG
    ]
    return any(min(ends) > _BACK and max(ends) > _BEND for ends in ranges)


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


def errors_of_tips(geometry: Geometry, tasks: Sequence[Task]) -> Numbers:
    """Squared errors (t, F) of the tasks of each tip."""
    values = np.zeros((len(geometry.tree.tips), len(geometry.states)))
    for task in tasks:
        values[task.tip] += (task.measure(geometry).errors ** 2).sum(0)
    return values


def shares_in_motion(tree: Tree, tasks: Sequence[Task]) -> list[float]:
    """Weights of the tips in the motion of a body as a whole.

    Hands count less where feet or head show the facing of the body; where only places are given they count the same.
    """
    parts = parts_of_body(tree)
    is_hand = [parts[tip.joint] == Part.HAND for tip in tree.tips]
    faces = any(isinstance(task, OrientTask | AlongTask | LookTask) and not is_hand[task.tip] for task in tasks)
    return [_OF_HANDS if hand and faces else 1.0 for hand in is_hand]


def inclination(tree: Tree, values: Numbers) -> Numbers:
    """Shares (t, F) of the bend to which posture inclines for each tip, by the squared errors (t, F) of a reference.

    An elbow bends for its own hand. A knee bends for all tips, as the hips move for all.
    """
    every = np.broadcast_to(values.sum(0), values.shape)
    parts = parts_of_body(tree)
    is_hand = np.array([parts[tip.joint] in ARM_PARTS for tip in tree.tips])[:, None]
    return np.clip(np.sqrt(np.where(is_hand, values, every)) / (_INCLINES * tree.size), 0.0, 1.0)


def inclined(tree: Tree, reference: States, shares: Numbers, tips: Collection[int]) -> States:
    """A reference with its straight elbows and knees bent by the shares (t, F) of their tips.

    Only those that lead to `tips` are: a limb without a goal keeps its pose.
    """
    joints, own = _joints(tree)
    if not len(joints) or not shares.any():
        return reference
    leads = np.zeros((len(joints), len(tree.tips)))
    for tip in tips:
        leads[:, tip] = tree.above[joints, tree.tips[tip].joint]
    share = (leads[:, :, None] * shares).max(1)
    straight = np.clip((_STRAIGHT - np.abs(_bends(tree, reference))) / (0.5 * _STRAIGHT), 0.0, 1.0)
    bent = straight * share
    return _turned(tree, reference, joints, own * (_INCLINED * bent)[:, None]) if bent.any() else reference


def _joints(tree: Tree) -> tuple[Indices, Numbers]:
    """Indices of elbows and knees, and the axes about which they prefer to bend, in their own frames (j, 3, 1)."""
    joints = np.array([limb.middle for limb in bending_limbs(tree)], np.intp)
    return joints, flexion_axes(tree)[list(_both_ways(tree)), :, None]


def _bends(tree: Tree, states: States) -> Numbers:
    """Bends of elbows and knees (j, F) [rad], negative where they are the other way than the joints prefer."""
    limbs = bending_limbs(tree)
    uppers, joints, _ = np.array(limbs, np.intp).T
    own = _joints(tree)[1]
    geometry = Geometry.of(tree, states)
    heads, frames = geometry.heads, geometry.frames[joints][:, :, :3]
    wrists = np.array([wrist_of(geometry, limb) for limb in limbs])
    first, second = heads[joints] - heads[uppers], wrists - heads[joints]
    axes = rotate(frames, own)
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
