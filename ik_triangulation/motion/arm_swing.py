# SPDX-License-Identifier: GPL-3.0-or-later
"""Free arms that swing against what legs and trunk do, over a whole shot, and hang where nothing moves.

What legs swing would turn the trunk about the vertical, and people cancel a part of that by their arms. Sources: Herr
and Popovic 2008, "Angular momentum in human walking"; Collins, Adamczyk and Kuo 2009, "Dynamic arm swinging in human
walking". Feet that are both held take what turns the body; then arms go against where its weight goes, as in a lean.

The swings are those of the least energy over time: what is left that turns the trunk, or moves the body, and the motion
of the arms as kinetic energy, and what brings raised arms back to hang, in as long as relaxed ones take, however large
the figure is. So fast motions are answered, slow ones are not, and what goes fast to another place and stays lets the
arms hang again. In a walk they swing by a third to two thirds of the angle of the thighs. Masses are those of people.

The pelvis turns about the vertical with the leg that is ahead, by some 5 degrees to either side, and the chest turns
against it by 3 to 4 degrees (Saunders, Inman and Eberhart 1953, "The major determinants in normal and pathological
gait"; Murray, Drought and Kory 1964, "Walking patterns of normal men"; Murray 1967, "Gait as a total pattern of
movement"). That is not for momentum, of which pelvis and thorax have less than a tenth (Bruijn and others 2008,
"Coordination of leg swing, thorax rotations, and pelvis rotations during gait"), so here both are shares of the angle
between the legs, which is 45 degrees in such steps. Nobody turns a trunk that is animated, or whose hands are busy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import radians
from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..goals.from_goals import CarriedTask
from ..goals.task import FadedTask, Level, PlaceTask, Task, unwrapped
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States
from ..kinematics.batch.algebra import cross, dot, exponential, lengths, normalized, product, rotate, rotate_back
from ..kinematics.body_anatomy import HEAD, OF_LIMBS, TRUNK, Part, TwoPartLimb
from ..solvers.batch.change import System
from ..solvers.batch.descent import precisely
from ..solvers.body.clearing import cleared
from ..solvers.body.flexing import flexion_axes, parts_of_body, spine_and_neck, two_part_limbs, wrist_of
from ..solvers.body.priorities import exactly
from ..solvers.natural.traded import solve_coupled_blocks
from .shot import Shot

_SLOW = 0.3  # [s] in which a raised arm comes to hang
_HOLLOW = 0.5  # share of the trunk's mass at its corners, that of a box; the other is where it turns
_AHEAD, _ASIDE = radians(25.0), radians(15.0)  # the most of a swing ahead or back, and of one away from the body
_BEND = 0.8  # of a swing ahead: what the elbow bends more
_ONE_SIDED = radians(3.0)  # over which a swing to one side alone begins
_APART = 2.0  # [s] after which one motion knows nothing of another
_FIRM = 1e6  # times its weight: an arm that hangs at an end
_DEEP = 0.02  # of the body's size: depth in the body at which an arm does not swing
_BESIDE = 0.05  # of its size: what begins nearer to its middle is a neck or a tail
_STILL = 1e-4  # [rad] of a swing that is none
_PELVIS, _CHEST = 5.0 / 45.0, -3.5 / 45.0  # turns about the vertical, of the angle between the legs
_FARTHEST = radians(8.0)  # the most of these turns


def swung(shot: Shot, states: States, hanging: Sequence[int], is_loop: bool) -> Work[States]:
    """Return states (F) of a shot with free arms that swing; in the frames `hanging` they are as they were."""
    tree, limbs = shot.tree, _free(shot)
    if not limbs or len(states) < 3:
        return states
    motion = _Motion(shot, Geometry.of(tree, states))
    strode = _strode(motion, states, limbs)
    motion = motion if strode is states else _Motion(shot, Geometry.of(tree, strode))
    states, geometry = strode, motion.geometry
    arms = [_Arm.of(motion, limb) for limb in limbs if abs(motion.beside(limb)) > _BESIDE * tree.size]
    if not arms:
        return states
    angles = _least(motion, arms, hanging, is_loop)
    if np.abs(angles).max() < _STILL:
        return states
    rotations = tree.rotations(states)
    for arm, (ahead, aside) in zip(arms, angles, strict=True):
        ahead, aside = _AHEAD * np.tanh(ahead / _AHEAD), _ASIDE * np.tanh(_one_sided(aside) / _ASIDE)
        turn = rotate_back(geometry.frames[arm.limb.upper][:, :3], ahead * arm.axes[0] + aside * arm.axes[1])
        bend = _BEND * _one_sided(ahead) * arm.elbow
        for joint, way in ((arm.limb.upper, turn), (arm.limb.middle, bend)):
            rotations[joint] = normalized(product(rotations[joint], exponential(way)))
    return (yield from _outside(shot, states, tree.posed(rotations, states), {arm.limb.upper for arm in arms}))


def _strode(motion: _Motion, states: States, free: Sequence[TwoPartLimb]) -> States:
    """Return states whose pelvis turns with the leg that is ahead and whose chest turns against it, or as they are.

    They are so where all arms are `free`, and hips and trunk are not animated. No goal is lost for it.
    """
    shot, tree = motion.shot, motion.shot.tree
    limbs, parts, reference = two_part_limbs(tree), parts_of_body(tree), shot.reference
    legs = [limb for limb in limbs if parts[limb.upper] == Part.THIGH]
    thighs, ends = [leg.upper for leg in legs], [tip.joint for tip in tree.tips]
    kept = np.array([part in (Part.HIPS, Part.TRUNK) for part in parts]) & tree.above[:, ends].any(1)
    turned = np.abs(np.diff(tree.rotations(reference)[kept])).max()
    may_turn = tree.moves_root and 0 in tree.joint_of and turned <= _STILL
    if len(legs) != 2 or len(free) + 2 < len(limbs) or motion.stands or not may_turn:
        return states
    between = motion.between(legs) - _Motion(shot, Geometry.of(tree, reference)).between(legs)
    pelvis, chest = (_FARTHEST * np.tanh(share * between / _FARTHEST) for share in (-_PELVIS, -_CHEST))
    if np.abs(pelvis).max() < _STILL:
        return states
    spine, neck = spine_and_neck(tree, thighs)
    rotations, frames = tree.rotations(states), motion.geometry.frames
    for joints, turn in (([0], pelvis), (spine, chest - pelvis), (neck, -chest), *(([j], -pelvis) for j in thighs)):
        for joint in joints:
            own = rotate_back(frames[joint][:, :3], motion.up * turn / len(joints))
            rotations[joint] = normalized(product(rotations[joint], exponential(own)))
    found, tasks = tree.posed(rotations, states), precisely(tree, shot.tasks)
    exactly(tree, found, tasks, shot.steady, frames=np.arange(len(states)))
    met, now = (System(tree, each, shot.tasks).met for each in (states, found))
    return states if (met & ~now).any() else found


def _outside(shot: Shot, states: States, found: States, uppers: Collection[int]) -> Work[States]:
    """Return states whose arms swing, of which none is deeper in the body than it is in those without a swing."""
    if shot.thickness is None:
        return found
    tree, swinging = shot.tree, [arm for arm in shot.thickness.arms if arm.joints.upper in uppers]
    thickness = replace(shot.thickness, arms=tuple(swinging)).allowing(Geometry.of(tree, states))
    found = yield from cleared(tree, found, thickness, shot.tasks, shot.fps, shot.smoothing)
    depths = thickness.depths(Geometry.of(tree, found))
    deep = [arm.joints.upper for arm in thickness.arms if depths[arm.tip].max() > _DEEP * tree.size]
    if not deep:
        return found
    joints, rotations = tree.above[deep].any(0), tree.rotations(found)
    rotations[joints] = tree.rotations(states)[joints]
    return tree.posed(rotations, found)


def _free(shot: Shot) -> list[TwoPartLimb]:
    """Return the arms of a shot that may swing, and that nothing is asked of, nor hangs on."""
    tree, parts = shot.tree, parts_of_body(shot.tree)
    if tree.up is None or not any(parts[limb.upper] == Part.THIGH for limb in two_part_limbs(tree)):
        return []
    busy, carrying = {task.tip for task in shot.tasks}, {joint for task in shot.tasks for joint in _carriers(task)}
    found = []
    for limb in two_part_limbs(tree):
        below = tree.above[limb.upper]
        tips = {number for number, tip in enumerate(tree.tips) if below[tip.joint]}
        is_free = tips & set(shot.arms) and not tips & busy and not any(below[joint] for joint in carrying)
        if parts[limb.upper] == Part.UPPER_ARM and is_free:
            found.append(limb)
    return found


def _carriers(task: Task) -> Iterator[int]:
    """Yield the joints that carry the goal of a task."""
    bare = unwrapped(task, FadedTask)
    if isinstance(bare, CarriedTask):
        yield from bare.carriers


class _Motion:
    """Momentum of a body with F poses from each frame to the next one, without that of swings of its arms.

    Masses are shares of the whole body's. `turns` (F - 1) is that of turning about the vertical, `moves` (3, F - 1)
    that of moving across it; `inertia` is what the trunk, with head and arms, has against turning.
    """

    def __init__(self, shot: Shot, geometry: Geometry) -> None:
        self.shot, self.geometry = shot, geometry
        tree = shot.tree
        assert tree.up is not None
        self.up = np.array(tree.up, float)[:, None]
        masses, every, above = zip(*_masses(geometry), strict=True)
        self.whole = sum(masses)
        shares, places = np.array(masses)[:, None, None] / self.whole, np.array(every)
        self.centre = (shares * places).sum(0)
        way = self.across(places - self.centre)
        step, middle = np.diff(way), 0.5 * (way[..., 1:] + way[..., :-1])
        self.turns = (shares[..., 0] * dot(np.broadcast_to(self.up, step.shape), cross(middle, step))).sum(0)
        self.moves = np.diff(self.across(self.centre))
        trunk = shares[list(above)]
        beside = way[list(above), :, :1]
        beside = beside - (trunk * beside).sum(0) / trunk.sum()
        self.inertia = float((trunk[..., 0] * lengths(beside) ** 2).sum())
        held = [task for task in shot.tasks if task.level == Level.HOLD and isinstance(unwrapped(task), PlaceTask)]
        feet = {task.tip for task in held if tree.anatomy.parts[tree.tips[task.tip].joint] == Part.FOOT}
        self.stands = len(feet) > 1
        self.left = self._left()
        self.ahead = cross(self.left, np.broadcast_to(self.up, self.left.shape))

    def across(self, ways: Numbers) -> Numbers:
        """Ways (..., 3, F) without their parts along the vertical."""
        found: Numbers = ways - self.up * (self.up * ways).sum(-2, keepdims=True)
        return found

    def beside(self, limb: TwoPartLimb) -> float:
        """Return how far on the left of the body a limb begins, on average."""
        return float(dot(self.left, self.geometry.heads[limb.upper] - self.centre).mean())

    def between(self, legs: Sequence[TwoPartLimb]) -> Numbers:
        """Angle (F) [rad] by which the left one of two legs, from hip to ankle, is ahead of the right one."""
        found = np.zeros(len(self.geometry.states))
        for leg in legs:
            way = wrist_of(self.geometry, leg) - self.geometry.heads[leg.upper]
            angle = np.arctan2(dot(self.ahead, way), -dot(np.broadcast_to(self.up, way.shape), way))
            found += np.sign(self.beside(leg)) * angle
        return found

    def _left(self) -> Numbers:
        """The direction (3, F) about which knees bend in the first frame of the reference, as the chest turns it."""
        shot, tree = self.shot, self.shot.tree
        begun, parts = Geometry.of(tree, shot.reference.take([0])), parts_of_body(tree)
        every = zip(two_part_limbs(tree), flexion_axes(tree), strict=True)
        knees = [
            rotate(begun.frames[limb.middle][:, :3], axis[:, None])
            for limb, axis in every
            if parts[limb.upper] == Part.THIGH
        ]
        arms = [limb.upper for limb in two_part_limbs(tree) if parts[limb.upper] == Part.UPPER_ARM]
        chest = int(np.flatnonzero(tree.above[:, arms].all(1)).max(initial=0))
        own = rotate_back(begun.frames[chest][:, :3], self.across(np.sum(knees, 0)))
        frames = self.geometry.frames[chest][:, :3]
        left = self.across(rotate(frames, np.broadcast_to(own, (3, frames.shape[-1]))))
        return left / np.maximum(lengths(left), 1e-300)


def _masses(geometry: Geometry) -> Iterator[tuple[float, Numbers, bool]]:
    """Yield masses, their places (3, F), and whether they turn with the trunk."""
    tree, parts = geometry.tree, parts_of_body(geometry.tree)
    limbs = two_part_limbs(tree)
    for limb in limbs:
        for mass, place in _of_limb(geometry, limb):
            yield mass, place, parts[limb.upper] == Part.UPPER_ARM
    corners = geometry.heads[[limb.upper for limb in limbs]]
    middle = corners.mean(0)
    for corner in corners:
        yield TRUNK / len(limbs), middle + np.sqrt(_HOLLOW) * (corner - middle), True
    heads = [tip.joint for tip in tree.tips if parts[tip.joint] == Part.SIMPLE]
    high = heads or [limb.upper for limb in limbs if parts[limb.upper] == Part.UPPER_ARM]
    yield HEAD, geometry.heads[high].mean(0), True


def _of_limb(geometry: Geometry, limb: TwoPartLimb) -> Iterator[tuple[float, Numbers]]:
    """Yield the masses of the parts of a limb, and their places (3, F)."""
    tree, parts, heads = geometry.tree, parts_of_body(geometry.tree), geometry.heads
    wrist = wrist_of(geometry, limb)
    upper, middle, end = (OF_LIMBS[parts[joint].name.lower()] for joint in limb)
    yield upper, 0.5 * (heads[limb.upper] + heads[limb.middle])
    yield middle, 0.5 * (heads[limb.middle] + wrist)
    if limb.has_end:
        ends = [geometry.tip(number) for number, tip in enumerate(tree.tips) if tree.above[limb.end, tip.joint]]
        yield end, 0.5 * (wrist + np.mean(ends, 0))


class _Arm(NamedTuple):
    """A free arm, over F frames: its joints, the axis of its elbow (3, F) in that one's frame, the axes (2, 3, F) about
    which it swings ahead and aside, what both give it to turn (2, F) and to move (2, 3, F) the body, and its inertia.
    """

    limb: TwoPartLimb
    elbow: Numbers
    axes: Numbers
    turns: Numbers
    moves: Numbers
    inertia: float

    @classmethod
    def of(cls, motion: _Motion, limb: TwoPartLimb) -> _Arm:
        geometry, tree = motion.geometry, motion.shot.tree
        count, shoulder = len(geometry.states), geometry.heads[limb.upper]
        masses, places = zip(*_of_limb(geometry, limb), strict=True)
        shares = np.array(masses)[:, None, None] / motion.whole
        ways = np.array(places) - shoulder
        axes = np.array((-motion.left, np.sign(motion.beside(limb)) * motion.ahead))
        moves = (shares * motion.across(cross(axes[:, None], ways))).sum(1)
        lever = np.broadcast_to(shoulder + (shares * ways).sum(0) / shares.sum() - motion.centre, moves.shape)
        turns = dot(np.broadcast_to(motion.up, moves.shape), cross(lever, moves))
        elbow = flexion_axes(tree)[two_part_limbs(tree).index(limb)]
        inertia = float((shares[..., 0] * lengths(ways) ** 2).sum(0)[0])
        return cls(limb, np.repeat(elbow[:, None], count, 1), axes, turns, moves, inertia)


def _least(motion: _Motion, arms: Sequence[_Arm], hanging: Sequence[int], is_loop: bool) -> Numbers:
    """Return the angles (a, 2, F) of arms ahead and aside that cost the least energy over time."""
    count, fps = len(motion.geometry.states), motion.shot.fps
    if motion.stands:
        ways = np.concatenate([arm.moves for arm in arms])
        given = motion.moves
    else:
        ways = np.concatenate([arm.turns for arm in arms])[:, None] / np.sqrt(motion.inertia)
        given = motion.turns[None] / np.sqrt(motion.inertia)
    ways = 0.5 * (ways[..., 1:] + ways[..., :-1])
    own = np.repeat([arm.inertia for arm in arms], 2)
    along = fps**2 * (np.einsum("irf,jrf->fij", ways, ways) + np.diag(own))
    pull = fps**2 * np.einsum("irf,rf->fi", ways, given)
    rounds = 0
    if is_loop and not len(hanging):
        rounds = 1 + int(_APART * fps) // (count - 1)
        along, pull = (np.concatenate([each] * (2 * rounds + 1)) for each in (along, pull))
    right, blocks = np.zeros((len(pull) + 1, len(own))), np.tile(np.diag(own) / _SLOW**2, (len(pull) + 1, 1, 1))
    blocks[1:] += along
    blocks[:-1] += along
    right[:-1] += pull
    right[1:] -= pull
    if len(hanging):
        blocks[list(hanging)] += _FIRM * fps**2 * np.diag(own)
    angles = solve_coupled_blocks(blocks, -along, right)
    angles = angles[rounds * (count - 1) :][:count]
    return angles.T.reshape(len(arms), 2, count)


def _one_sided(angles: Numbers) -> Numbers:
    """Return angles above 0, and 0 below, which begin level."""
    above = np.maximum(angles, 0.0)
    found: Numbers = np.where(above < _ONE_SIDED, 0.5 * above**2 / _ONE_SIDED, above - 0.5 * _ONE_SIDED)
    return found
