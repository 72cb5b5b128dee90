# SPDX-License-Identifier: GPL-3.0-or-later
"""What limbs and other choices of bones score, on bodies that show each of the reasons: every weight counts here."""

from itertools import pairwise

import numpy as np
import pytest

from ik_triangulation.rig.anatomy.limb_guess import assign_limbs
from ik_triangulation.rig.anatomy.limb_scores import LimbScores
from ik_triangulation.rig.anatomy.names import clue_of
from ik_triangulation.rig.anatomy.skeleton import RestBone, Skeleton

from .bodies import animal_of, bird, crawler, dog, lizard, person, quadruped, renamed, spider

UP, FRONT = np.array((0.0, 0.0, 1.0)), np.array((0.0, -1.0, 0.0))


def ostrich():
    """A body whose legs hang on bones that go outwards, and have long thighs and a hock."""
    middle = [
        ("hips", None, (0.1, 0.9), (-0.1, 0.95)),
        ("neck", "hips", (-0.1, 0.95), (-0.25, 1.2)),
        ("head", "neck", (-0.25, 1.2), (-0.4, 1.2)),
    ]
    places = [(0.02, 0.0, 0.9), (0.15, 0.0, 0.88), (0.15, -0.06, 0.45), (0.15, 0.08, 0.2), (0.15, 0.04, 0.07)]
    left, above = [], "hips"
    for number, (head, tail) in enumerate(pairwise([*places, (0.15, -0.1, 0.0), (0.15, -0.16, 0.0)])):
        left.append((f"leg {number}", above, head, tail))
        above = f"leg {number}"
    return animal_of(middle, left)


def with_tips():
    """A person whose names only tell which bones show where hands and feet end."""
    bones, names = renamed({n: b for n, b in person().items() if not n.startswith(("index", "middle"))})
    for side in "LR":
        hand, toe = (names[f"{part} {side}"] for part in ("hand", "toe"))
        tail = bones[hand].tail
        bones[f"{hand}_tip"] = RestBone(hand, tail, tuple(1.1 * x for x in tail))
        bones[f"{toe}_end"] = bones.pop(toe)
    return bones


BODIES = {
    "with tips": with_tips,
    "ostrich": lambda: renamed(ostrich())[0],
    "person": person,
    "person without names": lambda: renamed(person())[0],
    "quadruped": quadruped,
    "quadruped without names": lambda: renamed(quadruped())[0],
    "dog": lambda: renamed(dog())[0],
    "lizard": lambda: renamed(lizard())[0],
    "bird": bird,
    "crawler": lambda: renamed(crawler())[0],
    "spider": spider,
}
# Kind, number of bones and of those of the girdle, whether there is a hand or foot, and the score.
LIMBS = {
    "with tips": [("ARM", 3, 1, True, 0.4538), ("LEG", 3, 0, True, 0.5459)],
    "ostrich": [("LEG", 4, 1, True, 1.0132)],
    "person": [("ARM", 3, 1, True, 4.25), ("LEG", 3, 0, True, 3.98)],
    "person without names": [("ARM", 3, 1, True, 0.95), ("LEG", 3, 0, True, 0.68)],
    "quadruped": [("LEG", 4, 1, True, 4.9613), ("LEG", 3, 1, True, 4.2497)],
    "quadruped without names": [("LEG", 4, 1, True, 1.0613), ("LEG", 3, 1, True, 0.9497)],
    "dog": [("LEG", 4, 0, True, 1.2075), ("LEG", 4, 1, True, 0.2632)],
    "lizard": [("LEG", 4, 1, True, -1.0487), ("LEG", 4, 1, True, -0.8446)],
    "bird": [("LEG", 4, 0, True, 4.6214), ("WING", 5, 0, True, 1.0)],
    "crawler": [
        ("LEG", 3, 1, True, -0.792),
        ("LEG", 3, 1, True, -0.792),
        ("LEG", 3, 1, True, -0.792),
        ("LEG", 3, 1, True, -0.792),
    ],
    "spider": [
        ("LEG", 3, 0, True, 2.2158),
        ("LEG", 3, 0, True, 2.2158),
        ("LEG", 3, 0, True, 2.2158),
        ("LEG", 3, 0, True, 2.2158),
    ],
}


@pytest.mark.parametrize("body", BODIES)
def test_limbs_have_the_scores_that_their_shape_and_names_give(body):
    found = assign_limbs(Skeleton(BODIES[body]()), UP, FRONT)
    limbs = [(g.kind, len(g.bones), len(g.girdle), g.has_end) for g in found.limbs]
    assert limbs == [each[:4] for each in LIMBS[body]]
    assert [guess.score for guess in found.limbs] == pytest.approx([each[4] for each in LIMBS[body]], abs=1e-4)
    assert found.up == pytest.approx(UP)
    assert found.front == pytest.approx(FRONT, abs=1e-6)


class Scored(LimbScores):
    """The candidates of a body whose last pair of lines, if any, is that of its hind legs."""

    def __init__(self, bones, crawls=False, knows_front=False):
        self.skeleton, self.crawls, self.up = Skeleton(bones), crawls, UP
        self.clues = [clue_of(name) for name in self.skeleton.names]
        self.normal, self.offset, _ = self.skeleton.symmetry
        self.size, self.ground = 1.0, float((self.skeleton.heads @ UP).min())
        self.front = FRONT if knows_front else np.zeros(3)
        self.hind = frozenset(self.skeleton.lines[-1].bones) if knows_front else frozenset()

    def ranked(self, line, kind):
        """Scores and places of the candidates of a line, best first."""
        return sorted(self._candidates(self.skeleton.lines[line], kind), reverse=True)


# By body, line and kind: the number of candidates, their mean score, and the three best with their places.
CRAWLING, WITH_FRONT = {"crawler", "spider"}, {"ostrich", "person without names", "quadruped", "dog", "lizard"}
CANDIDATES = {
    ("ostrich", 0, "ARM"): (35, -4.0606, [(-0.2387, (1, 2, 3)), (-0.5618, (1, 2, 4)), (-1.8878, (1, 2, 5))]),
    ("ostrich", 0, "LEG"): (50, -4.4055, [(1.0132, (1, 2, 3, 4)), (0.1738, (1, 2, 3)), (-0.1618, (1, 2, 4))]),
    ("person", 1, "ARM"): (10, -1.9662, [(2.5732, (1, 2, 3)), (0.5682, (1, 2, 4)), (-0.9173, (0, 2, 3))]),
    ("person", 1, "LEG"): (11, -2.1053, [(2.5732, (1, 2, 3)), (0.2182, (1, 2, 4)), (-0.7022, (0, 2, 3))]),
    ("person", 2, "ARM"): (10, -3.0148, [(1.665, (0, 1, 2)), (-0.8858, (0, 1, 3)), (-1.3807, (0, 1, 4))]),
    ("person", 2, "LEG"): (11, -3.4336, [(2.365, (0, 1, 2)), (-0.5858, (0, 1, 3)), (-0.8648, (0, 1, 2, 3))]),
    ("person without names", 1, "ARM"): (10, -1.3808, [(0.95, (1, 2, 3)), (-0.4176, (1, 2, 4)), (-0.7649, (0, 2, 3))]),
    ("person without names", 1, "LEG"): (
        11,
        -1.4705,
        [(0.95, (1, 2, 3)), (-0.3087, (0, 1, 2, 3)), (-0.5498, (0, 2, 3))],
    ),
    ("person without names", 2, "ARM"): (10, -2.8073, [(-0.02, (0, 1, 2)), (-1.3245, (1, 2, 3)), (-1.6855, (0, 1, 3))]),
    ("person without names", 2, "LEG"): (
        11,
        -3.2345,
        [(0.68, (0, 1, 2)), (-0.7498, (0, 1, 2, 3)), (-1.3855, (0, 1, 3))],
    ),
    ("quadruped", 1, "ARM"): (10, -2.3558, [(2.5497, (1, 2, 3)), (0.3027, (1, 2, 4)), (-1.728, (1, 3, 4))]),
    ("quadruped", 1, "LEG"): (11, -2.5392, [(2.7497, (1, 2, 3)), (-0.0473, (1, 2, 4)), (-1.2907, (0, 1, 2, 3))]),
    ("quadruped", 2, "ARM"): (20, -4.1121, [(1.0029, (1, 2, 3)), (0.9047, (1, 2, 4)), (-0.9912, (1, 2, 5))]),
    ("quadruped", 2, "LEG"): (25, -4.1274, [(3.4613, (1, 2, 3, 4)), (1.0562, (1, 2, 3)), (0.8114, (1, 2, 4))]),
    ("quadruped without names", 1, "ARM"): (
        10,
        -1.9885,
        [(0.2497, (1, 2, 3)), (-1.0308, (0, 1, 2)), (-1.3973, (1, 2, 4))],
    ),
    ("quadruped without names", 1, "LEG"): (
        11,
        -2.1864,
        [(0.4497, (1, 2, 3)), (0.4093, (0, 1, 2, 3)), (-1.4325, (0, 1, 3))],
    ),
    ("quadruped without names", 2, "ARM"): (
        20,
        -3.1887,
        [(-0.0971, (1, 2, 3)), (-0.356, (2, 3, 4)), (-1.2324, (2, 3, 5))],
    ),
    ("quadruped without names", 2, "LEG"): (
        25,
        -3.3478,
        [(0.5613, (1, 2, 3, 4)), (-0.0438, (1, 2, 3)), (-0.827, (0, 1, 2, 3))],
    ),
    ("dog", 0, "ARM"): (34, -3.7887, [(0.2134, (1, 2, 3)), (-0.1368, (1, 2, 4)), (-1.335, (1, 2, 5))]),
    ("dog", 0, "LEG"): (49, -4.2296, [(0.2632, (1, 2, 4)), (0.2134, (1, 2, 3)), (-0.3384, (1, 2, 3, 4))]),
    ("dog", 1, "ARM"): (19, -3.3925, [(0.0414, (0, 1, 2)), (-0.9343, (1, 2, 3)), (-1.2163, (0, 1, 3))]),
    ("dog", 1, "LEG"): (24, -3.5191, [(1.2075, (0, 1, 2, 3)), (0.1201, (0, 1, 2)), (-0.6064, (1, 2, 3))]),
    ("lizard", 0, "ARM"): (56, -4.5751, [(-0.7552, (2, 3, 5)), (-1.4848, (2, 3, 4)), (-1.683, (2, 3, 6))]),
    ("lizard", 0, "LEG"): (91, -5.5618, [(-0.8446, (1, 2, 3, 4)), (-0.9102, (1, 2, 3)), (-1.7062, (1, 2, 4))]),
    ("lizard", 1, "ARM"): (56, -5.8063, [(-0.5167, (2, 3, 4)), (-1.8716, (2, 3, 5)), (-2.303, (3, 4, 5))]),
    ("lizard", 1, "LEG"): (91, -6.7887, [(-1.0487, (1, 2, 3, 4)), (-1.2457, (2, 3, 4)), (-1.3577, (2, 3, 4, 5))]),
    ("bird", 0, "ARM"): (20, -2.1444, [(-0.45, (2, 3, 4)), (-0.6176, (1, 2, 3)), (-1.0948, (1, 3, 4))]),
    ("bird", 0, "LEG"): (25, -2.2399, [(-0.5765, (1, 2, 3, 4)), (-0.6176, (1, 2, 3)), (-0.8773, (0, 1, 2, 3))]),
    ("bird", 1, "ARM"): (10, -2.6841, [(-0.6588, (0, 1, 3)), (-0.7223, (0, 1, 2)), (-1.0618, (1, 2, 3))]),
    ("bird", 1, "LEG"): (11, -2.7875, [(2.6214, (0, 1, 2, 3)), (-0.3656, (0, 1, 2)), (-0.8377, (0, 1, 3))]),
    ("crawler", 0, "ARM"): (20, -2.7721, [(-0.1376, (2, 3, 4)), (-0.7141, (1, 2, 3)), (-0.7519, (1, 2, 4))]),
    ("crawler", 0, "LEG"): (20, -3.3342, [(-0.9394, (1, 2, 3)), (-0.9772, (1, 2, 4)), (-1.4897, (1, 3, 4))]),
    ("crawler", 1, "ARM"): (20, -2.8271, [(-0.1139, (2, 3, 4)), (-0.7717, (1, 2, 3)), (-0.7861, (1, 2, 4))]),
    ("crawler", 1, "LEG"): (20, -3.2732, [(-0.6067, (1, 2, 4)), (-0.9924, (1, 2, 3)), (-1.1186, (1, 3, 4))]),
    ("spider", 0, "ARM"): (4, -0.263, [(0.4249, (0, 1, 3)), (0.0289, (0, 1, 2)), (-0.3627, (1, 2, 3))]),
    ("spider", 0, "LEG"): (4, -0.7203, [(0.7289, (0, 1, 2)), (0.3749, (0, 1, 3)), (-1.4797, (0, 2, 3))]),
    ("spider", 1, "ARM"): (4, -0.2706, [(0.4449, (0, 1, 3)), (0.0027, (0, 1, 2)), (-0.3893, (1, 2, 3))]),
    ("spider", 1, "LEG"): (4, -0.7505, [(0.7027, (0, 1, 2)), (0.3949, (0, 1, 3)), (-1.5143, (0, 2, 3))]),
}


@pytest.mark.parametrize(("body", "line", "kind"), CANDIDATES)
def test_candidates_are_ranked_by_lengths_bends_place_and_words(body, line, kind):
    count, mean, best = CANDIDATES[body, line, kind]
    ranked = Scored(BODIES[body](), body in CRAWLING, body in WITH_FRONT).ranked(line, kind)
    assert len(ranked) == count
    assert [picked for _, picked in ranked[: len(best)]] == [picked for _, picked in best]
    assert [score for score, _ in ranked[: len(best)]] == pytest.approx([score for score, _ in best], abs=1e-4)
    assert np.mean([score for score, _ in ranked]) == pytest.approx(mean, abs=1e-4)
