# SPDX-License-Identifier: GPL-3.0-or-later
"""Hips of a body whose feet are led by goals: above the foot that stands, as high as both legs allow.

A foot is taken to stand the more, the lower its goal is beside where the pose has it. In a step the weight goes over
to that one, and the hips sink by what the other leg lacks. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.task import PlaceTask, Task, unwrapped
from ...kinematics.arrays import averaged_in_time
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import lengths
from ...kinematics.body_anatomy import ARM_PARTS, Part
from .flexing import parts_of_body, two_part_limbs

_LIFT = 0.08  # of the leg's length: height of a foot above the other one at which it bears little
_OVER = 0.7  # share of the way to the foot that stands
_STRAIGHT = 0.985  # of the leg's length, to which it straightens
_LOWEST = 0.4  # of it, that the hips stay above a foot that is too far aside
_AVERAGES = 10  # over the frames beside each
_REACHED = 1.05  # of an arm's length: distance of a place from a shoulder that a body which stands reaches


def stood(tree: Tree, states: States, tasks: Sequence[Task]) -> States | None:
    """Return the states of an upright body with its hips moved over the feet that have places, without their turn.

    None where there are none, or where a hand cannot get to its place from there.
    """
    up, places = tree.up, [(task, unwrapped(task)) for task in tasks]
    limbs = {
        number: limb
        for limb in two_part_limbs(tree)
        for number, tip in enumerate(tree.tips)
        if tree.above[limb.end, tip.joint]
    }
    parts = parts_of_body(tree)
    reached = [(task.tip, task) for task, bare in places if isinstance(bare, PlaceTask) and task.tip in limbs]
    feet = [(limbs[tip], tip, task) for tip, task in reached if parts[limbs[tip].upper] == Part.THIGH]
    if up is None or not feet or not tree.moves_root:
        return None
    geometry = Geometry(tree, states)
    ways = np.array([task.measure(geometry).errors for _, _, task in feet])  # (n, 3, F)
    heights = np.einsum("i,nif->nf", up, ways)
    longest = [sum(tree.joints[j].offset.length for j in (limb.middle, limb.end)) for limb, *_ in feet]
    bears = 1.0 / (1.0 + ((heights - heights.min(0)) / (_LIFT * max(longest))) ** 2)
    bears = (1.0 - _OVER) / len(feet) + _OVER * bears / bears.sum(0)
    tips = np.array([geometry.tip(tip) for _, tip, _ in feet])
    move = (bears[:, None] * (tips + ways)).sum(0) - tips.mean(0)
    move = averaged_in_time(move.T, _AVERAGES if len(states) > 1 else 0).T
    move -= up[:, None] * (up @ move)
    rise = heights.min(0)
    for (limb, _, _), way, length in zip(feet, ways, longest, strict=True):
        line = geometry.heads[limb.end] + way - geometry.heads[limb.upper] - move  # from where the hip is level
        below = up @ line
        aside = lengths(line - up[:, None] * below)
        long = np.maximum(_STRAIGHT * length, lengths(geometry.heads[limb.end] - geometry.heads[limb.upper]))
        rise = np.minimum(rise, below + np.sqrt(np.maximum(long**2 - aside**2, (_LOWEST * length) ** 2)))
    rise = averaged_in_time(rise, _AVERAGES // 2 if len(states) > 1 else 0)
    moved = geometry.shifted(tree.root_ways.T @ (tree.root_ways @ (move + up[:, None] * rise)))
    for tip, task in reached:
        limb = limbs[tip]
        if parts[limb.upper] not in ARM_PARTS:
            continue
        arm = lengths(moved.tip(tip) - moved.heads[limb.end]).max() + sum(
            tree.joints[j].offset.length for j in (limb.middle, limb.end)
        )
        far = lengths(moved.tip(tip) + task.measure(moved).errors - moved.heads[limb.upper])
        if (far > _REACHED * arm).any():
            return None
    return moved.states
