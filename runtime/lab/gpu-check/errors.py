# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ends the program with one message, and what only leaves something out."""
import sys

from progress import warn


class Unusable(Exception):
    """Nothing can be checked here; the text says why and what to do."""


def run(main):
    """Ends the program with the status of `main`, or with one message and status 2."""
    try:
        sys.exit(main())
    except Unusable as unusable:
        warn(f"error: {unusable}")
        sys.exit(2)


class Unavailable(Exception):
    """One contender or feature cannot run here; the text is the reason that the results give."""


def reason(error):
    """An exception of torch in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:200] if lines else type(error).__name__
