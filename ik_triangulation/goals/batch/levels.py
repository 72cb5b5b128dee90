# SPDX-License-Identifier: GPL-3.0-or-later
"""Priorities of the goals of a body, the most urgent first; posture takes the freedom that all of them leave."""

HOLD, REACH, TURN, BALANCE = range(4)
