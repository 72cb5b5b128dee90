# SPDX-License-Identifier: GPL-3.0-or-later
"""Links and pictures in README and docs/ as the files are read on their own, and how long the README is."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


@cache
def prose(file):
    """The text without its blocks of code."""
    return re.sub(r"^```[^`]*^```|^    .*", "", file.read_text("utf-8"), flags=re.MULTILINE)


@cache
def anchors(file):
    """Names of the headings, as GitHub and the manual's generator make them."""
    headings = re.findall(r"^#+ (.+)$", prose(file), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(file):
    """Addresses of links and pictures within the project."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(file))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@every_file
def test_every_link_and_picture_leads_somewhere(file):
    for link in links(file):
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), f"{file.name} links to {link}, which is not there"
        assert not anchor or anchor in anchors(target), (
            f"{file.name} links to {link}; {target.name} has no such heading"
        )


@every_file
def test_every_reference_is_defined(file):
    """`[text]` alone is shown as it is, so a link without its address is seen by readers only."""
    assert re.findall(r"\]\[|\]\(\)", prose(file)) == []


def test_no_picture_of_the_manual_is_large_or_unused():
    """Films are read over the network, and ship in the zip."""
    used = {(file.parent / link).resolve() for file in FILES for link in links(file)}
    for picture in (path for path in (ROOT / "docs").rglob("*") if path.suffix in {".png", ".webp"}):
        assert picture in used, f"No page shows {picture.name}"
        assert picture.stat().st_size < 1_500_000, picture.name


def test_the_readme_is_short():
    assert len(prose(FILES[0]).split()) < 750
