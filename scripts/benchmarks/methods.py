# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes by published methods beside these methods alone: how many frames are theirs, jumps, largest turns, and time.

The method alone is the bake without Remove Jumps, where every frame is what it makes of the frame before. A frame is
its own where every joint is within a degree of that. A stretch jumps that is within a few frames of a jump.
"""

from math import degrees
from time import process_time

from . import paths
from .scenes import extension

METHODS = (
    "CIRCULAR",
    "TRIANGULATION",
    "TRIANGULATION_2007",
    "TRIANGULATION_RIGHT_ANGLE",
    "TRIANGULATION_CHEAPEST",
    "SINGLE_PASS",
    "CCD",
    "CCD_STAGES",
    "FABRIK",
    "GRADIENT",
    "GAUSS_NEWTON",
    "JACOBIAN_TRANSPOSE",
)
PATHS = ("benchmark", "behind", "loop")
WITHIN = 1.0  # [degrees] of a joint: the pose is that of the method
AROUND = 64  # frames on either side of a jump that may be solved anew


def turns(path):
    """Largest rotation of a joint to each frame from the one before [degrees]."""
    from ik_triangulation.motion.jumps import turns_along

    return [degrees(angle) for angle in turns_along(path)]


def apart(path, other):
    """Largest rotation of a joint at each frame from one path to another [degrees]."""
    import numpy as np

    alike = np.minimum(1.0, np.abs(np.einsum("nif,nif->nf", path, other)).min(0))
    return np.degrees(2.0 * np.arccos(alike))


def baked(ob, bones, limb):
    """Rotations (n, 4, F) that Blender shows of a bake, its report, and its processor time a frame [ms]."""
    import bpy
    import numpy as np

    from ik_triangulation.jobs.bake import bake

    started = process_time()
    report = bake(limb, 1, paths.FRAMES)
    took = (process_time() - started) / paths.FRAMES * 1e3
    shown = []
    for frame in range(1, paths.FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        shown.append([ob.pose.bones[bone].rotation_quaternion[:] for bone in bones])
    jumps = [jump.turned.at for jump in report.jumps]
    ob.animation_data_clear()
    for bone in bones:
        ob.pose.bones[bone].rotation_quaternion = 1.0, 0.0, 0.0, 0.0
    bpy.context.scene.frame_set(1)
    return np.moveaxis(np.array(shown, float), 0, -1), report, jumps, took


@extension()
def run(arguments):
    """Each chain along each path by each method, with and without Remove Jumps, all else at its defaults."""
    import bpy
    import numpy as np

    from ik_triangulation.rig.limb import Limb

    print(f"Blender {bpy.app.version_string}, {paths.FRAMES} frames; alone: without Remove Jumps\n")
    print(
        "| Chain | Path | Method | Its own frames | where nothing jumps | Mended | Reached: alone | Baked | "
        "Jumps: alone | Baked | Largest turn: alone | Baked | CPU ms a frame: alone | Baked |"
    )
    print("|" + "---|" * 14, flush=True)
    every = np.arange(paths.FRAMES)
    for name, ob, bones in paths.chains(arguments.chains):
        for path in arguments.paths:
            target, length = paths.put_target(ob, bones, paths.PATHS[path])
            bpy.context.view_layer.update()
            for solver in arguments.solvers:
                asked = {"solver": solver, "tolerance": paths.TOLERANCE * length}
                limbs = [Limb.from_tip(ob, bones[-1], target, len(bones), smooth=s, **asked) for s in (False, True)]
                (alone, first, jumps, slow), (own, report, left, took) = (baked(ob, bones, limb) for limb in limbs)
                same = apart(alone, own) <= WITHIN
                calm = np.ones(paths.FRAMES, bool)
                for at in jumps:
                    calm &= abs(every - at) > AROUND
                share = f"{same[calm].mean():.1%}" if calm.any() else "-"
                cells = [name, path, solver, f"{same.sum()} of {len(same)}", share, report.mended]
                cells += [first.reached, report.reached, len(jumps), len(left)]
                cells += [f"{max(turns(alone)):.1f}°", f"{max(turns(own)):.1f}°", f"{slow:.2f}", f"{took:.2f}"]
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
            bpy.data.objects.remove(target)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--solvers", nargs="+", default=METHODS, metavar="SOLVER", help="default: twelve of them")
    parser.add_argument("--paths", nargs="+", choices=paths.PATHS, default=PATHS, metavar="PATH")
    parser.add_argument("--chains", nargs="+", metavar="CHAIN", default=["5 bones"], help="default: 5 bones")
