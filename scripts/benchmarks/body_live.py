# SPDX-License-Identifier: GPL-3.0-or-later
"""A live body in Blender: moves of a hand's target, all that is done for each, beside Blender's own update of the same.

The scene is updated twice for a move, as in a window: once for the target, which has the body posed, and once for the
body. Blender's own part is the same two updates without Live, of a target that moves and an armature that is posed.
"""

from time import process_time

import numpy as np

MOVES = 120
WAYS = (
    ("within reach", (-0.3, -0.2, -0.4)),
    ("past its reach", (0.0, -0.4, -0.75)),
    ("far out of reach", (0.3, -2.0, 0.0)),
)


def moved(target, place, way, armature=None):
    """Times [ms] of the moves of a target along a way; of a pose that is written meanwhile with an `armature`."""
    import bpy
    from mathutils import Vector

    spent, update = [], bpy.context.view_layer.update
    for part in np.linspace(0.0, 1.0, MOVES):
        target.location = place + float(part) * Vector(way)
        if armature is not None:
            armature.location = armature.location
        begun = process_time()
        update()
        update()
        spent.append(1e3 * (process_time() - begun))
    return spent


def report():
    """Print the time of a move along each way, with Live and without."""
    import addon_utils
    import bpy

    from tests.bodies import FEET, HANDS, set_up_rig

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    from ik_triangulation.jobs.live import following as live

    print("\n| Live in Blender, a hand dragged | ms a move | 95 % within | Blender's own part | Feet slip [m] |")
    print("|---|---|---|---|---|")
    for name, way in WAYS:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = set_up_rig()
        for hand in HANDS:
            rig.pose.bones[hand].ik_triangulation.target.animation_data_clear()
        target = rig.pose.bones[HANDS[0]].ik_triangulation.target
        place = target.location.copy()
        own = moved(target, place, way, rig)
        target.location = place
        live.start(rig, HANDS[0])
        feet = [rig.pose.bones[foot].tail.copy() for foot in FEET]
        spent = moved(target, place, way)
        bpy.context.view_layer.update()
        slip = max((rig.pose.bones[foot].tail - before).length for foot, before in zip(FEET, feet, strict=True))
        live.stop_all()
        cells = (
            name,
            f"{np.median(spent):.2f}",
            f"{np.percentile(spent, 95):.2f}",
            f"{np.median(own):.2f}",
            f"{slip:.0e}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)
    addon_utils.disable("ik_triangulation", default_set=True)
