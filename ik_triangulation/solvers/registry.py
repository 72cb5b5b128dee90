# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of solvers: a new one is a file with its `step` and an entry here."""

from . import ccd, fabrik, gauss_newton, gradient, jacobian_transpose, rosenbrock, simplex, triangulation, two_bone
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
    "CCD": Solver(
        3,
        "Cyclic Coordinate Descent",
        "Turn joint by joint from the tip, each to point the tip at the target",
        "Inverse Kinematics: quaternion CCD",
        ccd.step,
    ),
    "GRADIENT": Solver(
        5,
        "Gradient",
        "Turn every joint a little, each as much as it helps",
        "Gradient methods, Method 1, gradient by calculation",
        gradient.step,
    ),
    "GRADIENT_MEASURED": Solver(
        6,
        "Gradient, Measured",
        "The same with the help of each joint found by trial turns; slower, there to be compared",
        "Gradient methods, Method 1, gradient by measurement",
        gradient.step_measured,
    ),
    "GRADIENT_ACCELERATED": Solver(
        7,
        "Gradient, Accelerated",
        "Turn every joint with a speed that grows until it has gone too far",
        "Gradient methods, Method 2, corrected",
        gradient.Accelerated,
    ),
    "GAUSS_NEWTON": Solver(
        8,
        "Gauss-Newton",
        "Turn all joints together, within their limits; the smoothest where the target moves",
        "Gradient methods, with the step of Levenberg and Marquardt",
        gauss_newton.step,
    ),
    "JACOBIAN_TRANSPOSE": Solver(
        9,
        "Jacobian Transpose",
        "Turn all joints as much as each helps, by the step that brings the tip nearest",
        "Wolovich and Elliott 1984; Buss 2004",
        jacobian_transpose.step,
    ),
    "FABRIK": Solver(
        10,
        "FABRIK",
        "Pull the joints along straight lines, from the target to the root and back",
        "Aristidou and Lasenby 2011",
        fabrik.step,
    ),
    "TWO_BONE": Solver(
        11,
        "Two-Bone",
        "Bend one elbow or knee exactly; for chains in which two joints move",
        "Law of cosines",
        two_bone.step,
    ),
    "SIMPLEX": Solver(
        12,
        "Downhill Simplex",
        "A general minimiser that walks with many poses at once; slow, there to be compared",
        "Nelder and Mead 1965",
        simplex.Simplex,
    ),
    "ROSENBROCK": Solver(
        13,
        "Rosenbrock",
        "A general minimiser that tries steps along turning directions; slow, there to be compared",
        "Rosenbrock 1960",
        rosenbrock.Rosenbrock,
    ),
}
