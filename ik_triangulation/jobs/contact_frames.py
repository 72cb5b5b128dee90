# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of held tips that are planted at one place in their contacts, and follow their animation outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from bpy.types import Scene

from ..cooperative import Work
from ..goals.batch import Task
from ..kinematics import Body
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Tree
from ..kinematics.batch.algebra import compose, exponential, lengths, matrices
from ..motion.contacts import Planted, planted
from ..rig.body import RigBody
from ..rig.frames.body_frames import Animation, body_by_channels, with_places
from ..rig.frames.body_samples import BodySamples, read_body
from ..solvers.body.stiffness import body_compliance
from .ground import Ground, mesh_under, read_ground


class Contacts(NamedTuple):
    """Spans in which held tips are planted, and the ground they stand on, by the names of the tips; world space."""

    spans: Mapping[str, Sequence[Planted]]
    ground: Mapping[str, Ground]


_HIPS = 0.01  # of the compliance of hips that move: in a recorded motion legs give way to planted feet, not the trunk


def read_contacts(rig: RigBody, scene: Scene, frames: Sequence[float]) -> Work[Contacts]:
    """Read the contacts of a body that touch frames, with the places at which their tips are planted.

    Contacts of a limb that overlap or follow on each other are one. A held tip whose target is a mesh with the shape
    Surface stands on that; raises what read_ground() does.
    """
    found: dict[str, list[Planted]] = {}
    near = 2 * rig.contact_fade + 1  # a gap so short between two contacts shortens their fades
    for tip in rig.held:
        spans = _apart([(each.frame_start, each.frame_end) for each in rig.contacts if each.tip == tip])
        for span in spans:
            inside = range(ceil(span[0]), floor(span[1]) + 1)
            if not inside or span[0] - near > frames[-1] or span[1] + near < frames[0]:
                continue
            samples = yield from read_body(rig, scene, inside)
            body, animated = animated_frames(rig, samples)
            found.setdefault(tip, []).append(Planted.of(span, tip_places(body, tip, samples, animated)))
    limbs = {tip: limb for tip in rig.held if (limb := mesh_under(rig, tip)) is not None}
    ground: dict[str, Ground] = {}
    if limbs:
        samples = yield from read_body(rig, scene, frames)
        body, animated = animated_frames(rig, samples)
        animated = with_places(rig, animated, samples.places)
        for tip, limb in limbs.items():
            places = tip_places(body, tip, samples, animated)
            ground[tip] = yield from read_ground(limb, scene, frames, places, found.get(tip, ()))
    return Contacts(found, ground)


def with_contacts(body: Body, contacts: Contacts, fade: float, samples: BodySamples, frames: Numbers) -> Numbers:
    """Return frames of all bones (n, 3, 4, F) with held tips where their contacts and the fades around have them."""
    result, times = frames.copy(), np.array(samples.frames, float)
    into = np.linalg.inv(np.moveaxis(samples.worlds[:3, :3], -1, 0))
    for tip in {**contacts.spans, **contacts.ground}:
        places, end = tip_places(body, tip, samples, frames), body.tip(tip)
        moved = planted(places, times, contacts.spans.get(tip, ()), fade) - places
        if tip in contacts.ground:
            ways, turns = contacts.ground[tip].at(times)
            moved += ways
            frame, own = result[end.joint], np.einsum("fij,jf->if", into, turns)
            own *= lengths(turns) / np.maximum(lengths(own), 1e-300)  # the armature may be scaled
            turned = compose(matrices(exponential(own)), frame[:, :3])
            frame[:, 3] += np.einsum("ijf,j->if", frame[:, :3] - turned, np.array(end.place))
            frame[:, :3] = turned
        result[end.joint, :, 3] += np.einsum("fij,jf->if", into, moved)
    return result


def compliance_with_contacts(rig: RigBody, tree: Tree, tasks: Sequence[Task]) -> Numbers | None:
    """Return the compliance (k, 1) of all columns with contacts, by which hips keep their animation; None without."""
    if not rig.contacts:
        return None
    compliance = body_compliance(tree).copy()
    compliance[len(tree.joint_of) :] *= _HIPS
    return compliance


def animated_frames(rig: RigBody, samples: BodySamples) -> tuple[Body, Numbers]:
    """Return a body, and the frames (n, 3, 4, F) of its bones as they were animated by hand or recorded."""
    animation = Animation(samples.rotations, samples.locations)
    body, frames = body_by_channels(rig, samples.channels, samples.bases, animation)
    return body, frames if samples.shown is None else samples.shown


def tip_places(body: Body, tip: str, samples: BodySamples, frames: Numbers) -> Numbers:
    """Return the places of a tip (3, F), world space, by the frames of all bones (n, 3, 4, F)."""
    end = body.tip(tip)
    frame = frames[end.joint]
    return in_world(samples, np.einsum("ijf,j->if", frame[:, :3], np.array(end.place)) + frame[:, 3])


def in_world(samples: BodySamples, places: Numbers) -> Numbers:
    """Return places (3, F) in armature space as those in world space."""
    world: Numbers = np.einsum("ijf,jf->if", samples.worlds[:3, :3], places) + samples.worlds[:3, 3]
    return world


def _apart(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return spans in order, with those made one that overlap or follow on each other."""
    found: list[tuple[float, float]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found
