# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of all settings say what the table of settings says."""

import pytest

from ik_triangulation.settings import settings_of
from ik_triangulation.settings.property_groups import LIMB_GROUPS
from scripts.settings_page import PAGE, SCRIPT_PAGE, page, script_page


def test_the_pages_are_up_to_date():
    for path, text in ((PAGE, page()), (SCRIPT_PAGE, script_page())):
        assert path.read_text("utf-8") == text, "Run `python scripts/settings_page.py`."


@pytest.mark.parametrize("group", LIMB_GROUPS, ids=lambda group: group.__name__)
def test_every_setting_has_a_row_for_animators_and_one_with_its_names(group):
    for field, row in settings_of(group).items():
        start = f"| [{row.label}]({row.page.replace('.html', '.md')})"
        assert any(line.startswith(start) and row.description in line for line in page().splitlines()), field
        found = [line for line in script_page().splitlines() if line.startswith(start) and f"`{field}`" in line]
        flag = getattr(row.flag, "name", None)
        assert any(flag is None or line.endswith(f"| `{flag}` |") for line in found), field
