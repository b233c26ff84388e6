# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of arguments that scripts of this folder have in common, for argparse."""
import argparse
import re


def expression(text):
    """A compiled regular expression; argparse says why a text is none."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"expected a regular expression, but got '{text}': {error}") from None
