# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the acts: rendered frames, side by side in one file or as an animation."""

from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np
from benchmarks.scenes import silent

from . import props

# Where each act is seen from, what is looked at, and how many metres are seen there.
VIEWS = {
    "Reach": ((2.0, -3.1, 1.85), (0.06, -0.15, 1.45), 1.2),
    "Wipe": ((2.0, -3.1, 1.85), (0.06, -0.2, 1.45), 1.2),
    "Lift": ((2.6, -3.3, 1.3), (0.0, -0.1, 1.02), 2.2),
    "Crouch": ((3.0, -2.9, 1.3), (0.0, -0.1, 0.98), 2.2),
}
SHOWN = {  # frames on the picture
    "Reach": (1, 13, 22, 30, 46, 62),
    "Wipe": (1, 11, 21, 31, 41, 51),
    "Lift": (1, 24, 38, 58, 80, 96),
    "Crouch": (1, 16, 30, 46, 62, 104),
}
OWN = "Crouch"
SIZE = 200, 240  # pixels of a frame
COLOURS = 200
RARE = 0.45  # power of a colour's share that it counts with
STEP = 3  # frames from one image of the film to the next


def shoot(act, frames, size=SIZE, done=lambda: None):
    """Render frames of an act alone, with its camera; return them as Pillow's images. Calls `done` after each."""
    from PIL import Image

    scene = bpy.context.scene
    scene.camera = bpy.data.objects[f"{act} Camera"]
    for collection in scene.collection.children:
        collection.hide_render = collection.name != act
    scene.render.resolution_x, scene.render.resolution_y = size
    taken = []
    with TemporaryDirectory() as folder:
        scene.render.filepath = str(Path(folder, "frame.png"))
        for frame in frames:
            scene.frame_set(frame)
            with silent():  # lines for every sample
                bpy.ops.render.render(write_still=True)
            with Image.open(scene.render.filepath) as image:
                taken.append(image.convert("RGB"))
            done()
    return taken


def set_up(actors):
    """Ground, light and a camera for each act."""
    props.studio()
    for act, actor in actors.items():
        place, at, height = VIEWS[act]
        props.camera(f"{act} Camera", actor.here + props.Vector(place), actor.here + props.Vector(at), height)


def sheet(rows, file):
    """Write rows of images as one picture of few colours."""
    from PIL import Image

    width, height = rows[0][0].size
    whole = Image.new("RGB", (width * max(map(len, rows)), height * len(rows)))
    for down, row in enumerate(rows):
        for along, image in enumerate(row):
            whole.paste(image, (along * width, down * height))
    whole.quantize(palette=_palette(whole), dither=Image.Dither.NONE).save(file, optimize=True)


def _palette(image):
    """Return an image of few colours that stand for all in another; rare ones, as of a cup, count nearly as much."""
    from PIL import Image

    coarse = np.asarray(image).reshape(-1, 3) // 8
    found, counts = np.unique(coarse, axis=0, return_counts=True)
    shown = np.repeat(found * 8 + 4, np.ceil(counts**RARE).astype(int), axis=0)
    return Image.fromarray(shown[None].astype(np.uint8)).quantize(COLOURS)


def strips(file, count=None, done=lambda: None):
    """Write the frames shown of all acts, or the first few of each, a row each. Calls `done` after each frame."""
    sheet([shoot(act, frames[:count], done=done) for act, frames in SHOWN.items()], file)


def move(file):
    """Write the acts of single limbs beside each other as a film; the body has one of its own."""
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1, STEP)
    write(beside(*(shoot(act, frames) for act in SHOWN if act != OWN)), file)


def beside(*films):
    """Return the images of a film that shows others beside each other."""
    from PIL import Image

    images = []
    for row in zip(*films, strict=True):
        width, height = row[0].size
        images.append(Image.new("RGB", (width * len(row), height)))
        for along, image in enumerate(row):
            images[-1].paste(image, (along * width, 0))
    return images


def write(images, file, quality=75):
    """Write images, `STEP` frames apart, as an animated picture."""
    delay = round(1000 * STEP / bpy.context.scene.render.fps)
    images[0].save(file, save_all=True, append_images=images[1:], duration=delay, loop=0, quality=quality, method=6)
