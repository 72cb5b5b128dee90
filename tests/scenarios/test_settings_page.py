# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/settings.md says what the table of settings says."""

import pytest

from ik_triangulation.settings import settings_of
from ik_triangulation.settings.property_groups import LIMB_GROUPS
from scripts.settings_page import PAGE, page


def test_the_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(), "Run `python scripts/settings_page.py`."


@pytest.mark.parametrize("group", LIMB_GROUPS, ids=lambda group: group.__name__)
def test_every_setting_has_a_row_with_its_names(group):
    rows = [line for line in page().splitlines() if line.startswith("| [")]
    for field, row in settings_of(group).items():
        start = f"| [{row.label}]({row.page.replace('.html', '.md')})"
        found = [line for line in rows if line.startswith(start) and f"`{field}`" in line and row.description in line]
        flag = getattr(row.flag, "name", None)
        assert any(flag is None or line.endswith(f"| `{flag}` |") for line in found), field
