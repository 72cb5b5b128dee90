# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers on the command line are read if they make sense and Blender can hold them, else refused with the reason."""

from argparse import ArgumentTypeError
from math import inf

import pytest

from ik_triangulation.cli.arguments import frame, frames, number, reach_stop, whole, within


@pytest.mark.parametrize(("text", "value"), [("1e-3", 0.001), ("-2", -2.0), ("3.4e38", 3.4e38)])
def test_a_number_is_read_as_python_reads_it(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "message"), [("near", "not a number"), ("nan", "not finite"), ("-inf", "not finite"), ("1e39", "3.4e")]
)
def test_what_blender_cannot_hold_is_no_number(text, message):
    with pytest.raises(ArgumentTypeError, match=message):
        number(text)


@pytest.mark.parametrize("text", ["1.0", "1e3", "", "0x10", "1_000", "\N{SUPERSCRIPT TWO}", "9" * 101])
def test_a_whole_number_has_digits_only(text):
    with pytest.raises(ArgumentTypeError, match="not a whole number"):
        whole(text)
    assert whole("-07") == -7


@pytest.mark.parametrize(
    ("least", "most", "message"),
    [
        (1, 5, "9 is not a size from 1 to 5"),
        (10, inf, "9 is not a size from 10 up"),
        (-inf, 5, "9 is not a size up to"),
    ],
)
def test_a_range_is_told_in_words(least, most, message):
    with pytest.raises(ArgumentTypeError, match=message):
        within(whole, least, most, "size")("9")


def test_the_ends_of_a_range_belong_to_it():
    read = within(number, 0.0, 1.0)
    assert [read("0"), read("1")] == [0.0, 1.0]
    assert frame("-1048574") == -1048574
    with pytest.raises(ArgumentTypeError):
        frames("-1")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Cup:20", ("Cup", 20, 0, "NONE")),
        ("Cup:20:5", ("Cup", 20, 5, "NONE")),
        ("Cup:20:take", ("Cup", 20, 0, "TAKE")),
        ("Cup:20:5:give", ("Cup", 20, 5, "GIVE")),
        ("Cup:-3", ("Cup", -3, 0, "NONE")),
        ("Cup: the small one:7", ("Cup: the small one", 7, 0, "NONE")),
    ],
)
def test_a_stop_is_a_target_a_frame_how_long_it_is_held_and_what_is_taken(text, found):
    assert reach_stop(text) == found


@pytest.mark.parametrize("text", ["Cup", "Cup:", ":20", "Cup:soon", "Cup:20:-5:x"])
def test_a_stop_without_a_frame_is_refused_with_an_example(text):
    with pytest.raises(ArgumentTypeError, match="such as Cup:20"):
        reach_stop(text)
