# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of all panels, all open, for a limb of many bones: the Python part of a redraw, which has no peer."""

from statistics import median
from time import perf_counter


def run(arguments):
    """Median time of drawing each panel, and of all together."""
    import bpy

    import ik_triangulation
    from tests.layouts import drawn
    from tests.rigs import chain_rig, configure, empty
    from tests.ui.panels.states import PANELS

    bpy.ops.wm.read_factory_settings(use_empty=True)
    ik_triangulation.register()
    rig, target = chain_rig(arguments.bones), empty()
    for bone in list(rig.pose.bones)[::10]:
        bone.ik_triangulation.target = target
    configure(rig, rig.pose.bones[-1].name, target=target, chain_count=0)
    bpy.ops.pose.ik_triangulation_solve()
    print(f"Blender {bpy.app.version_string}, {arguments.bones} bones, medians of {arguments.rounds}")
    whole = 0.0
    for panel in PANELS:
        times = []
        for _ in range(arguments.rounds):
            started = perf_counter()
            drawn(panel)
            times.append(1e3 * (perf_counter() - started))
        whole += median(times)
        print(f"{panel.__name__:<40} {median(times):6.2f} ms")
    print(f"{'all':<40} {whole:6.2f} ms")
    ik_triangulation.unregister()


def add_arguments(parser):
    """What the command line takes."""
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--bones", type=int, default=200)
