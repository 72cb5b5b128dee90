# SPDX-License-Identifier: GPL-3.0-or-later
"""Items of menus: key, number in files, label and description, and shared defaults, without the code behind them.

Blender loads the settings, operators and panels at each start, and these need no more of solvers and shapes than this.
"""

from math import radians
from typing import NamedTuple


class Item(NamedTuple):
    """An item of a menu. `number` is the one that saved files hold, and never changes."""

    number: int
    label: str
    description: str


OWN = "IK Triangulation"  # context of names that Blender's own translations have in another sense
EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
HELD = 1e-3  # of the limb's reach: slip of a held tip that counts as held
REDUCED = 0.005  # of the reach: deviation of the tip that key reduction allows by default
PROFILES = ("SMOOTH", "SPHERE", "ROOT", "INVERSE_SQUARE", "SHARP", "LINEAR", "CONSTANT")  # of the falloff of a pull

# Defaults of joint limits that are learned from an animation
OFF_AXIS = radians(5.0)  # [rad]
SHARE = 98.0  # [%]

WHOLE_SOLVERS = {"NATURAL"}  # those that solve a whole goal at once, with its soft goals

SOLVER_ROWS = {
    "NATURAL": Item(
        17, "Natural", "Stay near the animator's pose, reach exactly and bend as limbs do; solves all frames together"
    ),
    "CIRCULAR": Item(
        4,
        "Even Bend",
        "Bend all joints evenly, along the arc of a circle (circular alignment); for tails and tentacles",
    ),
    "TWO_BONE": Item(11, "Two-Bone", "Bend one elbow or knee, computed exactly; for limbs with two moving joints"),
    "TRIANGULATION": Item(
        0, "Triangulation", "Reach in one pass from the root, with the smallest rotation at each joint"
    ),
    "TRIANGULATION_2007": Item(
        1, "Triangulation 2007", "As published: bend the first joints and keep the rest of the chain straight"
    ),
    "TRIANGULATION_RIGHT_ANGLE": Item(
        14,
        "Triangulation, Right Angle",
        "Turn the first bones at right angles to the target, which spreads the bend over several joints",
    ),
    "TRIANGULATION_CHEAPEST": Item(
        15,
        "Triangulation, Cheapest Pair",
        "Rotate only the two joints that reach with the least rotation; the others keep their pose",
    ),
    "SINGLE_PASS": Item(
        2, "Single Pass", "Move around a target that is near, then reach with one wide bend; avoids sharp angles"
    ),
    "CCD": Item(
        3, "Cyclic Coordinate Descent", "Rotate joint by joint from the tip, each so that the tip points at the target"
    ),
    "CCD_STAGES": Item(
        16, "CCD in Stages", "As published: each bone rotates freely, then returns to its hinge and limits"
    ),
    "CIRCULAR_NEWTON": Item(
        18, "Even Bend, Newton", "As published: Newton's method finds the circle, one iteration a step"
    ),
    "GRADIENT": Item(5, "Gradient", "Rotate every joint a little, in proportion to its effect on the tip"),
    "GRADIENT_MEASURED": Item(
        6,
        "Gradient, Measured",
        "The same, with the effect of each joint found by trial rotations; slower, for comparison",
    ),
    "GRADIENT_ACCELERATED": Item(
        7, "Gradient, Accelerated", "Rotate every joint at a speed that grows until it overshoots"
    ),
    "GAUSS_NEWTON": Item(
        8, "Gauss-Newton", "Rotate all joints together, within their limits; smooth where the target moves"
    ),
    "JACOBIAN_TRANSPOSE": Item(
        9,
        "Jacobian Transpose",
        "Rotate all joints in proportion to their effect, by the step that brings the tip nearest",
    ),
    "FABRIK": Item(10, "FABRIK", "Pull the joints along straight lines, from the target to the root and back"),
    "SIMPLEX": Item(
        12, "Downhill Simplex", "A general minimizer that compares many poses at once; slow, for comparison"
    ),
    "ROSENBROCK": Item(
        13, "Rosenbrock", "A general minimizer that tries steps along adapted directions; slow, for comparison"
    ),
}

SHAPE_ROWS = {
    "POINT": Item(1, "Point", "The target's origin, or the head of the bone"),
    "PLANE": Item(2, "Plane", "The infinite plane perpendicular to the target's Z axis"),
    "LINE": Item(3, "Line", "The infinite line along the target's Z axis, or along the bone"),
    "RAY": Item(4, "Ray", "The same line, from the origin onwards only"),
    "SEGMENT": Item(5, "Segment", "The same line, as long as the empty or the bone"),
    "SPHERE": Item(6, "Sphere", "The surface of a sphere as large as the empty"),
    "CYLINDER": Item(7, "Cylinder", "An infinite cylinder along the target's Y axis, as wide as the empty"),
    "RING": Item(8, "Ring", "A circle around the target's Y axis, as large as the empty"),
    "BOX": Item(9, "Box", "A box as large as the empty; any point inside counts as reached"),
    "SOLID_SPHERE": Item(12, "Solid Sphere", "A sphere as large as the empty; any point inside counts as reached"),
    "SOLID_CYLINDER": Item(
        13,
        "Solid Cylinder",
        "An infinite cylinder along the target's Y axis, as wide as the empty; any point inside counts as reached",
    ),
}
