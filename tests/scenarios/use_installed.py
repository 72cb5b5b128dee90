# SPDX-License-Identifier: GPL-3.0-or-later
"""What test_extension.py runs in a Blender of its own: install the zip named after `--`, work with it, remove it."""

import bpy  # isort: skip  # first: addon_utils and mathutils cannot be found before it
import os
import sys
import traceback
from pathlib import Path
from urllib.parse import unquote, urlparse

import addon_utils
from mathutils import Vector

NAME = "bl_ext.user_default.ik_triangulation"
TARGET = Vector((1.2, 0.5, 1.4))


def traces():
    """Everything in Blender that can bear our name."""
    types = {name for name in dir(bpy.types) if "ik_triangulation" in str(getattr(bpy.types, name))}
    operators = {name for module in dir(bpy.ops) for name in dir(getattr(bpy.ops, module))}
    properties = {key for cls in (bpy.types.PoseBone, bpy.types.Scene) for key in cls.bl_rna.properties.keys()}
    return {name for name in types | operators | properties if name in types or "ik_triangulation" in name}


def limb():
    """Three bones of length 1 upwards from the origin and an empty to reach for."""
    target = bpy.data.objects.new("Target", None)
    target.location = TARGET
    bpy.context.collection.objects.link(target)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for i in range(3):
        bone = rig.data.edit_bones.new(f"Bone {i}")
        bone.head, bone.tail = (0, 0, i), (0, 0, i + 1)
        bone.parent, bone.use_connect = parent, parent is not None
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["Bone 2"]
    return rig, target


def solve():
    rig, target = limb()
    settings = rig.pose.bones["Bone 2"].ik_triangulation
    settings.target = target
    settings.chain_count = 3
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = evaluated.matrix_world @ evaluated.pose.bones["Bone 2"].tail
    assert (tip - TARGET).length < 5e-3, tip
    bpy.context.scene.frame_end = 12
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    assert rig.animation_data.action.frame_range[:] == (1.0, 12.0)


def manual():
    """The button and a menu's Online Manual tell the browser to open files that are there.

    The browser is a script that keeps what it is told to open. Anchors are not for the system, which would drop them.
    """
    if sys.platform == "win32":
        return []  # no browser can be named there
    browser, told = Path("browser").resolve(), Path("told")
    browser.write_text(f'#!/bin/sh\necho "$1" >>"{told.resolve()}"\n', "utf-8")
    browser.chmod(0o755)
    os.environ["BROWSER"] = str(browser)
    bpy.ops.wm.ik_triangulation_manual()
    bpy.ops.wm.doc_view_manual(doc_id="pose.ik_triangulation_solve")
    bpy.ops.wm.doc_view_manual(doc_id="IKT_PG_limb.solver")
    urls = told.read_text("utf-8").split()
    assert len(urls) == 3, urls
    pages = [Path(unquote(urlparse(url).path)) for url in urls]
    assert not [url for url in urls if not url.startswith("file:///") or "#" in url], urls
    assert all(page.is_file() for page in pages), pages
    assert all("IK Triangulation" in page.read_text("utf-8") for page in pages)
    return pages


def names():
    """Every public name can be had from the extension itself, and no other."""
    extension, everything = sys.modules[NAME], {}
    exec(f"from {NAME} import *", everything)
    assert {"Limb", "bake", "solve"} <= set(everything) & set(dir(extension))
    assert everything["bake"] is extension.bake
    assert not hasattr(extension, "beak")


def another_version():
    """Another version that is put in place while the extension is disabled is the one that is enabled then."""
    before = sys.modules[f"{NAME}.ik_triangulation.api"]
    addon_utils.disable(NAME, default_set=True)
    os.utime(sys.modules[NAME].__file__, (0, 0))
    addon_utils.enable(NAME, default_set=True)
    assert sys.modules[NAME].bake is not before.bake
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}


def main():
    archive = Path(sys.argv[sys.argv.index("--") + 1])
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert not traces()
    bpy.ops.extensions.package_install_files(
        filepath=str(archive), directory=str(archive.parent), repo="user_default", enable_on_install=True
    )
    assert traces()
    assert not addon_utils._extensions_warnings_get(), "Blender finds fault with how the extension imports"
    solve()
    names()
    pages = manual()
    another_version()
    repositories = bpy.context.preferences.extensions.repos
    (folder,) = (Path(repository.directory) for repository in repositories if repository.module == "user_default")
    assert (folder / "ik_triangulation").is_dir()
    addon_utils.disable(NAME, default_set=True)
    assert not traces(), traces()
    bpy.ops.extensions.package_uninstall(repo_directory=str(folder), pkg_id="ik_triangulation")
    assert not (folder / "ik_triangulation").exists()
    assert not [page for page in pages if page.exists()], "pages of the manual stay behind"
    print("used and removed", flush=True)


failed = 1
try:
    main()
    failed = 0
except BaseException:
    traceback.print_exc()
sys.stdout.flush()
sys.stderr.flush()
os._exit(failed)  # Blender 4.5 as a module may hang when it ends
