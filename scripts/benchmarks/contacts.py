# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motion whose feet slide: contacts found and held.

Each recording is made longer than it was, by its hips going 15 % farther in the plane, so that feet slide as on a
figure of other proportions. Find Contacts and Bake is all that is done about it. What counts is what Blender shows.
"""

from itertools import pairwise
from time import process_time
from typing import NamedTuple

import numpy as np

from . import recordings

STRETCH = 1.15
FRAMES = 240
LEG = 0.85  # [m]


class Cleaned(NamedTuple):
    """A cleaned recording: contacts, the share of feet and frames in them, slides [legs], steps by the recorded ones.

    `slid` and `slides` are the farthest that a foot is from its middle place in a contact, before and after, and
    `between` at half frames. `step` is the largest step of a foot near an end of a contact by the largest one there
    before, `turn` the largest turn of a leg's joint in the motion by the largest one before. `away` is the mean
    distance of joints, and `hips` the largest one of the hips, from where they were [m, for a leg of 0.85 m].
    """

    contacts: int
    planted: float
    slid: float
    slides: float
    between: float
    step: float
    turn: float
    away: float
    hips: float
    seconds: float


def clean(file, frames=FRAMES, stretch=STRETCH):
    """Stretch a recording and clean it; the extension has to be registered."""

    from ik_triangulation.jobs.bake import bake_body
    from ik_triangulation.jobs.contacts import feet_of, find_contacts
    from ik_triangulation.jobs.problem import body_of

    recording = recordings.load(file, frames)
    ob, numbers = recording.ob, recording.frames
    stretch_root(recording, stretch)
    before = watch(ob, numbers)
    begun = process_time()
    contacts = find_contacts(ob, numbers[0], numbers[-1])
    if contacts:
        bake_body(body_of(ob, contacts[0].tip), numbers[0], numbers[-1])
    seconds = process_time() - begun
    return judge(ob, contacts, before, watch(ob, numbers), feet_of(ob), ob.ik_triangulation.contact_fade, seconds)


def stretch_root(recording, stretch):
    """Let the bone that carries the body go farther in the plane, by its location keys."""
    ob, names = recording.ob, recording.ob.data.bones.keys()
    line = [recording.limbs["leg 1"][0], *(b.name for b in ob.data.bones[recording.limbs["leg 1"][0]].parent_recursive)]
    keyed = {curve.data_path for curve in _curves(ob)}
    root = next(name for name in reversed(line) if ob.pose.bones[name].path_from_id("location") in keyed)
    places = recording.matrices[:, names.index(root), :3, 3]
    more = (stretch - 1.0) * (places - places[:1]) * (1.0, 1.0, 0.0)
    bone = ob.data.bones[root]
    above = recording.matrices[:, names.index(bone.parent.name), :3, :3] if bone.parent else np.eye(3)[None]
    rest = np.array(bone.parent.matrix_local.inverted() @ bone.matrix_local if bone.parent else bone.matrix_local)
    axes = above @ rest[:3, :3]
    curves = [curve for curve in _curves(ob) if curve.data_path == ob.pose.bones[root].path_from_id("location")]
    now = np.array([[curve.evaluate(frame) for curve in curves] for frame in recording.frames])
    added = np.einsum("fji,fj->fi", np.broadcast_to(axes, (len(more), 3, 3)), more)
    recordings.key(ob.pose.bones[root], "location", recording.frames, now + added)


def watch(ob, frames):
    """Matrices (2 F - 1, n, 4, 4) of all bones as Blender shows them at frames and half frames."""
    import bpy

    scene, found = bpy.context.scene, []
    for half in range(2 * len(frames) - 1):
        scene.frame_set(frames[0] + half // 2, subframe=0.5 * (half % 2))
        found.append(np.array([bone.matrix for bone in ob.pose.bones]))
    return np.array(found)


def judge(ob, contacts, before, after, feet, fade, seconds):
    """Compare what was shown before and after."""
    names, bones = ob.data.bones.keys(), ob.data.bones
    slid = slides = between = step = 0.0
    planted, count = 0, len(before[::2])
    for foot in feet:
        leg = sum(bone.length for bone in bones[foot].parent_recursive[:2])
        row = names.index(foot)
        was, now = (each[:, row, :3, 3] + bones[foot].length * each[:, row, :3, 1] for each in (before, after))
        steps = [np.linalg.norm(np.diff(each[::2], axis=0), axis=1) for each in (was, now)]
        for each in contacts:
            if each.tip != foot:
                continue
            first, last = int(each.frame_start) - 1, int(each.frame_end) - 1  # the first frame is 1
            planted += last - first + 1
            whole, both = slice(2 * first, 2 * last + 1, 2), slice(2 * first, 2 * last + 1)
            slid = max(slid, _farthest(was[whole]) / leg)
            slides, between = max(slides, _farthest(now[whole]) / leg), max(between, _farthest(now[both]) / leg)
            for window in (slice(max(0, first - fade - 1), first), slice(last, last + fade + 1)):
                if steps[0][window].size:
                    step = max(step, steps[1][window].max() / steps[0][window].max())
    size = LEG / sum(bone.length for bone in bones[feet[0]].parent_recursive[:2])
    away = size * np.linalg.norm(after[::2, :, :3, 3] - before[::2, :, :3, 3], axis=2)
    hips = names.index(ob.ik_triangulation.hips) if ob.ik_triangulation.hips else 0
    lines = [
        [names.index(name) for name in (foot, *(b.name for b in bones[foot].parent_recursive[:2]))] for foot in feet
    ]
    turn = max(_turns(after, line) for line in lines) / max(_turns(before, line) for line in lines)
    share = planted / count / len(feet)
    return Cleaned(
        len(contacts), share, slid, slides, between, step, turn, away.mean(), away[:, hips].max(), seconds / count
    )


def _farthest(places):
    return np.linalg.norm(places - np.median(places, axis=0), axis=1).max()


def _turns(matrices, line):
    """The largest turn [rad] from frame to frame of the bones of a leg, each in the one before."""
    most = 0.0
    for below, above in pairwise(line):
        local = np.swapaxes(matrices[::2, above, :3, :3], -1, -2) @ matrices[::2, below, :3, :3]
        between = np.swapaxes(local[:-1], -1, -2) @ local[1:]
        cosine = np.clip((np.trace(between, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)
        most = max(most, np.arccos(cosine).max())
    return most


def _curves(ob):
    from ik_triangulation.rig.keyframes.channelbags import curves_of

    return list(curves_of(ob))


def run(arguments):
    """A line for each recording in a folder."""
    import addon_utils
    import bpy

    addon_utils.enable("ik_triangulation", default_set=True)
    print("Hips that go 15 % farther, then Find Contacts and Bake; slides in thousandths of the leg")
    print(
        "| Recording | Contacts | Planted | Slide before | Slide | At half frames | Step at the ends | Largest turn "
        "| Joints [cm] | Hips at most [cm] | ms a frame |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for file in recordings.files_in(arguments.folder):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        found = clean(file, arguments.frames)
        cells = (
            str(found.contacts),
            f"{found.planted:.0%}",
            f"{1e3 * found.slid:.0f}",
            f"{1e3 * found.slides:.3f}",
            f"{1e3 * found.between:.2f}",
            f"{found.step:.2f}",
            f"{found.turn:.2f}",
            f"{100 * found.away:.2f}",
            f"{100 * found.hips:.2f}",
            f"{1e3 * found.seconds:.2f}",
        )
        print(f"| {file.stem} | {' | '.join(cells)} |", flush=True)
    addon_utils.disable("ik_triangulation", default_set=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("folder", help="of .bvh files")
    parser.add_argument("--frames", type=int, default=FRAMES, help="of each recording, from its middle")
