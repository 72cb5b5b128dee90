# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that were solved before in a session of tests: many bake the same few motions of the same limb or body."""

from copy import deepcopy
from io import BytesIO
from pickle import Pickler

from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.kinematics.batch import States


class _Writer(Pickler):
    """Writes all that a problem is made of, with every bit of its numbers."""

    def reducer_override(self, value):
        if isinstance(value, Vector | Quaternion):
            return tuple, (tuple(value),)
        if isinstance(value, Euler):
            return tuple, ((*value, value.order),)
        if isinstance(value, Matrix):
            return tuple, (tuple(map(tuple, value)),)
        if isinstance(value, States):  # without the geometry that was made of them, which they have or have not
            return tuple, ((value.angles, value.balls, value.held, value.root, value.place),)
        return NotImplemented


def _written(value):
    buffer = BytesIO()
    _Writer(buffer).dump(value)
    return buffer.getvalue()


def remembered(solve):
    """Return a work that does what `solve` does, but gives what that gave where it is called for the same again.

    It is as long, in parts, as the first time.
    """
    known = {}

    def work(*given, **more):
        key = _written((given, sorted(more.items())))
        if key not in known:
            job, parts = solve(*given, **more), []
            while True:
                try:
                    parts.append(next(job))
                except StopIteration as end:
                    known[key] = parts, deepcopy(end.value)
                    return end.value
                yield parts[-1]
        parts, found = known[key]
        yield from parts
        return deepcopy(found)

    return work
