# SPDX-License-Identifier: GPL-3.0-or-later
"""Mueller-Cajar and Mukundan 2007: Figure 2 against Figure 7, and what makes CCD's iterations rise (Figure 6)."""

from math import degrees
from typing import NamedTuple

import numpy as np
from mathutils import Quaternion

from ik_triangulation.kinematics.rotation import rotation_angle

from .page import Claim, table

BIN, FEWEST = 4.0, 20  # width of a class of distances, and the targets that a class must have
FAR = 45.0  # distance from the hand beyond which the iterations rise by the same ratio
MANY = 2000  # targets
REACH = 40.0
CLOSE = 12.0  # distance from the base of a close target
BENT = 5.0  # a joint at more than this angle is bent [degrees]
SHOWN = (0.0, 6.0, 8.0)  # the close target of the picture


class Rise(NamedTuple):
    """Mean iterations of CCD by distance from the hand: classes (distance, mean), R2 of an exponential and of a line
    over all of them, that of an exponential from FAR on, with the distance in which it doubles there, and the rank
    correlation of the iterations with the distance from the hand, from the base and with the target's angle.
    """

    classes: list
    exponential: float
    line: float
    far: float
    doubles: float
    ranks: tuple


def rise(found):
    """How the iterations rise, over the targets that CCD reaches with the five links."""
    tried = found.tried["five", "CCD"]
    reached = found.inside & tried.reached
    hand, base, count = (each[reached] for each in (found.from_hand, found.distance, tried.iterations))
    place = np.digitize(hand, np.arange(0.0, 80.0, BIN))
    groups = [place == each for each in np.unique(place) if (place == each).sum() >= FEWEST]
    x, y, weight = np.array([(hand[each].mean(), count[each].mean(), each.sum()) for each in groups]).T
    line = _explained(y, np.polyval(np.polyfit(x, y, 1, w=np.sqrt(weight)), x), weight)
    whole, _ = exponential(x, y, weight)
    far = x > FAR
    straight, rate = exponential(x[far], y[far], weight[far])
    # The law of cosines for the angle at the base between the chain at rest and the target.
    cosine = (base**2 + REACH**2 - hand**2) / (2.0 * base * REACH)
    ranks = tuple(rank_correlation(each, count) for each in (hand, base, -cosine))
    return Rise([*zip(x, y, strict=True)], whole, line, straight, np.log(2.0) / rate, ranks)


def exponential(x, y, weight):
    """R2 of an exponential through the classes, fitted to the logarithms, and its rate."""
    rate, begin = np.polyfit(x, np.log(y), 1, w=np.sqrt(weight))
    return _explained(y, np.exp(begin + rate * x), weight), rate


def _explained(y, fitted, weight):
    return 1.0 - (weight * (fitted - y) ** 2).sum() / (weight * (y - np.average(y, weights=weight)) ** 2).sum()


def rank_correlation(x, y):
    """Spearman's, with the mean rank for equal values."""
    ranks = [
        np.searchsorted(np.sort(each), each) + np.searchsorted(np.sort(each), each, side="right") for each in (x, y)
    ]
    return np.corrcoef(*ranks)[0, 1]


class Close(NamedTuple):
    """Over the targets close to the base: bent joints in the mean and the mean cost C [degrees], by method; and
    the share of targets for which triangulation costs less.
    """

    bent: dict
    cost: dict
    cheaper: float


def close(found):
    """Compare both methods where the paper's Figures 2 and 7 do."""
    methods = "CCD", "TRIANGULATION_2007"
    by_method = [found.tried["five", method] for method in methods]
    both = (found.distance <= CLOSE) & by_method[0].reached & by_method[1].reached
    bent = {method: tried.bent[both].mean() for method, tried in zip(methods, by_method, strict=True)}
    cost = {method: tried.cost[both].mean() for method, tried in zip(methods, by_method, strict=True)}
    return Close(bent, cost, (by_method[1].cost < by_method[0].cost)[both].mean())


def joint_angles(pose):
    """The angles that the joints end up with [degrees]."""
    return [degrees(rotation_angle(Quaternion(), rotation)) for rotation in pose.rotations]


def claims(found):
    """Return the claims about the figures."""
    near, far = close(found), rise(found)
    found_by_many = [  # the means of few targets scatter by more
        Claim(
            f"2007: iterations of CCD rise exponentially (R2 at least 0.9) beyond {FAR:g} from the hand", far.far >= 0.9
        )
    ]
    return [
        Claim(
            "2007: close to the base triangulation costs less than CCD for 95 % of targets or more, with fewer bends",
            near.cheaper >= 0.95 and near.bent["TRIANGULATION_2007"] < near.bent["CCD"],
        ),
        *(found_by_many if len(found.distance) >= MANY else ()),
    ]


def section(found, poses):
    """A part of the paper's section; `poses` are those of the picture, by name."""
    near, far = close(found), rise(found)
    rows = [(name, *(f"{angle:.0f}" for angle in joint_angles(pose))) for name, pose in poses.items()]
    angles = table(("Joint angles, degrees", *map(str, range(1, 6))), rows)
    hand, base, angle = far.ranks
    ccd, ours = "CCD", "TRIANGULATION_2007"
    return f"""### Figure 2 against Figure 7

{angles}

![The same close target, by CCD and by triangulation](papers/2007-close.png)

*A close target, {SHOWN[1]:g} to the side and {SHOWN[2]:g} up: CCD after its first and its last iteration, and
triangulation.*

"Triangulation achieved more natural poses": over all targets within {CLOSE:g} of the base CCD leaves
{near.bent[ccd]:.1f} of five joints bent by more than {BENT:g} degrees, triangulation {near.bent[ours]:.1f}; the costs
are {near.cost[ccd]:.0f} and {near.cost[ours]:.0f} degrees, and triangulation's is the smaller for
{100.0 * near.cheaper:.1f} % of them.

### "The number of iterations increases exponentially with the original distance"

Only partly. From {FAR:g} on, yes: the mean doubles every {far.doubles:.0f} (R2 {far.far:.2f}). Over the whole
range an exponential explains
{far.exponential:.2f} of the means' variance and a line {far.line:.2f}: there is a hump about 30 from the hand, the
nearest
that targets at the edge of the reach are in the cube. What the iterations follow better is how nearly the chain
must be stretched: rank
correlation {base:.2f} with the distance from the base, {hand:.2f} with that from the hand, {angle:.2f} with the
target's angle to the
chain, which the paper calls significant as well.
"""


def draw(poses, folder):
    """Figures 2 and 7: the close target, from the side."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(poses), figsize=(10, 3.6), layout="constrained", sharex=True, sharey=True)
    for axis, (name, pose) in zip(axes, poses.items(), strict=True):
        joints = [*(pose.head(i) for i in range(len(pose))), pose.tip]
        axis.plot([p.y for p in joints], [p.z for p in joints], "o-", color="0.35", linewidth=2, markersize=4)
        axis.plot(SHOWN[1], SHOWN[2], "*", color="#d9541e", markersize=12)
        axis.set_title(f"{name}: {sum(joint_angles(pose)):.0f} degrees", fontsize=10)
        axis.set_aspect("equal")
    figure.savefig(folder / "2007-close.png", dpi=80)
    pyplot.close(figure)
