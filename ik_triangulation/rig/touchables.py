# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes and limbs of the body itself that hands and feet may touch, and supports that carry their contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object, PropertyGroup, Scene, ViewLayer
from mathutils import Matrix, Vector

from ..errors import ChainError, TargetError
from ..kinematics.arrays import Numbers
from .armature import is_flat
from .body import Contact, ContactSupport, RigBody, stored_contact
from .checks import is_evaluated
from .dependencies import Dependencies, Node
from .targets.props import holds_on

ALONG_HAND = 0.6, 1.0, 1.5  # of the bone of a hand, from its head: palm, knuckles, and middles of the fingers
ALONG_FOOT = (1.0,)
_FAR = 0.2  # [limbs] distance from which on none is looked for
_ROUND = {"thigh": 0.17, "shin": 0.13, "upper_arm": 0.17, "forearm": 0.15, "hand": 0.25}  # radius by a bone's length
_STILL = 1e-4  # of its distance, and of a turn: largest motion of a still thing


class SeenMesh(NamedTuple):
    """A mesh at a frame: its frame without scale (4x4, world space), and how far each tip is from its surface."""

    frame: Matrix
    away: dict[str, float]


def meshes_to_touch(armature: Object, scene: Scene, view_layer: ViewLayer) -> list[Object]:
    """Return the meshes of a scene that a character may touch: what is shown, and neither its skin nor its clothes."""
    known, found = Dependencies(), []
    for ob in scene.objects:
        if ob.type != "MESH" or not is_evaluated(ob, view_layer) or _is_skin(ob, armature):
            continue
        if any(hold.target == armature for hold in holds_on(ob)) or not _hangs_on(ob, armature, known):
            found.append(ob)
    return found


def check_touchable(ob: Object, armature: Object, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise TargetError for an object that hands and feet cannot touch."""
    if scene not in ob.users_scene or not is_evaluated(ob, view_layer):
        raise TargetError(f"'{ob.name}' is not in this scene, or disabled in its view layer. Enable it in viewports.")
    if ob.type != "MESH":
        raise TargetError(f"'{ob.name}' is no mesh, so nothing touches it. Choose a mesh, or add the contact yourself.")
    if _is_skin(ob, armature):
        raise TargetError(f"'{ob.name}' is deformed by '{armature.name}' itself. Choose another mesh.")


def _is_skin(ob: Object, armature: Object) -> bool:
    return any(each.type == "ARMATURE" and each.object == armature for each in ob.modifiers) or (
        ob.parent == armature and ob.parent_type == "ARMATURE"
    )


def _hangs_on(ob: Object, armature: Object, known: Dependencies) -> bool:
    return any(node.object == armature and node.bone for node in known.movers(Node(ob)))


class MeshesSeen:
    """Reader of meshes at frames, by places (k, 3, F) along the bone of each tip and the length of its limb."""

    def __init__(
        self,
        meshes: Sequence[Object],
        points: Mapping[str, Numbers],
        limbs: Mapping[str, float],
        frames: Sequence[float],
    ) -> None:
        known = Dependencies()
        self._points, self._limbs = points, limbs
        self._at = {frame: number for number, frame in enumerate(frames)}
        self.meshes = [ob for ob in meshes if _may_move(ob, known) or self._passes(ob)]

    def _passes(self, ob: Object) -> bool:
        """Tell whether a tip comes near to the bounding box of a still mesh."""
        corners = np.array([ob.matrix_world @ Vector(corner) for corner in ob.bound_box])
        lowest, highest = corners.min(0), corners.max(0)
        for tip, points in self._points.items():
            away = np.maximum(np.maximum(lowest[:, None] - points, points - highest[:, None]), 0.0)
            if np.linalg.norm(away, axis=1).min() <= _FAR * self._limbs[tip]:
                return True
        return False

    def look(self, depsgraph: Depsgraph, frame: float) -> dict[str, SeenMesh]:
        """Return what is seen of each mesh, by its name. Raises TargetError for one without valid position."""
        at = self._at[frame]
        return {ob.name: self._seen(ob.evaluated_get(depsgraph), at, frame) for ob in self.meshes}

    def _seen(self, shown: Object, at: int, frame: float) -> SeenMesh:
        matrix = shown.matrix_world.copy()
        if not all(isfinite(number) for row in matrix for number in row):
            raise TargetError(
                f"'{shown.name}' has an invalid position at frame {frame:g}. Correct its keys and drivers."
            )
        place, rotation, _ = matrix.decompose()
        unscaled = Matrix.LocRotScale(place, rotation, None)
        if is_flat(matrix) or shown.type != "MESH" or not len(shown.data.polygons):
            return SeenMesh(unscaled, dict.fromkeys(self._points, inf))
        into = matrix.inverted()
        return SeenMesh(unscaled, {tip: self._distance(shown, matrix, into, tip, at) for tip in self._points})

    def _distance(self, shown: Object, matrix: Matrix, into: Matrix, tip: str, at: int) -> float:
        """Return the distance of the nearest point of a tip; infinite for one that is far off."""
        far, found = _FAR * self._limbs[tip], inf
        lowest, highest = Vector(shown.bound_box[0]), Vector(shown.bound_box[6])
        for numbers in self._points[tip][:, :, at]:
            point = Vector(numbers)
            own = into @ point
            inside = Vector([min(max(own[axis], lowest[axis]), highest[axis]) for axis in range(3)])
            if (matrix @ inside - point).length < min(far, found):
                hit, nearest, _, _ = shown.closest_point_on_mesh(own)
                found = min(found, (matrix @ nearest - point).length) if hit else found
        return found


def _may_move(ob: Object, known: Dependencies) -> bool:
    """Tell whether anything may move an object or change its shape over time."""
    for node in known.movers(Node(ob)):
        each = node.object
        data = each.data
        if node.bone or each.animation_data or len(each.constraints) or each.rigid_body or len(each.modifiers):
            return True
        if data is not None and (data.animation_data or getattr(data, "shape_keys", None)):
            return True
    return False


def never_moves(frames: Numbers) -> bool:
    """Tell whether a thing with these unscaled frames (4, 4, F) does not move."""
    return bool(np.abs(frames - frames[..., :1]).max() <= _STILL * max(1.0, np.abs(frames[:3, 3]).max()))


def runs_at_rest(frames: Numbers) -> list[tuple[int, int]]:
    """Return the first and last index of runs in which a thing with these unscaled frames (4, 4, F) does not move."""
    steps = np.abs(np.diff(frames, axis=-1)).max((0, 1))
    still = np.concatenate((steps <= _STILL * max(1.0, np.abs(frames[:3, 3]).max()), [False]))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], still)).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def away_from_bone(points: Numbers, head: Numbers, tail: Numbers, part: str) -> Numbers:
    """Return the distances (F) of the nearest of points (k, 3, F) from the skin around a bone, 0.0 inside of it.

    `head` and `tail` are (3, F); the `part` of the body that the bone is tells how thick it is.
    """
    along = tail - head
    size = np.maximum((along**2).sum(0), 1e-12)
    share = np.clip(np.einsum("kif,if->kf", points - head, along) / size, 0.0, 1.0)
    off = np.linalg.norm(points - head - share[:, None] * along, axis=1).min(0)
    away: Numbers = np.maximum(off - _ROUND.get(part, 0.0) * np.sqrt(size), 0.0)
    return away


def support_name(support: ContactSupport) -> str:
    """Return the name of a support in messages."""
    return ": ".join(filter(None, (support[0].name, support[1])))


def _which(contact: Contact) -> str:
    """Return the beginning of a sentence about what a contact is on."""
    name = support_name(contact.on) if contact.on else ""
    return f"'{name}', which '{contact.tip}' is in contact with from frame {contact.frame_start:g} on,"


def missing_support(contact: Contact, scene: Scene) -> str | None:
    """Return what to do about a contact on an object or bone that is not in a scene, as after *Delete*; else None."""
    if contact.on is None:
        return None
    ob, bone = contact.on
    if scene not in ob.users_scene:
        return f"{_which(contact)} is not in this scene. Choose another object for that contact, or remove it."
    if bone and (ob.type != "ARMATURE" or bone not in ob.pose.bones):
        return f"{_which(contact)} has no such bone. Choose another for that contact, or remove it."
    return None


def check_supports(rig: RigBody, scene: Scene) -> list[str]:
    """Raise the IKError that explains why the contacts of a body cannot be held on what they are on.

    Returns a warning for each whose object was deleted.
    """
    lost = lost_supports(rig.armature)
    for each in rig.contacts:
        if each.on is None:
            continue
        ob, bone = each.on
        missing = missing_support(each, scene)
        if missing:
            raise TargetError(missing)
        own = ob.pose.bones[bone] if ob == rig.armature and bone else None
        if own and ob.pose.bones[each.tip] in (own, *own.parent_recursive):
            raise ChainError(f"{_which(each)} hangs on '{each.tip}' itself. Choose another bone for that contact.")
    for one in rig.contacts:
        for other in rig.contacts:
            crossed = one.on == (rig.armature, other.tip) and other.on == (rig.armature, one.tip)
            if crossed and one.frame_start <= other.frame_end and other.frame_start <= one.frame_end:
                raise ChainError(
                    f"'{one.tip}' and '{other.tip}' are each held on the other at frame "
                    f"{max(one.frame_start, other.frame_start):g}. Remove one of the two contacts."
                )
    known = Dependencies()
    for ob, bone in rig.supports:
        followed = follows_body(rig.armature, ob, bone, known, rig.bones)
        if followed:
            raise TargetError(
                f"'{support_name((ob, bone))}', which a tip is in contact with, follows '{followed}' of "
                f"'{rig.armature.name}' itself. Choose that bone for the contact."
            )
    return lost


def lost_support(contact: PropertyGroup) -> str | None:
    """Return what to do about a stored contact whose object was deleted, and which so stays in the world; else None."""
    if contact.support is not None or not contact.support_name:
        return None
    return (
        f"'{contact.support_name}', which '{contact.tip}' was in contact with from frame {contact.frame_start} on, was "
        "deleted: the contact stays at one place in the world. Choose another object for it, or remove it."
    )


def support_problem(contact: PropertyGroup, scene: Scene) -> str | None:
    """Return what to do about a stored contact whose object or bone is gone, or None."""
    return lost_support(contact) or missing_support(stored_contact(contact), scene)


def lost_supports(armature: Object) -> list[str]:
    """Return a warning for each contact of an armature whose object was deleted."""
    return [text for contact in armature.ik_triangulation.contacts if (text := lost_support(contact))]


def follows_body(
    armature: Object, ob: Object, bone: str, known: Dependencies, names: tuple[str, ...] | None = None
) -> str | None:
    """Return the name of a bone of an armature, by default of any, that an object or bone follows; None without one."""
    nodes = (node for node in known.movers(Node(ob, bone)) if node.object == armature and node.bone)
    return next((node.bone for node in nodes if names is None or node.bone in names), None)


def supports_at(rig: RigBody, depsgraph: Depsgraph, frame: float) -> dict[ContactSupport, Matrix]:
    """Return the matrices (4x4, world space) of what contacts of a body are on, as evaluated at a frame.

    Raises TargetError for one without valid position, or without extent.
    """
    found = {}
    for ob, bone in rig.supports:
        shown = ob.evaluated_get(depsgraph)
        matrix = shown.matrix_world @ shown.pose.bones[bone].matrix if bone else shown.matrix_world.copy()
        if not all(isfinite(number) for row in matrix for number in row) or is_flat(matrix):
            raise TargetError(
                f"'{support_name((ob, bone))}', which a tip is in contact with, is scaled flat or has an invalid "
                f"position at frame {frame:g}. Correct its scale, its keys and its drivers."
            )
        found[ob, bone] = matrix
    return found
