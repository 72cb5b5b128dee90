# SPDX-License-Identifier: GPL-3.0-or-later
"""Three shots as tasks of a farm: what became of them, as their worker and the summary tell it."""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

STATES = {"Reached": (92, 184, 110), "Missed": (226, 168, 62), "Failed": (222, 92, 84)}
BACK, BAR, TEXT, DIM = (37, 40, 44), (52, 56, 61), (226, 229, 232), (150, 156, 163)
WIDTH, LINE, SIZE, EDGE = 880, 34, 17, 18  # pixels
COLUMNS = 18, 56, 268, 400


def picture(file):
    """Run the three shots of the tests as the template does, and draw what the farm shows of them."""
    from PIL import Image, ImageDraw, ImageFont

    rows, summary = run()
    font = ImageFont.load_default(SIZE)
    image = Image.new("RGB", (WIDTH, LINE * (len(rows) + len(summary) + 2) + EDGE), BACK)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, WIDTH, LINE), fill=BAR)
    for x, text in zip(COLUMNS[1:], ("Shot", "Task", "Status"), strict=True):
        draw.text((x, 7), text, TEXT, font)
    for number, (shot, task, status) in enumerate(rows, 1):
        top, colour = number * LINE + 9, STATES.get(status.partition(":")[0], STATES["Failed"])
        draw.ellipse((COLUMNS[0], top + 3, COLUMNS[0] + 14, top + 17), fill=colour)
        for x, text, ink in zip(COLUMNS[1:], (shot, task, status), (TEXT, DIM, colour), strict=True):
            draw.text((x, top), text, ink, font)
    top = (len(rows) + 1) * LINE + EDGE
    draw.line((0, top, WIDTH, top), BAR, 2)
    for number, line in enumerate(summary):
        draw.text((COLUMNS[0], top + 12 + number * LINE), line, TEXT if number else DIM, font)
    image.quantize(64).save(file, optimize=True)


def run():
    """Run the shots; return shot, state of the task and status of each, and the summary with its command."""
    from tests.farm import NAMES, SUMMARY, save_shots, worker_script

    with TemporaryDirectory() as folder:
        shots, baked, script = Path(folder, "shots"), Path(folder, "baked"), Path(folder, "shot.py")
        save_shots(shots)
        script.write_text(worker_script(), encoding="utf-8")
        start, rows = f"{sys.executable} -m ik_triangulation", []
        listed = [shots / "shots.txt", "--output", baked, "--accept-misses", "--openjd"]
        words = [sys.executable, script, start, "--all", *listed]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
        for shot, status in re.findall(r"openjd_status: (.*?\.blend): (.*)", done.stdout):
            rows.append(
                (shot, "failed" if status.startswith("failed") else "completed", _short(status, folder).capitalize())
            )
        assert len(rows) == len(NAMES)
        words = [sys.executable, SUMMARY, baked, shots / "shots.txt"]
        told = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False).stdout
    lines = [re.sub(r"  +", "   ", _short(line, folder)) for line in told.splitlines()]
    return rows, ["$ python summary.py /srv/baked /srv/shots/shots.txt", *lines]


def _short(text, folder):
    """The text without what Blender adds to it, and with folders as on a server."""
    return text.replace(folder, "/srv").partition(": Error")[0]
