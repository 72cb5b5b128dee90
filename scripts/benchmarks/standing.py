# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded reaches of people who stand, solved again from both feet and one hand alone.

Of a recording these are the stretches in which both feet stand still and a hand is farther away than it would reach by
itself. A figure of the same bones stands on the recorded feet, as the person stands who is recorded and as the pose at
rest does. The feet are held, the hand is at the recorded place in every frame, all else is left to the body's posture.
Mean distances are for legs of 0.85 m.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from . import amc, scenes
from .body_recordings import LEG, NEAR
from .bvh import motion, read
from .figure import Figure, Recorded, figure
from .recordings import RATE, armature_of
from .stands import STILL, Stand, about_up, angles, at_rest, facing, in_place, length, own_stands, speeds

FAR = 1.05  # lengths of an arm from a standing shoulder, that a hand has to go
LEAST, MOST = 5, 150  # frames of a stretch
TITLES = "All joints [cm]", "Hips [cm]", "Shoulders turn", "Trunk", "Knees", "Elbow [cm]"


class Stretch(NamedTuple):
    """Frames of a recording in which a hand ("arm 1" is the left one) is reached with, the feet standing."""

    name: str
    person: str
    arm: str
    frames: np.ndarray


class Stood(NamedTuple):
    """A stretch as a body: its tree, a standing pose at each frame, tasks and balance, and where the joints were.

    `heads` (n, 3, F) are the recorded heads of the joints, `joints` their numbers by limb, and `size` what metres of
    the figure are for legs of LEG.
    """

    stretch: Stretch
    tree: Any
    reference: Any
    tasks: list[Any]
    steady: Any
    heads: np.ndarray
    joints: dict[str, list[int]]
    size: float


def files_in(folder):
    """The recordings in a folder: BVH files, and AMC files beside the ASF files of their actors."""
    found = sorted([*Path(folder).glob("*.bvh"), *Path(folder).glob("*.amc")])
    if not found:
        raise FileNotFoundError(f"There are no .bvh or .amc files in '{folder}'. Give a folder of recorded reaches.")
    return found


def body_of(file):
    """The figure in a recording, at some 30 frames a second."""
    file = Path(file)
    if file.suffix == ".amc":
        joints, recorded = amc.read(file)
        every = round(amc.RATE / RATE)
        return figure(joints, Recorded(recorded.places[::every], recorded.rotations[::every]))
    joints, values, seconds = read(file)
    return figure(joints, motion(joints, values[1 :: max(1, round(1.0 / RATE / seconds))]))


def person_of(file):
    """Who is recorded: what the names of the CMU and of the HDM05 database begin with."""
    words = Path(file).stem.split("_")
    return "_".join(words[:2]) if words[0] == "HDM" else words[0]


def stretches(file, body: Figure) -> Iterator[Stretch]:
    """The stretches of a recording; of two hands that are far, the one that goes farther is reached with."""
    places, lines, rest = body.motion.places, body.lines, at_rest(body)
    speed, (yaw, ankles) = speeds(body), facing(body)
    hips = ankles + np.einsum("fij,j->fi", yaw, rest.hips)
    arms = "arm 1", "arm 2"
    far = []
    for line in (lines[arm] for arm in arms):
        shoulder = np.einsum("fij,j->fi", yaw, body.rest.places[line[0]] - body.rest.places[0]) + hips
        far.append(np.linalg.norm(places[:, line[2]] - shoulder, axis=1) / length(body.rest.places, line))
    for arm, own, other in zip(arms, far, far[::-1], strict=True):
        for run in _runs((speed < STILL) & (own > 1.0)):
            if len(run) >= LEAST and own[run].max() > max(FAR, other[run].max()):
                yield Stretch(Path(file).stem, person_of(file), arm, run[:MOST])


def _runs(chosen):
    edges = np.flatnonzero(np.diff(np.concatenate(([0], chosen.astype(int), [0]))))
    return [np.arange(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def stood(body: Figure, stretch: Stretch, stand: Stand) -> Stood:
    """A stretch as a body that stands, with what is asked of it."""
    import bpy
    from mathutils import Quaternion, Vector

    from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
    from ik_triangulation.goals.task import Level
    from ik_triangulation.kinematics.batch import Geometry, States
    from ik_triangulation.rig.armature import Channels
    from ik_triangulation.rig.body import BodyRest, RigBody
    from ik_triangulation.solvers.body.priorities import solve_sets

    scenes.empty_file()
    ob, names = armature_of(body)
    bpy.context.view_layer.update()
    lines = {name: [names[k] for k in line] for name, line in body.lines.items()}
    tips = [lines[name][-1] for name in (stretch.arm, "leg 1", "leg 2", _other(stretch.arm), "neck")]
    rig = RigBody(ob, tuple(SimpleNamespace(tip=tip) for tip in tips), hips_motion="FREE")
    still = Channels(Vector(), Quaternion(), Vector((1.0, 1.0, 1.0)))
    own = BodyRest(rig).body([still] * len(rig.bones), Vector((0.0, 0.0, 1.0)))
    tree, count = own.tree, len(stretch.frames)
    rows = [names.index(name) for name in rig.bones]
    rests = np.array([np.array(ob.data.bones[name].matrix_local.to_3x3()) for name in rig.bones])
    turned = body.motion.rotations[stretch.frames][:, rows] @ np.swapaxes(body.rest.rotations[rows], -1, -2) @ rests
    places = body.motion.places[stretch.frames][:, rows]

    middle = stretch.frames[[count // 2]]
    wanted, hips = in_place(body, stand, int(middle[0]))
    wanted = wanted[rows] @ np.swapaxes(body.rest.rotations[rows], -1, -2) @ rests
    parents = [ob.data.bones[name].parent for name in rig.bones]
    above = [rig.bones.index(parent.name) if parent else None for parent in parents]
    turns = [
        rests[k].T @ (wanted[k] if parent is None else rests[parent] @ wanted[parent].T @ wanted[k])
        for k, parent in enumerate(above)
    ]
    rotations = np.array([_quaternion(turn) for turn in turns])[:, :, None]
    none = np.empty((0, 1)), np.empty((0, 4, 1))
    place = (hips - body.rest.places[rows[0]])[:, None]
    standing = tree.posed(rotations, States(*none, rotations[tree.held], np.eye(3)[:, :, None], place))
    feet = [lines["leg 1"][-1], lines["leg 2"][-1]]
    frames = np.concatenate(
        [np.moveaxis(turned[[count // 2]], 0, -1), np.moveaxis(places[[count // 2]], 0, -1)[:, :, None]], 2
    )
    for foot in map(rig.bones.index, feet):  # as it stands, its ball where that is
        ball = np.array([0.0, ob.data.bones[rig.bones[foot]].length, 0.0])
        now, then = (np.arctan2(of[0, 1], -of[1, 1]) for of in (turned[count // 2, foot], wanted[foot]))
        flat = about_up(now - then) @ wanted[foot]
        frames[foot, :, 3, 0] += (turned[count // 2, foot] - flat) @ ball
        frames[foot, :, :3, 0] = flat
    held = hold_tasks(own, feet, frames)
    solve_sets(tree, standing, held)
    steady = balance_of(own, feet, Geometry(tree, standing).frames)
    hand = rig.bones.index(lines[stretch.arm][-1])
    number = own.number_of[rig.bones[hand]]
    tail = np.array([0.0, own.tips[number].place.length, 0.0])
    asked = (turned[:, hand] @ tail + places[:, hand]).T
    near = np.array([NEAR * tree.tips[number].reach])
    tasks = [*held, replace(point_task(asked, near), tip=number, level=Level.REACH)]
    joints = {name: [rig.bones.index(bone) for bone in line if bone in rig.bones] for name, line in lines.items()}
    reference = standing.take(np.zeros(count, np.intp))
    size = LEG / length(body.rest.places, body.lines["leg 1"])
    return Stood(stretch, tree, reference, tasks, steady, np.moveaxis(places, 0, -1), joints, size)


def _other(arm):
    return "arm 2" if arm == "arm 1" else "arm 1"


def _quaternion(turn):
    from mathutils import Matrix

    return Matrix(turn.tolist()).to_quaternion()[:]


def errors(case: Stood, states) -> np.ndarray:
    """Means over the frames of what TITLES say; angles in degrees."""
    from ik_triangulation.kinematics.batch import Geometry

    heads, joints = Geometry(case.tree, states).heads, case.joints
    away = np.linalg.norm(heads - case.heads, axis=1) * case.size
    arm, other = joints[case.stretch.arm], joints[_other(case.stretch.arm)]

    def shoulders(of):
        return of[joints["arm 1"][0]] - of[joints["arm 2"][0]]

    def trunk(of):
        return (of[arm[0]] + of[other[0]]) / 2.0 - (of[joints["leg 1"][0]] + of[joints["leg 2"][0]]) / 2.0

    def knee(of, leg):
        a, b, c = (of[k] for k in joints[leg])
        return angles(b - a, c - b)

    knees = np.mean([np.abs(knee(heads, leg) - knee(case.heads, leg)) for leg in ("leg 1", "leg 2")], 0)
    found = (
        100.0 * away.mean(0),
        100.0 * away[0],
        angles(shoulders(heads), shoulders(case.heads)),
        angles(trunk(heads), trunk(case.heads)),
        knees,
        100.0 * away[arm[1]],
    )
    return np.array([each.mean() for each in found])


def cases(folder, own=True):
    """All stretches of the recordings in a folder: from the own stands of people, or from the pose at rest."""
    bodies = dict[Path, Figure]()
    for file in files_in(folder):
        with suppress(ValueError):
            bodies[file] = body_of(file)
    every = {file: list(stretches(file, body)) for file, body in bodies.items()}
    nobody = np.empty(0, np.intp)
    reaching = {file: np.concatenate([nobody, *(each.frames for each in found)]) for file, found in every.items()}
    people = ((person_of(file), body, reaching[file]) for file, body in bodies.items())
    stands = own_stands(people) if own else {}
    for file, body in bodies.items():
        for stretch in every[file]:
            yield stood(body, stretch, stands.get(stretch.person) or at_rest(body))


def solved(case: Stood):
    """The states of a case as a bake has them."""
    from ik_triangulation.cooperative import finished
    from ik_triangulation.motion.body_path import body_path
    from ik_triangulation.motion.shot import Shot

    shot = Shot(tree=case.tree, reference=case.reference, tasks=case.tasks, steady=case.steady)
    return finished(body_path(shot))


def run(arguments):
    print(f"| Recording | Frames | {' | '.join(TITLES)} | Reached |\n{'|---' * (3 + len(TITLES))}|")
    with scenes.extension():
        for own, text in ((False, "from the pose at rest"), (True, "from their own stands")):
            found = list(_found(cases(arguments.folder, own)))
            people = sorted({person for person, _ in found})
            means = [np.mean([row for person, row in found if person == each], 0) for each in people]
            for each, mean in [*zip(people, means, strict=True), (f"{len(people)} people", np.mean(means, 0))]:
                print(f"| {each}, {text} | | {' | '.join(f'{value:.1f}' for value in mean)} | |", flush=True)


def _found(every):
    for case in every:
        states, met = solved(case)
        row = errors(case, states)
        cells = " | ".join(f"{value:.1f}" for value in row)
        print(f"| {case.stretch.name} | {len(case.stretch.frames)} | {cells} | {met.mean():.0%} |", flush=True)
        yield case.stretch.person, row


def add_arguments(parser):
    parser.add_argument("folder", type=Path)
