# SPDX-License-Identifier: GPL-3.0-or-later
"""Page of the package on an index: its README with addresses on the web instead of paths, once the manifest has one.

A hook of hatchling, which pyproject.toml names. An index shows neither pictures nor pages by their paths in the source.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?\[[^\]]*\]\()docs/([^)#]+)([^)]*\))")  # also of a picture; its path, and the place on a page


class PackagePage(MetadataHookInterface):
    """Text and address of the package's page, from the `website` in blender_manifest.toml."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the README in, and the address of the manual where there is one."""
        root = Path(self.root)
        site = tomllib.loads((root / "blender_manifest.toml").read_text("utf-8")).get("website", "")
        text = on_the_web((root / "README.md").read_text("utf-8"), site)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if site:
            metadata["urls"] = {"Documentation": site}


def on_the_web(text: str, site: str) -> str:
    """Return a text whose links into `docs/` are those of the manual at an address, as scripts/manual.py makes it."""

    def there(link: re.Match[str]) -> str:
        page = link[2].removesuffix(".md")
        path = f"_images/{Path(page).name}" if page == link[2] else f"{page}.html"
        return f"{link[1]}{site.rstrip('/')}/{path}{link[3]}"

    return _LINK.sub(there, text) if site else text
