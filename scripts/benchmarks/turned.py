# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that turn with their target by Add Limb and Bake, beside Blender's IK: largest turn of a joint in one frame.

Of two kinds: targets taken from a hand that was posed smoothly within its limits, and targets whose keys are turned by
20 to 90 degrees about any axis, which a hand inside its limits cannot always follow. Blender's is IK on the forearm
with Copy Rotation on the hand, without limits.
"""

from random import Random
from typing import Any, NamedTuple

import numpy as np

from . import hand_motions
from .scenes import extension

POSED, TURNED = "posed by hand", "turned"
OURS, BLENDER = "Add Limb and Bake", "Blender's IK"
LARGE, OFF, CALM = 45.0, 5.0, 1.5  # degrees of a joint in a frame; of the hand to its target; times the original's turn
HEAD = (
    "| Target | by | largest turn | above 45° | hand off, frames | hand off, largest | tip off | beside the original |"
)


class Trial(NamedTuple):
    """A motion as it was Seen, the one from which its target was taken (None: from none), and CPU time [s]."""

    seen: Any
    original: Any
    seconds: float


def trial(kind, method, seed, number):
    """Key one motion, have the hand follow it by a method, and watch it; return a Trial."""
    random, hand, original, seconds = Random(f"{seed} {number}"), hand_motions.new_hand(), None, 0.0
    if kind == POSED:
        original = hand_motions.key_poses(hand, random)
    else:
        places = [hand_motions.random_place(hand, random) for _ in range(2)]
        hand_motions.key_places(hand, places, [hand_motions.random_turn(random) for _ in range(2)])
    if method == OURS:
        seconds = hand_motions.bake(hand)
    else:
        hand_motions.follow_by_blender(hand)
    return Trial(hand_motions.watch(hand), original, seconds)


def measure(count, seeds, kinds=(POSED, TURNED), methods=(OURS, BLENDER)):
    """Return lists of Trial by kind and method."""
    with extension():
        return {
            (kind, method): [trial(kind, method, seed, number) for seed in seeds for number in range(count)]
            for kind in kinds
            for method in methods
        }


def line_of(kind, method, trials):
    """A line of the table."""
    largest = np.array([each.seen.turns.max() for each in trials])
    off, most = np.concatenate([each.seen.off for each in trials]), [each.seen.off.max() for each in trials]
    cells = [kind, method, f"{np.median(largest):.0f} / {np.percentile(largest, 90):.0f} / {largest.max():.0f}°"]
    cells.append(f"{(largest > LARGE).sum()} of {len(trials)}")
    cells.append(
        f"{np.median(off):.1f} / {np.percentile(off, 95):.1f}°, {100.0 * (off > OFF).mean():.0f} % above {OFF:g}°"
    )
    cells.append(f"{np.median(most):.0f} / {np.percentile(most, 90):.0f} / {max(most):.0f}°")
    cells.append(f"{100.0 * max(each.seen.tip.max() for each in trials):.2f} cm")
    if trials[0].original is None:
        cells.append("")
    else:
        times = largest / [each.original.turns.max() for each in trials]
        cells.append(f"{np.median(times):.2f} / {times.max():.2f}, {(times > CALM).sum()} above {CALM:g}")
    return f"| {' | '.join(cells)} |"


def run(arguments):
    """A line for each kind of target and method: median, 90 % and largest of trials; median and 95 % of all frames."""
    import bpy

    found = measure(arguments.count, arguments.seeds)
    frames = hand_motions.KEYS[-1] - hand_motions.KEYS[0] + 1
    print(f"Blender {bpy.app.version_string}, {arguments.count} motions of {frames} frames for each seed\n")
    print(f"{HEAD}\n{'|---' * 8}|")
    for kind, trials in found.items():
        print(line_of(*kind, trials))


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--count", type=int, default=24, help="motions of each kind and seed; default: %(default)s")
    parser.add_argument("--seeds", nargs="+", type=int, default=[7, 11])
