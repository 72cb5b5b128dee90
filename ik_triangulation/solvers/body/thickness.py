# SPDX-License-Identifier: GPL-3.0-or-later
"""The thickness of a body, and the obstacles of its limbs: what arms and legs stay out of, and how far.

The capsules are the thickness of a body, along trunk, head, thighs and upper arms. Their sizes are shares of what the
bones tell: of their own lengths, and of the distance between the shoulders for the breadth of the trunk. They are a
little below those of people, as flesh gives (ANSUR II: Gordon et al. 2014, "2012 Anthropometric Survey of U.S. Army
Personnel"), and were checked on 25 recordings of other figures: in 21 of them no forearm is more than a centimetre
inside, in the others hands lie on thighs or belly. The trunk is broader than deep: distances from it count less across.

Obstacles are volumes that move as they like; each limb has its own. Source: none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...goals.obstacles import Around, AvoidedVolume, Axes, Segments
from ...kinematics import Body
from ...kinematics.arrays import Columns, Indices, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at, lengths, rotate
from ...kinematics.body import states_of
from ...kinematics.body_anatomy import Part, TwoPartLimb
from .swivelling import limbs_with_swivel

# Half thicknesses, beside their length; the trunk is as broad beside half the distance of the shoulders.
_THICK, _BROAD, _TOP = 0.22, 0.8, 0.85  # of the trunk, which ends at that share of the way from hips to shoulders
_THIGH, _UPPER_ARM, _FOREARM, _HAND = 0.16, 0.14, 0.12, 0.06
_LIMB = _UPPER_ARM, _FOREARM, _HAND
_HEAD, _HEAD_ENDS = 0.38, (0.4, 0.6)  # and the shares of its length between which its capsule is
_LEAST_HEAD = 0.32  # of the trunk's length: a bone of the head that is shorter only marks where it begins
_ABOVE_END = slice(2)
SHALLOW = 0.01  # of the arm's length: depth for which nothing moves


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


_NO_CAPSULES = Capsules(np.empty((0, 2), np.intp), np.empty((0, 2, 3)), np.empty(0), np.empty((0, 3)), np.empty(0))


class Avoided(NamedTuple):
    """Obstacles of a limb in F poses: their volumes, the weight of all (F), and the unit vector `up` (3, 1)."""

    volumes: Sequence[AvoidedVolume]
    weight: Numbers
    up: Numbers

    def take(self, columns: Columns) -> Avoided:
        """The obstacles in those of the poses."""
        volumes = [volume.take(columns) for volume in self.volumes]
        return Avoided(volumes, at(self.weight, columns), self.up)


class Arm(NamedTuple):
    """An arm that stays out of capsules: its shoulder, elbow and wrist, the number of its tip, and how near its forearm
    and its hand may come to the axes of these (2, c, F or 1).

    With obstacles it may be a leg as well, and its upper part counts too: distances (3, c, F or 1) are first those from
    the axes, then from the surfaces of obstacles.
    """

    joints: TwoPartLimb
    tip: int
    least: Numbers
    avoided: Avoided | None = None

    def take(self, columns: Columns) -> Arm:
        """The arm in those of the poses."""
        return self._replace(least=at(self.least, columns), avoided=self.avoided and self.avoided.take(columns))

    def around(self, axes: Axes) -> Axes | Around:
        """Return all that it stays out of."""
        return axes if self.avoided is None else Around(axes, self.avoided.volumes)

    def too_near(self, axes: Axes, geometry: Geometry) -> Numbers:
        """Return by how much its parts are nearer to everything (l, c, F) than they may be; negative where not."""
        around = self.around(axes)
        return self.least - np.stack([around.nearest(link).distances for link in links_of_arm(self, geometry)])


@dataclass(frozen=True)
class Thickness:
    """The capsules of a body, and its arms with the distances they keep from them."""

    capsules: Capsules
    arms: tuple[Arm, ...]

    def allowing(self, geometry: Geometry) -> Thickness:
        """Return the same with distances no larger than these poses have them: they may be as they are."""
        axes, arms = self.capsules.placed(geometry), []
        for arm in self.arms:
            near = [arm.around(axes).nearest(link).distances for link in links_of_arm(arm, geometry)]
            arms.append(arm._replace(least=np.minimum(arm.least, np.stack(near))))
        return replace(self, arms=tuple(arms))

    def depths(self, geometry: Geometry) -> dict[int, Numbers]:
        """Return how deep each arm is in the body (F) [Blender units], by the numbers of their tips."""
        axes, count = self.capsules.placed(geometry), len(self.capsules.radii)
        return {arm.tip: arm.too_near(axes, geometry)[:, :count].max((0, 1), initial=0.0) for arm in self.arms}

    def depths_in_obstacles(self, geometry: Geometry, parts: slice = slice(None)) -> dict[int, Numbers]:
        """Return how deep the lines of some parts of limbs are in obstacles with their margins (o, F), by the tips.

        Where obstacles have no weight that is 0.
        """
        found = {}
        for arm in self.arms:
            if arm.avoided is not None:
                links = links_of_arm(arm, geometry)[parts]
                near = [[each.nearest(link).distances[0] for each in arm.avoided.volumes] for link in links]
                found[arm.tip] = np.maximum(-np.array(near).min(0), 0.0) * (arm.avoided.weight > 0.0)
        return found

    def obstructs(self, geometry: Geometry) -> bool:
        """Tell whether the upper or the lower part of a limb is in an obstacle."""
        depths, tips = self.depths_in_obstacles(geometry, _ABOVE_END), geometry.tree.tips
        return any((each > SHALLOW * tips[tip].reach).any() for tip, each in depths.items())

    def take(self, columns: Columns) -> Thickness:
        """The thickness in those of the poses."""
        return replace(self, arms=tuple(arm.take(columns) for arm in self.arms))


def links_of_arm(arm: Arm, geometry: Geometry) -> Sequence[Segments]:
    """Return the forearm and the hand of an arm, and before them the upper arm if that counts."""
    upper, middle, end = arm.joints
    places = [*(geometry.heads[joint] for joint in (upper, middle, end)), geometry.tip(arm.tip)]
    return [Segments(*each) for each in pairwise(places)][-len(arm.least) :]


def thickness_of(body: Body, factor: float) -> Thickness | None:
    """Return the thickness of a body times a factor; None without any, or where no arm reaches round a trunk.

    What touches in the rest pose may do so in every pose.
    """
    tree, parts, swivels = body.tree, body.tree.anatomy.parts, dict(limbs_with_swivel(body.tree))
    arms, legs = (
        [limb for limb in tree.anatomy.limbs if parts[limb.upper] == part] for part in (Part.UPPER_ARM, Part.THIGH)
    )
    sides = legs if len(legs) > 1 else arms
    if factor <= 0.0 or len(sides) < 2 or not any(arm.upper in swivels and arm.has_end for arm in arms):
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
        if arm.upper in swivels and arm.has_end:
            end = swivels[arm.upper]
            thick = _FOREARM * lengths(rest.heads[arm.end] - rest.heads[arm.middle])
            thin = _HAND * lengths(rest.tip(end) - rest.heads[arm.end])
            least = np.stack([capsules.radii[:, None] + factor * each for each in (thick, thin)])
            least[:, own[arm.upper]] = 0.0
            keeping.append(Arm(arm, end, least))
    return Thickness(capsules, tuple(keeping)).allowing(rest)


def with_obstacles(
    body: Body, thickness: Thickness | None, factor: float, avoided: Mapping[int, Avoided]
) -> Thickness | None:
    """Return a thickness whose arms and legs, by the numbers of their tips, stay out of obstacles as well.

    Their own thickness, times the factor, counts there; limbs of another form are left out.
    """
    tree, swivels = body.tree, dict(limbs_with_swivel(body.tree))
    limbs = {swivels[limb.upper]: limb for limb in tree.anatomy.limbs if limb.upper in swivels and limb.has_end}
    if not any(tip in limbs for tip in avoided):
        return thickness
    rest = Geometry(tree, states_of([body.rest_pose()]))
    capsules = _NO_CAPSULES if thickness is None else thickness.capsules
    arms = {arm.tip: arm for arm in thickness.arms} if thickness else {}
    for tip, each in avoided.items():
        if tip not in limbs:
            continue
        limb = limbs[tip]
        links = links_of_arm(Arm(limb, tip, np.empty((3, 0, 1))), rest)
        thick = [share * float(lengths(link.end - link.begin)[0]) for share, link in zip(_LIMB, links, strict=True)]
        own = arms.get(tip, Arm(limb, tip, np.full((2, len(capsules.radii), 1), -np.inf))).least
        whole = np.full((3, own.shape[1] + len(each.volumes), own.shape[2]), -np.inf)
        whole[1:, : own.shape[1]], whole[:, own.shape[1] :] = own, factor * np.array(thick)[:, None, None]
        arms[tip] = Arm(limb, tip, whole, each)
    return Thickness(capsules, tuple(arms.values()))


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
    deep = _THICK * float(np.linalg.norm(shoulders - hips))
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
