# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of held tips that are planted at one place in their contacts, and follow their animation outside."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np

from ..goals.batch import Task
from ..kinematics import Body
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Tree
from ..motion.contacts import planted
from ..rig.body import RigBody
from ..rig.frames.body_samples import BodySamples
from ..solvers.body.stiffness import body_compliance

_HIPS = 0.01  # of the compliance of hips that move: in a recorded motion legs give way to planted feet, not the trunk


def frames_with_contacts(rig: RigBody, frames: Sequence[float]) -> Sequence[float]:
    """Return frames with those before and after them that tell where contacts are which touch them."""
    if not rig.contacts:
        return frames
    fade, first, last = rig.contact_fade, frames[0], frames[-1]
    near = [each for each in rig.contacts if each.frame_start - fade <= last and each.frame_end + fade >= first]
    before = floor(min([first, *(each.frame_start for each in near)]))
    after = floor(max([last, *(each.frame_end for each in near)]))
    step = frames[1] - first if len(frames) > 1 else 1
    return [first - step * k for k in range(int((first - before) // step), 0, -1)] + [
        *frames,
        *(last + step * k for k in range(1, int((after - last) // step) + 1)),
    ]


def with_contacts(rig: RigBody, body: Body, samples: BodySamples, frames: Numbers) -> Numbers:
    """Return frames of all bones (n, 3, 4, F) with held tips at one place, world space, in each of their contacts."""
    if not rig.contacts:
        return frames
    result, times = frames.copy(), np.array(samples.frames, float)
    for tip in rig.held:
        spans = [(each.frame_start, each.frame_end) for each in rig.contacts if each.tip == tip]
        places = tip_places(body, tip, samples, frames)
        moved = planted(places, times, spans, rig.contact_fade) - places
        into = np.linalg.inv(np.moveaxis(samples.worlds[:3, :3], -1, 0))
        result[body.tip(tip).joint, :, 3] += np.einsum("fij,jf->if", into, moved)
    return result


def compliance_with_contacts(rig: RigBody, tree: Tree, tasks: Sequence[Task]) -> Numbers | None:
    """Return the compliance (k, 1) of all columns with contacts, by which hips keep their animation; None without."""
    if not rig.contacts:
        return None
    compliance = body_compliance(tree, tasks).copy()
    compliance[len(tree.joint_of) :] *= _HIPS
    return compliance


def tip_places(body: Body, tip: str, samples: BodySamples, frames: Numbers) -> Numbers:
    """Return the places of a tip (3, F), world space, by the frames of all bones (n, 3, 4, F)."""
    end = body.tip(tip)
    frame = frames[end.joint]
    return in_world(samples, np.einsum("ijf,j->if", frame[:, :3], np.array(end.place)) + frame[:, 3])


def in_world(samples: BodySamples, places: Numbers) -> Numbers:
    """Return places (3, F) in armature space as those in world space."""
    world: Numbers = np.einsum("ijf,jf->if", samples.worlds[:3, :3], places) + samples.worlds[:3, 3]
    return world
