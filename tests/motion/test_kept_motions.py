# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of limbs and bodies are those that are kept: a change of any rule that shapes them shows (tests/kept.py)."""

from dataclasses import replace
from math import radians

import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Orientation
from ik_triangulation.goals.comfort import NearTask
from ik_triangulation.goals.from_goals import RADIAN, CarriedTask, hold_tasks, point_task
from ik_triangulation.goals.orientation import LookTask, OrientTask
from ik_triangulation.goals.task import Level, PlaceTask
from ik_triangulation.kinematics import BodyPose
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.batch.algebra import compose, exponential, matrices, rotate_back
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.faded_path import edited_path, faded_path, standing
from ik_triangulation.motion.far_goals import drawn_in, far_tips
from ik_triangulation.motion.jumps import turns_along
from ik_triangulation.motion.limb_motion import limb_motion
from ik_triangulation.motion.method import Published
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers import SolverSettings
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.body.floor import floor_of
from ik_triangulation.solvers.body.thickness import thickness_of
from ik_triangulation.solvers.natural import PLAIN_LIMB, LimbForm
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, crouch, goals_of, random_path, stands

from ..kept import check, turns
from ..solvers.body.test_clearing import figure
from ..solvers.natural.arms import arm, motion
from .shots import CHAINS, Problem, feasible_places, smooth_states

WITHIN = {"turns": 0.05, "pace": 0.05, "hips": 1e-4, "ways": 1e-4, "off": 0, "mended": 0, "steps": 0}


def seen(tree, states, met, **more):
    """What is kept of a path: largest turns to each frame, those of all joints at a few, and which frames are off."""
    some = states.take(np.unique([len(states) // 4, len(states) // 2, len(states) - 1]))
    pace = np.degrees(turns_along(tree.rotations(states)))
    return {"turns": turns(tree.rotations(some)), "pace": pace, "off": np.flatnonzero(~met), **more}


def seen_body(states, met, body=None):
    """The same of a body, and where its hips are [of the size]."""
    tree = (body or BODY).tree
    hips = np.broadcast_to(states.place, (3, len(states)))[:, ::4] / tree.size
    return seen(tree, states, met, hips=hips)


def moved(task, by):
    """A place task moved along all axes."""
    return task.to_points(task.target.place + by)


# Limbs -----------------------------------------------------------------------


def limb_shot(seed, nudge, far=0.0, turned=False, links=3, frames=40, **more):
    """An arm whose tip follows that of another motion, as a share too `far`, from its first pose all the while."""
    tree, states = motion(arm(seed, links=links), seed, frames)
    geometry = Geometry(tree, states)
    root = geometry.heads[0]
    swing = far * np.sin(np.linspace(0.0, np.pi, frames)) ** 2
    places = root + (geometry.tip() - root) * (1.0 + swing) + nudge * tree.size
    tasks = [point_task(places, np.array([1e-4 * tree.size]))]
    if turned:
        turn = OrientTask(
            rotation=geometry.tip_rotation().copy(), length=RADIAN * tree.size, tolerance=np.array([3e-4]), level=1
        )
        tasks.append(turn)
    reference = states.take(np.zeros(frames, int)).like(states)
    form = LimbForm(has_end=links == 3)
    return Shot(tree=tree, reference=reference, tasks=tasks, form=form, **more)


def limb_case(**how):
    def solve(nudge):
        shot = limb_shot(nudge=nudge, **how)
        path = finished(limb_motion(shot))
        return seen(shot.tree, path.states, path.met)

    return solve


def chain_case(kind, seed, frames=60, cut=None, far=None, near=False):
    def solve(nudge):
        places = feasible_places(CHAINS[kind], seed, frames)
        if cut:
            places[:, cut:] = places[:, cut:] * 0.8 + 0.1
        if far:
            places[:, far] *= 1.6
        problem = Problem(CHAINS[kind], places + nudge * CHAINS[kind].reach)
        path = problem.shot
        shot = Shot(tree=path.tree, reference=path.frames, tasks=path.tasks, form=PLAIN_LIMB)
        if near:
            rest = path.tree.rotations(path.frames.take([0]))
            wish = NearTask(length=1.0, tolerance=np.ones(1), level=1, tree=path.tree, rotations=rest)
            shot = replace(shot, preferences=[wish])
        found = finished(limb_motion(shot))
        return seen(path.tree, found.states, found.met)

    return solve


def published_case(kind, seed, solver, frames=60, turned=None, last=False, smoothing=0.0, far=None, cut=None):
    """A published method along a path; `turned` by an angle off the orientations that go with the path."""

    def solve(nudge):
        chain = CHAINS[kind]
        states = smooth_states(chain, seed, frames)
        geometry = Geometry(Tree.of(chain), states)
        places = geometry.tip().copy()
        if far:
            places[:, far] *= 1.6
        if cut:
            places[:, cut:] = places[:, cut:] * 0.8 + 0.1
        problem = Problem(chain, places + nudge * chain.reach, solver)
        path, goal_at = problem.shot, problem.goal_at
        tree, tasks = path.tree, path.tasks
        if turned is not None:
            off = matrices(exponential(np.array([[turned], [0.0], [0.0]])))
            rotation = compose(geometry.tip_rotation(), off)
            turn = OrientTask(rotation=rotation, length=RADIAN * tree.size, tolerance=np.array([radians(1.0)]), level=1)
            tasks = [*tasks, turn]
            wishes = [Orientation(Matrix(rotation[..., k].tolist()).to_quaternion()) for k in range(frames)]

            def goal_at(k):
                return problem.goal_at(k)._replace(soft=(wishes[k],))

        shot = Shot(tree=tree, reference=path.frames, tasks=tasks, form=PLAIN_LIMB, smoothing=smoothing)
        end = problem.first if last else None
        settings = SolverSettings(solver=solver)
        method = Published(settings, problem.first, end, False, problem.bases.__getitem__, goal_at)
        found = finished(method.solve(shot))
        return seen(tree, found.states, found.met, mended=np.flatnonzero(found.mended), steps=found.steps[::4])

    return solve


LIMBS = {
    "arm, lap": limb_case(seed=1),
    "arm, lap, 60 fps": limb_case(seed=6, fps=60.0),
    "arm, there and back": limb_case(seed=7, frames=31, part_from=0),
    "arm, smooth lap": limb_case(seed=8, smoothing=1.0),
    "arm, turned, out of reach, soft": limb_case(seed=9, far=0.5, turned=True, soft=(0,)),
    "arm, turned": limb_case(seed=2, turned=True),
    "arm, out of reach": limb_case(seed=3, far=0.9),
    "arm, out of reach, soft": limb_case(seed=3, far=0.9, soft=(0,), smoothing=0.4),
    "arm, part of a path, 60 fps": limb_case(seed=4, turned=True, frames=30, part_from=5, fps=60.0, smoothing=0.7),
    "two bones": limb_case(seed=5, links=2, far=0.3),
    **{f"chain, {kind}": chain_case(kind, 3) for kind in CHAINS},
    **{f"chain, {kind}, out of reach": chain_case(kind, 7, far=slice(20, 26)) for kind in ("free", "limits", "hinges")},
    "chain, cut": chain_case("limits", 4, cut=30),
    "chain, out of reach": chain_case("cones", 5, far=slice(20, 30)),
    "chain, near rest": chain_case("limits", 6, near=True),
}
PUBLISHED = {
    "triangulation, free": published_case("free", 1, "TRIANGULATION"),
    "triangulation, arm": published_case("arm", 2, "TRIANGULATION"),
    "triangulation, limits, cut": published_case("limits", 3, "TRIANGULATION", cut=30),
    "ccd, hinges": published_case("hinges", 4, "CCD"),
    "fabrik, cones, last": published_case("cones", 5, "FABRIK", last=True),
    "gauss-newton, limits, smooth": published_case("limits", 6, "GAUSS_NEWTON", smoothing=0.5),
    "triangulation, limits, out of reach": published_case("limits", 7, "TRIANGULATION", far=slice(20, 30)),
    "triangulation, limits, turned": published_case("limits", 9, "TRIANGULATION", turned=0.0),
    "ccd, arm, turned too far": published_case("arm", 10, "CCD", turned=0.5, frames=16),
    "gauss-newton, hinges, turned too far": published_case("hinges", 11, "GAUSS_NEWTON", turned=0.8, frames=12),
    "fabrik, cones, cut": published_case("cones", 12, "FABRIK", cut=30),
    "ccd, arm, smooth, last": published_case("arm", 8, "CCD", smoothing=1.0, last=True),
}

# Bodies ----------------------------------------------------------------------

BODY = humanoid.body()
HAND = BODY.number_of[HANDS[0]]
FEET_HELD = hold_tasks(BODY, FEET, humanoid.standing(BODY).frames[..., None])


def crouch_shot(nudge, frames=12, low=0.02, away=0.0, hips="FREE", floor=False, body=BODY, **more):
    """Hands that go to a height and back, at the same time so far away ahead."""
    body = replace(body, hips_motion=hips)
    reference, tasks, steady = crouch(body, frames, low)
    out = away * np.sin(np.linspace(0.0, np.pi, frames)) * np.array([[0.0], [-1.0], [0.0]])
    tasks = [*tasks[:4], *(moved(task, out + nudge * task.tip) for task in tasks[4:])]
    if floor:
        geometry = Geometry(body.tree, reference)
        more["floor"] = floor_of(body, FEET, geometry.frames, geometry, None)
    return Shot(tree=body.tree, reference=reference, tasks=tasks, steady=steady, **more)


def nudged(tasks, nudge):
    """The tasks with their places moved, those of each tip by something else."""
    return [moved(task, nudge * (1 + task.tip)) if isinstance(task, PlaceTask) else task for task in tasks]


def crouch_case(work=body_path, **how):
    return lambda nudge: seen_body(*finished(work(crouch_shot(nudge, **how))))


def places_case(kind, seed, names=None, frames=12, body=BODY, share=0.6):
    """Tips that go along with a random motion: all those of a kind of goals, or some of them."""

    def solve(nudge):
        way = random_path(BODY, seed, max(frames, 6), 3, share).take(np.arange(-frames, 0))
        tasks = nudged(goals_of(BODY, way, kind), nudge)
        tasks = [task for task in tasks if not names or task.tip in [BODY.number_of[name] for name in names]]
        return seen_body(*finished(body_path(Shot(tree=body.tree, reference=stands(body, frames), tasks=tasks))))

    return solve


def leaping_case(nudge):
    """Each frame has a pose of its own, to which no frame beside it leads."""
    there = humanoid.random_states(BODY, 4, np.random.default_rng(2))
    tasks = nudged(goals_of(BODY, there, "five places"), nudge)
    return seen_body(*finished(body_path(Shot(tree=BODY.tree, reference=stands(BODY, 4), tasks=tasks))))


def reach_tasks(nudge, frames, way, turn=0.0, carried=False):
    """Held feet, and a hand that goes a way and comes back, turned by an angle, or carried by the hips."""
    geometry = Geometry(BODY.tree, stands(BODY, frames))
    share = np.sin(np.pi * np.arange(frames) / (frames - 1))
    places = geometry.tip(HAND) + np.array(way)[:, None] * share + nudge * BODY.tree.size
    if carried:
        frame = geometry.frames[0]
        own = point_task(rotate_back(frame[:, :3], places - frame[:, 3]), np.array([1e-3]))
        task = CarriedTask(task=replace(own, tip=HAND, level=Level.REACH), carriers={0: np.ones(1)})
        return [*FEET_HELD, task]
    task = replace(point_task(places, np.array([1e-3])), tip=HAND, level=Level.REACH)
    if not turn:
        return [*FEET_HELD, task]
    rotation = compose(matrices(exponential(np.array([[0.0], [0.0], [turn]]) * share)), geometry.tip_rotation(HAND))
    angle = {"length": 0.3 * BODY.tree.size, "tolerance": np.array([1e-2]), "tip": HAND, "level": Level.TURN}
    return [*FEET_HELD, task, OrientTask(rotation=rotation, **angle)]


def reach_case(frames=11, body=BODY, **how):
    def solve(nudge):
        shot = Shot(tree=body.tree, reference=stands(body, frames), tasks=reach_tasks(nudge, frames, **how))
        return seen_body(*finished(body_path(shot)))

    return solve


def foot_case(nudge):
    """A frame with held feet, of which one is to be turned much farther than a leg turns, so that it is missed."""
    tasks = [task.take([1]) for task in reach_tasks(nudge, 3, (0.2, -0.5, 0.3))]
    number = next(n for n, task in enumerate(tasks) if isinstance(task, OrientTask))
    turned = compose(matrices(exponential(np.array([[1.5], [2.5], [0.0]]))), tasks[number].rotation)
    tasks[number] = replace(tasks[number], rotation=turned)
    return seen_body(*finished(body_path(Shot(tree=BODY.tree, reference=stands(BODY, 1), tasks=tasks))))


def drawn_case(frames=21, **how):
    """How far along its line a tip is to go that reaches too far, and how far it is to turn there."""

    def solve(nudge):
        reference, tasks = stands(BODY, frames), reach_tasks(nudge, frames, **how)
        far = far_tips(BODY.tree, reference, tasks)
        near = drawn_in(BODY.tree, reference, tasks, far)
        missing = np.concatenate([each.errors for each in System(BODY.tree, reference, near[4:]).measured])
        return {"off": np.flatnonzero(far[HAND]), "ways": missing[:, ::2] / BODY.tree.size}

    return solve


def standing_case(nudge):
    """Hips that go down and aside, and legs that are posed so that the feet stay."""
    reference = stands(BODY, 8)
    reference.place = reference.place - np.linspace(0.0, 0.08, 8) * np.array([[0.0], [0.3], [1.0]])
    return seen_body(finished(standing(BODY, reference, nudged(FEET_HELD, nudge), {}, 24.0)), np.ones(8, bool))


def edited_case(**how):
    def solve(nudge):
        return seen_body(*edited_path(crouch_shot(nudge, **how)))

    return solve


DOLL = replace(figure(head=(0.0, 0.0, 0.2)), hips_motion="FREE")  # of free joints; its elbows and knees have a side
BENT = [Quaternion((1.0, 0.0, 0.0), {8: -0.2, 9: 0.5, 11: -0.2, 12: 0.5}.get(n, 0.0)) for n in range(len(DOLL.joints))]
BENT[3], BENT[6] = (Quaternion((0.0, 0.0, 1.0), angle) for angle in (-0.5, 0.5))
DOLL_FEET = [DOLL.tips[number].name for number in (2, 3)]


def doll_case(work=body_path, way=(-0.25, -0.45, -0.3), frames=12, turn=0.0, feet=True, heads=False, **more):
    """The same figure in a T-pose: its left hand goes a way and comes back, its feet stay."""

    def solve(nudge):
        tree = DOLL.tree
        reference = states_of([BodyPose(DOLL, Matrix.Identity(4), BENT)] * frames)
        geometry = Geometry(tree, reference)
        share = np.sin(np.pi * np.arange(frames) / (frames - 1)) ** 2
        goal = replace(point_task(geometry.tip(0) + np.array(way)[:, None] * share + nudge, np.array([3e-4])), tip=0)
        tasks = [replace(goal, level=Level.REACH)]
        if turn:
            rotation = compose(
                matrices(exponential(np.array([[turn], [0.0], [0.0]]) * share)), geometry.tip_rotation(0)
            )
            angle = {"length": 0.3 * tree.size, "tolerance": np.array([3e-3]), "level": Level.TURN}
            tasks.append(OrientTask(rotation=rotation, **angle))
        if feet:
            tasks = [*hold_tasks(DOLL, DOLL_FEET, geometry.frames), *tasks]
        if heads:
            axis = np.array([[0.0], [-1.0], [0.0]])
            look = {"axis": axis, "point": geometry.tip(4) + 2.0 * axis, "tolerance": np.array([3e-3])}
            look["up"] = np.array([[0.0], [0.0], [1.0]])
            more["heads"] = [LookTask(length=0.3 * tree.size, tip=4, level=Level.TURN, **look)]
        return seen_body(*finished(work(Shot(tree=tree, reference=reference, tasks=tasks, **more))), DOLL)

    return solve


FADES = np.clip((np.arange(12) - 2.0) / 6.0, 0.0, 1.0)
BODIES = {
    "body, crouch": crouch_case(),
    "body, crouch, calm": crouch_case(frames=24, smoothing=0.8, fps=60.0),
    "body, crouch, out of reach, soft": crouch_case(away=1.2, soft=(HAND,), smoothing=0.5),
    "body, crouch, hips up and down": crouch_case(low=0.7, hips="UP_DOWN"),
    "body, crouch, below the floor": crouch_case(low=-0.2, floor=True),
    "body, loop": crouch_case(faded_path, frames=24),
    "body, faded in": crouch_case(faded_path, low=0.75, influence={HAND: FADES}),
    "body, edited, below the floor": edited_case(low=-0.2, floor=True),
    "body, standing": standing_case,
    "body, five places": places_case("five places", 4),
    "body, four places, turned": places_case("four places with orientation", 5),
    "body, feet held": places_case("feet held, hands, look", 6),
    "body, hands alone": places_case("five places", 7, HANDS),
    "body, feet alone": places_case("five places", 8, FEET),
    "body, single frame": places_case("five places", 9, frames=1),
    "body, leaping": leaping_case,
    "body, four places, fast": places_case("four places with orientation", 10, frames=10, share=1.0),
    "body, a foot turned too far": foot_case,
    "body, reach": reach_case(way=(0.2, -0.5, 0.3)),
    "doll": doll_case(),
    "doll, calm": doll_case(smoothing=0.6, fps=60.0),
    "doll, through itself": doll_case(way=(-0.75, 0.1, -0.1), thickness=thickness_of(DOLL, 1.0)),
    "doll, turned": doll_case(turn=0.9),
    "doll, looks": doll_case(faded_path, heads=True),
    "doll, loop": doll_case(faded_path, frames=20),
    "doll, hands alone": doll_case(feet=False),
    "drawn in": drawn_case(way=(1.0, -1.2, 0.4)),
    "drawn in, turned": drawn_case(way=(1.0, -1.2, 0.4), turn=-2.6),
    "drawn in, carried": drawn_case(way=(0.5, -1.2, 0.6), carried=True),
}
CASES = LIMBS | PUBLISHED | BODIES


@pytest.mark.parametrize("case", CASES)
def test_a_motion_is_as_it_is_kept(case, renew):
    check("motion", case, CASES[case], WITHIN, renew)
