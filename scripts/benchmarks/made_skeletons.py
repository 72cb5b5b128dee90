# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons made at random for recognition: six kinds of characters.

Proportions, bends, girdles, twist bones, leaf bones, tails, ears, asymmetry and the axes of the armature are drawn from
a seed. Names say nothing. A skeleton has the form of the files that skeletons.py reads.
"""

from itertools import pairwise
from random import Random

import numpy as np

Z_UP, Y_UP = np.eye(3), np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


class Maker:
    """A skeleton in the making, in metres, facing -Y, standing along Z."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.rows, self.limbs = [], []

    def among(self, low, high):
        return self.random.uniform(low, high)

    def chance(self, share):
        return self.random.random() < share

    def bone(self, parent, head, tail):
        """Add a bone; return its name."""
        name = f"Bone.{len(self.rows):03}"
        self.rows.append({"name": name, "parent": parent, "head": list(head), "tail": list(tail), "roll": 0.0})
        return name

    def line(self, parent, places):
        """Add a line of bones from place to place; return their names."""
        names = []
        for head, tail in pairwise(places):
            parent = self.bone(parent, head, tail)
            names.append(parent)
        return names

    def pair(self, parent, places, part, first, hinge, end, twist=False, parents=None):
        """Add a line of bones on both sides: `first`, `hinge` and `end` are places in the left one; None for no limb.

        With `twist` a bone half way along the first part carries the next one. Returns the names of both sides.
        """
        both = {}
        for side, sign in (("L", 1.0), ("R", -1.0)):
            mirrored = [np.array([sign * x, y, z]) for x, y, z in places]
            above = parents[side] if parents else parent
            names, inner = [], []
            for number, (head, tail) in enumerate(pairwise(mirrored)):
                halves = [head, 0.5 * (head + tail), tail] if twist and number == first else [head, tail]
                made = self.line(above, halves)
                above = made[-1]
                names.append(made[0])
                inner += made
            both[side] = names
            if part:
                start, last = inner.index(names[first]), inner.index(names[end])
                self.limbs.append(
                    {
                        "part": part,
                        "side": side,
                        "bones": inner[start : last + 1],
                        "hinge": names[hinge],
                        "end": names[end],
                    }
                )
        return both

    def leaf(self, both, length):
        """Add a bone at the end of a line of both sides that only shows where it ends."""
        for names in both.values():
            last = next(row for row in self.rows if row["name"] == names[-1])
            head, tail = np.array(last["head"]), np.array(last["tail"])
            way = (tail - head) / np.linalg.norm(tail - head)
            self.bone(names[-1], tail, tail + way * length)

    def fingers(self, both, count, length, up=(0.0, 0.0, 0.0)):
        """Add fingers of three bones to the last bones of both sides."""
        for names in both.values():
            last = next(row for row in self.rows if row["name"] == names[-1])
            head, tail = np.array(last["head"]), np.array(last["tail"])
            way = (tail - head) / np.linalg.norm(tail - head)
            for number in range(count):
                aside = (number - 0.5 * (count - 1)) * 0.28 * length * np.array([0.0, 1.0, 0.0])
                self.line(names[-1], [tail + aside + way * length * share for share in (0.0, 0.45, 0.75, 1.0)])

    def done(self, kind, name):
        """Return the skeleton with asymmetric noise, in the axes of an armature drawn at random."""
        axes, scale = self.random.choice([Z_UP, Y_UP]), self.random.choice([1.0, 100.0])
        turned = self.random.choice([0.0, 0.0, np.pi / 2.0])
        cosine, sine = np.cos(turned), np.sin(turned)
        world = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        places = np.array([row[end] for row in self.rows for end in ("head", "tail")])
        noise = 0.002 * np.ptp(places, axis=0).max()
        shift = {}
        for row in self.rows:
            for end in ("head", "tail"):
                key = tuple(np.round(row[end], 9))
                if key not in shift:
                    shift[key] = [self.random.uniform(-noise, noise) for _ in range(3)]
                row[end] = [float(v) for v in scale * (axes @ (np.array(row[end]) + shift[key]))]
        matrix = np.eye(4)
        matrix[:3, :3] = world @ axes.T / scale
        return {
            "name": name,
            "kind": kind,
            "object": matrix.tolist(),
            "left": (world @ [1.0, 0.0, 0.0]).tolist(),
            "forward": (world @ [0.0, -1.0, 0.0]).tolist(),
            "up": [0.0, 0.0, 1.0],
            "bones": self.rows,
            "limbs": self.limbs,
        }


def _tail(made, hips, at, length, down):
    count = made.random.randint(3, 7)
    step = length / count
    places = [np.array(at) + np.array([0.0, step * n, -down * step * n]) for n in range(count + 1)]
    made.line(hips, places)


def _head(made, chest, at, long, rise, ears):
    """Add neck and head, perhaps with ears and a jaw."""
    count = made.random.randint(1, 4)
    way = np.array([0.0, -(1.0 - rise), rise])
    way /= np.linalg.norm(way)
    places = [np.array(at) + way * long * n / count for n in range(count + 1)]
    neck = made.line(chest, places)
    size = made.among(0.5, 0.9) * long
    tip = places[-1] + np.array([0.0, -0.8 * size, 0.2 * size])
    head = made.bone(neck[-1], places[-1], tip)
    if ears and made.chance(0.7):
        ear = places[-1] + np.array([0.15 * size, 0.0, 0.4 * size])
        made.pair(head, [ear, ear + np.array([0.05, 0.0, 0.3]) * size], "", 0, 0, 0)
    if made.chance(0.5):
        made.bone(head, places[-1] + np.array([0.0, -0.3 * size, -0.1 * size]), tip - np.array([0.0, 0.0, 0.3 * size]))


def _trunk(made, long, high, fall):
    """Add a level trunk from the hips forwards; return hips and chest with their places."""
    back, front = np.array([0.0, 0.5 * long, high]), np.array([0.0, -0.5 * long, high + fall])
    parent = made.bone(None, (0.0, 0.0, 0.0), (0.0, -0.3, 0.0)) if made.chance(0.6) else None
    hips = made.bone(parent, back, back + np.array([0.0, -0.06 * long, 0.0]))
    count = made.random.randint(2, 5)
    places = [back + (front - back) * (0.1 + 0.9 * n / count) for n in range(count + 1)]
    spine = made.line(hips, places)
    return hips, spine[-1], back, front


def quadruped(seed, hocks):
    """A four-legged animal, such as a bear without hocks, or a horse, a cat or a goat with them."""
    made = Maker(f"quadruped {seed} {hocks}")
    high = made.among(0.4, 1.5)
    long = high * made.among(0.9, 1.8)
    hips, chest, back, front = _trunk(made, long, high, high * made.among(-0.1, 0.1))
    wide = high * made.among(0.08, 0.18)
    if made.chance(0.8):
        _tail(made, hips, back + np.array([0.0, 0.05 * high, 0.0]), high * made.among(0.3, 1.2), made.among(-0.2, 0.8))
    _head(made, chest, front, high * made.among(0.3, 0.7), made.among(0.3, 0.8), ears=True)
    # Hind leg: hip, knee, hock or ankle, ankle, toe
    hip = back + np.array([wide, made.among(-0.05, 0.05) * high, made.among(-0.12, -0.02) * high])
    girdle = [back + np.array([0.3 * wide, -made.among(0.1, 0.25) * high, 0.0])] if made.chance(0.6) else []
    sole = 0.01 * high
    if hocks:
        knee = hip + np.array([0.0, -made.among(0.04, 0.2), -made.among(0.28, 0.4)]) * hip[2]
        hock_high = made.among(0.2, 0.33) * hip[2]
        hock = np.array([wide, knee[1] + made.among(0.12, 0.3) * hip[2], hock_high])
        ankle = np.array([wide, hock[1] - made.among(-0.02, 0.08) * high, made.among(0.04, 0.09) * high])
        toe = ankle + np.array([0.0, -made.among(0.05, 0.12) * high, sole - ankle[2]])
        places, ends = [*girdle, hip, knee, hock, ankle, toe], (0, 1, 3)
    else:
        knee = hip + np.array([0.0, -made.among(0.0, 0.12), -made.among(0.4, 0.55)]) * hip[2]
        ankle = np.array([wide, knee[1] + made.among(0.0, 0.12) * hip[2], made.among(0.05, 0.12) * high])
        toe = ankle + np.array([0.0, -made.among(0.1, 0.22) * high, sole - ankle[2]])
        places, ends = [*girdle, hip, knee, ankle, toe], (0, 1, 2)
    first = len(girdle)
    both = made.pair(hips, places, "leg", *(first + n for n in ends), twist=made.chance(0.2))
    if made.chance(0.6):
        made.leaf(both, 0.06 * high)
    # Fore leg: shoulder, elbow, wrist or ankle, toe
    shoulder = np.array([wide, front[1] - made.among(-0.05, 0.1) * high, front[2] - made.among(0.15, 0.3) * high])
    girdle = [front + np.array([0.4 * wide, made.among(0.05, 0.2) * high, 0.0])] if made.chance(0.8) else []
    elbow = shoulder + np.array([0.0, made.among(0.03, 0.15), -made.among(0.3, 0.45)]) * shoulder[2]
    wrist_high = made.among(0.06, 0.13) * high
    wrist = np.array([wide, elbow[1] - made.among(-0.03, 0.05) * high, wrist_high])
    toe = wrist + np.array([0.0, -made.among(0.05, 0.15) * high, sole - wrist_high])
    first = len(girdle)
    if hocks and made.chance(0.5):  # a long cannon bone above the pastern, as hoofed animals have
        knee = np.array([wide, elbow[1] - 0.03 * high, made.among(0.42, 0.55) * elbow[2]])
        places, end = [*girdle, shoulder, elbow, knee, wrist, toe], 3
    else:
        places, end = [*girdle, shoulder, elbow, wrist, toe], 2
    both = made.pair(chest, places, "leg", first, first + 1, first + end, twist=made.chance(0.2))
    if made.chance(0.6):
        made.leaf(both, 0.05 * high)
    return made.done("with hocks" if hocks else "without hocks", f"quadruped {seed}")


def hexapod(seed):
    """An insect: six legs of coxa, two long parts and a tarsus, perhaps with antennae."""
    made = Maker(f"hexapod {seed}")
    high, long = made.among(0.08, 0.4), 1.0
    hips, chest, _, front = _trunk(made, long, high, 0.0)
    for y in (0.3, 0.0, -0.3):
        spread, out = y * made.among(0.5, 1.5), made.among(0.5, 1.1)
        coxa, knee = (
            np.array([0.06, y, high]),
            np.array([0.06 + 0.45 * out, y + 0.4 * spread, high + made.among(0.1, 0.5)]),
        )
        ankle = np.array([0.06 + out, y + spread, made.among(0.02, 0.08)])
        toe = ankle + np.array([0.12 * out, 0.1 * spread, -ankle[2]])
        girdle = [np.array([0.02, y, high])] if made.chance(0.5) else []
        first = len(girdle)
        on = hips if y > 0.2 and made.chance(0.5) else chest
        made.pair(on, [*girdle, coxa, knee, ankle, toe], "leg", first, first + 1, first + 2)
    if made.chance(0.5):
        at = front + np.array([0.04, 0.0, 0.05])
        made.pair(chest, [at, at + np.array([0.05, -0.2, 0.15]), at + np.array([0.1, -0.4, 0.2])], "", 0, 0, 0)
    return made.done("hexapod", f"hexapod {seed}")


def bird(seed):
    """A bird that stands on two legs with hocks, its wings spread or folded, with feathers or without."""
    made = Maker(f"bird {seed}")
    high = made.among(0.3, 1.2)
    long = high * made.among(0.4, 0.9)
    hips, chest, back, front = _trunk(made, long, high, high * made.among(0.0, 0.3))
    _head(made, chest, front, high * made.among(0.2, 0.5), made.among(0.4, 0.9), ears=False)
    if made.chance(0.8):
        _tail(made, hips, back, high * made.among(0.3, 0.7), made.among(-0.1, 0.3))
    wide = high * made.among(0.08, 0.15)
    hip = back + np.array([wide, made.among(-0.2, 0.0) * high, -0.08 * high])
    knee = hip + np.array([0.0, -made.among(0.08, 0.2) * high, -made.among(0.15, 0.25) * high])
    hock = np.array([wide, knee[1] + made.among(0.12, 0.3) * high, made.among(0.25, 0.4) * high])
    ankle = np.array([wide, hock[1] - made.among(0.05, 0.2) * high, made.among(0.03, 0.06) * high])
    toe = ankle + np.array([0.0, -made.among(0.1, 0.2) * high, 0.01 * high - ankle[2]])
    both = made.pair(hips, [hip, knee, hock, ankle, toe], "leg", 0, 1, 3)
    if made.chance(0.5):
        made.leaf(both, 0.06 * high)
    root = front + np.array([0.1 * high, made.among(0.0, 0.2) * high, -0.03 * high])
    span, count = high * made.among(0.8, 2.0), made.random.randint(3, 5)
    drop = made.among(-0.3, 0.3)
    zigzag = made.among(0.0, 0.3)
    places = [
        root + span * np.array([n / count, zigzag / count * (n % 2), -drop * n / count]) for n in range(count + 1)
    ]
    wings = made.pair(chest, places, "", 0, 0, 0)
    if made.chance(0.6):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            for number, name in enumerate(wings[side][1:], 1):
                x, y, z = places[number]
                at = np.array([sign * x, y, z])
                made.line(name, [at, at + np.array([0.0, 0.25, 0.0]) * span, at + np.array([0.0, 0.4, 0.0]) * span])
    return made.done("bird", f"bird {seed}")


def centaur(seed):
    """A quadruped with an upright trunk, arms and fingers where its neck would be."""
    made = Maker(f"centaur {seed}")
    high = made.among(0.8, 1.3)
    long = high * made.among(0.8, 1.2)
    hips, chest, back, front = _trunk(made, long, high, 0.0)
    _tail(made, hips, back, 0.6 * high, 0.6)
    wide = high * made.among(0.09, 0.15)
    for on, at, ahead in ((hips, back, 1.0), (chest, front, -1.0)):
        root = at + np.array([wide, 0.0, -0.1 * high])
        knee = root + np.array([0.0, -ahead * 0.06 * high, -made.among(0.35, 0.45) * high])
        ankle = np.array([wide, root[1] + ahead * made.among(0.0, 0.06) * high, made.among(0.06, 0.1) * high])
        toe = ankle + np.array([0.0, -made.among(0.08, 0.15) * high, 0.01 - ankle[2]])
        girdle = [at + np.array([0.3 * wide, 0.0, 0.0])] if made.chance(0.5) else []
        first = len(girdle)
        made.pair(on, [*girdle, root, knee, ankle, toe], "leg", first, first + 1, first + 2)
    tall = 0.55 * high
    spine = made.line(chest, [front + np.array([0.0, 0.0, tall * n / 3.0]) for n in range(4)])
    top = front + np.array([0.0, 0.0, tall])
    _head(made, spine[-1], top, 0.15 * high, 0.95, ears=True)
    _arms(made, spine[-1], top, 0.62 * high, made.random.randint(2, 5))
    return made.done("centaur", f"centaur {seed}")


def _arms(made, chest, top, long, fingers):
    """Add arms with clavicles that hang at some angle between a T pose and down."""
    down = np.radians(made.among(0.0, 75.0))
    way = np.array([np.cos(down), 0.0, -np.sin(down)])
    shoulder = top + np.array([0.28 * long, 0.0, -0.05 * long])
    upper, bent = 0.46 * long * made.among(0.85, 1.15), made.among(0.0, 0.3)
    elbow = shoulder + way * upper
    lower = way + np.array([0.0, -bent, 0.0])
    wrist = elbow + 0.8 * long * 0.5 * lower / np.linalg.norm(lower)
    palm = wrist + 0.18 * long * lower / np.linalg.norm(lower)
    girdle = [top + np.array([0.04 * long, 0.0, -0.05 * long])] if made.chance(0.8) else []
    first = len(girdle)
    both = made.pair(
        chest, [*girdle, shoulder, elbow, wrist, palm], "arm", first, first + 1, first + 2, twist=made.chance(0.3)
    )
    if fingers:
        made.fingers(both, fingers, 0.15 * long)


def robot(seed):
    """A robot on two legs with long feet, its knees ahead or behind, its hands claws or plain."""
    made = Maker(f"robot {seed}")
    high = made.among(0.8, 3.0)
    parent = made.bone(None, (0.0, 0.0, 0.0), (0.0, -0.3, 0.0)) if made.chance(0.5) else None
    at = np.array([0.0, 0.0, high])
    hips = made.bone(parent, at, at + np.array([0.0, 0.0, 0.1 * high]))
    tall = high * made.among(0.4, 0.9)
    count = made.random.randint(1, 3)
    spine = made.line(hips, [at + np.array([0.0, 0.0, tall * (0.1 + 0.9 * n / count)]) for n in range(count + 1)])
    top = at + np.array([0.0, 0.0, tall])
    made.line(spine[-1], [top, top + np.array([0.0, 0.0, 0.08 * high]), top + np.array([0.0, 0.0, 0.25 * high])])
    wide = high * made.among(0.1, 0.25)
    hip = at + np.array([wide, 0.0, made.among(-0.08, 0.0) * high])
    knee = hip + np.array([0.0, -made.among(-0.15, 0.2) * high, -made.among(0.38, 0.52) * high])
    ankle = np.array([wide, hip[1] + made.among(-0.05, 0.1) * high, made.among(0.05, 0.12) * high])
    toe = ankle + np.array([0.0, -made.among(0.3, 0.6) * high, 0.01 - ankle[2]])
    girdle = [at + np.array([0.2 * wide, 0.0, 0.0])] if made.chance(0.4) else []
    first = len(girdle)
    made.pair(hips, [*girdle, hip, knee, ankle, toe], "leg", first, first + 1, first + 2)
    _arms(made, spine[-1], top, made.among(0.6, 1.0) * high, made.random.choice([0, 2, 3]))
    return made.done("robot", f"robot {seed}")


KINDS = {
    "quadruped without hocks": lambda seed: quadruped(seed, hocks=False),
    "quadruped with hocks": lambda seed: quadruped(seed, hocks=True),
    "hexapod": hexapod,
    "bird": bird,
    "centaur": centaur,
    "robot": robot,
}
