# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of solvers: a new one is a file with its `step` and an entry here."""

from . import ccd, cheapest_pair, circular, gauss_newton, single_pass, triangulation
from .solver import Solver

SOLVERS = {
    "TRIANGULATION": Solver(
        0,
        "Triangulation",
        "Reach in one pass from the root, each joint turning as little as it can",
        "Mueller-Cajar and Mukundan 2007, generalised",
        triangulation.step,
    ),
    "TRIANGULATION_2007": Solver(
        1,
        "Triangulation 2007",
        "The published method: bend the first joints and keep the rest of the chain straight",
        "Mueller-Cajar and Mukundan 2007",
        triangulation.step_2007,
    ),
    "TRIANGULATION_RIGHT_ANGLE": Solver(
        14,
        "Triangulation, Right Angle",
        "Turn the first links across the way to the target, which spreads the bend over several joints",
        "Mueller-Cajar and Mukundan 2007, section 7",
        triangulation.step_right_angle,
    ),
    "TRIANGULATION_CHEAPEST": Solver(
        15,
        "Triangulation, Cheapest Pair",
        "Turn only the two joints that get there with the least effort, keep the others as posed",
        "Mueller-Cajar and Mukundan 2007, with any two joints",
        cheapest_pair.step,
    ),
    "SINGLE_PASS": Solver(
        2,
        "Single Pass",
        "Go round a target that is near, then reach with one wide bend; avoids sharp angles",
        "Mukundan 2009",
        single_pass.step,
    ),
    "CIRCULAR": Solver(
        4,
        "Circular Alignment",
        "Bend all joints evenly, to the arc of a circle; for tails, tentacles and fingers",
        "Cardwell and Mukundan, metric maps",
        circular.step,
    ),
    "CCD": Solver(
        3,
        "Cyclic Coordinate Descent",
        "Turn joint by joint from the tip, each to point the tip at the target",
        "Inverse Kinematics: quaternion CCD",
        ccd.step,
    ),
    "GAUSS_NEWTON": Solver(
        8,
        "Gauss-Newton",
        "Turn all joints together, within their limits; the smoothest where the target moves",
        "Gradient methods, with the step of Levenberg and Marquardt",
        gauss_newton.step,
    ),
}
