# SPDX-License-Identifier: GPL-3.0-or-later
"""Enabling the extension, as Blender does at each start, beside enabling Rigify, each in a new process with bytecode.

Measured are processor time and the modules that are loaded for it. The two take turns, as the machine is not alone.
"""

import json
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

from environment import ROOT

OURS, PEER = "ik_triangulation", "rigify"
_ENABLE = """
import json, os, sys, time
import bpy, numpy, addon_utils
before = set(sys.modules)
started = time.process_time()
if sys.argv[1] == "rigify":
    addon_utils.enable("rigify", default_set=True)
else:
    import ik_triangulation
    ik_triangulation.register()
seconds = time.process_time() - started
own = [name for name in sys.modules if name.partition(".")[0] == sys.argv[1]]
print("\\n" + json.dumps([seconds, len(own), len(set(sys.modules) - before)]), file=sys.stderr, flush=True)
os._exit(0)  # Blender 4.5 may crash as it ends
"""


def run(arguments):
    """Median processor time of enabling each, their ratio, and the numbers of modules."""
    import bpy

    found = {OURS: [], PEER: []}
    with TemporaryDirectory() as bytecode:
        for round_ in range(arguments.rounds + 1):
            for name, rows in found.items():
                row = _enabled(name, bytecode)
                if round_:  # the first writes the bytecode
                    rows.append(row)
    print(f"Blender {bpy.app.version_string}, medians of {arguments.rounds}")
    times = {name: median(row[0] for row in rows) for name, rows in found.items()}
    for name, rows in found.items():
        print(f"{name:<18} {1e3 * times[name]:6.0f} ms  {rows[0][1]:4} modules of its own, {rows[0][2]:4} in all")
    print(f"ratio {times[OURS] / times[PEER]:.2f}")


def _enabled(name, bytecode):
    """Seconds of the processor, own modules and all modules that enabling one takes in a new process."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _ENABLE, name],
        cwd=ROOT,
        env={**environment, "PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stderr.splitlines()[-1])


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rounds", type=int, default=5)
