# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a newer Blender: data unknown to this version is lost when it saves them."""

from argparse import Namespace

import bpy

from ..errors import IKError


def check_newer(arguments: Namespace) -> list[str]:
    """Return a warning if a newer Blender saved the open file. Raises IKError if it would be overwritten.

    Call it as soon as the file is open, before any work is done.
    """
    wrote: tuple[int, ...] = tuple(bpy.data.version)
    here: tuple[int, ...] = tuple(bpy.app.version_file)
    if wrote <= here:
        return []
    name, own = ("{}.{}".format(*version) for version in (wrote, here))
    what = f"The file was saved by Blender {name}, and this is Blender {own}"
    if getattr(arguments, "overwrite", False) and not arguments.overwrite_newer:
        raise IKError(
            f"{what}: data that it does not know would be lost. Save to --output FILE, or use --overwrite-newer."
        )
    return [f"{what}: data that it does not know may be missing. Use Blender {name}."]
