# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting has one default, a panel, a flag and a place in the manual; what is missing is named."""

import inspect
import re
from importlib import import_module
from pkgutil import iter_modules

import bpy
import pytest

from ik_triangulation import settings
from ik_triangulation.cli import parser
from ik_triangulation.jobs.reach import reach, reach_through
from ik_triangulation.maps import properties as map_properties
from ik_triangulation.maps.metric_map import map_chain
from ik_triangulation.motion.timing import TIMINGS
from ik_triangulation.rig.limb import Limb
from ik_triangulation.settings import Exempt, Flag, IKT_PG_limb, MethodSettings, ReachSettings, settings_of
from ik_triangulation.solvers import solve
from ik_triangulation.ui import panels, preferences
from ik_triangulation.ui.panels.layout import SidebarPanel

from ..layouts import recorded
from ..rigs import chain_rig, configure
from ..sources import told
from .arguments import arguments_of

TABLE = settings.TABLE | map_properties.MAP_TABLE
ROWS = [(kind, name, row) for kind, rows in TABLE.items() for name, row in rows.items()]
VECTORS = {"FLOAT", "INT", "BOOLEAN"}


def default_of(prop):
    """The default of a property that is registered, as Python has it; None for pointers and collections."""
    if prop.type in VECTORS and prop.is_array:
        return tuple(prop.default_array)
    return getattr(prop, "default", None)


def one(value):
    return value if isinstance(value, str) or value is None else pytest.approx(value)


# Defaults


def test_a_setting_has_one_default(addon):
    defaults = [(f"{kind.__name__}.{name}", kind.bl_rna.properties[name], row) for kind, name, row in ROWS]
    others = [name for name, prop, row in defaults if default_of(prop) != one(row.default)]
    assert not others, (
        "These are saved with another default than their row in settings/ has. Leave the default to the row:"
        f"{told(others)}"
    )


def test_a_limb_made_in_python_has_the_defaults_of_the_sidebar(addon):
    limb, saved = Limb(None, ("Bone",), frozenset(), None), IKT_PG_limb.bl_rna.properties
    assert [name for name in settings_of(Limb) if getattr(limb, name) != one(default_of(saved[name]))] == []


@pytest.mark.parametrize(
    ("function", "group"),
    [
        (solve, MethodSettings),
        (reach, ReachSettings),
        (reach_through, ReachSettings),
        (map_chain, map_properties.PlaneMapSettings),
    ],
)
def test_a_function_that_takes_settings_has_their_defaults(function, group):
    taken = inspect.signature(function).parameters
    rows = {name: row for name, row in settings_of(group).items() if name in taken}
    if function is solve:  # a chain without a rig has no pose made by hand, and its speed is part of its contract
        assert taken["solver"].default == "TRIANGULATION"
        del rows["solver"]
    assert rows
    for name, row in rows.items():
        assert taken[name].default in {inspect.Parameter.empty, row.default}, (
            f"{function.__name__}() has another default for '{name}' than {group.__name__} in settings/: change the "
            "one that is wrong."
        )


@pytest.mark.parametrize(("operator", "group"), [("reach", ReachSettings), ("map", map_properties.PlaneMapSettings)])
def test_an_operator_that_takes_settings_has_their_defaults(operator, group, addon):
    properties = getattr(bpy.ops.pose, f"ik_triangulation_{operator}").get_rna_type().properties
    for name, row in settings_of(group).items():
        assert default_of(properties[name]) == one(row.default), f"{operator}: take '{name}' from settings/ by given()"


# Panels


@pytest.fixture(scope="module")
def drawn(addon):
    """All properties that some panel draws, for limb, stops, joints of every kind and source, maps and solvers."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    other, obstacles = chain_rig(2, name="Other"), bpy.data.collections.new("Obstacles")
    rig = chain_rig(3)
    all_of_it = {"target": other, "pole_target": other, "obstacles": obstacles, "use_scene_range": False}
    limb = configure(rig, "Bone 2", chain_count=3, **all_of_it).ik_triangulation
    limb.reach_stops.add().target = other
    joint, found = rig.pose.bones["Bone 2"].ik_triangulation_joint, set()
    joint.source = "OWN"
    for joint.kind in settings.TABLE[settings.IKT_PG_joint]["kind"].choices:
        found |= drawn_now()
    limb.orientation, limb.use_offset = "LOOK", True  # it has an axis
    limb.reach_path = "ARC"  # the only one with an onset
    limb.shape = "SURFACE"
    found |= drawn_now()
    limb.shape = "FLOW"
    limb.keys_on = "IK"  # which this rig has no controls for
    limb.solver = "TRIANGULATION"  # a published method has settings that Natural has no use for
    found |= drawn_now()
    limb.reach_stops[0].take = "TAKE"
    limb.reduce, joint.kind = True, "EULER"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preferences, "has_research_tools", lambda context: True)
        found |= drawn_now()
    limb.reach_stops.clear()
    limb.reach_return = 5
    limb.reach_timing, limb.reduce, limb.step = next(name for name, each in TIMINGS.items() if each.eased), False, 2
    found |= drawn_now()
    rig.pose.bones["Bone 1"].ik_triangulation.hold = True  # a body
    rig.ik_triangulation.contacts.add().tip = "Bone 1"
    rig.ik_triangulation.contacts[0].support = rig  # an armature has bones to choose from
    bpy.context.view_layer.update()
    found |= drawn_now()
    rig.data.bones.active = rig.data.bones["Bone 1"]  # the one that is held
    return found | drawn_now()


def drawn_now():
    modules = [import_module(f"{panels.__name__}.{module.name}") for module in iter_modules(panels.__path__)]
    classes = {cls for module in modules for name, cls in vars(module).items() if name.startswith("VIEW3D_PT_")}
    layouts = [recorded(cls) for cls in classes if issubclass(cls, SidebarPanel)]
    return set().union(*(layout.properties for layout in layouts if layout is not None))


def test_a_setting_is_drawn_by_a_panel_or_says_why_not(drawn):
    exempt = [(kind, name, row.panel) for kind, name, row in ROWS if isinstance(row.panel, Exempt)]
    assert all(panel.reason for _, _, panel in exempt)
    needless = [f"{kind.__name__}.{name}" for kind, name, _ in exempt if (kind.__name__, name) in drawn]
    assert not needless, f"These are drawn: take panel=Exempt(...) out of their rows in settings/:{told(needless)}"
    names = [(kind.__name__, name) for kind, name, row in ROWS if not isinstance(row.panel, Exempt)]
    absent = [f'{kind}.{name}: column.prop(limb, "{name}")' for kind, name in names if (kind, name) not in drawn]
    assert not absent, (
        'No panel draws these. Add them to the panel in ui/panels/ that they belong to, or panel=Exempt("why") to '
        "their rows in settings/. If a panel draws one in some states only, bring them about in the fixture `drawn` "
        f"above:{told(absent)}"
    )


# Flags


@pytest.fixture(scope="module")
def flags(addon):
    return {flag for _, action in arguments_of(parser()) for flag in action.option_strings}


def test_a_setting_has_a_flag_or_says_why_not(flags):
    silent, unknown = [], []
    for kind, name, row in ROWS:
        if isinstance(row.flag, Flag):
            unknown += [] if row.flag.name in flags else [f"{row.flag.name} of {kind.__name__}.{name}"]
        elif row.flag is None or not row.flag.reason:
            silent.append(f'{kind.__name__}.{name}: flag="--{name.replace("_", "-")}", or flag=Exempt("why")')
    assert not silent, (
        f"These can neither be set on the command line nor do they say why. Give their rows in settings/:{told(silent)}"
    )
    assert not unknown, (
        "No command has these flags. Add their group of settings to a command by add_settings() in "
        f"cli/arguments.py:{told(unknown)}"
    )


# The manual


@pytest.fixture(scope="module")
def anchors(manual_pages):
    """All places of the manual that can be linked to, as page.html#anchor."""
    pages = manual_pages.glob("*.html")
    return {f"{page.name}#{found}" for page in pages for found in re.findall(r'id="([^"]+)"', page.read_text("utf-8"))}


def test_a_setting_has_its_place_in_the_manual(anchors):
    absent = [f"{kind.__name__}.{name}: '{row.page}'" for kind, name, row in ROWS if row.page not in anchors]
    assert not absent, (
        "The manual has no such headings. Write them into the page of docs/ that is named before .html, or name "
        f"others in page= of their group or row in settings/:{told(absent)}\nThere are: {', '.join(sorted(anchors))}."
    )
