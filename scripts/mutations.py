# SPDX-License-Identifier: GPL-3.0-or-later
"""Try the tests by faults: draw mutations of the package at random, and see which the tests beside their modules miss.

python scripts/mutations.py [NUMBER] [--seed S] [--only PATH] [--seconds T] [--part K/N]

Each line that can be mutated is as likely as any other. Beside a module are the tests of its room that have its name,
import it, import what imports it, or are in its folder: the nearest first, for so long. What survives is to be judged
by hand: some mutations change nothing that anybody could see, as those of a bound that nothing comes near.
"""

import argparse
import ast
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path

from environment import ROOT, enter

HANGS = 90  # a test that takes this longer than the time for all [s of the processor] hangs, which counts as caught
FLIPPED = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "=="}
FLIPPED.update({ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"})
SWAPPED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*"}
FIRST = {"min", "max", "abs", "clip", "minimum", "maximum", "round", "sorted"}  # calls that may be left out
DROPPED = ast.Raise, ast.AugAssign, ast.Continue, ast.Break


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


def imports(path):
    """Return the full names of all that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            folder = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            start = ".".join([*folder, *([node.module] if node.module else [])])
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return names


def tests_beside(module, package, tests):
    """Return the files with tests of a module, nearest first; both dictionaries have files with what they import."""
    parts = [part for part in module.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
    defined = [each.name for each in ast.parse(module.read_bytes()).body if hasattr(each, "name")]
    names = {".".join(parts)} | {".".join([*parts[:end], name]) for end in range(2, len(parts)) for name in defined}
    room = module.relative_to(ROOT).parts[1]
    mates = {path: used for path, used in tests.items() if path.relative_to(ROOT).parts[1] in {room, path.name}}
    found = [path for path in mates if path.stem.startswith(f"test_{module.stem}")]
    found.sort(key=lambda path: (path.parent.name != module.parent.name, path.stem != f"test_{module.stem}"))
    found += [path for path, used in mates.items() if names & used]
    users = {".".join(each.relative_to(ROOT).with_suffix("").parts) for each, used in package.items() if names & used}
    found += [path for path, used in mates.items() if users & used]
    found += [
        path for path in mates if path.parent == ROOT / "tests" / module.parent.relative_to(ROOT / "ik_triangulation")
    ]
    return list(dict.fromkeys(found))


def pytest_runtest_setup(item):
    """As a plugin of pytest: begin no test when the time is over."""
    if time.process_time() > int(os.environ["SECONDS_OF_TESTS"]):
        item.session.shouldstop = "the time is over"


def outcome(mutation, copy, files, seconds):
    """Return what the tests say to a mutation in a copy of the checkout; None if they do not notice it."""
    path, _, start, end, new = mutation
    place = copy / path.relative_to(ROOT)
    source, stamp = place.read_bytes(), place.stat()
    place.write_bytes(source[:start] + new.encode() + source[end:])
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "mutations", *files]
    given = {**os.environ, "PYTHONPATH": str(copy / "scripts"), "SECONDS_OF_TESTS": str(seconds)}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # what one run has compiled, the next one reads
    how = {"cwd": copy, "env": given, "capture_output": True, "text": True, "check": False}
    limits = seconds + HANGS, seconds + HANGS
    try:
        done = subprocess.run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits), **how)
    finally:
        place.write_bytes(source)
        os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return next(iter(failed), None if done.returncode in {0, 2, 5} else f"ended with {done.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="draw from modules whose path has this in it")
    parser.add_argument("--seconds", type=int, default=60, help="of the processor for the tests of one mutation")
    parser.add_argument("--part", default="0/1", help="every N-th of the sample from the K-th: K/N")
    given = parser.parse_args()
    package = sorted(path for path in (ROOT / "ik_triangulation").rglob("*.py") if "pages" not in path.parts)
    lines = [line for path in package if given.only in str(path) for _, line in sorted(mutations(path).items())]
    draw = random.Random(given.seed)
    part, parts = map(int, given.part.split("/"))
    drawn = [draw.choice(line) for line in draw.sample(lines, given.number)][part::parts]
    used = {path: imports(path) for path in package}
    tests = {path: imports(path) for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        probe = [str(file.relative_to(ROOT)) for file in tests_beside(drawn[0][0], used, tests)]
        failed = outcome((drawn[0][0], 1, 0, 0, ""), copy, probe, given.seconds)
        if failed:
            sys.exit(f"Without any mutation: {failed}")
        for path, line, start, end, new in drawn:
            beside = [str(file.relative_to(ROOT)) for file in tests_beside(path, used, tests)]
            caught = outcome((path, line, start, end, new), copy, beside, given.seconds) if beside else None
            survived += caught is None
            old = (copy / path.relative_to(ROOT)).read_bytes()[start:end].decode()
            shown = [" ".join(each.split())[:90] for each in (old, new, caught or f"SURVIVED {len(beside)} files")]
            print("{}:{}: {}  ->  {}\n    {}".format(path.relative_to(ROOT), line, *shown), flush=True)
    print(f"{survived} of {len(drawn)} survived")


if __name__ == "__main__":
    enter("test")
    main()
