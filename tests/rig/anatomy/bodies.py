# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as bones at rest, with names that tell nothing."""

from itertools import pairwise

from ik_triangulation.rig.anatomy.skeleton import RestBone

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


QUADRUPED = [  # hips at (0, 0.5, 0.6), looks along -Y
    ("hips", None, (0.5, 0.6), (0.35, 0.62)),
    ("spine 1", "hips", (0.35, 0.62), (0.1, 0.62)),
    ("spine 2", "spine 1", (0.1, 0.62), (-0.2, 0.6)),
    ("neck", "spine 2", (-0.2, 0.62), (-0.4, 0.8)),
    ("head", "neck", (-0.4, 0.8), (-0.6, 0.78)),
    ("tail 1", "hips", (0.5, 0.6), (0.65, 0.58)),
    ("tail 2", "tail 1", (0.65, 0.58), (0.8, 0.5)),
    ("tail 3", "tail 2", (0.8, 0.5), (0.9, 0.4)),
]
QUADRUPED_LEFT = [
    ("pelvis", "hips", (0.03, 0.45, 0.6), (0.09, 0.5, 0.57)),
    ("hind leg upper", "pelvis", (0.09, 0.5, 0.57), (0.09, 0.42, 0.38)),
    ("hind leg lower", "hind leg upper", (0.09, 0.42, 0.38), (0.09, 0.57, 0.2)),
    ("hind hock", "hind leg lower", (0.09, 0.57, 0.2), (0.09, 0.54, 0.06)),
    ("hind foot", "hind hock", (0.09, 0.54, 0.06), (0.09, 0.48, 0.01)),
    ("scapula", "spine 2", (0.04, -0.1, 0.62), (0.09, -0.22, 0.48)),
    ("front leg upper", "scapula", (0.09, -0.22, 0.48), (0.09, -0.14, 0.27)),
    ("front leg lower", "front leg upper", (0.09, -0.14, 0.27), (0.09, -0.15, 0.05)),
    ("front foot", "front leg lower", (0.09, -0.15, 0.05), (0.09, -0.22, 0.01)),
    ("ear", "head", (0.03, -0.4, 0.84), (0.05, -0.38, 0.92)),
]


def quadruped():
    """A four-legged animal with hocks on its hind legs; the sides are "L" and "R" at the end of names."""
    return animal_of(QUADRUPED, QUADRUPED_LEFT)


def dog():
    """A four-legged animal of a game: legs hang on long bones of hips and shoulders, and end in small paws and tips."""
    hind = [(0.0, 0.4, 0.5), (0.04, 0.6, 0.42), (0.04, 0.53, 0.27), (0.04, 0.65, 0.12), (0.04, 0.63, 0.02)]
    front = [(0.01, -0.05, 0.52), (0.04, -0.25, 0.38), (0.04, -0.18, 0.2), (0.04, -0.19, 0.05), (0.04, -0.21, 0.01)]
    left = []
    for name, above, places, last in (("hind", "hips", hind, 0.58), ("front", "spine 2", front, -0.25)):
        ends = [*places, (0.04, last, 0.0), (0.04, last - 0.02, 0.0)]
        for number, (head, tail) in enumerate(pairwise(ends)):
            left.append((f"{name} {number}", above, head, tail))
            above = f"{name} {number}"
    return animal_of(QUADRUPED, left)


def lizard():
    """An animal whose thighs go outwards from bones in the middle, and whose feet begin above the ground."""
    hind = [(0.0, 0.45, 0.52), (0.05, 0.5, 0.4), (0.2, 0.5, 0.5), (0.21, 0.42, 0.32), (0.2, 0.6, 0.12)]
    front = [(0.0, -0.1, 0.5), (0.04, -0.07, 0.3), (0.2, -0.04, 0.42), (0.2, 0.15, 0.24), (0.19, 0.09, 0.09)]
    left = []
    for name, above, places, last in (("hind", "hips", hind, 0.54), ("front", "spine 2", front, -0.02)):
        ends = [*places, (0.2, last, 0.01), (0.2, last - 0.12, 0.0), (0.2, last - 0.17, 0.0)]
        for number, (head, tail) in enumerate(pairwise(ends)):
            left.append((f"{name} {number}", above, head, tail))
            above = f"{name} {number}"
    return animal_of(QUADRUPED, left)


def crawler():
    """A spider whose body is on the ground; its legs hang on small bones, and end in tips that lie."""
    middle = [("body", None, (0.2, 0.1), (-0.2, 0.1)), ("abdomen", "body", (0.2, 0.1), (0.6, 0.2))]
    left = []
    for leg, y in zip("abcd", (-0.6, -0.2, 0.2, 0.6), strict=True):
        outs = [(0.02, 0.1), (0.15, 0.1), (0.9, 0.45), (1.5, 0.35), (2.0, 0.0), (2.2, 0.0)]
        above = "body"
        for number, ((x, z), (u, w)) in enumerate(pairwise(outs)):
            left.append((f"leg {leg} {number}", above, (x, y * (0.1 + x), z), (u, y * (0.1 + u), w)))
            above = f"leg {leg} {number}"
    return animal_of(middle, left)


def spider(legs=4):
    """An animal with so many pairs of legs off one bone, each of three bones that go up and come down outside."""
    middle = [("body", None, (0.2, 0.2), (-0.2, 0.2)), ("abdomen", "body", (0.2, 0.2), (0.6, 0.3))]
    left = []
    for number in range(legs):
        y = 0.15 - 0.3 * number / (legs - 1)
        spread = 3.0 * y
        places = [(0.1, y, 0.2), (0.5, y + spread * 0.4, 0.6), (0.9, y + spread * 0.8, 0.45), (1.1, y + spread, 0.0)]
        above = "body"
        for part, (head, tail) in enumerate(pairwise(places)):
            name = f"leg {'abcdefgh'[number]} {part + 1}"
            left.append((name, above, head, tail))
            above = name
    return animal_of(middle, left)


def bird():
    """A bird with wings of five bones, and legs that go backwards and forwards."""
    middle = [
        ("hips", None, (0.1, 0.5), (0.0, 0.55)),
        ("spine", "hips", (0.0, 0.55), (-0.2, 0.65)),
        ("neck", "spine", (-0.2, 0.65), (-0.3, 0.8)),
        ("head", "neck", (-0.3, 0.8), (-0.42, 0.82)),
    ]
    left = [
        ("leg upper", "hips", (0.06, 0.1, 0.48), (0.1, 0.0, 0.4)),
        ("leg lower", "leg upper", (0.1, 0.0, 0.4), (0.1, 0.14, 0.22)),
        ("leg hock", "leg lower", (0.1, 0.14, 0.22), (0.1, 0.05, 0.04)),
        ("foot", "leg hock", (0.1, 0.05, 0.04), (0.1, -0.08, 0.02)),
    ]
    above = "spine"
    for number in range(5):
        head, tail = ((0.08 + 0.25 * n, -0.1 + 0.05 * (n % 2), 0.62) for n in (number, number + 1))
        left.append((f"wing {number}", above, head, tail))
        above = f"wing {number}"
    return animal_of(middle, left)


def animal_of(middle, left):
    """An animal of bones in the middle (y, z) and of the left side (x, y, z), with their mirror images."""
    bones = {n: RestBone(p, (0.0, *head), (0.0, *tail)) for n, p, head, tail in middle}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, parent, head, tail in left:
            above = parent if parent in bones else f"{parent} {side}"
            bones[f"{name} {side}"] = RestBone(above, *((sign * x, y, z) for x, y, z in (head, tail)))
    return bones


def moved(bones, turn):
    """The bones with heads and tails taken through a function of (x, y, z)."""
    return {name: RestBone(b.parent, turn(b.head), turn(b.tail)) for name, b in bones.items()}
