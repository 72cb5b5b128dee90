# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of bodies and limbs as one: all of them or, if one fails, none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple

import bpy
from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, cooperative
from ..rig.bake_record import recorded_body
from ..rig.body import RigBody
from ..rig.dependencies import in_waves
from ..rig.limb import Limb
from .bake import bake_spans
from .bake_wave import Span
from .body_bake import bake_body
from .body_following import with_followers
from .body_keys import BodyKeySettings
from .body_report import BodyReport
from .nothing_to_bake import check_something
from .report import Report
from .transaction import Transaction, Undo


class BodyBake(NamedTuple):
    """A body to bake over a span, by the settings of its keys; with `keep` keys that were made by hand stay."""

    rig: RigBody
    span: Span
    settings: BodyKeySettings
    keep: bool = False


class _Part:
    """A body or a limb as what depends on others, and on which others depend."""

    def __init__(self, number: int, limbs: Sequence[Limb], whole: Limb | RigBody, solved: Sequence[str]) -> None:
        self.number, self._limbs, self.solved = number, limbs, solved
        self.armature: Object = whole.armature
        self.bones, self.tip = whole.bones, whole.tips[-1] if isinstance(whole, RigBody) else whole.tip

    @cached_property
    def targets(self) -> list[tuple[Object, str]]:
        """All targets."""
        return [target for limb in self._limbs for target in limb.targets]

    @property
    def surfaces(self) -> list[Object]:
        """All meshes whose surface is reached."""
        return [mesh for limb in self._limbs for mesh in limb.surfaces]

    @cached_property
    def obstacle_objects(self) -> list[Object]:
        """All obstacles."""
        return [ob for limb in self._limbs for ob in limb.obstacle_objects]


@cooperative
def bake_bodies(
    bodies: Sequence[BodyBake],
    limbs: Sequence[Limb] = (),
    spans: Sequence[Span] = (),
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[tuple[list[BodyReport], list[Report]]]:
    """Bake bodies and limbs that are none of theirs, each over a span of its own, in the order of their dependencies.

    Returns a report for each, in the order given. Raises what bake_spans() and bake_body() do; then, and if it is
    stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    if not any(body.keep for body in bodies):
        check_something([body.rig for body in bodies], limbs)
    parts = [_Part(n, body.rig.limbs, body.rig, body.rig.bones) for n, body in enumerate(bodies)]
    parts += [_Part(n, [limb], limb, limb.in_order) for n, limb in enumerate(limbs, len(bodies))]
    of_bodies: dict[int, BodyReport] = {}
    of_limbs: dict[int, Report] = {}
    with Undo() as undo:
        within = Transaction(undo)
        for wave in in_waves(parts):
            some = [part.number - len(bodies) for part in wave if part.number >= len(bodies)]
            if some:
                baking = bake_spans.steps(
                    [limbs[n] for n in some],
                    [spans[n] for n in some],
                    scene,
                    view_layer,
                    seconds=seconds,
                    within=within,
                )
                of_limbs.update(zip(some, (yield from baking), strict=True))
            for number in (part.number for part in wave if part.number < len(bodies)):
                of_bodies[number] = yield from _baked(bodies[number], scene, view_layer, within)
        result = [of_bodies[n] for n in range(len(bodies))], [of_limbs[n] for n in range(len(limbs))]
        undo.pop_all()
    return result


@cooperative
def rebake_body(
    armature: Object, tip: str, scene: Scene | None = None, view_layer: ViewLayer | None = None
) -> Job[BodyReport]:
    """Bake the body of the limb that ends in `tip` as it was baked last into the active action, over its span.

    Keys that were baked are replaced, and those made by hand are kept. Raises AnimationError if it was not baked
    before, and what bake_body() does; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    rig, span, settings, notes = recorded_body(armature, tip, scene)
    bake = BodyBake(rig, span, BodyKeySettings(**settings), keep=True)
    report = yield from _baked(bake, scene, view_layer)
    return report._replace(warnings=[*notes, *report.warnings])


def _baked(bake: BodyBake, scene: Scene, view_layer: ViewLayer, within: Transaction | None = None) -> Job[BodyReport]:
    """Bake a body, with warnings of deform bones that do not follow it."""
    (start, end, step), how = bake.span, {"settings": bake.settings, "keep": bake.keep}
    with Undo() as undo:
        own = Transaction(undo, within.made) if within else Transaction(undo)
        report = yield from bake_body.steps(bake.rig, start, end, scene, view_layer, step=step, **how, within=own)
        report = with_followers(report, bake.rig, scene, view_layer)
        Transaction.end(undo, within)
    return report
