# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests, with Blender as a Python module or inside a Blender program. Paths are relative to the checkout.

python scripts/run_tests.py [--blender VERSION] [pytest arguments]     (--blender 5.1, on the Python of that version)
blender -b --factory-startup --python-exit-code 1 --python scripts/run_tests.py -- [pytest arguments]
"""

import os
import sys
from pathlib import Path


def main():
    if "bpy" in sys.modules:  # Blender runs this file, in its own Python
        arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    else:
        from environment import enter

        arguments = sys.argv[1:]
        if arguments[:1] == ["--blender"]:
            if len(arguments) == 1:
                sys.exit("--blender needs the version of Blender, for example 5.1")
            os.environ["IK_TRIANGULATION_BLENDER"], arguments = arguments[1], arguments[2:]
        enter("test")
    try:
        import pytest
    except ModuleNotFoundError:
        sys.exit(f"No pytest in {sys.executable}: add it with `-m pip install pytest hypothesis` of that Python")
    os.chdir(Path(__file__).resolve().parent.parent)
    code = int(pytest.main(arguments))
    sys.stdout.flush()  # Blender ends without doing so
    sys.stderr.flush()
    os._exit(code)  # Blender 4.5 as a module hangs when it ends, once add-ons have come and gone many times


main()
