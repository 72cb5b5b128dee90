# SPDX-License-Identifier: GPL-3.0-or-later
"""How a recorded person stands: as in quiet frames of the recordings, or as the pose at rest with lowered arms.

A pose at rest is straight, and in an AMC file not a pose of the person: hips are behind the ankles there and knees are
straight, where the same people stand with their hips ahead of the ankles and bent knees.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .body_recordings import LEG
from .figure import Figure
from .recordings import RATE

STILL, QUIET = 0.25, 0.1  # [m/s] of an ankle, for legs of LEG
LOWERED = 75.0  # degrees by which the arms of a T-pose are lowered
HANGS = 0.6  # of an arm's length: hands that hang are lower than their shoulders by that
UPRIGHT = 15.0  # degrees by which a trunk that stands is off the vertical


class Stand(NamedTuple):
    """Rotations (n, 3, 3) of the joints of somebody who stands and faces -Y, and where the hips are from the ankles."""

    rotations: np.ndarray
    hips: np.ndarray


def at_rest(body: Figure) -> Stand:
    """The pose at rest, its arms lowered."""
    rotations = body.rest.rotations.copy()
    for k, parent in enumerate(body.parents):
        for arm, sign in (("arm 1", 1.0), ("arm 2", -1.0)):
            if k == body.lines[arm][0]:
                rotations[k] = _about_ahead(np.radians(sign * LOWERED)) @ rotations[k]
        if k not in {body.lines["arm 1"][0], body.lines["arm 2"][0]} and parent >= 0:
            rotations[k] = rotations[parent] @ body.rest.rotations[parent].T @ rotations[k]
    return Stand(rotations, body.rest.places[0] - _ankles(body, body.rest.places[None])[0])


def own_stands(bodies: Iterable[tuple[str, Figure, np.ndarray]]) -> dict[str, Stand]:
    """The stands of people by name: of their quiet frames, arms hanging, that with joints nearest to the median.

    Each of the bodies comes with the frames in which it reaches, which are none of these.
    """
    found = defaultdict[str, list[tuple[np.ndarray, Stand]]](list)
    for person, body, reaching in bodies:
        places, lines = body.motion.places, body.lines
        size = LEG / length(body.rest.places, lines["leg 1"])
        yaw, ankles = facing(body)
        arms = [lines["arm 1"], lines["arm 2"]]
        low = [(places[:, arm[0]] - places[:, arm[2]])[:, 2] / length(body.rest.places, arm) for arm in arms]
        trunk = places[:, [arm[0] for arm in arms]].mean(1)
        trunk = trunk - places[:, [lines[leg][0] for leg in ("leg 1", "leg 2")]].mean(1)
        upright = angles(trunk.T, np.array([0.0, 0.0, 1.0])[:, None]) < UPRIGHT
        own = np.einsum("fji,fkj->fki", yaw, places - ankles[:, None])
        turned = np.einsum("fji,fkjl->fkil", yaw, body.motion.rotations)
        quiet = (speeds(body) < QUIET) & (np.min(low, 0) > HANGS) & upright
        quiet[reaching] = False
        for frame in np.flatnonzero(quiet):
            found[person].append((own[frame] * size, Stand(turned[frame], own[frame, 0])))
    stands = {}
    for person, every in found.items():
        places = np.array([place for place, _ in every])
        off = ((places - np.median(places, 0)) ** 2).sum((1, 2))
        stands[person] = every[int(off.argmin())][1]
    return stands


def in_place(body: Figure, stand: Stand, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (n, 3, 3) of the joints and place (3) of the hips of a stand on the feet of a frame."""
    yaw, ankles = facing(body)
    return yaw[frame] @ stand.rotations, ankles[frame] + yaw[frame] @ stand.hips


def facing(body: Figure) -> tuple[np.ndarray, np.ndarray]:
    """Turns (F, 3, 3) about the vertical of the feet, which face -Y at rest, and the middle (F, 3) of the ankles."""
    feet = [body.lines[leg][2] for leg in ("leg 1", "leg 2")]
    ends = [body.motion.rotations[:, foot] @ body.rest.rotations[foot].T for foot in feet]
    toes = np.mean([turn @ np.array([0.0, -1.0, 0.0]) for turn in ends], 0)
    angle = np.arctan2(toes[:, 0], -toes[:, 1])
    return np.array([about_up(each) for each in angle]), _ankles(body, body.motion.places)


def speeds(body: Figure) -> np.ndarray:
    """Speeds (F) [m/s] of the faster ankle, for legs of LEG."""
    ankles = body.motion.places[:, [body.lines[leg][2] for leg in ("leg 1", "leg 2")]]
    steps = np.linalg.norm(np.diff(ankles, axis=0, append=ankles[-1:]), axis=2).max(1)
    return steps * RATE * LEG / length(body.rest.places, body.lines["leg 1"])


def length(places, line):
    return float(np.linalg.norm(np.diff(places[line], axis=0), axis=1).sum())


def angles(a, b):
    """Degrees between vectors (3, F)."""
    cross = np.linalg.norm(np.cross(a, b, axis=0), axis=0)
    return np.degrees(np.arctan2(cross, (a * b).sum(0)))


def about_up(angle):
    return np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])


def _about_ahead(angle):
    return np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])


def _ankles(body, places):
    return np.mean([places[:, body.lines[leg][2]] for leg in ("leg 1", "leg 2")], 0)
