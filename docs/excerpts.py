# SPDX-License-Identifier: GPL-3.0-or-later
"""Excerpts in the results of the search, also where the pages are files: no browser lets a file read another one.

Beside that they give what is found by a word of an index, such as "foot slide", the heading under which that is.
"""

import json

from docutils import nodes
from sphinx import addnodes

_LONGEST = 160  # letters

SCRIPT = """document.addEventListener("DOMContentLoaded", () => {
  const excerpts = %s;
  const search = Search._performSearch;
  Search._performSearch = (...words) =>
    search(...words).map((result) => {
      const [page, title, anchor, description, ...others] = result;
      const found = excerpts[page + anchor];
      if (!found || description || !(anchor.startsWith("#index-") || location.protocol === "file:")) return result;
      return [page, anchor ? found[0] : title, anchor, found[1], ...others];
    });
});
"""


def excerpts(env):
    """Return heading and first words of the pages and sections, by page and anchor as the search has them."""
    found = {}
    for page in sorted(env.found_docs - {"api"}):  # whose names tell enough
        tree = env.get_doctree(page)
        for section in tree.findall(nodes.section):
            heading, text = _heading(section), _first_words(section)
            anchors = [f"#{name}" for name in section["ids"]]
            for index in section.children:
                if isinstance(index, addnodes.index):
                    anchors += [f"#{entry[2]}" for entry in index["entries"]]
            if not isinstance(section.parent, nodes.section):
                anchors.append("")
            found |= {page + anchor: (heading, text) for anchor in anchors if text}
    return found


def script(env):
    """Return the script of the page that searches."""
    return SCRIPT % json.dumps(excerpts(env), ensure_ascii=False, separators=(",", ":"))


def _heading(section):
    title = section[0].astext()
    return f"{_heading(section.parent)} > {title}" if isinstance(section.parent, nodes.section) else title


def _first_words(section):
    paragraphs = (each for each in section.children if isinstance(each, nodes.paragraph) and not _is_picture(each))
    text = next((each.astext() for each in paragraphs), "").replace("\n", " ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rpartition(' ')[0]} …"


def _is_picture(paragraph):
    """Tell whether a paragraph is a picture or the words below it."""
    return all(isinstance(each, nodes.image | nodes.emphasis) for each in paragraph.children)
