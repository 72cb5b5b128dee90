# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that are led by a mouse without a window: real ones, made by Blender, and events that nobody has sent."""

from types import SimpleNamespace

import bpy
from mathutils import Vector

from ik_triangulation.ui.gizmos import mouse

from ..overlay.viewport import viewport

GOES_ON, DONE, BACK = {"RUNNING_MODAL"}, {"FINISHED"}, {"CANCELLED"}


class Watched:
    """The context of a viewport with an area, a workspace and a window manager that write down what they are told."""

    def __init__(self, context):
        self._context, self.texts, self.handled, self.timers = context, [], [], []
        self.screen = SimpleNamespace(is_animation_playing=False)
        self.workspace = SimpleNamespace(status_text_set=self.texts.append)
        self.window_manager, self.window = self, None
        regions = list(context.area.regions)
        self.area = SimpleNamespace(
            type="VIEW_3D", regions=regions, tag_redraw=lambda: None, header_text_set=self.texts.append
        )

    def __getattr__(self, name):
        return getattr(self._context, name)

    def modal_handler_add(self, operator):
        self.handled.append(operator)

    def event_timer_add(self, seconds, window):
        self.timers.append(seconds)
        return len(self.timers)

    def event_timer_remove(self, timer):
        self.timers.pop()


class Mouse:
    """Leads an operator from where what it drags is seen, in pixels from there."""

    def __init__(self, operator, context):
        self.operator, self.context = operator, context
        view = mouse.View.of(context.region, context.region_data)
        self.view, self.held = view, dict.fromkeys(("shift", "ctrl", "alt"), False)
        self.start = self.at = Vector((0.0, 0.0))

    def event(self, kind, value="NOTHING", at=()):
        self.at = Vector(at) if at else self.at
        pixel = self.start + self.at + Vector((self.context.region.x, self.context.region.y))
        return SimpleNamespace(type=kind, value=value, mouse_x=pixel.x, mouse_y=pixel.y, **self.held)

    def begin(self, at=(0.0, 0.0)):
        return self.operator.invoke(self.context, self.event("LEFTMOUSE", "PRESS", at))

    def move(self, *at, **held):
        self.held.update(held)
        return self.operator.modal(self.context, self.event("MOUSEMOVE", at=at))

    def press(self, kind, *at, value="PRESS", **held):
        before = dict(self.held)
        self.held.update(held)
        try:
            return self.operator.modal(self.context, self.event(kind, value, at))
        finally:
            self.held = before


def leading(monkeypatch):
    """A function run(name, scenario, **properties) that has a scenario lead an operator, which Blender has made."""

    def run(name, scenario, **properties):
        done = []

        def execute(self, context):
            try:
                scenario(Mouse(self, Watched(context)), self)
                done.append(None)
            except BaseException as error:
                done.append(error)
            return BACK

        operator = getattr(bpy.types, name.replace("pose.", "POSE_OT_"))
        with monkeypatch.context() as patch, viewport():
            patch.setattr(operator, "execute", execute, raising=False)
            group, _, own = name.partition(".")
            assert getattr(getattr(bpy.ops, group), own)("EXEC_DEFAULT", **properties) == BACK
        (failed,) = done
        if failed:
            raise failed

    return run
