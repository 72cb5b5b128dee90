# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact sheets of everyday jobs: the pose that is looked at, and if wanted one on the way, from front and side.

Ours beside Blender's IK, drawn as capsules in Pillow: quick to make, and all that posture needs.
"""

from math import ceil

from benchmarks.everyday import JOBS
from benchmarks.job_shots import BLENDER, OURS, baked
from benchmarks.jobs import posture, unwanted
from mathutils import Vector

CELL, TALL, SUNK = (62, 112), 2.5, 0.15  # pixels of a pose; [m] that its height shows, and of that below the floor
TITLE, COLUMNS = 13, 6
PAPER, FLOOR, INK, RED = (250, 249, 246), (200, 196, 188), (40, 40, 40), (196, 42, 42)
COLOURS = {"L": (58, 110, 165), "R": (190, 126, 60), "": (112, 112, 112)}
THICK = {"thigh": 0.075, "shin": 0.055, "upper_arm": 0.05, "forearm": 0.04, "foot": 0.04, "shoulder": 0.05}  # [m]
VIEWS = {"front": (Vector((1, 0, 0)), Vector((0, -1, 0))), "side": (Vector((0, 1, 0)), Vector((1, 0, 0)))}


def sheet(file, rig="human", names=tuple(JOBS), methods=(OURS, BLENDER), scale=1, middle=False):
    """Write a picture of jobs, a cell each: front and side of the pose that is looked at, by each method."""
    from PIL import Image, ImageDraw

    size = CELL[0] * scale, CELL[1] * scale
    frames = 2 if middle else 1
    width, height = size[0] * 2 * len(methods) * frames, size[1] + TITLE * scale
    columns = min(COLUMNS, len(names))
    whole = Image.new("RGB", (width * columns, height * ceil(len(names) / columns)), PAPER)
    draw = ImageDraw.Draw(whole)
    for number, name in enumerate(names):
        left, top = width * (number % columns), height * (number // columns)
        texts = []
        for column, method in enumerate(methods):
            shot = baked(name, rig, method)
            if method == OURS:
                texts = unwanted(name, posture(name, shot))
            at = JOBS[name].at - 1
            for step, frame in enumerate(([(at * 2) // 3] if middle else []) + [at]):
                for k, view in enumerate(VIEWS.values()):
                    place = left + ((column * frames + step) * 2 + k) * size[0], top + TITLE * scale
                    whole.paste(figure(shot, frame, view, size), place)
        draw.text((left + 3, top), name, INK, font_size=10 * scale)
        draw.text((left + width - 3, top), ", ".join(texts), RED, font_size=9 * scale, anchor="ra")
        draw.rectangle((left, top, left + width - 1, top + height - 1), outline=FLOOR)
    whole.save(file, quality=60, method=6)


def figure(shot, frame, view, size):
    """An image of a frame of a shot."""
    from PIL import Image, ImageDraw

    sharp = 3
    image = Image.new("RGB", (size[0] * sharp, size[1] * sharp), PAPER)
    draw = ImageDraw.Draw(image)
    across, towards = view
    tall = TALL * _height(shot) / 1.98
    unit = size[1] * sharp / tall
    middle = shot.shown[frame][shot.rig.of("hips")][0].translation

    def on(point):
        return size[0] * sharp / 2 + (point - middle) @ across * unit * 0.98, size[1] * sharp - (point.z + SUNK) * unit

    draw.line((0, on(Vector())[1], size[0] * sharp, on(Vector())[1]), FLOOR, 2)
    parts = sorted(_parts(shot, frame), key=lambda part: (part[0] + part[1]) @ towards)
    for first, last, thick, colour in parts:
        shade = 0.75 + 0.25 * max(min(((first + last) @ towards / 2 - middle @ towards) / 0.5, 1.0), -1.0)
        colour = tuple(int(255 - (255 - c) * (0.55 + 0.45 * shade)) for c in colour)
        ends, wide = [on(first), on(last)], max(thick * 2 * unit, 2)
        draw.line([*ends[0], *ends[1]], (255, 255, 255), int(wide + 4))
        for x, y in ends:
            draw.ellipse((x - wide / 2 - 2, y - wide / 2 - 2, x + wide / 2 + 2, y + wide / 2 + 2), (255, 255, 255))
        draw.line([*ends[0], *ends[1]], colour, int(wide))
        for x, y in ends:
            draw.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), colour)
    for place in shot.asked[frame].values():
        x, y = on(place)
        draw.line((x - 9, y, x + 9, y), RED, 3)
        draw.line((x, y - 9, x, y + 9), RED, 3)
    return image.resize(size, Image.Resampling.LANCZOS)


def _height(shot):
    return shot.before[shot.rig.of("head")][1].z


def _parts(shot, frame):
    """First and last point, thickness [m] and colour of the capsules of a pose."""
    pose, rig, grown = shot.shown[frame], shot.rig, _height(shot) / 1.98
    hips, chest = (pose[rig.of(part)][0].translation for part in ("hips", "chest"))
    head = pose[rig.of("head")]
    shoulders = [pose[rig.of("upper_arm", side)][0].translation for side in "LR"]
    thighs = [pose[rig.of("thigh", side)][0].translation for side in "LR"]
    high = (shoulders[0] + shoulders[1]) / 2
    grey = COLOURS[""]
    middle = hips.lerp(chest, 0.55)
    yield (*thighs, 0.09 * grown, grey)
    yield hips, middle, 0.10 * grown, grey
    yield middle, chest, 0.11 * grown, grey
    yield chest, high, 0.11 * grown, grey
    yield high, head[0].translation, 0.05 * grown, grey
    top = head[1]
    axis = (top - head[0].translation).normalized()
    ahead = _ahead(shot, head[0])
    centre = head[0].translation.lerp(top, 0.55)
    yield centre - axis * 0.03 * grown, centre + axis * 0.04 * grown, 0.095 * grown, grey
    yield centre + ahead * 0.07 * grown, centre + ahead * 0.12 * grown, 0.025 * grown, (150, 90, 70)
    for side in "LR":
        for part in ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"):
            bone = rig.of(part, side)
            if bone in pose:
                yield pose[bone][0].translation, pose[bone][1], THICK.get(part, 0.035) * grown, COLOURS[side]


def _ahead(shot, head):
    """The direction in which the face looks."""
    at_rest = shot.before[shot.rig.of("head")][0].to_quaternion()
    return head.to_quaternion() @ (at_rest.inverted() @ Vector((0.0, -1.0, 0.0)))
