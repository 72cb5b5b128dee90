# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands of a body out of reach and below the floor: its time beside a bake within reach, turns, and what is missed.

The left hand goes aside and back while the right one goes a little down and ahead; then a single pose with the left
hand's target at heights down to far below the floor. Feet are held.
"""

from math import degrees
from time import process_time

import numpy as np

ASIDE = 0.15, 0.3, 0.5, 1.0, 3.0
FRAMES = 24, 120
HEIGHTS = 0.3, 0.1, 0.0, -0.3, -1.0, -2.0
DOWN = 0.4, -0.4, -0.5


def add_arguments(parser):
    parser.add_argument("--repeat", type=int, default=3, help="bakes of each case, the fastest of which counts")


def run(arguments):
    _print_aside(arguments.repeat)
    _print_heights()


def _print_aside(repeat):
    print(
        "| Left hand aside [m] | Frames | Time, within reach = 1 | Reached | Misses by [cm] | Right hand off [cm] |",
        end="",
    )
    print(" Feet slip [mm] | Largest turn of a frame |")
    print("|---|---|---|---|---|---|---|---|")
    _fastest(0.0, FRAMES[0], 1)  # the first bake of a process is slower
    for last in FRAMES:
        unit = _fastest(0.0, last, repeat)[0]
        for way in ASIDE:
            seconds, reached, far, near, slip, turn = _fastest(way, last, repeat)
            print(f"| {way} | {last} | {seconds / unit:.1f} | {reached} | {100 * far:.1f} | {100 * near:.2f} ", end="")
            print(f"| {1e3 * slip:.2f} | {turn:.0f}\N{DEGREE SIGN} |")


def _fastest(way, last, repeat):
    return min((_bake(way, last) for _ in range(repeat)), key=lambda measured: measured[0])


def _bake(way, last):
    """Seconds of a bake, frames reached, errors [m] of the left hand, the right one and the feet, and largest turn."""
    import bpy
    from mathutils import Vector

    from ik_triangulation.jobs.bake import bake_body
    from ik_triangulation.jobs.shots.problem import body_of
    from tests.bodies import FEET

    rig = _rig(last)
    for name, most in (("hand.L", Vector((way, 0.0, 0.0))), ("hand.R", Vector(DOWN))):
        target = rig.pose.bones[name].ik_triangulation.target
        start = rig.pose.bones[name].tail.copy()
        for frame, share in ((1, 0.0), ((1 + last) // 2, 1.0), (last, 0.0)):
            target.location = start + share * most
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    begun = process_time()
    tips = bake_body(body_of(rig, "hand.L"), 1, last).tips
    seconds = process_time() - begun
    slip = max(tips[name].error for name in FEET)
    turn = _largest_turn(rig, last)
    return seconds, last - len(tips["hand.L"].missed), tips["hand.L"].error, tips["hand.R"].error, slip, turn


def _largest_turn(rig, last):
    """Largest turn [degrees] of a bone from one frame to the next, against its parent."""
    import bpy

    seen = []
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        seen.append([bone.matrix_basis.to_quaternion()[:] for bone in rig.pose.bones])
    turns = np.array(seen)
    cosines = np.abs((turns[1:] * turns[:-1]).sum(-1))
    return degrees(2.0 * np.arccos(np.clip(cosines, 0.0, 1.0)).max())


def _print_heights():
    import bpy

    from ik_triangulation.jobs.pose import solve_body_pose
    from ik_triangulation.jobs.shots.problem import body_of

    print("\n| Height of the target [m] | Hand [m] | Hips [m] | Lowest of all but feet [m] | Result |")
    print("|---|---|---|---|---|")
    for height in HEIGHTS:
        rig = _rig(FRAMES[0])
        rig.pose.bones["hand.L"].ik_triangulation.target.location = 0.25, -0.35, height
        bpy.context.view_layer.update()
        report = solve_body_pose(body_of(rig, "hand.L"))
        bones = rig.pose.bones
        lowest = min(b.tail.z for b in bones if not b.name.startswith(("foot", "toe", "heel", "shin")))
        result = "below the floor" if report.tips["hand.L"].missed else "reached"
        hand, hips = bones["hand.L"].tail.z, bones["spine"].head.z
        print(f"| {height} | {hand:.2f} | {hips:.2f} | {lowest:.2f} | {result} |")


def _rig(last):
    """The rig of a whole body in an empty file, its hands' targets where the hands are and not animated."""
    import addon_utils
    import bpy

    from tests.bodies import HANDS, set_up_rig

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    rig = set_up_rig(last)
    for name in HANDS:
        target = rig.pose.bones[name].ik_triangulation.target
        target.animation_data_clear()
        target.location = rig.pose.bones[name].tail
    bpy.context.view_layer.update()
    return rig
