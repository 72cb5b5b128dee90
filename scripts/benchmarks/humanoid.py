# SPDX-License-Identifier: GPL-3.0-or-later
"""A humanoid of thirty bones with limits of a human body, 1.75 m tall, facing -Y, at rest with its arms held out.

Its bones have no rest rotations, so that X bends knees, and angles are about the axes of armature space. Everything is
made when asked for: the package can be imported only then.
"""

from math import radians

import numpy as np

HEIGHT = 0.95  # of the hips above the floor
EYES_FORWARD = 0.0, -1.0, 0.0

# Name: parent, head from the parent's head [m], and least and greatest angles about X, Y and Z [degrees].
TRUNK = {
    "pelvis": (None, (0, 0, HEIGHT), None),
    "spine 1": ("pelvis", (0, 0.02, 0.1), ((-30, 20), (-20, 20), (-20, 20))),
    "spine 2": ("spine 1", (0, 0, 0.11), ((-30, 20), (-20, 20), (-20, 20))),
    "spine 3": ("spine 2", (0, 0, 0.11), ((-25, 15), (-15, 15), (-20, 20))),
    "spine 4": ("spine 3", (0, 0, 0.11), ((-20, 15), (-15, 15), (-20, 20))),
    "neck 1": ("spine 4", (0, 0.02, 0.12), ((-30, 30), (-20, 20), (-35, 35))),
    "neck 2": ("neck 1", (0, 0, 0.06), ((-30, 30), (-20, 20), (-35, 35))),
    "head": ("neck 2", (0, 0, 0.06), ((-25, 25), (-15, 15), (-20, 20))),
}
# The left side; X changes its sign on the right, and so do angles about Y and Z.
SIDE = {
    "clavicle": ("spine 4", (0.03, 0, 0.07), ((0, 0), (-25, 10), (-20, 20))),
    "upper arm": ("clavicle", (0.15, 0, 0), ((-70, 80), (-80, 85), (-130, 40))),
    "forearm": ("upper arm", (0.29, 0, 0), ((0, 0), (0, 0), (-145, 0))),
    "wrist": ("forearm", (0.13, 0, 0), ((-85, 85), (0, 0), (0, 0))),
    "hand": ("wrist", (0.12, 0, 0), ((0, 0), (-75, 75), (-20, 30))),
    "finger 1": ("hand", (0.09, 0, 0), ((0, 0), (-10, 90), (0, 0))),
    "finger 2": ("finger 1", (0.04, 0, 0), ((0, 0), (0, 100), (0, 0))),
    "thigh": ("pelvis", (0.1, 0, -0.04), ((-125, 20), (-45, 25), (-45, 45))),
    "shin": ("thigh", (0, 0, -0.43), ((0, 150), (0, 0), (0, 0))),
    "foot": ("shin", (0, 0, -0.42), ((-35, 50), (-25, 25), (-20, 20))),
    "toe": ("foot", (0, -0.13, -0.045), ((-60, 40), (0, 0), (0, 0))),
}
TIPS = {  # name: bone, place from its head, points that stand on the floor
    "hand.L": ("hand.L", (0.09, 0, 0), ()),
    "hand.R": ("hand.R", (-0.09, 0, 0), ()),
    "foot.L": ("foot.L", (0, -0.13, -0.045), ((0, 0.06, -0.06), (0.04, -0.13, -0.06), (-0.04, -0.13, -0.06))),
    "foot.R": ("foot.R", (0, -0.13, -0.045), ((0, 0.06, -0.06), (0.04, -0.13, -0.06), (-0.04, -0.13, -0.06))),
    "head": ("head", (0, -0.02, 0.17), ()),
}
# Angles of a relaxed stand [degrees], for the left side.
STAND = {
    "upper arm": (0, 72, -8),
    "forearm": (0, 0, -12),
    "thigh": (-4, 0, 0),
    "shin": (8, 0, 0),
    "foot": (-4, 0, 0),
}


def bones():
    """Name of each bone, with its parent, its head and its ranges, parents first."""
    found = dict(TRUNK)
    for name, (parent, head, ranges) in SIDE.items():
        for side in "LR":
            above = f"{parent}.{side}" if parent in SIDE else parent
            found[f"{name}.{side}"] = above, _mirrored(head, side), _mirrored_ranges(ranges, side)
    return found


def body(hips_motion="FREE"):
    """The humanoid as the package's Body."""
    from mathutils import Quaternion, Vector

    from ik_triangulation.kinematics import Body, BodyTip, EulerLimits, Free, Joint

    table = bones()
    numbers = {name: number for number, name in enumerate(table)}
    joints = []
    for name, (_, head, ranges) in table.items():
        lower, upper = ([radians(each[end]) for each in ranges or ()] for end in (0, 1))
        freedom = EulerLimits("XYZ", lower, upper) if ranges else Free()
        joints.append(Joint(name, Vector(head), Quaternion(), freedom))
    parents = [-1 if parent is None else numbers[parent] for parent, _, _ in table.values()]
    tips = [
        BodyTip(name, numbers[bone], Vector(place), contacts=tuple(map(Vector, contacts)))
        for name, (bone, place, contacts) in TIPS.items()
    ]
    return Body(tuple(joints), tuple(parents), tuple(tips), hips_motion)


def standing(figure):
    """The pose of a relaxed stand, feet on the floor."""
    from mathutils import Euler, Matrix, Quaternion

    from ik_triangulation.kinematics import BodyPose

    rotations = []
    for joint in figure.joints:
        name, _, side = joint.name.partition(".")
        x, y, z = map(radians, STAND.get(name, (0, 0, 0)))
        sign = -1.0 if side == "R" else 1.0
        rotations.append(Euler((x, sign * y, sign * z)).to_quaternion() if name in STAND else Quaternion())
    return BodyPose(figure, Matrix.Identity(4), rotations)


def random_states(figure, count, random):
    """States of the body with every angle anywhere in its range, turned and placed at random."""
    from ik_triangulation.kinematics.batch import States

    tree = figure.tree
    angles = tree.lower + random.random((tree.angles, count)) * (tree.upper - tree.lower)
    balls = random.normal(size=(len(tree.balls), 4, count))
    balls /= np.linalg.norm(balls, axis=1, keepdims=True)
    held = np.zeros((0, 4, 1))
    return States(angles, balls, held, np.eye(3)[:, :, None], random.uniform(-1.0, 1.0, (3, count)))


def _mirrored(vector, side):
    return (-vector[0], *vector[1:]) if side == "R" else vector


def _mirrored_ranges(ranges, side):
    x, y, z = ranges
    return ranges if side == "L" else (x, (-y[1], -y[0]), (-z[1], -z[0]))


def forward(figure, states):
    """Orientation and head of each joint (n, F, 3, 4) by plain matrix products, apart from the package."""
    tree = figure.tree
    turns = np.zeros((len(figure.joints), len(states), 3))
    seen = dict.fromkeys(range(len(figure.joints)), 0)
    for row, joint in enumerate(tree.joint_of[: tree.angles].tolist()):
        freedom = figure.joints[joint].freedom
        axes = [axis for axis in range(3) if freedom.upper[axis] > freedom.lower[axis]]
        turns[joint, :, axes[seen[joint]]] = states.angles[row]
        seen[joint] += 1
    frames = np.zeros((len(figure.joints), len(states), 3, 4))
    for i, (joint, parent) in enumerate(zip(figure.joints, figure.parents, strict=True)):
        offset = np.array(joint.offset[:])
        if parent < 0:
            frames[i, :, :, :3] = _of_quaternions(states.balls[0].T)
            frames[i, :, :, 3] = states.place.T + offset
            continue
        x, y, z = (_about(axis, turns[i, :, axis]) for axis in range(3))
        frames[i, :, :, :3] = frames[parent, :, :, :3] @ (z @ y @ x)
        frames[i, :, :, 3] = frames[parent, :, :, :3] @ offset + frames[parent, :, :, 3]
    return frames


def _about(axis, angles):
    matrix = np.tile(np.eye(3), (len(angles), 1, 1))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[:, i, i] = matrix[:, j, j] = np.cos(angles)
    matrix[:, j, i], matrix[:, i, j] = np.sin(angles), -np.sin(angles)
    return matrix


def _of_quaternions(q):
    w, v = q[:, 0, None, None], q[:, 1:]
    skew = np.cross(v[:, None], -np.eye(3)[None])
    return np.eye(3) + 2.0 * (w * skew + skew @ skew)
