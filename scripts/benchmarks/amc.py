# SPDX-License-Identifier: GPL-3.0-or-later
"""Acclaim recordings, a skeleton (ASF) and a motion (AMC), as the joints and places that BVH files are read as.

Skeletons are those of Vicon's BodyBuilder, as in the CMU and the HDM05 databases: Y up, joints named as in CMU's.
Source: the format's description by J. Lander 1998, "Working with motion capture file formats".
"""

from pathlib import Path

import numpy as np

from .bvh import UP, Joint, Recorded, about

RATE = 120  # frames a second, which neither file tells
_NAMES = {
    "root": "Hips",
    "lowerback": "LowerBack",
    "upperback": "Spine",
    "thorax": "Spine1",
    "head": "Head",
    "lowerneck": "Neck",
    "upperneck": "Neck1",
}
_OF_SIDES = {
    "hipjoint": "HipJoint",
    "femur": "UpLeg",
    "tibia": "Leg",
    "foot": "Foot",
    "toes": "ToeBase",
    "clavicle": "Shoulder",
    "humerus": "Arm",
    "radius": "ForeArm",
    "wrist": "Hand",
    "hand": "FingerBase",
    "fingers": "HandIndex1",
    "thumb": "Thumb",
}


def skeleton_of(file):
    """The ASF file beside an AMC file whose name begins with its own."""
    file = Path(file)
    found = [each for each in file.parent.glob("*.asf") if file.stem.startswith(each.stem)]
    if not found:
        raise FileNotFoundError(f"There is no skeleton (.asf) for '{file}'. Put the one of its actor beside it.")
    return max(found, key=lambda each: len(each.stem))


def read(file):
    """Return the joints, parents first, and where they are at each frame, in Blender's axes."""
    bones, order = _bones(skeleton_of(file).read_text(encoding="latin-1"))
    frames = _frames(Path(file).read_text(encoding="latin-1"))
    number = {name: k for k, name in enumerate(order)}
    joints = []
    for name in order:
        bone = bones[name]
        above = bones.get(bone["parent"])
        offset = above["way"] if above else np.zeros(3)
        leaf = not any(bones[other]["parent"] == name for other in order)
        joints.append(Joint(_named(name), number.get(bone["parent"], -1), offset, (), 0, bone["way"] if leaf else None))
    count = len(frames["root"])
    places, rotations = np.zeros((count, len(order), 3)), np.zeros((count, len(order), 3, 3))
    for k, name in enumerate(order):
        bone, values = bones[name], frames.get(name)
        turn = np.tile(np.eye(3), (count, 1, 1))
        for column, channel in enumerate(bone["dof"]) if values is not None else ():
            if channel.startswith("r"):
                turn = about(channel[1].upper(), np.radians(values[:, column])) @ turn
        turn = bone["axis"] @ turn @ bone["axis"].T
        if joints[k].parent < 0:
            places[:, k], rotations[:, k] = values[:, :3] @ UP.T, UP @ turn
        else:
            above = rotations[:, joints[k].parent]
            places[:, k] = places[:, joints[k].parent] + above @ joints[k].offset
            rotations[:, k] = above @ turn
    return joints, Recorded(places, rotations)


def _named(name):
    side = {"l": "Left", "r": "Right"}.get(name[0], "")
    return _NAMES.get(name) or side + _OF_SIDES[name[1:]]


def _bones(text):
    """Return bones by name (way to their ends, axes, channels and parent), and their names, parents first."""
    root = {"way": np.zeros(3), "axis": np.eye(3), "dof": ["tx", "ty", "tz", "rx", "ry", "rz"], "parent": None}
    bones, order, name = {"root": root}, ["root"], None
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        key, values = words[0], words[1:]
        if key == "begin":
            bone = {"dof": [], "axis": np.eye(3), "parent": None, "length": 0.0, "direction": np.zeros(3)}
        elif key == "name" and values:
            name = values[0]
            bones[name] = bone
        elif key == "direction":
            bone["direction"] = np.array(values[:3], float)
        elif key == "length" and name:
            bone["length"] = float(values[0])
        elif key == "axis" and name:
            turn = np.eye(3)
            for letter, angle in zip(values[3], values[:3], strict=True):
                turn = about(letter, np.radians([float(angle)]))[0] @ turn
            bone["axis"] = turn
        elif key == "dof":
            bone["dof"] = values
        elif key in bones and values and all(each in bones for each in values):
            for each in values:
                bones[each]["parent"] = key
                order.append(each)
    for name, bone in bones.items():
        if name != "root":
            bone["way"] = bone["direction"] * bone["length"]
    return bones, order


def _frames(text):
    """The values (F, c) of each bone that moves."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0][0].isalpha():
            found.setdefault(words[0], []).append([float(word) for word in words[1:]])
    return {name: np.array(rows) for name, rows in found.items()}
