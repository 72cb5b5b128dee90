# SPDX-License-Identifier: GPL-3.0-or-later
"""The peer of the benchmark of bodies: mink, with all tips as weighted tasks and limits as constraints."""

from time import process_time

import numpy as np

from .arm_peer import HOW_TO_GET_IT, installed
from .humanoid import TIPS

__all__ = ["HOW_TO_GET_IT", "installed", "solve"]

STEPS = 200
CONVERGED = 1e-7  # [m, rad] step below which a start has ended
AXES = np.eye(3)


def description(figure):
    """The body in MuJoCo's own language: a hinge for each angle, the last one of the order first."""
    children = {}
    for number, parent in enumerate(figure.parents):
        children.setdefault(parent, []).append(number)

    def body(number):
        joint = figure.joints[number]
        text = f'<body pos="{" ".join(map(str, joint.offset))}">'
        if number == 0:
            text += "<freejoint/>"
        else:
            for axis in (2, 1, 0):
                low, high = joint.freedom.lower[axis], joint.freedom.upper[axis]
                if high > low:
                    turn = " ".join(map(str, AXES[axis]))
                    text += f'<joint name="{number} {axis}" axis="{turn}" range="{low} {high}"/>'
        text += '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        for tip in figure.tips:
            if tip.joint == number:
                text += f'<site name="{tip.name}" pos="{" ".join(map(str, tip.place))}"/>'
        return text + "".join(map(body, children.get(number, ()))) + "</body>"

    inside = "".join(map(body, children[-1]))
    return f'<mujoco><compiler angle="radian" autolimits="true"/><worldbody>{inside}</worldbody></mujoco>'


def solve(figure, stand, tasks, near, straight):
    """States found for sets of goals from the pose `stand`, and the seconds they took together.

    `near` and `straight` are as in the benchmark; a start ends when it is that near, or after STEPS steps.
    """
    import mink
    import mujoco

    from ik_triangulation.goals.orientation import AlongTask
    from ik_triangulation.goals.task import PlaceTask
    from ik_triangulation.kinematics.body import states_of

    model = mujoco.MjModel.from_xml_string(description(figure))
    rows = _rows(figure, model)
    begin = states_of([stand])
    q0 = np.zeros(model.nq)
    q0[:3] = np.array(stand.head(0)[:])
    q0[3:7] = begin.balls[0, :, 0]
    q0[rows] = begin.angles[:, 0]
    configuration = mink.Configuration(model)
    limits, count = [mink.ConfigurationLimit(model, gain=1.0)], _count(tasks)
    found, places, turns = [], [], []
    spent = 0.0
    for n in range(count):
        wanted, here = [], [task.take([n]) for task in tasks]
        for name in TIPS:
            of = [task for task in here if figure.tips[task.tip].name == name]
            place = next((task.target.place[:, 0] for task in of if isinstance(task, PlaceTask)), None)
            look = next((task for task in of if isinstance(task, AlongTask)), None)
            turn = next((task.rotation[..., 0] for task in of if hasattr(task, "rotation")), None)
            if look is not None:
                turn = _looking(look.axis[:, 0], look.direction[:, 0])
            if place is None and turn is None:
                continue
            cost = 0.3 * np.ones(3) if turn is not None else 0.0
            if look is not None:
                cost = 0.3 * (1.0 - np.abs(look.axis[:, 0]))
            task = mink.FrameTask(name, "site", 1.0 if place is not None else 0.0, cost, lm_damping=1e-3)
            rotation = mink.SO3.from_matrix(np.eye(3) if turn is None else turn)
            task.set_target(mink.SE3.from_rotation_and_translation(rotation, np.zeros(3) if place is None else place))
            wanted.append((task, place is not None, cost, figure.reach(name)))
        begun = process_time()
        configuration.update(q0)
        for _ in range(STEPS):
            if all(_met(task.compute_error(configuration), *more, near, straight) for task, *more in wanted):
                break
            try:
                step = mink.solve_ik(configuration, [t for t, *_ in wanted], 1.0, "daqp", damping=1e-6, limits=limits)
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(step, 1.0)
            if np.abs(step).max() < CONVERGED:
                break
        spent += process_time() - begun
        found.append(configuration.q[rows].copy())
        places.append(configuration.q[:3] - np.array(figure.joints[0].offset[:]))
        turns.append(configuration.q[3:7].copy())
    states = states_of([stand] * count)
    states.angles, states.place = np.array(found).T, np.array(places).T
    states.balls = np.array(turns).T[None].copy()
    return states, spent


def _met(error, is_placed, cost, reach, near, straight):
    place = np.linalg.norm(error[:3]) <= near * reach if is_placed else True
    return place and np.linalg.norm(error[3:] * (np.asarray(cost) > 0.0)) <= straight


def _looking(axis, direction):
    """A rotation that turns an axis to a direction."""
    cross, cosine = np.cross(axis, direction), float(axis @ direction)
    if cosine < -0.999999:
        other = np.cross(axis, AXES[np.abs(axis).argmin()])
        other /= np.linalg.norm(other)
        return 2.0 * np.outer(other, other) - np.eye(3)
    skew = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.eye(3) + skew + skew @ skew / (1.0 + cosine)


def _rows(figure, model):
    """Index in MuJoCo's coordinates of each angle of the body's tree."""
    rows, tree, seen = [], figure.tree, {}
    for joint in tree.joint_of[: tree.angles].tolist():
        freedom = figure.joints[joint].freedom
        axes = [axis for axis in range(3) if freedom.upper[axis] > freedom.lower[axis]]
        axis = axes[seen.get(joint, 0)]
        seen[joint] = seen.get(joint, 0) + 1
        rows.append(model.joint(f"{joint} {axis}").qposadr[0])
    return np.array(rows)


def _count(tasks):
    return max(task.target.place.shape[-1] for task in tasks if hasattr(task, "target"))
