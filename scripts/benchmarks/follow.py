# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motion followed by other people's characters: planted feet, hands that touch, pops, likeness and time.

Each recording plays on its own skeleton. Each character, of skeletons as `skeletons` reads them or of Rigify as it is
generated, follows it by Follow Another Rig and Bake, as they are pressed. What counts is what Blender shows of both.
"""

import tempfile
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from . import recordings, rig_truth
from .likeness import pops, turns
from .scenes import empty_file, extension, silent

FRAMES = 120
RIGIFY, ONTO_IK = "Rigify", "Rigify, onto IK controls"
ENDS = "hand.L", "hand.R", "foot.L", "foot.R"
TOUCH = 0.2  # of an arm: distance of the palms of hands that touch
ARM = 0.55  # m from the shoulder to the wrist of a grown-up
STILL, STILL_FOR = 0.01, 6  # [legs], frames: a foot of the source that stays so near one place so long is planted
ORIGINAL = "ORG-"  # before the names of bones that show what Rigify's controls do
BENT = 0.3  # sine of the bend of elbows and knees that have a side
HEAD = (
    "| character | recordings | missed | planted | found | slip, of the leg | hands touch | off, cm | pops "
    f"| the source's | limbs off, degrees: median | 95 % | backwards | ms a frame |\n{'|---' * 14}|"
)


class Shown(NamedTuple):
    """What Blender shows of a character at F frames, in the space in which it stands at rest.

    joints    places (F, 3, 3) of shoulder or hip, elbow or knee, and wrist or ankle, by the limb's end
    points    palms and balls of the feet (F, 3), by end
    turns     rotations (F, n, 3, 3) of joints in the part before: trunk, head and both parts of all limbs with ends
    """

    joints: dict[str, np.ndarray]
    points: dict[str, np.ndarray]
    turns: np.ndarray


class Followed(NamedTuple):
    """A recording that is followed.

    `missed` are frames in which a tip is not reached. `planted` are frames of feet in contacts, `found` their share of
    those in which the source's foot stands still, and `slip` the farthest that a foot is from its middle place in a
    contact [legs]. `touching` are frames in which the palms of the source touch, and `hands` how far those of the
    character are then nearer or farther than in the source, by the length of arms [m of a grown-up]. `off` (F * 8) is
    how far upper and lower parts of limbs point away from the source's [degrees], `backwards` the frames in which
    elbows and knees bend to the other side than those of the source.
    """

    missed: int
    planted: int
    found: float
    slip: float
    touching: int
    hands: float
    pops: int
    theirs: int
    off: np.ndarray
    backwards: int
    seconds: float


def watch(figure, frames):
    """Watch a character, by the bones that show it where these are others than its controls."""
    import bpy

    scene, ob, into = bpy.context.scene, figure.armature, np.array(figure.base.inverted())
    lines = {end: figure.limbs[end] for end in ENDS}
    parts = [(figure.bones["hips"], None), (figure.bones["chest"], figure.bones["hips"])]
    parts += [(figure.bones["head"], figure.bones["chest"])] if "head" in figure.bones else []
    for end, line in lines.items():
        base = figure.bones["chest" if end.startswith("hand") else "hips"]
        parts += zip(line, (base, *line[:-1]), strict=True)
    names = list(dict.fromkeys(name for name, _ in parts))
    by = {name: f"{ORIGINAL}{name.replace('_fk', '')}" for name in names}
    by = {name: other if other in ob.data.bones else name for name, other in by.items()}
    rest = {name: _turn(into @ np.array(ob.matrix_world @ ob.data.bones[name].matrix_local)) for name in names}
    places, turned = [], []
    for frame in frames:
        scene.frame_set(frame)
        bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        now = [into @ np.array(ob.matrix_world @ bones[by[name]].matrix) for name in names]
        places.append([each[:3, 3] for each in now])
        turned.append([_turn(each) @ rest[name].T for each, name in zip(now, names, strict=True)])
    places, turned = np.array(places), np.array(turned)
    local = []
    for name, above in parts:
        own = turned[:, names.index(name)]
        local.append(own if above is None else np.swapaxes(turned[:, names.index(above)], 1, 2) @ own)
    points = {}
    for end, line in lines.items():
        last = names.index(line[-1])
        points[end] = places[:, last] + turned[:, last] @ np.array(figure.point(end))
    joints = {end: places[:, [names.index(name) for name in line]] for end, line in lines.items()}
    return Shown(joints, points, np.stack(local, axis=1))


def still(ball, leg):
    """Whether (F) a ball of a foot (F, 3) is one of at least STILL_FOR frames that are low and at one place."""
    found, low = np.zeros(len(ball), bool), ball[:, 2] < np.percentile(ball[:, 2], 5.0) + 0.08 * leg
    for k in range(len(ball) - STILL_FOR + 1):
        some = slice(k, k + STILL_FOR)
        apart = np.linalg.norm(ball[some] - np.median(ball[some], axis=0), axis=1).max()
        found[some] |= low[some].all() and apart < STILL * leg
    return found


def compare(own, theirs, seen, their_seen, contacts, frames):
    """Return what is Followed but for misses and time, of the figures as they were seen at these frames."""
    slip, planted, met, standing = 0.0, 0, 0, 0
    for end in ENDS[2:]:
        held = np.zeros(len(frames), bool)
        for each in contacts:
            if each.tip == own.bones[end]:
                span = slice(int(each.frame_start) - frames[0], int(each.frame_end) - frames[0] + 1)
                places, held[span] = seen.points[end][span], True
                slip = max(slip, np.linalg.norm(places - np.median(places, axis=0), axis=1).max() / own.length(end))
        stands = still(their_seen.points[end], theirs.length(end))
        planted, met, standing = planted + held.sum(), met + (held & stands).sum(), standing + stands.sum()
    gaps = [
        np.linalg.norm(each.points["hand.L"] - each.points["hand.R"], axis=1) / figure.length("hand.L")
        for each, figure in ((seen, own), (their_seen, theirs))
    ]
    near = gaps[1] < TOUCH
    off, backwards = [], 0
    for end in ENDS:
        (upper, lower), (their_upper, their_lower) = (links(each.joints[end]) for each in (seen, their_seen))
        off += [apart(upper, their_upper), apart(lower, their_lower)]
        axes, their_axes = np.cross(upper, lower), np.cross(their_upper, their_lower)
        bent = np.minimum(np.linalg.norm(axes, axis=1), np.linalg.norm(their_axes, axis=1)) > BENT
        backwards += int((bent & ((axes * their_axes).sum(1) < 0.0)).sum())
    ours, source = turns(seen.turns), turns(their_seen.turns)
    hands = ARM * float(np.abs(gaps[0] - gaps[1])[near].max(initial=0.0))
    share = met / standing if standing else 1.0
    return Followed(
        0,
        int(planted),
        share,
        slip,
        int(near.sum()),
        hands,
        pops(ours, source),
        pops(source, source),
        np.concatenate(off),
        backwards,
        0.0,
    )


def follow(file, rig, frames=FRAMES, onto_ik=False):
    """Let a rig that is alone in the scene follow a recording, and return what is Followed, and both figures as Shown.

    The extension has to be enabled.
    """
    import bpy

    from ik_triangulation.jobs.bake import bake_body
    from ik_triangulation.jobs.follow_rig import follow_rig
    from ik_triangulation.jobs.shots.problem import body_of
    from ik_triangulation.rig.retargeting import Figure

    source = recordings.load(file, frames)
    first, last = source.frames[0], source.frames[-1]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    began = process_time()
    with silent():
        following = follow_rig(rig, source.ob, first, last, keys_on="IK" if onto_ik else "FK")
        report = bake_body(body_of(rig, following.tips[0]), first, last)
    seconds = process_time() - began
    theirs, own = Figure(source.ob), Figure(rig)
    both = watch(own, source.frames), watch(theirs, source.frames)
    found = compare(own, theirs, *both, following.contacts, source.frames)
    missed = sum(len(tip.missed) for tip in report.tips.values())
    return found._replace(missed=missed, seconds=seconds / len(source.frames)), both


def characters(folder, only):
    """Return what builds each character into an empty file, by name: skeletons of a folder, then Rigify."""
    rigs = {
        path.stem: lambda path=path: rig_truth.build(rig_truth.read(path)) for path in sorted(folder.glob("*.json"))
    }
    rigs |= {RIGIFY: rigify(), ONTO_IK: rigify()}
    return {name: make for name, make in rigs.items() if not only or name in only}


def rigify():
    """Return what makes Rigify's human, which is generated once."""
    import addon_utils
    import bpy

    kept = Path(tempfile.gettempdir(), "ik_triangulation_follow.blend")

    def make():
        if not kept.exists():
            addon_utils.enable("rigify", default_set=True)
            bpy.ops.object.armature_basic_human_metarig_add()
            with silent():
                bpy.ops.pose.rigify_generate()
            bpy.ops.wm.save_as_mainfile(filepath=str(kept))
        bpy.ops.wm.open_mainfile(filepath=str(kept))
        return bpy.data.objects["rig"]

    return make


def line_of(name, rows):
    """A line of the table, of all recordings of a character."""
    off = np.concatenate([each.off for each in rows])
    cells = [name, f"{len(rows)}", f"{sum(each.missed for each in rows)}", f"{sum(each.planted for each in rows)}"]
    cells += [f"{100.0 * np.mean([each.found for each in rows]):.0f} %", f"{max(each.slip for each in rows):.1e}"]
    cells += [f"{sum(each.touching for each in rows)}", f"{100.0 * max(each.hands for each in rows):.2f}"]
    cells += [f"{sum(each.pops for each in rows)}", f"{sum(each.theirs for each in rows)}"]
    cells += [f"{np.median(off):.1f}", f"{np.percentile(off, 95):.1f}", f"{sum(each.backwards for each in rows)}"]
    cells.append(f"{np.median([each.seconds for each in rows]) * 1e3:.0f}")
    return f"| {' | '.join(cells)} |"


def run(arguments):
    print(HEAD)
    files = recordings.files_in(arguments.folder, arguments.clips)
    with extension():
        for name, make in characters(arguments.skeletons, arguments.only).items():
            rows = []
            for file in files:
                empty_file()
                found, _ = follow(file, make(), arguments.frames, name == ONTO_IK)
                rows.append(found)
                if arguments.each:
                    print(line_of(f"{name}, {file.stem}", [found]), flush=True)
            print(line_of(name, rows), flush=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("folder", type=Path, help="of .bvh files")
    parser.add_argument("skeletons", type=Path, help="folder of skeletons as JSON")
    parser.add_argument("--only", nargs="+", help="names of skeletons, of 'Rigify' and 'Rigify, onto IK controls'")
    parser.add_argument("--clips", type=int, help="number of recordings")
    parser.add_argument("--frames", type=int, default=FRAMES, help="of each recording, from its middle")
    parser.add_argument("--each", action="store_true", help="a line for each recording")


def links(joints):
    """Unit vectors (F, 3) along the upper and the lower part of a limb, of its places (F, 3, 3)."""
    ways = np.diff(joints, axis=1)
    return np.moveaxis(ways / np.linalg.norm(ways, axis=2, keepdims=True), 1, 0)


def apart(a, b):
    """Angles (F) [degrees] between unit vectors (F, 3)."""
    return np.degrees(2.0 * np.arcsin(np.clip(0.5 * np.linalg.norm(a - b, axis=1), 0.0, 1.0)))


def _turn(matrix):
    """The rotation (3, 3) in a matrix whose scale is even."""
    return matrix[:3, :3] / np.linalg.norm(matrix[:3, 0])
