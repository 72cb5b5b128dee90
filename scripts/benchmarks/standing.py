# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded reaches of people who stand, solved again from both feet and one hand alone.

Of a recording these are the stretches in which both feet stand still and a hand is farther away than it would reach by
itself. A figure of the same bones stands upright on the recorded feet, its arms hanging. The feet are held, the hand is
at the recorded place in every frame, all else is left to the body's posture. Mean distances are for legs of 0.85 m.
"""

from collections.abc import Iterator
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

STILL = 0.25  # [m/s] of an ankle, for legs of LEG
FAR = 1.05  # lengths of an arm from a standing shoulder, that a hand has to go
HANGING = 75.0  # degrees by which the arms of a T-pose are lowered
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
    places, lines = body.motion.places, body.lines
    size = LEG / _length(body.rest.places, lines["leg 1"])
    ankles = places[:, [lines[f"leg {side}"][2] for side in (1, 2)]]
    speed = np.linalg.norm(np.diff(ankles, axis=0, append=ankles[-1:]), axis=2).max(1) * RATE * size
    yaw, stand = _stand(body, places)
    arms = "arm 1", "arm 2"
    far = []
    for line in (lines[arm] for arm in arms):
        shoulder = np.einsum("fij,j->fi", yaw, body.rest.places[line[0]] - body.rest.places[0]) + stand
        far.append(np.linalg.norm(places[:, line[2]] - shoulder, axis=1) / _length(body.rest.places, line))
    for arm, own, other in zip(arms, far, far[::-1], strict=True):
        for run in _runs((speed < STILL) & (own > 1.0)):
            if len(run) >= LEAST and own[run].max() > max(FAR, other[run].max()):
                yield Stretch(Path(file).stem, person_of(file), arm, run[:MOST])


def _runs(chosen):
    edges = np.flatnonzero(np.diff(np.concatenate(([0], chosen.astype(int), [0]))))
    return [np.arange(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _length(places, line):
    return float(np.linalg.norm(np.diff(places[line], axis=0), axis=1).sum())


def _stand(body, places):
    """Turns (F, 3, 3) about the vertical, and places (F, 3) of the hips, of a figure that stands on the feet."""
    lines = body.lines
    rest = body.rest.places
    feet = [lines[f"leg {side}"] for side in (1, 2)]
    ends = [body.motion.rotations[:, foot[2]] @ body.rest.rotations[foot[2]].T for foot in feet]
    toes = np.mean([turn @ np.array([0.0, -1.0, 0.0]) for turn in ends], 0)
    angle = np.arctan2(toes[:, 0], -toes[:, 1])
    yaw = np.array([_about_up(each) for each in angle])
    ankles = np.mean([places[:, foot[2]] for foot in feet], 0)
    own = np.mean([rest[foot[2]] for foot in feet], 0)
    return yaw, ankles + np.einsum("fij,j->fi", yaw, rest[0] - own)


def stood(body: Figure, stretch: Stretch) -> Stood:
    """A stretch as a body that stands upright, with what is asked of it."""
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
    yaw, stand = _at(body, middle)
    turns = np.tile(np.eye(3), (len(rig.bones), 1, 1))
    turns[0] = rests[0].T @ yaw @ rests[0]
    for arm, sign in (("arm 1", 1.0), ("arm 2", -1.0)):
        k, angle = rig.bones.index(lines[arm][0]), np.radians(sign * HANGING)
        down = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
        turns[k] = rests[k].T @ down @ rests[k]
    rotations = np.array([_quaternion(turn) for turn in turns])[:, :, None]
    none = np.empty((0, 1)), np.empty((0, 4, 1))
    place = (stand - body.rest.places[rows[0]])[:, None]
    standing = tree.posed(rotations, States(*none, rotations[tree.held], np.eye(3)[:, :, None], place))
    feet = [lines["leg 1"][-1], lines["leg 2"][-1]]
    frames = np.concatenate(
        [np.moveaxis(turned[[count // 2]], 0, -1), np.moveaxis(places[[count // 2]], 0, -1)[:, :, None]], 2
    )
    for foot in map(rig.bones.index, feet):  # flat on the floor, its ball where that is
        ball = np.array([0.0, ob.data.bones[rig.bones[foot]].length, 0.0])
        ahead = turned[count // 2, foot, :, 1]
        flat = _about_up(np.arctan2(ahead[0], -ahead[1])) @ rests[foot]
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
    size = LEG / _length(body.rest.places, body.lines["leg 1"])
    return Stood(stretch, tree, reference, tasks, steady, np.moveaxis(places, 0, -1), joints, size)


def _about_up(angle):
    return np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])


def _at(body, frame):
    part = body._replace(motion=Recorded(body.motion.places[frame], body.motion.rotations[frame]))
    yaw, stand = _stand(part, part.motion.places)
    return yaw[0], stand[0]


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
        return _angle(b - a, c - b)

    knees = np.mean([np.abs(knee(heads, leg) - knee(case.heads, leg)) for leg in ("leg 1", "leg 2")], 0)
    found = (
        100.0 * away.mean(0),
        100.0 * away[0],
        _angle(shoulders(heads), shoulders(case.heads)),
        _angle(trunk(heads), trunk(case.heads)),
        knees,
        100.0 * away[arm[1]],
    )
    return np.array([each.mean() for each in found])


def _angle(a, b):
    cross = np.linalg.norm(np.cross(a, b, axis=0), axis=0)
    return np.degrees(np.arctan2(cross, (a * b).sum(0)))


def cases(folder):
    """All stretches of the recordings in a folder."""
    for file in files_in(folder):
        try:
            body = body_of(file)
        except ValueError:
            continue
        for stretch in stretches(file, body):
            yield stood(body, stretch)


def solved(case: Stood):
    """The states of a case as a bake has them."""
    from ik_triangulation.cooperative import finished
    from ik_triangulation.motion.body_path import body_path
    from ik_triangulation.motion.shot import Shot

    shot = Shot(tree=case.tree, reference=case.reference, tasks=case.tasks, steady=case.steady)
    return finished(body_path(shot))


def run(arguments):
    print(f"| Recording | Frames | {' | '.join(TITLES)} | Reached |\n{'|---' * (3 + len(TITLES))}|")
    found = []
    with scenes.extension():
        for case in cases(arguments.folder):
            states, met = solved(case)
            row = errors(case, states)
            found.append((case.stretch.person, row))
            cells = " | ".join(f"{value:.1f}" for value in row)
            print(f"| {case.stretch.name} | {len(case.stretch.frames)} | {cells} | {met.mean():.0%} |", flush=True)
    people = sorted({person for person, _ in found})
    means = [np.mean([row for person, row in found if person == each], 0) for each in people]
    for each, mean in [*zip(people, means, strict=True), (f"{len(people)} people", np.mean(means, 0))]:
        print(f"| {each} | | {' | '.join(f'{value:.1f}' for value in mean)} | |")


def add_arguments(parser):
    parser.add_argument("folder", type=Path)
