# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms and legs of a body posed as single limbs are: on a base that is found already, by the swivel over all frames.

A descent of all joints of a body spreads a turn over whatever has compliance, and knows no swivel. So once it has found
trunk and girdles, each limb of two parts is put to where its tip is by the cost of single limbs. Limits count softly,
so that the swivel never jumps from one allowed span to the next; a relaxation brings the limbs inside. Source: none.

A body gives up the turn of a hand frame by frame, and where a range ends it leaps from one side to the other. So where
an arm or leg leaps, the turn of its end is traded over the shot as that of a single limb, on a body that does not know
of it. Source: none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import radians
from typing import Any, NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ...cooperative import Work
from ...goals.comfort import PoleTask
from ...goals.from_goals import RADIAN, point_task
from ...goals.orientation import OrientTask
from ...goals.support import Heel, HeelTask
from ...goals.task import Level, PlaceTask, Task, unwrapped
from ...kinematics import Joint, Locked
from ...kinematics.arrays import Numbers, smoothstep
from ...kinematics.batch import Geometry, States, Tree, TreeTip
from ...kinematics.batch.algebra import (
    angles_between,
    compose,
    cross,
    dot,
    exponential,
    lengths,
    matrices,
    normalized,
    product,
    rotate_back,
    turn_vectors,
)
from ..natural.posture import USUAL_FPS
from ..natural.solving import natural_path, swivelled
from ..natural.two_bones import suits
from ..solver import PLAIN_LIMB, LimbForm

_BENT, _DEEP = radians(50.0), radians(120.0)  # bend of a knee at which it begins to open, and at which it is open
_OPEN = radians(22.0)  # swivel of a knee that is open, off straight ahead of its foot
_NEAR = np.array([1.0])  # of the limb's length: tolerance of goals that are where the tip is
_WITHOUT_END = 2  # joints of an arm or leg without hand or foot
_HASTY, _HASTIER = 0.22, 1.5  # [rad] turn in a frame that is never too fast, and times the largest that a limb had
_LEAP, _EXPLAINED = radians(15.0), 2.0  # turn of a joint in a frame at 30 a second; times what its goals explain
_AROUND = 6.0  # frames at 30 a second on either side of a leap in which a turn is traded, and in which that fades
_AWAY = 0.03  # of the limb's length: as near to its place a tip stays whose turn is traded, as the trunk does the rest


class LimbOfBody(NamedTuple):
    """A limb of a body as a chain of its own: its joints in the body, the number of its tip, its tree and its form."""

    joints: tuple[int, ...]
    tip: int
    tree: Tree
    form: LimbForm

    @classmethod
    def of(cls, tree: Tree, first: int, number: int, rotations: Numbers) -> LimbOfBody:
        """The joints from the `first` one to a tip, each the parent of the next, as a limb.

        Locked joints, such as those for a twist, that keep their rotation in all of `rotations` (n, 4, F) become part
        of rigid links.
        """
        line = np.flatnonzero(tree.above[:, tree.tips[number].joint] & tree.above[first]).tolist()
        locked = [j for j in line if isinstance(tree.joints[j].freedom, Locked)]
        rigid = {j: tuple(rotations[j, :, 0].tolist()) for j in locked if (rotations[j] == rotations[j, :, :1]).all()}
        return _limb(tree, tuple(line), number, tuple(rigid.items()))

    def frames(self, tree: Tree, geometry: Geometry, rotations: Numbers) -> States:
        """The limb on the body as posed, with these rotations (n, 4, F) of the body's joints."""
        states, above, count = geometry.states, tree.parents[self.joints[0]], len(geometry.states)
        if above < 0:
            root, place = np.broadcast_to(states.root, (3, 3, count)), np.broadcast_to(states.place, (3, count))
        else:
            root, place = geometry.frames[above][:, :3], geometry.frames[above][:, 3]
        own = rotations[list(self.joints)]
        none = np.empty((0, count)), np.empty((0, 4, count))
        return self.tree.posed(own, States(*none, own[self.tree.held], root.copy(), place.copy()))

    def own(self, task: Any, tree: Tree) -> Task:
        """Return a task of its tip in the body's `tree` as that of the limb alone."""
        if isinstance(task, PlaceTask):
            return replace(task, tip=0, level=0)
        moved: Task = replace(task, tip=0, level=1, length=task.length * self.tree.size / tree.size)
        return moved


@lru_cache(maxsize=64)
def _limb(
    tree: Tree, line: tuple[int, ...], number: int, rigid: tuple[tuple[int, tuple[float, ...]], ...]
) -> LimbOfBody:
    """The limb of a line of joints, some of which are `rigid` with a rotation (w, x, y, z)."""
    tip, turned, joints = tree.tips[number], dict(rigid), list[Joint]()
    place, turn = Vector(), Quaternion()  # of the next joint's parent, seen from the last one of the limb
    for j in line:
        joint = tree.joints[j]
        place, turn = place + turn @ joint.offset, turn @ joint.rest
        if j in turned:
            turn = turn @ Quaternion(turned[j])
        else:
            joints.append(replace(joint, offset=place, rest=turn))
            place, turn = Vector(), Quaternion()
    place = place + turn @ tip.place
    reach = sum(joint.offset.length for joint in joints[1:]) + place.length
    own = TreeTip(len(joints) - 1, place, turn @ tip.rotation, reach)
    moving = tuple(j for j in line if j not in turned)
    outwards = _outwards(tree).get(moving)
    form = PLAIN_LIMB if outwards is None else LimbForm(has_end=len(moving) > _WITHOUT_END, flexion=outwards)
    return LimbOfBody(moving, number, Tree(joints, range(-1, len(joints) - 1), [own]), form)


def _outwards(tree: Tree) -> dict[tuple[int, ...], Vector]:
    """Directions of elbows and knees of arms and legs, by the first joints of their parts."""
    anatomy = tree.anatomy
    pairs = zip(anatomy.limbs, anatomy.outwards, strict=False)
    return {tuple(dict.fromkeys(limb)): outwards for limb, outwards in pairs if outwards is not None}


@lru_cache(maxsize=32)
def limbs_with_swivel(tree: Tree) -> tuple[tuple[int, int], ...]:
    """The first joint and the tip of the arms and legs of a tree that lead to one tip each, at their end.

    One joint moves in each of their parts.
    """
    found = []
    for joints in _outwards(tree):
        upper, middle, end = joints[0], joints[1], joints[-1]
        tips = [number for number, tip in enumerate(tree.tips) if tree.above[upper, tip.joint]]
        if len(tips) != 1 or tree.tips[tips[0]].joint != end or (upper == 0 and tree.moves_root):
            continue
        line = np.flatnonzero(tree.above[:, end] & tree.above[upper]).tolist()
        if middle in line and [j for j in line if not isinstance(tree.joints[j].freedom, Locked)] == list(joints):
            found.append((upper, tips[0]))
    return tuple(found)


def with_swivels(
    tree: Tree, states: States, reference: States, tasks: Sequence[Task], fps: float, smoothing: float
) -> States:
    """The states with limbs that reach for a place or are held posed as single ones near the reference.

    Tips stay where they are; limits are kept only nearly before the joints are put inside them. A limb for whose best
    swivels a joint would have to turn much faster takes calmer ones, or stays as it is where those are as fast.
    """
    geometry, rotations, given = Geometry.of(tree, states), tree.rotations(states), tree.rotations(reference)
    changed = rotations.copy()
    limbs = [LimbOfBody.of(tree, first, tip, rotations) for first, tip in limbs_with_swivel(tree)]
    limbs = [limb for limb in limbs if not limb.tree.held]  # no twist that is animated
    for limb in limbs:
        own = [(task, unwrapped(task)) for task in tasks if task.tip == limb.tip]
        if not any(isinstance(bare, PlaceTask) for _, bare in own):
            continue
        near = _NEAR * limb.tree.size
        goals: list[Task] = [point_task(geometry.tip(limb.tip), near)]
        if any(not isinstance(bare, PlaceTask | PoleTask) for _, bare in own):
            turned = geometry.tip_rotation(limb.tip)
            goals.append(OrientTask(rotation=turned, length=RADIAN * limb.tree.size, tolerance=near))
        goals += _poles(tasks, limb, tree)
        joints = list(limb.joints)
        if not suits(limb.tree, goals, limb.form.has_end):
            continue
        there = limb.frames(tree, geometry, rotations)
        most = max(_HASTIER * _largest_turn(rotations[joints]), _HASTY)
        for calm in dict.fromkeys((smoothing, 1.0)):
            posed = swivelled(limb.tree, there, goals, given[joints], limb.form, fps, calm)
            if _largest_turn(posed) <= most:
                changed[joints] = posed
                break
    found = tree.posed(changed, states)
    heels = [
        (limb, task.heel) for limb in limbs for task in tasks if task.tip == limb.tip and isinstance(task, HeelTask)
    ]
    return _opened(tree, found, heels) if heels else found


def leaping_ends(tree: Tree, states: States, tasks: Sequence[Task], fps: float) -> dict[int, Numbers]:
    """The shares (F) up to which the turns of tips are to be traded, of those whose arm or leg leaps.

    A leap is the turn of a joint in a frame that neither the turn of the goal nor the way of the tip explains. The
    share is 1 there and where a turn is missed, and fades out in the frames around.
    """
    rotations, geometry, rate = tree.rotations(states), Geometry.of(tree, states), USUAL_FPS / fps
    turns, every, found = angles_between(rotations[..., 1:], rotations[..., :-1]), np.arange(len(states)), {}
    for first, tip in limbs_with_swivel(tree):
        task = _turned(tasks, tip)
        if task is None:
            continue
        told = np.broadcast_to(task.rotation, (3, 3, len(states)))
        explained = lengths(turn_vectors(compose(told[..., 1:], told[..., :-1].swapaxes(0, 1))))
        explained += lengths(np.diff(geometry.tip(tip))) / tree.tips[tip].reach
        line = tree.above[:, tree.tips[tip].joint] & tree.above[first]
        leaps = turns[line].max(0) > np.maximum(_LEAP * rate, _EXPLAINED * explained)
        if leaps.any():
            traded = task.measure(geometry).off > task.tolerance
            traded[1:] |= leaps
            traded[:-1] |= leaps
            apart = np.abs(every[:, None] - np.flatnonzero(traded)).min(1)
            found[tip] = smoothstep(2.0 - apart * rate / _AROUND)
    return found


def with_traded_ends(
    tree: Tree,
    states: States,
    reference: States,
    tasks: Sequence[Task],
    shares: Mapping[int, Numbers],
    fps: float,
    smoothing: float,
) -> Work[tuple[States, list[Task]]]:
    """Return states whose limbs to some tips trade the turns that these are to have, and the tasks of what is left.

    The limbs are posed on the body as it is, with their tips where these are. Of what a limb gives up of a turn its
    task lacks the `shares` (F) of its tip; one that cannot be posed alone keeps its task. Yields between parts.
    """
    geometry, rotations, given = Geometry.of(tree, states), tree.rotations(states), tree.rotations(reference)
    changed, found = rotations.copy(), list[Task]()
    for first, tip in limbs_with_swivel(tree):
        task = _turned(tasks, tip)
        if tip not in shares or task is None:
            continue
        limb = LimbOfBody.of(tree, first, tip, rotations)
        joints, near = list(limb.joints), np.array([_AWAY * limb.tree.size])
        goals = [point_task(geometry.tip(tip), near), limb.own(task, tree), *_poles(tasks, limb, tree)]
        if limb.tree.held or not suits(limb.tree, goals, limb.form.has_end):  # a twist is animated
            found.append(task)
            continue
        there = limb.tree.posed(given[joints], limb.frames(tree, geometry, rotations))
        path = yield from natural_path(limb.tree, there, goals, limb.form, fps=fps, smoothing=smoothing)
        changed[joints] = limb.tree.rotations(path.states)
        off = turn_vectors(compose(Geometry(limb.tree, path.states).tip_rotation(), task.rotation.swapaxes(0, 1)))
        found.append(replace(task, rotation=compose(matrices(exponential(shares[tip] * off)), task.rotation)))
    return tree.posed(changed, states), found


def _turned(tasks: Sequence[Task], tip: int) -> OrientTask | None:
    """The task that turns a tip which is not held."""
    own = (task for task in tasks if task.tip == tip and task.level != Level.HOLD)
    return next((task for task in own if isinstance(task, OrientTask)), None)


def _poles(tasks: Sequence[Task], limb: LimbOfBody, tree: Tree) -> list[Task]:
    """The poles of a limb among the tasks of a body's tree, as those of the limb alone."""
    return [limb.own(task, tree) for task in tasks if task.tip == limb.tip and isinstance(task, PoleTask)]


def _largest_turn(rotations: Numbers) -> float:
    """Largest turn [rad] of joints (n, 4, F) from frame to frame."""
    return float(angles_between(rotations[..., 1:], rotations[..., :-1]).max(initial=0.0))


def _opened(tree: Tree, states: States, legs: Sequence[tuple[LimbOfBody, Heel]]) -> States:
    """The states with knees that are bent deeply apart, on feet that may lift their heels, by swivel alone.

    Thighs in front of the belly would be in its way; people open them as they squat.
    """
    geometry, rotations = Geometry(tree, states), tree.rotations(states)
    heads = geometry.heads
    middle = np.mean([heads[limb.joints[0]] for limb, _ in legs], 0)
    for limb, heel in legs:
        hip, knee, ankle = heads[limb.joints[0]], heads[heel.knee], heads[heel.ankle]
        line = normalized(ankle - hip)
        bend = np.arctan2(lengths(cross(knee - hip, ankle - knee)), dot(knee - hip, ankle - knee))
        side = np.sign(dot(hip - middle, heel.across))  # 0 of a leg that is alone: there is nothing to go apart from
        ahead, aside = cross(heel.across, heel.upright), heel.across * np.where(side == 0.0, 1.0, side)
        ahead = normalized(ahead - dot(ahead, line) * line)
        aside = normalized(aside - dot(aside, line) * line - dot(aside, ahead) * ahead)
        share = smoothstep((bend - _BENT) / (_DEEP - _BENT))
        now = np.arctan2(dot(knee - hip, aside), dot(knee - hip, ahead))
        more = np.maximum(_OPEN * share - now, 0.0) * (np.abs(now) < _OPEN) * np.abs(side)
        turn = line * more * np.sign(dot(cross(line, ahead), aside))
        for joint, each in ((limb.joints[0], turn), (heel.ankle, -turn)):
            own = rotate_back(geometry.frames[joint][:, :3], each)
            rotations[joint] = normalized(product(rotations[joint], exponential(own)))
    return tree.posed(rotations, states)
