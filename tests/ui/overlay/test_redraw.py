# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is shown anew without an evaluation asks for it: all 3D viewports are tagged, and no other area."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.gizmos.groups import PROPERTY
from ik_triangulation.ui.last_result import remember_result
from ik_triangulation.ui.overlay import trail, updates
from ik_triangulation.ui.overlay.ghost import clear_ghosts, show_ghost

from ...rigs import chain_rig, empty
from .seen import settings

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


@pytest.fixture
def tagged(monkeypatch):
    """The viewports that are tagged, in two windows that have other areas too."""
    found = []
    areas = [SimpleNamespace(type=kind, tag_redraw=lambda n=n: found.append(n)) for n, kind in enumerate(AREAS)]
    windows = [SimpleNamespace(screen=SimpleNamespace(areas=some)) for some in (areas[:3], areas[3:])]
    context = SimpleNamespace(window_manager=SimpleNamespace(windows=windows))
    monkeypatch.setattr(updates, "bpy", SimpleNamespace(context=context, app=bpy.app))
    return found


def solved(rig):
    return solve_pose(Limb.from_tip(rig, "Bone 1", empty()))


AREAS = ("VIEW_3D", "PROPERTIES", "VIEW_3D", "OUTLINER", "VIEW_3D")
ASKING = {
    "a ghost": lambda rig: show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)]),
    "no ghost": lambda rig: clear_ghosts(),
    "a result": lambda rig: remember_result(solved(rig), rig, bpy.context.scene),
    "the end of a drag": lambda rig: trail.end_drag(),
    "the target's gizmo": lambda rig: setattr(bpy.context.scene, PROPERTY, False),
    **{
        name: lambda rig, name=name: setattr(settings(), name, not getattr(settings(), name))
        for name in ("show", "show_reach", "show_joints", "show_target", "show_error", "show_body")
    },
}


@pytest.mark.parametrize("what", ASKING)
def test_what_is_shown_anew_has_all_viewports_drawn(what, tagged):
    ASKING[what](chain_rig(2))
    assert tagged == [0, 2, 4]
