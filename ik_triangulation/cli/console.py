# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard output for results, standard error for messages."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


class Console:
    """Writer of results to `out` and of messages to standard error; of errors only if `quiet`."""

    def __init__(self, out: TextIO, quiet: bool = False):
        self.out = out
        self.quiet = quiet

    def put(self, text: str) -> None:
        """Write a result. A closed pipe, as by `head`, is not an error; raises OSError for other failures."""
        try:
            print(text, file=self.out, flush=True)
        except BrokenPipeError:
            _to_nowhere(self.out.fileno())
        except OSError as error:
            _to_nowhere(self.out.fileno())  # or closing it would raise again
            raise OSError(error.errno, error.strerror, "Standard output") from error

    def say(self, text: str, end: str = "\n") -> None:
        """Write a message, unless quiet."""
        if not self.quiet:
            self.error(text, end)

    def error(self, text: str, end: str = "\n") -> None:
        """Write an error."""
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
