# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of joints with many poses for the tests of the batch engine, and what the scalar code says of them."""

from dataclasses import replace
from math import inf, pi
from random import Random

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.goals.target_shapes import BatchTarget
from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Framed, Free, Hinge, Joint, Locked, Pose, framed
from ik_triangulation.kinematics.batch import Geometry, States, Tree, TreeTip
from ik_triangulation.kinematics.batch.algebra import exponential, normalized, product
from ik_triangulation.kinematics.batch.coordinates import finite_range

from .chains import RANDOM, hinged, limited, mixed, random_base, random_chain, random_direction, random_rotation

ROUNDING = 3e-6  # of mathutils, which is in single precision, over the joints of these chains
HERE = np.eye(3)[:, :, None]
KINDS = {"free": random_chain, "hinges": hinged, "euler": limited, "mixed": mixed}

SPECIAL = [
    Hinge((1.0, 2.0, -0.5), 0.7, 1.3),  # leaves out rest
    Hinge((0.0, 0.0, 1.0), -inf, 0.5),
    Hinge((0.0, 1.0, 0.0)),
    Hinge((1.0, 0.0, 0.0), 0.4, 0.4),
    *(EulerLimits(order, (-0.6, 0.3, -1.0), (0.9, 0.3, 1.2)) for order in ("XYZ", "XZY", "YXZ")),  # Y is frozen
    *(EulerLimits(order, (-0.6, -0.5, -0.4), (0.9, 0.7, -0.4)) for order in ("YZX", "ZXY", "ZYX")),  # Z is frozen
    EulerLimits("XYZ", (-1.0, 0.0, 0.0), (0.5, 0.0, 0.0)),  # one angle from rest: a hinge
    EulerLimits("ZYX", (-1.0, 0.2, 0.0), (0.5, 0.2, 0.0)),  # one angle, not from rest
    EulerLimits("YZX", (0.1, 0.2, 0.3), (0.1, 0.2, 0.3)),
    EulerLimits("XZY", (-inf, -0.5, -0.5), (0.2, inf, 0.5)),
    EulerLimits("ZXY", (-inf,) * 3, (inf,) * 3),
    Cone(0.8, -0.5, 0.4),
    Cone(pi),
    Cone(pi, 0.3, 0.3),
    Cone(0.0, -0.5, 0.4),
    framed(EulerLimits("YZX", (-0.6, -0.5, -0.4), (1.9, 0.7, 0.4)), Quaternion((0.5, 0.6, -0.3, 0.55))),
    framed(EulerLimits("ZXY", (-1.0, 0.0, 0.0), (0.5, 0.0, 0.0)), Quaternion((0.5, 0.6, -0.3, 0.55))),
    framed(Cone(0.8, -0.5, 0.4), Quaternion((0.4, -0.6, -0.3, 0.6))),
    Free(),
    Locked(),
]  # a joint of every kind that has a rule of its own


def special(seed, links):
    """A random chain of such joints, some of them stiff."""
    random = Random(seed)
    return stiffened(random_chain(seed, links, 3.0, random.choices(SPECIAL, k=links)), random)


def stiffened(chain, random):
    """The chain with a stiffness for some joints."""
    joints = [replace(joint, stiffness=random.choice((0.0, 0.0, 0.4, 0.9))) for joint in chain.joints]
    return replace(chain, joints=tuple(joints))


def widened(chain):
    """The chain with the same kinds of joints and wider limits; frozen Euler angles stay frozen."""
    joints = [replace(joint, freedom=_wider(joint.freedom)) for joint in chain.joints]
    return replace(chain, joints=tuple(joints))


def _wider(freedom):
    match freedom:
        case Framed():
            return framed(_wider(freedom.inner), freedom.frame)
        case Hinge():
            return Hinge(freedom.axis)
        case Cone():
            return Cone(freedom.swing + 1.0, freedom.twist_lower - 1.0, freedom.twist_upper + 1.0)
        case EulerLimits():
            lower, upper = (
                [end + by * (axis in freedom.axes) for axis, end in enumerate(ends)]
                for by, ends in ((-1.0, freedom.lower), (1.0, freedom.upper))
            )
            return EulerLimits(freedom.order, lower, upper)
    return freedom


def pose_inside(chain, random, base=None):
    """Every joint somewhere inside its limits; what is locked, anywhere."""
    rotations = [j.freedom.random(random) if j.freedom.moves else random_rotation(random) for j in chain.joints]
    pose = Pose(chain, base or Matrix.Identity(4), rotations)
    pose.project()
    return pose


def poses_inside(chain, count, random, moving=True):
    """Such poses; with `moving` each on a base of its own."""
    base = None if moving else random_base(random)
    return [pose_inside(chain, random, base or random_base(random)) for _ in range(count)]


def drawn(tree, states, random, share=1.0):
    """Poses that have gone a share of the way to others, drawn inside the limits."""
    lower, upper = finite_range(tree.lower, tree.upper)
    wanted = lower + random.random((len(lower), len(states))) * (upper - lower)
    angles = tree.inside(states.angles + share * (wanted - states.angles))
    balls = states.balls
    if len(balls):
        balls = normalized(product(balls, exponential(share * random.normal(size=(len(balls), 3, len(states))))))
    place = states.place
    if tree.moves_root:
        place = place + share * random.normal(size=(3, len(states)))
    return States(angles, balls, states.held, states.root, place)


def batch_of(chain, count, seed, moving=True):
    """A tree of a chain, and states drawn inside its limits."""
    random = Random(seed)
    tree = Tree.of(chain)
    states = tree.states(poses_inside(chain, count, random, moving))
    return tree, drawn(tree, states, np.random.default_rng(seed))


def places(points):
    """Targets that are these points (3, F)."""
    return BatchTarget(None, HERE, np.array(points), np.ones(1))


def place_task(tree, there, tip=0, level=0, tolerance=1e-4):
    """The places of a tip in other states as a task; `tolerance` is a share of its reach."""
    limit = np.array([tolerance * tree.tips[tip].reach])
    return PlaceTask(target=places(Geometry(tree, there).tip(tip)), tolerance=limit, tip=tip, level=level)


def orient_task(tree, there, tip=0, level=1, tolerance=3e-4):
    """The orientations of a tip in other states as a task; `tolerance` [rad]."""
    rotation, length = Geometry(tree, there).tip_rotation(tip).copy(), 0.3 * tree.tips[tip].reach
    return OrientTask(rotation=rotation, length=length, tolerance=np.array([tolerance]), tip=tip, level=level)


def matrix_at(array, n):
    """One of many poses of an array whose last axis runs over the poses, or is 1."""
    return array[..., n if array.shape[-1] > 1 else 0]


def poses_of(chain, tree, states):
    """The same poses of a chain as scalar ones."""
    rotations = tree.rotations(states)
    found = []
    for n in range(len(states)):
        base = np.eye(4)
        base[:3, :3], base[:3, 3] = matrix_at(states.root, n), matrix_at(states.place, n)
        found.append(Pose(chain, Matrix(base.tolist()), [Quaternion(q) for q in rotations[..., n].tolist()]))
    return found


def limb_of(tree, number):
    """The chain from the root to a tip, and its joints in the tree."""
    tip = tree.tips[number]
    along = [i for i in range(len(tree.joints)) if tree.above[i, tip.joint]]
    return Chain([tree.joints[i] for i in along], tip.place, tip.rotation), along


def violation(tree, states):
    """The most by which an angle is outside its range or a swing outside its cone [rad]; 0.0 if nothing is."""
    most = 0.0
    plain = tree.cones.rows.start if tree.cones else tree.angles
    if plain:
        angles = states.angles[:plain]
        most = max((tree.lower[:plain] - angles).max(), (angles - tree.upper[:plain]).max())
    if tree.cones:
        rows = states.angles[tree.cones.rows]
        opening = np.array([[tree.joints[i].freedom.swing] for i in tree.cones.joints])
        twist = tree.cones.rows.start + 2
        lower, upper = tree.lower[twist::3], tree.upper[twist::3]
        most = max(most, (np.hypot(rows[0::3], rows[1::3]) - opening).max())
        most = max(most, (lower - rows[2::3]).max(), (rows[2::3] - upper).max())
    return max(0.0, float(most))


def random_tree(seed, count=9, tips=3, moves_root=False):
    """Joints that each hang on one of the three before it, with tips at the last ones; all kinds of joints."""
    random = Random(seed)
    kinds = [kind for kind in RANDOM if kind is not Locked]
    joints = [
        Joint(
            f"joint {i}",
            random_direction(random) * random.uniform(0.3, 1.0),
            random_rotation(random),
            Free() if not i and moves_root else RANDOM[random.choice(kinds)](random),
        )
        for i in range(count)
    ]
    parents = [i - random.randint(1, min(i, 3)) if i else -1 for i in range(count)]
    ends = range(count - tips, count)
    return Tree(
        joints,
        parents,
        [TreeTip(i, random_direction(random), random_rotation(random), 3.0) for i in ends],
        moves_root,
    )


def rest_of(tree, count):
    """Every joint as near to rest as its limits allow, the root at the origin."""
    angles = np.repeat(np.clip(0.0, tree.lower, tree.upper), count, 1)
    one = np.array((1.0, 0.0, 0.0, 0.0))[None, :, None]
    balls, held = np.tile(one, (len(tree.balls), 1, count)), np.tile(one, (len(tree.held), 1, 1))
    place = np.zeros((3, count if tree.moves_root else 1))
    return States(tree.inside(angles), balls, held, HERE.copy(), place)


def body():
    """A trunk of two joints with two arms of three limited joints, on a root that moves."""
    limits = EulerLimits("XYZ", (-1.2, -0.8, -1.0), (1.2, 0.8, 1.0))
    left, right = Hinge((0.0, 0.0, 1.0), 0.0, 2.5), Hinge((0.0, 0.0, 1.0), -2.5, 0.0)
    freedoms = [Free(), limits, limits, left, limits, limits, right, limits]
    offsets = [
        (0, 0, 0),
        (0, 0.4, 0),
        (0.2, 0.4, 0),
        (0.4, 0, 0),
        (0.4, 0, 0),
        (-0.2, 0.4, 0),
        (-0.4, 0, 0),
        (-0.4, 0, 0),
    ]
    joints = [
        Joint(f"joint {i}", *each) for i, each in enumerate(zip(offsets, [Quaternion()] * 8, freedoms, strict=True))
    ]
    tips = [TreeTip(4, Vector((0.2, 0, 0)), Quaternion(), 1.0), TreeTip(7, Vector((-0.2, 0, 0)), Quaternion(), 1.0)]
    return Tree(joints, [-1, 0, 1, 2, 3, 1, 5, 6], tips, moves_root=True)


def centre_of_mass(pose):
    """Centre of mass of a body in a pose, by its segments."""
    masses = np.array([each.mass for each in pose.body.segments])
    centres = np.array([each.centre[:] for each in pose.body.segments])
    places = np.einsum("nij,nj->ni", pose.frames[:, :, :3], centres) + pose.frames[:, :, 3]
    return Vector(masses @ places / masses.sum())
