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


def test_tiles_and_folders_are_listed_and_what_is_wrong_costs_its_own_line(rig_file, run, tmp_path):
    shots, textures = rig_file.parent, tmp_path / "textures"
    (textures / "tiles").mkdir(parents=True)
    opened(rig_file)
    for name in ("skin.<UDIM>.png", "tiles", "gone/skin.<UDIM>.png"):
        image = bpy.data.images.new(name, 1, 1)
        image.source, image.filepath = "TILED" if "<" in name else "FILE", str(textures / name)
        image.use_fake_user = True
    bpy.ops.wm.save_mainfile()
    (shots / "shots.txt").write_text("none.blend\nshot.fbx\nrig.blend")
    code, out, said = run("list-assets", shots / "shots.txt")
    assert code == FAILED
    inputs = told(out)["assetReferences"]["inputs"]
    assert inputs == {"filenames": [], "directories": sorted(map(str, (textures, textures / "tiles")))}
    assert [line for line in said.splitlines() if line.startswith("IK Triangulation: ")] == [
        f"IK Triangulation: There is no file '{shots / 'none.blend'}'. Name a .blend file.",
        "IK Triangulation: Line 2 of shots.txt is 'shot.fbx'. Name a .blend file in the folder of the list.",
        f"IK Triangulation: rig.blend uses '{textures / 'gone/skin.<UDIM>.png'}', which is not there.",
    ]
    code, out, said = run("list-assets", shots / "none.txt")
    assert (code, out) == (FAILED, "")
    assert f"The list of shots '{shots / 'none.txt'}' cannot be read: No such file or directory." in said
