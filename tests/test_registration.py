# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of a package that are loaded when something of them is first used."""

import sys

import pytest

from ik_triangulation.registration import lazy_modules


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The name of a package whose module `late` counts how often it is run."""
    folder = tmp_path / "lazy_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from ik_triangulation.registration import lazy_modules\n__getattr__ = lazy_modules(__name__)\nruns = []\n"
    )
    (folder / "late.py").write_text("from . import runs\nruns.append(1)\nvalue = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder.name
    for name in [name for name in sys.modules if name.partition(".")[0] == folder.name]:
        del sys.modules[name]


def test_a_module_is_run_at_its_first_use_and_once(package):
    from lazy_package import late, runs  # noqa: PLC0415 it is there only now

    assert f"{package}.late" not in sys.modules, "who goes through the list of modules must not load it"
    assert runs == []
    assert (late.value, late.value) == (3, 3)
    assert runs == [1]
    assert f"{package}.late" in sys.modules


def test_what_is_set_is_set_in_the_module_itself(package, monkeypatch):
    from lazy_package import late  # noqa: PLC0415

    monkeypatch.setattr(late, "value", 5)
    assert sys.modules[f"{package}.late"].value == 5
    monkeypatch.undo()
    assert late.value == 3
    late.more = 1
    del late.more
    assert not hasattr(late, "more")


def test_a_module_that_is_not_there_is_refused_at_once(package):
    with pytest.raises(ImportError):
        from lazy_package import absent  # noqa: F401, PLC0415
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        lazy_modules(package)("absent")
