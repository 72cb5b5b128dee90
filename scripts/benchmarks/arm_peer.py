# SPDX-License-Identifier: GPL-3.0-or-later
"""The peer of the benchmark of arms: mink, differential inverse kinematics on MuJoCo with limits as constraints."""

from time import perf_counter

import numpy as np

HOW_TO_GET_IT = "The peer is not installed. To have it in the same run: pip install mink daqp"
STEPS = 100  # of one start
CONVERGED = 1e-7  # [m, rad] step below which a start has ended


def installed():
    """Tell whether the peer can be imported."""
    try:
        import daqp  # noqa: F401
        import mink  # noqa: F401
    except ImportError:
        return False
    return True


def description(arm):
    """An arm in MuJoCo's own language."""
    text, ends = "", ""
    for number, (offset, axis, ends_of_range) in enumerate(arm.joints):
        limits = f'range="{ends_of_range[0]} {ends_of_range[1]}"' if ends_of_range else 'limited="false"'
        text += (
            f'<body pos="{" ".join(map(str, offset))}"><joint name="joint{number}" axis="{" ".join(map(str, axis))}" '
            f'{limits}/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        )
        ends += "</body>"
    text += f'<site name="tip" pos="{" ".join(map(str, arm.tip))}"/>'
    return f'<mujoco><compiler angle="radian" autolimits="true"/><worldbody>{text}{ends}</worldbody></mujoco>'


def solve(arm, middle, places, turns, near, straight, starts):
    """Joint angles (F, n) found for places (F, 3) and orientations (F, 4), and the seconds each of them took.

    The first start is `middle`, the others up to that many `starts` are random. A start ends within `near` [m] and
    `straight` [rad], when it has converged, or after STEPS steps.
    """
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_string(description(arm))
    configuration = mink.Configuration(model)
    task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=0.3, lm_damping=1e-3)
    limits = [mink.ConfigurationLimit(model, gain=1.0)]
    low, high = np.array([each[2] or (-np.pi, np.pi) for each in arm.joints]).T
    random, found, seconds = np.random.default_rng(0), [], []
    for place, turn in zip(places, turns, strict=True):
        started = perf_counter()
        task.set_target(mink.SE3.from_rotation_and_translation(mink.SO3(turn), place))
        best, least = middle, np.inf
        for start in range(starts):
            configuration.update(middle if start == 0 else random.uniform(low, high))
            for _ in range(STEPS):
                error = task.compute_error(configuration)
                miss = max(np.linalg.norm(error[:3]) / near, np.linalg.norm(error[3:]) / straight)
                if miss < least:
                    best, least = configuration.q.copy(), miss
                if miss <= 1.0:
                    break
                try:
                    step = mink.solve_ik(configuration, [task], 1.0, "daqp", damping=1e-6, limits=limits)
                except mink.NoSolutionFound:
                    break
                configuration.integrate_inplace(step, 1.0)
                if np.abs(step).max() < CONVERGED:
                    break
            if least <= 1.0:
                break
        seconds.append(perf_counter() - started)
        found.append(best)
    return np.array(found), np.array(seconds)
