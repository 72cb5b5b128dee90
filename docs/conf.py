# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx's configuration of the manual; scripts/manual.py builds it."""

import re
import sys
import tomllib
from pathlib import Path

from docutils import nodes

_manifest = tomllib.loads((Path(__file__).resolve().parent.parent / "blender_manifest.toml").read_text("utf-8"))

project = _manifest["name"]
version = release = _manifest["version"]
html_title = f"{project} {version}"
extensions = ["myst_parser"]
exclude_patterns = ["contributing.md"]
myst_heading_anchors = 3  # links to headings, by the names that they have on GitHub too
html_theme = "furo"
html_theme_options = {"top_of_page_buttons": []}
html_copy_source = html_show_sourcelink = html_show_copyright = html_show_sphinx = html_use_index = False
html_static_path, html_css_files = ["static"], ["manual.css"]

SHIPPED = {"panel.png", "keys_on.png", "farms.png"}  # pictures; beside these, those of the solvers do


def _leave_to_the_web(app, tree):
    """Put words in place of pictures that the pages in the extension do without, with a link once there is a site."""
    site = _manifest.get("website", "").rstrip("/")
    for image in list(tree.findall(nodes.image)) if app.tags.has("shipped") else []:
        if image["uri"] not in SHIPPED and not image["uri"].startswith("solvers/"):
            page = f"{site}/{app.env.docname}.html"
            words = nodes.Text(f"On the web: {image['alt']}.") if site else nodes.Text(f"{image['alt']}.")
            link = nodes.reference("", "", words, refuri=page, internal=False) if site else words
            image.replace_self(nodes.emphasis("", "", link))


def _leave_out_scripts(app, page, template, context, tree):
    """Have a page load no script of the theme: they are minified, and without them it only lacks the switch to dark."""
    if app.tags.has("shipped"):
        context["script_files"] = [each for each in context["script_files"] if "furo" not in str(each)]


def _put_excerpts(app, page, template, context, tree):
    """Have the page that searches show the first words of what it finds."""
    if page == "search":
        sys.path.insert(0, str(Path(__file__).resolve().parent))
        from excerpts import script

        app.add_js_file(None, body=script(app.env))


def _put_index(app, page, content):
    """Have the search find places by the words in comments there, as `<!-- index: foot slide, foot skate -->`."""

    def directive(comment):
        return "```{index} ! " + comment[1].replace(", ", ", ! ") + "\n```\n"

    content[0] = re.sub(r"<!-- index: (.*) -->\n\n", directive, content[0])


def _put_reference(app, page, content):
    """Put the public names with their signatures and docstrings where the page of the reference has a mark."""
    if "<!-- reference" in content[0]:
        sys.path.insert(0, str(Path(__file__).resolve().parent))
        from reference import reference  # not before: other manuals are built by this configuration too

        before, _, _ = content[0].partition("<!-- reference")
        content[0] = before + reference()


def setup(app):
    """Connect what differs in the pages that ship, the reference, and the results of the search."""
    app.connect("source-read", _put_index)
    app.connect("source-read", _put_reference)
    app.connect("doctree-read", _leave_to_the_web)
    app.connect("html-page-context", _put_excerpts)
    app.connect("html-page-context", _leave_out_scripts, priority=900)
