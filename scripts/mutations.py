# SPDX-License-Identifier: GPL-3.0-or-later
"""Try the tests by faults: draw mutations of the package at random, and see which the tests beside their modules miss.

python scripts/mutations.py [NUMBER] [--seed S] [--only PATH] [--seconds T] [--part K/N] [--record FOLDER]

Each line that can be mutated is as likely as others. Beside a module are the tests of its room. They run once without
mutation, which tells the lines that each of them runs; then, for a mutation, those that run its line, the quickest
first, for so long. The record of these lines can be kept for more samples of the same commit. What survives is to be
judged by hand: some mutations change nothing that anybody could see, as those of a bound that nothing comes near.
"""

import argparse
import ast
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import accumulate
from pathlib import Path

from environment import ROOT, enter

HANGS = 90  # a test that takes this longer than the time for all [s of the processor] hangs, which counts as caught
FLIPPED = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "=="}
FLIPPED.update({ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"})
SWAPPED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*"}
FIRST = {"min", "max", "abs", "clip", "minimum", "maximum", "round", "sorted"}  # calls that may be left out
DROPPED = ast.Raise, ast.AugAssign, ast.Continue, ast.Break
READING = "sources import", "import translations"  # in a file of tests that read the source of the package


def new_expression(node, text):
    """Return what may stand in place of an expression: a fault that somebody could have made."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return f"({text(node.left)}) {FLIPPED[type(node.ops[0])]} ({text(node.comparators[0])})"
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        return f"({text(node.left)}) {SWAPPED[type(node.op)]} ({text(node.right)})"
    if isinstance(node, ast.BoolOp):
        return (" or " if isinstance(node.op, ast.And) else " and ").join(f"({text(each)})" for each in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        return text(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return str(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return repr(node.value + 1 if isinstance(node.value, int) else node.value * 10.0 or 1.0)
    if isinstance(node, ast.IfExp):
        return f"({text(node.orelse)}) if ({text(node.test)}) else ({text(node.body)})"
    if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return text(node.args[0]) if name in FIRST else None
    return None


def mutated(node, text):
    """Return what of a node may change, as the node to replace and the text that replaces it, or None."""
    new = new_expression(node, text)
    if new:
        return node, f"({new})"
    if isinstance(node, ast.If) and isinstance(node.test, (ast.Name, ast.Attribute, ast.Call)):
        return node.test, f"(not {text(node.test)})"
    if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
        return node, "return None"
    called = isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield))
    written = isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript))
    return (node, "pass") if called or written or isinstance(node, DROPPED) else None


def running(node):
    """Yield all nodes that run: no annotations, nothing for type checkers only, and no `strict`, which only asserts."""
    yield node
    for name, value in ast.iter_fields(node):
        for_types = name == "body" and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if name not in {"annotation", "returns", "decorator_list"} and not for_types:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and getattr(child, "arg", "") != "strict":
                    yield from running(child)


def mutations(path):
    """Return by line what may change in a module: (path, line, start, end, replacement), with places in bytes."""
    source, found = path.read_bytes(), {}
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]

    def place(node):
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    for node in running(ast.parse(source)):
        change = mutated(node, lambda part: source[slice(*place(part))].decode())
        if change:
            found.setdefault(change[0].lineno, []).append((path, change[0].lineno, *place(change[0]), change[1]))
    return found


class Recorder:
    """As a plugin of pytest: note which lines of the package each test runs, and how long it takes."""

    def __init__(self) -> None:
        self.tests, self.lines, self._inside = [], defaultdict(list), f"{Path.cwd()}{os.sep}ik_triangulation{os.sep}"
        sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "mutations")
        sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE, self._run)
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE)

    def _run(self, code, line):
        if str(code.co_filename).startswith(self._inside):
            self.lines[f"{code.co_filename.removeprefix(self._inside)}:{line}"].append(len(self.tests))
        return sys.monitoring.DISABLE  # until the next test

    def pytest_runtest_logstart(self, nodeid):
        self.tests.append([-time.process_time(), nodeid])
        sys.monitoring.restart_events()

    def pytest_runtest_logfinish(self):
        self.tests[-1][0] += time.process_time()

    def pytest_sessionfinish(self):
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.NO_EVENTS)
        Path(os.environ["LINES_OF_TESTS"]).write_text(json.dumps([self.tests, self.lines]), encoding="utf-8")


RECORDER = Recorder() if "LINES_OF_TESTS" in os.environ else None  # before a conftest.py imports the package


def pytest_configure(config):
    """As a plugin of pytest: record where it is asked for."""
    if RECORDER:
        config.pluginmanager.register(RECORDER)


def pytest_collection_modifyitems(items):
    """As a plugin of pytest: run the tests that were chosen, in their order."""
    chosen = os.environ.get("CHOSEN_TESTS")
    if chosen:
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in Path(chosen).read_text(encoding="utf-8").splitlines() if name in found]


def pytest_runtest_setup(item):
    """As a plugin of pytest: begin no test when the time is over."""
    if time.process_time() > float(os.environ["SECONDS_OF_TESTS"]):
        item.session.shouldstop = "the time is over"


def run(copy, arguments, seconds, limit=None, **more):
    """Run tests in a copy of the checkout for so long; returns the first that fails, or None."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "mutations", *arguments]
    given = {**os.environ, "PYTHONPATH": str(copy / "scripts"), "SECONDS_OF_TESTS": str(seconds), **more}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # what one run has compiled, the next one reads
    how = {"cwd": copy, "env": given, "capture_output": True, "text": True, "check": False}
    limits = [limit or resource.RLIM_INFINITY] * 2
    done = subprocess.run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits), **how)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return next(iter(failed), None if done.returncode in {0, 2, 5} else f"ended with {done.returncode}")


def recorded(copy, room, folder):
    """Return how long each test of a room takes and its name, and by line of the package the numbers of those there."""
    place = folder / f"{room or 'package'}.json"
    if place.exists():
        return json.loads(place.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    tests = [f"tests/{room}"] if room else map(str, sorted((copy / "tests").glob("test_*.py")))
    failed = run(copy, tests, math.inf, LINES_OF_TESTS=str(place))
    if failed:
        sys.exit(f"Without any mutation: {failed}")
    return json.loads(place.read_text(encoding="utf-8"))


def reads_source(file):
    """Tell whether a file has tests that read the source of the package, and so run no line of it."""
    return any(words in (ROOT / file).read_text(encoding="utf-8") for words in READING)


def tests_of(mutation, tests, lines):
    """Return the tests that run the line of a mutation, quickest first; of one that is only imported, its module's.

    Tests that read the source, as those of translations do, are always among them.
    """
    path, line, _, end, _ = mutation
    module, source = path.relative_to(ROOT / "ik_triangulation").as_posix(), path.read_bytes()
    last = source[:end].count(b"\n") + 1
    for each in ast.walk(ast.parse(source)):  # constants run with the statement that they are in
        if isinstance(each, ast.stmt) and not hasattr(each, "body") and each.lineno <= line <= last <= each.end_lineno:
            line, last = each.lineno, each.end_lineno
    found = {number for each in range(line, last + 1) for number in lines.get(f"{module}:{each}", ())}
    if 0 in found:  # before the first test
        found |= {number for each, some in lines.items() if each.startswith(f"{module}:") for number in some}
        found = found - {0} or set(range(1, len(tests) + 1))  # of one that defines settings alone, all
    files = [name.partition("::")[0] for _, name in tests]
    reading = set(filter(reads_source, set(files)))
    found |= {number for number, file in enumerate(files, 1) if file in reading}
    return [name for _, name in sorted(tests[number - 1] for number in found)]


def outcome(mutation, copy, tests, seconds):
    """Return what the tests say to a mutation in a copy of the checkout; None if they do not notice it."""
    path, _, start, end, new = mutation
    place = copy / path.relative_to(ROOT)
    source, stamp = place.read_bytes(), place.stat()
    place.write_bytes(source[:start] + new.encode() + source[end:])
    chosen = copy / "chosen.txt"
    chosen.write_text("\n".join(tests), encoding="utf-8")
    files = sorted({name.partition("::")[0] for name in tests})
    try:
        return run(copy, ["-x", *files], seconds, seconds + HANGS, CHOSEN_TESTS=str(chosen)) if tests else None
    finally:
        place.write_bytes(source)
        os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="draw from modules whose path has this in it")
    parser.add_argument("--seconds", type=int, default=60, help="of the processor for the tests of one mutation")
    parser.add_argument("--part", default="0/1", help="every N-th of the sample from the K-th: K/N")
    parser.add_argument("--record", type=Path, help="folder in which the lines of each test are kept for later samples")
    given = parser.parse_args()
    package = sorted(path for path in (ROOT / "ik_triangulation").rglob("*.py") if "pages" not in path.parts)
    lines = [line for path in package if given.only in str(path) for _, line in sorted(mutations(path).items())]
    draw = random.Random(given.seed)
    part, parts = map(int, given.part.split("/"))
    drawn = [draw.choice(line) for line in draw.sample(lines, given.number)][part::parts]
    survived, rooms = 0, {}
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "checkout").resolve()
        folder = (given.record or Path(temporary, "record")).resolve()
        for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        for mutation in drawn:
            path, line, start, end, new = mutation
            room = path.relative_to(ROOT / "ik_triangulation").parts[0]
            room = room if (ROOT / "tests" / room).is_dir() else ""  # of the package itself
            if room not in rooms:
                rooms[room] = recorded(copy, room, folder)
            tests = tests_of(mutation, *rooms[room])
            caught = outcome(mutation, copy, tests, given.seconds)
            survived += caught is None
            old = path.read_bytes()[start:end].decode()
            shown = [" ".join(each.split())[:90] for each in (old, new, caught or f"SURVIVED {len(tests)} tests")]
            print("{}:{}: {}  ->  {}\n    {}".format(path.relative_to(ROOT), line, *shown), flush=True)
    print(f"{survived} of {len(drawn)} survived")


if __name__ == "__main__":
    enter("test")
    main()
