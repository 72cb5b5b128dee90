# SPDX-License-Identifier: GPL-3.0-or-later
"""A redraw of the viewport overlay, drawn off-screen: hinges, Euler limits and cones in turn, and a sphere to reach."""

import sys
from itertools import cycle
from statistics import median
from time import perf_counter

SIZE = 1280, 720  # pixels


def make_limb(count):
    """A chain of limited bones that is the active limb, and its target."""
    import bpy

    from benchmarks.bake import REACH, make_chain

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ob = make_chain(count, bend=60.0 / count)
    for bone, kind in zip(ob.pose.bones, cycle(("HINGE", "EULER", "CONE")), strict=False):
        bone.ik_triangulation_joint.source, bone.ik_triangulation_joint.kind = "OWN", kind
    target = bpy.data.objects.new("Target", None)
    target.empty_display_type, target.location = "SPHERE", (0.0, 0.5 * REACH, 0.5 * REACH)
    bpy.context.scene.collection.objects.link(target)
    tip = ob.pose.bones[-1]
    tip.ik_triangulation.target, tip.ik_triangulation.chain_count = target, count
    ob.data.bones.active = tip.bone
    bpy.context.scene.ik_triangulation_overlay.show = True
    bpy.context.view_layer.update()


def times_of(work, rounds):
    """Return the times taken [ms]."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        work()
        times.append((perf_counter() - started) * 1e3)
    return times


def run(arguments):
    """Each number of bones: the whole redraw, and what of it is working out what to draw."""
    import addon_utils
    import bpy
    import gpu

    from ik_triangulation.ui.overlay import limb as around
    from ik_triangulation.ui.overlay.draw import draw, draw_texts, layers, shells, texts

    if not hasattr(gpu, "init"):
        sys.exit(f"Blender {bpy.app.version_string} draws nothing without a window. Use Python 3.13 (Blender 5.2).")
    gpu.init()
    addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    screen = gpu.types.GPUOffScreen(*SIZE)
    print(f"Blender {bpy.app.version_string}, medians and shortest of {arguments.rounds} redraws")
    print(f"{'bones':>5} {'redraw, ms':>11} {'shortest':>8} {'not drawing':>12} {'shortest':>8} {'vertices':>9}")
    for count in arguments.bones:
        make_limb(count)
        area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
        region = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(area=area, region=region), screen.bind(), gpu.matrix.push_pop():
            gpu.matrix.load_matrix(bpy.context.region_data.view_matrix)
            gpu.matrix.load_projection_matrix(bpy.context.region_data.window_matrix)
            draw()  # the first one makes the shaders, and wants a shell
            while not around._wanted[0].work():
                pass
            whole = times_of(lambda: (draw(), draw_texts()), arguments.rounds)
            planned = times_of(lambda: [list(part(bpy.context)) for part in (shells, layers, texts)], arguments.rounds)
            vertices = sum(len(places) for layer in layers(bpy.context) for places, _ in layer[1:])
            vertices += sum(len(mesh[0]) for shell in shells(bpy.context) for mesh, _ in shell.meshes)
        columns = (f"{median(times):{width}.2f} {min(times):8.2f}" for times, width in ((whole, 11), (planned, 12)))
        print(f"{count:5}", *columns, f"{vertices:9}", flush=True)
    screen.free()
    addon_utils.disable("ik_triangulation", default_set=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--bones", type=int, nargs="+", default=[5, 30])
