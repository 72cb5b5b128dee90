# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job from nothing, by + and Bake alone: a hand takes a cup, a hand wipes a table, a knee is lifted.

python scripts/demo.py [FOLDER]

Rigify's human gets a simple skin, + is pressed on its hands, foot, chest and head, the empties that this makes are
keyed, and Bake turns that into keys on the bones. Writes demo.blend (open it in Blender and press play) and demo.png
(some of its frames, rendered) to FOLDER, by default demo/.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path

from environment import ROOT, enter

APART = 1.8  # metres from one body to the next


def make_scene(only=None):
    """A body for each act, or for `only` one, beside each other; returns the actors by act, not yet baked."""
    import bpy
    from stage import body
    from stage.acts import ACTS, FRAMES, Actor

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.unit_settings.system = "METRIC"
    first = body.make_body()
    actors = {}
    acts = {only: ACTS[only]} if only else ACTS
    for number, (name, act) in enumerate(acts.items()):
        collection = bpy.data.collections.new(name)
        scene.collection.children.link(collection)
        actors[name] = Actor(body.copy_body(first, name, collection), collection, APART * number)
        act(actors[name])
    for ob in [*first.children, first]:
        bpy.data.objects.remove(ob)
    scene.frame_set(1)
    return actors


def bake_all(actors):
    """Bake all limbs of each body, as the button does; returns lists of limbs and their reports."""
    import bpy

    from ik_triangulation.api import bake_limbs, enabled_limbs

    scene, limbs, reports = bpy.context.scene, [], []
    for name, actor in actors.items():
        own = enabled_limbs(actor.rig)
        print(f"Baking {name}: {', '.join(limb.tip for limb in own)}", flush=True)
        reports += bake_limbs(own, scene.frame_start, scene.frame_end)
        limbs += own
    return limbs, reports


def measure(file, ends):
    """Open the file as anyone would and step through it; return per frame the distances of these ends, which are names
    of armature, bone and empty."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for rig, bone, empty in ends:
            posed, target = (bpy.data.objects[name].evaluated_get(depsgraph) for name in (rig, empty))
            found.append((posed.matrix_world @ posed.pose.bones[bone].tail - target.matrix_world.translation).length)
    return sorted(found)


def main():
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "demo", metavar="FOLDER")
    arguments = parser.parse_args()
    enter("demo")
    import bpy  # noqa: F401  # first: mathutils and the add-ons are not found before it

    import ik_triangulation

    ik_triangulation.register()  # the settings on the bones
    try:
        reached = demonstrate(arguments.folder)
    finally:
        ik_triangulation.unregister()  # Blender 4.5 crashes when it ends with a command line still registered
    sys.exit(0 if reached else 1)


def demonstrate(folder):
    """Make the files; whether all ends reach everywhere in them."""
    import bpy
    from stage import film

    from ik_triangulation.jobs.report_text import summary
    from ik_triangulation.rig.units import distance_text

    folder.mkdir(parents=True, exist_ok=True)
    blend, picture = (folder / "demo.blend").resolve(), (folder / "demo.png").resolve()

    print("Making three bodies and what they act with", flush=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    actors = make_scene()
    film.set_up(actors)
    limbs, reports = bake_all(actors)
    for limb, report in zip(limbs, reports, strict=True):
        print(f"  {limb.armature.name}, {limb.tip}: {summary(report, bpy.context.scene)}")
        for warning in report.warnings:
            print(f"  Warning: {warning}")
    keys, seconds = sum(report.keys for report in reports), sum(report.seconds for report in reports)
    ends = [(limb.armature.name, limb.tip, limb.target.name) for limb in limbs]
    tolerance = max(report.tolerance for report in reports)
    reached = all(report.all_reached for report in reports)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True, compress=True)
    print("Opening the file again and measuring the evaluated bodies", flush=True)
    distances = measure(blend, ends)
    print("Rendering some of the frames", flush=True)
    film.strips(picture)

    scene = bpy.context.scene
    within = sum(distance <= tolerance for distance in distances)
    print(f"In the saved file: {within} of {len(distances)} within {distance_text(tolerance, scene)},")
    largest, middle = (distance_text(distance, scene) for distance in (distances[-1], distances[len(distances) // 2]))
    print(f"  largest distance {largest}, median {middle}")
    print(f"Baked {keys} keys in {seconds * 1000:.0f} ms")
    print(f"Wrote {blend}\nWrote {picture}")
    return reached and within == len(distances)


if __name__ == "__main__":
    main()
