# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of chains that are hard to reach with: each makes a chain from a random generator, in Blender units."""

from math import radians

ORDERS = "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"


def _chain(freedoms, lengths, rests=None, stiffness=None, scales=None):
    from mathutils import Quaternion, Vector

    from ik_triangulation.api import Chain, Joint

    joints, head = [], Vector()
    for i, (freedom, length) in enumerate(zip(freedoms, lengths, strict=True)):
        rest = rests[i] if rests else Quaternion()
        scale = scales[i] if scales else None
        joints.append(Joint(f"joint {i}", head, rest, freedom, stiffness[i] if stiffness else 0.0, scale))
        head = Vector((0.0, length, 0.0))
    return Chain(tuple(joints), head)


def _euler(random, ranges, order=None):
    from ik_triangulation.api import EulerLimits

    lower, upper = zip(*ranges, strict=True)
    order = order or str(random.choice(ORDERS))
    return EulerLimits(order, tuple(map(radians, lower)), tuple(map(radians, upper)))


def _hinge(axis, lower, upper):
    from ik_triangulation.api import Hinge

    return Hinge("XYZ".index(axis) * (0.0,) + (1.0,) + (2 - "XYZ".index(axis)) * (0.0,), radians(lower), radians(upper))


def _anywhere(random):
    """A direction, or with four numbers a rotation, all alike."""
    return random.normal(size=3).tolist()


def _lengths(random, count):
    return random.uniform(0.5, 1.5, count).tolist()


def without_rest(random):
    """Ranges that leave out the rest pose."""
    low = random.uniform(10.0, 60.0, 5)
    sign = random.choice((-1.0, 1.0), 5)
    ends = [sorted((s * a, s * (a + 70.0))) for s, a in zip(sign, low, strict=True)]
    kinds = [_hinge("X", *ends[0]), _euler(random, (ends[1], (15.0, 40.0), (-50.0, -5.0)))]
    return _chain(
        [*kinds, *(_hinge(axis, *each) for axis, each in zip("XZX", ends[2:], strict=True))], _lengths(random, 5)
    )


def beyond_half_turn(random):
    """Ranges that go beyond half a turn or lie across it."""
    ranges = [(-300.0, 100.0), (150.0, 250.0), (-200.0, -20.0), (100.0, 300.0)]
    random.shuffle(ranges)
    hinges = [_hinge(axis, *each) for axis, each in zip("XZXZ", ranges, strict=True)]
    return _chain([*hinges, _euler(random, ((-190.0, 20.0), (-10.0, 10.0), (-60.0, 200.0)))], _lengths(random, 5))


def without_length(random):
    """Joints of several hinges in one place, as in rigs and robots: a link of no length between them."""
    axes = [*random.permutation(list("XYZ")), "X", *random.permutation(list("XZ"))]
    hinges = [_hinge(str(axis), -random.uniform(20, 90), random.uniform(20, 90)) for axis in axes]
    return _chain(hinges, [0.0, 0.0, 1.0, 0.8, 0.0, 0.4])


def parallel(random):
    """Hinges with one axis: the limb stays in a plane."""
    count = int(random.integers(2, 6))
    ends = [sorted(random.integers(-170, 170, 2).tolist()) for _ in range(count)]
    return _chain([_hinge("X", low, high + 5) for low, high in ends], _lengths(random, count))


def gimbal(random):
    """The middle Euler angle goes beyond both poles."""
    freedoms = []
    for _ in range(4):
        order = str(random.choice(ORDERS))
        ranges = [(-60.0, 60.0)] * 3
        ranges["XYZ".index(order[1])] = (-120.0, 120.0)
        freedoms.append(_euler(random, ranges, order))
    return _chain(freedoms, _lengths(random, 4))


def forty(random):
    """A tail of forty joints."""
    return _chain([_euler(random, ((-12.0, 12.0), (-4.0, 4.0), (-12.0, 12.0))) for _ in range(40)], [0.25] * 40)


def one_degree(random):
    """Ranges of a single degree, somewhere."""
    low = random.uniform(-60.0, 60.0, 6)
    return _chain([_hinge(axis, a, a + 1.0) for axis, a in zip("XZYXZX", low, strict=True)], _lengths(random, 6))


def oblique(random):
    """Hinges about any axis."""
    from ik_triangulation.api import Hinge

    hinges = [
        Hinge(_anywhere(random), -radians(random.uniform(10, 120)), radians(random.uniform(10, 120))) for _ in range(6)
    ]
    return _chain(hinges, _lengths(random, 6))


def cones(swing):
    """Return the family of cones of so many degrees."""

    def make(random):
        from ik_triangulation.api import Cone

        twist = radians(random.uniform(5.0, 60.0))
        return _chain([Cone(radians(swing), -twist, twist) for _ in range(4)], _lengths(random, 4))

    return make


def one_sided(random):
    """Ranges with the rest pose at one end, as knees and elbows have them."""
    ends = [(0.0, 150.0) if random.random() < 0.5 else (-150.0, 0.0) for _ in range(5)]
    return _chain([_hinge(axis, *each) for axis, each in zip("XZXXZ", ends, strict=True)], _lengths(random, 5))


def mixed_lengths(random):
    """Links between 0.01 and 1 long."""
    freedoms = [_euler(random, ((-70.0, 50.0), (-20.0, 20.0), (-40.0, 60.0))) for _ in range(5)]
    return _chain(freedoms, (10.0 ** random.uniform(-2.0, 0.0, 5)).tolist())


def stiff(random):
    """Joints that resist, some of them nearly rigid."""
    freedoms = [_euler(random, ((-80.0, 80.0), (-10.0, 10.0), (-80.0, 80.0))) for _ in range(5)]
    return _chain(freedoms, _lengths(random, 5), stiffness=random.choice((0.0, 0.5, 0.9, 0.99), 5).tolist())


def locked_between(random):
    """Joints that cannot move between those that can."""
    from ik_triangulation.api import Locked

    freedoms = [_euler(random, ((-90.0, 60.0), (-30.0, 30.0), (-60.0, 90.0))) for _ in range(6)]
    return _chain([Locked() if i in {1, 3} else each for i, each in enumerate(freedoms)], _lengths(random, 6))


def turned_rests(random):
    """Bones that rest at any angle to their parents, some of them turned back."""
    from mathutils import Quaternion

    rests = [Quaternion(random.normal(size=4).tolist()).normalized() for _ in range(5)]
    rests[2] = Quaternion((1.0, 0.0, 0.0), radians(180.0))
    freedoms = [_euler(random, ((-50.0, 70.0), (-15.0, 30.0), (-60.0, 20.0))) for _ in range(3)]
    return _chain([*freedoms, _hinge("X", -100.0, 0.0), _hinge("Z", -45.0, 60.0)], _lengths(random, 5), rests)


def scaled(random):
    """Bones with a scale of their own, alike along all axes, which those after them inherit."""
    from mathutils import Vector

    scales = [Vector((size, size, size)) for size in random.uniform(0.6, 1.6, 5)]
    freedoms = [_euler(random, ((-60.0, 60.0), (-20.0, 20.0), (-60.0, 60.0))) for _ in range(5)]
    return _chain(freedoms, _lengths(random, 5), scales=scales)


FAMILIES = {
    "ranges without rest": without_rest,
    "beyond half a turn": beyond_half_turn,
    "links without length": without_length,
    "parallel hinges": parallel,
    "gimbal": gimbal,
    "40 joints": forty,
    "ranges of a degree": one_degree,
    "oblique hinges": oblique,
    "cones of 10": cones(10.0),
    "cones of 170": cones(170.0),
    "one-sided ranges": one_sided,
    "lengths 1:100": mixed_lengths,
    "stiff joints": stiff,
    "locked in between": locked_between,
    "turned rests": turned_rests,
    "scaled bones": scaled,
}
