# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motion whose feet slide, and scenes in which hands and feet rest on what moves: contacts found and held.

Scenes are made by seeded code, so that it is known when what rests on what. Each recording is made longer than it was,
by its hips going 15 % farther in the plane, so that feet slide as on a figure of other proportions. Find Contacts and
Bake is all that is done about it. What counts is what Blender shows.
"""

from itertools import pairwise
from time import process_time
from typing import NamedTuple

import numpy as np

from . import recordings
from .scenes import empty_file
from .touching import SCENES

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
    from ik_triangulation.jobs.find_contacts import feet_of, find_contacts
    from ik_triangulation.jobs.shots.problem import body_of

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


class Rested(NamedTuple):
    """A made scene: the share of frames of contact that are found and of found ones that are true, what the bake does.

    `slid` and `slips` are the farthest that a tip is from its middle place on what carries it, before and after, at
    frames and half frames [m], `step` its largest step there beside a contact by the largest one before. `off` is what
    the report says of all held tips at most [m].
    """

    recall: float
    precision: float
    slid: float
    slips: float
    step: float
    off: float
    reached: bool
    milliseconds: float


def rest(make, seed):
    """Make a scene, find its contacts and bake them; the extension has to be registered."""
    from ik_triangulation.jobs.bake import bake_body
    from ik_triangulation.jobs.find_contacts import find_contacts
    from ik_triangulation.jobs.shots.problem import bodies_and_tips

    made = make(seed)
    begun = process_time()
    contacts = find_contacts(made.rig, 1, made.frames)
    seconds = process_time() - begun
    tips = {*made.tips, *(truth.tip for truth in made.truths)}
    found = {
        touched(each.tip, each.support.name if each.support else None, each.bone, frame)
        for each in contacts
        for frame in range(int(each.frame_start), int(each.frame_end) + 1)
        if each.tip in tips
    }
    true = {
        touched(each.tip, each.on, each.bone, at) for each in made.truths for at in range(each.first, each.last + 1)
    }
    before = [places_on(made.rig, each, made.frames) for each in contacts]
    reports = [bake_body(body, 1, made.frames) for body in bodies_and_tips(made.rig)[0]]
    after = [places_on(made.rig, each, made.frames) for each in contacts]
    slid = slips = step = 0.0
    fade = made.rig.ik_triangulation.contact_fade
    for each, was, now in zip(contacts, before, after, strict=True):
        first, last = int(each.frame_start) - 1, int(each.frame_end) - 1
        inside = slice(2 * first, 2 * last + 1)
        slid, slips = max(slid, _farthest(was[inside])), max(slips, _farthest(now[inside]))
        for window in (slice(max(0, first - fade - 1), first + 1), slice(last, last + fade + 2)):
            ways = [np.linalg.norm(np.diff(places[::2][window], axis=0), axis=1) for places in (was, now)]
            if ways[0].size:
                step = max(step, ways[1].max() / max(ways[0].max(), 1e-3))
    off = max((tip.largest_distance for report in reports for tip in report.tips.values()), default=0.0)
    return Rested(
        len(true & found) / len(true) if true else np.nan,
        len(true & found) / len(found) if found else 1.0,
        slid,
        slips,
        step,
        off,
        all(report.reached for report in reports),
        1e3 * seconds / made.frames,
    )


def touched(tip, on, bone, frame):
    """What touches what at a frame: of two hands each is on the other."""
    return (*sorted((tip, bone)), frame) if bone.startswith("hand") else (tip, on, bone, frame)


def places_on(rig, contact, frames):
    """Places (2 F - 1, 3) of a tip on what it is in contact with, as Blender shows both at frames and half frames."""
    import bpy
    from mathutils import Matrix

    found, support, bone = [], contact.support, contact.bone
    for half in range(2 * frames - 1):
        bpy.context.scene.frame_set(1 + half // 2, subframe=0.5 * (half % 2))
        on = support.matrix_world.copy() if support else Matrix()
        if bone:
            on @= support.pose.bones[bone].matrix
        found.append(on.inverted() @ rig.matrix_world @ rig.pose.bones[contact.tip].tail)
    return np.array(found)


def _means(done):
    """The mean shares of frames that are found and of those that are true, as text."""
    every = [[getattr(each, field) for each in done] for field in ("recall", "precision")]
    return ("-" if np.isnan(each).all() else f"{np.nanmean(each):.1%}" for each in every)


def run_scenes(seeds):
    """A line for each kind of scene, over some seeds."""
    print(f"Find Contacts and Bake, scenes of {seeds} seeds: the means of shares, the worst of all else, in mm")
    print(
        "| Scene | Found | True | Slide before | Slide | By the report | Step at the ends | ms a frame |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    every = []
    for name, make in SCENES.items():
        done = []
        for seed in range(seeds):
            empty_file()
            done.append(rest(make, seed))
        every += done
        recall, precision = _means(done)
        worst = [max(getattr(each, field) for each in done) for field in ("slid", "slips", "off", "step")]
        told = "" if all(each.reached for each in done) else ", missed"
        time = np.median([each.milliseconds for each in done])
        print(
            f"| {name} | {recall} | {precision} | {1e3 * worst[0]:.0f} | {1e3 * worst[1]:.2f} | "
            f"{1e3 * worst[2]:.2f}{told} | {worst[3]:.2f} | {time:.2f} |",
            flush=True,
        )
    recall, precision = _means(every)
    least = np.nanmin([each.recall for each in every])
    print(f"| all | {recall} | {precision} | | | | | |\nThe fewest frames found in a scene: {least:.1%}")


def run(arguments):
    """A line for each recording in a folder, or for each made scene."""
    import addon_utils
    import bpy

    addon_utils.enable("ik_triangulation", default_set=True)
    if arguments.folder is None:
        run_scenes(arguments.seeds)
        addon_utils.disable("ik_triangulation", default_set=True)
        return
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
    parser.add_argument("folder", nargs="?", help="of .bvh files; without one scenes are made")
    parser.add_argument("--seeds", type=int, default=3, help="of each made scene")
    parser.add_argument("--frames", type=int, default=FRAMES, help="of each recording, from its middle")
