# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole body: sets of goals for hands, feet and head, pulls out of reach, paths and a crouch, beside a peer.

Goals are those of random poses of a humanoid, every angle anywhere in its range, so that all of them can be met; each
solve starts from one relaxed stand. What is called reached is judged apart from the package, in double precision: the
place of each tip within a thousandth of its limb's reach, orientations within half a degree, limits within 1e-4 rad.
"""

from dataclasses import replace
from math import degrees
from time import process_time

import numpy as np

from . import body_live, body_peer, body_recordings, humanoid
from .body_goals import (
    FEET,
    HANDS,
    KINDS,
    NEAR,
    SHARE,
    STRAIGHT,
    crouch,
    goals_of,
    half_frames,
    judge,
    random_path,
    reached_of,
    stands,
)

PULLS = 0.2, 0.6, 2.0  # [m]


def sets(figure, count, peer):
    """Sets of goals that can all be met: in one batch, and some alone."""
    from ik_triangulation.solvers.body.priorities import solve_sets

    print("| Goals | Method | Reached | | Wrong | Violation [rad] | ms a set |\n|---|---|---|---|---|---|---|")
    for kind in KINDS:
        there = humanoid.random_states(figure, count, np.random.default_rng(5))
        tasks = goals_of(figure, there, kind)
        for method, number in (("a batch", count), ("alone", min(count, 40))):
            some, states = [task.take(np.arange(number)) for task in tasks], stands(figure, number)
            met, begun = np.zeros(number, bool), process_time()
            if method == "a batch":
                met = solve_sets(figure.tree, states, some)
            else:
                for n in range(number):
                    one = states.take([n])
                    met[n] = solve_sets(figure.tree, one, [task.take([n]) for task in some])[0]
                    states.put([n], one)
            spent = process_time() - begun
            _print_sets(kind, f"this package, {method}", judge(figure, states, some), met, spent)
        if peer and body_peer.installed():
            number = min(count, peer)
            some = [task.take(np.arange(number)) for task in tasks]
            states, spent = body_peer.solve(figure, humanoid.standing(figure), some, SHARE * NEAR, SHARE * STRAIGHT)
            _print_sets(kind, "mink, 1 start", judge(figure, states, some), np.zeros(number, bool), spent)
    if peer and not body_peer.installed():
        print(f"\n{body_peer.HOW_TO_GET_IT}")


def _print_sets(kind, method, judged, met, spent):
    reached = reached_of(judged)
    cells = [
        kind,
        method,
        f"{reached.sum()} of {len(reached)}",
        f"{reached.mean():.1%}",
        int((met & ~reached).sum()),
        f"{max(0.0, judged[2].max()):.0e}",
        f"{spent / len(reached) * 1e3:.2f}",
    ]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def pulls(figure, count):
    """Hands pulled out of reach while feet are held."""
    from ik_triangulation.solvers.body.priorities import solve_sets

    print("\n| Hands pulled by | Feet off, of the leg | Feet turned [degrees] | Hands no farther off | ms a set |")
    print("|---|---|---|---|---|")
    for pull in PULLS:
        random = np.random.default_rng(7)
        states = humanoid.random_states(figure, count, random)
        tasks = goals_of(figure, states, "feet held, hands, look")
        ways = random.normal(size=(2, 3, count))
        ways *= pull / np.linalg.norm(ways, axis=1, keepdims=True)
        for hand in range(2):
            tasks[hand] = tasks[hand].to_points(tasks[hand].target.place + ways[hand])
        begun = process_time()
        solve_sets(figure.tree, states, tasks, rounds=())
        spent = process_time() - begun
        far, turned, _ = judge(figure, states, tasks)
        fine = far[:2] * figure.reach(HANDS[0]) <= pull * (1.0 + 1e-6)
        cells = f"{pull} m", f"{far[2:].max():.0e}", f"{degrees(turned[:2].max()):.0e}"
        more = f"{fine.sum()} of {fine.size}", f"{spent / count * 1e3:.2f}"
        print(f"| {' | '.join((*cells, *more))} |", flush=True)


def paths(figure, count):
    """Paths of tips that some motion of the body has, each solved whole."""
    from ik_triangulation.cooperative import finished
    from ik_triangulation.motion.body_easing import largest_turns, unsteadiness
    from ik_triangulation.motion.body_path import body_path
    from ik_triangulation.motion.shot import Shot

    print("\n| Paths of 120 frames | Reached | Turns over 3 x the local median | Largest turn [degrees] | ms a frame |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        reached = jumps = 0
        largest = spent = 0.0
        for seed in range(count):
            way = random_path(figure, seed)
            tasks = goals_of(figure, way, kind)
            begun = process_time()
            states, _ = finished(body_path(Shot(tree=figure.tree, reference=stands(figure, len(way)), tasks=tasks)))
            spent += process_time() - begun
            reached += bool(reached_of(judge(figure, states, tasks)).all())
            jumps += unsteadiness(figure.tree, states) > 3.0
            largest = max(largest, degrees(largest_turns(figure.tree, states).max()))
        print(
            f"| {kind} | {reached} of {count} | {jumps} | {largest:.1f} | {spent / count / 120 * 1e3:.2f} |", flush=True
        )


def report_crouch(figure):
    """Both hands to the floor and back."""
    from ik_triangulation.cooperative import finished
    from ik_triangulation.goals.from_goals import balance_of
    from ik_triangulation.kinematics.batch import Geometry
    from ik_triangulation.motion.body_easing import largest_turns, unsteadiness
    from ik_triangulation.motion.body_path import body_path
    from ik_triangulation.motion.shot import Shot
    from ik_triangulation.solvers.batch.change import System

    reference, tasks, steady = crouch(figure)
    begun = process_time()
    states, _ = finished(body_path(Shot(tree=figure.tree, reference=reference, tasks=tasks, steady=steady)))
    spent = process_time() - begun
    judged = judge(figure, states, tasks)
    half = half_frames(figure, states)
    slip = judge(figure, half, [task.take(slice(len(half))) for task in tasks])[0][:2].max()
    support = balance_of(figure, FEET, humanoid.standing(figure).frames[..., None], 0.0)
    outside = System(figure.tree, states, [support]).measured[0].off.max()
    names = [joint.name for joint in figure.joints]
    knees = [states.angles[n] for n, i in enumerate(figure.tree.joint_of[: figure.tree.angles]) if "shin" in names[i]]
    height = Geometry(figure.tree, states).heads[0, 2]
    print(
        f"\nCrouch, {len(states)} frames: {reached_of(judged).sum()} reached, feet slip {judged[0][:2].max():.0e} of "
        f"the leg, {slip:.0e} at half frames, centre of mass outside by {outside:.4f} m, hips down by "
        f"{height[0] - height.min():.2f} m, knees bent by {degrees(min(knees[0].max(), knees[1].max())):.0f} degrees, "
        f"largest turn {degrees(largest_turns(figure.tree, states).max()):.1f} degrees and "
        f"{unsteadiness(figure.tree, states):.2f} times the local median, {spent / len(states) * 1e3:.2f} ms a frame"
    )


def report_live(figure):
    """A hand that is dragged, feet held, in reach and out of it."""
    from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
    from ik_triangulation.goals.task import Level
    from ik_triangulation.kinematics.batch import Geometry
    from ik_triangulation.solvers.body.solve_body import BodyFollower

    placed = humanoid.standing(figure).frames[..., None]
    for name, far in (("in reach", (0.0, -0.4, -0.75)), ("pulled out of reach", (0.3, -2.0, 0.0))):
        reference = stands(figure, 1)
        follower = BodyFollower(
            figure.tree, reference, hold_tasks(figure, FEET, placed), balance_of(figure, FEET, placed)
        )
        states, number, spent = reference, figure.number_of[HANDS[0]], []
        begin = Geometry(figure.tree, states).tip(number)
        for part in np.linspace(0.0, 1.0, 120):
            goal = point_task(begin + part * np.array(far)[:, None], np.array([NEAR * figure.reach(HANDS[0])]))
            begun = process_time()
            states = follower.moved(states, [replace(goal, tip=number, level=Level.REACH)])
            spent.append(1e3 * (process_time() - begun))
        print(f"A hand dragged {name}: {np.median(spent):.1f} ms a move, 95 % within {np.percentile(spent, 95):.1f}")


def report_beside_an_arm(figure, count):
    """The time of a set beside that of one limited arm of the same body."""
    from ik_triangulation.goals.from_goals import RADIAN, point_task
    from ik_triangulation.goals.orientation import OrientTask
    from ik_triangulation.kinematics.batch import Geometry, Tree
    from ik_triangulation.solvers.batch.descent import at_one_level
    from ik_triangulation.solvers.batch.restarts import solve_cold
    from ik_triangulation.solvers.body.priorities import solve_sets

    chain = figure.chain(HANDS[0])
    arm = Tree.of(replace(chain, joints=chain.joints[5:]))
    pose = replace(chain, joints=chain.joints[5:]).rest_pose()
    random = np.random.default_rng(3)
    for number, kind in ((count, "five places"), (count, "four places with orientation"), (1, "five places")):
        ratio = []
        for _ in range(1 if number > 1 else 30):
            there = arm.states([pose] * number)
            there.angles = arm.lower + random.random((arm.angles, number)) * (arm.upper - arm.lower)
            geometry = Geometry(arm, there)
            task = [point_task(geometry.tip().copy(), np.array([SHARE * NEAR * arm.size]))]
            if "orientation" in kind:
                length, angle = RADIAN * arm.size, np.array([SHARE * STRAIGHT])
                task.append(OrientTask(rotation=geometry.tip_rotation().copy(), length=length, tolerance=angle))
            states, begun = arm.states([pose] * number), process_time()
            solve_cold(arm, states, at_one_level(task))
            alone = process_time() - begun
            tasks = goals_of(figure, humanoid.random_states(figure, number, random), kind)
            states, begun = stands(figure, number), process_time()
            solve_sets(figure.tree, states, tasks)
            ratio.append((process_time() - begun, alone))
        body, one = np.array(ratio).mean(0)
        print(f"{number} of {kind} at once: {body / one:.1f} times one limited arm ({one / number * 1e3:.2f} ms)")


def run(arguments):
    """All parts, in one run."""
    figure = humanoid.body()
    print(f"A humanoid of {len(figure.joints)} bones and {figure.tree.angles} limited angles on hips that are free\n")
    sets(figure, arguments.sets, arguments.peer)
    pulls(figure, arguments.pulls)
    paths(figure, arguments.paths)
    report_crouch(figure)
    report_live(figure)
    body_live.report()
    report_beside_an_arm(figure, arguments.sets)
    if arguments.recordings:
        body_recordings.report(arguments.recordings)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--sets", type=int, default=1000, help="of each kind of goals")
    parser.add_argument("--pulls", type=int, default=200, help="of hands, for each distance")
    parser.add_argument("--paths", type=int, default=60, help="of each kind of goals")
    parser.add_argument("--recordings", metavar="FOLDER", help="of .bvh files, to be solved from hands, feet and head")
    parser.add_argument("--peer", type=int, default=200, help="sets that the peer solves; 0: none")
