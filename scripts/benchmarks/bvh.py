# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files as arrays: joints with offsets, and where they are in each frame.

Axes are Blender's: Z up, X to the figure's left when it faces -Y. Files have Y up.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from the file's axes to Blender's
_CYCLE = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}


class Joint(NamedTuple):
    """A joint: the index of its parent (-1 for none), its offset from it (3), its channels and the first one's column.

    `end` is the offset of an end site, if the joint has one.
    """

    name: str
    parent: int
    offset: np.ndarray
    channels: tuple[str, ...]
    column: int
    end: np.ndarray | None


class Recorded(NamedTuple):
    """World places (F, n, 3) and rotations (F, n, 3, 3) of n joints at F frames."""

    places: np.ndarray
    rotations: np.ndarray


def read(path):
    """Return the joints, parents first, the channels' values (F, c), and the seconds from frame to frame.

    Raises ValueError for a file that is no BVH file.
    """
    words = Path(path).read_text(encoding="utf-8", errors="replace").split()
    if not words or words[0].upper() != "HIERARCHY" or "MOTION" not in words:
        raise ValueError(f"{path} is no BVH file: it has no HIERARCHY or no MOTION. Give files of recorded motion.")
    at = words.index("MOTION")
    joints, width = _hierarchy(iter(words[1:at]))
    frames, seconds = int(words[at + 2]), float(words[at + 5])
    values = np.array(words[at + 6 : at + 6 + frames * width], float).reshape(-1, width)
    return joints, values, seconds


def _hierarchy(words):
    """Return the joints of the first part of a file, and the number of its channels."""
    joints, line, width = [], [], 0  # `line` has the open joints, None for an end site
    for word in words:
        if word in ("ROOT", "JOINT"):
            parent = line[-1] if line else -1
            joints.append(Joint(next(words), parent, np.zeros(3), (), width, None))
            opened = len(joints) - 1
        elif word == "End":
            next(words)
            opened = None
        elif word == "{":
            line.append(opened)
        elif word == "}":
            line.pop()
        elif word == "OFFSET":
            offset = np.array([float(next(words)) for _ in range(3)])
            which = line[-1] if line[-1] is not None else line[-2]
            joints[which] = joints[which]._replace(**{"end" if line[-1] is None else "offset": offset})
        elif word == "CHANNELS":
            channels = tuple(next(words) for _ in range(int(next(words))))
            joints[line[-1]] = joints[line[-1]]._replace(channels=channels, column=width)
            width += len(channels)
    return joints, width


def motion(joints, values):
    """Return where the joints are at each row of values, in Blender's axes."""
    places = np.zeros((len(values), len(joints), 3))
    rotations = np.zeros((len(values), len(joints), 3, 3))
    for k, joint in enumerate(joints):
        place, rotation = np.tile(joint.offset, (len(values), 1)), np.eye(3)
        for column, channel in enumerate(joint.channels, joint.column):
            if channel.endswith("position"):
                place[:, "XYZ".index(channel[0])] = values[:, column]
            else:
                rotation = rotation @ about(channel[0], np.radians(values[:, column]))
        if joint.parent < 0:
            places[:, k], rotations[:, k] = place @ UP.T, UP @ rotation
        else:
            above = rotations[:, joint.parent]
            places[:, k] = places[:, joint.parent] + np.einsum("fij,fj->fi", above, place)
            rotations[:, k] = above @ rotation
    return Recorded(places, rotations)


def about(axis, angles):
    """Rotations (F, 3, 3) about the axis X, Y or Z by angles [rad] (F)."""
    i, j = _CYCLE[axis]
    found = np.tile(np.eye(3), (len(angles), 1, 1))
    found[:, i, i] = found[:, j, j] = np.cos(angles)
    found[:, j, i] = np.sin(angles)
    found[:, i, j] = -found[:, j, i]
    return found
