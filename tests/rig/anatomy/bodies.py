# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as bones at rest, with names that tell nothing."""

from ik_triangulation.rig.anatomy.body import RestBone

MIDDLE = [  # name, parent, head and tail as places from the side: y, z
    ("hips", None, (0.0, 1.0), (0.0, 1.1)),
    ("spine 1", "hips", (0.0, 1.1), (0.0, 1.2)),
    ("spine 2", "spine 1", (0.0, 1.2), (0.0, 1.35)),
    ("spine 3", "spine 2", (0.0, 1.35), (0.0, 1.5)),
    ("neck", "spine 3", (0.0, 1.5), (0.0, 1.6)),
    ("head", "neck", (0.0, 1.6), (0.0, 1.8)),
    ("tail 1", "hips", (0.1, 1.0), (0.2, 0.9)),
    ("tail 2", "tail 1", (0.2, 0.9), (0.3, 0.8)),
    ("tail 3", "tail 2", (0.3, 0.8), (0.4, 0.7)),
]
LEFT = [
    ("clavicle", "spine 3", (0.03, 0.0, 1.45), (0.15, 0.0, 1.45)),
    ("upper arm", "clavicle", (0.15, 0.0, 1.45), (0.35, 0.02, 1.25)),
    ("forearm", "upper arm", (0.35, 0.02, 1.25), (0.55, 0.0, 1.05)),
    ("hand", "forearm", (0.55, 0.0, 1.05), (0.62, 0.0, 0.98)),
    ("thigh", "hips", (0.1, 0.0, 0.95), (0.1, -0.02, 0.5)),
    ("shin", "thigh", (0.1, -0.02, 0.5), (0.1, 0.0, 0.08)),
    ("foot", "shin", (0.1, 0.0, 0.08), (0.1, -0.12, 0.02)),
    ("toe", "foot", (0.1, -0.12, 0.02), (0.1, -0.2, 0.02)),
    ("ear", "head", (0.08, 0.0, 1.7), (0.1, 0.0, 1.72)),
    ("ear 2", "ear", (0.1, 0.0, 1.72), (0.12, 0.0, 1.74)),
    ("ear 3", "ear 2", (0.12, 0.0, 1.74), (0.14, 0.0, 1.76)),
]
FINGERS = [("index", -0.02), ("middle", 0.02)]


def person(scale=1.0):
    """A person in A pose with two fingers a hand, a tail and ears; the sides are "L" and "R" at the end of names."""
    bones = {n: (p, (0.0, *head), (0.0, *tail)) for n, p, head, tail in MIDDLE}
    left = list(LEFT)
    for finger, y in FINGERS:
        parent = "hand"
        for number in range(3):
            x = 0.62 + 0.03 * number
            left.append((f"{finger} {number}", parent, (x, y, 1.6 - x), (x + 0.03, y, 1.57 - x)))
            parent = f"{finger} {number}"
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, parent, head, tail in left:
            above = parent if parent in bones else f"{parent} {side}"
            bones[f"{name} {side}"] = (above, *((sign * x, y, z) for x, y, z in (head, tail)))
    return {name: RestBone(p, *(tuple(scale * x for x in end) for end in ends)) for name, (p, *ends) in bones.items()}


def renamed(bones):
    """The bones with names that tell nothing, and the new names by the old ones."""
    names = {name: f"Bone.{number:03}" for number, name in enumerate(bones)}
    return {names[n]: RestBone(names.get(b.parent), b.head, b.tail) for n, b in bones.items()}, names
