# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said on standard output and standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


class Console:
    """Results go to `out`, everything else to standard error; if `quiet`, only errors."""

    def __init__(self, out: TextIO, quiet: bool = False):
        self.out = out
        self.quiet = quiet

    def put(self, text: str) -> None:
        """Write a result. A reader that has seen enough, as `head` has, is no error; raises OSError for any other."""
        try:
            print(text, file=self.out, flush=True)
        except BrokenPipeError:
            _to_nowhere(self.out.fileno())
        except OSError as error:
            _to_nowhere(self.out.fileno())  # not again when it is closed
            raise OSError(error.errno, error.strerror, "Standard output") from error

    def say(self, text: str, end: str = "\n") -> None:
        """Tell how it goes."""
        if not self.quiet:
            self.error(text, end)

    def error(self, text: str, end: str = "\n") -> None:
        """Tell what went wrong."""
        if sys.stderr is None:  # closed
            return
        try:
            print(text, end=end, file=sys.stderr, flush=True)
        except BrokenPipeError:
            _to_nowhere(sys.stderr.fileno())
        except (OSError, ValueError):
            return


def _to_nowhere(descriptor: int) -> None:
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        if nowhere != descriptor:
            os.close(nowhere)
