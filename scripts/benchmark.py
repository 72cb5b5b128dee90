# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed and quality beside a peer, on the same work in one run: read the ratios, not the seconds.

python scripts/benchmark.py bake [--rows ...] [--solvers ...]   whole bakes beside bpy.ops.nla.bake: limits, moving
                                 [--rounds N] [--sizes ...]     roots, meshes, many bones, limbs and bodies, scale
python scripts/benchmark.py paths [--paths ...] [--chains ...]  turns and jumps of joints along eight paths
                                 [--json FILE] [--beside FILE]  and beside the figures of another version
python scripts/benchmark.py methods [--solvers ...]             bakes by published methods beside the methods alone
                                    [--paths ...] [--chains ...]
python scripts/benchmark.py reach [--targets N] [--solvers ...] limited chains beside Blender's own IK
python scripts/benchmark.py ranges [--targets N] [--solvers ...] targets at the ends of joint ranges, all checked
python scripts/benchmark.py arms [--targets N] [--solvers ...]  place and orientation on arms of robots, beside a peer
python scripts/benchmark.py body [--sets N] [--paths N]         hands, feet and head of a humanoid at once,
                                 [--peer N] [--pulls N]         beside a peer, along paths and in a crouch
                                 [--recordings FOLDER]          and recorded motion from its hands, feet and head
python scripts/benchmark.py constrained [--sets N]              goals of a body with Limit Rotation constraints
python scripts/benchmark.py jobs [--jobs ...] [--rigs ...]      everyday jobs of a body: cup, shelf, floor, table, ...
                                 [--blender]                    or of Blender's IK
python scripts/benchmark.py standing FOLDER                     recorded reaches of people who stand, solved again from
                                                                feet and one hand
python scripts/benchmark.py edge [--count N] [--bodies N]       targets that leave the reach and come back, of limbs
                                 [--seed N]                     beside Blender's IK, and of bodies
python scripts/benchmark.py through [--rigs ...] [--count N]     arms that would go through the body, with and without
                                [--kinds ...]                  thickness
python scripts/benchmark.py arcs [--count N] [--jobs ...]       paths of the wrist in reaches: bow, length and speed,
                                 [--paths ...]                  and what begins to move first
python scripts/benchmark.py contacts [FOLDER] [--frames N]      recorded motion whose feet slide, cleaned; without a
                                     [--seeds N]                folder scenes with hands and feet on what moves
python scripts/benchmark.py follow FOLDER SKELETONS           recorded motion followed by other people's characters,
                                  [--only NAME ...]           and by Rigify's with its FK and its IK controls
python scripts/benchmark.py grasp FOLDER [--each]               hands of other people's characters around 20 objects
python scripts/benchmark.py transfer [--rigs ...] [--rounds N] FK to IK and back on five kinds of control rig, beside
                                                                Rigify's own operators
python scripts/benchmark.py map [--size N] [--solvers ...]      metric maps beside the scalar solvers
                                [--limits] [--peers N]          and maps with Finish of limited chains
python scripts/benchmark.py live [--bones N ...]                a dragged and a played target beside the IK constraint
python scripts/benchmark.py spaces                              what moves where a target goes from space to space
python scripts/benchmark.py edit                                steps of a dragged trail, of arms and bodies on three
                                                                kinds of rig, which has no peer
python scripts/benchmark.py overlay [--rounds N] [--bones ...]  a redraw of the viewport overlay, which has no peer
python scripts/benchmark.py panel [--bones N] [--objects N]     a redraw of all panels, which has no peer
python scripts/benchmark.py start [--rounds N]                  enabling the extension beside enabling Rigify
python scripts/benchmark.py farm [--rounds N] [--frames N]      shots of five limbs that one machine bakes in an hour
                                [--beyond SHARE]
python scripts/benchmark.py mocap FILE.bvh [--frames A B]       recorded motion solved again from its hands and feet
python scripts/benchmark.py natural FOLDER [--clips N]          recorded motion solved again by + and Bake beside
                                 [--rows ...] [--solver KEY]    Blender's IK, with and without a pole
python scripts/benchmark.py lifts [--count N] [--solvers ...]   turns of the joints of a leg that lifts and squats
python scripts/benchmark.py drags [--count N] [--seed N]        pops of limbs whose target is dragged, Live beside bake
python scripts/benchmark.py turned [--count N] [--seeds ...]    hands that turn with their target, by Add Limb and Bake
                                                                beside Blender's IK
python scripts/benchmark.py moved [--count N] [--seed N]        arms whose target is moved and never turned, by Add Limb
                                 [--rigs ...]                   and Bake, and Live, beside Blender's IK
python scripts/benchmark.py postures [--reaches N]              a cup followed and random reaches of an arm and a leg by
                                 [--solver KEY]                 + and Bake beside Blender's IK
python scripts/benchmark.py skeletons FOLDER [--each]           arms and legs recognized on other people's skeletons,
                                 [--made N] [--varied N]        on made ones, and on variations of those
python scripts/benchmark.py rigs FOLDER [--only NAME ...]       their arms, legs, fingers and bodies posed, beside
                                 [--alone]                      Blender's IK
python scripts/benchmark.py animals FOLDER                      legs of their animals posed: which way joints bend
"""

import sys
from argparse import ArgumentParser

from environment import enter


def main():
    enter("test")
    from benchmarks import (
        animals,
        arcs,
        arms,
        bake,
        body,
        constrained,
        contacts,
        drags,
        edge,
        edit,
        far,
        farm,
        follow,
        grasp,
        jobs,
        lifts,
        live,
        map,
        methods,
        mocap,
        moved,
        natural,
        overlay,
        panel,
        paths,
        postures,
        ranges,
        reach,
        rigs,
        skeletons,
        spaces,
        standing,
        start,
        through,
        transfer,
        turned,
    )

    parser = ArgumentParser(description="Beside a peer, on the same work in one run.")
    commands = parser.add_subparsers(required=True)
    for benchmark in (
        bake,
        paths,
        methods,
        lifts,
        drags,
        reach,
        arcs,
        ranges,
        arms,
        body,
        constrained,
        far,
        edge,
        jobs,
        standing,
        contacts,
        follow,
        grasp,
        map,
        live,
        edit,
        spaces,
        overlay,
        panel,
        farm,
        mocap,
        natural,
        moved,
        postures,
        rigs,
        animals,
        skeletons,
        start,
        through,
        transfer,
        turned,
    ):
        name = benchmark.__name__.rpartition(".")[2]
        command = commands.add_parser(name, help=benchmark.__doc__.partition(":")[0])
        benchmark.add_arguments(command)
        command.set_defaults(run=benchmark.run)
    arguments = parser.parse_args()
    import bpy  # noqa: F401  # first: mathutils is not found before it

    arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
