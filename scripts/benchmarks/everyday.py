# SPDX-License-Identifier: GPL-3.0-or-later
"""Everyday jobs of a body as what an animator keys for them: the empties of hands and feet, the ball, the hips.

Places are in metres of Rigify's human, 1.98 m tall, who faces -Y with the left at +X. Hands have places in its space,
which for others are as many arms' lengths from the shoulders, at the same share of their height; feet, ball and hips
have ways from where they are, scaled by the height of the hips.
"""

from math import cos, radians, sin
from typing import NamedTuple

FRAMES, THERE, LEAVES = 60, 30, 40
SIDES = {"L": 1.0, "R": -1.0}
Place = tuple[float, float, float]
_AHEAD, _DOWN, _RAISED = (0.0, -1.0, -0.2), (0.0, -0.6, -0.8), (0.0, -0.3, 1.0)  # directions of hands


class Key(NamedTuple):
    """Where and how something is turned at a frame: a place (None: where it begins) and a turn in the world [degrees].

    The turn is a rotation vector. What has a `point` first turns the least way to this direction.
    """

    frame: int
    place: Place | None = None
    turn: Place = (0.0, 0.0, 0.0)
    point: Place | None = None


class Job(NamedTuple):
    """Keys by part ("hand.L", "foot.R", "ball", "hips"), the frame that is looked at, and what is wanted there.

    Feet with keys are not held but follow empties; `free` ones do not even that, and then balance is off. `wanted` has
    a least and a largest value by field of a posture.
    """

    keys: dict[str, list[Key]]
    at: int = THERE
    free: tuple[str, ...] = ()
    wanted: dict[str, tuple[float, float]] = {}


def reach(**places: Place) -> dict[str, list[Key]]:
    """Hands that go to places, stay a while and go back."""
    return {
        f"hand.{side}": [Key(1), Key(THERE, place), Key(LEAVES, place), Key(FRAMES)] for side, place in places.items()
    }


def stay(**places: Place) -> dict[str, list[Key]]:
    """Hands that go to places and stay."""
    return {f"hand.{side}": [Key(1), Key(THERE, place)] for side, place in places.items()}


def both(x: float, y: float, z: float) -> dict[str, Place]:
    """A place of the left hand, and its mirror image for the right one."""
    return {side: (sign * x, y, z) for side, sign in SIDES.items()}


def _moved(part: str, *keys: tuple[int, Place | None]) -> dict[str, list[Key]]:
    return {part: [Key(*key) for key in keys]}


def _down(way: Place, pitch: float = 0.0) -> dict[str, list[Key]]:
    """Hips that go down and stay."""
    return {"hips": [Key(1, (0.0, 0.0, 0.0)), Key(THERE, way, (pitch, 0.0, 0.0))]}


def _wheel() -> dict[str, list[Key]]:
    """Hands on a steering wheel that turns by 60 degrees and back by 90."""
    keys = {}
    for side, sign in SIDES.items():
        keys[f"hand.{side}"] = [Key(1)] + [
            Key(
                frame,
                (sign * 0.19 * cos(radians(turn)), -0.45, 1.25 + sign * 0.19 * sin(radians(turn))),
                (0, -turn, 0),
                _AHEAD,
            )
            for frame, turn in ((14, 0.0), (THERE, 60.0), (52, -90.0))
        ]
    return keys


def _crate() -> dict[str, list[Key]]:
    """Hands on a crate that is lifted from the floor and turned by 55 degrees at belt height."""
    keys = {}
    turn = radians(55.0)
    for side, sign in SIDES.items():
        x, y = sign * 0.2, -0.42
        turned = (x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn), 1.05)
        keys[f"hand.{side}"] = [
            Key(1),
            Key(20, (x, y, 0.12), point=_DOWN),
            Key(40, (x, y, 1.05), point=_AHEAD),
            Key(54, turned, (0, 0, 55), _AHEAD),
        ]
    return keys


def _ladder() -> dict[str, list[Key]]:
    """Two rungs up, one hand and the other foot at a time."""
    keys = {f"hand.{side}": [Key(1), Key(10, (sign * 0.22, -0.42, 1.65))] for side, sign in SIDES.items()}
    keys |= {f"foot.{side}": [Key(10, (0.0, 0.0, 0.0))] for side in SIDES}
    for number, (hand, foot) in enumerate((("L", "R"), ("R", "L"))):
        first, last = 12 + 20 * number, 28 + 20 * number
        keys[f"hand.{hand}"] += [
            Key(first, (SIDES[hand] * 0.22, -0.42, 1.65)),
            Key(last, (SIDES[hand] * 0.22, -0.42, 1.95)),
        ]
        keys[f"foot.{foot}"] += [Key(first, (0.0, 0.0, 0.0)), Key(last, (0.0, -0.2, 0.3))]
    return keys


def _steps(count: int, high: float, length: float = 0.55) -> dict[str, list[Key]]:
    """Steps of the feet by their empties, the left one first, each so high; the last one ends beside the other."""
    keys: dict[str, list[Key]] = {f"foot.{side}": [Key(1, (0.0, 0.0, 0.0))] for side in SIDES}
    at, way = dict.fromkeys(SIDES, 0.0), 0.0
    frames = (FRAMES - 2) // (count + 1)
    for number in range(count + 1):
        side, first = "LR"[number % 2], 2 + number * frames
        way += length if number < count else 0.0
        places = (at[side], (at[side] + way) / 2.0, way)
        heights = 0.0, high, 0.0
        for frame, y, z in zip((first, first + frames // 2, first + frames - 1), places, heights, strict=True):
            keys[f"foot.{side}"].append(Key(frame, (0.0, -y, z)))
        at[side] = way
    return keys


_KNEES = {"knee": (0.0, 25.0)}
_FAR = {"knee": (0.0, 40.0)}
_FLOOR = {"knee": (90.0, 150.0)}
_FREE = {"free": (-35.0, 35.0)}
_PLANTED = {"slip": (0.0, 1e-3)}  # of the leg
_CROSS = {"trunk": (0.0, 40.0), "shoulders": (-64.0, -25.0), "clavicle": (8.0, 25.0)}
_UP = {"trunk": (0.0, 15.0), "clavicle": (8.0, 25.0)}
_UPRIGHT = {"pelvis": (0.0, 20.0)}
JOBS = {
    "cup across": Job(reach(L=(-0.38, -0.38, 1.05)), wanted=_KNEES | _FREE | _CROSS),
    "shelf": Job(reach(L=(0.22, -0.35, 2.0)), wanted=_KNEES | _FREE | _UP),
    "both hands up": Job(reach(**both(0.2, -0.1, 2.28)), wanted=_KNEES | {"clavicle": (8.0, 25.0)}),
    "far ahead": Job(reach(L=(0.15, -0.95, 1.15)), wanted=_FAR | _FREE),
    "far aside": Job(reach(L=(1.0, -0.1, 1.25)), wanted=_KNEES | _FREE),
    "behind": Job(reach(L=(0.35, 0.75, 1.0)), wanted=_FAR | _FREE),
    "one hand to the floor": Job(reach(L=(0.3, -0.3, 0.1)), wanted=_FLOOR | _FREE),
    "both hands to the floor": Job(reach(**both(0.2, -0.4, 0.1)), wanted=_FLOOR),
    "lean on a table": Job(reach(**both(0.25, -0.75, 0.85)), wanted=_FAR),
    "handshake": Job(reach(R=(-0.05, -0.62, 1.15)), wanted=_KNEES | _FREE),
    "near": Job(reach(L=(0.25, -0.4, 1.2)), wanted=_KNEES | _FREE),
    "opposite shoulder": Job(reach(L=(-0.2, -0.12, 1.5)), wanted=_KNEES | _FREE | {"clavicle": (8.0, 25.0)}),
    "behind the back": Job(reach(R=(0.02, 0.2, 1.15)), wanted=_KNEES | _FREE),
    "scratch the head": Job(reach(L=(0.05, 0.08, 1.9)), wanted=_KNEES | _FREE | {"trunk": (0.0, 15.0)}),
    "steering wheel": Job(_wheel(), at=52, wanted=_KNEES),
    "ladder": Job(_ladder(), at=48, wanted=_UPRIGHT),
    "kick": Job(
        _moved("foot.R", (1, (0, 0, 0)), (16, (0, 0.35, 0.25)), (THERE, (0, -0.6, 0.45)), (FRAMES, (0, 0, 0))),
        wanted=_UPRIGHT | {"slip": (0.0, 1e-3)},
    ),
    "throw": Job(
        _moved("hand.R", (1, None), (20, (-0.4, 0.3, 1.75)), (THERE, (-0.1, -0.7, 1.6)), (40, (0.2, -0.45, 1.0))),
        wanted=_FAR,
    ),
    "sit": Job(_down((0.0, 0.25, -0.45)), wanted=_PLANTED),
    "kneel": Job(_down((0.0, -0.3, -0.48)), wanted=_PLANTED),
    "hang from a bar": Job(
        reach(**both(0.25, -0.05, 2.4)), free=("foot.L", "foot.R"), wanted={"pelvis": (0.0, 30.0), "trunk": (0.0, 30.0)}
    ),
    "step over": Job(_steps(1, 0.3), at=17, wanted=_UPRIGHT),
    "lift and turn a crate": Job(_crate(), at=54, wanted=_FAR),
    "shake hands": Job(
        _moved(
            "hand.R",
            (1, None),
            *((18 + 6 * k, (-0.05, -0.62, 1.15 + 0.07 * (-1) ** k)) for k in range(6)),
            (FRAMES, None),
        ),
        wanted=_KNEES | _FREE,
    ),
    "look over the shoulder": Job(
        _moved("ball", (1, (0, 0, 0)), (14, (0.9, 0.4, 0)), (THERE, (0.7, 1.3, 0))),
        wanted={"shoulders": (20.0, 60.0), "hips": (5.0, 30.0)},
    ),
    "crawl": Job(_down((0.0, -0.32, -0.45), 75.0) | stay(**both(0.2, -0.95, 0.1)), wanted=_PLANTED),
    "push-up": Job(_down((0.0, -0.88, -0.72), 75.0) | stay(**both(0.3, -1.45, 0.1)), wanted=_PLANTED),
    # Ten more.
    "open a door": Job(
        _moved("hand.L", (1, None), (20, (0.45, -0.6, 1.05)), (45, (0.5, -0.1, 1.05)), (FRAMES, None)),
        at=20,
        wanted=_KNEES | _FREE,
    ),
    "tie a shoe": Job(reach(L=(0.2, -0.22, 0.15), R=(0.06, -0.22, 0.15)), wanted=_FLOOR),
    "squat": Job(_down((0.0, 0.12, -0.6)), wanted=_PLANTED),
    "wipe a table": Job(
        _moved("hand.L", (1, None), (15, (0.4, -0.55, 0.95)), (40, (-0.3, -0.55, 0.95)), (FRAMES, None)),
        at=40,
        wanted=_FAR | _FREE,
    ),
    "phone at the ear": Job(reach(R=(-0.12, -0.08, 1.75)), wanted=_KNEES | _FREE | {"trunk": (0.0, 15.0)}),
    "push a wall": Job(
        {
            part: [key._replace(point=_RAISED if key.place else None) for key in keys]
            for part, keys in reach(**both(0.22, -0.68, 1.4)).items()
        },
        wanted=_KNEES,
    ),
    "change a bulb": Job(reach(L=(0.5, -0.15, 2.15)), wanted=_KNEES | _FREE | {"clavicle": (8.0, 25.0)}),
    "walk": Job(_steps(3, 0.12), at=24, wanted=_UPRIGHT),
    "sit and reach": Job(_down((0.0, 0.25, -0.45)) | reach(L=(0.15, -0.7, 0.8)), wanted=_PLANTED | _FREE),
    "low shelf behind": Job(reach(L=(0.55, 0.4, 0.55)), wanted=_FREE),
}
REACHES = list(JOBS)[:12]  # what one or both hands go to, stay at and leave
