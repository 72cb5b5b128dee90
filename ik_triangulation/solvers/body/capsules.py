# SPDX-License-Identifier: GPL-3.0-or-later
"""The thickness of a body: capsules along trunk, head, thighs and upper arms that forearms and hands stay out of.

Their sizes are shares of what the bones tell: of their own lengths, and of the distance between the shoulders for the
breadth of the trunk. They are a little below those of people, as flesh gives (ANSUR II: Gordon et al. 2014, "2012
Anthropometric Survey of U.S. Army Personnel"), and were checked on 25 recordings of other figures: in 21 of them no
forearm is more than a centimetre inside, in the others hands lie on thighs or belly. The trunk is broader than deep:
distances from it count less across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...goals.obstacles import Axes, Segments
from ...kinematics import Body
from ...kinematics.arrays import Columns, Indices, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at, lengths, rotate
from ...kinematics.body import states_of
from ...kinematics.body_anatomy import Part, TwoPartLimb
from .swivelling import limbs_with_swivel

# Half thicknesses, beside their length; the trunk is as broad beside half the distance of the shoulders.
_DEEP, _BROAD, _TOP = 0.22, 0.8, 0.85  # of the trunk, which ends at that share of the way from hips to shoulders
_THIGH, _UPPER_ARM, _FOREARM, _HAND = 0.16, 0.14, 0.12, 0.06
_HEAD, _HEAD_ENDS = 0.38, (0.4, 0.6)  # and the shares of its length between which its capsule is
_LEAST_HEAD = 0.32  # of the trunk's length: a bone of the head that is shorter only marks where it begins


@dataclass(frozen=True)
class Capsules:
    """Capsules (c) around segments between two points (c, 2, 3) in the frames of their `joints` (c, 2).

    Each has a radius (c) [Blender units]. Along the unit vector `across` (c, 3) in the frame of its first joint, a
    distance counts less by the share `flat` (c).
    """

    joints: Indices
    points: Numbers
    radii: Numbers
    across: Numbers
    flat: Numbers

    def placed(self, geometry: Geometry) -> Axes:
        """Return the capsules where poses have them."""
        frames = geometry.frames[self.joints]  # (c, 2, 3, 4, F)
        points = np.broadcast_to(self.points[..., None], (*self.points.shape, frames.shape[-1]))
        places = rotate(frames[..., :3, :], points) + frames[..., 3, :]
        own = np.broadcast_to(self.across[..., None], (len(places), 3, places.shape[-1]))
        across = rotate(frames[:, 0, :, :3], own)
        return Axes(Segments(places[:, 0], places[:, 1]), across, self.flat)


class Arm(NamedTuple):
    """An arm that stays out of capsules: its shoulder, elbow and wrist, the number of its tip, and how near its forearm
    and its hand may come to the axes of these (2, c, F or 1)."""

    joints: TwoPartLimb
    tip: int
    least: Numbers


@dataclass(frozen=True)
class Thickness:
    """The capsules of a body, and its arms with the distances they keep from them."""

    capsules: Capsules
    arms: tuple[Arm, ...]

    def allowing(self, geometry: Geometry) -> Thickness:
        """Return the same with distances no larger than these poses have them: they may be as they are."""
        axes, arms = self.capsules.placed(geometry), []
        for arm in self.arms:
            near = np.stack([axes.nearest(link).distances for link in _links(arm, geometry)])
            arms.append(arm._replace(least=np.minimum(arm.least, near)))
        return replace(self, arms=tuple(arms))

    def depths(self, geometry: Geometry) -> dict[int, Numbers]:
        """Return how deep forearm or hand of each arm are (F) [Blender units], by the numbers of their tips."""
        axes = self.capsules.placed(geometry)
        depths = {}
        for arm in self.arms:
            near = np.stack([axes.nearest(link).distances for link in _links(arm, geometry)])
            depths[arm.tip] = np.maximum(arm.least - near, 0.0).max((0, 1))
        return depths

    def take(self, columns: Columns) -> Thickness:
        """The thickness in those of the poses."""
        return replace(self, arms=tuple(arm._replace(least=at(arm.least, columns)) for arm in self.arms))


def _links(arm: Arm, geometry: Geometry) -> tuple[Segments, Segments]:
    """Return the forearm and the hand of an arm."""
    elbow, wrist = geometry.heads[arm.joints.middle], geometry.heads[arm.joints.end]
    return Segments(elbow, wrist), Segments(wrist, geometry.tip(arm.tip))


def thickness_of(body: Body, factor: float) -> Thickness | None:
    """Return the thickness of a body times a factor; None without any, or where no arm reaches round a trunk.

    What touches in the rest pose may do so in every pose.
    """
    tree, parts, swivels = body.tree, body.tree.anatomy.parts, dict(limbs_with_swivel(body.tree))
    arms, legs = (
        [limb for limb in tree.anatomy.limbs if parts[limb.upper] == part] for part in (Part.UPPER_ARM, Part.THIGH)
    )
    sides = legs if len(legs) > 1 else arms
    if factor <= 0.0 or len(sides) < 2 or not any(arm.upper in swivels for arm in arms):
        return None
    rest = Geometry(tree, states_of([body.rest_pose()]))
    found = _Found(rest)
    trunk = _add_trunk(found, arms, sides)
    for leg in legs:
        found.add_bone(leg.upper, rest.heads[leg.middle, :, 0], _THIGH)
    for number, tip in enumerate(tree.tips):
        if parts[tip.joint] == Part.SIMPLE:
            head, top = rest.heads[tip.joint, :, 0], rest.tip(number)[:, 0]
            if np.linalg.norm(top - head) < _LEAST_HEAD * np.linalg.norm(trunk):
                top = head + _LEAST_HEAD * trunk
            found.add_bone(tip.joint, top, _HEAD, _HEAD_ENDS)
    own = {arm.upper: found.add_bone(arm.upper, rest.heads[arm.middle, :, 0], _UPPER_ARM) for arm in arms}
    capsules, keeping = found.capsules(factor), []
    for arm in arms:
        if arm.upper in swivels:
            end = swivels[arm.upper]
            thick = _FOREARM * lengths(rest.heads[arm.end] - rest.heads[arm.middle])
            thin = _HAND * lengths(rest.tip(end) - rest.heads[arm.end])
            least = np.stack([capsules.radii[:, None] + factor * each for each in (thick, thin)])
            least[:, own[arm.upper]] = 0.0
            keeping.append(Arm(arm, end, least))
    return Thickness(capsules, tuple(keeping)).allowing(rest)


def _add_trunk(found: _Found, arms: Sequence[TwoPartLimb], sides: Sequence[TwoPartLimb]) -> Numbers:
    """Add the trunk in two parts that bend with the spine; return its way (3) from hips to shoulders."""
    tree, heads = found.rest.tree, found.rest.heads[..., 0]
    uppers = [arm.upper for arm in arms]
    across = heads[sides[0].upper] - heads[sides[1].upper]
    across /= max(float(np.linalg.norm(across)), 1e-300)
    hips = heads[0] if sides is arms else heads[[leg.upper for leg in sides]].mean(0)
    beside = (heads[uppers] - hips) @ across
    shoulders = (heads[uppers] - beside[:, None] * across).mean(0)
    spine = np.flatnonzero(tree.above[:, uppers].all(1)).tolist()
    spine = [j for j in spine if tree.anatomy.parts[j] in (Part.HIPS, Part.TRUNK)] or [0]
    carriers = spine[0], spine[len(spine) // 2], spine[-1]
    top = hips + _TOP * (shoulders - hips)
    places = hips, 0.5 * (hips + top), top
    deep = _DEEP * float(np.linalg.norm(shoulders - hips))
    broad = max(_BROAD * float(np.abs(beside).mean()), deep)
    for joints, ends in zip(pairwise(carriers), pairwise(places), strict=True):
        found.add(joints, ends, deep, across, 1.0 - deep / broad)
    way: Numbers = shoulders - hips
    return way


class _Found:
    """Capsules that are found in a rest pose, one after the other."""

    def __init__(self, rest: Geometry) -> None:
        self.rest = rest
        self._each: list[tuple[tuple[int, int], list[Numbers], float, Numbers, float]] = []

    def add(self, joints: tuple[int, int], ends: Sequence[Numbers], radius: float, across: Numbers, flat: float) -> int:
        """Add a capsule between two places (3) that joints carry; return its number."""
        frames = self.rest.frames[..., 0]
        own = [frames[joint, :, :3].T @ (end - frames[joint, :, 3]) for joint, end in zip(joints, ends, strict=True)]
        self._each.append((joints, own, radius, frames[joints[0], :, :3].T @ across, flat))
        return len(self._each) - 1

    def add_bone(self, joint: int, end: Numbers, share: float, ends: tuple[float, float] = (0.0, 1.0)) -> int:
        """Add a round capsule between shares of the way from a joint to an end (3), that thick beside its length."""
        head = self.rest.heads[joint, :, 0]
        places = [head + each * (end - head) for each in ends]
        return self.add((joint, joint), places, share * float(np.linalg.norm(end - head)), np.zeros(3), 0.0)

    def capsules(self, factor: float) -> Capsules:
        """Return all of them, so many times as thick."""
        joints, points, radii, across, flat = zip(*self._each, strict=True)
        return Capsules(np.array(joints), np.array(points), factor * np.array(radii), np.array(across), np.array(flat))
