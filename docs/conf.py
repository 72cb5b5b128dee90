# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx's configuration of the manual; scripts/manual.py builds it."""

import tomllib
from pathlib import Path

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
