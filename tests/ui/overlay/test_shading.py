# SPDX-License-Identifier: GPL-3.0-or-later
"""A shell is clear before the character and denser at its outline, which is where the view touches it."""

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.maps.shell import spheres
from ik_triangulation.ui.overlay.limb import ShadedSurface

from ...chains import straight

EYES = [Vector((3.0, -8.0, 2.0, 1.0)), Vector((0.3, -1.0, 0.2, 0.0))]


@pytest.fixture
def ball():
    return spheres(straight((1.0, 1.0)).rest_pose())[0]  # of radius 2


@pytest.mark.parametrize("eye", EYES, ids=["perspective", "orthographic"])
def test_it_is_clearest_where_it_faces_the_viewer(ball, eye):
    alphas = ShadedSurface(ball, eye).alphas()
    towards = np.array(eye.xyz.normalized())
    facing = (ball.normals @ towards).argmax()
    assert alphas[facing] < 0.03
    assert 0.2 < alphas.max() < 0.3
    assert alphas.min() > 0.0


@pytest.mark.parametrize("eye", EYES, ids=["perspective", "orthographic"])
def test_the_outline_is_where_the_view_touches_the_surface(ball, eye):
    places = ShadedSurface(ball, eye).outline()
    assert len(places) > 50
    assert len(places) % 2 == 0
    for place in map(Vector, places.tolist()):
        sight = eye.xyz - place * eye.w
        assert abs(place.length - 2.0) < 0.02
        assert abs(sight.normalized().dot(place.normalized())) < 0.05


def test_there_is_no_outline_from_inside(ball):
    assert len(ShadedSurface(ball, Vector((0.1, 0.2, 0.3, 1.0))).outline()) == 0
