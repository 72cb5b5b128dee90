# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the bones of a body at many frames of the timeline: by its channels, and as Blender shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bpy.types import Object, PoseBone

from ...kinematics import Body
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States
from ...kinematics.batch.algebra import (
    compose,
    cross,
    dot,
    lengths,
    matrices,
    normalized,
    quaternions,
    signs_along,
    turn_vectors,
)
from ..body import RigBody
from ..keyframes.channelbags import channelbag_of, find_curves
from ..rotation import channel
from ..timeline import Clock
from .curve_values import rotation_quaternions, values_at


class Animation(NamedTuple):
    """An animation of a body: `rotations` (n, 4, F) of all bones, and `locations` (3, F) of the hips, as channels.

    Where these are not all that moves the bones, `shown` (n, 3, 4, F) are the frames of the bones as Blender evaluates
    them, unscaled and with their tails in place, armature space; the channels are then those that come nearest.
    """

    rotations: Numbers
    locations: Numbers
    shown: Numbers | None = None


def frames_by_channels(rig: RigBody, body: Body, bases: Numbers, moved: Animation) -> Numbers:
    """Return the frames (n, 3, 4, F) of the bones of a body by forward kinematics, armature space.

    `bases` (4, 4, F) are the frames that the hips hang in.
    """
    roots, tree, count = bases[:3, :3], body.tree, bases.shape[-1]
    located = np.array(rig.rest.locating[0], float) @ moved.locations
    place = bases[:3, 3] + np.einsum("ijf,jf->if", roots, located)
    rotations = np.ascontiguousarray(moved.rotations)
    none = np.empty((0, count)), np.empty((0, 4, count))
    return Geometry(tree, tree.posed(rotations, States(*none, rotations[tree.held], roots, place))).frames


def shown_frames(rig: RigBody, matrices: Numbers) -> Numbers:
    """Return the frames without scale (n, 3, 4, F) of the bones of a body with these matrices (n, 4, 4, F).

    The tails are in place; heads of bones that something else has scaled are where these would have them otherwise.
    """
    frames = np.empty((len(matrices), 3, 4, matrices.shape[-1]))
    along = normalized(matrices[:, :3, 1])
    across = matrices[:, :3, 0]
    across = normalized(across - along * dot(across, along)[:, None])
    for axis, each in enumerate((across, along, cross(across, along))):
        frames[:, :, axis] = each
    sizes, scaled = np.array([*rig.sizes.values()])[:, None, None], lengths_of(rig)[:, None, None]
    reached = scaled * (matrices[:, :3, 1] / sizes - frames[:, :, 1])
    frames[:, :, 3] = matrices[:, :3, 3] + reached
    return frames


def with_places(rig: RigBody, frames: Numbers, places: Mapping[str, Numbers]) -> Numbers:
    """Return frames (n, 3, 4, F) of all bones with those of planted tips (3, 4), by their names, at one place."""
    if not places:
        return frames
    frames = frames.copy()
    for name, place in places.items():
        frames[rig.bones.index(name)] = place[:, :, None]
    return frames


def animation_shown(rig: RigBody, bases: Numbers, matrices: Numbers) -> Animation:
    """Return the animation that bones of a body with these matrices (n, 4, 4, F) have, armature space.

    `bases` (4, 4, F) are the frames that the hips hang in.
    """
    frames = shown_frames(rig, matrices)
    turned = {name: frames[number, :, :3] for number, name in enumerate(rig.bones)}
    none = np.empty((len(turned), 4, bases.shape[-1]))
    return animation_turned(rig, bases, turned, matrices[0, :3, 3], none)._replace(shown=frames)


def animation_turned(
    rig: RigBody, bases: Numbers, turned: Mapping[str, Numbers], place: Numbers, others: Numbers
) -> Animation:
    """Return the animation in which bones, by their names, are `turned` so (3, 3, F), and the hips at a place (3, F).

    All that in armature space. The other ones of the body have the rotations (n, 4, F) of `others`. `bases` (4, 4, F)
    are the frames that the hips hang in.
    """
    rest, bones, rotations = rig.rest, rig.armature.data.bones, np.array(others, float)
    found = dict[str, Numbers]()
    for number, name in enumerate(rig.bones):
        parent = found[bones[name].parent.name] if number else bases[:3, :3]
        stands = compose(parent, np.array(rest.rests[number].to_3x3().normalized(), float)[:, :, None])
        if name in turned:
            found[name] = turned[name]
            rotations[number] = quaternions(np.einsum("jif,jkf->ikf", stands, turned[name]))
        else:
            found[name] = compose(stands, matrices(rotations[number]))
    rotations *= signs_along(rotations)[:, None]
    offset = np.array(rest.rests[0].translation, float)
    away = place - bases[:3, 3] - np.einsum("ijf,j->if", bases[:3, :3], offset)
    ways = np.einsum("ijf,jk->fik", bases[:3, :3], np.array(rest.locating[0], float))
    locations = np.einsum("fij,jf->if", np.linalg.pinv(ways), away)
    return Animation(rotations, locations)


def tips_apart(rig: RigBody, body: Body, one: Numbers, other: Numbers) -> float:
    """Return how far the tips and hips are apart at most by two arrays of frames (n, 3, 4, F), as a share of a reach.

    For tips that is of their limb's reach, for hips of the longest; an angle [rad] counts as such a share.
    """
    found = [float(lengths(one[0, :, 3] - other[0, :, 3]).max()) / max(body.reach(tip) for tip in rig.tips)]
    for name in rig.tips:
        tip = body.tip(name)
        place = np.array(tip.place, float)
        ends = [np.einsum("ijf,j->if", each[tip.joint, :, :3], place) + each[tip.joint, :, 3] for each in (one, other)]
        found.append(float(lengths(ends[0] - ends[1]).max()) / body.reach(name))
        turned = np.einsum("jif,jkf->ikf", one[tip.joint, :, :3], other[tip.joint, :, :3])
        found.append(float(lengths(turn_vectors(turned)).max()))
    return max(found)


def plain_animation(rig: RigBody, clock: Clock, frames: Sequence[float]) -> Animation:
    """Return the animation of a body by the active action's F-curves and unkeyed values alone, generated or not."""
    times = [clock.time(frame) for frame in frames]
    hips = rig.armature.pose.bones[rig.hips]
    return Animation(plain_rotations(rig.armature, rig.bones, times), plain_values(hips, "location", times))


def plain_rotations(armature: Object, names: Sequence[str], times: Sequence[float]) -> Numbers:
    """Return the rotations (n, 4, F) that the active action's F-curves and unkeyed values alone give bones."""
    bones = [armature.pose.bones[name] for name in names]
    every = [rotation_quaternions(plain_values(bone, channel(bone)[0], times), bone.rotation_mode) for bone in bones]
    return np.array(every).reshape(len(names), 4, len(times))


def plain_values(bone: PoseBone, prop: str, times: Sequence[float]) -> Numbers:
    """Return the channels (n, F) of a property of a bone by the active action's F-curves, else as they are."""
    found = np.repeat(np.array(getattr(bone, prop), float)[:, None], len(times), 1)
    bag = channelbag_of(bone.id_data)
    every = find_curves(bag, bone.path_from_id(prop)) if bag else {}
    curves = {i: curve for i, curve in every.items() if i < len(found) and not (curve.mute or curve.is_empty)}
    if curves:
        found[[*curves]] = values_at([*curves.values()], np.array(times))
    return found


def matrices_of(evaluated: Object, names: Sequence[str]) -> Numbers:
    """Return the matrices (n, 4, 4) of bones of an evaluated armature, armature space."""
    return np.array([evaluated.pose.bones[name].matrix for name in names], float)


def lengths_of(rig: RigBody) -> Numbers:
    """Return the lengths (n) of the bones of a body, scaled [armature space]."""
    return np.array([rig.length(name) for name in rig.bones])
