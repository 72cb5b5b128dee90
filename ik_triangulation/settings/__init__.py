# SPDX-License-Identifier: GPL-3.0-or-later
"""The one table of settings: property, default, help, flag of the command line and page of the manual of each.

A new setting takes three places: a row in one of these files, the panel that draws it, and the code that uses it.
"""

from .goal import BendSettings, ChainSettings, GoalSettings, JointSettings
from .keys import FrameSettings, KeySettings, ReachSettings
from .property_groups import TABLE, IKT_PG_joint, IKT_PG_limb, check_registered, choices, register, unregister
from .solver import SOLVER_ITEMS, MethodSettings, PostureSettings
from .table import Exempt, Flag, Setting, by_property, given, group, saved, setting, settings_of

__all__ = [
    "SOLVER_ITEMS",
    "TABLE",
    "BendSettings",
    "ChainSettings",
    "Exempt",
    "Flag",
    "FrameSettings",
    "GoalSettings",
    "IKT_PG_joint",
    "IKT_PG_limb",
    "JointSettings",
    "KeySettings",
    "MethodSettings",
    "PostureSettings",
    "ReachSettings",
    "Setting",
    "by_property",
    "check_registered",
    "choices",
    "given",
    "group",
    "register",
    "saved",
    "setting",
    "settings_of",
    "unregister",
]
