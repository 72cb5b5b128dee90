# SPDX-License-Identifier: GPL-3.0-or-later
"""Shells around what limbs reach: computed once for each chain, while Blender is idle, kept, and softly shaded."""

from __future__ import annotations

from time import perf_counter, thread_time
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...cooperative import Job
from ...errors import IKError
from ...kinematics import Pose
from ...kinematics.arrays import Array
from ...maps.shell import Surface, is_free, reach_shell, spheres
from .updates import redraw

_CLEAR, _RIM = 0.02, 0.24  # alpha of what faces the viewer, and how much more there is at the outline
_FALL = 3  # power by which that falls off

_SETTLED = 0.3  # [s] a chain whose limits change has to rest for so long before its shell is computed
_SLICE, _PAUSE = 0.02, 0.01  # [s] of work, and between two slices of it
_PLAYING = 0.5  # [s] between two looks whether an animation still plays
_LONGEST = 15.0  # [s] of the processor's time after which a shell is given up
_KEPT = 12  # shells

_shells: dict[tuple, Surface | None] = {}  # the latest last; None where a shell cannot be computed


class ShadedSurface:
    """A surface as seen from the `eye`, which is in the surface's space, homogeneous."""

    def __init__(self, surface: Surface, eye: Vector) -> None:
        self._surface = surface
        places, normals = surface.places, surface.normals
        towards = np.array(eye.xyz, np.float32) - places * np.float32(eye.w)
        length = np.sqrt(np.einsum("ni,ni->n", towards, towards))
        self._facing = np.einsum("ni,ni->n", towards, normals) / np.maximum(length, np.float32(1e-12))

    def alphas(self) -> Array:
        """Return the opacity (n) of the vertices."""
        rim = 1.0 - np.abs(self._facing)
        result: Array = _CLEAR + _RIM * rim**_FALL
        return result

    def outline(self) -> Array:
        """Return the lines (k, 3), two places each, along which the surface turns away from the viewer.

        They go through the triangles where the interpolated normal is at a right angle to the line of sight (Hertzmann
        1999), and so are smoother than the triangles' edges.
        """
        triangles = self._surface.triangles
        front = self._facing > 0.0
        one, two, three = (front[triangles[:, i]] for i in range(3))
        mixed = (one != two) | (two != three)
        corners, one, two, three = triangles[mixed], one[mixed], two[mixed], three[mixed]
        odd = np.where(two == three, 0, np.where(one == three, 1, 2))  # the corner that differs from both others
        rows, places = np.arange(len(corners)), self._surface.places
        apex = corners[rows, odd]
        lines = []
        for step in (1, 2):
            other = corners[rows, (odd + step) % 3]
            share = (self._facing[apex] / (self._facing[apex] - self._facing[other]))[:, None]
            lines.append(places[apex] + share * (places[other] - places[apex]))
        result: Array = np.stack(lines, axis=1).reshape(-1, 3).astype(np.float32)
        return result


_pending: list[PendingShell] = []  # the one that is to be computed, if any


class PendingShell:
    """A shell to be computed: of the chain `key`, which was first seen at `since` [s]."""

    def __init__(self, key: tuple, pose: Pose) -> None:
        self.key, self.pose, self.since = key, pose, perf_counter()
        self.job: Job[Surface] | None = None
        self.seconds = 0.0  # of work so far

    def work(self) -> bool:
        """Work for a slice of time; return True when there is nothing left to do."""
        self.job = self.job or reach_shell.steps(self.pose)
        started, begun = perf_counter(), thread_time()
        try:
            while perf_counter() - started < _SLICE:
                next(self.job)
        except StopIteration as finished:
            _keep(self.key, finished.value)
            return True
        except IKError:
            _keep(self.key, None)
            return True
        self.seconds += thread_time() - begun
        if self.seconds > _LONGEST:
            self.job.close()
            _keep(self.key, None)
            return True
        return False


class Shells(NamedTuple):
    """Surfaces around the root of a chain; `limited` if they respect its joint limits."""

    surfaces: tuple[Surface, ...]
    limited: bool


def shells_of(pose: Pose) -> Shells:
    """Return the shells around what a chain reaches, around its root, in the axes of its base.

    Without joint limits they are exact. With limits they are those without, until the others have been computed; of
    bones that are scaled, always.
    """
    if is_free(pose):
        return Shells(spheres(pose), True)
    if not pose.chain.plain:
        return Shells(spheres(pose), False)
    key = _key_of(pose)
    if key in _shells:
        found = _shells[key] = _shells.pop(key)
        return Shells(spheres(pose), False) if found is None else Shells((found,), True)
    if not _pending or _pending[0].key != key:
        _pending[:] = [PendingShell(key, pose)]
        if not bpy.app.timers.is_registered(_work):
            bpy.app.timers.register(_work, first_interval=_SETTLED)
    return Shells(spheres(pose), False)


def forget_shells() -> None:
    """Stop computing, and forget all shells."""
    _pending.clear()
    _shells.clear()
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)


def _work() -> float | None:
    """Work on the wanted shell for a moment; return the seconds until the next one, None when it is done."""
    if not _pending:
        return None
    if any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows):
        return _PLAYING
    (wanted,) = _pending
    if wanted.job is None and perf_counter() - wanted.since < _SETTLED:
        return _SETTLED
    if not wanted.work():
        return _PAUSE
    _pending.clear()
    redraw()
    return None


def _keep(key: tuple, surface: Surface | None) -> None:
    _shells[key] = surface
    while len(_shells) > _KEPT:
        del _shells[next(iter(_shells))]


def _key_of(pose: Pose) -> tuple:
    """Return what the shape of a shell depends on: the chain, apart from where its root is."""
    first, *others = pose.chain.joints
    links = ((joint.offset, joint.rest, joint.freedom) for joint in others)
    return (first.rest, first.freedom, *links, pose.chain.tip)
