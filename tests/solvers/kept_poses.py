# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses that solvers gave, kept in tests/data/kept_poses.json, and the cases that they are of.

No other test notices a tuned number that is another one, as every pose is within limits and at its goal all the same.

    python -m tests.solvers.kept_poses [NAME ...]

renews the table, or of it the cases whose names begin so, and says which poses have moved and by how much. Do that in
a change that is to alter poses, after you have looked at why each of these has moved; never to have a test pass. Cases
that rounding could turn into another pose, on another machine or version of numpy, are left out.
"""

import json
import sys
from dataclasses import replace
from functools import partial
from math import degrees, radians
from pathlib import Path
from random import Random

import bpy  # isort: skip  # noqa: F401  first: mathutils cannot be found before it
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Direction, Effort, Goal, LookAt, Orientation, Point, Pole
from ik_triangulation.goals.comfort import PoleTask
from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
from ik_triangulation.goals.orientation import LookTask, OrientTask
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics import BodyPose, Cone, EulerLimits, Free, Hinge, Pose
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import (
    angles_between,
    compose,
    exponential,
    lengths,
    matrices,
    rotation_vectors,
)
from ik_triangulation.kinematics.body import poses_of_body, states_of
from ik_triangulation.kinematics.rotation import about
from ik_triangulation.motion.faded_path import faded_path
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers import solve, solve_body
from ik_triangulation.solvers.body.clearing import cleared, pushed_out
from ik_triangulation.solvers.body.floor import floor_of
from ik_triangulation.solvers.body.solve_body import BodyFollower
from ik_triangulation.solvers.body.thickness import thickness_of
from ik_triangulation.solvers.natural import LimbForm, followed, natural_pose, trailing
from ik_triangulation.solvers.natural.one_trade import trade_one
from ik_triangulation.solvers.natural.soft_edge import Pace
from ik_triangulation.solvers.natural.solving import swivelled
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET

from ..chains import GENERAL, hinged, limited, mixed, random_base, random_chain, random_direction, random_pose
from .body.test_clearing import BODY, THROUGH, figure, reaching
from .natural.arms import arm, motion, natural_path
from .natural.motions import CHAINS, TOLERANCE, Motion
from .natural.test_one_trade import drag

TABLE = Path(__file__).resolve().parents[1] / "data" / "kept_poses.json"
UNIT = 1e-4  # [rad], and of the size of a body for the place of its root
CLOSE = radians(0.05)  # [rad] in which a pose is the one that is kept
# Moves of the target, as shares of the reach, and angles [rad] by which a pose that is kept may move for them. The
# scalar code, in single precision, knows of the second ones only.
_STEADY = {1e-9: radians(0.005), 1e-6: radians(0.03)}

_FRAMES = 9
_KEPT = np.array([2, 4, 7])  # of these, those in the table
_WRIST = EulerLimits("YXZ", (-1.0, -2.6, -1.0), (1.0, 2.6, 1.0))
_LIMBS = {
    "free": [Free(), Free(), Free()],
    "cones": [Cone(2.2, -1.9, 1.9), Cone(2.7, -0.6, 0.6), _WRIST],
    "narrow": [Cone(1.2, -0.9, 0.9), EulerLimits("XYZ", (-2.7, -0.4, -0.3), (0.0, 0.4, 0.3)), Cone(0.9, -1.2, 1.2)],
    "hinge": [Cone(2.4, -2.0, 2.0), Hinge((1.0, 0.0, 0.0), -2.7, 0.0), _WRIST],
    "coned": [Cone(2.2, -1.9, 1.9), Hinge((1.0, 0.0, 0.0), -2.7, 0.0), Cone(0.8, -1.2, 1.2)],
    "hinges": [EulerLimits("YXZ", (-1.6, -1.4, -1.0), (1.0, 1.4, 1.6)), Hinge((1.0, 0.1, 0.0), -2.7, 0.1), Free()],
}
_FIGURE = humanoid.body()
_STAND = humanoid.standing(_FIGURE)
_EYES = Vector(humanoid.EYES_FORWARD)
_STAYS = Vector()
_UP = np.array([[0.0], [0.0], [1.0]])
_FORMS = LimbForm(has_end=True), LimbForm(has_end=True, flexion=Vector((0.3, -0.6, 1.0))), LimbForm(has_end=True)


def _direction(random):
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()


def cases():
    """Return by name how each case is solved, for a move (3) of its target if given, as a share of the reach.

    That returns rotations (n, 4, F) and places of the root, as shares of the size (3, F).
    """
    found = {}
    for kind, freedoms in _LIMBS.items():
        for seed in range(3):
            for goal in ("place", "turned", "beyond", "far", "pole"):
                found[f"limb {kind} {seed} {goal}"] = partial(_limb, freedoms, seed, goal)
                if kind not in ("narrow", "coned") or seed == 2:  # they take long
                    found[f"shot {kind} {seed} {goal}"] = partial(_shot_of_limb, freedoms, seed, goal)
        if kind == "cones":
            found[f"shot {kind} lap"] = partial(_shot_of_limb, freedoms, 4, "lap")
        found[f"limb {kind} two"] = partial(_limb, freedoms[:2], 5, "two")
        found[f"shot {kind} two"] = partial(_shot_of_limb, freedoms[:2], 5, "two")
    for wrist, elbow, pole in (("box", "cone", False), ("cone", "hinge", False), ("hinge", "cone", True)):
        for seed in range(4):
            found[f"drag {wrist} {elbow} {seed}"] = partial(_drag, wrist, elbow, pole, seed)
    for kind in CHAINS:
        for seed, turned in ((0, False), (1, True), (2, True)):
            found[f"chain {kind} {seed}"] = partial(_chain, kind, seed, turned)
            found[f"shot {kind} {seed}"] = partial(_shot_of_chain, kind, seed, turned)
    for name in _BODIES:
        found[f"body {name}"] = partial(_body, name)
    for name, ways in _WAYS.items():
        found[f"shot {name}"] = partial(_shot_of_body, _FIGURE, name, ways)
    for name, ways in _DOLLS.items():
        found[f"doll {name}"] = partial(_shot_of_body, _DOLL, name, ways)
    for goals in ("", "place", "turn"):
        found[f"cleared {goals}"] = partial(_cleared, goals)
    for name, ways in _DRAGGED.items():
        found[f"dragged {name}"] = partial(_dragged, ways)
    for number, build in enumerate((random_chain, hinged, limited, mixed)):
        for solver in GENERAL:
            found[f"{solver} {number}"] = partial(_method, solver, build, (), False)
        for name, soft in _SOFT.items():
            found[f"finish {number} {name}"] = partial(_method, "CCD", build, soft, True)
    for name in _LIMBS:
        found[f"soft {name}"] = partial(_swivelled, name)
    return found


_SOFT = {
    "": (),
    "orientation": (Orientation(Quaternion((0.5, 0.6, -0.3, 0.5))),),
    "pole": (Pole(Vector((1.0, -2.0, 3.0))), Effort(Vector((0.0, 0.0, -1.0)))),
    "out of reach": (Direction(Vector((0.3, 1.0, -0.2))),),
}


def _method(solver, build, soft, finish, move=_STAYS):
    """A pose by some steps of a published method; or by one and the finish, with its restarts and soft goals."""
    random, chain = Random(7), build(17, 4, 3.0)
    pose = random_pose(chain, random, random_base(random))
    away = 1.4 if soft is _SOFT["out of reach"] else 0.6
    place = pose.head(0) + (random_direction(random) * away + move) * chain.reach
    return _of_pose(
        solve(pose, Point(place), solver=solver, soft=soft, iterations=1 if finish else 4, finish=finish).pose
    )


def _larger(chain, unit):
    """The same chain in another unit of length."""
    joints = [replace(joint, offset=unit * joint.offset) for joint in chain.joints]
    return replace(chain, joints=joints, tip=unit * chain.tip)


def _limb(freedoms, seed, goal, move=_STAYS, unit=1.0):
    """A single pose of a limb by the scalar code."""
    random = Random(seed)
    chain = _larger(arm(seed, freedoms, len(freedoms)), unit)
    bent = [Quaternion(), about(Vector((1.0, 0.0, 0.0)), -0.7), Quaternion()]
    reference = Pose(chain, Matrix.Identity(4), bent[: len(freedoms)])
    reference.project()
    there = reference.copy()
    for i, joint in enumerate(chain.joints):
        there.put(i, joint.freedom.nearest(about(_direction(random), random.uniform(0.2, 0.9)) @ there.rotations[i]))
    place, soft = there.tip + move * chain.reach, []
    if goal in ("turned", "pole"):
        soft.append(Orientation(there.tip_rotation))
    if goal == "beyond":
        soft.append(Orientation(about(_direction(random), 1.6) @ there.tip_rotation))
    if goal == "far":
        place = reference.head(0) + (place - reference.head(0)).normalized() * chain.reach * random.uniform(0.98, 1.3)
        soft.append(Orientation(about(_direction(random), 0.7) @ there.tip_rotation))
    if goal == "pole":
        soft.append(Pole(reference.head(0) + 2.0 * unit * _direction(random), angle=random.uniform(-1.0, 1.0)))
    natural_pose(reference, Goal(Point(place), tuple(soft), 1e-4 * chain.reach), _FORMS[seed % len(_FORMS)])
    return _of_pose(reference)


def _drag(wrist, elbow, pole, seed, move=_STAYS):
    """Poses of a limb that is dragged, whose hand is told more than its wrist can do: a leap avoided, and a trade."""
    reference, before, last, goal = drag(seed, wrist, elbow, pole)
    place = goal.target.location + move * reference.chain.reach
    goal = goal._replace(target=Point(place))
    poses = [trade_one(reference, goal, _FORMS[0], before, last, place, None, 2.5)]
    poses.append(followed(reference, goal, _FORMS[0], poses[0], goal) or poses[0])
    natural = poses[0].copy()
    natural_pose(natural, last, _FORMS[0])
    poses.append(trailing(reference, last, _FORMS[0], poses[0], goal, natural))
    return np.concatenate([_of_pose(pose)[0] for pose in poses], -1), np.zeros((3, 3))


def _of_pose(pose):
    return np.array([rotation[:] for rotation in pose.rotations])[:, :, None], np.zeros((3, 1))


def _shot_of_limb(freedoms, seed, goal, move=_STAYS, unit=1.0):
    """A shot of a limb by the arrays; of seed 2 with a soft edge of its reach."""
    random = np.random.default_rng(seed)
    chain = _larger(arm(seed, freedoms, len(freedoms)), unit)
    tree, there = motion(chain, seed, _FRAMES)
    if goal == "lap":  # whose last frame is the first one
        there = there.take(np.arange(_FRAMES - 1))
    geometry, size, count = Geometry(tree, there), tree.size, len(there)
    places, turns = geometry.tip() + np.array(move)[:, None] * size, geometry.tip_rotation().copy()
    if goal in ("far", "two"):
        places = places * np.linspace(0.9, 1.3, count) * size / lengths(places)
    tasks, angle = [point_task(places, np.array([TOLERANCE * size]))], np.array([radians(0.5)])
    if goal in ("beyond", "far", "lap"):
        leaning = np.sin(np.linspace(0.0, 3.0, count)) * 1.3 * random.normal(size=(3, 1))
        turns = compose(turns, matrices(exponential(leaning)))
    if goal not in ("place", "two"):
        tasks.append(OrientTask(length=0.3 * size, tolerance=angle, rotation=turns))
    if goal == "pole":
        pole = 2.0 * size * random.normal(size=(3, 1))
        tasks.append(PoleTask(location=pole, angle=np.array([0.4]), length=0.3 * size, tolerance=angle))
    pace = Pace(24.0) if seed == 2 or goal == "two" else None
    more = {"smoothing": 0.3 * (seed % 3), "cyclic": goal == "lap", "edge": pace}
    form, reference = _FORMS[seed % len(_FORMS)], tree.rotations(there.take([0]))
    found = natural_path(tree, there, tasks, reference, form, fps=24.0, **more)
    return tree.rotations(found.states)[..., _KEPT], np.zeros((3, len(_KEPT)))


def _swivelled(name, move=_STAYS, unit=1.0):
    """A shot of a limb of which limits count softly."""
    chain = _larger(arm(3, _LIMBS[name]), unit)
    tree, there = motion(chain, 3, _FRAMES)
    places = Geometry(tree, there).tip() + np.array(move)[:, None] * tree.size
    tasks = [point_task(places, np.array([TOLERANCE * tree.size]))]
    reference = np.repeat(tree.rotations(there.take([0])), _FRAMES, -1)
    return swivelled(tree, there, tasks, reference, _FORMS[1])[..., _KEPT], np.zeros((3, len(_KEPT)))


def _chain(kind, seed, turned, move=_STAYS, unit=1.0):
    """A single pose of a chain by the scalar code."""
    random, chain = Random(seed), _larger(CHAINS[kind], unit)
    pose = chain.rest_pose()
    there = pose.copy()
    for i, joint in enumerate(chain.joints):
        pose.put(i, joint.freedom.nearest(about(_direction(random), 0.1)))
        there.put(i, joint.freedom.nearest(about(_direction(random), 0.4)))
    soft = (Orientation(there.tip_rotation),) if turned else ()
    natural_pose(pose, Goal(Point(there.tip + move * chain.reach), soft, 1e-4 * chain.reach))
    return _of_pose(pose)


def _shot_of_chain(kind, seed, turned, move=_STAYS, unit=1.0):
    made = Motion.of(_larger(CHAINS[kind], unit), seed, _FRAMES, bend=25.0)
    tasks = made.tasks(turned)
    tasks[0] = tasks[0].to_points(tasks[0].target.place + np.array(move)[:, None] * made.tree.size)
    found = natural_path(made.tree, made.states, tasks, made.reference(("first", "rest", "keyed")[seed]))
    return made.tree.rotations(found.states)[..., _KEPT], np.zeros((3, len(_KEPT)))


# Ways of tips [m] from where they are in the stand; with "head" that of what the head looks at.
_BODIES = {
    "cup": {"hand.L": (0.1, -0.5, 0.2)},
    "across": {"hand.R": (0.6, -0.45, 0.35), "head": (0.5, -1.5, -0.2)},
    "shelf": {"hand.L": (0.0, -0.3, 1.2), "hand.R": (0.0, -0.3, 1.1)},
    "floor": {"hand.L": (0.0, -0.45, -0.6)},
    "behind": {"hand.R": (-0.2, 0.6, 0.3), "head": (-1.0, 1.5, 0.2)},
    "far": {"hand.L": (0.3, -1.6, 0.1)},
    "step": {"foot.L": (0.1, -0.4, 0.1), "hand.R": (0.0, -0.5, 0.4)},
    "torn": {"hand.L": (0.9, -0.6, 0.2), "hand.R": (-1.1, -0.5, 0.5)},
    "astray": {"hand.L": (0.3, -0.7, 0.1), "hand.R": (0.0, -1.4, 0.1)},
}


def _body(name, move=_STAYS):
    """A single pose of a body."""
    goals = {}
    for tip, way in _BODIES[name].items():
        place = _STAND.tip(tip) + Vector(way) + move * _FIGURE.tree.size
        turned = (Orientation(Quaternion((0.3, 0.2, 1.0), 0.9) @ _STAND.tip_rotation(tip)),) if name == "torn" else ()
        goals[tip] = LookAt(place, _EYES) if tip == "head" else Goal(Point(place), turned, 1e-3)
    hold, start = [foot for foot in FEET if foot not in goals], _STAND
    if name == "astray":
        (start,) = poses_of_body(_FIGURE, humanoid.random_states(_FIGURE, 1, np.random.default_rng(4)))
    more = {"balance": name != "step", "follow": name == "cup", "reference": _STAND}
    return _of_body(_FIGURE, states_of([solve_body(start, goals, hold=hold, **more).pose]), np.arange(1))


# Ways of tips from where they are in the stand, to which they go and come back; held feet unless they go themselves.
_WAYS = {
    "crouch": {"hand.L": (0.0, -0.4, -0.55), "hand.R": (0.0, -0.4, -0.5)},
    "out of reach": {"hand.L": (0.3, -1.8, 0.3)},
    "walk": {"foot.L": (0.0, -0.5, 0.12), "foot.R": (0.0, 0.0, 0.0), "hand.R": (0.0, -0.6, 0.3)},
    "hang": {"hand.L": (0.1, -0.2, 1.9), "hand.R": (-0.1, -0.2, 1.9)},
}


# The same of a figure with free joints and an anatomy, from its T-pose.
_DOLL = replace(figure(head=(0.0, -0.02, 0.2)), hips_motion="FREE")
_BENT = {  # of its joints about X, Y and Z [rad], not quite even, so that rounding does not tell where it goes
    2: (0.1, 0.5, 0.05),
    3: (0.0, 0.1, -0.5),
    5: (0.1, -0.45, -0.1),
    6: (0.0, -0.15, 0.55),
    8: (-0.3, 0.0, 0.05),
    9: (0.5, 0.0, 0.0),
    10: (-0.2, 0.0, 0.0),
    11: (-0.25, 0.0, -0.1),
    12: (0.45, 0.0, 0.0),
    13: (-0.2, 0.0, 0.0),
}
_DOLL_STANDS = BodyPose(
    _DOLL,
    Matrix.Identity(4),
    [Euler(_BENT.get(number, (0.0, 0.0, 0.0))).to_quaternion() for number in range(len(_DOLL.joints))],
)
_DOLLS = {
    "through the chest": {"tip 2": (-0.95, 0.03, -0.15)},
    "to the floor": {"tip 2": (-0.5, -0.45, -1.1), "tip 5": (0.5, -0.45, -1.1)},
    "to a shelf": {"tip 5": (0.4, -0.3, 0.6), "head": (0.5, -1.0, 0.2)},
    "far ahead": {"tip 2": (-0.5, -1.5, 0.1)},
    "step": {"tip 8": (0.0, -0.5, 0.1), "tip 11": (0.0, 0.0, 0.0)},
    "sit": {},
}


def _shot_of_body(body, name, ways, move=_STAYS):
    """A shot of a body, whose feet are held unless they go themselves."""
    tree, rest = body.tree, _STAND if body is _FIGURE else _DOLL_STANDS
    share = np.sin(np.linspace(0.0, np.pi, 5))
    reference, placed = states_of([rest] * 5), rest.frames[..., None]
    if name == "sit":
        reference.place = reference.place - np.array([[0.0], [-0.1], [0.4]]) * share
    feet = [tip.name for tip in body.tips if tip.name in (*FEET, "tip 8", "tip 11")]
    hold = [] if name == "hang" else [foot for foot in feet if foot not in ways]
    geometry, tasks = Geometry(tree, reference), hold_tasks(body, hold, placed)
    for tip, way in ways.items():
        number = body.number_of[tip]
        places = geometry.tip(number) + np.array(way)[:, None] * share + np.array(move)[:, None] * tree.size
        near = np.array([1e-3])
        if tip == "head":
            eyes = np.array(_EYES)[:, None]
            task = LookTask(
                point=places + eyes * (1.0 - share),
                axis=eyes,
                up=_UP,
                length=0.3 * tree.size,
                tolerance=near,
                tip=number,
            )
        else:
            task = replace(point_task(places, near), tip=number, level=Level.REACH)
        tasks.append(task)
    heads = []
    if "head" not in ways and body is _DOLL:
        eyes, number = np.array(_EYES)[:, None], body.number_of["head"]
        heads.append(LookTask(point=eyes, axis=eyes, up=_UP, length=0.3, tolerance=np.array([1e-3]), tip=number))
    shot = Shot(
        tree=tree,
        reference=reference,
        tasks=tasks,
        steady=balance_of(body, hold, placed) if hold and name != "sit" else None,
        floor=floor_of(body, hold, placed, geometry) if hold else None,
        thickness=thickness_of(body, 1.0),
        heads=heads,
        soft=[body.number_of[tip] for tip in ways] if name in ("out of reach", "far ahead") else (),
        fps=12.0,
    )
    return _of_body(body, finished(faded_path(shot)).states, np.array([1, 2, 3]))


def _cleared(goals, move=_STAYS):
    """A shot of a body whose arm goes through its trunk, cleared; and one of its poses pushed out."""
    tree, states, thickness = BODY.tree, reaching(THROUGH), thickness_of(BODY, 1.0)
    geometry, near = Geometry(tree, states), np.array([1e-3])
    tasks = [point_task(geometry.tip(0) + np.array(move)[:, None] * tree.size, near)] if goals else []
    if goals == "turn":
        tasks.append(OrientTask(rotation=geometry.tip_rotation(0), length=0.1, tolerance=near))
    moved = finished(cleared(tree, states, thickness, tasks, 24.0, 0.3))
    one = np.array([8])
    moved.put(one, pushed_out(tree, states.take(one), thickness.take(one), [task.take(one) for task in tasks]))
    return _of_body(BODY, moved, np.array([5, 8, 11]))


_DRAGGED = {"aside": (0.4, -0.2, 0.0), "down": (0.0, -0.4, -0.75), "away": (0.0, -1.6, 0.2)}


def _dragged(way, move=_STAYS):
    """A body whose hand is dragged, move by move."""
    tree, placed, number = _FIGURE.tree, _STAND.frames[..., None], _FIGURE.number_of["hand.L"]
    reference = states_of([_STAND])
    held, steady = hold_tasks(_FIGURE, FEET, placed), balance_of(_FIGURE, FEET, placed)
    follower, states, begin = BodyFollower(tree, reference, held, steady), reference, Geometry(tree, reference)
    for part in np.linspace(0.1, 1.0, 8):
        place = begin.tip(number) + (part * np.array(way) + np.array(move) * tree.size)[:, None]
        states = follower.moved(states, [replace(point_task(place, np.array([1e-3])), tip=number, level=Level.REACH)])
    return _of_body(_FIGURE, states, np.arange(1))


def _of_body(body, states, frames):
    tree = body.tree
    moving = np.unique(tree.joint_of)
    places = np.broadcast_to(states.place, (3, len(states))) / tree.size
    return tree.rotations(states)[moving][..., frames], places[:, frames]


def _in_units(rotations, places):
    """Rotation vectors (n, 3, F) and places of the root (3, F) in units of the table."""
    return [np.rint(each / UNIT).astype(int) for each in (rotation_vectors(rotations), places)]


def difference(kept, rotations, places):
    """The largest angle [rad] from the rotations in a row of the table, or way of the root as a share of the size."""
    turns, root = (np.array(each, float) * UNIT for each in kept)
    turned = angles_between(exponential(turns.reshape(-1, 3, rotations.shape[-1])), rotations)
    return max(float(turned.max()), float(np.abs(root.reshape(places.shape) - places).max()))


def table():
    """The kept poses by the names of their cases: numbers of rotation vectors, and of places of the root."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def _renew(names):
    before, rows, left_out = table() if TABLE.exists() else {}, {}, []
    for name, case in cases().items():
        if names and not name.startswith(names):
            rows |= {name: before[name]} if name in before else {}
            continue
        pose = case()
        random = Random(name)
        near = {size: [case(_direction(random) * size) for _ in range(2)] for size in _STEADY}
        turned = {size: max(float(angles_between(pose[0], each[0]).max()) for each in near[size]) for size in near}
        if any(turned[size] > most for size, most in _STEADY.items()):
            left_out.append(f"{name}: {', '.join(f'{degrees(each):.4f}' for each in turned.values())} degrees")
            continue
        rows[name] = [each.ravel().tolist() for each in _in_units(*pose)]
        moved = difference(before[name], *pose) if name in before else 0.0
        if moved > CLOSE:
            print(f"{name}: moved by {degrees(moved):.2f} degrees")
    lines = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} poses kept, {len(rows.keys() - before.keys())} of them new; left out as unsteady:")
    print("\n".join(left_out))


if __name__ == "__main__":
    _renew(tuple(sys.argv[1:]))
