# SPDX-License-Identifier: GPL-3.0-or-later
"""Stepping of the user's own scene, for motion that no other scene shows; the scene is left as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import ceil, floor

from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix

from ..armature import base_of
from ..body import RigBody
from ..dependencies import Bound, Dependencies, Node
from ..limb import Limb
from .restore import scene_shown
from .sampling import frame_of, go_to, is_own, others_follow_frame, silenced, temporary_scene

Evaluate = Callable[[float], Depsgraph]  # at a frame
_APART = 1e-5  # of the largest element: difference of two matrices that count as equal


def reason_to_step(
    limb: Limb | RigBody,
    scene: Scene,
    view_layer: ViewLayer,
    frames: Sequence[float],
    known: Dependencies | None = None,
) -> Bound | None:
    """Return the reason why only the user's scene shows the motion of rig or targets; None if a temporary one does."""
    known = known or Dependencies(limb.limbs if isinstance(limb, RigBody) else [limb])
    moving = [(limb.armature, limb.bones[0]), *limb.targets, *((ob, "") for ob in limb.obstacle_objects)]
    moving += [(limb.armature, name) for name in _held(limb)]
    for each in moving:
        bound = known.needs_scene(Node(*each))
        if bound:
            return bound
    if not others_follow_frame():
        return None
    some = {frames[0], frames[len(frames) // 2], frames[-1]}
    with stepping(scene, view_layer) as evaluate:
        seen = [_places(limb, evaluate(frame)) for frame in some]
    with temporary_scene(limb, scene) as staged:
        apart = [_places(limb, go_to(staged, frame)) for frame in some]
    for there, here in zip(seen, apart, strict=True):
        for (ob, _), a, b in zip(moving, there, here, strict=True):
            if not _alike(a, b):
                return Bound(f"another add-on moves '{ob.name}' as the frame changes", True)
    return None


@contextmanager
def stepping(scene: Scene, view_layer: ViewLayer) -> Iterator[Evaluate]:
    """Give a function that evaluates the user's scene at a frame; afterwards its frame and state are restored."""
    frame, show_again = scene.frame_current + scene.frame_subframe, scene_shown(scene)
    with ExitStack() as undo:
        undo.enter_context(silenced(is_own))
        undo.callback(_settle, scene, view_layer, frame, show_again)
        yield partial(go_to, scene, view_layer=view_layer)


def frames_to_step(scene: Scene, frames: Sequence[float], bound: Bound) -> Sequence[float]:
    """Return the frames to step through, in order, to see `frames`: from the start if each depends on those before."""
    if not bound.from_start:
        return frames
    world = scene.rigidbody_world
    start = world.point_cache.frame_start if world and world.point_cache else scene.frame_start
    whole = range(min(floor(min(frames)), scene.frame_start, start), ceil(max(frames)) + 1)
    # A simulation can be seen between two frames only after both.
    return [*whole, *(frame for frame in frames if frame != int(frame))]


def _settle(scene: Scene, view_layer: ViewLayer, frame: float, show_again: Sequence[Callable[[], None]]) -> None:
    go_to(scene, frame)
    for show in show_again:
        show()
    view_layer.update()


def _places(limb: Limb | RigBody, depsgraph: Depsgraph) -> list[Matrix]:
    """World matrices of the chain's parent, the targets and the obstacles, and of held bones (4x4)."""
    armature = limb.armature.evaluated_get(depsgraph)
    root = armature.matrix_world @ base_of(armature, limb.bones[0])
    return [
        root,
        *(frame_of(*target, depsgraph) for target in (*limb.targets, *((ob, "") for ob in limb.obstacle_objects))),
        *(frame_of(limb.armature, name, depsgraph) for name in _held(limb)),
    ]


def _held(limb: Limb | RigBody) -> Sequence[str]:
    return limb.held if isinstance(limb, RigBody) else ()


def _alike(a: Matrix, b: Matrix) -> bool:
    numbers = [*(number for row in a for number in row)], [*(number for row in b for number in row)]
    enough = _APART * max(1.0, *map(abs, numbers[0]))
    return not any(abs(x - y) > enough for x, y in zip(*numbers, strict=True))
