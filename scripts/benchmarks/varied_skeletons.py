# SPDX-License-Identifier: GPL-3.0-or-later
"""Variations of skeletons for recognition: other proportions, another rest pose, another order of bones.

Each bone with its mirror image gets another length, and turns by a few degrees at rest, its image as its mirror image.
What stood on the ground does so again. The order of the bones is drawn. A skeleton has the form of the files that
skeletons.py reads; names are what they were.
"""

from random import Random

import numpy as np

LENGTHS, TURNS = 0.15, 5.0  # share of a bone's length, and angle [degrees], up to which it changes
GROUND = 0.05  # of the height: what is as low as that stands


def varied(data, seed):
    """Return a variation of a skeleton."""
    from mathutils import Matrix, Vector

    from ik_triangulation.rig.anatomy.skeleton import RestBone, Skeleton

    random = Random(seed)
    rows = {row["name"]: row for row in data["bones"]}
    rest = {name: RestBone(row["parent"], tuple(row["head"]), tuple(row["tail"])) for name, row in rows.items()}
    skeleton = Skeleton(rest)
    normal, _, images = skeleton.symmetry or (np.array([1.0, 0.0, 0.0]), 0.0, list(range(len(rest))))
    mirror = np.eye(3) - 2.0 * np.outer(normal, normal)
    changes = {}
    for number, image in enumerate(images):
        axis = Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()
        angle, scale = np.radians(random.uniform(-TURNS, TURNS)), random.uniform(1.0 - LENGTHS, 1.0 + LENGTHS)
        turn = np.array(Matrix.Rotation(angle, 3, axis))
        if image in changes and image != number:
            turn, scale = mirror @ changes[image][0] @ mirror, changes[image][1]
        elif image == number:  # in the middle: about the normal only
            turn = np.array(Matrix.Rotation(angle, 3, Vector(normal)))
        changes[number] = turn, scale
    heads, tails, turned = {}, {}, {}
    for number, name in enumerate(skeleton.names):
        row, (turn, scale) = rows[name], changes[number]
        head, tail, above = np.array(row["head"]), np.array(row["tail"]), row["parent"]
        if above is None:
            heads[name], turned[name] = head, turn
        else:
            from_above = head - np.array(rows[above]["head"])
            heads[name] = heads[above] + turned[above] @ from_above * changes[skeleton.names.index(above)][1]
            turned[name] = turned[above] @ turn
        tails[name] = heads[name] + turned[name] @ (tail - head) * scale
    _stand(data, rest, heads, tails)
    order = list(rows)
    random.shuffle(order)
    bones = [{**rows[name], "head": list(heads[name]), "tail": list(tails[name])} for name in order]
    return {**data, "name": f"{data['name']} {seed}", "bones": bones}


def _stand(data, rest, heads, tails):
    """Lower or lift each leg that stood on the ground, the more the farther out, so that it stands there again."""
    up = np.linalg.inv(np.array(data["object"])[:3, :3]) @ np.array(data.get("up", (0.0, 0.0, 1.0)), dtype=float)
    up /= np.linalg.norm(up)
    heights = [np.array(at) @ up for bone in rest.values() for at in (bone.head, bone.tail)]
    ground, height = min(heights), max(heights) - min(heights)
    for limb in data["limbs"]:
        first, end = limb["bones"][0], limb["bones"][-1]
        under = [first]
        for _ in rest:  # parents may come after their children
            more = [each for each, bone in rest.items() if bone.parent in under and each not in under]
            under += more
            if not more:
                break
        low = min(np.array(at) @ up for name in under for at in (rest[name].head, rest[name].tail))
        if limb["part"] != "leg" or low - ground > GROUND * height:
            continue
        lift = low - min(at[name] @ up for name in under for at in (heads, tails))
        whole = np.linalg.norm(heads[end] - heads[first])
        base = heads[first].copy()
        for name in under:
            for places in (heads, tails):
                places[name] = places[name] + up * lift * min(np.linalg.norm(places[name] - base) / whole, 1.0)
