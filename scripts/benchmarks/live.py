# SPDX-License-Identifier: GPL-3.0-or-later
"""A target that is dragged, and one that is played, until the pose is shown: live limbs beside the IK constraint."""

from statistics import median
from time import process_time

from . import arm_scene, scenes
from .bake import REACH, make_chain, make_target, set_up

PLAYED = {
    "arm with limits": (arm_scene.arm(limits=True), 3),
    "arm": (arm_scene.arm(limits=False), 3),
    "5 bones": (scenes.free, 5),
    "5 bones with limits": (scenes.limited([scenes.ROUND]), 5),
}
SLOW = 10.0  # ms of a frame change
BETWEEN = 5  # times that Blender calls a timer between two frames at 24 fps, with 2 ms of work each


def dragged(target, places):
    """Times of an update for each new place of the target [ms of the processor], and distances of the tip per reach."""
    import bpy

    ob = bpy.context.view_layer.objects.active
    times, distances = [], []
    for place in places:
        target.location = place
        started = process_time()
        bpy.context.view_layer.update()
        times.append(1e3 * (process_time() - started))
        distances.append((ob.pose.bones[-1].tail - target.matrix_world.translation).length / REACH)
    return times, distances


def drag_constraint(ob, target, places):
    constraint = ob.pose.bones[-1].constraints.new("IK")
    constraint.target = target
    return dragged(target, places)


def drag_live(solver):
    def run(ob, target, places):
        from ik_triangulation import settings
        from ik_triangulation.jobs.live import following as live

        settings.register()
        limb = ob.pose.bones[-1].ik_triangulation
        limb.target, limb.chain_count, limb.solver, limb.tolerance = target, 0, solver, 1e-4 * REACH
        try:
            live.start(ob, ob.pose.bones[-1].name)
            return dragged(target, places)
        finally:
            live.stop_all()
            settings.unregister()

    return run


def played(frames, live=None):
    """Times of frame changes [ms of the processor]; what is solved ahead between them is not counted."""
    import bpy

    times = []
    for frame in range(1, frames + 1):
        started = process_time()
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        times.append(1e3 * (process_time() - started))
        for _ in range(BETWEEN if live else 0):
            live.solve_upcoming()
    return times


def run_played(arguments):
    """Frame changes of each scene with the constraint and with Live at the default settings, played once."""
    import bpy

    import ik_triangulation
    from ik_triangulation.jobs.live import following as live

    ik_triangulation.register()
    print(f"{'frame changes':<22} {'constraint ms':>13} {'Live ms':>8} {'95 %':>7} {f'> {SLOW:g} ms':>12}")
    for name, (make, bones) in PLAYED.items():
        scene = make(bones, arguments.places)
        constraint = scene.bones[-1].constraints.new("IK")
        constraint.target, constraint.chain_count = scene.target, bones
        peer = played(arguments.places)
        scene = make(bones, arguments.places)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, arguments.places
        tip = set_up(scene)
        bpy.context.scene.frame_set(1)
        live.start(scene.ob, tip.name)
        ours = played(arguments.places, live)
        live.stop_all()
        slow, above = sorted(ours)[int(0.95 * len(ours))], sum(each > SLOW for each in ours) / len(ours)
        print(f"{name:<22} {median(peer):13.3f} {median(ours):8.3f} {slow:7.3f} {above:12.1%}", flush=True)
    ik_triangulation.unregister()


def run(arguments):
    """The dragged and the played target."""
    run_dragged(arguments)
    run_played(arguments)


def run_dragged(arguments):
    """Each method in turn along the same way of the target, `rounds` times over; the ratio is of the medians."""
    import bpy

    methods = {"IK constraint": drag_constraint} | {f"Live, {key}": drag_live(key) for key in arguments.solvers}
    print(f"Blender {bpy.app.version_string}, {arguments.places} places of the target; distances / reach")
    print(f"{'bones':>5}  {'method':<24} {'median ms':>9} {'95 % ms':>8} {'ratio':>6}  {'median':>8} {'largest':>8}")
    for bones in arguments.bones:
        times = {name: [] for name in methods}
        results = {}
        for _ in range(arguments.rounds):
            for name, method in methods.items():
                bpy.ops.wm.read_factory_settings(use_empty=True)
                target, ob = make_target(arguments.places), make_chain(bones)
                for bone in ob.pose.bones[1:] if arguments.limits else ():
                    scenes.limit_bone(bone, scenes.ROUND)
                places = []
                for frame in range(1, arguments.places + 1):
                    bpy.context.scene.frame_set(frame)
                    places.append(target.location.copy())
                target.animation_data_clear()
                took, results[name] = method(ob, target, places)
                times[name] += took
        peer = median(times["IK constraint"])
        for name in methods:
            middle, distances = median(times[name]), results[name]
            slow = sorted(times[name])[int(0.95 * len(times[name]))]
            print(
                f"{bones:>5}  {name:<24} {middle:9.3f} {slow:8.3f} {peer / middle:6.2f}  "
                f"{median(distances):8.1e} {max(distances):8.1e}",
                flush=True,
            )


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--places", type=int, default=500)
    parser.add_argument("--solvers", nargs="+", default=["NATURAL", "TRIANGULATION"])
    parser.add_argument("--limits", action="store_true", help="of the dragged chain, but for its first bone")
    parser.add_argument("--bones", nargs="+", type=int, default=[5, 30])
