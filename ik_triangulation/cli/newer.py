# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a newer Blender: what this one does not know of them is lost when it saves them."""

import sys
from argparse import Namespace

import bpy

from ..errors import IKError


def check_newer(arguments: Namespace) -> None:
    """Warn if a newer Blender saved the open file. Raises IKError if it would be overwritten without --overwrite-newer.

    To be called as soon as the file is open, before anything is worked out.
    """
    wrote: tuple[int, ...] = tuple(bpy.data.version)
    here: tuple[int, ...] = tuple(bpy.app.version_file)
    if wrote <= here:
        return
    name, own = ("{}.{}".format(*version) for version in (wrote, here))
    what = f"The file was saved by Blender {name}, and this is Blender {own}"
    if getattr(arguments, "overwrite", False) and not arguments.overwrite_newer:
        raise IKError(f"{what}: what it does not know would be lost. Save to --output FILE, or say --overwrite-newer.")
    print(f"Warning: {what}: what it does not know of it may be missing. Use Blender {name}.", file=sys.stderr)
