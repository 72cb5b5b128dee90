# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes in which hands and feet rest on what moves, made by seeded code, with the frames at which they truly do.

A figure is posed so that its hands and feet are on something in known spans and on their way between. What is written
to the rig that is searched is worse: the arms drift by some centimetres while they rest, as on a figure of other
proportions, and a scene has the noise of a recording. Nothing of the spans is told to the search.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

FPS = 30
MISSED = 0.01  # [m]
DRIFT = 0.02  # [m] of a hand or foot over a span, each way


@dataclass
class Truth:
    """A tip on an object, or on one of its bones, from its first to its last frame; None is the world."""

    tip: str
    first: int
    last: int
    on: str | None
    bone: str = ""


@dataclass
class Made:
    """A scene: its rig, its number of frames, what is true, and tips that are judged although they touch nothing."""

    rig: object
    frames: int
    truths: list[Truth]
    tips: tuple[str, ...] = ()
    fps: int = FPS


class Stage:
    """A figure that is posed by targets, then written to a rig as its recorded motion."""

    def __init__(self, frames, seed, fps=FPS):
        from tests.bodies import human_rig

        self.model, self.frames, self.random = human_rig("Model"), frames, np.random.default_rng(seed)
        self.scene = bpy.context.scene
        self.scene.render.fps, self.scene.frame_start, self.scene.frame_end = fps, 1, frames
        self.fps, self.every = fps, range(1, frames + 1)
        hips = self.model.pose.bones["spine"]
        self._into = hips.bone.matrix_local.to_3x3().inverted()
        self.hips = [Matrix.Identity(4) for _ in self.every]

    def mesh(self, name, size, at=None, place=(0, 0, 0)):
        """Make a box of a size [m], keyed to be where `at` has it, a function of the frame that gives a matrix."""
        import bmesh

        made = bmesh.new()
        bmesh.ops.create_cube(made, size=1.0)
        bmesh.ops.scale(made, vec=size, verts=made.verts)
        mesh = bpy.data.meshes.new(name)
        made.to_mesh(mesh)
        made.free()
        ob = bpy.data.objects.new(name, mesh)
        self.scene.collection.objects.link(ob)
        ob.rotation_mode = "QUATERNION"
        ob.location = place
        for frame in self.every if at else ():
            place, rotation, _ = at(frame).decompose()
            ob.location, ob.rotation_quaternion = place, rotation
            ob.keyframe_insert("location", frame=frame)
            ob.keyframe_insert("rotation_quaternion", frame=frame)
        bpy.context.view_layer.update()
        return ob

    def carry(self, at):
        """Let the hips go with a motion, a function of the frame that gives a matrix (4x4, world space)."""
        hips = self.model.pose.bones["spine"]
        hips.rotation_mode = "QUATERNION"
        rest = hips.bone.matrix_local
        for frame in self.every:
            hips.matrix_basis = rest.inverted() @ at(frame) @ rest
            hips.keyframe_insert("location", frame=frame)
            hips.keyframe_insert("rotation_quaternion", frame=frame)

    def lead(self, ways, count=3):
        """Lead tips along ways, functions of the frame that give places in the world; one after the other."""
        from ik_triangulation.jobs.bake import bake
        from ik_triangulation.rig.limb import Limb

        for tip, way in ways.items():
            target = bpy.data.objects.new(f"Way {tip}", None)
            self.scene.collection.objects.link(target)
            for frame in self.every:
                target.location = way(frame)
                target.keyframe_insert("location", frame=frame)
            report = bake(Limb.from_tip(self.model, tip, target, count), 1, self.frames)
            far = max(each.largest_distance for each in report.tips.values())
            assert far < MISSED, f"{tip} is {far:g} off its way"
            bpy.data.objects.remove(target)

    def matrix(self, bone, frame):
        """The matrix of a bone of the figure at a frame."""
        self.scene.frame_set(frame)
        return self.model.pose.bones[bone].matrix.copy()

    def recorded(self, noise=0.0):
        """Write the motion to a new rig, with noise [rad] on every bone, and remove the figure."""
        from tests.bodies import human_rig

        rig, names = human_rig("Rig"), self.model.pose.bones.keys()
        for frame in self.every:
            self.scene.frame_set(frame)
            for name in names:
                bone, own = self.model.pose.bones[name], rig.pose.bones[name]
                turn = Quaternion(Vector(self.random.normal(0.0, noise, 3))) if noise else Quaternion()
                own.rotation_quaternion, own.location = bone.matrix_basis.to_quaternion() @ turn, bone.location
                own.keyframe_insert("rotation_quaternion", frame=frame)
                if name == "spine":
                    own.keyframe_insert("location", frame=frame)
        bpy.data.objects.remove(self.model)
        self.scene.frame_set(1)
        return rig


LOWER = Matrix.Translation((0.0, 0.0, -0.03))  # of hips, so that legs are not stretched


def eased(t):
    """The course of minimum jerk from 0 to 1."""
    t = min(max(t, 0.0), 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t * t)


def course(stops, drift=None, high=0.06):
    """A way through stops: (first frame, last frame, place, on), in the world or where `on(frame)` carries the place.

    Between two stops the tip goes by the course of minimum jerk, so much higher in the middle [m]. While it rests it
    drifts by a vector.
    """
    drift = Vector(drift) if drift is not None else Vector()

    def shown(stop, frame):
        first, last, place, on = stop
        share = (min(max(frame, first), last) - first) / max(last - first, 1) - 0.5
        place = Vector(place) + (drift * 2.0 * share if last > first else Vector())
        return on(frame) @ place if on else place

    def way(frame):
        for before, after in pairwise(stops):
            if before[1] < frame < after[0]:
                share = eased((frame - before[1]) / (after[0] - before[1]))
                lift = high * 4.0 * share * (1.0 - share)
                return shown(before, frame).lerp(shown(after, frame), share) + Vector((0.0, 0.0, lift))
        stop = next((s for s in stops if s[0] <= frame <= s[1]), stops[0] if frame < stops[0][0] else stops[-1])
        return shown(stop, frame)

    return way


def _swaying(stage, start, way, turn=0.0, begin=1):
    """A frame that goes along a way and turns [rad] about the vertical by the course of minimum jerk, after `begin`."""

    def at(frame):
        share = eased((frame - begin) / (stage.frames - begin))
        return Matrix.Translation(Vector(start) + Vector(way) * share) @ Matrix.Rotation(turn * share, 4, "Z")

    return at


def _random_drift(stage, size=DRIFT):
    way = stage.random.normal(0.0, 1.0, 3) * (1.0, 1.0, 0.3)
    return size * way / np.linalg.norm(way)


def hands_on_a_cart(seed):
    """Both hands on a cart that goes and turns, beside a figure that stands."""
    stage = Stage(110, seed)
    cart = _swaying(stage, (0.08, -0.4, 0.93), (-0.16, 0.03, 0.03), 0.3, 25)
    stage.mesh("Cart", (0.9, 0.4, 0.1), cart)
    ways, truths = {}, []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        rest = Vector((0.5 * sign, -0.15, 0.95))
        spans = [(20, 62), (76, 96)] if side == "L" else [(14, 88)]
        stops = [(1, 4, rest, None)]
        stops += [(a, b, (0.2 * sign - 0.05 + 0.04 * k, 0.08, 0.075), cart) for k, (a, b) in enumerate(spans)]
        stops.append((108, 110, rest, None))
        ways[f"hand.{side}"] = course(stops, drift=_random_drift(stage))
        truths += [Truth(f"hand.{side}", a, b, "Cart") for a, b in spans]
    stage.lead(ways)
    return Made(stage.recorded(), stage.frames, truths)


def box_in_both_hands(seed):
    """A box that both hands take, lift, turn and put down."""
    stage = Stage(120, seed)

    def box(frame):
        share = eased((frame - 30) / 25) - eased((frame - 70) / 25)
        turn = Matrix.Rotation(0.5 * share, 4, "Z") @ Matrix.Rotation(0.25 * share, 4, "X")
        return Matrix.Translation(Vector((0.0, -0.34, 1.0)) + Vector((0.05, -0.02, 0.25)) * share) @ turn

    stage.mesh("Box", (0.3, 0.22, 0.2), box)
    stage.mesh("Table", (1.2, 0.5, 0.04), place=(0.0, -0.5, 0.88))
    ways, truths = {}, []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        rest, on = Vector((0.5 * sign, -0.12, 0.95)), (0.175 * sign, 0.05, 0.03)
        first, last = (22, 104) if side == "L" else (26, 100)
        stops = [(1, 4, rest, None), (first, last, on, box), (118, 120, rest, None)]
        ways[f"hand.{side}"] = course(stops, drift=_random_drift(stage))
        truths.append(Truth(f"hand.{side}", first, last, "Box"))
    stage.lead(ways)
    return Made(stage.recorded(), stage.frames, truths)


def hand_on_the_other(seed):
    """The left hand takes the right one, which goes on, and claps it twice after that."""
    stage = Stage(130, seed)
    places = {1: (-0.12, -0.3, 1.1), 60: (0.02, -0.34, 1.22), 130: (0.0, -0.32, 1.12)}
    right = course([(frame, frame, place, None) for frame, place in places.items()])
    stage.lead({"hand.R": right})
    held = [stage.matrix("hand.R", frame) for frame in stage.every]

    def on(frame):
        return held[frame - 1]

    rest, spans = Vector((0.45, -0.2, 1.0)), [(25, 70), (88, 97), (110, 119)]
    stops = [(1, 4, rest, None)]
    for first, last in spans:
        stops.append((first, last, (0.0, 0.07, 0.045), on))
        if last < 119:
            stops.append((last + 8, last + 9, (-0.08, 0.03, 0.12), on))
    stops.append((130, 130, rest, None))
    stage.lead({"hand.L": course(stops, drift=_random_drift(stage, 0.012))})
    return Made(stage.recorded(), stage.frames, [Truth("hand.L", a, b, "Rig", "hand.R") for a, b in spans], ("hand.R",))


def _standing(stage, at, spans):
    """Lead both feet, which stand where `at` carries them but for steps between their spans, with the hips above."""
    stage.carry(at)
    ways, stands = {}, {}
    for tip, own in spans.items():
        start = stage.model.data.bones[tip].tail_local.copy()
        stops = [(a, b, start + Vector(way), at) for a, b, way in own]
        ways[tip] = course(stops, _random_drift(stage), 0.1)
        stands[tip] = [(a, b) for a, b, _ in own]
    stage.lead(ways)
    return stands


def feet_on_a_lift(seed):
    """Feet on a lift that rises by 1.1 m, one of which makes a step on it."""
    stage = Stage(120, seed)

    def lift(frame):
        return Matrix.Translation((0.0, 0.0, 1.1 * eased((frame - 20) / 80)))

    stage.mesh("Lift", (1.4, 1.4, 0.1), lambda frame: lift(frame) @ Matrix.Translation((0.0, 0.0, -0.05)))
    spans = {"foot.L": [(1, 50, (0, 0, 0.03)), (64, 120, (0.1, -0.12, 0.03))], "foot.R": [(1, 120, (0, 0, 0.03))]}
    stands = _standing(stage, lambda f: lift(f) @ LOWER, spans)
    truths = [Truth(tip, a, b, "Lift") for tip, own in stands.items() for a, b in own]
    return Made(stage.recorded(), stage.frames, truths)


def feet_on_a_turntable(seed):
    """Feet on a table that turns by 150 degrees, both of which make a step."""
    stage = Stage(130, seed)

    def table(frame):
        return Matrix.Rotation(np.radians(150.0) * eased((frame - 10) / 110), 4, "Z")

    stage.mesh("Turntable", (2.0, 2.0, 0.1), lambda frame: table(frame) @ Matrix.Translation((0.0, 0.0, -0.05)))
    spans = {
        "foot.L": [(1, 40, (0, 0, 0.03)), (54, 130, (0.08, -0.15, 0.03))],
        "foot.R": [(1, 70, (0, 0, 0.03)), (84, 130, (-0.05, 0.1, 0.03))],
    }
    stands = _standing(stage, lambda f: table(f) @ LOWER, spans)
    truths = [Truth(tip, a, b, "Turntable") for tip, own in stands.items() for a, b in own]
    return Made(stage.recorded(), stage.frames, truths)


def cart_that_is_pushed(seed):
    """Both hands on the handle of a cart that a figure pushes as it walks."""
    from tests.bodies import walking_body

    stage = Stage(72, seed)
    bpy.data.objects.remove(stage.model)
    stage.model, step = walking_body(72), 1.2 / 72

    def handle(frame):
        return Matrix.Translation((0.0, -0.36 - step * (frame - 1), 1.0))

    stage.mesh("Handle", (0.7, 0.04, 0.04), handle)
    stage.mesh("Cart", (0.7, 0.8, 0.6), lambda frame: handle(frame) @ Matrix.Translation((0.0, -0.55, -0.4)))
    ways, truths = {}, []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        stops = [(1, 1, (0.45 * sign, -0.1, 1.0), None), (14, 60, (0.2 * sign, 0.0, 0.045), handle)]
        ways[f"hand.{side}"] = course([*stops, (72, 72, (0.45 * sign, -1.3, 1.05), None)], _random_drift(stage))
        truths.append(Truth(f"hand.{side}", 14, 60, "Handle"))
    stage.lead(ways)
    stands = [("foot.L", 1, 12), ("foot.R", 13, 24), ("foot.L", 25, 36), ("foot.R", 37, 48), ("foot.L", 49, 60)]
    return Made(stage.recorded(), stage.frames, [*truths, *(Truth(*stand, None) for stand in stands)])


def hand_along_a_rail(seed):
    """A hand that slides along a rail, rests on it, and slides on: only the rest counts."""
    stage = Stage(120, seed)
    stage.mesh("Rail", (1.6, 0.05, 0.05), place=(0.2, -0.36, 1.06))
    rest, height = Vector((0.5, -0.15, 0.98)), 1.105

    def way(frame):
        begin = course([(1, 4, rest, None), (18, 18, (0.5, -0.36, height), None)])
        if frame <= 18:
            return begin(frame)
        slides = (frame - 18) / 26 if frame < 44 else 1.0
        on = (max(frame, 80) - 80) / 20 if frame < 100 else 1.0
        x = 0.5 - 0.36 * slides - 0.2 * on
        drift = 0.02 * (min(max(frame, 44), 80) - 62) / 36
        if frame <= 100:
            return Vector((x + drift * (44 <= frame <= 80), -0.36, height))
        return course([(100, 100, (x, -0.36, height), None), (120, 120, rest, None)])(frame)

    stage.lead({"hand.L": way})
    return Made(stage.recorded(), stage.frames, [Truth("hand.L", 44, 80, "Rail")])


def hands_that_pass_by(seed):
    """Hands that pass close by a cupboard without a rest, and rest away from it and beside the body."""
    stage = Stage(110, seed)
    stage.mesh("Cupboard", (0.5, 0.2, 1.2), place=(0.1, -0.56, 0.9))
    left = [(1, 20, (0.5, -0.1, 0.95), None), (36, 36, (0.3, -0.43, 1.1), None), (52, 70, (-0.02, -0.25, 1.15), None)]
    right = [(1, 30, (-0.45, -0.2, 1.2), None), (48, 48, (-0.1, -0.44, 1.3), None), (66, 110, (-0.4, -0.2, 1.0), None)]
    stage.lead({"hand.L": course([*left, (88, 110, (0.45, 0.0, 0.9), None)]), "hand.R": course(right)})
    return Made(stage.recorded(), stage.frames, [], ("hand.L", "hand.R"))


def hand_on_the_thigh(seed):
    """A hand on the thigh of a figure that steps on the spot with high knees."""
    stage = Stage(130, seed)
    foot = {tip: stage.model.data.bones[tip].tail_local.copy() for tip in ("foot.L", "foot.R")}
    stage.carry(lambda f: Matrix.Translation((0.02 * np.sin(f / 8.0), 0.0, -0.05)))

    def stepping(tip, phase):
        def way(frame):
            lap = ((frame + phase) % 40) / 20.0
            high = np.sin(np.pi * (lap - 1.0)) ** 2 if lap > 1.0 else 0.0
            return foot[tip] + Vector((0.0, -0.12 * high, 0.24 * high))

        return way

    stage.lead({"foot.L": stepping("foot.L", 0), "foot.R": stepping("foot.R", 20)})
    thigh = [stage.matrix("thigh.L", frame) for frame in stage.every]
    length = stage.model.data.bones["thigh.L"].length
    ahead = thigh[0].to_3x3().inverted() @ Vector((0.25, -1.0, 0.0))
    place = Vector((0.0, 0.42 * length, 0.0)) + 0.105 * Vector((ahead.x, 0.0, ahead.z)).normalized()
    rest = Vector((0.5, -0.15, 1.05))
    stops = [(1, 6, rest, None), (24, 100, place, lambda frame: thigh[frame - 1]), (118, 130, rest, None)]
    stage.lead({"hand.L": course(stops, drift=_random_drift(stage, 0.012))})
    stances = []
    for tip, phase in (("foot.L", 0), ("foot.R", 20)):
        down = [frame for frame in stage.every if ((frame + phase) % 40) / 20.0 <= 1.0]
        runs = np.split(down, np.flatnonzero(np.diff(down) > 1) + 1)
        stances += [Truth(tip, int(run[0]), int(run[-1]), None) for run in runs if len(run) > 8]
    truths = [Truth("hand.L", 24, 100, "Rig", "thigh.L"), *stances]
    return Made(stage.recorded(), stage.frames, truths)


def cup_with_noise(seed):
    """A hand that takes a cup from a table, lifts it and puts it down, at 60 frames a second with much noise."""
    stage = Stage(240, seed, 60)

    def cup(frame):
        share = eased((frame - 80) / 40) - eased((frame - 140) / 40)
        place = Vector((0.17, -0.34, 1.0)) + Vector((-0.08, 0.05, 0.3)) * share
        return Matrix.Translation(place) @ Matrix.Rotation(0.3 * share, 4, "Y")

    stage.mesh("Cup", (0.07, 0.07, 0.1), cup)
    stage.mesh("Table", (1.2, 0.6, 0.04), place=(0.1, -0.5, 0.93))
    rest = Vector((0.5, -0.05, 1.02))
    stops = [(1, 10, rest, None), (64, 196, (0.045, 0.03, 0.02), cup), (232, 240, rest, None)]
    stage.lead({"hand.L": course(stops, drift=_random_drift(stage))})
    return Made(stage.recorded(noise=0.004), stage.frames, [Truth("hand.L", 64, 196, "Cup")], (), 60)


SCENES: dict[str, Callable[[int], Made]] = {
    "both hands on a cart": hands_on_a_cart,
    "a cart that is pushed": cart_that_is_pushed,
    "a box in both hands": box_in_both_hands,
    "a hand on the other": hand_on_the_other,
    "feet on a lift": feet_on_a_lift,
    "feet on a turntable": feet_on_a_turntable,
    "a hand along a rail": hand_along_a_rail,
    "hands that pass by": hands_that_pass_by,
    "a hand on the thigh": hand_on_the_thigh,
    "a cup, with noise": cup_with_noise,
}
