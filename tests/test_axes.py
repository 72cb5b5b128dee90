# SPDX-License-Identifier: GPL-3.0-or-later
"""No axis that is written down decides anatomy: directions of a character come from its stance."""

import ast

from .sources import FILES, inside, nodes_of, told

ROOMS = ("kinematics/", "goals/", "solvers/", "motion/", "rig/", "presets/", "jobs/")
BONE, WORLD, ANY = "a bone's own Y, which Blender has along it", "up in the world", "any direction, where none is told"
# What the axes are that a file may write down. The frame of a character is made in rig/stance.py and nowhere else.
WRITTEN = {
    "rig/stance.py": "the frame of a character is made here; " + BONE,
    "rig/anatomy/limbs.py": "up and ahead in the world, to which recognition refers",
    "rig/anatomy/shape.py": "the same as defaults",
    "rig/freedom.py": "the axes of channels, where Blender's limits are read",
    "presets/limb.py": "a bone's own axes, where neither rest nor preset tell others",
    "kinematics/cone.py": BONE,
    "solvers/natural/one_trade.py": BONE,
    "goals/orientation.py": BONE,
    "rig/targets/motion.py": BONE,
    "rig/targets/goal.py": BONE + "; gravity; axes of shapes",
    "rig/targets/surface.py": BONE + "; the Z axis of a target, along which it points; " + WORLD,
    "goals/target_shapes.py": "axes of shapes; " + ANY,
    "goals/shapes.py": ANY,
    "goals/obstacles.py": ANY,
    "rig/rotation.py": ANY,
    "kinematics/body.py": WORLD + ", by default",
    "jobs/shots/contacts.py": WORLD,
    "jobs/find_contacts.py": WORLD,
    "jobs/reach_motion.py": WORLD,
    "rig/frames/body_samples.py": WORLD,
    "rig/retargeting.py": WORLD + "; axes of the frames of parts, which are made there from joints and stance",
}
# Where an axis of bending is read from a joint's limits, as nothing better is known of a chain apart from any rig.
BENDING = {
    "kinematics/": "where it is defined",
    "solvers/": "chains without anatomy, and bodies or limbs whose anatomy does not tell",
}


def number_of(node):
    """The value of a number with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number_of(node.operand)
        return None if value is None else -value
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return float(node.value) if is_number and not isinstance(node.value, bool) else None


def is_axis(node):
    """Whether three numbers are an axis with its sign."""
    if not isinstance(node, ast.Tuple | ast.List) or len(node.elts) != 3:
        return False
    numbers = [number_of(each) for each in node.elts]
    return None not in numbers and sorted(map(abs, numbers)) == [0.0, 0.0, 1.0]


def test_axes_are_written_down_only_where_they_do_not_decide_anatomy():
    found = {inside(path) for path in FILES if any(map(is_axis, nodes_of(path)))}
    found = {name for name in map(str, found) if name.startswith(ROOMS)}
    # Shifts of a grid and the like are made in other rooms.
    assert not found - WRITTEN.keys(), (
        "These files write an axis down. Take directions of a character from rig/stance.py, those of a joint from its "
        f"limb; if it is no anatomy, say in this test what it is:{told(sorted(found - WRITTEN.keys()))}"
    )
    assert not WRITTEN.keys() - found, "These files write no axis down any more. Take them off the list."


def test_the_x_axis_of_a_bone_bends_only_chains_without_anatomy():
    users = {
        str(inside(path))
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr == "bend_axis"
    }
    assert not [name for name in users if not name.startswith(tuple(BENDING))]
