# SPDX-License-Identifier: GPL-3.0-or-later
"""Try tests by faults: draw mutations of the package at random, and see which the tests beside their modules miss.

python scripts/mutations.py [N] [--seed S] [--only TEXT] [--list] [--parts K/N]

Each line of code is as likely as any other. The tests beside a module are those of its name in its room and those
there that import it, else those of the modules of its room that do; they get a minute of the processor, nearest first,
in a scratch copy. What survives is to be judged by hand: a mutation that changes nothing anybody could see is no gap.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = int(os.environ.get("MUTATION_SECONDS", "60"))
HANGS = 90  # of the processor: no test begins later; what still runs then hangs, and is caught
FLIPPED = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "=="}
FLIPPED |= {ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
SWAPPED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*"}
CLAMPS = {"min", "max", "abs", "clip", "minimum", "maximum", "fabs", "round", "sorted", "reversed"}


def text(node):
    return ast.unparse(node)


def replacements(node):
    """What may stand in place of a node, each a fault that somebody could have made."""
    match node:
        case ast.Compare(left, [operator], [right]):
            yield f"{text(left)} {FLIPPED[type(operator)]} {text(right)}"
        case ast.BinOp(left, operator, right) if type(operator) in SWAPPED and not is_text(left) and not is_text(right):
            yield f"({text(left)}) {SWAPPED[type(operator)]} ({text(right)})"
        case ast.BoolOp(operator, values):
            yield f" {'or' if isinstance(operator, ast.And) else 'and'} ".join(f"({text(each)})" for each in values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield text(operand)
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() as value):
            yield str(value + 1)
        case ast.Constant(float() as value):
            yield repr(value * 2.0 if value else 1.0)
        case ast.IfExp(test, body, orelse):
            yield f"({text(orelse)}) if ({text(test)}) else ({text(body)})"
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name), [first, *_]) if name in CLAMPS:
            if not isinstance(first, ast.Starred):
                yield text(first)
        case ast.If(test=ast.Name() | ast.Attribute() | ast.Call()):
            yield node.test, f"not {text(node.test)}"
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Raise() | ast.AugAssign() | ast.Expr(ast.Call() | ast.Yield()) | ast.Continue() | ast.Break():
            yield "pass"
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "pass"


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def nodes(node):
    """All nodes that run, without annotations and what is only for type checkers."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"} or (name == "body" and "TYPE_CHECKING" in told(node)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from nodes(child)


def told(node):
    return text(node.test) if isinstance(node, ast.If) else ""


def mutations(path):
    """Of a module: each line with what may change on it, as (line, start, end, replacement) in bytes."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = {}
    for node in nodes(ast.parse(source)):
        for new in replacements(node):
            at, new = new if isinstance(new, tuple) else (node, new)
            start, end = starts[at.lineno - 1] + at.col_offset, starts[at.end_lineno - 1] + at.end_col_offset
            new = f"({new})" if isinstance(at, ast.expr) else new
            found.setdefault(at.lineno, []).append((path, at.lineno, start, end, new))
    return found


def imports(path):
    """Full names of what a file imports from the package."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            folder = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            start = ".".join([*folder, *([node.module] if node.module else [])])
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def names_of(module):
    """The names by which a module can be imported, and, from the folders above it, what it defines."""
    parts = [part for part in module.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
    defined = [each.name for each in ast.parse(module.read_bytes()).body if hasattr(each, "name")]
    return {".".join(parts)} | {".".join([*parts[:end], name]) for end in range(2, len(parts)) for name in defined}


def room_of(path):
    return path.relative_to(ROOT).parts[1]


def tests_beside(module, package, tests, seen=()):
    """The files with tests of a module, nearest first."""
    mates = {path: used for path, used in tests.items() if room_of(path) in {room_of(module), path.name}}
    names, folder = names_of(module), module.relative_to(ROOT / "ik_triangulation").parent
    own = [path for path in mates if path.stem == f"test_{module.stem}" and path.parent == ROOT / "tests" / folder]
    own += [path for path in mates if path.stem.startswith(f"test_{module.stem}") and path not in own]
    own += [path for path, used in mates.items() if names & used and path not in own]
    if own:
        return own
    users = [each for each, used in package.items() if names & used and room_of(each) == room_of(module)]
    found = [tests_beside(user, package, tests, (*seen, module)) for user in users if user not in (*seen, module)]
    return list(dict.fromkeys(sum(found, [])))


def pytest_runtest_setup(item):
    """As a plugin of pytest: no test begins when the time is over."""
    if time.process_time() > SECONDS:
        import pytest

        pytest.exit("the time is over", returncode=0)


def outcome(mutation, copy, files):
    """Whether the tests notice a mutation: what failed, else None."""
    path, _, start, end, new = mutation
    place = copy / path.relative_to(ROOT)
    source, stamp = place.read_bytes(), place.stat()
    place.write_bytes(source[:start] + new.encode() + source[end:])
    tests = [str(file.relative_to(ROOT)) for file in files]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "mutations", *tests]
    given = {**os.environ, "PYTHONPATH": str(copy / "scripts")}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # what one run has compiled, the next one reads
    limit = SECONDS + HANGS
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=given,
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
            timeout=10 * limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        place.write_bytes(source)
        os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    if done.returncode == 0:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or [f"code {done.returncode}"])[0][:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules whose path contains this")
    parser.add_argument("--part", default="0/1", help="of the same sample, every N-th from K: K/N")
    given = parser.parse_args()
    package = sorted(each for each in (ROOT / "ik_triangulation").rglob("*.py") if "pages" not in each.parts)
    lines = [line for path in package if given.only in str(path) for _, line in sorted(mutations(path).items())]
    draw = random.Random(given.seed)
    drawn = [draw.choice(line) for line in draw.sample(lines, given.number)]
    part, parts = map(int, given.part.split("/"))
    used = {path: imports(path) for path in package}
    tests = {path: imports(path) for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
        )
        for name in listed.stdout.splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        for mutation in drawn[part::parts]:
            path, line, start, end, new = mutation
            begun = time.monotonic()
            failed = outcome(mutation, copy, tests_beside(path, used, tests))
            survivors += failed is None
            old = " ".join((copy / path.relative_to(ROOT)).read_bytes()[start:end].decode().split())
            print(f"{path.relative_to(ROOT)}:{line}: {old[:90]}  ->  {new[:90]}")
            print(f"    {failed or 'SURVIVED'} ({time.monotonic() - begun:.0f} s)", flush=True)
    tried = len(drawn[part::parts])
    print(f"{survivors} of {tried} survived: {survivors / tried:.0%}")


if __name__ == "__main__":
    main()
