# SPDX-License-Identifier: GPL-3.0-or-later
"""The vectorised planar engine beside the scalar solver, on the same map; with --limits, maps of limited chains."""

from time import perf_counter

TOLERANCE = 0.01  # of the reach, as in the paper


def run(arguments):
    """A map of each method by both; also how many pixels took as many iterations, and the largest difference."""
    if arguments.limits:
        limited(arguments)
        return
    import bpy
    from mathutils import Vector
    from reproduce.planar import planar_chain
    from reproduce.planar_map import map_planar
    from reproduce.planar_steps import STEPS

    from ik_triangulation.maps.metric_map import map_pose
    from ik_triangulation.solvers import SolverSettings

    size, most = arguments.size, arguments.iterations
    print(f"Blender {bpy.app.version_string}, {size}x{size} pixels, n={arguments.links}, i={most}, epsilon {TOLERANCE}")
    print(f"{'method':<26} {'coverage':>9} {'vectorised':>11} {'scalar':>9} {'ratio':>6} {'equal':>9} {'apart':>6}")
    lengths = (1.0,) * arguments.links
    start = planar_chain(lengths).rest_pose()
    plane = Vector(), Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
    for solver in arguments.solvers or STEPS:
        started = perf_counter()
        fast = map_planar(lengths, solver, size, TOLERANCE, most)
        halfway = perf_counter()
        settings = SolverSettings(solver=solver, iterations=most, finish=False)
        slow = map_pose(start, *plane, settings, size=size, tolerance=TOLERANCE)
        vectorised, scalar = halfway - started, perf_counter() - halfway
        apart = abs(fast.metrics.iterations - slow.metrics.iterations)[fast.inside]
        print(
            f"{solver:<26} {fast.coverage:8.2f}% {vectorised:9.3f} s {scalar:7.2f} s {scalar / vectorised:6.1f}"
            f" {(apart == 0).mean():9.3%} {apart.max():6}",
            flush=True,
        )


def limited(arguments):
    """Maps of limited chains with Finish: seconds, the longest time until Esc is heard, coverage, pixels lost.

    Lost are those that solve() reaches alone, in a map of `peers` x `peers` pixels; the ratio of the times is that of
    both ways in that map.
    """
    import addon_utils
    import bpy

    from benchmarks.reach import chains
    from ik_triangulation.maps.metric_map import map_plane, map_pose
    from ik_triangulation.rig.armature import Bones, base_of, channels_of
    from ik_triangulation.solvers import SolverSettings

    addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    size, peers = arguments.size, arguments.peers
    print(f"Blender {bpy.app.version_string}, {size}x{size} pixels with Finish; alone {peers}x{peers}")
    print(
        f"{'chain':<20} {'method':<26} {'together':>9} {'longest':>8} {'coverage':>9} {'alone':>9} {'ratio':>6}"
        f" {'lost':>5}"
    )
    for name, ob, bones in chains():
        if arguments.chains and name not in arguments.chains:
            continue
        bpy.context.view_layer.update()
        start = Bones(ob, bones, bones).pose(base_of(ob, bones[0]), channels_of(ob, bones))
        plane = map_plane(start)
        for solver in arguments.solvers or ("TRIANGULATION", "CCD", "GAUSS_NEWTON"):
            settings = SolverSettings(solver=solver, iterations=arguments.iterations)
            seconds, longest, made = timed(map_pose.steps(start, *plane, settings, size=size, tolerance=TOLERANCE))
            line = f"{name:<20} {solver:<26} {seconds:7.2f} s {longest * 1e3:5.0f} ms {made.coverage:8.2f}%"
            if peers:
                few, _, small = timed(map_pose.steps(start, *plane, settings, size=peers, tolerance=TOLERANCE))
                alone, reached = one_by_one(start, plane, settings, peers)
                lost = (reached & ~small.metrics.reached[small.inside]).sum()
                line += f" {alone:7.2f} s {alone / few:6.1f} {lost:5}"
            print(line, flush=True)


def timed(job):
    """Seconds of a job, the longest between two moments at which it can be stopped, and its result."""
    began = before = perf_counter()
    longest = 0.0
    while True:
        try:
            next(job)
        except StopIteration as end:
            return perf_counter() - began, longest, end.value
        longest, before = max(longest, perf_counter() - before), perf_counter()


def one_by_one(start, plane, settings, size):
    """Seconds of solve() for each pixel of a map, and which of them it reaches."""
    import numpy as np

    from ik_triangulation.goals import Goal, Point
    from ik_triangulation.maps.metric_map import pixels
    from ik_triangulation.solvers import solve_goal

    (origin, along, across), (places, inside) = plane, pixels(size)
    reach = start.chain.reach
    began = perf_counter()
    reached = [
        solve_goal(
            start,
            Goal(Point(origin + (along * place.real + across * place.imag) * reach), tolerance=TOLERANCE * reach),
            settings,
        ).reached
        for place in places[inside]
    ]
    return perf_counter() - began, np.array(reached)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--links", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--solvers", nargs="+")
    parser.add_argument("--limits", action="store_true", help="map the limited chains of the benchmark reach")
    parser.add_argument("--peers", type=int, default=60, help="size of their maps made one by one; 0: none")
    parser.add_argument("--chains", nargs="+", help="names of these chains; default: all")
