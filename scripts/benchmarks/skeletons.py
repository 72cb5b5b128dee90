# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognition of arms and legs on skeletons of other people's characters, with the names of their bones and without.

Each file in the folder is a skeleton as JSON: `name`, `kind` (human, animal, robot), `object` (the armature's
matrix_world, rows), `bones` (each with `name`, `parent`, and `head` and `tail` in armature space) and `limbs`, what it
truly has: `part`, `side`, `bones` from the trunk outwards, `hinge` (the bone that begins at the elbow or knee), `end`
(hand or foot); `extra` for limbs that are not the character's own. A limb is found if it begins, bends and ends at the
true bones, on the true side. With --made as many skeletons of each kind of made_skeletons.py are recognized as well,
whose names say nothing, with --varied as many variations of each file by varied_skeletons.py.
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from . import made_skeletons
from .varied_skeletons import varied

FIRST_SEED = 100  # of skeletons that are made; nothing was developed on these

PARTS = {"arm": "ARM", "leg": "LEG"}
HEAD = "| kind | skeletons | arms and legs | found by names | without names | wrong by names | without names |"


def read(data, named):
    """Return the kind of a skeleton, its rest bones, what is up and in front, and its true arms and legs."""
    from ik_triangulation.rig.anatomy.skeleton import RestBone

    new = {row["name"]: row["name"] if named else f"Bone.{number:03}" for number, row in enumerate(data["bones"])}
    bones = {
        new[row["name"]]: RestBone(new.get(row["parent"]), tuple(row["head"]), tuple(row["tail"]))
        for row in data["bones"]
    }
    turn = np.linalg.inv(np.array(data["object"])[:3, :3])
    up, front = (turn @ axis / np.linalg.norm(turn @ axis) for axis in ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
    limbs = [limb for limb in data["limbs"] if limb["part"] in PARTS and not limb.get("extra")]
    true = [
        (
            PARTS[limb["part"]],
            limb["side"],
            new[limb["bones"][0]],
            new.get(limb.get("hinge")),
            new[limb.get("end") or limb["bones"][-1]],
        )
        for limb in limbs
    ]
    return data["kind"], bones, (up, front), true


def judge(data, named):
    """Return the kind of a skeleton, and numbers of arms and legs: in all, found, and wrong."""
    from ik_triangulation.rig.anatomy.limbs import ARM, LEG, RestBody

    kind, bones, axes, true = read(data, named)
    body = RestBody(bones, *axes)
    found = [(limb.kind.name, limb.side, limb.bones) for each in (ARM, LEG) for limb in body.limbs(each)]
    right = [
        limb
        for limb in found
        for part, side, first, hinge, end in true
        if limb[:2] == (part, side) and (limb[2][0], limb[2][-1]) == (first, end) and hinge in (None, *limb[2])
    ]
    return kind, len(true), len(right), len(found) - len(right)


def add_arguments(parser):
    parser.add_argument("folder", type=Path, nargs="?", help="skeletons as JSON files")
    parser.add_argument("--made", type=int, default=0, help="skeletons of each kind that are made at random")
    parser.add_argument("--varied", type=int, default=0, help="variations of each skeleton of the folder")
    parser.add_argument("--each", action="store_true", help="name the skeletons that are not recognized whole")


def skeletons_of(arguments):
    """Yield the kind and the data of each skeleton: those of the folder, then those that are made."""
    for path in sorted(arguments.folder.glob("*.json")) if arguments.folder else ():
        data = json.loads(path.read_text(encoding="utf-8"))
        yield data["kind"], data
        for seed in range(FIRST_SEED, FIRST_SEED + arguments.varied):
            yield f"varied: {data['kind']}", varied(data, seed)
    for kind, make in made_skeletons.KINDS.items():
        for seed in range(FIRST_SEED, FIRST_SEED + arguments.made):
            yield f"made: {kind}", make(seed)


def run(arguments):
    rows = defaultdict(lambda: np.zeros(6, dtype=int))
    for kind, data in skeletons_of(arguments):
        (_, count, by_name, wrong), (_, _, by_shape, wrong_by_shape) = (judge(data, named) for named in (True, False))
        if count:
            rows[kind] += np.array([1, count, by_name, by_shape, wrong, wrong_by_shape])
        if arguments.each and (by_name, by_shape) != (count, count):
            print(f"{data['name']}: {by_name} and {by_shape} of {count}")
    print(HEAD)
    print("|---|---|---|---|---|---|---|")
    for kind, row in sorted(rows.items()):
        print(f"| {kind} | {' | '.join(map(str, row))} |")
