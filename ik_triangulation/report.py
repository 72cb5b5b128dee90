# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a solve or a bake, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple


class FrameResult(NamedTuple):
    """One frame: `error` is the distance from tip to target [Blender units, world space]."""

    frame: float
    error: float
    reached: bool
    iterations: int


@dataclass(frozen=True)
class Report:
    """All frames of a solve or bake; `seconds` is the time it took, `keys` the number of keys written."""

    armature: str
    tip: str
    target: str
    solver: str
    tolerance: float
    frames: Sequence[FrameResult]
    seconds: float
    keys: int = 0
    warnings: Sequence[str] = field(default_factory=tuple)

    @property
    def reached(self) -> int:
        """Number of frames within tolerance."""
        return sum(result.reached for result in self.frames)

    @property
    def all_reached(self) -> bool:
        """Whether every frame is within tolerance."""
        return self.reached == len(self.frames)

    @property
    def worst(self) -> FrameResult:
        """The frame with the largest error."""
        return max(self.frames, key=lambda result: result.error)

    @property
    def median_error(self) -> float:
        """Median distance from tip to target [Blender units, world space]."""
        return median(result.error for result in self.frames)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; distances in Blender units, world space."""
        return {
            "armature": self.armature,
            "tip": self.tip,
            "target": self.target,
            "solver": self.solver,
            "tolerance": self.tolerance,
            "frames": len(self.frames),
            "reached": self.reached,
            "largest_distance": self.worst.error,
            "largest_distance_frame": self.worst.frame,
            "median_distance": self.median_error,
            "keys": self.keys,
            "seconds": self.seconds,
            "warnings": list(self.warnings),
            "per_frame": [
                {"frame": r.frame, "distance": r.error, "reached": r.reached, "iterations": r.iterations}
                for r in self.frames
            ],
        }
