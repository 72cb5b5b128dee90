# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of a joint shows what counts for it."""

import pytest

from ik_triangulation.ui.panels.goal import VIEW3D_PT_ik_triangulation_joint

from ...jobs.hinges import limit_rotation, own
from ...layouts import drawn
from ...rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


TOOLS = ["joint_own", "joint_copy", "joint_mirror", "joint_learn"]


def limb_of_one_bone():
    rig = chain_rig(1)
    configure(rig, "Bone 0", target=empty(), chain_count=1)
    return rig


def said_below_the_list():
    said = drawn(VIEW3D_PT_ik_triangulation_joint, 200)
    return [word for word in said[said.index("source") + 1 :] if word != "Limits of Selected Bones:"]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("FREE", []),
        ("HINGE", ["axis", "use_limits", "lower", "upper"]),
        ("EULER", ["minimum", "maximum"]),
        ("CONE", ["swing", "use_limits", "twist_lower", "twist_upper"]),
        ("LOCKED", []),
    ],
)
def test_the_panel_shows_the_values_of_the_kind(kind, shown):
    rig = limb_of_one_bone()
    own(rig.pose.bones["Bone 0"], kind=kind)
    assert said_below_the_list() == ["kind", *shown, *TOOLS]
    own(rig.pose.bones["Bone 0"], kind=kind, stiffness=0.5)
    assert ("stiffness" in said_below_the_list()) == (kind != "LOCKED")


def test_the_panel_shows_what_the_constraint_says_or_why_it_cannot_be_used():
    rig = limb_of_one_bone()
    limit = limit_rotation(rig.pose.bones["Bone 0"], use_limit_x=True)
    shown = ["euler_order", "use_limit_x", "min_x", "max_x", "use_limit_y", "use_limit_z"]
    assert said_below_the_list() == ["Limit Rotation", *shown, *TOOLS]
    limit.influence = 0.5
    said = said_below_the_list()
    assert "has an influence below 1." in " ".join(said)
    assert max(map(len, said)) <= 28
