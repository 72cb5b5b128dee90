# SPDX-License-Identifier: GPL-3.0-or-later
"""Films of the window: pictures of the viewport with the pointer of the mouse in them, numbered in a folder."""

import numpy as np
from bpy.types import Area

from scripts.windowed.inside import hands, screen
from scripts.windowed.inside.screen import Steps

POINTER = ((0, 0), (0, 17), (4, 13), (7, 19), (10, 18), (7, 12), (12, 12))  # pixels to the right and down of its end
EDGE = 1.4  # pixels of its outline


class Film:
    """The pictures of a film; scripts/pictures.py makes one file of the folder with its name."""

    def __init__(self, name: str, of: Area | None = None) -> None:
        """They show the viewport, or an area with all its bars and what is drawn over it."""
        self._name, self._of, self._count = name, of, 0

    def shot(self, times: int = 1) -> None:
        """Take a picture, to be shown so many times."""
        view = self._of or screen.region()
        colours = screen.pixels(view).copy()
        x, y = hands.place()
        _paint_pointer(colours, x - view.x, view.y + view.height - y)
        for _ in range(times):
            self._count += 1
            file = screen.output / self._name / f"{self._count:03}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(screen.png(colours))

    def moving(self, right: float, up: float, pictures: int) -> Steps:
        """Move the mouse by so many pixels in even parts, with a picture after each."""
        for _ in range(pictures):
            hands.shift(right / pictures, up / pictures)
            yield 0.35
            self.shot()

    def to(self, x: float, y: float, pictures: int) -> Steps:
        """Move the mouse to a place of the window."""
        now = hands.place()
        yield from self.moving(x - now[0], y - now[1], pictures)


def _paint_pointer(colours: np.ndarray, x: float, y: float) -> None:
    """Paint the pointer of a mouse at a pixel (from the upper left corner): white, with a dark outline."""
    rows, columns = np.mgrid[: colours.shape[0], : colours.shape[1]]
    at = np.stack((columns - x, rows - y), axis=-1)
    near = np.abs(at).max(axis=-1) < 2 * POINTER[5][1]
    inside, distance = _seen_from(at[near], np.array(POINTER, float))
    part = colours[near]
    part[distance < EDGE] = 20
    part[inside & (distance >= EDGE / 2)] = 245
    colours[near] = part


def _seen_from(points: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which points (n, 2) are inside of a polygon (m, 2), and their distances from its edge."""
    inside, distance = np.zeros(len(points), bool), np.full(len(points), np.inf)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = b - a
        share = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
        distance = np.minimum(distance, np.linalg.norm(points - a - share[:, None] * along, axis=-1))
        crosses = (a[1] > points[:, 1]) != (b[1] > points[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            inside ^= crosses & (points[:, 0] < a[0] + along[0] * (points[:, 1] - a[1]) / along[1])
    return inside, distance
