# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines that say what is going on, and how much time is left."""
import sys
import time


class Progress:
    def __init__(self, minutes):
        self.start = time.monotonic()
        self.limit = 60 * minutes
        self.last = self.start

    def elapsed(self):
        return time.monotonic() - self.start

    def left(self):
        return self.limit - self.elapsed()

    def say(self, text):
        self.last = time.monotonic()
        print(f"[{self.elapsed():5.0f} s] {text}", flush=True)

    def step(self, text):
        """Says it where two seconds passed since the last line."""
        if time.monotonic() - self.last >= 2:
            self.say(text)


def warn(text):
    print(text, file=sys.stderr, flush=True)
