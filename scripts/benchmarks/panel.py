# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of all panels, all open, on a rig of many bones beside many objects: the Python part of a redraw.

It has no peer. A redraw comes after an edit, after which each answer is searched once, or without one, as when the
pointer moves over the sidebar. Blender's own layout is replaced by one that takes everything and checks nothing.
"""

from statistics import median
from time import process_time
from types import SimpleNamespace


def run(arguments):
    """Median times of drawing each panel, and of all together, without and after an edit."""
    import bpy

    import ik_triangulation
    from tests.layouts import Recorder, drawn
    from tests.ui.panels.states import PANELS

    Recorder._add, Recorder._refer = lambda *_, **__: SimpleNamespace(), lambda *_: None
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ik_triangulation.register()
    rig = crowded_rig(arguments.bones, arguments.limbs, arguments.objects)
    print(f"Blender {bpy.app.version_string}, {arguments.bones} bones, {arguments.objects} objects, medians [ms]")
    print(f"{'':<40} {'unchanged':>10} {'after an edit':>14}")
    times = {panel: ([], []) for panel in PANELS}
    for round_ in range(2 * arguments.rounds):
        if round_ % 2:
            rig.location.x += 0.1
            bpy.context.view_layer.update()
        for panel in PANELS:
            started = process_time()
            drawn(panel)
            times[panel][round_ % 2].append(1e3 * (process_time() - started))
    for panel, both in times.items():
        print(f"{panel.__name__:<40} {median(both[0]):10.3f} {median(both[1]):14.3f}")
    whole = [[sum(each) for each in zip(*(both[k] for both in times.values()), strict=True)] for k in (0, 1)]
    print(f"{'all':<40} {median(whole[0]):10.3f} {median(whole[1]):14.3f}")
    ik_triangulation.unregister()


def crowded_rig(bones, limbs, objects):
    """A rig of branches of seven bones, so many limbs of three bones, each with a target, and other objects."""
    import bpy

    from tests.rigs import armature, configure, empty, place

    specs = [{"name": "Root", "head": (0.0, 0.0, 0.0), "tail": (0.0, 0.0, 0.5)}]
    for i in range(bones - 1):
        branch, along = divmod(i, 7)
        head = (branch, 0.1 * (along % 2), along)
        above = specs[-1]["name"] if along else "Root"
        specs.append({"name": f"B{branch}.{along}", "head": head, "tail": (branch, 0.1 * (1 - along % 2), along + 1)})
        specs[-1]["parent"] = above
    rig = armature("Rig", specs)
    for number in range(objects):
        place(bpy.data.objects.new(f"Object {number}", None)).parent = rig if number % 2 else None
    for branch in reversed(range(limbs)):
        target = empty(f"Target {branch}")
        target.location = branch, 1.0, 3.0
        configure(rig, f"B{branch}.2", target=target, chain_count=3)
    bpy.ops.pose.ik_triangulation_solve()
    return rig


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--bones", type=int, default=700)
    parser.add_argument("--limbs", type=int, default=4)
    parser.add_argument("--objects", type=int, default=5000)
