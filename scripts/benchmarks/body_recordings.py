# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motion of a whole body solved again from hands, feet and head, with everything else at rest.

The hips are as recorded, or free and known as little as the rest. What counts is the mean distance of all joints from
the recorded ones, for a figure with legs of 0.85 m. Source of the measure: six-tracker full-body methods.
"""

from dataclasses import replace
from time import process_time
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from . import recordings
from .likeness import pops, turns

LEG = 0.85  # [m]
NEAR, STRAIGHT = 1e-3, 0.01  # of the limb's reach; [rad]
FRAMES = 240


class Again(NamedTuple):
    """A recording solved again: mean distance of its joints [m], share of frames reached, pops, seconds a frame."""

    name: str
    hips: str
    distance: float
    reached: float
    unsteady: float
    pops: int
    seconds: float


def solve_again(file, hips, frames=FRAMES):
    """Solve a recording with hips that are FREE or FIXED."""
    from ik_triangulation.cooperative import finished
    from ik_triangulation.kinematics.batch import Geometry
    from ik_triangulation.motion.body_easing import unsteadiness
    from ik_triangulation.motion.body_path import body_path
    from ik_triangulation.motion.shot import Shot

    recording = recordings.load(file, frames)
    body, names, reference, tasks = problem(recording, hips)
    begun = process_time()
    states, met = finished(body_path(Shot(tree=body.tree, reference=reference, tasks=tasks)))
    spent = process_time() - begun
    heads = Geometry(body.tree, states).heads
    rows = [recording.ob.data.bones.find(name) for name in names]
    places = recording.matrices[..., :3, 3][:, rows]
    away = np.linalg.norm(heads.transpose(2, 0, 1) - places, axis=2).mean()
    legs = [bones for name, bones in recording.limbs.items() if name.startswith("leg")]
    size = LEG / sum(recording.ob.data.bones[name].length for name in legs[0][:2])
    unsteady, popped = unsteadiness(body.tree, states), _pops(recording, body, rows, states)
    return Again(recording.name, hips, size * away, met.mean(), unsteady, popped, spent / len(met))


def _pops(recording, body, rows, states):
    """Turns of joints that stand out from those around them and from the recorded ones there."""
    from ik_triangulation.kinematics.batch.algebra import matrices

    bones = [recording.ob.data.bones[row] for row in rows]
    rests = np.array([bone.matrix_local.to_3x3() for bone in bones])
    seen = recording.matrices[:, rows, :3, :3]
    theirs = np.empty_like(seen)
    for k, parent in enumerate(body.parents):
        socket = rests[k] if parent < 0 else seen[:, parent] @ rests[parent].T @ rests[k]
        theirs[:, k] = np.swapaxes(socket, -1, -2) @ seen[:, k]
    ours = np.moveaxis(matrices(body.tree.rotations(states)), -1, 0)
    return pops(turns(ours), turns(theirs))


def problem(recording, hips):
    """The body of a recording, the names of its bones, its rest as a reference, and the tasks of its tips."""
    from mathutils import Quaternion, Vector

    from ik_triangulation.goals.from_goals import RADIAN, point_task
    from ik_triangulation.goals.orientation import OrientTask
    from ik_triangulation.goals.task import Level
    from ik_triangulation.kinematics.batch import States
    from ik_triangulation.rig.armature import Channels
    from ik_triangulation.rig.body import BodyRest, RigBody

    ob, limbs = recording.ob, recording.limbs
    tips = [bones[-1] for kind in ("arm", "leg", "neck") for name, bones in limbs.items() if name.startswith(kind)]
    rig = RigBody(ob, tuple(SimpleNamespace(tip=tip) for tip in tips), hips_motion=hips)
    rest, count = BodyRest(rig), len(recording.frames)
    still = Channels(Vector(), Quaternion(), Vector((1.0, 1.0, 1.0)))
    body = rest.body([still] * len(rig.bones), Vector((0.0, 0.0, 1.0)))
    tree, seen = body.tree, {bone.name: recording.matrices[:, n] for n, bone in enumerate(ob.data.bones)}
    rotations, place = np.zeros((len(rig.bones), 4, count)), np.zeros((3, count))
    rotations[:, 0] = 1.0
    if hips == "FIXED":
        turned = np.linalg.inv(np.array(rest.rests[0].to_3x3())) @ seen[rig.hips][:, :3, :3]
        rotations[0] = _quaternions(turned)
        place = seen[rig.hips][:, :3, 3].T - np.array(rest.rests[0].translation)[:, None]
    none = np.empty((0, count)), np.empty((0, 4, count))
    reference = tree.posed(rotations, States(*none, rotations[tree.held], np.eye(3)[:, :, None], place))
    tasks = []
    for name in tips:
        number, matrices = body.number_of[name], seen[name]
        tail = np.array([0.0, body.tips[number].place.length, 0.0])
        places = (matrices[:, :3, :3] @ tail + matrices[:, :3, 3]).T
        near = np.array([NEAR * tree.tips[number].reach])
        tasks.append(replace(point_task(places, near), tip=number, level=Level.REACH))
        rotation = np.ascontiguousarray(np.moveaxis(matrices[:, :3, :3], 0, -1))
        turn = OrientTask(rotation=rotation, length=RADIAN * tree.size, tolerance=np.array([STRAIGHT]))
        tasks.append(replace(turn, tip=number, level=Level.TURN))
    return body, rig.bones, reference, tasks


def _quaternions(matrices):
    from mathutils import Matrix

    return np.array([Matrix(matrix.tolist()).to_quaternion()[:] for matrix in matrices]).T


def report(folder):
    """Print a line for each recording in a folder."""
    print(
        "\n| Recording | Hips | Mean distance [cm] | Reached | Largest turn by the local median | Pops | ms a frame |"
    )
    print("|---|---|---|---|---|---|---|")
    for file in recordings.files_in(folder):
        for hips in ("FIXED", "FREE"):
            found = solve_again(file, hips)
            cells = f"{100 * found.distance:.2f}", f"{found.reached:.1%}", f"{found.unsteady:.2f}", str(found.pops)
            print(f"| {found.name} | {hips} | {' | '.join(cells)} | {1e3 * found.seconds:.2f} |", flush=True)
