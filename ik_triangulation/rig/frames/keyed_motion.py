# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that is read from F-curves alone, without evaluation: of objects and bones, and of a limb with its targets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from bpy.types import AnimData, Depsgraph, FCurve, Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import Work
from ...kinematics.arrays import Array
from ..armature import Channels, base_of, locating
from ..body import RigBody
from ..dependencies import ik_constraints
from ..freedom import keyed
from ..keyframes import curves_of
from ..limb import Limb
from ..rotation import channel, rotation_from
from ..targets.surface import looks_of
from ..timeline import evaluated_time
from .curve_values import are_proper, composed_matrices, from_matrix, products, rotation_matrices, to_matrix, values_at
from .samples import (
    Sample,
    SampledMotion,
    Samples,
    frame_of,
    go_to,
    keyed_samples,
    rig_at,
    temporary_scene,
    varying_freedoms,
)

CurvesByPath = dict[str, list[FCurve]]

# Beginnings of the paths of properties that no array of values represents, of objects, bones and armatures.
_UNREAD = ("rotation_mode", "parent", "matrix", "track_axis", "up_axis")
_TRANSFORMS = tuple(
    delta + name
    for delta in ("", "delta_")
    for name in ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")
)
_PLACES = {"location", "delta_location"}
_UNREAD_OF_DATA = ("bones[", "pose_position")

_LOOKS = ("empty_display", "field")  # beginnings of the properties of a target's display and its force field
_AGREE = 1e-5  # difference that single precision explains, relative to the largest element or distance


class NotKeyedError(Exception):
    """Motion that F-curves alone do not tell: something has constraints, drivers, NLA tracks or physics."""


class KeyedMotion:
    """Matrices of objects and bones at all `times` (evaluated, not those of the timeline), as arrays.

    Each is (4, 4, times), or (4, 4, 1) if it does not move. `compound` is True if there was more to read than the
    keys of objects whose parents do not move.
    """

    def __init__(self, times: Array) -> None:
        self._times = times
        self.compound = False
        self._curves: dict[int, CurvesByPath] = {}
        self._worlds: dict[int, Array] = {}
        self._posed: dict[tuple[int, str], Array] = {}
        self._turned_by_ik: dict[int, Collection[str]] = {}

    def at_present(self) -> KeyedMotion:
        """Return the same for the present values of all properties, regardless of their F-curves."""
        now = KeyedMotion(np.empty(0))
        now._curves, now._turned_by_ik = self._curves, self._turned_by_ik
        return now

    def place(self, ob: Object, bone: str = "") -> Array:
        """Return the world matrices of an object or of one of its bones. Raises NotKeyedError."""
        return products(self.world(ob), self.posed(ob, bone)) if bone else self.world(ob)

    def curves(self, ob: Object) -> CurvesByPath:
        """Return the F-curves of an object that is moved by them alone, by path. Raises NotKeyedError."""
        found = self._curves.get(ob.session_uid)
        if found is None:
            if len(ob.constraints) or ob.rigid_body or not _only_action(ob.animation_data):
                raise NotKeyedError
            if ob.type == "ARMATURE" and ob.data.animation_data:
                if not _only_action(ob.data.animation_data):
                    raise NotKeyedError
                if any(curve.data_path.startswith(_UNREAD_OF_DATA) for curve in curves_of(ob.data)):
                    raise NotKeyedError
            found = self._curves[ob.session_uid] = by_path(ob)
            if any(path.startswith(_UNREAD) for path in found):
                raise NotKeyedError
        return found

    def world(self, ob: Object) -> Array:
        """Return the world matrices of an object. Raises NotKeyedError."""
        known = self._worlds.get(ob.session_uid)
        if known is None:
            known = self._basis(ob, self.curves(ob))
            if ob.parent:
                above = self._parent(ob)
                self.compound = self.compound or above.shape[2] > 1
                known = products(products(above, from_matrix(ob.matrix_parent_inverse)), known)
            self._worlds[ob.session_uid] = known
        return known

    def _basis(self, holder: Object | PoseBone, curves: CurvesByPath, start: str = "") -> Array:
        """Return the matrices of an object's or a bone's own location, rotation and scale, with their deltas.

        Its paths begin with `start`.
        """
        keyed = {name for name in _TRANSFORMS if start + name in curves} if len(self._times) else set()
        values = partial(self._values, holder, curves, start)
        if not keyed:
            return from_matrix(holder.matrix_basis)
        is_object = isinstance(holder, Object)
        place = values("location") + values("delta_location") if is_object else values("location")
        if keyed <= _PLACES:
            moved = np.repeat(from_matrix(holder.matrix_basis), place.shape[1], axis=2)
            moved[:3, 3] = place
            return moved
        prop, mode = channel(holder)[0], holder.rotation_mode
        rotation, scale = rotation_matrices(values(prop), mode), values("scale")
        if is_object:
            scale = scale * values("delta_scale")
            if mode != "AXIS_ANGLE":  # which has no delta
                rotation = products(rotation_matrices(values(f"delta_{prop}"), mode), rotation)
        return composed_matrices(place, rotation, scale)

    def _parent(self, ob: Object) -> Array:
        """Return the world matrices of the frame that an object is parented to."""
        parent = ob.parent
        if ob.parent_type == "BONE":
            bone = parent.data.bones.get(ob.parent_bone) if parent.type == "ARMATURE" else None
            if bone is None or bone.use_relative_parent:
                raise NotKeyedError
            tail = from_matrix(Matrix.Translation((0.0, bone.length, 0.0)))
            return products(self.place(parent, bone.name), tail)
        follows_path = parent.type == "CURVE" and parent.data.use_path
        if ob.parent_type not in {"OBJECT", "ARMATURE"} or follows_path:
            raise NotKeyedError
        return self.world(parent)

    def posed(self, ob: Object, name: str) -> Array:
        """Return the matrices of a bone in armature space. Raises NotKeyedError."""
        known = self._posed.get((ob.session_uid, name))
        if known is None:
            curves, bone = self.curves(ob), ob.pose.bones[name]
            if ob.data.pose_position == "REST" or ob.data.is_editmode or len(bone.constraints):
                raise NotKeyedError
            if name in self._turned(ob) or bone.path_from_id("rotation_mode") in curves:
                raise NotKeyedError
            parent = self.posed(ob, bone.parent.name) if bone.parent else None
            known = self._posed[ob.session_uid, name] = self._inherited(bone, curves, parent)
            self.compound = self.compound or known.shape[2] > 1
        return known

    def _inherited(self, bone: PoseBone, curves: CurvesByPath, parent: Array | None) -> Array:
        """Return the matrices of a bone whose parent's are given, by Blender's rules of inheritance."""
        rest, basis = bone.bone, self._basis(bone, curves, bone.path_from_id() + ".")
        rest_above = rest.parent.matrix_local if rest.parent else Matrix.Identity(4)
        from_parent = rest_above.inverted() @ rest.matrix_local
        if parent is not None and not (rest.use_inherit_rotation and rest.inherit_scale == "FULL"):
            if rest.use_connect:
                basis[:3, 3] = 0.0
            return _by_blender(bone, basis, parent, rest_above)
        local = products(from_matrix(from_parent.to_3x3().to_4x4()), basis)
        place = products(from_matrix(locating(rest, from_parent)), basis[:3, 3][:, None])
        local[:3, 3] = place[:, 0] + np.array(from_parent.translation)[:, None]
        return local if parent is None else products(parent, local)

    def _turned(self, ob: Object) -> Collection[str]:
        """Return the names of the bones that IK constraints on bones below them may turn."""
        if ob.session_uid not in self._turned_by_ik:
            self._turned_by_ik[ob.session_uid] = ik_constraints(ob)
        return self._turned_by_ik[ob.session_uid]

    def _values(self, holder: Object | PoseBone, curves: CurvesByPath, start: str, name: str) -> Array:
        """Return the values (channels, times) of a property; (channels, 1) if they do not change."""
        values = np.array(tuple(getattr(holder, name)), np.float64)[:, None]
        heard = [curve for curve in curves.get(start + name, ()) if not curve.mute and not curve.is_empty]
        if not heard:
            return values
        values = np.repeat(values, len(self._times), axis=1)
        values[[curve.array_index for curve in heard]] = values_at(heard, self._times).astype(np.float32)
        return values[:, :1] if (values == values[:, :1]).all() else values


def by_path(ob: Object) -> CurvesByPath:
    """Return the F-curves of an object's active action, by path."""
    found: CurvesByPath = {}
    for curve in curves_of(ob):
        found.setdefault(curve.data_path, []).append(curve)
    return found


def _only_action(animation: AnimData | None) -> bool:
    """Tell whether nothing but an active action animates a data-block."""
    if animation is None:
        return True
    return not (len(animation.drivers) or len(animation.nla_tracks) or animation.action_influence < 1.0)


def _by_blender(bone: PoseBone, basis: Array, parent: Array, rest_above: Matrix) -> Array:
    """Return the matrices of a bone that does not inherit all of its parent's transform, frame by frame."""
    rest, frames = bone.bone, max(basis.shape[2], parent.shape[2])
    convert, local = rest.convert_local_to_pose, rest.matrix_local
    posed = [
        convert(to_matrix(basis, k), local, parent_matrix=to_matrix(parent, k), parent_matrix_local=rest_above)
        for k in range(frames)
    ]
    return np.array(posed).transpose(1, 2, 0)


def read_keyed(
    limb: Limb, scene: Scene, view_layer: ViewLayer, frames: Sequence[float], simple: bool = False
) -> Samples | None:
    """Return the samples of a limb at `frames`; None unless F-curves tell all of its motion.

    The rotations of the solved bones are those of the first frame. The same is read of the properties as they are now
    and compared with what `view_layer` shows; if parents or bones move, three frames of a temporary scene are compared.
    With `simple` none is made, and these are not read.
    """
    if limb.obstacle_objects or limb.is_led_by_tip:
        return None
    motion = KeyedMotion(_times(scene, frames))
    try:
        read = _matrices(limb, motion)
    except NotKeyedError:
        return None
    if not are_proper(read[0]) or not all(np.isfinite(each).all() for each in read):
        return None  # reading by evaluation names the frame
    if not _agrees(limb, view_layer.depsgraph, _matrices(limb, motion.at_present()), 0):
        return None
    if motion.compound and simple:
        return None
    if motion.compound:
        some = {0, len(frames) // 2, len(frames) - 1}
        with temporary_scene(limb, scene) as staged:
            if not all(_agrees(limb, go_to(staged, frames[k]), read, k) for k in some):
                return None
    world, base, target, *pole = read
    freedoms = varying_freedoms(limb, limb.armature)
    first = Sample(
        frames[0],
        rig_at(
            to_matrix(world, 0),
            to_matrix(base, 0),
            channels_at(limb, scene, frames[0], motion.curves(limb.armature)),
            freedoms,
        ),
        limb,
        to_matrix(target, 0),
        looks_of(limb.target, limb.subtarget, view_layer.depsgraph),
        Vector(pole[0][:3, 3, 0]) if pole else None,
    )
    return keyed_samples(frames, first, SampledMotion(world, base, target, pole[0][:3, 3] if pole else None))


def read_keyed_bones(
    armature: Object, names: Sequence[str], scene: Scene, frames: Sequence[float]
) -> Work[tuple[Array, Array] | None]:
    """Return matrices (4, 4, bones, F) of bones at `frames`, and (4, 4, bones, 1) as they are now, world space.

    None unless their motion comes from F-curves alone. The latter are compared with what is shown. Yields after each
    bone.
    """
    motion = KeyedMotion(_times(scene, frames))
    now = motion.at_present()
    found = []
    for each, count in ((motion, len(frames)), (now, 1)):
        rows = []
        for name in names:
            try:
                placed = each.place(armature, name)
            except NotKeyedError:
                return None
            rows.append(np.broadcast_to(placed, (4, 4, count)))
            yield
        found.append(np.stack(rows, axis=2))
    return found[0], found[1]


class KeyedBody(NamedTuple):
    """Motion around a body: matrices (4, 4, F or 1) of its armature (world space) and of the parent of its hips.

    The `targets` and `poles` (None without one) of its limbs are by the names of their tips, world space.
    """

    worlds: Array
    bases: Array
    targets: dict[str, Array]
    poles: dict[str, Array | None]

    def samples(self, tip: str, frames: Sequence[float], first: Sample) -> Samples:
        """Return the samples of a limb, of which the `first` was evaluated; bases are its own at all frames."""
        base, pole = from_matrix(first.rig.base), self.poles[tip]
        place = None if pole is None else pole[:3, 3]
        return keyed_samples(frames, first, SampledMotion(self.worlds, base, self.targets[tip], place))

    def agrees(self, at: int, world: Matrix, base: Matrix, targets: Mapping[str, Matrix]) -> bool:
        """Tell whether the frame with index `at` is that of matrices that were evaluated."""
        pairs = [(self.worlds, world), (self.bases, base), *((self.targets[tip], targets[tip]) for tip in self.targets)]
        for read, seen in pairs:
            there, shown = read[..., at if read.shape[2] > 1 else 0], np.array(seen.copy())
            if np.abs(there - shown).max() > _AGREE * max(1.0, np.abs(shown).max()):
                return False
        return True


def read_keyed_body(rig: RigBody, scene: Scene, frames: Sequence[float], limbs: Sequence[Limb]) -> KeyedBody | None:
    """Return what moves around a body and those of its limbs, by F-curves; None unless these give all of it.

    Its own bones are not read. It has to be compared with some frames that are evaluated.
    """
    motion, armature = KeyedMotion(_times(scene, frames)), rig.armature
    if any(limb.obstacle_objects or limb.is_led_by_tip or limb.followed for limb in limbs):
        return None
    try:
        if any("ik_triangulation." in path for path in motion.curves(armature)):
            return None  # an influence
        above = armature.pose.bones[rig.hips].parent
        base = motion.posed(armature, above.name) if above else from_matrix(Matrix.Identity(4))
        targets, poles = dict[str, Array](), dict[str, Array | None]()
        for limb in limbs:
            if any(path.startswith(_LOOKS) for path in motion.curves(limb.target)):
                return None
            targets[limb.tip], *pole = (motion.place(ob, bone) for ob, bone in limb.targets)
            poles[limb.tip] = pole[0] if pole else None
        world = motion.world(armature)
    except NotKeyedError:
        return None
    every = [world, base, *targets.values(), *(pole for pole in poles.values() if pole is not None)]
    if not are_proper(world) or not all(np.isfinite(each).all() for each in every):
        return None  # reading by evaluation names the frame
    return KeyedBody(world, base, targets, poles)


def stands_still(limb: Limb, scene: Scene, frames: Sequence[float]) -> bool:
    """Tell whether only rotation keys of the solved bones move the armature or the chain at these frames."""
    try:
        moves = [each.shape[2] > 1 for each in _rig_motion(limb, KeyedMotion(_times(scene, frames)))]
    except NotKeyedError:
        return False
    return not any(moves)


def channels_at(limb: Limb, scene: Scene, frame: float, curves: CurvesByPath | None = None) -> list[Channels]:
    """Return the channels that the bones of a chain have at a frame, if nothing but F-curves moves them.

    `curves` are those of the armature, by path, if they are known.
    """
    curves, time, found = curves or by_path(limb.armature), evaluated_time(scene, frame), []
    for name in limb.bones:
        bone = limb.armature.pose.bones[name]
        prop = channel(bone)[0]
        values = list(getattr(bone, prop))
        for curve in curves.get(bone.path_from_id(prop), ()):
            if not curve.mute and not curve.is_empty:
                values[curve.array_index] = curve.evaluate(time)
        found.append(Channels(bone.location.copy(), rotation_from(values, bone.rotation_mode), bone.scale.copy()))
    return found


def _times(scene: Scene, frames: Sequence[float]) -> Array:
    """Return the times at which Blender evaluates frames, in its single precision."""
    return (np.array(frames, np.float64) * evaluated_time(scene, 1.0)).astype(np.float32).astype(np.float64)


def _rig_motion(limb: Limb, motion: KeyedMotion) -> tuple[Array, Array]:
    """Return the world matrices of the armature, and the matrices of the root's parent in its space.

    Raises NotKeyedError, also if anything but the rotations of solved bones moves the bones of the chain.
    """
    armature, bones = limb.armature, limb.armature.pose.bones
    if any(len(bones[name].constraints) for name in limb.bones):
        raise NotKeyedError
    paths = {name: bones[name].path_from_id() for name in limb.bones}
    own = tuple(f"{path}." for path in paths.values())
    moved = {path: found for path, found in motion.curves(armature).items() if path.startswith(own)}
    if moved:
        turned = {bones[name].path_from_id(channel(bones[name])[0]): set(keyed(bones[name])) for name in limb.solved}
        if any(curve.array_index not in turned.get(path, ()) for path, found in moved.items() for curve in found):
            raise NotKeyedError
    parent = bones[limb.bones[0]].parent
    base = motion.posed(armature, parent.name) if parent else from_matrix(Matrix.Identity(4))
    return motion.world(armature), base


def _matrices(limb: Limb, motion: KeyedMotion) -> list[Array]:
    """Return the matrices of armature, root's parent, target and pole target. Raises NotKeyedError."""
    if any(path.startswith(_LOOKS) for path in motion.curves(limb.target)):
        raise NotKeyedError
    return [*_rig_motion(limb, motion), *(motion.place(ob, bone) for ob, bone in limb.targets)]


def _agrees(limb: Limb, depsgraph: Depsgraph, read: Sequence[Array], at: int) -> bool:
    """Tell whether the matrices that were read at the frame with index `at` agree with the evaluated ones."""
    armature = limb.armature.evaluated_get(depsgraph)
    places = [armature.matrix_world, base_of(armature, limb.bones[0])]
    seen = np.array([*places, *(frame_of(ob, bone, depsgraph) for ob, bone in limb.targets)])
    own = np.array([each[..., at if each.shape[2] > 1 else 0] for each in read])
    apart = np.abs(seen - own)
    size = max(np.abs(seen[:, :3, 3]).max(), limb.armature.data.bones[limb.tip].length * np.abs(seen[0, :3, :3]).max())
    turned = apart[:, :3, :3].max(axis=(1, 2)) <= _AGREE * np.abs(seen[:, :3, :3]).max(axis=(1, 2))
    return bool(turned.all() and apart[:, :3, 3].max() <= _AGREE * size)
