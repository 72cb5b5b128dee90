# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of a limb at the frames of a range, in a temporary scene or by stepping the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import ceil, floor, inf
from time import perf_counter
from typing import TypeVar

from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix

from ...cooperative import Work, finished
from ..armature import base_of
from ..body import ContactSupport, RigBody
from ..checks import broken_drivers
from ..dependencies import Bound, Dependencies, Node
from ..keyframes.unkeyed import scene_shown
from ..limb import Limb
from .keyed_motion import channels_at, read_keyed, stands_still
from .samples import (
    Sample,
    Samples,
    evaluated_samples,
    frame_of,
    go_to,
    is_own,
    others_follow_frame,
    read_in_parts,
    sample,
    silenced,
    temporary_scene,
)

Evaluate = Callable[[float], Depsgraph]  # at a frame
_APART = 1e-5  # of the largest element: difference of two matrices that count as equal

_T = TypeVar("_T")


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
    moving += [*((limb.armature, name) for name in _held(limb)), *_supports(limb)]
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
        *(frame_of(*support, depsgraph) for support in _supports(limb)),
    ]


def _supports(limb: Limb | RigBody) -> Sequence[ContactSupport]:
    return limb.supports if isinstance(limb, RigBody) else ()


def _held(limb: Limb | RigBody) -> Sequence[str]:
    return limb.held if isinstance(limb, RigBody) else ()


def _alike(a: Matrix, b: Matrix) -> bool:
    numbers = [*(number for row in a for number in row)], [*(number for row in b for number in row)]
    enough = _APART * max(1.0, *map(abs, numbers[0]))
    return not any(abs(x - y) > enough for x, y in zip(*numbers, strict=True))


class Evaluator:
    """Evaluates a limb or a whole body with its targets at frames of the timeline.

    A temporary scene is evaluated where it shows the same motion as the user's, which is stepped otherwise and left as
    it was: at `frames` that decides what it is compared at. `stepped` is the reason for that, None for a temporary
    scene. Evaluators that are made one after the other share what is `known` of dependencies.
    """

    def __init__(
        self,
        limb: Limb | RigBody,
        scene: Scene,
        view_layer: ViewLayer,
        frames: Sequence[float],
        known: Dependencies | None = None,
    ) -> None:
        self._whole, self.scene, self.view_layer, self.frames = limb, scene, view_layer, frames
        self._bound = reason_to_step(limb, scene, view_layer, frames, known)
        self.stepped = self._bound.why if self._bound else None

    @property
    def parts(self) -> int:
        """The number of times that read() yields: once for each frame of the user's scene that is stepped.

        It also does so between two parts of what is evaluated in a temporary scene, which are not counted.
        """
        return len(frames_to_step(self.scene, self.frames, self._bound)) if self._bound else 0

    def evaluate(
        self, frames: Sequence[float], look: Callable[[Depsgraph, float], _T], seconds: float = inf
    ) -> Work[dict[float, _T]]:
        """Call `look` with the dependency graph evaluated at each of these frames; returns the results by frame.

        It yields after at most about `seconds`, when there is no temporary scene. If creating that and evaluating its
        first frame take longer, it goes on for as long again.
        """
        found: dict[float, _T] = {}
        if self._bound:
            wanted = set(frames)
            with stepping(self.scene, self.view_layer) as evaluate:
                for frame in frames_to_step(self.scene, sorted(frames), self._bound):
                    depsgraph = evaluate(frame)
                    if frame in wanted:
                        found[frame] = look(depsgraph, frame)
                    yield
            return found
        while len(found) < len(frames):
            began, until = perf_counter(), inf
            with temporary_scene(self._whole, self.scene) as staged:
                for frame in frames[len(found) :]:
                    found[frame] = look(go_to(staged, frame), frame)
                    done = perf_counter()
                    if until == inf:
                        until = done + max(seconds, done - began)
                    if done > until:
                        break
            yield
        return found


class FrameReader(Evaluator):
    """Reader of a limb's rig and targets at `frames`, and of anything else that is evaluated there."""

    def __init__(
        self,
        limb: Limb,
        scene: Scene,
        view_layer: ViewLayer,
        frames: Sequence[float],
        known: Dependencies | None = None,
    ) -> None:
        super().__init__(limb, scene, view_layer, frames, known)
        self.limb = limb
        self._broken: list[str] = []
        self._keyed = False

    @property
    def warnings(self) -> list[str]:
        """Warnings of drivers that do not run at the frames read so far, and of the scene if it was stepped."""
        return [*self._broken, *([f"The scene was stepped frame by frame: {self.stepped}."] if self.stepped else [])]

    def read(self, seconds: float = inf, posed: bool = False) -> Work[Samples]:
        """Read the rig and its target at each frame.

        At most about `seconds` are spent at once where frames are evaluated; F-curves are read in one go. The rotations
        of the solved bones are those of the first frame where nothing else moves the rig; with `posed` they are those
        of each frame. Raises TargetError or RigError for a target or a rig without a valid position.
        """
        self._keyed = False
        if self._bound:
            found = yield from self.evaluate(self.frames, self._sample)
            return evaluated_samples([found[frame] for frame in sorted(found)])
        limb, frames = self.limb, self.frames
        starts_as_posed = posed or limb.influence != 1.0 or limb.start_from == "ANIMATED"
        keyed = None if starts_as_posed else read_keyed(limb, self.scene, self.view_layer, frames)
        if keyed:
            self._keyed = True
            return keyed
        still = not starts_as_posed and stands_still(limb, self.scene, frames)
        reading = read_in_parts(limb, self.scene, frames, seconds, still, self._broken)
        return evaluated_samples((yield from reading))

    def as_animated(self, now: Sample) -> Sample:
        """Return the sample with the rotations that the bones have at its own frame: read() may give the first's."""
        if self._bound:
            return now
        if self._keyed:
            channels = channels_at(self.limb, self.scene, now.frame)
            return now._replace(rig=now.rig._replace(channels=channels))
        (animated,) = finished(read_in_parts(self.limb, self.scene, [now.frame], inf, False, []))
        return animated

    def _sample(self, depsgraph: Depsgraph, frame: float) -> Sample:
        now = sample(self.limb, depsgraph, frame)
        if frame == self.frames[-1]:
            self._broken += broken_drivers(self.limb, depsgraph)
        return now
