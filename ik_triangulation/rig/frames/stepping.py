# SPDX-License-Identifier: GPL-3.0-or-later
"""Going through the frames of the user's own scene, for motion that is there only; it is left as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import ceil, floor, inf

from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix

from ...cooperative import Work
from ..armature import base_of
from ..dependencies import Bound, Node, needs_scene
from ..drivers import broken_drivers
from ..limb import Limb
from .restore import scene_shown
from .sampling import Sample, frame_of, go_to, in_parts, is_own, others_follow_frame, sample, silenced, stage

Evaluate = Callable[[float], Depsgraph]  # at a frame
_APART = 1e-5  # of the largest number in them: what two matrices of the same may differ by


def bound_to(limb: Limb, scene: Scene, view_layer: ViewLayer, frames: Sequence[float]) -> Bound | None:
    """Why rig or targets move at these frames as only the user's scene shows it; None if it can do without that."""
    moving = [(limb.armature, limb.bones[0]), *limb.targets, *((ob, "") for ob in limb.obstacle_objects)]
    for each in moving:
        bound = needs_scene(Node(*each))
        if bound:
            return bound
    if not others_follow_frame():
        return None
    some = {frames[0], frames[len(frames) // 2], frames[-1]}
    with stepping(scene, view_layer) as evaluate:
        seen = [_places(limb, evaluate(frame)) for frame in some]
    with stage(limb, scene) as staged:
        apart = [_places(limb, go_to(staged, frame)) for frame in some]
    for there, here in zip(seen, apart, strict=True):
        for (ob, _), a, b in zip(moving, there, here, strict=True):
            if not _alike(a, b):
                return Bound(f"another add-on moves '{ob.name}' as the frame changes", True)
    return None


@contextmanager
def stepping(scene: Scene, view_layer: ViewLayer) -> Iterator[Evaluate]:
    """What evaluates the user's scene at a frame; afterwards it is at its frame again and shows what it has shown."""
    frame, show_again = scene.frame_current + scene.frame_subframe, scene_shown(scene)
    with ExitStack() as undo:
        undo.enter_context(silenced(is_own))
        undo.callback(_settle, scene, view_layer, frame, show_again)
        yield partial(go_to, scene, view_layer=view_layer)


def way_through(scene: Scene, frames: Sequence[float], bound: Bound) -> Sequence[float]:
    """The frames to go through in that order to see these: from the start, if they come of each other."""
    if not bound.from_start:
        return frames
    world = scene.rigidbody_world
    start = world.point_cache.frame_start if world and world.point_cache else scene.frame_start
    whole = range(min(floor(min(frames)), scene.frame_start, start), ceil(max(frames)) + 1)
    # What is simulated is there between two frames only after both.
    return [*whole, *(frame for frame in frames if frame != int(frame))]


def reading(
    limb: Limb,
    scene: Scene,
    view_layer: ViewLayer,
    frames: Sequence[float],
    bound: Bound | None,
    seconds: float = inf,
    posed: bool = False,
    broken: list[str] | None = None,
) -> Work[list[Sample]]:
    """The rig and its target at each of the frames, `posed` as samples() takes it, `broken` as in_parts() does.

    Raises what these do. Stops now and then, and after so many `seconds` at the latest; closing it leaves the user's
    scene as it was.
    """
    seen = []
    if not bound:
        for now in in_parts(limb, scene, frames, seconds, posed, broken):
            seen.append(now)
            yield
        return seen
    wanted = set(frames)
    with stepping(scene, view_layer) as evaluate:
        for frame in way_through(scene, frames, bound):
            depsgraph = evaluate(frame)
            if frame in wanted:
                seen.append(sample(limb, depsgraph, frame))
            yield
        if broken is not None:
            broken += broken_drivers(limb, view_layer.depsgraph)
    return sorted(seen, key=lambda now: now.frame)


def _settle(scene: Scene, view_layer: ViewLayer, frame: float, show_again: Sequence[Callable[[], None]]) -> None:
    go_to(scene, frame)
    for show in show_again:
        show()
    view_layer.update()


def _places(limb: Limb, depsgraph: Depsgraph) -> list[Matrix]:
    """Where the chain's parent is, the targets are, and what is in the way; world space."""
    armature = limb.armature.evaluated_get(depsgraph)
    root = armature.matrix_world @ base_of(armature, limb.bones[0])
    return [
        root,
        *(frame_of(*target, depsgraph) for target in (*limb.targets, *((ob, "") for ob in limb.obstacle_objects))),
    ]


def _alike(a: Matrix, b: Matrix) -> bool:
    numbers = [*(number for row in a for number in row)], [*(number for row in b for number in row)]
    enough = _APART * max(1.0, *map(abs, numbers[0]))
    return not any(abs(x - y) > enough for x, y in zip(*numbers, strict=True))
