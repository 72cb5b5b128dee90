# SPDX-License-Identifier: GPL-3.0-or-later
"""What the shots of a list use outside of their folder is listed for Deadline Cloud."""

import bpy

from ..commands import DONE, FAILED, opened, told


def test_assets_outside_of_the_folder_are_listed_for_deadline_cloud(rig_file, run, tmp_path):
    shots = rig_file.parent
    opened(rig_file)
    for folder in (tmp_path / "textures", shots):
        folder.mkdir(exist_ok=True)
        (folder / "skin.png").write_bytes(b"")
        image = bpy.data.images.new("Skin", 1, 1)
        image.source, image.filepath, image.use_fake_user = "FILE", str(folder / "skin.png"), True
    bpy.ops.wm.save_mainfile()
    (shots / "shots.txt").write_text("rig.blend")
    code, out, _ = run("list-assets", shots / "shots.txt")
    assert code == DONE
    inputs = told(out)["assetReferences"]["inputs"]
    assert inputs == {"filenames": [str((tmp_path / "textures/skin.png").resolve())], "directories": []}
    (tmp_path / "textures/skin.png").unlink()
    code, _, said = run("list-assets", shots / "shots.txt")
    assert code == FAILED
    assert "skin.png', which is not there." in said
