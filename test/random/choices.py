# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decisions of a generator, each under a name of its own: random by seed and name, or as given."""
import hashlib


class Choices:
    """`choose(name, options)` takes one of the options, listed from the simplest on: which one is a function of the seed and the name alone,
    unless `given` has an index for the name. `taken` holds the index of every decision asked for, so a case is made again, or made
    simpler, by giving some of them: what other decisions come to does not depend on those."""

    def __init__(self, seed, given=None):
        self.seed = seed
        self.given = dict(given or {})
        self.taken = {}

    def choose(self, name, options):
        if name in self.taken:
            raise ValueError(f"two decisions are called {name!r}")
        digest = hashlib.sha256(f"{self.seed} {name}".encode()).digest()
        index = self.given.get(name, int.from_bytes(digest[:8], "big") % len(options))
        self.taken[name] = min(index, len(options) - 1)
        return options[self.taken[name]]

    def often(self, name, parts=2):
        """True in parts - 1 of parts cases; the simplest is no."""
        return self.choose(name, [False] + [True] * (parts - 1))

    def seldom(self, name, parts=4):
        """True in one of parts cases."""
        return self.choose(name, [False] * (parts - 1) + [True])
