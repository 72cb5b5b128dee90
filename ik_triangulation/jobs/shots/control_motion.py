# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of the IK controls of a limb that shows its solved frames: measured on the evaluated rig, and corrected.

A control carries what it shows through heels, parents and other bones, which are the rig's own affair: it is moved by
what is missing between the shown hand or foot and the solved one. That is exact at once where it carries it rigidly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ...cooperative import Work
from ...items import REDUCED
from ...kinematics import Free
from ...kinematics.arrays import Array
from ...kinematics.rotation import orientation, rotation_angle
from ...motion.frames import flowing, straight
from ...motion.pole_path import Bend, StretchSearch, across, calm_sides, mean_angle, turned_about, turns_between
from ...motion.reduction import ControlBounds, FullBake, JointChannels
from ...rig.by_hand.shown_limb import is_animated_by_hand
from ...rig.freedom import keyed
from ...rig.ik_controls import IKControls, Showing, shown_offset
from ...rig.keyframes import Channel
from ...rig.limb import Limb
from ...rig.rotation import channel, run_of
from ...rig.timeline import Clock
from ...rig.units import scale_of
from .frame_solver import SolvedFrame
from .keys import fewer_keys, values_before_start

_AXES = (Vector(), *map(Vector, np.eye(3).tolist()))
_STRETCHED = 1e-3  # of the squared length of the upper bone: a stretch that is made up for
_REACHED = 1e-3  # of the reach: distance from the IK target that is no miss
_LEAST = 1e-3  # of the reach: distance of a pole from the elbow that tells no side


class Discrepancy(NamedTuple):
    """Deviations of an evaluated limb at one frame: of tip and elbow [of the reach], of the tip's rotation [rad]."""

    tip: float
    turn: float
    elbow: float


class _Seen(NamedTuple):
    """A frame as evaluated: matrix_basis that the control should have (4x4), the map from armature space to the pole's
    location channels (4 x 3), the shown root, elbow and wrist (3 x 3), the scale of the base, and what is missing."""

    basis: Matrix
    into_pole: Array | None
    bend: Array
    scale: Vector | None
    missing: Discrepancy


class ControlMotion:
    """Location and rotation of a control and location of a pole at some frames; see() corrects them.

    `wanted` has the limb to show at each frame. The scale of the first bone makes up for the rig's own stretch unless
    that is kept, as it is by default where somebody has animated the controls. `reach` is the limb's length.
    """

    def __init__(
        self,
        limb: Limb,
        controls: IKControls,
        wanted: Mapping[float, LimbPlaces],
        reach: float,
        keeps_stretch: bool | None = None,
    ) -> None:
        self.limb, self.controls = limb, controls
        self.frames, asked = list(wanted), list(wanted.values())
        self.has_tip = controls.tip.bone != controls.lower
        self._asked, self.reach = dict(wanted), reach
        roots, elbows, wrists = (np.array([each.bend[k] for each in asked]) for k in range(3))
        self.bend = Bend(roots, elbows, wrists, self.reach)
        self._seen: dict[float, _Seen] = {}
        self._own_axes = controls.tip_axes(limb.armature) if self.has_tip else None
        self._turn = np.zeros(len(asked))  # of the pole about the line from root to wrist [rad]
        self._stretch: StretchSearch | None = None
        if keeps_stretch is None:
            keeps_stretch = is_animated_by_hand(limb.armature, controls)
        self._keeps_stretch = not controls.base or keeps_stretch
        self._looked = 0
        self._aimed = dict(zip(self.frames, elbows, strict=True))
        if controls.pole:
            hinge, distance, upper = _pole_at_rest(limb.armature, controls)
            hinges = np.array([each.upper @ hinge for each in asked])
            self._sides = self._sides_of(hinges)
            sizes = self.bend.upper_lengths / upper
            heights = np.linalg.norm(self.bend.offsets, axis=1)
            aimed = elbows - self.bend.offsets + heights[:, None] * self._sides
            self._aimed = dict(zip(self.frames, aimed, strict=True))
            self._distances = heights + np.maximum(distance * sizes, _LEAST * self.reach)

    def _sides_of(self, hinges: Array) -> Array:
        """Return the sides (F x 3) to which the limb is to bend."""
        return calm_sides(self.bend, hinges, np.array(self.frames, float))

    def see(self, depsgraph: Depsgraph, frame: float) -> None:
        """Measure a frame, evaluated."""
        armature, controls = self.limb.armature.evaluated_get(depsgraph), self.controls
        bones, asked = armature.pose.bones, self._asked[frame]
        control = bones[controls.control]
        tip = bones[controls.tip.shown].matrix @ shown_offset(self.limb.armature, controls.tip)
        wanted = _placed(asked, tip, self.limb.armature.data.bones[controls.tip.bone].length)
        if not self.has_tip:
            wanted = Matrix.Translation(wanted @ _tail(self.limb) - tip @ _tail(self.limb)) @ tip
        elbow = bones[controls.shown_by(controls.lower)]
        shown = [bones[controls.shown_by(controls.upper)].head, elbow.head, tip.to_translation()]
        if not self.has_tip:
            shown[2] = elbow.tail
        missing = Discrepancy(
            (wanted @ _tail(self.limb) - tip @ _tail(self.limb)).length / self.reach,
            rotation_angle(orientation(tip.to_3x3()), asked.rotation) if self.has_tip else 0.0,
            self._elbow_off(np.array(shown), np.array((asked.bend[0], self._aimed[frame], asked.bend[2]))) / self.reach,
        )
        carried = self._out_of_reach(armature) @ tip
        there = wanted @ carried.inverted_safe() @ control.matrix
        if self.has_tip and self._own_axes:
            name, axes = self._own_axes
            copying = orientation(bones[name].matrix.to_3x3())
            missing_turn = asked.rotation @ orientation(tip.to_3x3()).conjugated()
            own = axes.conjugated() @ copying.conjugated() @ missing_turn @ copying @ axes
            turned = orientation(control.matrix.to_3x3()) @ own
            there = Matrix.LocRotScale(there.translation, turned, control.matrix.to_scale())
        basis = _into_channels(armature, control, there)
        pole = _into_location(armature, bones[controls.pole]) if controls.pole else None
        scale = bones[controls.base].matrix_basis.to_scale() if controls.base else None
        self._seen[frame] = _Seen(basis, pole, np.array(shown), scale, missing)

    def _out_of_reach(self, armature: Object) -> Matrix:
        """Return the translation (4x4) from the end of what IK turns to its target; none where it is there.

        Where a control is out of reach, the limb only points at it: not the shown tip, but the target goes with it.
        """
        owner = armature.pose.bones[self.controls.owner]
        constraint = owner.constraints[self.controls.constraint]
        end = owner.tail if constraint.use_tail else owner.head
        way = armature.pose.bones[constraint.subtarget].head - end
        return Matrix.Translation(way if way.length > _REACHED * self.reach else Vector())

    def _elbow_off(self, shown: Array, aimed: Array) -> float:
        """Return how far an elbow is off where it is aimed at: without what the rig's own stretch does if that is kept.

        Both are places of root, elbow and wrist (3 x 3).
        """
        if not (self.controls.base and self._keeps_stretch):
            return float(np.linalg.norm(shown[1] - aimed[1]))
        here, there = (Bend(each[:1], each[1:2], each[2:], self.reach) for each in (shown, aimed))
        offsets = across(here.offsets, there.lines), there.offsets
        heights = [float(np.linalg.norm(each)) for each in offsets]
        return float(np.linalg.norm(offsets[0] - offsets[1] * (heights[0] / heights[1] if heights[1] else 0.0)))

    @property
    def let_off(self) -> Array:
        """Distances (F) from the solved elbows of where they are aimed, for calm turns [of the reach]."""
        aimed = np.array([self._aimed[frame] for frame in self.frames])
        return np.asarray(np.linalg.norm(aimed - self.bend.elbows, axis=1) / self.reach)

    @property
    def missing(self) -> list[Discrepancy]:
        """The deviations at each frame when it was seen last."""
        return [self._seen[frame].missing for frame in self.frames]

    def correct(self) -> None:
        """Turn the pole about the limb by what the shown elbow is off, and scale the base by what the upper bone is.

        The pole is at first turned by the same angle at all frames.
        """
        shown = np.array([self._seen[frame].bend for frame in self.frames])
        there = Bend(shown[:, 0], shown[:, 1], shown[:, 2], self.reach)
        if not self._keeps_stretch:
            if self._stretch is None:
                self._unscaled = np.array([self._seen[frame].scale for frame in self.frames])
                search = StretchSearch(self.bend)
                self._stretch = search if search.step(there) > _STRETCHED else None
            else:
                self._stretch.step(there)
        if not self.controls.pole:
            return
        lines, weights = self.bend.lines, self._shares(there)
        angles = turns_between(self._sides, across(there.offsets, lines), lines)
        self._turn = self._turn - (weights * angles if self._looked else mean_angle(angles, weights))
        self._looked += 1

    def _shares(self, there: Bend) -> Array:
        """Return the shares (F) by which the elbow tells the side of the bend, as solved and as shown `there`."""
        return there.shares

    def channels(self, clock: Clock, first: float) -> list[Channel]:
        """Return the channels to key, which run on from the values before `first` (time in the action)."""
        armature, seen = self.limb.armature, [self._seen[frame] for frame in self.frames]
        control = armature.pose.bones[self.controls.control]
        runs = [_location(control, np.array([each.basis.to_translation() for each in seen]))]
        if self.has_tip and keyed(control):
            turns = np.array([orientation(each.basis.to_3x3()) for each in seen], float)
            before = values_before_start(armature, control.name, first)
            values = run_of(turns, control.rotation_mode, Free(), before)
            runs.append(Channel(control.name, control.path_from_id(channel(control)[0]), values, keyed(control)))
        if self.controls.pole:
            turned = turned_about(self._sides, self.bend.lines, self._turn)
            places = self.bend.elbows - self.bend.offsets + self._distances[:, None] * turned
            maps = np.array([each.into_pole for each in seen])
            located = maps[:, 0] + np.einsum("fk,fkj->fj", places, maps[:, 1:])
            runs.append(_location(armature.pose.bones[self.controls.pole], located))
        if self._stretch is not None:
            base, scales = armature.pose.bones[self.controls.base], self._unscaled * self._stretch.scales[:, None]
            runs.append(Channel(base.name, base.path_from_id("scale"), scales.astype(np.float32), range(3)))
        return [run for run in runs if run.indices]

    def reduced(
        self, runs: Sequence[Channel], times: Sequence[float], linear: bool, poses: Sequence[int]
    ) -> Work[tuple[Sequence[int], list[Channel], float]]:
        """Return the keys that the motion needs, by their indices, the runs of these, and how far the tip deviates.

        Those of `poses`, by index, are among them.
        """
        limb = self.limb
        tracks, columns, begin = [], dict[str, list[int]](), 0
        for run in runs:
            end = begin + run.values.shape[1]
            if "rotation" in run.path:
                mode = limb.armature.pose.bones[run.bone].rotation_mode
                tracks.append(JointChannels(0, mode, slice(begin, end), run.indices))
            else:
                columns[run.bone] = columns.get(run.bone, []) + [begin + index for index in run.indices]
            begin = end
        located = columns.pop(self.controls.control, [])
        others = [column for some in columns.values() for column in some]
        values = np.hstack([run.values for run in runs]).astype(np.float64)
        curves = (straight if linear else flowing)(np.array(times, np.float64), values)
        scale = scale_of(limb.armature)
        bounds = ControlBounds(len(times), located, others, _tail(limb).length, scale)
        full = FullBake(curves, tracks, bounds, [*located, *others])
        found = yield from fewer_keys(full, runs, limb.reduce_tolerance or REDUCED * self.reach * scale, poses)
        return found.at, found.runs, found.deviation


class LimbPlaces(NamedTuple):
    """A limb at a frame: tail and rotation of the tip, orientation of the upper bone; root, elbow and wrist."""

    tail: Vector
    rotation: Quaternion
    upper: Quaternion
    bend: tuple[Vector, Vector, Vector]

    @staticmethod
    def of(solved: SolvedFrame, controls: IKControls, limb: Limb) -> LimbPlaces:
        """Return those of a solved frame."""
        pose = solved.pose
        places = {joint.name: row for row, joint in enumerate(pose.chain.joints)}
        upper, lower = places[controls.upper], places[controls.lower]
        wrist = pose.tip
        if controls.tip.bone != controls.lower:
            row = places.get(limb.tip)
            along = Vector((0.0, limb.armature.data.bones[limb.tip].length, 0.0))
            wrist = pose.tip - pose.tip_rotation @ along if row is None else pose.head(row)
        bend = pose.head(upper).copy(), pose.head(lower).copy(), wrist.copy()
        return LimbPlaces(pose.tip.copy(), pose.tip_rotation, orientation(pose.frame(upper)), bend)

    @staticmethod
    def shown(armature: Object, controls: IKControls, limb: Limb) -> LimbPlaces:
        """Return those that an evaluated armature shows."""
        return LimbPlaces.at({each.bone: frame_shown(armature, each) for each in controls.showing}, controls, limb)

    @staticmethod
    def at(frames: Mapping[str, Matrix], controls: IKControls, limb: Limb) -> LimbPlaces:
        """Return those of a limb whose bones have these frames (4x4, armature space), by their names."""
        tip, upper, lower = frames[controls.tip.bone], frames[controls.upper], frames[controls.lower]
        tail = tip @ _tail(limb)
        wrist = tip.translation if controls.tip.bone != controls.lower else tail
        bend = upper.translation.copy(), lower.translation.copy(), wrist.copy()
        return LimbPlaces(tail, orientation(tip.to_3x3()), orientation(upper.to_3x3()), bend)


def frame_shown(armature: Object, showing: Showing) -> Matrix:
    """Return the frame (4x4, armature space) that an evaluated armature shows a bone of a limb in."""
    return armature.pose.bones[showing.shown].matrix @ shown_offset(armature, showing)


def _tail(limb: Limb) -> Vector:
    return Vector((0.0, limb.armature.data.bones[limb.tip].length, 0.0))


def _placed(asked: LimbPlaces, shown: Matrix, length: float) -> Matrix:
    """Return the frame (4x4) of the tip bone that is asked for, in the size that is shown."""
    frame = asked.rotation.to_matrix() @ Matrix.Diagonal(shown.to_scale())
    placed = frame.to_4x4()
    placed.translation = asked.tail - frame @ Vector((0.0, length, 0.0))
    return placed


def _into_channels(armature: Object, bone: PoseBone, pose: Matrix) -> Matrix:
    """Return matrix_basis (4x4) with which an evaluated bone has a matrix in armature space."""
    if any(not each.mute and each.influence for each in bone.constraints):
        return bone.matrix_basis @ bone.matrix.inverted_safe() @ pose
    return armature.convert_space(pose_bone=bone, matrix=pose, from_space="POSE", to_space="LOCAL")


def _into_location(armature: Object, bone: PoseBone) -> Array:
    """Return the location channels of an evaluated bone at the origin, and by how much each axis changes them."""
    found = np.array([_into_channels(armature, bone, Matrix.Translation(axis)).to_translation() for axis in _AXES])
    found[1:] -= found[0]
    return found


def _location(bone: PoseBone, values: Array) -> Channel:
    indices = [index for index in range(3) if not bone.lock_location[index]]
    return Channel(bone.name, bone.path_from_id("location"), values.astype(np.float32), indices)


def _pole_at_rest(armature: Object, controls: IKControls) -> tuple[Vector, float, float]:
    """Return the direction of the pole in the axes of the upper bone, its distance from the elbow, and the length of
    the upper bone, all at rest."""
    rests = armature.data.bones
    root, elbow = rests[controls.upper].head_local, rests[controls.lower].head_local
    wrist = (
        rests[controls.tip.bone].head_local if controls.tip.bone != controls.lower else rests[controls.lower].tail_local
    )
    pole, line = rests[controls.pole].head_local, (wrist - root).normalized()
    side = (pole - elbow) - line * (pole - elbow).dot(line)
    if side.length <= _LEAST * (elbow - root).length:
        side = (elbow - root) - line * (elbow - root).dot(line)
    if not side.length:
        side = rests[controls.upper].matrix_local.to_3x3().col[0]
    return rests[controls.upper].matrix_local.to_3x3().inverted() @ side, (pole - elbow).length, (elbow - root).length
