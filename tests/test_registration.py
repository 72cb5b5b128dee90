# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of a package are registered all or none, and loaded when something of them is first used."""

import sys
from importlib import import_module

import pytest

from ik_triangulation.registration import lazy_modules, register_all


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


def test_what_looks_into_a_module_sees_its_names(package):
    from lazy_package import late  # noqa: PLC0415

    assert vars(late)["value"] == 3
    with pytest.raises(AttributeError, match="has no attribute '__path__'"):
        lazy_modules(package)("__path__")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """What three modules of a package note when they are registered; the second one fails while `fails` is set."""
    folder = tmp_path / "registered_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("log, fails = [], []\n")
    for name in ("one", "two", "three"):
        (folder / f"{name}.py").write_text(
            "from . import fails, log\n"
            "def register():\n"
            f"    if {name == 'two'} and fails: raise ValueError('{name}')\n"
            f"    log.append('+{name}')\n"
            "def unregister():\n"
            f"    log.append('-{name}')\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module(folder.name)
    for name in [name for name in sys.modules if name.partition(".")[0] == folder.name]:
        del sys.modules[name]


def test_modules_are_registered_in_order_and_unregistered_backwards(log):
    register, unregister = register_all("registered_package", ("one", "two", "three"))
    assert "registered_package.one" not in sys.modules
    for _ in range(2):
        register()
        assert log.log == ["+one", "+two", "+three"]
        unregister()
        assert log.log[3:] == ["-three", "-two", "-one"]
        unregister()
        assert len(log.log) == 6
        log.log.clear()


def test_all_modules_are_registered_or_none(log):
    register, unregister = register_all("registered_package", ("one", "two", "three"))
    log.fails.append(True)
    with pytest.raises(ValueError, match="two"):
        register()
    assert log.log == ["+one", "-one"]
    unregister()
    log.fails.clear()
    register()
    assert log.log[2:] == ["+one", "+two", "+three"]
