# SPDX-License-Identifier: GPL-3.0-or-later
"""The vectorised planar engine beside the scalar solver, on the same map."""

from time import perf_counter

TOLERANCE = 0.01  # of the reach, as in the paper


def run(arguments):
    """A map of each method by both; also how many pixels took as many iterations, and the largest difference."""
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


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--links", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--solvers", nargs="+")
