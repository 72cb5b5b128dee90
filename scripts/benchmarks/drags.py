# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets dragged freely: turns of an arm and a leg that pop, and how far each pose is from what a bake would key.

Rigify's human with what + stores. A hand or foot is taken from a comfortable pose along straight ways as the gizmo does
it, in steps of 6 mm, turned as it was at first or turning by a degree a step; the reference is rest.
"""

from itertools import product
from math import radians
from random import Random
from time import process_time
from typing import NamedTuple

import numpy as np

from .postures import LIMBS, comfortable_pose, human
from .scenes import extension

STEP, STEPS = 0.006, 60  # [m]
TURN = 1.0  # degrees of the target in a step
POP, NEAR, POINTED = 20.0, 2.0, 0.1  # degrees: of a joint in one step; off the bake; of an end that is turned rightly
HEAD = "| Limb | Target | Moves | Pops | largest turn | within 2° of the bake | met | ms a move |"


class Drag(NamedTuple):
    """Largest turns of a joint [degrees] (F - 1), and off a bake (F); goals met (F); time of a move [ms]."""

    turns: np.ndarray
    off: np.ndarray
    met: np.ndarray
    took: float


def limb_of(name):
    """The limb that + makes of an arm or a leg of Rigify's human: sample, bones and settings, and the rig."""
    import bpy

    from ik_triangulation.api import Limb, add_limbs
    from ik_triangulation.jobs.shots.frame_solver import solver_settings
    from ik_triangulation.rig.armature import Bones
    from ik_triangulation.rig.frames.samples import sample

    ob = human()
    (tip,) = add_limbs(ob, [LIMBS[name][-1]], None)
    bpy.context.view_layer.update()
    limb = Limb.of(ob.pose.bones[tip])
    now = sample(limb, bpy.context.evaluated_depsgraph_get(), 1.0)
    return now, Bones(ob, limb.bones, limb.solved), solver_settings(limb), ob


def way(random, start, turning):
    """World matrices of the target along a straight way in a random direction."""
    from mathutils import Matrix, Quaternion, Vector

    direction, axis = (Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized() for _ in range(2))
    place, rotation, _ = start.decompose()
    for k in range(STEPS):
        turned = Quaternion(axis, radians(TURN * k * turning))
        yield Matrix.LocRotScale(place + k * STEP * direction, turned @ rotation, None)


def drag(begin, goals, settings):
    """Solve goals one by one as Live does, each from the reference, and all together as a bake does; return a Drag."""
    from ik_triangulation.cooperative import finished
    from ik_triangulation.goals.from_goals import tasks_of
    from ik_triangulation.solvers.batch.restarts import tree_of
    from ik_triangulation.solvers.natural import natural_path
    from ik_triangulation.solvers.solve import solve_goal

    started = process_time()
    poses = [solve_goal(begin, goal, settings, follow=True).pose for goal in goals]
    took = 1e3 * (process_time() - started) / len(goals)
    met = [_is_met(pose, goal) for pose, goal in zip(poses, goals, strict=True)]
    tree, tasks = tree_of(begin.chain), tasks_of(goals, begin.chain.reach)
    frames = tree.states([begin] * len(goals))
    reference = tree.posed(tree.rotations(frames), frames)
    baked = tree.rotations(finished(natural_path(tree, reference, tasks, settings.form)).states)
    ours = np.array([[rotation[:] for rotation in pose.rotations] for pose in poses]).transpose(1, 2, 0)
    return Drag(_apart(ours[..., 1:], ours[..., :-1]), _apart(ours, baked), np.array(met), took)


def _is_met(pose, goal):
    from ik_triangulation.goals import Orientation

    turned = all(each.missing(pose) < radians(POINTED) for each in goal.soft if isinstance(each, Orientation))
    return turned and (goal.target.closest(pose.tip) - pose.tip).length <= goal.tolerance


def _apart(a, b):
    """Largest angle [degrees] of a joint between unit quaternions (n, 4, F)."""
    return np.degrees(2.0 * np.arccos(np.minimum(1.0, np.abs(np.einsum("nif,nif->nf", a, b))))).max(0)


def measure(count, seed):
    """Return lists of Drag by limb and way of the target."""
    from ik_triangulation.jobs.shots.frame_solver import at_frame
    from ik_triangulation.rig.targets.goal import GoalReader

    found = {}
    with extension():
        for name, turning in product(LIMBS, (False, True)):
            now, bones, settings, ob = limb_of(name)
            random, rest, reader, drags = Random(seed), at_frame(now, bones), GoalReader(), []
            for _ in range(count):
                start = comfortable_pose(ob, name, random)
                goals = [reader.at(now._replace(target=matrix), rest) for matrix in way(random, start, turning)]
                drags.append(drag(rest, goals, settings))
            found[name, "turning" if turning else "as it was"] = drags
    return found


def line_of(kind, drags):
    """A line of the table."""
    turns, off, met = (np.concatenate([getattr(each, name) for each in drags]) for name in ("turns", "off", "met"))
    cells = [*kind, len(turns), (turns > POP).sum(), f"{turns.max():.0f}°", f"{100.0 * (off <= NEAR).mean():.1f} %"]
    cells += [f"{100.0 * met.mean():.1f} %", f"{np.mean([each.took for each in drags]):.2f}"]
    return f"| {' | '.join(map(str, cells))} |"


def run(arguments):
    """A line for each limb and kind of way, and one for all."""
    import bpy

    found = measure(arguments.count, arguments.seed)
    print(f"Blender {bpy.app.version_string}, {arguments.count} drags of {STEPS} steps of {1e3 * STEP:g} mm each\n")
    print(f"{HEAD}\n{'|---' * 8}|")
    for kind, drags in found.items():
        print(line_of(kind, drags))
    print(line_of(("all", ""), [each for drags in found.values() for each in drags]))


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--count", type=int, default=16, help="drags of each kind; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7)
