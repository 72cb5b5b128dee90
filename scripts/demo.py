# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job from nothing: Rigify's human reaches for a moving cup, and the reach is baked to rotation keys.

python scripts/demo.py [FOLDER]

Writes demo.blend (open it in Blender and press play) and demo.png (some of its frames) to FOLDER, by default demo/.
"""

import sys
from math import cos, sin, tau
from pathlib import Path

from environment import ROOT, enter

FRAMES = 120
ARM = "upper_arm.L", "forearm.L", "hand.L"
SHOWN = 8  # frames on the picture sheet


def make_scene():
    """Rigify's human metarig and a keyed cup that circles before its left shoulder; returns both."""
    import addon_utils
    import bpy
    from mathutils import Vector

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    cup = bpy.data.objects.new("Cup", None)
    cup.empty_display_type, cup.empty_display_size = "PLAIN_AXES", 0.05
    bpy.context.scene.collection.objects.link(cup)
    shoulder = rig.matrix_world @ rig.data.bones[ARM[0]].head_local
    reach = sum(rig.data.bones[name].length for name in ARM)
    for frame in range(1, FRAMES + 11, 10):
        turn = tau * frame / FRAMES
        # A tilted figure of eight, from half the reach of the arm to nearly all of it.
        way = Vector((0.25 + 0.35 * sin(turn), -0.62 - 0.12 * cos(turn), -0.15 + 0.35 * sin(2.0 * turn)))
        cup.location = shoulder + way * reach
        cup.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.unit_settings.system = "METRIC"
    return rig, cup


def bake_arm(rig, cup):
    """Bake the arm with progress on one line; returns the report."""
    from ik_triangulation.api import Limb, bake

    tip = rig.pose.bones[ARM[-1]]
    tip.ik_triangulation.target, tip.ik_triangulation.chain_count = cup, len(ARM)  # as in the panel
    limb = Limb.of(tip)

    def progress(done, of):
        if done % (of // 10) == 0:
            print(f"  [{'#' * (30 * done // of):<30}] {done} of {of} frames", flush=True)

    return bake(limb, 1, FRAMES, progress=progress)


def measure(file):
    """Open the file as anyone would and step through it: per frame all bones (head, tail, name) and the cup."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    scene, rig, cup = bpy.context.scene, bpy.data.objects["metarig"], bpy.data.objects["Cup"]
    frames = {}
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        posed, target = rig.evaluated_get(depsgraph), cup.evaluated_get(depsgraph)
        world = posed.matrix_world
        bones = [(world @ bone.head, world @ bone.tail, bone.name) for bone in posed.pose.bones]
        frames[frame] = bones, target.matrix_world.to_translation()
    return frames


def draw(frames, file):
    """A sheet of some frames: the whole rig, the arm that reaches, the cup and its way, seen from ahead and aside."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    def flat(point):
        x, y, z = point
        return 0.87 * x - 0.5 * y, z - 0.12 * (0.5 * x + 0.87 * y)

    columns = SHOWN // 2
    figure, axes = pyplot.subplots(2, columns, figsize=(3.2 * columns, 8.4), layout="constrained")
    way = [flat(cup) for _, cup in frames.values()]
    chosen = [1 + round(i * (FRAMES - 1) / (SHOWN - 1)) for i in range(SHOWN)]
    for axis, frame in zip(axes.flat, chosen, strict=True):
        bones, cup = frames[frame]
        axis.plot(*zip(*way, strict=True), color="0.85", linewidth=1, zorder=0)
        for head, tail, name in bones:
            ends = zip(flat(head), flat(tail), strict=True)
            ours = name in ARM
            axis.plot(*ends, color="#d9541e" if ours else "0.45", linewidth=4 if ours else 1.6, solid_capstyle="round")
        axis.plot(*flat(cup), "o", markersize=11, markerfacecolor="none", markeredgecolor="#1f6fb4", markeredgewidth=2)
        axis.set_title(f"Frame {frame}", fontsize=11)
        axis.set_aspect("equal")
        axis.set_axis_off()
    figure.savefig(file, dpi=100)
    pyplot.close(figure)


def main():
    enter("demo")
    import bpy  # noqa: F401  # first: mathutils and the add-ons are not found before it

    import ik_triangulation

    ik_triangulation.register()  # the settings on the bones
    try:
        reached = demonstrate()
    finally:
        ik_triangulation.unregister()  # Blender 4.5 crashes when it ends with a command line still registered
    sys.exit(0 if reached else 1)


def demonstrate():
    """Make both files; whether the arm reaches everywhere in them."""
    import bpy

    from ik_triangulation.jobs.report_text import summary
    from ik_triangulation.rig.units import distance_text

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    blend, picture = (folder / "demo.blend").resolve(), (folder / "demo.png").resolve()

    print(f"Making Rigify's human and a cup that moves for {FRAMES} frames", flush=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, cup = make_scene()
    print(f"Baking {', '.join(ARM)}", flush=True)
    report = bake_arm(rig, cup)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True)
    print("Opening the file again and measuring the evaluated rig", flush=True)
    frames = measure(blend)
    tips = {frame: next(tail for _, tail, name in bones if name == ARM[-1]) for frame, (bones, _) in frames.items()}
    distances = sorted((tips[frame] - cup).length for frame, (_, cup) in frames.items())
    draw(frames, picture)

    scene = bpy.context.scene
    within = sum(distance <= report.tolerance for distance in distances)
    print(f"\n{summary(report, scene)}")
    print(f"In the saved file: {within} of {FRAMES} frames within {distance_text(report.tolerance, scene)},")
    largest, middle = (distance_text(distance, scene) for distance in (distances[-1], distances[FRAMES // 2]))
    print(f"  largest distance {largest}, median {middle}")
    print(f"Baked {report.keys} keys in {report.seconds * 1000:.0f} ms")
    for warning in report.warnings:
        print(f"Warning: {warning}")
    print(f"Wrote {blend}\nWrote {picture}")
    return report.all_reached and within == FRAMES


if __name__ == "__main__":
    main()
