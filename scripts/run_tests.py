# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests, with Blender as a Python module or inside a Blender program. Paths are relative to the checkout.

python scripts/run_tests.py [pytest arguments]
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

        enter("test")
        arguments = sys.argv[1:]
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
