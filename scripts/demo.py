# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job from nothing: a hand takes a cup, a hand wipes a table, a knee is lifted, a crate is picked up.

python scripts/demo.py [FOLDER] [--quick]

Rigify's human gets a simple skin, + is pressed on its hands, foot, chest and head, or for the crate Set Up Body, the
empties that this makes are keyed, and Bake turns that into keys on the bones. Writes demo.blend (open it in Blender
and press play) and demo.png (some of its frames, rendered, with --quick one of each act) to FOLDER, by default demo/.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NamedTuple

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


class Baked(NamedTuple):
    """A bake of a limb, or of the limbs of a body, with its report, and what to print of it."""

    limbs: tuple
    report: Any
    reached: bool
    lines: list


def bake_all(actors):
    """Bake all limbs of each actor, as the button does: one by one, or as a body."""
    import bpy

    from ik_triangulation.api import bake_body, bake_limbs, enabled_limbs
    from ik_triangulation.jobs.shots.problem import body_of
    from ik_triangulation.jobs.shots.report import lines, summary

    scene, done = bpy.context.scene, []
    for actor in actors.values():
        limbs = enabled_limbs(actor.rig)
        body = body_of(actor.rig, limbs[0].tip)
        if body:
            report = bake_body(body, scene.frame_start, scene.frame_end)
            done.append(Baked(body.limbs, report, report.reached, lines(report, scene)))
            continue
        for limb, report in zip(limbs, bake_limbs(limbs, scene.frame_start, scene.frame_end), strict=True):
            done.append(Baked((limb,), report, report.all_reached, [f"{limb.tip}: {summary(report, scene)}"]))
    return done


def describe(act, bakes):
    """Print a line for an act whose bakes all reach, and all that is known of one whose bakes do not."""
    tips = ", ".join(limb.tip for each in bakes for limb in each.limbs)
    reached = all(each.reached for each in bakes)
    print(f"  {act}: {tips} {'reach at every frame' if reached else 'do not reach'}", flush=True)
    for each in bakes:
        for line in [] if each.reached else each.lines:
            print(f"    {line}")
        for warning in each.report.warnings:
            print(f"    Warning: {warning}")


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
    parser.add_argument("--quick", action="store_true", help="render one frame of each act: that takes the longest")
    arguments = parser.parse_args()
    enter("demo")
    import bpy  # noqa: F401  # first: mathutils and the add-ons are not found before it

    import ik_triangulation

    ik_triangulation.register()  # the settings on the bones
    try:
        reached = demonstrate(arguments.folder, arguments.quick)
    finally:
        ik_triangulation.unregister()  # Blender 4.5 crashes when it ends with a command line still registered
    sys.exit(0 if reached else 1)


def demonstrate(folder, quick=False):
    """Make the files; whether all ends reach everywhere in them."""
    import bpy
    from benchmarks.scenes import silent
    from stage import film

    from ik_triangulation.rig.units import distance_text

    folder.mkdir(parents=True, exist_ok=True)
    blend, picture = (folder / "demo.blend").resolve(), (folder / "demo.png").resolve()

    print("Making four bodies and what they act with, and baking them", flush=True)
    with silent():  # add-ons and operators print
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        actors = make_scene()
        film.set_up(actors)
        done = bake_all(actors)
    for act, actor in actors.items():
        describe(act, [each for each in done if each.limbs[0].armature == actor.rig])
    limbs = [limb for each in done for limb in each.limbs]
    keys, seconds = sum(each.report.keys for each in done), sum(each.report.seconds for each in done)
    reaching = [limb for limb in limbs if limb.orientation != "LOOK"]  # a head looks at its target from where it is
    ends = [(limb.armature.name, limb.tip, limb.target.name) for limb in reaching]
    tolerance, reached = max(limb.tolerance for limb in limbs), all(each.reached for each in done)
    print("Opening the saved file again and measuring the evaluated bodies", flush=True)
    with silent():
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True, compress=True)
        distances = measure(blend, ends)
    print("Rendering some of the frames, a dot each ", end="", flush=True)
    film.strips(picture, 1 if quick else None, lambda: print(".", end="", flush=True))
    print()

    scene = bpy.context.scene
    within = sum(distance <= tolerance for distance in distances)
    largest, middle = (distance_text(distance, scene) for distance in (distances[-1], distances[len(distances) // 2]))
    print(
        f"In the saved file {within} of {len(distances)} ends are within {distance_text(tolerance, scene)} of their "
        f"targets: largest distance {largest}, median {middle}; {keys} keys, baked in {seconds * 1000:.0f} ms"
    )
    print(f"Wrote {blend} (open it in Blender and press play)\nWrote {picture}")
    return reached and within == len(distances)


if __name__ == "__main__":
    main()
