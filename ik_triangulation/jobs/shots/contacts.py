# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of held tips: found in an animation, planted at one place, on a mesh below or above.

Held feet on a mesh: the way from where they are animated, on flat ground, to the mesh below or above. A foot is brought
there where it is planted, or at every frame if it has no contacts. In the air it keeps its animation, raised from the
one contact to the next, and higher where the ground between would be in its way. The hips are raised by the mean of the
feet. Source: none.

Feet that are planted at one place may lift their heels, as goals.support has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from bpy.types import Scene
from mathutils import Vector

from ...cooperative import Work
from ...goals.support import Heel
from ...kinematics import Body
from ...kinematics.arrays import Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import compose, cross, exponential, lengths, matrices, normalized
from ...kinematics.body_anatomy import Part
from ...kinematics.rotation import rotation_between, rotation_vector
from ...motion.contacts import Planted, planted, shares_of_spans
from ...rig.body import Contact, ContactSupport, RigBody
from ...rig.checks import check_limb
from ...rig.frames.body_frames import Animation, frames_by_channels, with_places
from ...rig.frames.body_samples import BodySamples, read_body, sampled_body
from ...rig.frames.curve_values import composed_matrices, products
from ...rig.frames.samples import go_to, temporary_scene
from ...rig.limb import Limb, means_surface
from ...rig.targets.surface import ShownMesh
from ...solvers.body.flexing import body_compliance

_AHEAD = 0.1  # sine of the angle of a foot to its shin from which on it has a ball ahead of the heel
_UP = Vector((0.0, 0.0, 1.0))
_CLEAR = 0.5  # of the height above flat ground, that a foot in the air keeps above the mesh
_LEAVING = 8.0  # frames within which a foot goes over to the ground right below it, where no contact is ahead
_EARLY = 0.1  # of an arc: below it a foot has only left the ground, or is about to be there
_OFTEN = 32  # frames read between two looks at what the user does


class Ground(NamedTuple):
    """Ways (3, k) of a foot onto the ground at times (k), and its turns there (3, k; rotation vectors), world space."""

    times: Numbers
    ways: Numbers
    turns: Numbers

    def at(self, frames: Numbers) -> tuple[Numbers, Numbers]:
        """Return ways and turns (3, F) at frames (F), which between two contacts go over smoothly."""
        times = self.times
        if len(times) == 1:
            once = np.ones(len(frames))
            return self.ways * once, self.turns * once
        before = np.clip(np.searchsorted(times, frames, side="right") - 1, 0, len(times) - 2)
        gap = times[before + 1] - times[before]
        t = np.clip((frames - times[before]) / gap, 0.0, 1.0)
        share = np.where(gap > 1.0, t * t * (3.0 - 2.0 * t), t)
        ways, turns = (
            each[:, before] + (each[:, before + 1] - each[:, before]) * share for each in (self.ways, self.turns)
        )
        return ways, turns


def mesh_under(rig: RigBody, tip: str) -> Limb | None:
    """Return a held foot as a limb whose target is the mesh that it stands on; None where it stands on none."""
    stored = getattr(rig.armature.pose.bones[tip], "ik_triangulation", None)
    if stored is None or stored.target is None or not means_surface(stored.shape, stored.target, stored.subtarget):
        return None
    return Limb.from_tip(rig.armature, tip, stored.target, 1, shape="SURFACE")


def read_ground(
    limb: Limb, scene: Scene, frames: Sequence[float], places: Numbers, spans: Sequence[Planted]
) -> Work[Ground]:
    """Read the ground under a foot at frames where it is at `places` (3, F), or in `spans` stands at theirs.

    Raises TargetError for a mesh without faces, and what check_limb() does.
    """
    check_limb(limb, scene, scene.view_layers[0])
    stored = limb.armature.pose.bones[limb.tip].ik_triangulation
    stands = dict(zip(map(float, frames), places.T, strict=True))
    swings: dict[float, Numbers] = {}
    if spans:
        stands, animated = {}, stands
        for each in spans:
            first, last = ceil(each.span[0]), floor(each.span[1])
            inside = [float(time) for time in range(first, last + 1) if frames[0] <= time <= frames[-1]]
            stands |= dict.fromkeys((float(first), *inside, float(last)), each.place)
        swings = {time: place for time, place in animated.items() if time not in stands}
    times, ways, turns = sorted({**stands, **swings}), {}, {}
    for begin in range(0, len(times), _OFTEN):
        with temporary_scene(limb, scene) as staged:
            for time in times[begin : begin + _OFTEN]:
                mesh = ShownMesh(limb.target, go_to(staged, time))
                place = Vector(stands[time] if time in stands else swings[time])
                touch = mesh.along(place, _UP) or (mesh.nearest(place) if time in stands else None)
                if touch:
                    ways[time] = touch.place + touch.normal * stored.surface_offset - place
                    level = stored.orientation == "FULL"
                    turns[time] = rotation_vector(rotation_between(_UP, touch.normal)) if level else Vector()
        yield
    known = sorted(stands)
    ground = Ground(np.array(known), *(np.array([each[time] for time in known]).T for each in (ways, turns)))
    return _over(ground, {time: (place[2], ways[time].z) for time, place in swings.items() if time in ways}, stands)


def _over(ground: Ground, swings: Mapping[float, tuple[float, float]], stands: Mapping[float, Numbers]) -> Ground:
    """Return the ground with the ways of a foot in the air, whose heights and ways down are given in `swings`.

    Between two contacts a foot keeps a share of the height that it is animated above the ground; for that it is raised
    by a smooth arc. Before the first one and after the last it keeps all of it.
    """
    if not swings:
        return ground
    times = np.array(sorted(swings))
    ways, turns = ground.at(times)
    after = np.searchsorted(ground.times, times)
    heights, down = np.array([swings[time] for time in times.tolist()]).T
    first, last = ground.times[0], ground.times[-1]
    away = np.clip(np.maximum(first - times, times - last) / _LEAVING, 0.0, 1.0)
    ways[2] += away * away * (3.0 - 2.0 * away) * (down - ways[2])
    floors = np.array([stands[time][2] for time in ground.times.tolist()])
    for number in sorted(set(after.tolist()) - {0, len(floors)}):
        here = after == number
        begin, end = ground.times[number - 1 : number + 1]
        t = (times[here] - begin) / (end - begin)
        arc = 16.0 * t * t * (1.0 - t) * (1.0 - t)
        level = floors[number - 1] + (floors[number] - floors[number - 1]) * t
        missing = down[here] + _CLEAR * np.maximum(heights[here] - level, 0.0) - ways[2, here]
        told = arc > _EARLY
        ways[2, here] += max(0.0, float((missing[told] / arc[told]).max(initial=0.0))) * arc
    order = np.argsort(np.concatenate((ground.times, times)))
    return Ground(
        np.concatenate((ground.times, times))[order],
        np.concatenate((ground.ways, ways), 1)[:, order],
        np.concatenate((ground.turns, turns), 1)[:, order],
    )


def lifted(states: States, ground: Mapping[str, Ground], samples: BodySamples) -> States:
    """Return states with the hips as much higher or lower as the ground is under the feet, on the mean."""
    times = np.array(samples.frames, float)
    heights = np.mean([each.at(times)[0][2] for each in ground.values()], axis=0)
    into = np.linalg.inv(np.moveaxis(samples.worlds[:3, :3], -1, 0))
    return replace(states, place=states.place + (into[:, :, 2] * heights[:, None]).T)


class Contacts(NamedTuple):
    """Spans in which held tips are planted, and the ground they stand on, by the names of the tips; world space."""

    spans: Mapping[str, Sequence[Planted]]
    ground: Mapping[str, Ground]


_HIPS = 0.01  # of the compliance of hips that move: in a recorded motion legs give way to planted feet, not the trunk


def read_contacts(rig: RigBody, scene: Scene, frames: Sequence[float]) -> Work[Contacts]:
    """Read the contacts of a body that touch frames, with the places at which their tips are planted.

    Contacts of a limb on the same thing that overlap or follow on each other are one; of those on others that overlap
    the later one begins where the earlier one ends. A held tip whose target is a mesh with the shape Surface stands on
    that, and nothing else carries it; raises what read_ground() does.
    """
    found: dict[str, list[Planted]] = {}
    limbs = {tip: limb for tip in rig.held if (limb := mesh_under(rig, tip)) is not None}
    near = 2 * rig.contact_fade + 1  # a gap so short between two contacts shortens their fades
    for tip in rig.held:
        for span, on in _apart([each for each in rig.contacts if each.tip == tip]):
            inside = range(ceil(span[0]), floor(span[1]) + 1)
            if not inside or span[0] - near > frames[-1] or span[1] + near < frames[0]:
                continue
            samples = yield from read_body(rig, scene, inside)
            body, animated = animated_frames(rig, samples)
            on = None if tip in limbs else on
            carried = {**samples.supports, **_carried(rig, samples, animated)}.get(on) if on else None
            found.setdefault(tip, []).append(Planted.of(span, tip_places(body, tip, samples, animated), on, carried))
    ground: dict[str, Ground] = {}
    if limbs:
        samples = yield from read_body(rig, scene, frames)
        body, animated = animated_frames(rig, samples)
        animated = with_places(rig, animated, samples.places)
        for tip, limb in limbs.items():
            places = tip_places(body, tip, samples, animated)
            ground[tip] = yield from read_ground(limb, scene, frames, places, found.get(tip, ()))
    return Contacts(found, ground)


def with_contacts(rig: RigBody, body: Body, contacts: Contacts, samples: BodySamples, frames: Numbers) -> Numbers:
    """Return frames of all bones (n, 3, 4, F) with held tips where their contacts and the fades around have them.

    Bones of the body that a tip is in contact with carry it by the same frames.
    """
    carried = {**samples.supports, **_carried(rig, samples, frames)}
    result, times = frames.copy(), np.array(samples.frames, float)
    into = np.linalg.inv(np.moveaxis(samples.worlds[:3, :3], -1, 0))
    for tip in {**contacts.spans, **contacts.ground}:
        places, end = tip_places(body, tip, samples, frames), body.tip(tip)
        moved = planted(places, times, contacts.spans.get(tip, ()), rig.contact_fade, carried) - places
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


def shares_of_carriers(rig: RigBody, contacts: Contacts, frames: Sequence[float]) -> dict[str, dict[int, Numbers]]:
    """Return the shares (F), from 0 to 1, by which bones of the body itself carry held tips at frames.

    The bones are given by their numbers, for each tip by its name. A share is 1 in a contact and fades around it.
    """
    found = dict[str, dict[int, Numbers]]()
    for tip, spans in contacts.spans.items():
        shares = shares_of_spans(np.array(frames, float), spans, rig.contact_fade)
        for each, share in zip(spans, shares, strict=True):
            of, bone = each.on if isinstance(each.on, tuple) else (None, "")
            if of == rig.armature and bone in rig.carrying and share.any():
                own = found.setdefault(tip, {})
                number = rig.bones.index(bone)
                own[number] = own.get(number, 0.0) + share
    return found


def compliance_with_contacts(rig: RigBody, tree: Tree) -> Numbers | None:
    """Return the compliance (k, 1) of all columns with contacts, by which hips keep their animation; None without."""
    if not rig.contacts:
        return None
    compliance = body_compliance(tree).copy()
    compliance[len(tree.joint_of) :] *= _HIPS
    return compliance


def animated_frames(rig: RigBody, samples: BodySamples) -> tuple[Body, Numbers]:
    """Return a body, and the frames (n, 3, 4, F) of its bones as they were animated by hand or recorded."""
    animation = Animation(samples.rotations, samples.locations)
    body = sampled_body(rig, samples)
    frames = frames_by_channels(rig, body, samples.bases, animation)
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


def bone_in_world(samples: BodySamples, frame: Numbers) -> Numbers:
    """Return the matrices (4, 4, F; world space) of a bone by its frames (3, 4, F) in armature space."""
    return products(samples.worlds, composed_matrices(frame[:, 3], frame[:, :3], np.ones((3, 1))))


def _carried(rig: RigBody, samples: BodySamples, frames: Numbers) -> dict[ContactSupport, Numbers]:
    """Return the matrices (4, 4, F; world space) of bones of a body that tips are on, by frames (n, 3, 4, F) of all."""
    found = {}
    for name in rig.carrying:
        found[rig.armature, name] = bone_in_world(samples, frames[rig.bones.index(name)])
    return found


def _apart(contacts: Sequence[Contact]) -> list[tuple[tuple[float, float], ContactSupport | None]]:
    """Return spans with what they are on, in order and apart; those on the same that follow on each other are one."""
    found: list[tuple[tuple[float, float], ContactSupport | None]] = []
    for each in sorted(contacts, key=lambda contact: (contact.frame_start, contact.frame_end)):
        first, last = each.frame_start, each.frame_end
        if found:
            (begin, end), on = found[-1]
            if on == each.on and first <= end + 1:
                found[-1] = (begin, max(end, last)), on
                continue
            first = max(first, end + 1)
        if first <= last:
            found.append(((first, last), each.on))
    return found


def heels_of(rig: RigBody, body: Body, held_frames: Numbers) -> dict[str, Heel]:
    """Return the feet that may lift their heels, by the names of their tips, held at frames (n, 3, 4, F) of joints."""
    if not rig.heels or not rig.planted:
        return {}
    anatomy, rest = body.tree.anatomy, body.rest_pose().frames
    found = {}
    for name in rig.planted:
        tip = body.tip(name)
        leg = next((limb for limb in anatomy.limbs if limb.has_end and limb.end == tip.joint), None)
        if leg is None or anatomy.parts[leg.upper] != Part.THIGH or not rig.has_ball(name):
            continue
        shin = rest[tip.joint, :, :3].T @ (rest[leg.middle, :, 3] - rest[leg.end, :, 3])
        foot = held_frames[tip.joint][:, :3]
        upright, ahead = (normalized(np.einsum("ijf,j->if", foot, each)) for each in (shin, np.array(tip.place)))
        across = cross(upright, ahead)
        if lengths(across).min() > _AHEAD:
            found[name] = Heel(leg.middle, leg.end, normalized(across), upright)
    return found
