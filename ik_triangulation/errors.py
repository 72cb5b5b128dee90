# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a request. Not reaching a target is a result, never one of these."""


class IKError(Exception):
    """A request that cannot be carried out; the message names the culprit and the remedy in one line."""


class ChainError(IKError):
    """The bones or joints asked for are no chain that can be solved."""


class FreedomError(IKError):
    """A hinge or limit that describes no rotation."""


class TargetError(IKError):
    """The target is missing, out of reach of evaluation, or not a place."""


class RigError(IKError):
    """The armature is in a state in which its bones cannot be posed."""


class AnimationError(IKError):
    """The animation data cannot take the keys."""


class SettingError(IKError):
    """A setting outside its meaning: an unknown solver, an empty frame range."""
