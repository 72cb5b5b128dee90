# SPDX-License-Identifier: GPL-3.0-or-later
"""Start of the scripts: the extension, a file without objects, a chain and its target."""

from pathlib import Path

import addon_utils
import bpy
from bpy.types import FCurve, Object

from tests.rigs import chain_rig, configure, curves_of, empty, key_location

from .screen import viewport

EXTENSION = "bl_ext.user_default.ik_triangulation"
FRAMES = 40


def install(archive: Path) -> None:
    """Install the extension as Install from Disk does."""
    done = bpy.ops.extensions.package_install_files(
        filepath=str(archive), directory=str(archive.parent), repo="user_default", enable_on_install=True
    )
    assert done == {"FINISHED"}, done
    assert EXTENSION in bpy.context.preferences.addons, "installed, but not enabled"


def disable() -> None:
    """Disable the extension as its tick in the Preferences does."""
    addon_utils.disable(EXTENSION, default_set=True)


def enable() -> None:
    """Enable it again."""
    assert addon_utils.enable(EXTENSION, default_set=True) is not None


def begin_anew() -> None:
    """A new file in the factory layout, with preferences that scripts change as they were, the extension enabled anew.

    Rigify stays enabled, once a script has done so: it leaves a handler behind that fails without it.
    """
    disable()
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    bpy.context.preferences.view.ui_scale = 1.0
    bpy.ops.preferences.reset_default_theme()
    enable()


def clear() -> None:
    """Remove all objects and what only they use."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    bpy.data.orphans_purge(do_recursive=True)


def chain(bones: int = 4, frames: int = FRAMES, **settings: object) -> None:
    """Nothing but a posable chain, `rig()`, whose last bone is active and whose bones follow a moving target."""
    clear()
    target = key_location(empty(), range(1, frames + 4, 4))
    target.empty_display_size = 0.2
    rig = chain_rig(bones)
    rig.show_in_front = True
    configure(rig, f"Bone {bones - 1}", target=target, **{"chain_count": 0} | settings)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.frame_set(frames // 3)
    bpy.ops.view3d.view_axis(type="FRONT")
    bpy.ops.view3d.view_all()
    bpy.ops.ed.undo_push(message="Set up")  # without it the first undo takes back the whole scene
    viewport().tag_redraw()


def rig() -> Object:
    """The chain's armature; to be asked for anew after each undo."""
    return bpy.data.objects["Rig"]


def pose() -> list[tuple[float, ...]]:
    """The rotations of all bones of the chain."""
    return [tuple(bone.rotation_quaternion) for bone in rig().pose.bones]


def curves() -> list[FCurve]:
    """The F-Curves of the chain."""
    return curves_of(rig())


def straighten() -> None:
    """Put the chain back to its rest pose."""
    for bone in rig().pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()


def distance() -> float:
    """Return the distance of the chain's tip from the target, as Blender evaluates it."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown, target = rig().evaluated_get(depsgraph), bpy.data.objects["Target"].evaluated_get(depsgraph)
    return (shown.matrix_world @ shown.pose.bones[-1].tail - target.matrix_world.translation).length


def research_tools() -> None:
    """Show the comparison of solvers and the maps."""
    bpy.context.preferences.addons[EXTENSION].preferences.research_tools = True
