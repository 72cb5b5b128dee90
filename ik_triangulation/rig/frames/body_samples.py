# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of a whole body: the frame its hips hang in, goals of its limbs, and its animation, at and between frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import Work, finished
from ...errors import RigError
from ...goals import Goal
from ...kinematics import Body
from ...kinematics.arrays import Numbers
from ..armature import Channels, base_of, channels_of
from ..body import ContactSupport, RigBody
from ..by_hand.record import corrected_times
from ..by_hand.reference import body_by_hand, has_baked_below, is_as_by_hand, shown_by_hand
from ..dependencies import animates_otherwise, live_constraints, may_interfere
from ..stored_body import is_moved_above
from ..targets.untouched import carriers_of
from ..timeline import Clock
from ..touchables import check_supports, supports_at
from .body_frames import (
    Animation,
    LimbGoals,
    animation_shown,
    frames_by_channels,
    held_influence,
    influence_of,
    lengths_of,
    matrices_of,
    plain_animation,
    shown_frames,
    tips_apart,
)
from .keyed_motion import KeyedBody, read_keyed_body
from .reader import Evaluator

_UNIT = 1e-4  # deviation of the frame above the hips from a rotation that is no scale
_AGREES = 1e-3  # of a limb's reach, and [rad]: up to which F-curves and what Blender shows are the same animation
AT_ONCE = 0.1  # [s] of reading between two looks at what the user does


class BodySamples(NamedTuple):
    """F frames of a body, armature space.

    `worlds` and `bases` (4, 4, F) are the matrices of the armature (world space) and, without its scale, of the parent
    of the hips; `channels` those of all bones at the first frame, `rotations` (n, 4, F) and `locations` (3, F), of the
    hips, the animation made by hand, with the frames `shown` of an Animation. `goals` are those of each limb,
    `influence` (F) that of each tip, from 0 to 1, by its name; `readers` read the goals. `warnings` are about the
    reading. `places` (3, 4) are the frames of the bones of planted tips, `supports` (4, 4, F; world space) what
    contacts are on besides bones of the body. Where all that moves around the body is `keyed`, F-curves give the same
    as evaluation.
    """

    frames: Sequence[float]
    worlds: Numbers
    bases: Numbers
    channels: list[Channels]
    rotations: Numbers
    locations: Numbers
    goals: dict[str, list[Goal]]
    influence: dict[str, Numbers]
    shown: Numbers | None = None
    warnings: Sequence[str] = ()
    readers: Mapping[str, LimbGoals] = {}
    places: Mapping[str, Numbers] = {}
    supports: Mapping[ContactSupport, Numbers] = {}
    keyed: bool = False

    def animated(self, animation: Animation) -> BodySamples:
        """Return the same with another animation."""
        return self._replace(**animation._asdict())


class _Look(NamedTuple):
    """A body as evaluated at one frame; matrices (n, 4, 4) of its bones where they are of use."""

    world: Matrix
    base: Matrix
    channels: list[Channels]
    goals: dict[str, Goal]
    influence: dict[str, float]
    matrices: Numbers | None
    supports: dict[ContactSupport, Matrix]


def sampled_body(rig: RigBody, samples: BodySamples) -> Body:
    """Return a body as sampled, with what is up for it at the first frame."""
    up = np.linalg.inv(samples.worlds[:3, :3, 0]) @ np.array((0.0, 0.0, 1.0))
    return rig.rest.body(samples.channels, Vector(up))


def read_body(
    rig: RigBody,
    scene: Scene,
    frames: Sequence[float],
    view_layer: ViewLayer | None = None,
    *,
    switched: bool = False,
) -> Work[BodySamples]:
    """Read a body at frames of the timeline, without stepping the user's scene if that can be.

    The animation made by hand is read from F-curves where these are all that moves the bones; where strips, blending,
    drivers, constraints or modifiers may do so too, and where Blender shows another one at some of the frames, it is
    what Blender evaluates. Constraints do not count if they are to be `switched` off. Raises RigError for bones above
    the hips whose scale changes, and for a body that is not the same when it is evaluated twice, and what sample()
    raises.
    """
    samples = yield from _read_body(rig, scene, frames, view_layer or view_layer_of(scene), switched)
    if not rig.planted:
        return samples
    return samples._replace(places=(yield from _places(rig, scene, samples, samples.shown is not None)))


def _read_body(
    rig: RigBody, scene: Scene, frames: Sequence[float], view_layer: ViewLayer, switched: bool
) -> Work[BodySamples]:
    lost = check_supports(rig, scene)
    evaluator = Evaluator(rig, scene, view_layer, frames)
    otherwise, constrained = animates_otherwise(rig), any(live_constraints(rig))
    switched = switched and not otherwise and constrained
    flows = any(limb.follows_flow for limb in rig.limbs)  # then each frame follows from the one before
    is_live = evaluator.stepped is not None or flows or (not switched and (otherwise or constrained))
    as_by_hand = is_as_by_hand(rig, scene)
    readers = {limb.tip: LimbGoals(limb, carriers_of(rig, limb)) for limb in rig.limbs}
    some = list(dict.fromkeys((frames[0], frames[len(frames) // 2], frames[-1])))

    def look(depsgraph: Depsgraph, frame: float) -> _Look:
        evaluated = rig.armature.evaluated_get(depsgraph)
        channels = channels_of(evaluated, rig.bones) if frame == frames[0] else []
        base = unscaled_base(rig, base_of(evaluated, rig.hips), frame)
        goals = {tip: reader.at(depsgraph, frame) for tip, reader in readers.items()}
        matrices = matrices_of(evaluated, rig.bones) if is_live or frame in some else None
        if matrices is not None:
            _check_finite(rig, matrices, frame)
        shares = influence_of(readers, rig.tips, evaluated)
        carried = supports_at(rig, depsgraph, frame)
        return _Look(evaluated.matrix_world.copy(), base, channels, goals, shares, matrices, carried)

    seen = yield from evaluator.evaluate(frames if is_live else some, look, AT_ONCE)
    keyed = None if is_live or rig.supports else _keyed(rig, scene, frames, readers, seen)
    if keyed is None:
        seen |= yield from evaluator.evaluate([frame for frame in frames if frame not in seen], look, AT_ONCE)
        looks = [seen[frame] for frame in frames]
        worlds, bases = _stacked([each.world for each in looks]), _stacked([each.base for each in looks])
        goals = {tip: [each.goals[tip] for each in looks] for tip in readers}
        influence = {tip: np.array([each.influence[tip] for each in looks]) for tip in rig.tips}
    else:
        worlds, bases = (
            np.ascontiguousarray(np.broadcast_to(each, (4, 4, len(frames)))) for each in (keyed.worlds, keyed.bases)
        )
        goals = {tip: reader.keyed(keyed, frames) for tip, reader in readers.items()}
        influence = {tip: np.full(len(frames), share) for tip, share in seen[frames[0]].influence.items()}
    samples = BodySamples(
        frames,
        worlds,
        bases,
        seen[frames[0]].channels,
        *body_by_hand(rig, frames, scene),
        goals,
        influence,
        warnings=[*lost, *stepped_warnings(evaluator)],
        readers=readers,
        supports=_supports([seen[frame].supports for frame in frames]) if rig.supports else {},
        keyed=keyed is not None,
    )
    yield
    if switched and not is_live:
        return samples
    here = [k for k, frame in enumerate(frames) if is_live or frame in some]
    matrices = np.moveaxis(np.array([seen[frames[k]].matrices for k in here], float), 0, -1)
    if as_by_hand or is_live:
        plain = Animation(samples.rotations[..., here], samples.locations[:, here])
        if not as_by_hand:
            matrices = yield from _matrices_by_hand(evaluator, rig, frames, None)
    else:  # what is shown are other keys than those made by hand
        plain = plain_animation(rig, Clock(scene, rig.armature), [frames[k] for k in here])
    if _agree(rig, samples, here, plain, matrices):
        return samples
    if not is_live:
        matrices = yield from _matrices_by_hand(evaluator, rig, frames, None)
    again = yield from _matrices_by_hand(evaluator, rig, some, None)
    _check_same(rig, some, again, matrices[..., [frames.index(frame) for frame in some]])
    return samples.animated(animation_shown(rig, samples.bases, matrices))


def _keyed(
    rig: RigBody, scene: Scene, frames: Sequence[float], readers: Mapping[str, LimbGoals], seen: Mapping[float, _Look]
) -> KeyedBody | None:
    """Return what moves around a body by F-curves alone; None where they do not give what was `seen` at some frames."""
    if not all(reader.is_plain for reader in readers.values()):
        return None
    reaching = {tip: reader for tip, reader in readers.items() if not reader.waits}
    found = read_keyed_body(rig, scene, frames, [reader.limb for reader in reaching.values()])
    if found is None:
        return None
    found = found._replace(bases=unscaled_bases(rig, found.bases, frames))
    for frame, look in seen.items():
        targets = {tip: reader.target_at(frame) for tip, reader in reaching.items()}
        if not found.agrees(frames.index(frame), look.world, look.base, targets):
            return None
    return found


def read_animation(
    rig: RigBody,
    scene: Scene,
    frames: Sequence[float],
    bases: Numbers,
    without: tuple[float, float] | None = None,
) -> Work[Animation]:
    """Read the animation by hand of a body as Blender evaluates it, on hips that hang in `bases` (4, 4, F).

    Keys that correct a bake between the two times (in the action) in `without` are left out.
    """
    evaluator = Evaluator(rig, scene, view_layer_of(scene), frames)
    return animation_shown(rig, bases, (yield from _matrices_by_hand(evaluator, rig, frames, without)))


def _places(rig: RigBody, scene: Scene, samples: BodySamples, as_shown: bool) -> Work[dict[str, Numbers]]:
    """Return the frames (3, 4) that planted tips have in the animation at the scene's first frame, armature space.

    Keys that correct the last bake do not count. The animation is what Blender evaluates, if it is to be `as_shown`.
    """
    first, bases, without = [float(scene.frame_start)], samples.bases[..., :1], corrected_times(rig, scene)
    if is_moved_above(rig):
        evaluator = Evaluator(rig, scene, view_layer_of(scene), first)

        def look(depsgraph: Depsgraph, frame: float) -> Matrix:
            return unscaled_base(rig, base_of(rig.armature.evaluated_get(depsgraph), rig.hips), frame)

        seen = yield from evaluator.evaluate(first, look)
        bases = _stacked([seen[first[0]]])
    if as_shown:
        animation = yield from read_animation(rig, scene, first, bases, without)
    else:
        animation = Animation(*body_by_hand(rig, first, scene, without))
    frames = frames_by_channels(rig, sampled_body(rig, samples), bases, animation)
    frames = frames if animation.shown is None else animation.shown
    yield
    return {name: frames[rig.bones.index(name), :, :, 0] for name in rig.planted}


def _matrices_by_hand(
    evaluator: Evaluator, rig: RigBody, frames: Sequence[float], without: tuple[float, float] | None
) -> Work[Numbers]:
    """Return the matrices (n, 4, 4, F) of the bones in the animation made by hand, armature space."""

    def look(depsgraph: Depsgraph, _: float) -> Numbers:
        return matrices_of(rig.armature.evaluated_get(depsgraph), rig.bones)

    with shown_by_hand(rig, evaluator.scene, evaluator.view_layer, without):
        seen = yield from evaluator.evaluate(frames, look, AT_ONCE)
    return np.moveaxis(np.array([seen[frame] for frame in frames]), 0, -1)


def _agree(rig: RigBody, samples: BodySamples, here: Sequence[int], moved: Animation, matrices: Numbers) -> bool:
    """Tell whether an animation by channels puts tips and hips where these matrices (n, 4, 4, F) have them."""
    body = sampled_body(rig, samples)
    frames = frames_by_channels(rig, body, samples.bases[..., here], moved)
    return tips_apart(rig, body, frames, shown_frames(rig, matrices)) <= _AGREES


def _check_finite(rig: RigBody, matrices: Numbers, frame: float) -> None:
    """Raise RigError for a bone whose matrix (4x4) of these (n, 4, 4) has no valid numbers at a frame."""
    invalid = ~np.isfinite(matrices).all((1, 2))
    if invalid.any():
        raise RigError(
            f"Bone '{rig.bones[int(invalid.argmax())]}' has an invalid pose at frame {frame:g} (NaN or infinite). "
            "Clear its transform, and check its drivers and keys."
        )


def _check_same(rig: RigBody, frames: Sequence[float], one: Numbers, other: Numbers) -> None:
    """Raise RigError if bones that were evaluated twice were not the same; matrices (n, 4, 4, F)."""
    far = np.abs(one - other)[:, :3].max((0, 1, 2)) > _AGREES * max(1.0, lengths_of(rig).sum())
    if far.any():
        raise RigError(
            f"'{rig.armature.name}' is not the same when frame {frames[int(far.argmax())]:g} is evaluated twice: a "
            "driver or a simulation moves it. Bake that to keys first."
        )


def view_layer_of(scene: Scene) -> ViewLayer:
    """Return the view layer of the context if that is of this scene, else the scene's first one."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]


def stepped_warnings(evaluator: Evaluator) -> list[str]:
    """Return a warning if the user's scene had to be stepped."""
    return [f"The scene was stepped frame by frame: {evaluator.stepped}."] if evaluator.stepped else []


def as_below(rig: RigBody, samples: BodySamples, scene: Scene, view_layer: ViewLayer) -> Work[BodySamples]:
    """Return samples with the animation that is shown, baked keys included: a layer is combined with that."""
    if not has_baked_below(rig):
        return samples
    evaluator = Evaluator(rig, scene, view_layer, samples.frames)

    def look(depsgraph: Depsgraph, _: float) -> Numbers:
        return matrices_of(rig.armature.evaluated_get(depsgraph), rig.bones)

    seen = yield from evaluator.evaluate(samples.frames, look, AT_ONCE)
    matrices = np.moveaxis(np.array([seen[frame] for frame in samples.frames]), 0, -1)
    return samples.animated(animation_shown(rig, samples.bases, matrices))


def body_now(rig: RigBody, depsgraph: Depsgraph, frame: float, scene: Scene) -> BodySamples:
    """Read a body as it is shown at the present frame. Raises what read_body() does."""
    check_supports(rig, scene)
    return with_planted(rig, body_seen(rig, depsgraph, frame, scene), scene)


def with_planted(rig: RigBody, samples: BodySamples, scene: Scene) -> BodySamples:
    """Return samples of a single frame with the places of planted tips."""
    return samples._replace(places=finished(_places(rig, scene, samples, False))) if rig.planted else samples


def body_seen(
    rig: RigBody, depsgraph: Depsgraph, frame: float, scene: Scene, by_hand: tuple[Numbers, Numbers] | None = None
) -> BodySamples:
    """Read a body as body_now() does, but for the places of planted tips, and for what is `by_hand` if that is known.

    That are rotations and locations as of body_by_hand().
    """
    evaluated = rig.armature.evaluated_get(depsgraph)
    readers = {limb.tip: LimbGoals(limb, carriers_of(rig, limb), single=True) for limb in rig.limbs}
    goals = {tip: [reader.at(depsgraph, frame)] for tip, reader in readers.items()}
    influence = influence_of(readers, rig.tips, evaluated)
    base = unscaled_base(rig, base_of(evaluated, rig.hips), frame)
    return BodySamples(
        [frame],
        _stacked([evaluated.matrix_world.copy()]),
        _stacked([base]),
        channels_of(evaluated, rig.bones),
        *(by_hand or body_by_hand(rig, [frame], scene)),
        goals,
        {tip: np.array([share]) for tip, share in influence.items()},
        readers=readers,
        supports=_supports([supports_at(rig, depsgraph, frame)]),
    )


def with_shown(rig: RigBody, samples: BodySamples, scene: Scene, view_layer: ViewLayer) -> BodySamples:
    """Return samples of a single frame with the animation by hand as Blender evaluates it, where anything interferes.

    Raises RigError for a bone without a valid pose.
    """
    if not may_interfere(rig):
        return samples
    if rig.planted:
        samples = samples._replace(places=finished(_places(rig, scene, samples, True)))
    evaluator = Evaluator(rig, scene, view_layer, samples.frames)
    matrices = finished(_matrices_by_hand(evaluator, rig, samples.frames, None))
    _check_finite(rig, matrices[..., 0], samples.frames[0])
    if _agree(rig, samples, [0], Animation(samples.rotations, samples.locations), matrices):
        return samples
    return samples.animated(animation_shown(rig, samples.bases, matrices))


def unscaled_base(rig: RigBody, base: Matrix, frame: float) -> Matrix:
    """Return the frame that the hips hang in (4x4) without its scale. Raises what unscaled_bases() does."""
    return Matrix(unscaled_bases(rig, np.array(base)[:, :, None], [frame])[..., 0].tolist())


def unscaled_bases(rig: RigBody, bases: Numbers, frames: Sequence[float]) -> Numbers:
    """Return the frames (4, 4, F) that the hips hang in without their scale.

    Raises RigError if that is another one at some of the frames of the timeline than now.
    """
    found = bases.copy()
    axes = found[:3, :3]
    axes /= rig.size_above
    off = np.abs(np.einsum("ijf,kjf->ikf", axes, axes) - np.eye(3)[:, :, None]).max((0, 1)) > _UNIT
    if off.any():
        raise RigError(
            f"A bone above the hips '{rig.hips}' has another scale at frame {frames[int(off.argmax())]:g} than now. "
            "Remove the keys of its scale."
        )
    return found


def _supports(seen: Sequence[Mapping[ContactSupport, Matrix]]) -> dict[ContactSupport, Numbers]:
    """Return the matrices (4, 4, F) of supports that were seen at frames."""
    return {on: _stacked([each[on] for each in seen]) for on in seen[0]}


def _stacked(matrices: Sequence[Matrix]) -> Numbers:
    return np.ascontiguousarray(np.moveaxis(np.array(matrices, float), 0, -1))


def read_between(
    rig: RigBody,
    samples: BodySamples,
    frames: Sequence[float],
    scene: Scene,
    without: tuple[float, float] | None = None,
) -> Work[BodySamples]:
    """Return a body at other frames of the timeline than those of `samples`, without goals.

    Keys that correct a bake between the two times (in the action) in `without` are left out. Blender evaluates the
    frames only where the armature, something above the hips or the influence of held tips moves, where something
    carries a tip, and where the samples have what it shows. `influence` is that of held tips.
    """
    count, held = len(frames), {tip: samples.influence[tip] for tip in rig.held}
    still = not any((each != each[..., :1]).any() for each in (samples.worlds, samples.bases, *held.values()))
    supports = dict[ContactSupport, Numbers]()
    if still and not rig.supports:
        worlds, bases = (np.repeat(each[..., :1], count, -1) for each in (samples.worlds, samples.bases))
        influence = {tip: np.full(count, share[0]) for tip, share in held.items()}
    elif samples.keyed and (keyed := read_keyed_body(rig, scene, frames, ())) is not None:
        bases = unscaled_bases(rig, keyed.bases, frames)
        worlds, bases = (np.broadcast_to(each, (4, 4, count)).copy() for each in (keyed.worlds, bases))
        influence = {tip: np.full(count, share[0]) for tip, share in held.items()}
    else:
        evaluator = Evaluator(rig, scene, view_layer_of(scene), frames)

        def look(depsgraph: Depsgraph, frame: float) -> tuple[Matrix, Matrix, list[float]]:
            evaluated, carried[frame] = rig.armature.evaluated_get(depsgraph), supports_at(rig, depsgraph, frame)
            base = unscaled_base(rig, base_of(evaluated, rig.hips), frame)
            return evaluated.matrix_world.copy(), base, [held_influence(evaluated, tip) for tip in held]

        carried = dict[float, dict[ContactSupport, Matrix]]()
        seen = yield from evaluator.evaluate(frames, look, AT_ONCE)
        supports = _supports([carried[frame] for frame in frames])
        worlds, bases, found = (
            np.ascontiguousarray(np.moveaxis(np.array(each, float), 0, -1))
            for each in zip(*(seen[frame] for frame in frames), strict=True)
        )
        influence = dict(zip(held, found, strict=True))
    if samples.shown is None:
        animation = Animation(*body_by_hand(rig, frames, scene, without))
    else:
        animation = yield from read_animation(rig, scene, frames, bases, without)
    yield
    there = samples.animated(animation)
    return there._replace(frames=frames, worlds=worlds, bases=bases, goals={}, influence=influence, supports=supports)
