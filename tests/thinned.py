# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of tests with several parameters: in short every value, and of three or more every pair, not the product."""

from collections import defaultdict
from itertools import combinations

FEW = 4  # products of no more than these are tried whole


def _values(item):
    """Which value each of its parametrizations has: names of arguments and identities of what they are."""
    params = item.callspec.params
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        yield tuple((name.strip(), id(params[name.strip()])) for name in names if name.strip() in params)


def _kept(cases):
    """Those of a test's cases, with their values, that are tried in short.

    Each time the one with most that is new: of values, and of pairs of them. Of two parameters each value of the one
    that has more meets one of the other.
    """
    several = len(cases[0][1]) > 2
    values = {value for _, had in cases for value in had}
    wanted = {pair for _, had in cases for pair in combinations(had, 2)} if several else set()
    seen, met, kept, left = set(), set(), [], list(cases)

    def news(case):
        return sum(value not in seen for value in case[1]), sum(pair not in met for pair in combinations(case[1], 2))

    while not (seen >= values and met >= wanted):
        best = max(left, key=news)  # the first of several
        left.remove(best)
        kept.append(best[0])
        seen.update(best[1])
        met.update(combinations(best[1], 2))
    return kept


def left_out(items):
    """The cases that are tried with --long only, beside those that are marked so."""
    tests = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and not item.get_closest_marker("whole"):
            tests[item.parent.nodeid, item.originalname].append((item, tuple(_values(item))))
    for cases in tests.values():
        several = [n for n, _ in enumerate(cases[0][1]) if len({had[n] for _, had in cases}) > 1]
        if len(cases) > FEW and len(several) > 1:
            kept = set(_kept([(item, tuple(had[n] for n in several)) for item, had in cases]))
            yield from (item for item, _ in cases if item not in kept)
