# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded motion solved again by + and Bake beside Blender's IK: arms, legs, spines and necks of BVH files.

The limb is told where its end goes, and the body around it plays the recording. How far its joints are then off the
recording says how natural the poses are. Any recordings will do; those that the figures of this project are from:

- Debian's package assimp-testmodels: 01_03.bvh (climb, hang, swing; subject 1 of the CMU Graphics Lab Motion Capture
  Database, mocap.cs.cmu.edu, free for all uses, converted by B. Hahne, cgspeed.com) and Boxing_Toes.bvh
- github.com/DragonForgedTheArtist/IClone-CMU-Mocap, the same database on another body: 002_06 (bend over, scoop up),
  002_10 (wash self), 005_09 (dance); to cross-check 001_08, 002_01, 002_07, 003_01, 005_12, 006_06, 006_09, 007_01
- github.com/BandaiNamcoResearchInc/Bandai-Namco-Research-Motiondataset (CC BY-NC 4.0), dataset 1: kick_normal_001; to
  cross-check punch_normal_001, guide_normal_001
- github.com/facebookresearch/AnimatedDrawings (MIT), examples/bvh, to cross-check: fair1/wave_hello,
  rokoko/jesse_dance, cmu1/jumping_jacks
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from .likeness import pooled
from .recordings import files_in, load
from .scenes import empty_file, extension
from .solving_again import BLENDER, ENDS, OURS, POLE, Case, has_peer, outside_ranges, solve_again

CASES = {
    "place": Case("+ on the two long bones, first pose given", ENDS, "first", place=True),
    "hand": Case("+ on the hand or foot, first pose given", ENDS, "first"),
    "rest": Case("the same from rest", ENDS, "rest"),
    "keyed": Case("the same, keyed every 24 frames", ENDS, "keyed"),
    "spine": Case("spine to chest, first pose given", ("spine",), "first"),
    "spine-rest": Case("spine to chest, from rest", ("spine",), "rest"),
    "neck": Case("neck and head, first pose given", ("neck",), "first"),
    "neck-rest": Case("neck and head, from rest", ("neck",), "rest"),
    "head": Case("spine to head, first pose given", ("spine to head",), "first"),
    "head-rest": Case("spine to head, from rest", ("spine to head",), "rest"),
}
METHODS = OURS, BLENDER, POLE
WITHIN = 0.2  # degrees
HEAD = (
    "| recorded motion solved again | by | joints' angle off, median | 95 % | elbow, % of the reach | end off | pops "
    "| jerk | tip off, of the reach | ms a frame |"
)


def measure(files, cases, methods, solver=None, length=150):
    """Return lists of (clip, limb, Likeness, milliseconds a frame) by case and method, and notes on what + took."""
    found, notes = defaultdict(list), set()
    with extension():
        for file in files:
            empty_file()
            recording = load(file, length)
            for name in cases:
                for method in (method for method in methods if has_peer(CASES[name], method)):
                    limbs, seconds, own = solve_again(recording, CASES[name], method, solver)
                    each = 1e3 * seconds / len(recording.frames) / max(1, len(limbs))
                    found[name, method] += [(recording.name, limb, like, each) for limb, like in limbs.items()]
                    notes.update(own)
    return found, sorted(notes)


def ranges(files, length):
    """Return angles [degrees] outside the ranges that + stores, by limb and joint from the root, of all clips."""
    found = defaultdict(list)
    with extension():
        for file in files:
            empty_file()
            recording = load(file, length)
            for limb in recording.limbs:
                for number, over in enumerate(outside_ranges(recording, limb).T, 1):
                    found[limb.rstrip(" 12"), number].append(over)
    return {joint: np.concatenate(over) for joint, over in found.items()}


def figures(like):
    """The numbers of a row: joints' median and 95 %, elbows' places, end [degrees, 95 %], pops, jerk, tip (largest)."""
    return {
        "median": float(np.median(like.angles)),
        "high": float(np.percentile(like.angles, 95)),
        "elbow": float(np.median(like.places)),
        "end": float(np.percentile(like.ends, 95)),
        "pops": like.pops,
        "jerk": like.jerks[0] / max(like.jerks[1], 1e-9),
        "tip": float(like.tips.max()),
    }


def line_of(title, method, rows):
    """A line of the table, of the rows of all its clips and limbs together."""
    f = figures(pooled([like for _, _, like, _ in rows]))
    cells = [title, method, f"{f['median']:.1f}", f"{f['high']:.1f}", f"{100.0 * f['elbow']:.1f}", f"{f['end']:.1f}"]
    cells += [f"{f['pops']}", f"{f['jerk']:.2f}", f"{f['tip']:.1e}", f"{np.mean([each for *_, each in rows]):.2f}"]
    return f"| {' | '.join(cells)} |"


def parts(rows, each):
    """Return rows by the name of their clip, of their kind of limb, or of both ("all"); nothing for None."""
    names = {
        "clip": lambda row: row[0],
        "limb": lambda row: row[1].rstrip(" 12"),
        "all": lambda row: ", ".join(row[:2]),
    }
    found = defaultdict(list)
    for row in rows if each else []:
        found[names[each](row)].append(row)
    return found


def run(arguments):
    """A line for each case and method over all clips, and with --each for each clip, kind of limb, or both."""
    import bpy

    files = files_in(arguments.folder, arguments.clips)
    if arguments.ranges:
        print("| recorded joint | frames outside what + stores | by at most |\n|---|---|---|")
        for (limb, number), over in ranges(files, arguments.frames).items():
            print(f"| {limb}, bone {number} | {100.0 * np.mean(over > WITHIN):.2f} % | {over.max():.1f}° |")
        return
    found, notes = measure(files, arguments.rows, arguments.methods, arguments.solver, arguments.frames)
    solver = arguments.solver or "the default solver"
    print(
        f"Blender {bpy.app.version_string}, {solver}, {len(files)} clips: {', '.join(file.stem for file in files)}\n"
        f"angles in degrees; elbows and knees: median; end, such as a hand: 95 %\n\n{HEAD}\n{'|---' * 10}|"
    )
    for (name, method), rows in found.items():
        print(line_of(CASES[name].title, method, rows))
        for part, own in parts(rows, arguments.each).items():
            print(line_of(f"  {part}", method, own))
    for note in notes:
        print(f"Note: {note}")
    if arguments.json:
        kept = [
            {"row": name, "by": method, "clip": clip, "limb": limb, "ms": each, **figures(like)}
            for (name, method), rows in found.items()
            for clip, limb, like, each in rows
        ]
        Path(arguments.json).write_text(json.dumps(kept, indent=1), encoding="utf-8")


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("folder", help="a folder of BVH files, which are read in the order of their names")
    parser.add_argument("--clips", type=int, metavar="N", help="only the first N files")
    parser.add_argument("--rows", nargs="+", choices=CASES, default=list(CASES), metavar="ROW", help=" ".join(CASES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--solver", help="in place of the default")
    parser.add_argument("--frames", type=int, default=150, help="of a clip, from its middle; default: %(default)s")
    parser.add_argument("--each", choices=("clip", "limb", "all"), help="also each of them")
    parser.add_argument("--ranges", action="store_true", help="only tell how much of it lies in the ranges of +")
    parser.add_argument("--json", metavar="FILE", help="write the figures of each clip and limb there as well")
