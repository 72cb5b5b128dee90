# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of commands: numbers with their ranges, flags from the table of settings, and what names refer to."""

from __future__ import annotations

import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from math import degrees, inf, isfinite, radians
from pathlib import Path
from typing import Any, TypeVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import Object, PoseBone, Scene

from ..errors import ChainError, IKError, RigError, SettingError, TargetError
from ..jobs.reach import Stop
from ..rig.armature import bones_from_tip
from ..rig.checks import check_armature
from ..rig.limb import Limb, enabled_tips, has_limbs, saved_range, saved_settings
from ..settings import (
    BendSettings,
    ChainSettings,
    Flag,
    FrameSettings,
    GoalSettings,
    KeySettings,
    MethodSettings,
    PostureSettings,
    ReachSettings,
    Setting,
    settings_of,
)
from ..settings.keys import DURATIONS, FRAMES
from ..solvers import SOLVERS

N = TypeVar("N", int, float)

_FLOAT = 3.4028234e38  # the largest number in single precision
_STOP = re.compile(r"(.+?):(-?\d+)(?::(\d+))?(?::(take|give))?")

_INT = 2**31 - 1  # the largest whole number of a property

DONE, FAILED, USAGE, MISSED = 0, 1, 2, 3
PROGRAM = "ik_triangulation"  # name of the command line

_SAVED = "Defaults are the settings saved on the tip bone."
_OF_BAKE = ("smoothing", "soft_edge", "start_from", "smooth")


def number(text: str) -> float:
    """Read a finite number that Blender can store."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is not a number") from None
    if not isfinite(value):
        raise ArgumentTypeError(f"{text} is not finite")
    if abs(value) > _FLOAT:
        raise ArgumentTypeError(f"{text} is more than Blender can store, {_FLOAT:.3g}")
    return value


def whole(text: str) -> int:
    """Read a whole number."""
    if not re.fullmatch(r"[+-]?[0-9]{1,100}", text):
        raise ArgumentTypeError(f"'{text:.40}' is not a whole number")
    return int(text)


def within(read: Callable[[str], N], least: float, most: float, kind: str = "number") -> Callable[[str], N]:
    """Return a reader of numbers in a range; messages name their `kind`."""

    def checked(text: str) -> N:
        value = read(text)
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text} is not a {kind} {_range(least, most)}")
        return value

    return checked


def _range(least: float, most: float) -> str:
    if most == inf:
        return f"from {_plain(least)} up"
    return f"up to {_plain(most)}" if least == -inf else f"from {_plain(least)} to {_plain(most)}"


def _plain(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


frame = within(whole, *FRAMES, "frame")
frames = within(whole, *DURATIONS, "number of frames")


def reach_stop(text: str) -> tuple[str, int, int, str]:
    """Read a stop: target, frame, the number of frames it is held and what is done with a prop, after a colon each."""
    # The shortest name that leaves numbers: with a hold given, even a name that ends in a colon and a number is clear.
    match = _STOP.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(
            f"'{text}' is not a target with a frame, such as Cup:20 or, held for 5 frames, Cup:20:5, or Cup:20:take"
        )
    name, at, hold, take = match.groups()
    return name, frame(at), frames(hold or "0"), (take or "none").upper()


def add_settings(
    arguments: Any, group: type, only: Collection[str] = (), without: Collection[str] = (), defaults: bool = False
) -> None:
    """Add the flags of a group of settings: all of them, `only` these, or all `without` these.

    Parsed values have the names of the fields. A flag that is not given is None, or with `defaults` the default.
    """
    for name, row in settings_of(group).items():
        if isinstance(row.flag, Flag) and name not in without and (not only or name in only):
            default = {"default": row.default if defaults else None}
            keywords = {"dest": name, "help": _help(row, defaults), **default, **_value(row), **row.flag.more}
            arguments.add_argument(row.flag.name, **keywords)


def _help(row: Setting, defaults: bool) -> str:
    """Return the flag's own help, or the setting's description with unit and range, escaped for argparse."""
    assert isinstance(row.flag, Flag)
    text = row.flag.help or row.description[0].lower() + row.description[1:] + _unit(row)
    return text.replace("%", "%%") + (" (default: %(default)s)" if defaults and row.default is not False else "")


def _unit(row: Setting) -> str:
    options = row.options
    if options.get("subtype") == "DISTANCE":
        return ", in Blender units"
    is_share = row.kind is FloatProperty and options.get("subtype") == "FACTOR"
    return f" ({options['min']:g} to {options['max']:g})" if is_share else ""


def _value(row: Setting) -> dict[str, Any]:
    """Return the keywords with which argparse reads a value of the setting."""
    assert isinstance(row.flag, Flag)
    if row.kind is BoolProperty:
        return {"action": "store_false" if row.flag.name.startswith("--no-") else "store_true"}
    if row.kind is EnumProperty:
        return {"type": _choice(row.choices), "choices": row.choices}
    if row.kind not in {IntProperty, FloatProperty}:
        return {}
    end = _INT if row.kind is IntProperty else inf
    least, most = row.flag.range or (row.options.get("min", -end), row.options.get("max", end))
    if row.options.get("subtype") == "ANGLE":
        read = within(number, degrees(least), degrees(most), "number of degrees")
        return {"type": lambda text: radians(read(text)), "metavar": "DEGREES"}
    return {"type": within(whole, least, most) if row.kind is IntProperty else within(number, least, most)}


def _choice(choices: list[str]) -> Callable[[str], str]:
    """Return a reader of these identifiers that ignores case."""
    meant = {choice.upper(): choice for choice in choices}
    return lambda text: meant.get(text.upper(), text)


def add_command(commands: Any, name: str, what: str) -> Any:
    """Add a command to the subparsers of the command line."""
    # Abbreviated flags are refused: scripts that use them would break when a flag is added.
    return commands.add_parser(name, help=what, allow_abbrev=False)


def add_file(command: ArgumentParser) -> None:
    """Add the .blend file."""
    command.add_argument("file", nargs="?", type=Path, help=".blend file (default: the open file)")


def add_bones(command: ArgumentParser) -> None:
    """Add the armature and the bones in the file."""
    limb = command.add_argument_group("limb", _SAVED)
    limb.add_argument("--scene", help="scene to work in (default: the file's active scene)")
    limb.add_argument("--armature", help="armature object (default: the only one in the scene)")
    limb.add_argument("--tip", help="bone at the end of the limb, whose tail reaches the target")
    add_settings(limb, ChainSettings, only=["chain_count"])
    limb.add_argument("--bones", nargs="+", metavar="BONE", help="the bones to rotate, instead of tip and chain length")


def add_goal(command: ArgumentParser) -> None:
    """Add target, shape, orientation and pole."""
    goal = command.add_argument_group("goal", _SAVED)
    add_settings(goal, ChainSettings, only=["target"])
    for each in (GoalSettings, BendSettings):
        add_settings(goal, each)


def add_solver(command: ArgumentParser, several: bool = False) -> None:
    """Add the solver settings, for one or `several` solvers."""
    solver = command.add_argument_group("solver", _SAVED)
    if several:
        solver.add_argument(
            "--solvers", nargs="+", type=str.upper, choices=SOLVERS, help="solvers to compare (default: all)"
        )
    add_settings(solver, MethodSettings, without=["solver", "angle_tolerance"] if several else [])


def add_body(command: ArgumentParser, hold: str = "--hold", of_bake: bool = True) -> None:
    """Add the limbs that are solved as one body, with its hips, balance, floor, heels, head and thickness.

    `hold` is the flag of held tips; `of_bake` adds the search for contacts.
    """
    body = command.add_argument_group("body", "Defaults are the settings saved in the file.")
    body.add_argument(
        "--body", action="store_true", help="move all limbs that are solved together: those with targets, and held tips"
    )
    body.add_argument(hold, nargs="+", metavar="BONE", dest="held", help="tips that are held in place")
    body.add_argument("--hips", metavar="BONE", help="bone of the body that may move ('' for the lowest that can)")
    body.add_argument(
        "--hips-motion", type=str.upper, choices=["FREE", "UP_DOWN", "FIXED"], help="motion that the hips may make"
    )
    if of_bake:
        body.add_argument(
            "--contacts",
            action="store_true",
            help="find first where held feet are planted and held hands rest on something, in place of the contacts "
            "in the file; without held tips, the feet and the hands that reach for nothing",
        )
        body.add_argument(
            "--on",
            nargs="*",
            metavar="MESH",
            dest="supports",
            help="meshes that --contacts looks at (default: all that are shown; none: only the body itself)",
        )
    body.add_argument(
        "--balance", action=BooleanOptionalAction, default=None, help="keep the centre of mass above the held tips"
    )
    body.add_argument(
        "--floor", action=BooleanOptionalAction, default=None, help="keep the body above the lower held foot"
    )
    body.add_argument(
        "--heels",
        action=BooleanOptionalAction,
        default=None,
        help="lift the heels of planted feet for deep bends",
    )
    body.add_argument(
        "--look-at-hands",
        action=BooleanOptionalAction,
        default=None,
        help="turn a head that is free a part of the way to where hands go",
    )
    body.add_argument(
        "--swing-arms",
        action=BooleanOptionalAction,
        default=None,
        help="have arms that are free swing against what legs and trunk do",
    )
    body.add_argument(
        "--thickness",
        type=within(number, 0.0, inf),
        metavar="FACTOR",
        help="thickness of trunk, head and limbs that arms stay out of, beside a person's (0: arms pass through)",
    )


def add_range(command: ArgumentParser, about: str = "") -> None:
    """Add the frame range of a bake; `about` is further help."""
    add_settings(command.add_argument_group("range", f"{about} {_SAVED}".strip()), FrameSettings)


def add_posture(command: ArgumentParser, of_bake: bool = False) -> None:
    """Add comfort and obstacles; `of_bake` adds the settings that relate each frame to those around it."""
    add_settings(command.add_argument_group("posture", _SAVED), PostureSettings, without=[] if of_bake else _OF_BAKE)


def add_reach(command: ArgumentParser) -> None:
    """Add frames, path and timing of a reach."""
    group = command.add_argument_group("reach", _SAVED)
    add_settings(group, ReachSettings)
    group.add_argument(
        "--stops",
        nargs="+",
        type=reach_stop,
        metavar="TARGET:FRAME[:HOLD][:take|:give]",
        help="several targets in sequence, instead of --target, --frame-end and --hold; 'take' picks the target up, "
        "'give' lets it go",
    )


def add_keys(command: ArgumentParser) -> None:
    """Add the settings of the keys that a bake writes."""
    keys, reduction = command.add_argument_group("keys", _SAVED), ("reduce", "reduce_tolerance")
    add_settings(keys, KeySettings, without=reduction)
    add_settings(keys.add_mutually_exclusive_group(), KeySettings, only=reduction)


def add_saving(command: ArgumentParser) -> None:
    """Add the destination of the changed .blend file."""
    result = command.add_argument_group("result")
    where = result.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="FILE", help="save to this .blend file")
    where.add_argument("--overwrite", action="store_true", help="save to the file that was read")
    where.add_argument("--discard", action="store_true", help="save nothing, only report")
    result.add_argument(
        "--overwrite-newer", action="store_true", help="let --overwrite replace a file saved by a newer Blender as well"
    )


def add_reporting(command: ArgumentParser) -> None:
    """Add the destination of the report, and --quiet."""
    reporting = command.add_argument_group("report")
    reporting.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="report as JSON (default: standard output)"
    )
    reporting.add_argument(
        "--make-folders", action="store_true", help="make the folders of the files to write, if they are missing"
    )
    add_quiet(reporting, SUPPRESS)


def add_accept_misses(command: ArgumentParser) -> None:
    """Add the flag that accepts missed targets in the exit code."""
    command.add_argument("--accept-misses", action="store_true", help="exit code 0 instead of 3 if a target was missed")


def add_quiet(command: Any, default: Any = False) -> None:
    """Add the flag that suppresses all messages but errors."""
    command.add_argument("-q", "--quiet", action="store_true", default=default, help="print nothing but errors")


def scene_of(name: str | None) -> Scene:
    """Return a scene by its name, by default the active one."""
    if name is None:
        return bpy.context.scene
    return _named(bpy.data.scenes, name, "Scene", RigError)


def range_of(arguments: Namespace, armature: Object, tip: str, scene: Scene) -> tuple[int, int, int]:
    """Return first frame, last frame and step: as given, by default as saved on the tip bone."""
    given = arguments.frame_start, arguments.frame_end, arguments.step
    saved = saved_range(armature.pose.bones[tip].ik_triangulation, scene, preview=False)
    start, end, step = (there if here is None else here for here, there in zip(given, saved, strict=True))
    return start, end, step


def named_bones(arguments: Namespace, scene: Scene) -> tuple[Object, tuple[str, ...]]:
    """Return the armature and the names of the bones to rotate."""
    armature, bone = _tip(arguments, scene)
    if arguments.bones:
        return armature, tuple(arguments.bones)
    count = arguments.chain_count
    return armature, bones_from_tip(armature, bone.name, bone.ik_triangulation.chain_count if count is None else count)


def named_limb(arguments: Namespace, scene: Scene) -> Limb:
    """Return the named limb, with the settings given and, by default, those saved on its tip bone."""
    return _limb(arguments, scene, *_tip(arguments, scene))


def all_limbs(arguments: Namespace, scene: Scene) -> tuple[list[Limb], list[str]]:
    """Return the enabled limbs of all armatures that have a target, and a message on each armature left out.

    A named armature must be one that can be baked. Raises ChainError if a limb is named, or there are no limbs.
    """
    if arguments.tip or arguments.bones or arguments.target:
        raise ChainError("--all bakes every limb to its own target. Leave out --tip, --bones and --target.")
    named = arguments.armature
    armatures, left_out = ([armature_of(named, scene)], list[str]()) if named else _with_limbs(scene)
    tips = [(armature, armature.pose.bones[name]) for armature in armatures for name in enabled_tips(armature)]
    return [_limb(arguments, scene, *tip) for tip in tips], left_out


def _with_limbs(scene: Scene) -> tuple[list[Object], list[str]]:
    """Return the armatures whose limbs can be baked, and a message on each other. Raises ChainError if none can."""
    armatures, left_out = [], []
    for armature in (ob for ob in scene.objects if ob.type == "ARMATURE" and has_limbs(ob)):
        try:
            check_armature(armature, scene.view_layers[0])
            armatures.append(armature)
        except RigError as error:
            left_out.append(f"Left out: {error}")
    if not armatures:
        why = "".join(f" {line}" for line in left_out) or " Choose a target for one."
        raise ChainError(f"No limb in scene '{scene.name}' is enabled, has a target and can be baked.{why}")
    return armatures, left_out


def _limb(arguments: Namespace, scene: Scene, armature: Object, bone: PoseBone) -> Limb:
    stored = bone.ik_triangulation
    settings = saved_settings(stored) | {"chain_count": stored.chain_count}
    given = {name: value for name in settings if (value := getattr(arguments, name, None)) is not None}
    settings |= given
    settings["left_open"] = {name: value for name, value in settings["left_open"].items() if name not in given}
    if getattr(arguments, "reduce_tolerance", None) is not None:
        settings["reduce"] = True
    target = _named(scene.objects, arguments.target, "Target", TargetError) if arguments.target else stored.target
    if arguments.target and arguments.subtarget is None:
        settings["subtarget"] = ""
    if arguments.pole_target is not None:  # an empty name means no pole target
        name = arguments.pole_target
        settings["pole_target"] = _named(scene.objects, name, "Pole target", TargetError) if name else None
        settings["pole_subtarget"] = arguments.pole_subtarget or ""
    if arguments.obstacles is not None:
        settings["obstacles"] = collection_of(arguments.obstacles)
    if arguments.bones:
        del settings["chain_count"]
        return Limb.from_bones(armature, arguments.bones, target, **settings)
    return Limb.from_tip(armature, bone.name, target, **settings)


def collection_of(name: str) -> bpy.types.Collection | None:
    """Return the collection of a name; None for an empty one. Raises TargetError if there is none."""
    return _named(bpy.data.collections, name, "Collection", TargetError) if name else None


def stops_of(arguments: Namespace, scene: Scene) -> list[Stop]:
    """Return the stops named for a reach; empty if it goes to the limb's own target."""
    stops = arguments.stops or []
    if stops and (arguments.frame_end, arguments.hold) != (None, None):
        raise SettingError("Each of the --stops has its own frame and hold. Leave out --frame-end and --hold.")
    return [
        Stop(_named(scene.objects, name, "Target", TargetError), frame, hold, take=take)
        for name, frame, hold, take in stops
    ]


def _tip(arguments: Namespace, scene: Scene) -> tuple[Object, PoseBone]:
    """Return the armature, and the last of the bones named."""
    if arguments.tip is None and arguments.bones is None:
        raise ChainError("No bones are named. Use --tip BONE, or --bones with all of them.")
    named = [*(arguments.bones or []), *([arguments.tip] if arguments.tip else [])]
    armature = armature_of(arguments.armature, scene, named)
    tip = _lowest(armature, arguments.bones) if arguments.bones else arguments.tip
    if arguments.tip not in {None, tip}:
        raise ChainError(f"'{arguments.tip}' is not the last of the bones named. Use either --tip or --bones.")
    return armature, _named(armature.pose.bones, tip, "Bone", ChainError)


def _lowest(armature: Object, names: Sequence[str]) -> str:
    bones = [_named(armature.data.bones, name, "Bone", ChainError) for name in names]
    return str(max(bones, key=lambda bone: len(bone.parent_recursive)).name)


def armature_of(name: str | None, scene: Scene, bones: Sequence[str] = ()) -> Object:
    """Return an armature by its name, by default the only one, or the only one that has all these bones."""
    armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
    if name is not None:
        return _named({ob.name: ob for ob in armatures}, name, "Armature", RigError)
    having = [ob for ob in armatures if bones and all(bone in ob.pose.bones for bone in bones)]
    for found in (armatures, having):
        if len(found) == 1:
            return found[0]
    wanted = ", ".join(map(repr, bones))
    those = f", {len(having)} with {wanted}" if armatures and bones else ""
    listed = ", ".join(repr(ob.name) for ob in having or armatures) or "none"
    raise RigError(
        f"Scene '{scene.name}' has {len(armatures)} armatures{those} ({listed}). Name one with --armature NAME."
    )


def _named(things: Any, name: str, what: str, error: type[IKError]) -> Any:
    thing = things.get(name)
    if thing is None:
        names = list(things.keys())
        likely = get_close_matches(name, names, n=6, cutoff=0.5) or names[:12]
        raise error(f"{what} '{name}' does not exist. Choose one of {', '.join(map(repr, likely)) or 'none'}.")
    return thing
