# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of two long bones and an end: all poses that reach, by the swivel about the line from root to wrist.

Source: Tolani, Goswami and Badler 2000 ("Real-time inverse kinematics techniques for anthropomorphic limbs"), with the
posture of a reference: the end turns as the target says, or stays as it is turned in the reference; the elbow bends in
the plane in which the reference bends it; and the swivel, which turns both bones rigidly, is all that is left. So every
angle between rotations, and every limit, is a + b cos + c sin of it.

Everything is in the axes of the root's parent. Arrays have the frames last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...goals.comfort import PoleTask
from ...goals.orientation import OrientTask
from ...goals.task import PlaceTask, Task
from ...kinematics import Freedom, Hinge
from ...kinematics.arrays import Columns, Indices, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import (
    compose,
    conjugated,
    cross,
    dot,
    lengths,
    matrices,
    normalized,
    product,
    quaternions,
    rotate,
    rotate_back,
    turn_vectors,
)
from ...kinematics.batch.coordinates import bounded
from ..batch.swings import smallest_rotations
from .elbow import Elbow, axes_of, directions, flexion_at_rest, hinge_turns

_BONES, _WITH_END = 2, 3  # joints
MISS = 1e-4  # of the limb's length: beyond it lengths prove that the end cannot be there
_ROUNDING = 1e-7  # of the limb's length: it never quite straightens, so that its bend keeps a direction


class TwoBones:
    """F limbs with the swivel left to choose, measured from the direction that the least turn gives the elbow.

    `axis` (3, F) is the unit way from root to wrist; `upper` and `lower` (3, 3, F) are the orientations of both bones
    at swivel 0, `end` (3, 3, F) that of the end, or None if it does not turn by itself. `possible` (F) tells where the
    lengths of the bones allow the goal, `longest` (F) is the largest distance from the root.
    """

    def __init__(
        self, tree: Tree, frames: States, tasks: Sequence[Task], reference: Numbers, flexion: Numbers | None = None
    ) -> None:
        """`flexion` (3, 1) is the direction to which the elbow goes where the reference is straight."""
        place, orient, self.pole = _goals(tasks)
        assert place is not None
        self.tree, joints, count = tree, tree.joints, len(frames)
        rests = matrices(normalized(np.array([joint.rest for joint in joints], float)[:, :, None]))
        offsets = np.array([joint.offset for joint in joints], float)[:, :, None]
        tip = np.array(tree.tips[0].place, float)[:, None]
        self.rests, self.has_end = rests, len(joints) == _WITH_END
        if (reference == reference[..., :1]).all():
            reference = reference[..., :1]  # one pose in all frames
        turned = matrices(reference)
        self.turned = np.broadcast_to(turned, (*turned.shape[:3], count))
        goal = rotate_back(frames.root, place.target.place - frames.place) - offsets[0]
        self.frames, self.head = frames, offsets[0]
        self.end = None
        low = tip
        if orient is not None:
            rest = np.array(tree.tips[0].rotation.to_matrix(), float)[:, :, None]
            told = compose(frames.root.swapaxes(0, 1), orient.rotation)
            end = compose(told, rest.swapaxes(0, 1))
            self.end = np.broadcast_to(end, (3, 3, count))
            low, goal = offsets[2], goal - rotate(self.end, tip)
        elif self.has_end:  # it moves with the lower bone
            low = offsets[2] + rotate(compose(rests[2], turned[2]), tip)
        self.goal = np.broadcast_to(goal, (3, count))
        bone = offsets[2] if self.has_end and orient is None else None
        self._bend(Elbow(bounded(joints[1].freedom), rests[1], offsets[1], low, bone), turned, flexion)

    def _bend(self, elbow: Elbow, turned: Numbers, flexion: Numbers | None) -> None:
        """Bend the elbow to the distance of the wrist, and turn the limb onto it by the least turn.

        `turned` (n, 3, 3, F or 1) are the joints' rotations in the reference.
        """
        reference, up = compose(self.rests[0], turned[0]), elbow.up
        before = compose(reference, compose(elbow.rest, turned[1]))
        first, second = lengths(up), lengths(elbow.low)
        size = first + second
        least, away = np.abs(first - second), lengths(self.goal)
        self.possible = (away >= least - MISS * size) & (away <= (1.0 + MISS) * size)
        longest = size
        if elbow.bone is not None:  # with its end turned out the limb is longer
            longest = first + lengths(elbow.bone) + lengths(elbow.low - elbow.bone)
        self.longest = size if isinstance(elbow.freedom, Hinge) else longest
        distance = np.clip(away, least + _ROUNDING * size, (1.0 - _ROUNDING) * longest)
        elbow_before = rotate(reference, up)
        wrist_before = elbow_before + rotate(before, elbow.low)
        way = directions(np.where(lengths(wrist_before) > _ROUNDING * size, wrist_before, elbow_before))
        if flexion is None:
            normal = np.broadcast_to(
                flexion_at_rest(elbow.freedom, elbow.rest, up, elbow.low[:, :1]), elbow_before.shape
            )
        else:
            normal = rotate_back(reference, cross(flexion, way))
        flexion, wanted = directions(normal), None
        own = elbow.on_own_hinge(flexion)
        if own is not flexion:  # the upper bone turns its hinge to the bend
            wanted = elbow.normal_of_bend(turned[1], flexion, distance)
        relative, normal, turn = elbow.bent_with_end(turned[1], own, distance)
        low = elbow.low
        if turn is not None and elbow.bone is not None:  # the end turns a little off the lower bone
            low = elbow.bone + rotate(turn, low - elbow.bone)
            rest = self.rests[2]
            self.turned = self.turned.copy()
            self.turned[2] = compose(rest.swapaxes(0, 1), compose(turn, compose(rest, turned[2])))
        bent = up + rotate(relative, low)
        shape = axes_of(bent, normal)  # of the limb, seen from the upper bone
        self.axis = directions(np.where(lengths(self.goal) > _ROUNDING * size, self.goal, wrist_before))
        # The normal of the reference, brought to the goal by the least turn.
        if wanted is not None:
            reference = compose(reference, hinge_turns(up, rotate(relative, low), normal, wanted))
        self._of_reference = way, rotate(reference, normal)
        base = rotate(matrices(smallest_rotations(way, self.axis)), self._of_reference[1])
        self.upper = compose(axes_of(self.axis, base), shape.swapaxes(0, 1))
        self.reference_upper = np.broadcast_to(reference, self.upper.shape)
        self.lower = compose(self.upper, relative)
        self.relative = compose(elbow.rest.swapaxes(0, 1), relative)  # the elbow's own rotation
        self.normal = base

    def rotations(self, swivel: Numbers) -> Numbers:
        """Rotations of all joints (n, 4, F) at a swivel (F) [rad]."""
        return self.rotations_at(swivel, slice(None))

    def rotations_at(self, swivel: Numbers, some: Columns) -> Numbers:
        """The same in some frames."""
        cosine, sine = np.cos(0.5 * swivel), np.sin(0.5 * swivel)
        a, b = (each[:, some] for each in self.root_turns)
        found = [cosine * a + sine * b, quaternions(self.relative[..., some])]
        if self.end is not None:
            a, b = (each[:, some] for each in self.end_turns)
            found.append(cosine * a + sine * b)
        elif self.has_end:
            found.append(quaternions(self.turned[2][..., some]))
        return normalized(np.array(found))

    @cached_property
    def root_turns(self) -> tuple[Numbers, Numbers]:
        """Quaternions A and B (4, F): the root's rotation is A cos(swivel / 2) + B sin(swivel / 2)."""
        return _turns(self.rests[0], self.upper, self.axis)

    @cached_property
    def end_turns(self) -> tuple[Numbers, Numbers]:
        """The same of the end; it has to be there."""
        assert self.end is not None
        into = quaternions(compose(self.lower, self.rests[2]))
        end = quaternions(self.end)
        return product(conjugated(into), end), product(product(conjugated(into), _pure(-self.axis)), end)

    @property
    def freedoms(self) -> list[tuple[Freedom, tuple[Numbers, Numbers]]]:
        """The freedoms of the joints that the swivel turns, with their rotations as in root_turns."""
        joints = self.tree.joints
        found = [(joints[0].freedom, self.root_turns)]
        return found if self.end is None else [*found, (joints[2].freedom, self.end_turns)]

    def turn_of_upper(self) -> Numbers:
        """Cosine of the turn of the upper bone off the reference, as (a, b, c) of a + b cos + c sin (3, F)."""
        return cosines(trace_terms(self.axis, compose(self.upper, self.reference_upper.swapaxes(0, 1))))

    def turn_of_end(self) -> Numbers:
        """Cosine of the turn of the end's own rotation off the reference, likewise."""
        assert self.end is not None
        missing = compose(self.end, self._end_of_reference.swapaxes(0, 1))
        return cosines(trace_terms(-self.axis, missing))

    def swing_of_end(self) -> Numbers:
        """Cosine of the swing of the end off the reference, likewise."""
        assert self.end is not None
        rest, now = self._end_of_reference[:, 1], self.end[:, 1]
        along = dot(self.axis, rest) * dot(self.axis, now)
        return np.array((along, dot(rest, now) - along, -dot(rest, cross(self.axis, now))))

    def drift(self, cyclic: bool) -> Numbers:
        """Changes of swivel (F) [rad] from each frame to the next by which the end turns least off the reference."""
        count = len(self.frames)
        if self.end is None or count < 2:
            return np.zeros(count)
        after = np.arange(1, count + 1) % count
        spin = self._spin(self.end, after) - self._spin(self._end_of_reference, after)
        if not cyclic:
            spin[-1] = 0.0
        return spin

    def transport(self, cyclic: bool) -> Numbers:
        """Changes of swivel (F) [rad] from each frame to the next by which the least turn of the axis carries the limb.

        Swivel 0 is carried from the reference to each frame by itself, so it spins where the axis passes near the
        opposite of the reference. What the reference itself turns by, beside the least turn of its axis, stays.
        """
        after = np.arange(1, len(self.frames) + 1) % len(self.frames)
        turn = _transported(self.axis, self.normal, after)
        way, normal = self._of_reference
        if way.shape[1] == len(after):
            turn -= _transported(way, normal, after)
        if not cyclic:
            turn[-1] = 0.0
        return turn

    def _spin(self, turned: Numbers, after: Indices) -> Numbers:
        return dot(turn_vectors(compose(turned[:, :, after], turned.swapaxes(0, 1))), self.axis)

    @cached_property
    def _end_of_reference(self) -> Numbers:
        """Axes (3, 3, F) of the end, turned off the lower bone as in the reference."""
        return compose(self.lower, compose(self.rests[2], self.turned[2]))

    def swivel_to(self, location: Numbers, angle: Numbers) -> Numbers:
        """Swivel (F) that brings the elbow to the side of a pole (3, F; armature space), turned by an angle (F)."""
        pole = self._from_root(location)
        side = cross(self.axis, self.normal)
        to = np.arctan2(dot(cross(side, pole), self.axis), dot(side, pole))
        return np.broadcast_to(to + angle, (len(self.frames),))

    def pole_from_root(self, some: Indices) -> Numbers:
        """Place of the pole (3, n), seen from the root, in some frames; there has to be one."""
        assert self.pole is not None
        found: Numbers = np.broadcast_to(self._from_root(self.pole.location), (3, len(self.frames)))[:, some]
        return found

    def _from_root(self, location: Numbers) -> Numbers:
        found: Numbers = rotate_back(self.frames.root, location - self.frames.place) - self.head
        return found

    def swivels_of(self, upper: Numbers, some: Indices) -> Numbers:
        """Swivels (n) of limbs whose upper bone has orientations (3, 3, n), in these frames."""
        axis, before = self.axis[:, some], self.normal[:, some]
        normal = rotate(upper, rotate_back(self.upper[..., some], before))
        found: Numbers = np.arctan2(dot(cross(before, normal), axis), dot(before, normal))
        return found


def suits(tree: Tree, tasks: Sequence[Task], with_end: bool) -> bool:
    """Tell whether these joints and tasks are those of such a limb; `with_end` if the last of three is an end."""
    place, orient, _ = _goals(tasks)
    known = 1 + sum(isinstance(task, OrientTask | PoleTask) for task in tasks)
    if not tree.is_chain or place is None or place.target.shape is not None or len(tasks) > known or tree.held:
        return False
    if not (len(tree.joints) == _BONES and orient is None) and not (len(tree.joints) == _WITH_END and with_end):
        return False
    links = [*(joint.offset.length for joint in tree.joints[1:]), tree.tips[0].place.length]
    return min(links[:_BONES]) > _ROUNDING * tree.size


def trace_terms(axis: Numbers, m: Numbers) -> Numbers:
    """Trace of R(axis, swivel) m as (a, b, c) of a + b cos + c sin (3, F)."""
    along = dot(axis, rotate(m, axis))
    x, y, z = axis
    sine = x * (m[1, 2] - m[2, 1]) + y * (m[2, 0] - m[0, 2]) + z * (m[0, 1] - m[1, 0])
    return np.array((along, m[0, 0] + m[1, 1] + m[2, 2] - along, sine))


def cosines(terms: Numbers) -> Numbers:
    """Terms of the cosine of a rotation's angle, from those of its trace."""
    found: Numbers = (terms - np.array([[1.0], [0.0], [0.0]])) / 2.0
    return found


def _turns(rest: Numbers, frame: Numbers, axis: Numbers) -> tuple[Numbers, Numbers]:
    into, turned = quaternions(rest), quaternions(frame)
    own = product(conjugated(into), turned)
    return own, product(product(conjugated(into), _pure(axis)), turned)


def _pure(v: Numbers) -> Numbers:
    """Vectors as quaternions."""
    return np.concatenate((np.zeros((1, v.shape[-1])), v))


def _goals(tasks: Sequence[Task]) -> tuple[PlaceTask | None, OrientTask | None, PoleTask | None]:
    """The first task of each of these kinds."""
    place = next((task for task in tasks if isinstance(task, PlaceTask)), None)
    orient = next((task for task in tasks if isinstance(task, OrientTask)), None)
    return place, orient, next((task for task in tasks if isinstance(task, PoleTask)), None)


def _transported(axis: Numbers, normal: Numbers, after: Indices) -> Numbers:
    """Angles (F) [rad] about the axes (3, F) of frames `after` from the normals there to those carried from before."""
    carried = rotate(matrices(smallest_rotations(axis, axis[:, after])), normal)
    axis, normal = axis[:, after], normal[:, after]
    turn: Numbers = np.arctan2(dot(cross(normal, carried), axis), dot(normal, carried))
    return turn
