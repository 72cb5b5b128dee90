# SPDX-License-Identifier: GPL-3.0-or-later
"""The mouse and the keys. Places are in pixels of the window, from its lower left corner."""

from .screen import Steps, region, seen_at, window

_mouse = [0.0, 0.0]  # where it was put last
DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
REACTION = 0.4  # seconds until what was pressed has happened and is drawn


def place() -> tuple[float, float]:
    """Return where the mouse was put last."""
    return _mouse[0], _mouse[1]


def move(x: float, y: float) -> None:
    """Put the mouse there."""
    _mouse[:] = x, y
    _event("MOUSEMOVE", "NOTHING", x, y)


def click(x: float, y: float, **modifiers: bool) -> Steps:
    """Click with the left button; the modifiers are ctrl, shift, alt."""
    move(x, y)
    yield REACTION / 2  # buttons react to the mouse that is on them already
    _event("LEFTMOUSE", "PRESS", x, y, **modifiers)
    _event("LEFTMOUSE", "RELEASE", x, y, **modifiers)
    yield REACTION


def hold(x: float, y: float) -> None:
    """Press the left button there."""
    _event("LEFTMOUSE", "PRESS", x, y)


def let_go(x: float, y: float) -> None:
    """Let the left button go."""
    _event("LEFTMOUSE", "RELEASE", x, y)


def drag(start: tuple[float, float], end: tuple[float, float]) -> Steps:
    """Drag with the left button."""
    move(*start)
    yield REACTION / 2
    _event("LEFTMOUSE", "PRESS", *start)
    for part in (0.1, 0.5, 1.0):
        yield REACTION / 4
        move(*(a + part * (b - a) for a, b in zip(start, end, strict=True)))
    yield REACTION / 4
    _event("LEFTMOUSE", "RELEASE", *end)
    yield REACTION


def grab(place) -> Steps:
    """Press the left button on what is drawn at a place of the world, once the gizmo there has noticed the mouse."""
    x, y = seen_at(place)
    for beside in (4, 0):
        move(x - beside, y)
        yield 1.5 * REACTION
    button("PRESS")


def shift(right: float, up: float, **modifiers: bool) -> None:
    """Move the mouse on by so many pixels; the modifiers are ctrl, shift, alt."""
    _mouse[:] = _mouse[0] + right, _mouse[1] + up
    _event("MOUSEMOVE", "NOTHING", *_mouse, **modifiers)


def button(value: str) -> None:
    """Press or release the left button where the mouse was put last."""
    _event("LEFTMOUSE", value, *_mouse)


def press(key: str, **modifiers: bool) -> Steps:
    """Press a key over the viewport; the modifiers are ctrl, shift, alt."""
    move(*rest())
    yield REACTION / 4
    yield from strike(key, **modifiers)


def strike(key: str, **modifiers: bool) -> Steps:
    """Press a key where the mouse was put last."""
    _event(key, "PRESS", *_mouse, **modifiers)
    _event(key, "RELEASE", *_mouse, **modifiers)
    yield REACTION


def write(text: str) -> Steps:
    """Type a text of letters, digits and spaces where the mouse was put last."""
    for letter in text:
        key = DIGITS[int(letter)] if letter.isdigit() else "SPACE" if letter == " " else letter.upper()
        _event(key, "PRESS", *_mouse, unicode=letter)
        _event(key, "RELEASE", *_mouse)
        yield REACTION / 8
    yield REACTION


def rest() -> tuple[float, float]:
    """A place in the viewport where the mouse is on nothing."""
    view = region()
    return view.x + view.width / 8, view.y + view.height / 8


def hold_key(key: str) -> Steps:
    """Press a key where the mouse was put last, and keep it pressed."""
    _event(key, "PRESS", *_mouse, alt="ALT" in key, ctrl="CTRL" in key, shift="SHIFT" in key)
    yield REACTION / 2


def let_go_key(key: str) -> Steps:
    """Let a key go."""
    _event(key, "RELEASE", *_mouse)
    yield REACTION / 2


def scroll(x: float, y: float, wheel: str, notches: int) -> None:
    """Turn the wheel, with the mouse there."""
    move(x, y)
    for _ in range(notches):
        _event(wheel, "PRESS", x, y)


def _event(kind: str, value: str, x: float, y: float, **more: object) -> None:
    window().event_simulate(type=kind, value=value, x=int(x), y=int(y), **more)
