# SPDX-License-Identifier: GPL-3.0-or-later
"""The page: all papers one after the other."""

from time import perf_counter

from . import gradient_methods, metric_maps, paper_2007, paper_2009, quaternion_ccd
from .page import claims_table

PAPERS = paper_2007, paper_2009, metric_maps, quaternion_ccd, gradient_methods


def write(folder, quick=False, pictures=True):
    """Measure everything and write papers.md and papers/*.png to a folder; returns what is to hold."""
    images = folder / "papers"
    images.mkdir(parents=True, exist_ok=True)
    if pictures:
        import matplotlib

        matplotlib.use("Agg")  # whatever the screen
    sections, claims = [], []
    for paper in PAPERS:
        started = perf_counter()
        found = paper.measure(quick)
        sections.append(paper.section(found))
        claims += paper.claims(found)
        if pictures:
            paper.draw(found, images)
        print(f"{paper.__name__.rpartition('.')[2]:<18}{perf_counter() - started:6.1f} s", flush=True)
    (folder / "papers.md").write_text("\n".join((_head(quick, claims), *sections)), encoding="utf-8")
    return claims


def _head(quick, claims):
    command = "python scripts/papers.py --quick" if quick else "python scripts/papers.py"
    return f"""# The source papers, done again

`{command}` writes this page and its pictures. "Ours" is what this project's solvers do.
Where a number deviates the page says why, or that the reason is not known; nothing is tuned to fit.

{claims_table(claims)}
"""
