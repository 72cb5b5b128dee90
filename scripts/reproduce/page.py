# SPDX-License-Identifier: GPL-3.0-or-later
"""Markdown, and numbers beside those that a paper prints."""

from typing import NamedTuple

ALLOWED = 0.03  # of the printed number


class Number(NamedTuple):
    """A number that a paper prints and the one measured here.

    `spread` is two standard deviations of their difference, where both come from random targets; `note` explains.
    """

    what: str
    paper: float
    ours: float
    digits: int = 1
    spread: float = 0.0
    note: str = ""

    @property
    def holds(self):
        """Whether they are within 3 % or two standard deviations of each other."""
        return abs(self.ours - self.paper) <= max(ALLOWED * abs(self.paper), self.spread)


class Claim(NamedTuple):
    """Something that is to hold, and whether it does."""

    text: str
    holds: bool


def table(heads, rows):
    """A table; its first column to the left, all others to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def numbers_table(numbers):
    """One line a number, with how far it is from the printed one."""
    rows = []
    for number in numbers:
        paper, ours = (f"{value:.{number.digits}f}" for value in (number.paper, number.ours))
        spread = f"{number.spread:.{number.digits}f}" if number.spread else ""
        rows.append((number.what, paper, ours, deviation(number.paper, number.ours), spread, number.note))
    return table(("", "Paper", "Ours", "Deviation", "Two standard deviations", "Remark"), rows)


def deviation(paper, ours):
    """In percent of the printed number."""
    return f"{100.0 * (ours / paper - 1.0):+.2f} %"


def claims_table(claims):
    """One line a claim."""
    return table(("Claim", "Holds"), [(claim.text, "yes" if claim.holds else "**no**") for claim in claims])


def picture(name, text):
    """An embedded picture of the folder beside the page."""
    return f"![{text}](papers/{name})"
