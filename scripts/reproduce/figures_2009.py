# SPDX-License-Identifier: GPL-3.0-or-later
"""Mukundan 2009, the figures that print an angle: each fixes how far its target is from the base.

The two halves of the chain, 10 each, make an isosceles triangle with the way to the target, so the angle theta at the
middle joint, of Figure 6, gives the distance c = 20 cos(theta / 2). Figures 3 and 7 show the same targets (section
4).
In which direction the target lies changes the turn of the base only.
"""

from cmath import phase, rect
from math import acos, cos, degrees, radians
from typing import NamedTuple

from .page import Claim, deviation, table

HALF = 10.0  # length of half the chain
THETA = {"a": 55.4, "b": 107.21, "c": 162.71}  # Figure 6 (a), (b), (c) [degrees]
DIRECTIONS = (1.0, 45.0, 90.0, 150.0)  # of the target, to see that it does not matter [degrees]
# Figure, the letter of its target, method and what is printed [degrees].
PRINTED = (
    ("6 (a), the middle joint", "a", "SINGLE_PASS", 55.4),
    ("7 (a), largest turn", "b", "SINGLE_PASS", 81.0),
    ("7 (b), largest turn", "c", "SINGLE_PASS", 75.0),
    ('3 (c), "nearly"', "b", "TRIANGULATION_2007", 165.0),
)
FULL_REACH = (20.0, 45.0, 90.0, 135.0, 179.0)  # directions of targets as far away as the chain is long [degrees]
SWEEPS, LINKS = 100, 10  # the cap, and the rotations of a sweep
ASIDE, BENDS = 20.0, (129.0, 131.0)  # what is added to eq. 5, or taken from it, below and above 130 degrees [degrees]
SEEN = "6 (a), the middle joint", "7 (a), largest turn"  # the figures that come out


def distance(letter):
    """How far the target of Figure 6 (a), (b) or (c) is from the base."""
    return 2.0 * HALF * cos(radians(THETA[letter]) / 2.0)


class Angles(NamedTuple):
    """For each printed figure the largest turn of a joint beyond the base [degrees], by direction of the target.

    `at_full_reach` are the rotations of CCD for targets there, `aside` how much farther from the target than eq. 5 says
    the first link goes [degrees] for each of the bends.
    """

    turns: list
    at_full_reach: list
    aside: list


def measure(solved):
    """Measure with `solved`, which returns the pose after a method for x and y of a target."""
    turns = []
    for _, letter, method, _ in PRINTED:
        poses = [_at(solved, method, distance(letter), direction) for direction in DIRECTIONS]
        turns.append([degrees(max(rotation.angle for rotation in pose.rotations[1:])) for pose in poses])
    at_full_reach = [len(_at(solved, "CCD", 2.0 * HALF, direction).turns) for direction in FULL_REACH]
    return Angles(turns, at_full_reach, [_aside(solved, bend) for bend in BENDS])


def _aside(solved, bend):
    """Angle of the first link to the target after the single pass, less that of eq. 5 [degrees]."""
    c, link, direction = 2.0 * HALF * cos(radians(bend) / 2.0), 2.0 * HALF / LINKS, DIRECTIONS[1]
    pose = _at(solved, "SINGLE_PASS", c, direction)
    first = degrees(phase(complex(*pose.link(0).xy)))
    return abs(first - direction) - degrees(acos(link / (2.0 * c)))  # with both other sides as long as c


def _at(solved, method, c, direction):
    aim = rect(c, radians(direction))
    return solved(method, aim.real, aim.imag)


def claims(found):
    """Return the claims about Figures 6 (a) and 7 (a)."""
    holds = [
        abs(turn - printed) < 0.5
        for (name, _, _, printed), turns in zip(PRINTED, found.turns, strict=True)
        if name in SEEN
        for turn in turns
    ]
    return [
        Claim("2009: Figures 6 (a) and 7 (a), the printed angles within 0.5 degrees, wherever the target", all(holds)),
        Claim(
            "2009: Figure 2 (a), 100 sweeps of CCD for targets at full reach, 20 degrees or more from the chain",
            set(found.at_full_reach) == {SWEEPS * LINKS},
        ),
        Claim(
            "2009: the first link goes 20 degrees nearer than eq. 5 for a bend of 129 degrees, 20 farther for 131",
            all(abs(aside - wanted) < 0.1 for aside, wanted in zip(found.aside, (-ASIDE, ASIDE), strict=True)),
        ),
    ]


def section(found):
    """A part of the paper's section."""
    rows = [
        (name, f"{distance(letter):.2f}", f"{printed:g}", f"{turns[0]:.2f}", deviation(printed, turns[0]))
        for (name, letter, _, printed), turns in zip(PRINTED, found.turns, strict=True)
    ]
    return f"""### Angles in Figures 3, 6 and 7, degrees

The angle theta at the middle joint fixes where the targets of Figure 6 are: c = 20 cos(theta / 2). Figures 3 and 7
have the same targets.

{table(("Figure", "c", "Paper", "Ours", ""), rows)}

- 7 (a) is cut off to whole degrees. Its largest turn is that of the joint that closes the triangle.
- 7 (b) does not come out: by the printed rule the last joint turns by {found.turns[2][0]:.1f} degrees. A target so
  near is where the single pass of the tables follows another rule as well (rows 3, 7, 8 and 9).
- Of 3 (b) and (d) no angle is printed. In 3 (c) the third link turns by {found.turns[3][0]:.1f} degrees from the one
  before.
- Figure 2 (a), 100 sweeps of CCD where one rotation of the base would do: so it is for every target at full reach
  that is 20 degrees or more from the chain; 100 is the cap.
"""
