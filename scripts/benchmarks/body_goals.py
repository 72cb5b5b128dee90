# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a humanoid for the benchmark of bodies, and a second opinion on what has reached them."""

from dataclasses import replace
from math import radians

import numpy as np

from . import humanoid

NEAR, STRAIGHT = 1e-3, radians(0.5)  # of the limb's reach; [rad]
VIOLATION = 1e-4  # [rad]
SHARE = 0.3  # of these, to which is solved
FEET, HANDS = ("foot.L", "foot.R"), ("hand.L", "hand.R")
KINDS = {  # places to reach, orientations to turn to, whether feet are held, and whether the head looks
    "five places": ((*HANDS, *FEET, "head"), (), False),
    "four places with orientation": ((*HANDS, *FEET), (*HANDS, *FEET), False),
    "feet held, hands, look": ((*HANDS, *FEET), FEET, True),
}


def goals_of(figure, there, kind):
    """Tasks of reaching the poses `there`, by the tips of a kind of set."""
    from ik_triangulation.goals.from_goals import RADIAN, point_task
    from ik_triangulation.goals.orientation import AlongTask, OrientTask
    from ik_triangulation.goals.task import Level
    from ik_triangulation.kinematics.batch import Geometry

    places, turns, holds = KINDS[kind]
    tree, geometry = figure.tree, Geometry(figure.tree, there)
    length, angle, tasks = RADIAN * tree.size, np.array([SHARE * STRAIGHT]), []
    for name in places:
        number = figure.number_of[name]
        level = Level.HOLD if holds and name in FEET else Level.REACH
        near = np.array([SHARE * NEAR * tree.tips[number].reach])
        tasks.append(replace(point_task(geometry.tip(number).copy(), near), tip=number, level=level))
        if name in turns:
            rotation = geometry.tip_rotation(number).copy()
            turn = OrientTask(rotation=rotation, length=length, tolerance=angle, tip=number)
            tasks.append(replace(turn, level=level if holds else Level.TURN))
    if holds:
        number = figure.number_of["head"]
        axis = np.array(humanoid.EYES_FORWARD)[:, None]
        direction = np.einsum("ijf,jk->if", geometry.tip_rotation(number), axis)
        look = AlongTask(axis=axis, direction=direction, length=length, tolerance=angle, tip=number)
        tasks.append(replace(look, level=Level.REACH))
    return tasks


def judge(figure, states, tasks):
    """Distance of each place task, as a share of the limb's reach, angle [rad] of each other task, and violation (F).

    Computed apart from the package, from the angles alone.
    """
    from ik_triangulation.goals.orientation import AlongTask
    from ik_triangulation.goals.task import PlaceTask

    frames = humanoid.forward(figure, states)
    far, turned = [], []
    for task in tasks:
        tip = figure.tips[task.tip]
        frame = frames[tip.joint]
        if isinstance(task, PlaceTask):
            place = np.einsum("fij,j->fi", frame[:, :, :3], np.array(tip.place[:])) + frame[:, :, 3]
            far.append(np.linalg.norm(place - task.target.place.T, axis=1) / figure.reach(tip.name))
        elif isinstance(task, AlongTask):
            now = np.einsum("fij,j->fi", frame[:, :, :3], task.axis[:, 0])
            sine = np.linalg.norm(np.cross(now, task.direction.T), axis=1)
            turned.append(np.arctan2(sine, (now * task.direction.T).sum(1)))
        else:
            away = np.einsum("fij,jkf->fik", frame[:, :, :3].swapaxes(1, 2), task.rotation)
            sine = 0.5 * np.linalg.norm(
                [away[:, 2, 1] - away[:, 1, 2], away[:, 0, 2] - away[:, 2, 0], away[:, 1, 0] - away[:, 0, 1]], axis=0
            )
            turned.append(np.arctan2(sine, 0.5 * (np.trace(away, axis1=1, axis2=2) - 1.0)))
    tree = figure.tree
    violation = np.maximum(tree.lower - states.angles, states.angles - tree.upper).max(0)
    return np.array(far), np.array(turned), violation


def reached_of(judged):
    """Which sets are reached (F)."""
    far, turned, violation = judged
    within = (far <= NEAR).all(0) & (violation <= VIOLATION)
    return within & (turned <= STRAIGHT).all(0) if len(turned) else within


def stands(figure, count):
    """So many states of the relaxed stand."""
    from ik_triangulation.kinematics.body import states_of

    return states_of([humanoid.standing(figure)] * count)


def random_path(figure, seed, frames=120, keys=5, share=0.6):
    """States along a smooth path through random poses, from the relaxed stand on."""
    from ik_triangulation.kinematics.batch import States
    from ik_triangulation.kinematics.batch.algebra import exponential

    random, tree, begin = np.random.default_rng(seed), figure.tree, stands(figure, 1)
    angles = tree.lower + random.random((tree.angles, keys)) * (tree.upper - tree.lower)
    angles = begin.angles + share * (angles - begin.angles)
    turns, places = 0.5 * random.normal(size=(3, keys)), random.uniform(-0.4, 0.4, (3, keys))
    angles[:, 0], turns[:, 0], places[:, 0] = begin.angles[:, 0], 0.0, 0.0
    along = np.linspace(0.0, keys - 1.0, frames)
    at = np.minimum(along.astype(int), keys - 2)
    part = along - at
    part = part * part * (3.0 - 2.0 * part)

    def mixed(values):
        return values[:, at] * (1.0 - part) + values[:, at + 1] * part

    return States(mixed(angles), exponential(mixed(turns))[None], begin.held, begin.root, mixed(places))


def crouch(figure, frames=120, floor=0.02):
    """The stand as a reference (F), and the tasks of a crouch: feet held, both hands to the floor and back; balance."""
    from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
    from ik_triangulation.goals.task import Level
    from ik_triangulation.kinematics.batch import Geometry

    stand = humanoid.standing(figure)
    reference, placed = stands(figure, frames), stand.frames[..., None]
    tasks, geometry = hold_tasks(figure, FEET, placed), Geometry(figure.tree, reference.take([0]))
    along = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
    for name, side in zip(HANDS, (1.0, -1.0), strict=True):
        number = figure.number_of[name]
        begin, end = geometry.tip(number), np.array([[side * 0.22], [-0.42], [floor]])
        near = np.array([SHARE * NEAR * figure.reach(name)])
        tasks.append(replace(point_task(begin + (end - begin) * along, near), tip=number, level=Level.REACH))
    return reference, tasks, balance_of(figure, FEET, placed)


def half_frames(figure, states):
    """The states in the middle between two frames, as keys are interpolated."""
    from ik_triangulation.solvers.natural.posture import Posture

    posture = Posture(figure.tree, states.take(slice(len(states) - 1)))
    return posture.states(0.5 * posture.offsets(states.take(slice(1, len(states)))))
