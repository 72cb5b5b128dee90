# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of requests that cannot be carried out. A target that is not reached is a result, never one of these."""


class IKError(Exception):
    """A request that cannot be carried out; the message names the culprit and the remedy in one line."""


class ChainError(IKError):
    """Bones or joints that do not form a chain that can be solved."""


class FreedomError(IKError):
    """A hinge or limit that does not describe a rotation."""


class TargetError(IKError):
    """A target that is missing, cannot be evaluated, or has no valid position."""


class RigError(IKError):
    """An armature in a state in which its bones cannot be posed."""


class AnimationError(IKError):
    """Animation data that cannot take the keys."""


class SettingError(IKError):
    """A setting outside its range or unknown, such as a solver that does not exist or an empty frame range."""
