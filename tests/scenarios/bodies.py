# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording for tests: a body as a BVH file whose joints swing, with zero angles that are no pose of a body."""

from math import sin

# Names, parents, offsets and end sites. At zero angles the figure lies on its back with its arms along its head.
JOINTS = (
    ("Hips", None, (0, 95, 0), None),
    ("Spine", "Hips", (0, 0, -10), None),
    ("Chest", "Spine", (0, 0, -20), None),
    ("Neck", "Chest", (0, 0, -20), None),
    ("Head", "Neck", (0, 0, -8), (0, 0, -18)),
    ("LeftCollar", "Chest", (3, 0, -15), None),
    ("LeftArm", "LeftCollar", (14, 0, 0), None),
    ("LeftForeArm", "LeftArm", (0, 0, -28), None),
    ("LeftHand", "LeftForeArm", (0, 0, -25), None),
    ("LeftThumb", "LeftHand", (0, 3, -3), (0, 3, 0)),
    ("LeftFinger", "LeftHand", (0, -3, -9), (0, 0, -6)),
    ("RightCollar", "Chest", (-3, 0, -15), None),
    ("RightArm", "RightCollar", (-14, 0, 0), None),
    ("RightForeArm", "RightArm", (0, 0, -28), None),
    ("RightHand", "RightForeArm", (0, 0, -25), (0, 0, -15)),
    ("LeftUpLeg", "Hips", (9, 0, 2), None),
    ("LeftLeg", "LeftUpLeg", (0, 0, 42), None),
    ("LeftFoot", "LeftLeg", (0, 0, 40), None),
    ("LeftToe", "LeftFoot", (0, 12, 4), (0, 6, 0)),
    ("RightUpLeg", "Hips", (-9, 0, 2), None),
    ("RightLeg", "RightUpLeg", (0, 0, 42), None),
    ("RightFoot", "RightLeg", (0, 0, 40), None),
    ("RightToe", "RightFoot", (0, 12, 4), (0, 6, 0)),
)


def write_body(path, frames, seconds=1.0 / 30.0, joints=JOINTS):
    """Write the recording; the first row of its motion is zero angles, and no motion."""
    lines = ["HIERARCHY"]

    def add(joint, depth):
        name, parent, offset, end = joint
        tab = "\t" * depth
        lines.extend([f"{tab}{'JOINT' if parent else 'ROOT'} {name}", f"{tab}{{", f"{tab}\tOFFSET {_text(offset)}"])
        places = "" if parent else "Xposition Yposition Zposition "
        lines.append(f"{tab}\tCHANNELS {3 if parent else 6} {places}Zrotation Xrotation Yrotation")
        for below in joints:
            if below[1] == name:
                add(below, depth + 1)
        if end:
            lines.extend([f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET {_text(end)}", f"{tab}\t}}"])
        lines.append(f"{tab}}}")

    add(joints[0], 0)
    order = [line.split()[1] for line in lines if "JOINT" in line or "ROOT" in line]
    rows = [_text([0.0] * (3 + 3 * len(order)))] + [_row(order, frame) for frame in range(frames)]
    lines += ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {seconds:.6f}", *rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _row(order, frame):
    """Channels of a frame: upright, arms to the sides and swinging as elbows bend ahead and knees back."""
    t = 0.2 * frame
    turns = {
        "Hips": (0.0, 90.0, 5.0 * sin(t)),
        "Chest": (4.0 * sin(t), 0.0, 6.0 * sin(0.8 * t)),
        "Head": (3.0 * sin(t), 5.0 * sin(1.3 * t), 0.0),
        "LeftArm": (10.0 * sin(t), 10.0 * sin(0.7 * t), -80.0),
        "RightArm": (10.0 * sin(t), 10.0 * sin(0.9 * t), 80.0),
        "LeftForeArm": (0.0, 30.0 + 20.0 * sin(t), -8.0),
        "RightForeArm": (0.0, 30.0 - 20.0 * sin(t), 8.0),
        "LeftHand": (8.0 * sin(t), 0.0, 5.0),
        "LeftUpLeg": (0.0, 12.0 * sin(t), 4.0),
        "RightUpLeg": (0.0, -12.0 * sin(t), -4.0),
        "LeftLeg": (0.0, 15.0 + 10.0 * sin(t), 0.0),
        "RightLeg": (0.0, 15.0 - 10.0 * sin(t), 0.0),
    }
    numbers = [2.0 * frame, 1.0 * sin(t), 0.0]
    for name in order:
        numbers.extend(turns.get(name, (0.0, 0.0, 0.0)))
    return _text(numbers)


def _text(numbers):
    return " ".join(f"{number:g}" for number in numbers)
