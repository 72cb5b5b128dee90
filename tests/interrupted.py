# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions that nobody expects, raised at a call of the project's code; and all values that a file holds."""

import gc
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

import bpy

import ik_triangulation
from ik_triangulation.jobs.shots.writing import Undo

from .rigs import nothing_lost

_OURS = str(Path(ik_triangulation.__file__).resolve().parent)
KINDS = (MemoryError, RuntimeError, KeyboardInterrupt)

_DATA = ("objects", "armatures", "actions", "scenes", "collections", "meshes", "curves", "images", "materials", "texts")
_COMPUTED = {"rna_type", "session_uid", "is_evaluated", "depsgraph", "users", "tag", "bl_rna", "original"}
_DEEPEST = 9  # structs inside of each other


class Injection:
    """While it is entered, the call with this number of project code raises an exception of this kind."""

    def __init__(self, number: float, kind: type[BaseException] = RuntimeError) -> None:
        self.number, self.kind, self.calls, self.fired = number, kind, 0, False
        self.where = ""

    def __enter__(self) -> "Injection":
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame, event, argument):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(_OURS):
            return
        self.calls += 1
        if self.calls == self.number:
            self.fired = True
            self.where = f"{Path(code.co_filename).name}: {code.co_name}"
            raise self.kind("injected")


class BrokenError(Exception):
    """A fault in the middle of a transaction."""


class FailingWrite:
    """While it is entered, that write of a transaction fails which has this number; the end of one counts as well.

    Each write announces itself by what undoes it. With `at_end` the end fails, whatever its number. The
    `problem` is what a failing write raises.
    """

    def __init__(self, number: float, at_end: bool = False, problem: BaseException | None = None) -> None:
        self.number, self.at_end, self.writes, self.failed = number, at_end, 0, False
        self.problem = problem or BrokenError()

    def __enter__(self) -> "FailingWrite":
        def callback(stack, *given, **more):
            done = ExitStack.callback(stack, *given, **more)
            self._count()
            return done

        def pop_all(stack):
            self._count(self.at_end)
            return ExitStack.pop_all(stack)

        Undo.callback, Undo.pop_all = callback, pop_all
        return self

    def __exit__(self, *_: object) -> None:
        del Undo.callback, Undo.pop_all

    def _count(self, fails: bool = False) -> None:
        self.writes += 1
        if self.writes == self.number or fails:
            self.failed = True
            raise self.problem


class _DoneError(Exception):
    """No write is left that could fail."""


def writes_that_undo_all(job: Callable[[], object], stride: int = 1) -> int:
    """Run a job again and again, with its end failing and then each time a later one of its writes, until it is done.

    Each time everything is as before. Return the number of writes of the job.
    """
    with nothing_lost(), FailingWrite(float("inf"), at_end=True) as seam, suppress(BrokenError):
        job()
    assert seam.failed
    with suppress(_DoneError):
        for number in count(1, stride):
            with nothing_lost(), FailingWrite(number) as seam:
                with suppress(BrokenError):
                    job()
                if not seam.failed:
                    raise _DoneError
    return seam.writes


def calls_of(job: Callable[[], object]) -> int:
    """The number of calls of project code in a job, which is run."""
    with Injection(float("inf")) as counting:
        job()
    return counting.calls


def interrupted(job: Callable[[], object], number: int, kind: type[BaseException]) -> tuple[Injection, bool]:
    """Run a job that is interrupted at that call; return the injection, and whether the job said that it was done."""
    done = False
    with Injection(number, kind) as injection, suppress(*KINDS, AttributeError):
        job()
        done = True
    gc.collect()  # closes jobs that were abandoned
    bpy.context.view_layer.update()
    return injection, done


def everything() -> dict[str, object]:
    """Every value that can be read of all data-blocks, by its path."""
    found: dict[str, object] = {}
    for name in _DATA:
        collection = getattr(bpy.data, name)
        found[f"{name}: names"] = [each.name_full for each in collection]
        for each in collection:
            _read(each, f"{name}[{each.name_full}]", found, set(), 0)
    return found


def _read(struct, path: str, found: dict[str, object], seen: set[int], depth: int) -> None:
    if depth > _DEEPEST or struct.as_pointer() in seen:
        return
    seen.add(struct.as_pointer())
    # The memory of a pose counts by its values: that it was ever written makes no difference.
    group = isinstance(struct, bpy.types.PropertyGroup) and not hasattr(struct, "place_before")
    for name, prop in struct.bl_rna.properties.items():
        if name in _COMPUTED:
            continue
        here = f"{path}.{name}"
        try:
            value = getattr(struct, name)
        except (AttributeError, RuntimeError, UnicodeDecodeError):
            continue
        if group:
            found[f"{here} is set"] = struct.is_property_set(name)
        if prop.type == "POINTER":
            if value is None or isinstance(value, bpy.types.ID):
                found[here] = getattr(value, "name_full", None)
            else:
                _read(value, here, found, seen, depth + 1)
        elif prop.type == "COLLECTION":
            if value is not None:
                _read_all(value, here, found, seen, depth)
        else:
            found[here] = repr(value[:]) if getattr(prop, "is_array", False) else repr(value)
    if isinstance(struct, bpy.types.ID | bpy.types.PoseBone):
        # Blender 4.5 has the registered groups among these as well.
        for key in set(struct.keys()) - set(struct.bl_rna.properties.keys()):
            value = struct[key]
            found[f"{path}[{key}]"] = repr(sorted(value.items()) if hasattr(value, "to_dict") else value)


def _read_all(items, path: str, found: dict[str, object], seen: set[int], depth: int) -> None:
    found[f"{path}: number"] = len(items)
    for number, each in enumerate(items):
        if isinstance(each, bpy.types.ID):
            found[f"{path}[{number}]"] = each.name_full
        elif each is not None:
            _read(each, f"{path}[{number}]", found, seen, depth + 1)
