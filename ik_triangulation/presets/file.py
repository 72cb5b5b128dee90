# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets, limits of each joint of a kind of limb independent of the rig, as records and as JSON files."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import degrees, inf, isfinite, isinf, radians
from pathlib import Path
from typing import Any, NoReturn

from mathutils import Vector

from ..errors import FreedomError, SettingError
from ..kinematics import Cone, EulerLimits, Free, Freedom, Hinge, Locked
from ..rig.safe_files import write_file
from ..settings import TABLE, IKT_PG_joint, IKT_PG_limb, choices

# Settings of a limb that suit a kind of limb, not one rig's size, target or shot.
PRESET_SETTINGS = tuple(name for name, row in TABLE[IKT_PG_limb].items() if row.preset)

# Required and optional entries of each kind of joint besides its name.
_MUST = {"FREE": set(), "LOCKED": set(), "HINGE": {"axis"}, "CONE": {"swing"}, "EULER": {"order", "x", "y", "z"}}
_MAY = {"HINGE": {"range", "from_straight"}, "CONE": {"twist"}, "EULER": {"from_straight"}}
_ANY = {"stiffness", "rank", "repeats", "shared"}
_ONE_WAY = 0.3  # share of its range that a joint which bends one way has to the other side at most
_PLACES = 6  # of a degree: finer than single precision


@dataclass(frozen=True)
class PresetJoint:
    """One joint of a preset in the axes of the limb: X is its axis of flexion, Y leads to the next joint.

    A limb on the right side gets the mirror image. Limits are measured from rest, with `from_straight` the angles of a
    hinge, or the Euler angles about X, from the straight limb. A joint whose angles from there are negative bends
    against the limb's flexion, as a hock does against the knee. A shorter limb leaves out the joints of the highest
    `rank`; in a longer one the joint that `repeats` is used as often as needed, and its copies divide its ranges if it
    is `shared`.
    """

    name: str
    freedom: Freedom
    stiffness: float = 0.0
    rank: int = 0
    from_straight: bool = False
    repeats: bool = False
    shared: bool = False

    @property
    def is_against(self) -> bool:
        """Tell whether it bends one way only, against the flexion of the limb."""
        limits = self.freedom
        if isinstance(limits, EulerLimits):
            lower, upper = limits.lower[0], limits.upper[0]
        elif isinstance(limits, Hinge):
            lower, upper = limits.lower, limits.upper
        else:
            return False
        return self.from_straight and upper < _ONE_WAY * -lower


@dataclass(frozen=True)
class Preset:
    """Joints from root to tip, the limb's `settings`, and the direction `towards` which a limb straight at rest bends.

    The direction is that of a character that faces -Y, with Z up, and goes along with others; None if the bend at rest
    or the bones' X axes determine it.
    """

    name: str
    joints: Sequence[PresetJoint]
    settings: Mapping[str, Any] = field(default_factory=dict)
    towards: Vector | None = None

    def for_bones(self, count: int) -> list[PresetJoint]:
        """Return the joints for a limb of `count` bones; fewer if none of them repeats."""
        repeated = next((joint for joint in self.joints if joint.repeats), None)
        more = count - len(self.joints)
        if more <= 0 or repeated is None:
            ranked = sorted(range(len(self.joints)), key=lambda number: self.joints[number].rank)
            return [self.joints[number] for number in sorted(ranked[:count])]
        times = more + 1
        if repeated.shared and isinstance(repeated.freedom, EulerLimits):
            limits = repeated.freedom
            ends = (tuple(end / times for end in triple) for triple in (limits.lower, limits.upper))
            repeated = replace(repeated, freedom=EulerLimits(limits.order, *ends))
        found: list[PresetJoint] = []
        for joint in self.joints:
            found += [repeated] * times if joint.repeats else [joint]
        return found


class _WrongError(Exception):
    """The fault of a file."""


def read_preset(path: Path | str) -> Preset:
    """Return the preset in a file, named after it. Raises SettingError that names the file and its fault."""
    path = Path(path)
    try:
        try:
            if path.exists() and not path.is_file():  # reading a pipe or a device might never end
                raise _WrongError("it is not a regular file")
            return _preset(path.stem, json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number))
        except OSError as error:
            raise _WrongError(error.strerror or str(error)) from error
        except json.JSONDecodeError as error:
            raise _WrongError(f"it is not JSON: {error.msg} in line {error.lineno}") from error
        except (ValueError, OverflowError, RecursionError) as error:  # not text, or not numbers
            raise _WrongError("it is not JSON text") from error
    except _WrongError as wrong:
        raise SettingError(f"Preset '{path}' cannot be used: {wrong}. Repair or remove the file.") from wrong


def write_preset(preset: Preset, path: Path | str) -> None:
    """Write a preset to a file that read_preset() can read. Raises SettingError if that fails."""
    content: dict[str, Any] = {"settings": dict(preset.settings)} if preset.settings else {}
    if preset.towards is not None:
        content["towards"] = preset.towards[:]
    content["joints"] = [_joint_as_written(joint) for joint in preset.joints]
    try:
        write_file(path, (json.dumps(content, indent=1) + "\n").encode("utf-8"))
    except OSError as error:
        raise SettingError(f"Preset '{path}' cannot be written: {error.strerror}. Choose another name.") from error


def _preset(name: str, content: Any) -> Preset:
    given = _object(content, "it", {"joints"}, {"settings", "towards", "note"})
    listed = given["joints"]
    if not isinstance(listed, list) or not listed:
        raise _WrongError("'joints' is not a list of joints")
    joints = [_joint(value, number) for number, value in enumerate(listed)]
    if sum(joint.repeats for joint in joints) > 1:
        raise _WrongError("more than one joint repeats")
    towards = Vector(_direction(given["towards"], "'towards'")) if "towards" in given else None
    return Preset(name, joints, _settings(given.get("settings", {})), towards)


def _joint(value: Any, number: int) -> PresetJoint:
    where = f"joint {number + 1}"
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _MUST:
        raise _WrongError(f"{where} is of an unknown kind ({', '.join(_MUST)})")
    given = _object(value, where, {"name", "kind", *_MUST[kind]}, _ANY | _MAY.get(kind, set()))
    name = given["name"]
    if not isinstance(name, str) or not name:
        raise _WrongError(f"the name of {where} is not text")
    where = f"'{name}'"
    try:
        freedom = _freedom(kind, given, where)
    except FreedomError as error:
        raise _WrongError(f"{where}: {error}".rstrip(".")) from error
    flags = {key: _is(bool, given.get(key, False), f"'{key}' of {where}") for key in ("repeats", "shared")}
    most = IKT_PG_joint.bl_rna.properties["stiffness"].hard_max
    stiffness = _number(given.get("stiffness", 0.0), f"the stiffness of {where}")
    if not 0.0 <= stiffness <= most:
        raise _WrongError(f"the stiffness of {where} is not from 0 to {most:.2f}")
    rank = _is(int, given.get("rank", number), f"'rank' of {where}")
    straight = _is(bool, given.get("from_straight", False), f"'from_straight' of {where}")
    return PresetJoint(name, freedom, stiffness, rank, straight, **flags)


def _freedom(kind: str, given: Mapping[str, Any], where: str) -> Freedom:
    if kind == "HINGE":
        axis = Vector(_direction(given["axis"], f"the axis of {where}"))
        return Hinge(axis, *_range(given.get("range"), f"the range of {where}"))
    if kind == "CONE":
        swing = _number(given["swing"], f"the swing of {where}")
        if not 0.0 <= swing <= 180.0:
            raise _WrongError(f"the swing of {where} is not from 0 to 180")
        return Cone(radians(swing), *_range(given.get("twist"), f"the twist of {where}"))
    if kind == "EULER":
        ranges = [_range(given[axis], f"'{axis}' of {where}") for axis in "xyz"]
        order = _is(str, given["order"], f"the order of {where}")
        return EulerLimits(order, tuple(low for low, _ in ranges), tuple(high for _, high in ranges))
    return Locked() if kind == "LOCKED" else Free()


def _settings(value: Any) -> dict[str, Any]:
    given = _object(value, "'settings'", set(), set(PRESET_SETTINGS))
    for name, setting in given.items():
        prop = IKT_PG_limb.bl_rna.properties[name]
        if prop.type == "ENUM":
            if setting not in choices(name):
                raise _WrongError(f"'{name}' is not one of {', '.join(choices(name))}")
        elif prop.type == "BOOLEAN":
            _is(bool, setting, f"'{name}'")
        else:
            _is(int, setting, f"'{name}'") if prop.type == "INT" else _number(setting, f"'{name}'")
            if not prop.hard_min <= setting <= prop.hard_max:
                raise _WrongError(f"'{name}' is not from {prop.hard_min:g} to {prop.hard_max:g}")
    return given


def _object(value: Any, where: str, must: Collection[str], may: Collection[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _WrongError(f"{where} is not a JSON object")
    for key in value:
        if key not in must and key not in may:
            raise _WrongError(f"{where} has an unknown entry '{key}'")
    for key in sorted(must):
        if key not in value:
            raise _WrongError(f"{where} lacks '{key}'")
    return value


def _is(kind: type, value: Any, what: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        raise _WrongError(f"{what} is not {_TYPES[kind]}")
    return value


_TYPES = {bool: "true or false", int: "a whole number", str: "text"}


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) > 1e6:
        raise _WrongError(f"{what} is not a number, or too large")
    return float(value)


def _direction(value: Any, what: str) -> list[float]:
    if not isinstance(value, list) or len(value) != 3:
        raise _WrongError(f"{what} is not a list of three numbers")
    numbers = [_number(each, what) for each in value]
    if not any(numbers):
        raise _WrongError(f"{what} has no length")
    return numbers


def _range(value: Any, what: str) -> tuple[float, float]:
    """Return lower and upper limit [rad]; null is no limit."""
    if value is None:
        return -inf, inf
    if not isinstance(value, list) or len(value) != 2:
        raise _WrongError(f"{what} is not a list of two angles")
    lower, upper = (radians(_number(each, what)) for each in value)
    return lower, upper


def _no_number(text: str) -> NoReturn:
    raise _WrongError(f"{text} is not a number")


def _joint_as_written(joint: PresetJoint) -> dict[str, Any]:
    freedom = joint.freedom
    written: dict[str, Any] = {"name": joint.name, "kind": "LOCKED" if isinstance(freedom, Locked) else "FREE"}
    if isinstance(freedom, Hinge):
        written |= {"kind": "HINGE", "axis": [round(x, _PLACES) for x in freedom.axis]}
        written |= {"range": _as_written(freedom.lower, freedom.upper), "from_straight": joint.from_straight}
    elif isinstance(freedom, Cone):
        twist = _as_written(freedom.twist_lower, freedom.twist_upper)
        written |= {"kind": "CONE", "swing": round(degrees(freedom.swing), _PLACES), "twist": twist}
    elif isinstance(freedom, EulerLimits):
        ends = zip("xyz", freedom.lower, freedom.upper, strict=True)
        written |= {"kind": "EULER", "order": freedom.order} | {a: _as_written(low, high) for a, low, high in ends}
        written |= {"from_straight": True} if joint.from_straight else {}
    return written | {"stiffness": round(joint.stiffness, _PLACES)}


def _as_written(lower: float, upper: float) -> list[float] | None:
    return None if isinf(lower) or isinf(upper) else [round(degrees(lower), _PLACES), round(degrees(upper), _PLACES)]
