# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that leave the reach and come back: turns of an arm, a leg and a body, beside Blender's IK.

Rigify's human, set up by the buttons. The empty of a hand or foot goes from a random place within reach to one beyond
it in 20 frames, and back in 10; of a body that of its left hand from where it is made to 1.6 to 3 arms' lengths away.
Blender's is IK on the forearm with Copy Rotation on the hand, without limits.

In hasty shots of a body its left hand's empty goes from random place to place, every other one of them out of reach,
and turns there by up to 90 degrees, every 8 to 14 frames.
"""

from itertools import product
from random import Random
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from . import hand_motions
from .job_rigs import RIGS, Rig
from .job_shots import shown as shown_at
from .scenes import extension, silent

LIMBS = {"arm": hand_motions.ARM, "leg": ("thigh.L", "shin.L", "foot.L")}
SOFT, HARD, BLENDER = "Soft Edge", "without", "Blender's IK"
MISSED = 2e-3  # of the reach
MOVES = 0.3  # degrees that a joint turns in frames that count for its median
APART = 0.8  # [rad] between directions to one place and the next at most
TURN, TIMES, TIMES_OF_BODY = 15.0, 4.0, 3.0
HASTE, PLACES, WITHIN, BEYOND, FASTER = (8, 14), 5, (0.35, 0.95), (1.1, 2.2), (20.0, 90.0)  # of hasty shots
HEAD = (
    "| | turns by | largest turn, any frame | largest into or out of a missed frame | above 15° | the same, times the "
    "joint's median | above 4 (body: 3) | missed by more, of the reach |"
)


class Path(NamedTuple):
    """Turns (n, F - 1) of the joints [degrees]; distances (F) from tip to target, and from the target to the edge of
    the reach (0 inside), as shares of the reach; and processor time [s]."""

    turns: np.ndarray
    off: np.ndarray
    beyond: np.ndarray
    seconds: float

    @property
    def touching(self):
        """Turns (F - 1) into or out of frames that are missed."""
        out = self.off > MISSED
        return out[1:] | out[:-1]

    @property
    def largest_at_edge(self):
        """Largest turn of a joint there [degrees]."""
        return float(self.turns[:, self.touching].max(initial=0.0))

    @property
    def times(self):
        """The same beside the median of the frames in which the joint moves."""
        found = [0.0]
        for row in self.turns:
            moving = row[row > MOVES]
            if len(moving) > 3:
                found.append(float(row[self.touching].max(initial=0.0) / np.median(moving)))
        return max(found)


def of_limb(limb, turned, seed, method):
    """Key one motion of a limb's empty, which also turns there and back if `turned`; return its Path."""
    import bpy
    from mathutils import Vector

    random = Random(f"{seed} {limb}")
    hand = hand_motions.new_hand(LIMBS[limb])
    bones = [hand.ob.data.bones[name] for name in hand.names]
    root, reach = hand.ob.matrix_world @ bones[0].head_local, sum(bone.length for bone in bones)

    def direction(near=None):
        while True:
            way = Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()
            ahead = way.y < -0.2 if limb == "arm" else way.z < -0.3
            if ahead and way.x > -0.3 and (near is None or way.angle(near) < APART):
                return way

    first = direction()
    second = direction(first)
    third = direction(second)
    start = root + first * reach * random.uniform(0.6, 0.85)
    out = root + second * reach * random.uniform(1.05, 1.3)
    back = start if random.random() < 0.5 else root + third * reach * random.uniform(0.6, 0.85)
    hold = random.choice((0, 0, 6))
    frames = range(1, 32 + hold)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    if method == BLENDER:
        hand_motions.follow_by_blender(hand)
    rotation = hand.target.matrix_world.to_quaternion()
    other = hand_motions.random_turn(random) @ rotation
    for frame, place, told in zip(
        (1, 21, 21 + hold, 31 + hold), (start, out, out, back), (rotation, other, other, rotation), strict=True
    ):
        hand.target.location = place
        hand.target.keyframe_insert("location", frame=frame)
        if turned:
            hand.target.rotation_quaternion = told
            hand.target.keyframe_insert("rotation_quaternion", frame=frame)
    hand.bones[-1].ik_triangulation.soft_edge = method == SOFT
    seconds = hand_motions.bake(hand) if method != BLENDER else 0.0
    seen = hand_motions.watch(hand, frames)
    targets = []
    for frame in frames:
        scene.frame_set(frame)
        targets.append(hand.target.matrix_world.translation.copy())
    away = np.linalg.norm(np.array(targets) - seen.places[0], axis=1)
    return Path(seen.turns, seen.tip / reach, np.maximum(away / reach - 1.0, 0.0), seconds)


class _Body(NamedTuple):
    """A body as set up by the button: its rig and armature, its left hand with its empty, and the length of the arm."""

    rig: Rig
    ob: Any
    hand: Any
    target: Any
    arm: float

    @classmethod
    def new(cls, rig, last):
        """The body of a rig in a file of so many frames."""
        import bpy

        ob = rig.make()
        bpy.ops.object.mode_set(mode="POSE")
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
        with silent():
            bpy.ops.pose.ik_triangulation_body_add()
        hand = ob.pose.bones[rig.of("hand", "L")]
        ob.data.bones.active = ob.data.bones[hand.name]
        arm = sum(ob.data.bones[rig.of(part, "L")].length for part in ("upper_arm", "forearm", "hand"))
        target = hand.ik_triangulation.target
        target.rotation_mode = "QUATERNION"
        return cls(rig, ob, hand, target, arm)

    @property
    def shoulder(self):
        """Where the arm begins at rest, in the world."""
        return self.ob.matrix_world @ self.ob.data.bones[self.rig.of("upper_arm", "L")].head_local

    def key(self, frame, place, rotation=None):
        """Key the empty at a place and with a rotation in the world."""
        parent = self.target.parent
        into = parent.matrix_world.inverted() if parent else None
        self.target.location = into @ place if into else place
        self.target.keyframe_insert("location", frame=frame)
        if rotation is not None:
            self.target.rotation_quaternion = into.to_quaternion() @ rotation if into else rotation
            self.target.keyframe_insert("rotation_quaternion", frame=frame)

    def baked(self, *more):
        """Bake it; return its Path, in which `more` parts of the sides count as well."""
        import bpy

        begun = process_time()
        with silent():
            bpy.ops.pose.ik_triangulation_bake()
        seconds = process_time() - begun
        ob, rig, scene = self.ob, self.rig, bpy.context.scene
        parts = [rig.of(part) for part in ("hips", "chest")]
        every = ("shoulder", "upper_arm", "forearm", "thigh", "shin", *more)
        parts += [rig.of(part, side) for part, side in product(every, "LR")]
        shown, off = [], []
        for frame in range(scene.frame_start, scene.frame_end + 1):
            now = shown_at(ob, frame)
            shown.append([np.array(now[name][0].to_3x3().normalized()) for name in parts])
            off.append((now[self.hand.name][1] - self.target.matrix_world.translation).length / self.arm)
        turned = np.array(shown).swapaxes(0, 1)
        return Path(hand_motions.angles(turned[:, :-1], turned[:, 1:]), np.array(off), np.zeros(len(off)), seconds)


def of_body(rig, seed, method):
    """Key the left hand's empty of a body out of reach and back; return its Path."""
    random, body = Random(seed), _Body.new(RIGS[rig], 50)
    while True:
        way = _direction(random)
        if way.y < 0.1 and way.x > -0.5 and way.z > -0.5:
            break
    place = body.shoulder + way * body.arm * random.uniform(1.6, 3.0)
    start = body.target.matrix_world.translation.copy()
    for frame, at in ((1, start), (10, start), (30, place), (40, start), (50, start)):
        body.key(frame, at)
    body.hand.ik_triangulation.soft_edge = method == SOFT
    return body.baked()


def of_hasty_body(rig, seed, turned):
    """Key the left hand's empty of a body in and out of reach in haste, and turn it if it is `turned`; its Path."""
    from mathutils import Quaternion

    random = Random(f"hasty {seed}")
    frames = [1, 5]
    for _ in range(PLACES + 1):
        frames.append(frames[-1] + random.randint(*HASTE))
    body = _Body.new(RIGS[rig], frames[-1] + 4)
    start, rotation, _ = body.target.matrix_world.decompose()
    keys = [(start, rotation)] * 2
    for number in range(PLACES):
        while True:
            way = _direction(random)
            if way.y < 0.15 and way.x > -0.6 and way.z > -0.75:
                break
        place = body.shoulder + way * body.arm * random.uniform(*(BEYOND if number % 2 else WITHIN))
        turn = Quaternion(_direction(random), np.radians(random.uniform(*FASTER)))
        keys.append((place, turn @ rotation))
    for frame, (place, other) in zip(frames, [*keys, keys[0]], strict=True):
        body.key(frame, place, other if turned else None)
    return body.baked("hand")


def _direction(random):
    from mathutils import Vector

    return Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()


def line_of(title, method, paths, times):
    """A line of the table."""

    def of(values):
        return f"{np.median(values):.0f} / {np.percentile(values, 90):.0f} / {np.max(values):.0f}"

    edge, ratios = np.array([each.largest_at_edge for each in paths]), np.array([each.times for each in paths])
    more = max(float((each.off - each.beyond).max()) for each in paths)
    cells = [title, method, f"{of([each.turns.max() for each in paths])}°", f"{of(edge)}°"]
    cells += [f"{(edge > TURN).sum()} of {len(edge)}", of(ratios), f"{(ratios > times).sum()} of {len(ratios)}"]
    cells.append(f"{100.0 * more:.1f} %" if any(each.beyond.any() for each in paths) else "")
    return f"| {' | '.join(cells)} |"


def run(arguments):
    """A line for each kind of motion and method: median, 90 % and largest of all paths."""
    print(f"{HEAD}\n{'|---' * 8}|")
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    with extension():
        for limb, turned in product(LIMBS, (False, True)):
            for method in (SOFT, HARD, BLENDER):
                paths = [of_limb(limb, turned, seed, method) for seed in seeds]
                print(line_of(f"{limb}, target {'turned' if turned else 'moved'}", method, paths, TIMES), flush=True)
        for rig in RIGS:
            for method in (SOFT, HARD):
                paths = [of_body(rig, seed, method) for seed in range(arguments.bodies)]
                far = [each for each in paths if (each.off > MISSED).any()]
                print(line_of(f"body of {rig}", method, far, TIMES_OF_BODY), flush=True)
            for turned in (False, True):
                paths = [of_hasty_body(rig, seed, turned) for seed in range(arguments.bodies)]
                title = f"hasty body of {rig}, target {'turned' if turned else 'moved'}"
                print(line_of(title, SOFT, paths, TIMES_OF_BODY), flush=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--count", type=int, default=50, help="paths of each kind; default: %(default)s")
    parser.add_argument("--bodies", type=int, default=12, help="paths of each body; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1000)
