# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast path: a limb whose rig and targets are moved by F-curves alone is read without evaluating anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...kinematics.arrays import Array
from ..armature import Channels, base_of
from ..body import RigBody
from ..clock import evaluated_time
from ..freedom import keyed
from ..limb import Limb
from ..looks import looks_of
from ..rotation import channel, rotation_from
from .keyed_motion import CurvesByPath, KeyedMotion, NotKeyedError, by_path
from .samples import SampledMotion, Samples, keyed_samples
from .sampling import Sample, frame_of, go_to, rig_at, temporary_scene, varying_freedoms
from .transforms import are_proper, from_matrix, to_matrix

_LOOKS = ("empty_display", "field")  # beginnings of the properties of a target's display and its force field
_AGREE = 1e-5  # difference that single precision explains, relative to the largest element or distance


def read_keyed(
    limb: Limb, scene: Scene, view_layer: ViewLayer, frames: Sequence[float], simple: bool = False
) -> Samples | None:
    """Return the samples of a limb at `frames`; None unless F-curves tell all of its motion.

    The rotations of the solved bones are those of the first frame. The same is read of the properties as they are now
    and compared with what `view_layer` shows; if parents or bones move, three frames of a temporary scene are compared.
    With `simple` none is made, and these are not read.
    """
    if limb.obstacle_objects or limb.on_surface:
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


def read_keyed_body(rig: RigBody, scene: Scene, frames: Sequence[float]) -> KeyedBody | None:
    """Return what moves around a body, without evaluation; None unless F-curves give all of it.

    Its own bones are not read. It has to be compared with some frames that are evaluated.
    """
    motion, armature = KeyedMotion(_times(scene, frames)), rig.armature
    if any(limb.obstacle_objects or limb.on_surface or limb.followed for limb in rig.limbs):
        return None
    try:
        if any("ik_triangulation." in path for path in motion.curves(armature)):
            return None  # an influence
        above = armature.pose.bones[rig.hips].parent
        base = motion.posed(armature, above.name) if above else from_matrix(Matrix.Identity(4))
        targets, poles = dict[str, Array](), dict[str, Array | None]()
        for limb in rig.limbs:
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
    """Tell whether the matrices that were read at a frame, the one with index `at`, are those that are evaluated."""
    armature = limb.armature.evaluated_get(depsgraph)
    places = [armature.matrix_world, base_of(armature, limb.bones[0])]
    seen = np.array([*places, *(frame_of(ob, bone, depsgraph) for ob, bone in limb.targets)])
    own = np.array([each[..., at if each.shape[2] > 1 else 0] for each in read])
    apart = np.abs(seen - own)
    size = max(np.abs(seen[:, :3, 3]).max(), limb.armature.data.bones[limb.tip].length * np.abs(seen[0, :3, :3]).max())
    turned = apart[:, :3, :3].max(axis=(1, 2)) <= _AGREE * np.abs(seen[:, :3, :3]).max(axis=(1, 2))
    return bool(turned.all() and apart[:, :3, 3].max() <= _AGREE * size)
